#include "demo_terrain.h"

#include <stdlib.h>

#ifndef DEMO_COLUMNS /* the fault sweeps, which repeat the demo, define a smaller land */
#define DEMO_COLUMNS 640
#define DEMO_ROWS 840
#endif
/* COLUMNS x ROWS squares of two triangles each. */
enum { COLUMNS = DEMO_COLUMNS, ROWS = DEMO_ROWS };

const float demo_city_place[4] = {-3.75f, -14.4f, 3.1f, 2.2f};

/* ---- height ---------------------------------------------------------------- */

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

float demo_terrain_height(const demo_noise *noise, float x, float z) {
  const float depth = -z;
  const float rough = eroded(noise, 0.13f * x + 7.3f, 0.13f * depth + 2.9f);
  const float shore = inland(x, depth) + 2.2f * (rough - 0.7f);
  const float mountain = smooth_step(0.5f, 17.0f, shore), head = smooth_step(40.0f, 62.0f, depth);
  const float near = smooth_step(7.0f, 26.0f, depth);
  const float high = (mountain > head ? mountain : head) * (0.15f + 0.85f * near);
  const float land =
      0.42f * smooth_step(-2.0f, 3.0f, shore) - 0.21f + 8.6f * high * (rough * rough / (0.35f + 0.9f * rough));
  const float city_x = (x - demo_city_place[CITY_X]) / (demo_city_place[CITY_HALF_X] + 0.6f);
  const float city_z = (z - demo_city_place[CITY_Z]) / (demo_city_place[CITY_HALF_Z] + 0.6f);
  const float flat = 1.0f - smooth_step(0.8f, 1.9f, city_x * city_x + city_z * city_z);
  return land + flat * (0.03f - land);
}

/* ---- mesh ------------------------------------------------------------------ */

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

static void place_vertices(const demo_noise *noise, const float depth[ROWS + 1], float *vertices) {
#pragma omp parallel for schedule(dynamic, 8)
  for (int j = 0; j <= ROWS; j++)
    for (int i = 0; i <= COLUMNS; i++) {
      const float side = 2.0f * (float)i / (float)COLUMNS - 1.0f;
      float *p = vertices + 3 * vertex_at(i, j);
      p[0] = side * (0.72f * depth[j] + 3.0f);
      p[2] = -depth[j];
      p[1] = demo_terrain_height(noise, p[0], p[2]);
    }
}

static vec3 vertex_normal(const float *vertices, int i, int j) {
  const int left = i > 0 ? i - 1 : i, right = i < COLUMNS ? i + 1 : i, near = j > 0 ? j - 1 : j;
  const int far = j < ROWS ? j + 1 : j;
  const vec3 across = vec_sub(vec_of(vertices + 3 * vertex_at(right, j)), vec_of(vertices + 3 * vertex_at(left, j)));
  const vec3 away = vec_sub(vec_of(vertices + 3 * vertex_at(i, far)), vec_of(vertices + 3 * vertex_at(i, near)));
  return vec_unit(vec_cross(across, away));
}

static void join(uint32_t *indices, vec3 *normals, const float *vertices) {
#pragma omp parallel for schedule(dynamic, 8)
  for (int j = 0; j <= ROWS; j++)
    for (int i = 0; i <= COLUMNS; i++) {
      normals[vertex_at(i, j)] = vertex_normal(vertices, i, j);
      if (i == COLUMNS || j == ROWS) continue;
      const uint32_t a = (uint32_t)vertex_at(i, j), b = a + 1, c = (uint32_t)vertex_at(i, j + 1), d = c + 1;
      const uint32_t square[6] = {a, b, d, a,
                                  d, c}; /* counter-clockwise from above: x to the right, rows away from the camera */
      for (int k = 0; k < 6; k++) indices[6 * ((size_t)j * COLUMNS + (size_t)i) + (size_t)k] = square[k];
    }
}

int demo_terrain_build(const demo_noise *noise, scene_geometry *mesh, vec3 **normals) {
  const size_t vertices = (size_t)(COLUMNS + 1) * (ROWS + 1), triangles = 2 * (size_t)COLUMNS * ROWS;
  float depth[ROWS + 1];
  *mesh = (scene_geometry){.kind = SLAB_TRIANGLE, .count = (uint32_t)triangles, .vertex_count = (uint32_t)vertices};
  mesh->vertices = malloc(vertices * 3 * sizeof *mesh->vertices);
  mesh->indices = malloc(triangles * 3 * sizeof *mesh->indices);
  *normals = malloc(vertices * sizeof **normals);
  if (!mesh->vertices || !mesh->indices || !*normals) return -1;
  place_rows(depth);
  place_vertices(noise, depth, mesh->vertices);
  join(mesh->indices, *normals, mesh->vertices);
  return 0;
}
