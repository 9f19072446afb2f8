#include "sets/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sets/scenes_private.h"
#include "sets/shapes.h"

/* ---- helpers shared by the builders ------------------------------------------- */

uint32_t scene_square_root(uint32_t value) {
  uint64_t n = 0;
  for (uint64_t step = (uint64_t)1 << 16; step > 0; step /= 2)
    if ((n + step) * (n + step) <= value) n += step;
  return (uint32_t)n;
}

uint32_t scene_cube_root(uint32_t value) {
  uint64_t n = 0;
  for (uint64_t step = (uint64_t)1 << 11; step > 0; step /= 2)
    if ((n + step) * (n + step) * (n + step) <= value) n += step;
  return (uint32_t)n;
}

/* By rejection from the cube, which is uniform and needs no angles. */
void scene_random_direction(random_state *random, float direction[3]) {
  float length2 = 0;
  do {
    for (int k = 0; k < 3; k++) direction[k] = random_between(random, -1.0f, 1.0f);
    length2 = (direction[0] * direction[0] + direction[1] * direction[1]) + direction[2] * direction[2];
  } while (!(length2 > 0.01f && length2 <= 1.0f));
  const float length = sqrtf(length2);
  for (int k = 0; k < 3; k++) direction[k] /= length;
}

/* Duff and others, Building an Orthonormal Basis, Revisited, 2017. */
void scene_frame(const float w[3], float u[3], float v[3]) {
  const float sign = w[2] < 0 ? -1.0f : 1.0f;
  const float a = -1.0f / (sign + w[2]);
  const float b = w[0] * w[1] * a;
  u[0] = 1.0f + sign * w[0] * w[0] * a;
  u[1] = sign * b;
  u[2] = -sign * w[0];
  v[0] = b;
  v[1] = sign + w[1] * w[1] * a;
  v[2] = -w[1];
}

float *scene_vertices(scene_geometry *out, size_t count) {
  out->kind = SLAB_TRIANGLE;
  out->vertex_count = (uint32_t)count;
  if (count > UINT32_MAX) return NULL;
  return out->vertices = malloc((count * 3 + 1) * sizeof(float));
}

uint32_t *scene_indices(scene_geometry *out, size_t triangles) {
  out->count = (uint32_t)triangles;
  if (triangles > UINT32_MAX) return NULL;
  return out->indices = malloc((triangles * 3 + 1) * sizeof(uint32_t));
}

static void *shapes(scene_geometry *out, slab_shape kind, uint32_t count, size_t size) {
  out->kind = kind;
  out->count = count;
  return out->shapes = calloc((size_t)count + 1, size);
}

/* ---- boxes, spheres, oriented boxes, planes -------------------------------- */

/* The approximate distance between neighbours if `count` objects fill the cube from -1 to 1. */
static float spacing(uint32_t count) { return 2.0f / (float)(scene_cube_root(count) + 1); }

static void build_boxes(uint32_t count, random_state *random, scene_geometry *out) {
  slab_box *box = shapes(out, SLAB_BOX, count, sizeof *box);
  const float largest = 0.4f * spacing(count);
  for (uint32_t i = 0; box && i < count; i++)
    for (int k = 0; k < 3; k++) {
      const float center = random_between(random, -1.0f, 1.0f);
      const float half = random_between(random, 0.1f * largest, largest);
      box[i].lower[k] = center - half;
      box[i].upper[k] = center + half;
    }
}

/* A few high towers among many low houses; box 0 is the ground. */
static void build_city(uint32_t count, random_state *random, scene_geometry *out) {
  slab_box *box = shapes(out, SLAB_BOX, count, sizeof *box);
  const uint32_t row = scene_square_root(count) + 1;
  const float middle = 0.5f * (float)row;
  for (uint32_t i = 1; box && i < count; i++) {
    const float x = (float)((i - 1) % row) - middle, z = (float)((i - 1) / row) - middle;
    const float margin = random_between(random, 0.08f, 0.25f);
    const float u = random_float(random), u2 = u * u;
    box[i] =
        (slab_box){{x + margin, 0.0f, z + margin}, {x + 1.0f - margin, 0.25f + 6.0f * (u2 * u2), z + 1.0f - margin}};
  }
  if (box && count > 0) box[0] = (slab_box){{-middle, -1.0f, -middle}, {middle, 0.0f, middle}};
}

static void build_spheres(uint32_t count, random_state *random, scene_geometry *out) {
  slab_sphere *sphere = shapes(out, SLAB_SPHERE, count, sizeof *sphere);
  const float largest = 0.4f * spacing(count);
  for (uint32_t i = 0; sphere && i < count; i++) {
    for (int k = 0; k < 3; k++) sphere[i].center[k] = random_between(random, -1.0f, 1.0f);
    sphere[i].radius = random_between(random, 0.1f * largest, largest);
  }
}

/* Nine directions around a pole: six on the equator, three above. */
static void flake_direction(int i, float direction[3]) {
  const float h = 0.8660254f; /* sqrt(3) / 2 */
  const float equator[6][2] = {{1, 0}, {0.5f, h}, {-0.5f, h}, {-1, 0}, {-0.5f, -h}, {0.5f, -h}};
  const float above[3][2] = {{h, 0.5f}, {-h, 0.5f}, {0, -1}};
  const float flat = i < 6 ? 1.0f : 0.57735027f; /* sqrt(1/3), and sqrt(2/3) up */
  direction[0] = flat * (i < 6 ? equator[i][0] : above[i - 6][0]);
  direction[1] = flat * (i < 6 ? equator[i][1] : above[i - 6][1]);
  direction[2] = i < 6 ? 0.0f : 0.81649658f;
}

