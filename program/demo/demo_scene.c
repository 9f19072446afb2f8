/* The demo's scene: the land, the city, and the flake and its ring over the water. */
#include <stdlib.h>

#include "base/pool.h"
#include "program/common/vectors.h"
#include "program/demo/demo.h"

#ifndef DEMO_COLUMNS /* the fault sweeps, which repeat the demo, define a smaller land */
#define DEMO_COLUMNS 640
#define DEMO_ROWS 840
#endif
/* COLUMNS x ROWS squares of two triangles each. */
enum { COLUMNS = DEMO_COLUMNS, ROWS = DEMO_ROWS };

/* The city's centre and half its extent along x and z. The land is flat there. */
enum { CITY_X, CITY_Z, CITY_HALF_X, CITY_HALF_Z };
static const float city_place[4] = {-3.75f, -14.4f, 3.1f, 2.2f};

/* ---- the land: mountains around a bay, as one mesh of more than a million triangles ---- */

/* Octaves of noise, each rotated against the one before. Fine octaves count less where the coarse ones are steep.
 * Slopes come out smooth and ridges rough, as after erosion. */
static float eroded(const demo_noise *noise, float x, float y) {
  float sum = 0.0f, weight = 1.0f, slope_x = 0.0f, slope_y = 0.0f;
  for (int octave = 0; octave < 9; octave++) {
    const noise_value n = noise_at(noise, x, y);
    slope_x += n.along_x;
    slope_y += n.along_y;
    sum += weight * n.value / (1.0f + (slope_x * slope_x + slope_y * slope_y));
    weight *= 0.5f;
    const float turned = 1.6f * x - 1.2f * y;
    y = 1.2f * x + 1.6f * y;
    x = turned;
  }
  return sum;
}

/* Distance from the middle line of the water minus half its width there: negative in the bay. */
static float inland(float x, float depth) {
  const float middle = 0.9f + 0.11f * depth;
  const float width = 4.3f - 0.03f * depth;
  return fabsf(x - middle) - width;
}

/* Height of the land at x, z; the water is at 0. */
static float terrain_height(const demo_noise *noise, float x, float z) {
  const float depth = -z;
  const float rough = eroded(noise, 0.13f * x + 7.3f, 0.13f * depth + 2.9f);
  const float shore = inland(x, depth) + 2.2f * (rough - 0.7f);
  const float mountain = smooth_step(0.5f, 17.0f, shore), head = smooth_step(40.0f, 62.0f, depth);
  const float near = smooth_step(7.0f, 26.0f, depth);
  const float high = (mountain > head ? mountain : head) * (0.15f + 0.85f * near);
  const float land =
      0.42f * smooth_step(-2.0f, 3.0f, shore) - 0.21f + 8.6f * high * (rough * rough / (0.35f + 0.9f * rough));
  const float city_x = (x - city_place[CITY_X]) / (city_place[CITY_HALF_X] + 0.6f);
  const float city_z = (z - city_place[CITY_Z]) / (city_place[CITY_HALF_Z] + 0.6f);
  const float flat = 1.0f - smooth_step(0.8f, 1.9f, city_x * city_x + city_z * city_z);
  return land + flat * (0.03f - land);
}

/* The distance between rows grows with depth, and each row is wider than the view, so that all squares are about
 * equally large in the picture. */
static void place_rows(float depth[ROWS + 1]) {
  float at = 3.2f;
  for (int j = 0; j <= ROWS; j++) {
    depth[j] = at;
    at *= 1.0037f;
  }
}

static size_t vertex_at(int i, int j) { return (size_t)j * (COLUMNS + 1) + (size_t)i; }

enum { ROWS_A_PIECE = 8 };

typedef struct land {
  const demo_noise *noise;
  const float *depth; /* of each row */
  float *vertices;
  uint32_t *indices;
  vec3 *normals;
} land;

static void place_vertices(void *argument, size_t first, size_t end) {
  const land *l = argument;
  for (int j = (int)first; j < (int)end; j++)
    for (int i = 0; i <= COLUMNS; i++) {
      const float side = 2.0f * (float)i / (float)COLUMNS - 1.0f;
      float *p = l->vertices + 3 * vertex_at(i, j);
      p[0] = side * (0.72f * l->depth[j] + 3.0f);
      p[2] = -l->depth[j];
      p[1] = terrain_height(l->noise, p[0], p[2]);
    }
}

