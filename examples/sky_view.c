/* Sky view: how much of an even sky's light reaches the ground of a city?
 *
 *   sky_view map.pfm [ACROSS [RAYS]]
 *
 * From each of ACROSS x ACROSS * 5 / 12 places RAYS rays go up, spread as the cosine. The map has the share of them
 * that meets nothing; where a house stands it has its height in metres, as a negative number. Sizes: 756 houses, 240 x
 * 100 places, 1024 rays from each: 24.6 million, of which none is stored.
 *
 * Reference: a street without end, W wide, between walls H high. At distances a and b from them a place sees
 * (a / sqrt(a^2 + H^2) + b / sqrt(b^2 + H^2)) / 2 of the light; in the middle that is cos(atan(2 H / W)). The error of
 * a spiral of directions falls faster than that of random ones: here it is 0.0044 for 1024 rays, 0.0011 for 4096. The
 * program exits with 0 only where it is below 2 / RAYS^(3/4) at every place across the street. */
#include <slabcast.h>
#include <stdio.h>
#include <stdlib.h>

enum { EAST = 720, NORTH = 300, BLOCKS = 14 * 10, LOTS = 6, MOST = BLOCKS * LOTS, STREET = 19 };
static const float W = 20, H = 15;

/* From 0 to 1, always the same for a number. */
static float chance(uint32_t i) {
  i = (i ^ i >> 16) * 0x21F0AAADu;
  i = (i ^ i >> 15) * 0x735A2D97u;
  return (float)((i ^ i >> 15) >> 8) * 0x1p-24f;
}

/* Houses on lots of 20 m x 20 m, six in a block, with streets between; low but in the centre, and none in a park and
 * along an avenue. Returns how many there are. */
static uint32_t build(slab_box boxes[MOST]) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < MOST; i++) {
    const uint32_t block = i / LOTS, lot = i % LOTS;
    const float x = 74 * ((float)(block % 14) - 2) + 20 * (float)(lot % 3);
    const float y = 54 * ((float)(block / 14) - 2) + 20 * (float)(lot / 3);
    const float from_avenue = fabsf(0.4f * (x - 20) - (y - 40)), from_park = hypotf((x - 530) / 1.6f, y - 80);
    if (from_avenue < 17 || from_park < 46 || chance(4 * i) < 0.03f) continue;
    const float center = expf(-(x - 290) * (x - 290) / 30000 - (y - 190) * (y - 190) / 15000);
    const float high = 8 + 10 * chance(4 * i + 1) + 90 * center * powf(chance(4 * i + 2), 2),
                in = 2 * chance(4 * i + 3);
    boxes[count++] = (slab_box){{x + in, y + in, 0}, {x + 20 - in, y + 20 - in, high}};
  }
  return count;
}

/* sums[i] is of the rays from place i into all directions: the set describes them, and the sums count them. */
static slab_status look_up(slab_scene *scene, const float *places, uint32_t n, const float *directions, uint32_t rays,
                           slab_sum *sums) {
  const slab_rays set = slab_rays_directions(places, n, directions, rays);
  const slab_source source = {.set = &set, .n = (size_t)n * rays};
  slab_results results = {.memory = sums, .type = SLAB_RESULT_SUMS};
  return slab_cast(scene, SLAB_ANY, &source, &results, NULL);
}

/* The heights of roofs, by parallel rays from 200 m above, a pixel of their picture for each place; -inf: none. */
static slab_status look_down(slab_scene *scene, uint32_t across, uint32_t along, float *heights) {
  const slab_camera above = {{EAST / 2.0f, NORTH / 2.0f, 200}, {0, 0, -1}, {EAST / 2.0f, 0, 0}, {0, -NORTH / 2.0f, 0}};
  const slab_rays set = slab_rays_orthographic(&above, across, along);
  const slab_source source = {.set = &set, .n = (size_t)across * along};
  slab_results results = {.memory = heights};
  const slab_status status = slab_cast(scene, SLAB_DISTANCE, &source, &results, NULL);
  for (size_t i = 0; !status && i < source.n; i++) heights[i] = 200 - heights[i]; /* they were distances */
  return status;
}

/* A committed scene of boxes. */
static slab_status stand(slab_context *context, const slab_box *boxes, uint32_t count, slab_scene **scene) {
  slab_status status = slab_scene_create(context, scene);
  if (!status) status = slab_scene_add_boxes(*scene, boxes, count, NULL, NULL);
  return status ? status : slab_scene_commit(*scene, NULL);
}

