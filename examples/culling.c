/* Culling: which of a million boxes can a camera see? The others need not be drawn, loaded or computed.
 *
 *   culling map.ppm [BOXES [WIDTH HEIGHT]]
 *
 * A ray through each of WIDTH x HEIGHT pixels finds the box that is seen there. The map shows the boxes around the
 * camera from above: bright are those that it sees. */
#include <slabcast.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAP_WIDTH = 2560, MAP_HEIGHT = 1120, MAP_PIXELS = MAP_WIDTH * MAP_HEIGHT };
static const float LOT = 20, MAP_SCALE = 1; /* metres from box to box, and metres of a pixel of the map */

static double seconds_now(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* From 0 to 1, always the same for a number. */
static float chance(uint32_t i) {
  i = (i ^ i >> 16) * 0x21F0AAADu;
  i = (i ^ i >> 15) * 0x735A2D97u;
  return (float)((i ^ i >> 15) >> 8) * 0x1p-24f;
}

/* A city of side x side boxes around the origin, in blocks of eight by eight with streets between them. Most boxes are
 * low, and few are high. */
static void build(slab_box *boxes, uint32_t side) {
  for (uint32_t i = 0; i < side * side; i++) {
    const uint32_t place[2] = {i % side, i / side};
    for (int k = 0; k < 2; k++) {
      const float lots = (float)place[k] + 0.6f * (float)(place[k] / 8), all = (float)side + 0.6f * (float)(side / 8);
      boxes[i].lower[k] = LOT * (lots - 0.5f * all + 0.12f * chance(4 * i + (uint32_t)k));
      boxes[i].upper[k] = boxes[i].lower[k] + 0.86f * LOT;
    }
    boxes[i].lower[2] = 0;
    boxes[i].upper[2] = 6 + 10 * chance(4 * i + 2) + 90 * powf(chance(4 * i + 3), 20);
  }
}

/* Above the roofs of the left part of the city, looking along x and a little down. */
static slab_camera camera_over(uint32_t side, float aspect) {
  const float from[3] = {-0.4f * LOT * (float)side, 0, 75}, to[3] = {from[0] + 100, 0, 62}, up[3] = {0, 0, 1};
  return slab_camera_look_at(from, to, up, 40, aspect);
}

/* Sets is_seen of each box that a ray of the camera meets first. */
static slab_status look(slab_scene *scene, const slab_camera *camera, uint32_t width, uint32_t height,
                        uint8_t *is_seen) {
  const size_t n = (size_t)width * height;
  slab_ray *rays = malloc(n * sizeof *rays);
  slab_short_hit *hits = malloc(n * sizeof *hits);
  slab_status status = rays && hits ? SLAB_OK : SLAB_OUT_OF_MEMORY;
  for (uint32_t y = 0; !status && y < height; y++)
    for (uint32_t x = 0; x < width; x++) rays[(size_t)y * width + x] = slab_camera_ray(camera, x, y, width, height);
  const double begin = seconds_now();
  if (!status) status = slab_nearest(scene, rays, n, hits, NULL);
  if (!status) printf("%zu rays in %.3f s\n", n, seconds_now() - begin);
  for (size_t i = 0; !status && i < n; i++)
    if (hits[i].primitive != SLAB_MISS) is_seen[hits[i].primitive] = 1;
  free(hits);
  free(rays);
  return status;
}

/* The map: one ray straight down per pixel, whose hit has the box and the height. */
static slab_status draw(slab_scene *scene, const slab_camera *camera, const uint8_t *is_seen, uint8_t *pixels) {
  static const float top = 200, bright[3] = {255, 190, 70}, dark[3] = {44, 58, 92};
  static const uint8_t ground[3] = {11, 15, 24};
  slab_ray *rays = malloc(MAP_PIXELS * sizeof *rays);
  slab_short_hit *hits = malloc(MAP_PIXELS * sizeof *hits);
  slab_status status = rays && hits ? SLAB_OK : SLAB_OUT_OF_MEMORY;
  for (uint32_t i = 0; !status && i < MAP_PIXELS; i++) {
    /* The camera, which looks along x, is a tenth of the way from the left. */
    const float x = camera->origin[0] + MAP_SCALE * ((float)(i % MAP_WIDTH) - 0.1f * MAP_WIDTH);
    const float y = camera->origin[1] - MAP_SCALE * ((float)(i / MAP_WIDTH) - 0.5f * MAP_HEIGHT);
    rays[i] = (slab_ray){{x, y, top}, 0, {0, 0, -1}, INFINITY};
  }
  if (!status) status = slab_nearest(scene, rays, MAP_PIXELS, hits, NULL);
  for (uint32_t i = 0; !status && i < MAP_PIXELS; i++) {
    const int is_box = hits[i].primitive != SLAB_MISS, seen = is_box && is_seen[hits[i].primitive];
    const float light = is_box ? fminf(0.55f + (top - hits[i].t) / 60, 1) : 0;
    for (uint32_t k = 0; k < 3; k++)
      pixels[3 * i + k] = is_box ? (uint8_t)(light * (seen ? bright[k] : dark[k])) : ground[k];
  }
  free(hits);
  free(rays);
  return status;
}

int main(int argc, char **argv) {
  const uint32_t wanted = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1000000;
  const uint32_t width = argc > 4 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1920;
  const uint32_t height = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 1080;
  const uint32_t side = (uint32_t)sqrt((double)wanted), n = side * side;
  if (argc < 2 || n < 1 || n > 100000000 || width < 1 || width > 65536 || height < 1 || height > 65536) {
    fprintf(stderr, "usage: culling map.ppm [BOXES [WIDTH HEIGHT]]\n");
    return 2;
  }
  const slab_camera camera = camera_over(side, (float)width / (float)height);
  slab_box *boxes = malloc(n * sizeof *boxes);
  uint8_t *is_seen = calloc(n, 1), *pixels = malloc(3 * MAP_PIXELS);
  slab_context *context = NULL;
  slab_scene *scene = NULL;

  slab_status status = boxes && is_seen && pixels ? SLAB_OK : SLAB_OUT_OF_MEMORY;
  if (!status) build(boxes, side);
  if (!status) status = slab_context_create(NULL, &context);
  if (!status) status = slab_scene_create(context, &scene);
  if (!status) status = slab_scene_add_boxes(scene, boxes, n, NULL, NULL);
  if (!status) status = slab_scene_commit(scene, NULL);
  if (!status) status = look(scene, &camera, width, height, is_seen);
  uint32_t seen = 0;
  for (uint32_t i = 0; !status && i < n; i++) seen += is_seen[i];
  if (!status) printf("%u of %u boxes are seen: %.2f %% are culled\n", seen, n, 100.0 * (n - seen) / n);
  if (!status) status = draw(scene, &camera, is_seen, pixels);
  if (status) fprintf(stderr, "culling: %s: %s\n", slab_status_text(status), slab_message());

  FILE *file = status ? NULL : fopen(argv[1], "wb");
  int done = file && fprintf(file, "P6 %d %d 255\n", MAP_WIDTH, MAP_HEIGHT) > 0;
  if (done) done = fwrite(pixels, 3 * MAP_PIXELS, 1, file) == 1;
  if (file && fclose(file)) done = 0;
  if (!status && !done) perror(argv[1]);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  free(pixels);
  free(is_seen);
  free(boxes);
  return done ? 0 : 1;
}