static vec3 vertex_normal(const float *vertices, int i, int j) {
  const int left = i > 0 ? i - 1 : i, right = i < COLUMNS ? i + 1 : i, near = j > 0 ? j - 1 : j;
  const int far = j < ROWS ? j + 1 : j;
  const vec3 across = vec_sub(vec_of(vertices + 3 * vertex_at(right, j)), vec_of(vertices + 3 * vertex_at(left, j)));
  const vec3 away = vec_sub(vec_of(vertices + 3 * vertex_at(i, far)), vec_of(vertices + 3 * vertex_at(i, near)));
  return vec_unit(vec_cross(across, away));
}

static void join(void *argument, size_t first, size_t end) {
  const land *l = argument;
  for (int j = (int)first; j < (int)end; j++)
    for (int i = 0; i <= COLUMNS; i++) {
      l->normals[vertex_at(i, j)] = vertex_normal(l->vertices, i, j);
      if (i == COLUMNS || j == ROWS) continue;
      const uint32_t a = (uint32_t)vertex_at(i, j), b = a + 1, c = (uint32_t)vertex_at(i, j + 1), d = c + 1;
      const uint32_t square[6] = {a, b, d, a,
                                  d, c}; /* counter-clockwise from above: x to the right, rows away from the camera */
      for (int k = 0; k < 6; k++) l->indices[6 * ((size_t)j * COLUMNS + (size_t)i) + (size_t)k] = square[k];
    }
}

/* Builds the mesh and the normal at each of its vertices. Returns 0, or -1 if out of memory; release both in either
 * case. */
static int terrain_build(const demo_noise *noise, uint32_t threads, scene_geometry *mesh, vec3 **normals) {
  const size_t vertices = (size_t)(COLUMNS + 1) * (ROWS + 1), triangles = 2 * (size_t)COLUMNS * ROWS;
  float depth[ROWS + 1];
  *mesh = (scene_geometry){.kind = SLAB_TRIANGLE, .count = (uint32_t)triangles, .vertex_count = (uint32_t)vertices};
  mesh->vertices = malloc(vertices * 3 * sizeof *mesh->vertices);
  mesh->indices = malloc(triangles * 3 * sizeof *mesh->indices);
  *normals = malloc(vertices * sizeof **normals);
  if (!mesh->vertices || !mesh->indices || !*normals) return -1;
  place_rows(depth);
  land l = {noise, depth, mesh->vertices, mesh->indices, *normals};
  pool_loop(threads, ROWS + 1, ROWS_A_PIECE, place_vertices, &l);
  pool_loop(threads, ROWS + 1, ROWS_A_PIECE, join, &l);
  return 0;
}

/* ---- water, city ----------------------------------------------------------- */

static int build_water(scene_geometry *out) {
  slab_plane *plane = malloc(sizeof *plane);
  *out = (scene_geometry){.kind = SLAB_PLANE, .count = 1, .shapes = plane};
  if (plane == NULL) return -1;
  *plane = (slab_plane){{0.0f, 1.0f, 0.0f}, 0.0f};
  return 0;
}

enum { STREETS_X = 34, STREETS_Z = 22, CITY_MOST = STREETS_X * STREETS_Z * 2 + 1 };

/* A house; some have a narrower storey on top. Houses are higher towards the middle. distance: 0 in the middle, 1 at
 * the city's edge. */
static uint32_t build_house(slab_box *box, random_state *random, float x, float z, float distance) {
  const float u = random_float(random), u2 = u * u, middle = 1.0f - distance;
  const float half_x = random_between(random, 0.05f, 0.078f), half_z = random_between(random, 0.05f, 0.078f);
  const float height = 0.14f + 0.22f * u + 2.6f * (middle * middle) * (0.12f + u2 * u2);
  box[0] = (slab_box){{x - half_x, 0.0f, z - half_z}, {x + half_x, height, z + half_z}};
  if (height < 0.55f || random_float(random) < 0.3f) return 1;
  const float top = height * random_between(random, 1.08f, 1.25f), narrow = random_between(random, 0.4f, 0.75f);
  box[1] =
      (slab_box){{x - half_x * narrow, height, z - half_z * narrow}, {x + half_x * narrow, top, z + half_z * narrow}};
  return 2;
}

