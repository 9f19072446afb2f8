#include "worlds_frames.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define BENCH_NAME "bench_worlds"
#include "must.h"

#define PART_SIZE 0.4f
#define SEED 20260101u

/* ---- meshes ---- */

/* Moves a mesh to the origin and scales it. */
static void fit(scene_geometry *g, float size, float height) {
  float lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (size_t i = 0; i < 3 * (size_t)g->vertex_count; i++) {
    lower[i % 3] = fminf(lower[i % 3], g->vertices[i]);
    upper[i % 3] = fmaxf(upper[i % 3], g->vertices[i]);
  }
  for (size_t i = 0; i < 3 * (size_t)g->vertex_count; i++) {
    const float extent = upper[i % 3] - lower[i % 3], wanted = i % 3 == 2 ? height : size;
    g->vertices[i] = (g->vertices[i] - 0.5f * (lower[i % 3] + upper[i % 3])) / extent * wanted;
  }
}

/* The terrain's heights are y; here z is up. */
static void turn_up(scene_geometry *g) {
  for (size_t i = 0; i < g->vertex_count; i++) {
    float *v = g->vertices + 3 * i;
    const float height = v[1];
    v[1] = -v[2];
    v[2] = height;
  }
}

static void make_meshes(worlds_frames *f) {
  static const char *const names[WORLDS_MODELS] = {"torus", "knot", "torus", "knot", "torus"};
  for (uint32_t k = 0; k < WORLDS_MODELS; k++) {
    if (scene_build(names[k], WORLDS_MODEL_TRIANGLES, SEED + k, &f->meshes[k]) != 0)
      ended_ill(names[k], "cannot be made");
    fit(&f->meshes[k], PART_SIZE * (1.0f + 0.1f * (float)k), PART_SIZE);
  }
  if (scene_build("terrain", WORLDS_TERRAIN_TRIANGLES, SEED, &f->terrain) != 0) ended_ill("terrain", "cannot be made");
  turn_up(&f->terrain);
  fit(&f->terrain, WORLDS_TERRAIN_SIZE, 0.5f);
  f->plan.model_count = WORLDS_MODELS;
  f->plan.models = f->meshes;
  f->plan.terrain = &f->terrain;
}

/* ---- places ---- */

/* Turned about z, anywhere within a metre of its world's middle. */
static void place_part(worlds_frames *f, uint32_t world, float m[12]) {
  const float angle = random_between(&f->random, 0.0f, 6.2831853f), c = cosf(angle), s = sinf(angle);
  const float at[12] = {c, -s, 0, f->middles[2 * world] + random_between(&f->random, -1.0f, 1.0f),
                        s, c,  0, f->middles[2 * world + 1] + random_between(&f->random, -1.0f, 1.0f),
                        0, 0,  1, random_between(&f->random, 0.4f, 2.4f)};
  memcpy(m, at, sizeof at);
}

void worlds_frames_place(worlds_frames *f, uint32_t world) {
  for (size_t k = 0; k < WORLDS_MODELS; k++)
    for (size_t i = 0; i < f->plan.each; i++)
      place_part(f, world, f->transforms + 12 * ((k * f->plan.worlds + world) * f->plan.each + i));
}

void worlds_frames_next(worlds_frames *f) {
  for (uint32_t w = 0; w < f->plan.worlds; w++) worlds_frames_place(f, w);
}

static size_t float_count(const worlds_plan *p) { return (size_t)WORLDS_MODELS * p->worlds * p->each * 12; }

static void make_world(worlds_frames *f, uint32_t w) {
  const worlds_plan *p = &f->plan;
  for (int k = 0; k < 2; k++)
    f->middles[2 * w + (uint32_t)k] =
        random_between(&f->random, -0.4f * WORLDS_TERRAIN_SIZE, 0.4f * WORLDS_TERRAIN_SIZE);
  worlds_frames_place(f, w);
  for (uint32_t i = 0; i < p->rays; i++) {
    const float aside = 6.2831853f * (float)i / (float)p->rays, up = -0.6f + 0.8f * (float)(i % 8) / 8.0f;
    f->rays[(size_t)w * p->rays + i] = (slab_ray){.origin = {f->middles[2 * w], f->middles[2 * w + 1], 1.4f},
                                                  .direction = {cosf(aside), sinf(aside), up},
                                                  .t_max = WORLDS_REACH};
    f->worlds[(size_t)w * p->rays + i] = w + 1;
  }
}

void worlds_frames_open(worlds_frames *f, const worlds_plan *plan) {
  const size_t rays = (size_t)plan->worlds * plan->rays;
  f->plan = *plan;
  f->random = random_seed(SEED);
  make_meshes(f);
  f->transforms = space(float_count(plan) * sizeof *f->transforms);
  f->middles = space((size_t)plan->worlds * 2 * sizeof *f->middles);
  f->rays = space(rays * sizeof *f->rays);
  f->worlds = space(rays * sizeof *f->worlds);
  for (uint32_t w = 0; w < plan->worlds; w++) make_world(f, w);
}

void worlds_frames_close(worlds_frames *f) {
  for (int k = 0; k < WORLDS_MODELS; k++) scene_geometry_free(&f->meshes[k]);
  scene_geometry_free(&f->terrain);
  free(f->transforms);
  free(f->middles);
  free(f->rays);
  free(f->worlds);
}

/* ---- files ---- */

static FILE *open_file(const char *folder, const char *name) {
  char path[4096];
  const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
  if (length < 0 || (size_t)length >= sizeof path) ended_ill(folder, "is too long a name");
  FILE *file = fopen(path, "wb");
  if (file == NULL) ended_ill(path, strerror(errno));
  return file;
}

static void close_file(FILE *file, const char *name) {
  const bool bad = ferror(file) != 0;
  if (fclose(file) != 0 || bad) ended_ill(name, "not all of it was written");
}

static void write_array(const char *folder, const char *name, const void *bytes, size_t size) {
  FILE *file = open_file(folder, name);
  fwrite(bytes, 1, size, file);
  close_file(file, name);
}

static void write_mesh(const char *folder, const char *name, const scene_geometry *g) {
  char file[64];
  snprintf(file, sizeof file, "%s.vertices", name);
  write_array(folder, file, g->vertices, 3 * (size_t)g->vertex_count * sizeof *g->vertices);
  snprintf(file, sizeof file, "%s.triangles", name);
  write_array(folder, file, g->indices, 3 * (size_t)g->count * sizeof *g->indices);
}

void worlds_frames_write(worlds_frames *f, const char *folder, uint32_t frames) {
  const worlds_plan *p = &f->plan;
  FILE *plan = open_file(folder, "plan"), *transforms = open_file(folder, "transforms");
  fprintf(plan, "worlds %u\nmodels %u\neach %u\nrays %u\nframes %u\n", p->worlds, p->model_count, p->each, p->rays,
          frames);
  close_file(plan, "plan");
  for (uint32_t k = 0; k < WORLDS_MODELS; k++) {
    char name[32];
    snprintf(name, sizeof name, "model%u", k);
    write_mesh(folder, name, &f->meshes[k]);
  }
  write_mesh(folder, "terrain", &f->terrain);
  write_array(folder, "rays", f->rays, (size_t)p->worlds * p->rays * sizeof *f->rays);
  for (uint32_t i = 0; i < frames; i++) {
    worlds_frames_next(f);
    fwrite(f->transforms, sizeof *f->transforms, float_count(p), transforms);
  }
  close_file(transforms, "transforms");
}
