/* Picking: which of thousands of turned boxes lies under the mouse?
 *
 *   picking picture.ppm [BOXES [X Y]...]
 *
 * For each pixel X Y one ray from the camera answers. The picture has the boxes that were picked in another colour. */
#include <slabcast.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 2560, HEIGHT = 1120, PIXELS = WIDTH * HEIGHT };
static const float FROM[3] = {-15, -92, 46}, TO[3] = {0, -11, 0}, UP[3] = {0, 0, 1}, SUN[3] = {-0.5f, -0.45f, 0.74f};
static const char *const FACES[] = {"-x", "+x", "-y", "+y", "-z", "+z"};

/* From 0 to 1, the next of a sequence that is always the same. */
static float chance(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return (float)(*state >> 8) * 0x1p-24f;
}

/* Boxes along the two arms of a spiral, each turned and tilted. */
static void strew(slab_obb *boxes, uint32_t n) {
  uint32_t state = 5;
  for (uint32_t i = 0; i < n; i++) {
    const float away = powf(chance(&state), 0.75f), around = 7.5f * away + (float)(i & 1) * 3.14159265f;
    const float spread = 5 + 8 * away, height = 10 * expf(-6 * away) + 4;
    const float turn = 6.2831853f * chance(&state), tilt = 6.2831853f * chance(&state);
    const float c = cosf(turn), s = sinf(turn), d = cosf(tilt), t = sinf(tilt);
    float at[3], half_size[3];
    for (int k = 0; k < 3; k++) {
      at[k] = (chance(&state) + chance(&state) + chance(&state) - 1.5f) * (k < 2 ? spread : height);
      half_size[k] = 0.5f + 2.2f * chance(&state) * chance(&state);
    }
    at[0] += 78 * away * cosf(around), at[1] += 78 * away * sinf(around);
    const float matrix[16] = {c, -s * d, s * t,  at[0], /* tilted about x, */
                              s, c * d,  -c * t, at[1], /* turned about z, */
                              0, t,      d,      at[2], /* moved to its place */
                              0, 0,      0,      1};
    boxes[i] = slab_obb_from_matrix(matrix, half_size);
  }
}

/* One ray per click: the box that it meets first, SLAB_MISS where there is none. */
static slab_status pick(slab_scene *scene, const slab_camera *camera, uint32_t x, uint32_t y, uint32_t *box) {
  const slab_ray ray = slab_camera_ray(camera, x, y, WIDTH, HEIGHT);
  slab_hit hit;
  slab_status status = slab_closest(scene, &ray, 1, &hit, NULL);
  if (status) return status;
  *box = hit.primitive;
  if (hit.primitive == SLAB_MISS)
    printf("pixel (%u, %u): nothing\n", x, y);
  else
    printf("pixel (%u, %u): box %u, its face %s, at t = %g\n", x, y, hit.primitive, FACES[(int)hit.u], (double)hit.t);
  return SLAB_OK;
}

/* The pixel of a hit: the nearer to the middle of the spiral the bluer, and those that were picked red. */
static void paint(const slab_hit *hit, const slab_obb *box, int is_picked, int is_dark, uint8_t *pixel) {
  static const float inner[3] = {0.42f, 0.86f, 1.0f}, outer[3] = {0.36f, 0.30f, 0.72f},
                     picked[3] = {1.0f, 0.36f, 0.12f};
  const float away = fminf(hypotf(box->center[0], box->center[1]) / 80, 1);
  float cosine = 0;
  for (int k = 0; k < 3; k++) cosine += hit->normal[k] * SUN[k];
  const float light = 0.22f + 0.1f * hit->normal[2] + (is_dark ? 0 : 0.75f * fmaxf(cosine, 0));
  for (int k = 0; k < 3; k++) {
    const float color = is_picked ? picked[k] : inner[k] * (1 - away) + outer[k] * away;
    pixel[k] = (uint8_t)(255 * sqrtf(fminf(light * color * color, 1)));
  }
}