/* The largest error of the places across the street, whose walls are boxes without end along y. */
static slab_status judge(slab_context *context, const float *directions, uint32_t rays, double *worst) {
  const slab_box walls[2] = {{{-1, -INFINITY, 0}, {0, INFINITY, H}}, {{W, -INFINITY, 0}, {W + 1, INFINITY, H}}};
  float places[STREET][3] = {{0}};
  slab_sum sums[STREET];
  slab_scene *scene = NULL;
  for (int i = 0; i < STREET; i++) places[i][0] = W * (float)(i + 1) / (STREET + 1);
  slab_status status = stand(context, walls, 2, &scene);
  if (!status) status = look_up(scene, places[0], STREET, directions, rays, sums);
  for (int i = 0; !status && i < STREET; i++) {
    const double a = (double)places[i][0], b = (double)W - a, h = (double)H, got = sums[i].open / sums[i].rays;
    const double known = (a / sqrt(a * a + h * h) + b / sqrt(b * b + h * h)) / 2;
    *worst = fmax(*worst, fabs(got - known));
    if (i == STREET / 2) printf("the middle of a street: %.4f of the sky, by the formula %.4f\n", got, known);
  }
  slab_scene_destroy(scene);
  return status;
}

/* A portable float map, whose rows begin in the south: grey values as floats. */
static int write_map(const char *path, const float *map, uint32_t across, uint32_t along) {
  FILE *file = fopen(path, "wb");
  if (!file) return 0;
  fprintf(file, "Pf\n%u %u\n-1.0\n", across, along);
  fwrite(map, sizeof *map, (size_t)across * along, file);
  const int failed = ferror(file);
  return !fclose(file) && !failed;
}

/* Computes the map, and prints its mean. map: space for as many floats as there are places. */
static slab_status survey(slab_context *context, const float *directions, uint32_t rays, uint32_t across,
                          uint32_t along, float *map) {
  const uint32_t n = across * along;
  slab_box boxes[MOST];
  slab_scene *scene = NULL;
  float(*places)[3] = calloc(n, sizeof *places);
  slab_sum *sums = malloc(n * sizeof *sums);
  for (uint32_t i = 0; places && i < n; i++) {
    places[i][0] = ((float)(i % across) + 0.5f) * EAST / (float)across;
    places[i][1] = ((float)(i / across) + 0.5f) * NORTH / (float)along;
  }
  slab_status status = places && sums ? stand(context, boxes, build(boxes), &scene) : SLAB_OUT_OF_MEMORY;
  if (!status) status = look_down(scene, across, along, map);
  if (!status) status = look_up(scene, places[0], n, directions, rays, sums);
  uint32_t open = 0;
  double sky = 0;
  for (uint32_t i = 0; !status && i < n; i++) {
    const int is_house = map[i] > 0;
    map[i] = is_house ? -map[i] : (float)(sums[i].open / sums[i].rays);
    if (!is_house) open++, sky += (double)map[i];
  }
  if (!status) printf("%u places between houses see %.4f of the sky on average\n", open, sky / open);
  slab_scene_destroy(scene);
  free(sums);
  free(places);
  return status;
}

int main(int argc, char **argv) {
  const uint32_t across = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 240, along = across * 5 / 12;
  const uint32_t rays = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1024;
  if (argc < 2 || across < 12 || across > 8192 || rays < 1 || rays > 1 << 20) {
    fprintf(stderr, "usage: sky_view map.pfm [ACROSS, 12 to 8192 [RAYS, 1 to 1048576]]\n");
    return 2;
  }
  float *directions = malloc(3 * (size_t)rays * sizeof *directions),
        *map = malloc((size_t)across * along * sizeof *map);
  slab_context *context = NULL;
  double worst = 0;
  slab_status status = directions && map ? slab_context_create(NULL, &context) : SLAB_OUT_OF_MEMORY;
  if (!status) status = slab_hemisphere(rays, 1, directions);
  if (!status) status = judge(context, directions, rays, &worst);
  if (!status) printf("the largest error across it: %.5f\n", worst);
  if (!status) status = survey(context, directions, rays, across, along, map);
  if (status) fprintf(stderr, "sky_view: %s: %s\n", slab_status_text(status), slab_message());
  const int done = !status && write_map(argv[1], map, across, along);
  if (!status && !done) perror(argv[1]);
  slab_context_destroy(context);
  free(map);
  free(directions);
  return done && worst < 2 / pow(rays, 0.75) ? 0 : 1;
}