/* Box 0 is the quay. */
static int build_city(scene_geometry *out) {
  const float *place = city_place;
  const float x0 = place[CITY_X], z0 = place[CITY_Z], half_x = place[CITY_HALF_X], half_z = place[CITY_HALF_Z];
  random_state random = random_seed(11);
  slab_box *box = malloc(CITY_MOST * sizeof *box);
  *out = (scene_geometry){.kind = SLAB_BOX, .shapes = box};
  if (box == NULL) return -1;
  box[out->count++] = (slab_box){{x0 - half_x, -1.0f, z0 - half_z}, {x0 + half_x, 0.07f, z0 + half_z}};
  for (int j = 0; j < STREETS_Z; j++)
    for (int i = 0; i < STREETS_X; i++) {
      const float u = 2.0f * ((float)i + 0.5f) / STREETS_X - 1.0f, v = 2.0f * ((float)j + 0.5f) / STREETS_Z - 1.0f;
      const int is_avenue = i % 6 == 5 || j % 5 == 4;
      const float distance = sqrtf(u * u + v * v);
      if (is_avenue || distance > 1.3f) continue;
      out->count +=
          build_house(box + out->count, &random, x0 + u * half_x, z0 + v * half_z, distance < 1.0f ? distance : 1.0f);
    }
  return 0;
}

/* ---- oriented boxes -------------------------------------------------------- */

enum { STONES = 420 };

/* An orthonormal frame from a unit vector and an angle around it. */
static void turn_frame(vec3 w, double degrees, float axes[3][3]) {
  const vec3 aside = fabsf(w.y) < 0.7f ? vec(0.0f, 1.0f, 0.0f) : vec(1.0f, 0.0f, 0.0f);
  const vec3 u = vec_unit(vec_cross(aside, w)), v = vec_cross(w, u);
  double c, s;
  circle_at(degrees, &c, &s);
  vec_store(vec_add(vec_scale(u, (float)c), vec_scale(v, (float)s)), axes[0]);
  vec_store(vec_sub(vec_scale(v, (float)c), vec_scale(u, (float)s)), axes[1]);
  vec_store(w, axes[2]);
}

/* The numbers are drawn one after the other, because compilers differ in the order of a call's arguments. */
static vec3 random_unit(random_state *random) {
  vec3 v = {0.0f, 0.0f, 0.0f};
  float length2 = 0.0f;
  while (!(length2 > 0.01f && length2 <= 1.0f)) {
    v.x = random_between(random, -1.0f, 1.0f);
    v.y = random_between(random, -1.0f, 1.0f);
    v.z = random_between(random, -1.0f, 1.0f);
    length2 = vec_dot(v, v);
  }
  return vec_unit(v);
}

/* Boulders along the shore, where the land is about as high as the water. */
static int build_stones(const demo_noise *noise, scene_geometry *out) {
  random_state random = random_seed(5);
  slab_obb *box = calloc(STONES, sizeof *box);
  *out = (scene_geometry){.kind = SLAB_OBB, .shapes = box};
  if (box == NULL) return -1;
  for (int tries = 0; tries < 100 * STONES && out->count < STONES; tries++) {
    const float depth = random_between(&random, 4.0f, 26.0f);
    const float x = random_between(&random, -1.0f, 1.0f) * (0.6f * depth + 1.0f);
    const float height = terrain_height(noise, x, -depth);
    if (!(height > -0.16f && height < 0.06f)) continue;
    slab_obb *stone = &box[out->count++];
    const float u = random_float(&random), size = 0.035f + 0.17f * (u * u * u);
    vec_store(vec(x, height + 0.3f * size, -depth), stone->center);
    for (int k = 0; k < 3; k++) stone->half_size[k] = size * random_between(&random, 0.45f, 1.0f);
    const double turn = 360.0 * (double)random_float(&random);
    turn_frame(random_unit(&random), turn, stone->axes);
  }
  return 0;
}

/* ---- the ring and the flake ------------------------------------------------ */

static const vec3 flake_center = {2.0f, 1.42f, -7.6f};