/* Haines' sphere flake: sphere i has children 9i + 1 to 9i + 9, a third of its size, around its own pole. */
static void build_flake(uint32_t count, random_state *random, scene_geometry *out) {
  slab_sphere *sphere = shapes(out, SLAB_SPHERE, count, sizeof *sphere);
  float(*pole)[3] = malloc(((size_t)count + 1) * sizeof *pole);
  (void)random;
  if (sphere == NULL || pole == NULL) {
    free(sphere);
    out->shapes = NULL;
  } else if (count > 0) {
    sphere[0].radius = 0.5f;
    pole[0][0] = pole[0][2] = 0.0f;
    pole[0][1] = 1.0f;
  }
  for (uint32_t i = 1; out->shapes && i < count; i++) {
    const uint32_t parent = (i - 1) / 9;
    const float *w = pole[parent];
    float u[3], v[3], d[3];
    scene_frame(w, u, v);
    flake_direction((int)((i - 1) % 9), d);
    sphere[i].radius = sphere[parent].radius / 3.0f;
    for (int k = 0; k < 3; k++) {
      pole[i][k] = (d[0] * u[k] + d[1] * v[k]) + d[2] * w[k];
      sphere[i].center[k] = sphere[parent].center[k] + pole[i][k] * (sphere[parent].radius + sphere[i].radius);
    }
  }
  free(pole);
}

static void build_obbs(uint32_t count, random_state *random, scene_geometry *out) {
  slab_obb *box = shapes(out, SLAB_OBB, count, sizeof *box);
  const float largest = 0.4f * spacing(count);
  for (uint32_t i = 0; box && i < count; i++) {
    float turn[3], u[3], v[3], length2 = 0;
    for (int k = 0; k < 3; k++) {
      box[i].center[k] = random_between(random, -1.0f, 1.0f);
      box[i].half_size[k] = random_between(random, 0.1f * largest, largest);
    }
    scene_random_direction(random, box[i].axes[2]);
    scene_frame(box[i].axes[2], u, v);
    scene_random_direction(random, turn); /* the first two components rotate the frame around its third axis */
    length2 = turn[0] * turn[0] + turn[1] * turn[1];
    const float length = sqrtf(length2);
    const float c = length2 > 0 ? turn[0] / length : 1.0f, s = length2 > 0 ? turn[1] / length : 0.0f;
    for (int k = 0; k < 3; k++) {
      box[i].axes[0][k] = c * u[k] + s * v[k];
      box[i].axes[1][k] = c * v[k] - s * u[k];
    }
  }
}

static void build_planes(uint32_t count, random_state *random, scene_geometry *out) {
  slab_plane *plane = shapes(out, SLAB_PLANE, count, sizeof *plane);
  for (uint32_t i = 0; plane && i < count; i++) {
    scene_random_direction(random, plane[i].normal);
    plane[i].offset = random_between(random, -1.0f, 1.0f);
  }
}

/* ---- by name --------------------------------------------------------------- */

const scene_name scene_names[] = {
    {"boxes", "random boxes", 0},
    {"city", "a city of boxes on a grid", 0},
    {"spheres", "random spheres", 0},
    {"flake", "a sphere flake, nine to each", 0},
    {"obbs", "random oriented boxes", 0},
    {"planes", "random planes", 0},
    {"soup", "random triangles that share nothing", 0},
    {"hair", "strands of thin triangles", 0},
    {"terrain", "hills, closed below; at most COUNT triangles, 12 or more", 1},
    {"torus", "a torus; at most COUNT triangles, 36 or more", 1},
    {"knot", "a trefoil knot; at most COUNT triangles, 216 or more", 1},
    {"lattice", "unit cubes at small integers; about COUNT triangles, 12 or more", 1},
    {"room", "a room of 1 x 1 x 1000; always 12 triangles", 1},
    {NULL, NULL, 0},
};

/* In the same order as scene_names. */
static void (*const builders[])(uint32_t, random_state *, scene_geometry *) = {
    build_boxes, build_city,    build_spheres, build_flake, build_obbs,    build_planes, scene_soup,
    scene_hair,  scene_terrain, scene_torus,   scene_knot,  scene_lattice, scene_room,
};

int scene_build(const char *name, uint32_t count, uint64_t seed, scene_geometry *out) {
  random_state random = random_seed(seed);
  *out = (scene_geometry){0};
  for (size_t i = 0; scene_names[i].name != NULL; i++) {
    if (strcmp(scene_names[i].name, name) != 0) continue;
    builders[i](count, &random, out);
    const int soup = builders[i] == scene_soup;
    const int whole = out->kind == SLAB_TRIANGLE ? out->vertices && (out->indices || soup) : out->shapes != NULL;
    if (!whole) scene_geometry_free(out);
    return whole ? 0 : SCENE_NO_MEMORY;
  }
  return SCENE_UNKNOWN;
}

void scene_geometry_free(scene_geometry *geometry) {
  free(geometry->shapes);
  free(geometry->vertices);
  free(geometry->indices);
  *geometry = (scene_geometry){0};
}

slab_status scene_geometry_add(slab_scene *scene, const scene_geometry *g, const slab_geometry_options *options,
                               uint32_t *geometry) {
  const slab_mesh mesh = {
      .vertices = g->vertices, .vertex_count = g->vertex_count, .indices = g->indices, .triangle_count = g->count};
  if (g->kind == SLAB_TRIANGLE) return slab_scene_add_mesh(scene, &mesh, options, geometry);
  return shape_add_array(scene, g->kind, g->shapes, g->count, options, geometry);
}