/* One ray per pixel, and one to the sun from the surface that it meets. */
static slab_status draw(slab_scene *scene, const slab_camera *camera, const slab_obb *boxes, const uint8_t *is_picked,
                        uint8_t *pixels) {
  slab_ray *rays = malloc(PIXELS * sizeof *rays);
  slab_hit *hits = malloc(PIXELS * sizeof *hits);
  uint8_t *is_dark = malloc(PIXELS);
  slab_status status = rays && hits && is_dark ? SLAB_OK : SLAB_OUT_OF_MEMORY;
  for (uint32_t i = 0; !status && i < PIXELS; i++)
    rays[i] = slab_camera_ray(camera, i % WIDTH, i / WIDTH, WIDTH, HEIGHT);
  if (!status) status = slab_closest(scene, rays, PIXELS, hits, NULL);
  for (uint32_t i = 0; !status && i < PIXELS; i++) {
    /* A little before the hit, so that the box does not shade itself. A miss stays where it is. */
    if (hits[i].primitive != SLAB_MISS) slab_point_at(&rays[i], hits[i].t * 0.9999f, rays[i].origin);
    for (int k = 0; k < 3; k++) rays[i].direction[k] = SUN[k];
  }
  if (!status) status = slab_any(scene, rays, PIXELS, is_dark, NULL);
  for (uint32_t i = 0; !status && i < PIXELS; i++) {
    const uint32_t box = hits[i].primitive;
    static const uint8_t night[3] = {11, 15, 24};
    for (int k = 0; k < 3; k++) pixels[3 * i + (uint32_t)k] = night[k];
    if (box != SLAB_MISS) paint(&hits[i], &boxes[box], is_picked[box], is_dark[i], &pixels[3 * i]);
  }
  free(is_dark);
  free(hits);
  free(rays);
  return status;
}

int main(int argc, char **argv) {
  static char *clicks[] = {"1530", "940", "750", "720", "2130", "314"};
  const uint32_t n = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 3000;
  if (argc < 2 || n < 1 || n > 10000000 || (argc > 3 && argc % 2 == 0)) {
    fprintf(stderr, "usage: picking picture.ppm [BOXES [X Y]...]\n");
    return 2;
  }
  const slab_camera camera = slab_camera_look_at(FROM, TO, UP, 40, (float)WIDTH / HEIGHT);
  slab_obb *boxes = malloc(n * sizeof *boxes);
  uint8_t *is_picked = calloc(n, 1), *pixels = malloc(3 * PIXELS);
  slab_context *context = NULL;
  slab_scene *scene = NULL;

  slab_status status = boxes && is_picked && pixels ? SLAB_OK : SLAB_OUT_OF_MEMORY;
  if (!status) strew(boxes, n);
  if (!status) status = slab_context_create(NULL, &context);
  if (!status) status = slab_scene_create(context, &scene);
  if (!status) status = slab_scene_add_obbs(scene, boxes, n, NULL, NULL);
  if (!status) status = slab_scene_commit(scene, NULL);
  char **click = argc > 3 ? argv + 3 : clicks;
  for (int left = argc > 3 ? argc - 3 : 6; !status && left > 1; left -= 2, click += 2) {
    uint32_t box = SLAB_MISS;
    status = pick(scene, &camera, (uint32_t)strtoul(click[0], NULL, 10), (uint32_t)strtoul(click[1], NULL, 10), &box);
    if (!status && box != SLAB_MISS) is_picked[box] = 1;
  }
  if (!status) status = draw(scene, &camera, boxes, is_picked, pixels);
  if (status) fprintf(stderr, "picking: %s: %s\n", slab_status_text(status), slab_message());

  FILE *file = status ? NULL : fopen(argv[1], "wb");
  int done = file && fprintf(file, "P6 %d %d 255\n", WIDTH, HEIGHT) > 0 && fwrite(pixels, 3 * PIXELS, 1, file) == 1;
  if (file && fclose(file)) done = 0;
  if (!status && !done) perror(argv[1]);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  free(pixels);
  free(is_picked);
  free(boxes);
  return done ? 0 : 1;
}