/* Blocks around the flake. From each to the next the rotation about the ring's line grows a little. */
static int build_ring(scene_geometry *out) {
  const vec3 right = vec_unit(vec(1.0f, 0.22f, -0.42f)), ahead = {0.36f, -0.2f, 0.9f};
  const vec3 up = vec_unit(vec_cross(ahead, right));
  slab_obb *box = malloc(DEMO_RING_BLOCKS * sizeof *box);
  *out = (scene_geometry){.kind = SLAB_OBB, .count = DEMO_RING_BLOCKS, .shapes = box};
  if (box == NULL) return -1;
  for (int i = 0; i < DEMO_RING_BLOCKS; i++) {
    double c, s;
    circle_at(360.0 * i / DEMO_RING_BLOCKS, &c, &s);
    const vec3 outward = vec_add(vec_scale(right, (float)c), vec_scale(up, (float)s));
    const vec3 along = vec_unit(vec_sub(vec_scale(up, (float)c), vec_scale(right, (float)s)));
    box[i] = (slab_obb){.half_size = {0.155f, 0.045f, 0.036f}};
    vec_store(vec_along(flake_center, 1.42f, outward), box[i].center);
    turn_frame(along, 540.0 * i / DEMO_RING_BLOCKS, box[i].axes);
  }
  return 0;
}

/* A sphere, then 9, 81 and 729 around it. */
static int build_flake(scene_geometry *out) {
  const vec3 pole = vec_unit(vec(0.25f, 0.45f, -0.86f));
  const vec3 u = vec_unit(vec_cross(pole, vec(0.0f, 1.0f, 0.0f))), v = vec_cross(pole, u);
  if (scene_build("flake", 820, 1, out) != 0) return -1;
  slab_sphere *spheres = out->shapes;
  for (uint32_t i = 0; i < out->count; i++) {
    const vec3 p = vec_scale(vec_of(spheres[i].center), 0.96f);
    vec3 turned = vec_along(flake_center, p.x, u);
    turned = vec_along(turned, p.y, pole);
    vec_store(vec_along(turned, p.z, v), spheres[i].center);
    spheres[i].radius *= 0.96f;
  }
  return 0;
}

/* ---- the scene ------------------------------------------------------------- */

/* Written out here because the library's camera uses the tangent of an angle, whose last bit differs between
 * machines. */
static slab_camera camera_for(uint32_t width, uint32_t height) {
  const vec3 from = {0.0f, 1.55f, 0.0f}, to = {0.0f, 2.0f, -10.0f};
  const float half_height = 0.325f, half_width = half_height * ((float)width / (float)height);
  const vec3 forward = vec_unit(vec_sub(to, from));
  const vec3 right = vec_unit(vec_cross(forward, vec(0.0f, 1.0f, 0.0f)));
  slab_camera camera;
  vec_store(from, camera.origin);
  vec_store(forward, camera.forward);
  vec_store(vec_scale(right, half_width), camera.right);
  vec_store(vec_scale(vec_cross(right, forward), half_height), camera.up);
  return camera;
}

int demo_scene_build(uint32_t width, uint32_t height, uint32_t threads, demo_scene *out) {
  *out = (demo_scene){.camera = camera_for(width, height), .threads = threads};
  noise_fill(&out->noise, 3);
  if (terrain_build(&out->noise, threads, &out->parts[DEMO_LAND], &out->land_normals) != 0) return -1;
  if (build_water(&out->parts[DEMO_WATER]) != 0 || build_city(&out->parts[DEMO_CITY]) != 0) return -1;
  if (build_stones(&out->noise, &out->parts[DEMO_STONES]) != 0 || build_ring(&out->parts[DEMO_RING]) != 0) return -1;
  return build_flake(&out->parts[DEMO_FLAKE]);
}

void demo_scene_free(demo_scene *scene) {
  free(scene->land_normals);
  for (int i = 0; i < DEMO_GEOMETRIES; i++) scene_geometry_free(&scene->parts[i]);
}

slab_status demo_scene_add(const demo_scene *scene, slab_scene *to) {
  slab_status status = SLAB_OK;
  for (int i = 0; i < DEMO_GEOMETRIES && status == SLAB_OK; i++)
    status = scene_geometry_add(to, &scene->parts[i], NULL, NULL);
  return status;
}
