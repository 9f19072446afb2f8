/* Compares all known formulations of the box test and the triangle test on an OpenCL device:
 *
 *   bench_forms [--device SEL] [--rays N] [--rounds R] [--seconds S] [--processor-time] [--lanes L]
 *               [--seed S] [--csv FILE]
 *
 * Errors are counted by the oracle, on four sets of N rays each (1,000,000). Speed is measured in R rounds (9) that
 * interleave all formulations, S seconds each (0.02). L is 1, 8 or 16 primitives at once instead of the device's own
 * width. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "forms_device.h"
#include "forms_reference.h"
#include "forms_report.h"
#include "ray_sets.h"
#include "sets/scenes.h"

enum { BOXES = 1024, TRIANGLES = 512, BATCH = 1 << 18, CALIBRATION = 1024, COMPARED_RAYS = 16384 };

typedef struct options {
  const char *device, *csv;
  double rays, rounds, seconds, seed;
  double lanes; /* 0: the device's own width */
  int processor_time;
} options;

/* A formulation, ready to be timed at one width. */
typedef struct runner {
  forms_program program;
  cl_mem blocks;
  cl_uint count; /* rays in a round */
} runner;

typedef struct bench {
  options options;
  forms_device device;
  forms_heading heading;
  forms_batch batch;
  float *shapes[2]; /* boxes and triangles for the timing */
  forms_row rows[FORMS_MOST];
  runner wide[FORMS_MOST], scalar[FORMS_MOST];
  uint32_t *bits; /* results for each ray of a set */
  float *sums[2]; /* of a batch: our formulation's, another's */
} bench;

static bool failed_memory(const char *what) {
  fprintf(stderr, "bench_forms: no memory for %s\n", what);
  return false;
}

/* ---- options ---- */

static bool parse_number(const char *text, double low, double high, double *value) {
  char *end;
  *value = strtod(text, &end);
  return end != text && *end == 0 && *value >= low && *value <= high;
}

static bool parse_lanes(const char *text, double *lanes) {
  return parse_number(text, 1.0, 16.0, lanes) && (*lanes == 1.0 || *lanes == 8.0 || *lanes == 16.0);
}

static bool parse_value(const char *name, const char *value, options *o) {
  if (strcmp(name, "--rays") == 0) return parse_number(value, 16.0, 1e8, &o->rays);
  if (strcmp(name, "--rounds") == 0) return parse_number(value, 1.0, ROUNDS_MAX, &o->rounds);
  if (strcmp(name, "--seconds") == 0) return parse_number(value, 1e-4, 60.0, &o->seconds);
  if (strcmp(name, "--seed") == 0) return parse_number(value, 0.0, 0x1p53, &o->seed);
  if (strcmp(name, "--lanes") == 0) return parse_lanes(value, &o->lanes);
  if (strcmp(name, "--device") == 0) o->device = value;
  if (strcmp(name, "--csv") == 0) o->csv = value;
  return strcmp(name, "--device") == 0 || strcmp(name, "--csv") == 0;
}

static bool parse_options(int count, char **words, options *o) {
  *o = (options){.device = "0", .rays = 1e6, .rounds = 9.0, .seconds = 0.02, .seed = 20240607.0};
  for (int i = 1; i < count; i++) {
    if (strcmp(words[i], "--processor-time") == 0) {
      o->processor_time = 1;
    } else if (i + 1 < count && parse_value(words[i], words[i + 1], o)) {
      i++;
    } else {
      fprintf(stderr,
              "bench_forms: %s is no option, or its value does not fit\n"
              "usage: bench_forms [--device SEL] [--rays N] [--rounds R] [--seconds S] [--processor-time] [--lanes L] "
              "[--seed S] [--csv FILE]\n",
              words[i]);
      return false;
    }
  }
  return true;
}

/* ---- errors ---- */

/* Counts pairs of the first rays whose result on the device differs from C11. */
static size_t count_differences(const form *f, const forms_set *set, const uint32_t *bits) {
  const size_t floats = set->shape == SLAB_BOX ? 6 : 9, rays = set->rays < COMPARED_RAYS ? set->rays : COMPARED_RAYS;
  float blocks[FORMS_GROUP * FORM_ROWS_MOST];
  size_t differences = 0;
  for (size_t i = 0; i < rays; i++) {
    const size_t group = i / FORMS_RAYS_PER_GROUP;
    if (i % FORMS_RAYS_PER_GROUP == 0)
      form_pack(f->layout, 1, set->shapes + group * FORMS_GROUP * floats, FORMS_GROUP, blocks);
    uint32_t other = (bits[i] ^ form_reference(f, &set->ray[i], blocks, FORMS_GROUP)) & ((1u << set->used[group]) - 1u);
    for (; other != 0; other &= other - 1) differences++;
  }
  return differences;
}

static size_t compared_pairs(const forms_set *set) {
  size_t pairs = 0;
  for (size_t i = 0; i < set->rays && i < COMPARED_RAYS; i++) pairs += set->used[i / FORMS_RAYS_PER_GROUP];
  return pairs;
}

static bool judge_forms(bench *b, const forms_set *set) {
  for (size_t i = 0; i < forms_count; i++) {
    forms_row *row = &b->rows[i];
    if (row->form->shape != set->shape) continue;
    if (!forms_verdicts(&b->device, &b->wide[i].program, set, b->bits)) return false;
    row->errors[set->kind] = forms_errors_of(set, b->bits);
    row->differs += count_differences(row->form, set, b->bits);
  }
  return true;
}

static bool run_set(bench *b, slab_shape shape, forms_kind kind) {
  forms_set set;
  bool done = forms_set_make(shape, kind, b->heading.seed, (size_t)b->options.rays, &set);
  if (!done) failed_memory("a set of rays");
  b->bits = done ? malloc(set.rays * sizeof *b->bits) : NULL;
  if (done && b->bits == NULL) done = failed_memory("verdicts");
  if (done) {
    forms_judge(&set);
    b->heading.rays = set.rays;
    b->heading.undecided[shape == SLAB_TRIANGLE][kind] = forms_undecided(&set);
    b->heading.compared[shape == SLAB_TRIANGLE] += compared_pairs(&set);
    done = judge_forms(b, &set);
  }
  free(b->bits);
  b->bits = NULL;
  forms_set_free(&set);
  return done;
}

/* ---- speed ---- */

static bool build_scene(const char *name, uint32_t count, float **shapes) {
  scene_geometry g;
  if (scene_build(name, count, 20240607u, &g) != 0) return failed_memory("a scene");
  const size_t floats = g.kind == SLAB_BOX ? 6 : 9;
  const void *values = g.kind == SLAB_BOX ? g.shapes : g.vertices;
  *shapes = malloc(count * floats * sizeof **shapes);
  if (*shapes != NULL) memcpy(*shapes, values, count * floats * sizeof **shapes);
  scene_geometry_free(&g);
  return *shapes != NULL ? true : failed_memory("a scene");
}

/* Scales the largest component of the direction to [1, 2), so that t has the same meaning in all formulations. */
static void scale(slab_ray *ray) {
  float largest = 0.0f;
  int exponent;
  for (int i = 0; i < 3; i++) largest = fmaxf(largest, fabsf(ray->direction[i]));
  (void)frexpf(largest, &exponent);
  for (int i = 0; i < 3; i++) ray->direction[i] = ldexpf(ray->direction[i], 1 - exponent);
}

static bool make_batch(bench *b) {
  slab_ray *rays = malloc(BATCH * sizeof *rays);
  random_state random = random_seed(b->heading.seed);
  if (rays == NULL) return failed_memory("rays");
  ray_set_fill(RAYS_FAR, &random, BATCH, rays);
  for (size_t i = 0; i < BATCH; i++) scale(&rays[i]);
  const bool made = forms_batch_make(&b->device, rays, BATCH, &b->batch);
  free(rays);
  for (int k = 0; k < 2; k++) b->sums[k] = malloc(BATCH * sizeof *b->sums[k]);
  if (b->sums[0] == NULL || b->sums[1] == NULL) return failed_memory("sums");
  return made && build_scene("boxes", BOXES, &b->shapes[0]) && build_scene("soup", TRIANGLES, &b->shapes[1]);
}

static size_t primitives_of(const form *f) { return f->shape == SLAB_BOX ? BOXES : TRIANGLES; }

/* Chooses the number of rays so that a run takes the requested time, from the second of two short runs. */
static bool calibrate(const bench *b, runner *r, forms_speed *speed) {
  double seconds = 0.0;
  for (int i = 0; i < 2; i++)
    if (!forms_run(&b->device, &r->program, CALIBRATION, b->options.processor_time, &seconds)) return false;
  const double wanted = CALIBRATION * b->options.seconds / (seconds > 1e-7 ? seconds : 1e-7);
  r->count = wanted > BATCH ? BATCH : wanted < CALIBRATION ? CALIBRATION : (cl_uint)wanted;
  speed->lanes = r->program.lanes;
  speed->tests = (double)r->count * FORMS_PASSES * (double)primitives_of(r->program.form);
  return true;
}

static bool prepare(const bench *b, const form *f, unsigned lanes, runner *r, forms_speed *speed) {
  const float *shapes = b->shapes[f->shape == SLAB_TRIANGLE];
  return forms_build(&b->device, f, lanes, &r->program) &&
         forms_load(&b->device, &r->program, &b->batch, shapes, primitives_of(f), &r->blocks) && calibrate(b, r, speed);
}

static bool prepare_all(bench *b) {
  const unsigned lanes = b->options.lanes > 0.0 ? (unsigned)b->options.lanes : b->device.info.lane_width;
  b->heading.lanes = lanes;
  for (size_t i = 0; i < forms_count; i++) {
    const form *f = b->rows[i].form = &forms_list[i];
    if (!prepare(b, f, lanes, &b->wide[i], &b->rows[i].wide)) return false;
    if (lanes > 1 && !prepare(b, f, 1, &b->scalar[i], &b->rows[i].scalar)) return false;
  }
  return true;
}

static bool time_one(const bench *b, const runner *r, forms_speed *speed) {
  if (r->count == 0) return true;
  return forms_run(&b->device, &r->program, r->count, b->options.processor_time,
                   &speed->time.seconds[speed->time.rounds++]);
}

/* Times all formulations in each round. */
static bool time_all(bench *b) {
  for (int round = 0; round < (int)b->options.rounds; round++)
    for (size_t i = 0; i < forms_count; i++)
      if (!time_one(b, &b->wide[i], &b->rows[i].wide) || !time_one(b, &b->scalar[i], &b->rows[i].scalar)) return false;
  return true;
}

/* ---- check that all did the same work ---- */

static bool nearest(const bench *b, const runner *r, float *sums) {
  double seconds;
  return forms_run(&b->device, &r->program, CALIBRATION, 0, &seconds) &&
         forms_sums(&b->device, &b->batch, CALIBRATION, sums);
}

/* A formulation without t gives 0. */
static bool same_sum(float a, float ours) {
  if (isinf(a) || isinf(ours)) return isinf(a) && isinf(ours);
  return a == 0.0f || fabsf(a - ours) <= 1e-3f * fabsf(ours);
}

static bool compare_all(bench *b) {
  for (size_t i = 0; i < forms_count; i++) {
    const slab_shape shape = b->rows[i].form->shape;
    const form *ours = form_named(shape == SLAB_BOX ? "form_ours_box" : "form_ours_triangle");
    size_t same = 0;
    if (!nearest(b, &b->wide[ours - forms_list], b->sums[0]) || !nearest(b, &b->wide[i], b->sums[1])) return false;
    for (size_t k = 0; k < CALIBRATION; k++) same += same_sum(b->sums[1][k], b->sums[0][k]);
    b->rows[i].agrees = (double)same / CALIBRATION;
  }
  return true;
}

/* ---- the run ---- */

static bool run(bench *b) {
  if (!forms_open(b->options.device, &b->device)) return false;
  b->heading = (forms_heading){.device = &b->device.info,
                               .processor_time = b->options.processor_time,
                               .seed = (uint64_t)b->options.seed,
                               .primitives = {BOXES, TRIANGLES}};
  if (!make_batch(b) || !prepare_all(b) || !time_all(b) || !compare_all(b)) return false;
  for (forms_kind kind = 0; kind < FORMS_KINDS; kind++)
    if (!run_set(b, SLAB_BOX, kind) || !run_set(b, SLAB_TRIANGLE, kind)) return false;
  return true;
}

static void runner_free(runner *r) {
  forms_release(&r->blocks);
  forms_program_free(&r->program);
}

static void bench_free(bench *b) {
  for (size_t i = 0; i < forms_count; i++) {
    runner_free(&b->wide[i]);
    runner_free(&b->scalar[i]);
  }
  for (int k = 0; k < 2; k++) {
    free(b->shapes[k]);
    free(b->sums[k]);
  }
  forms_batch_free(&b->batch);
  forms_close(&b->device);
}

static bool write_csv(const bench *b) {
  FILE *out = NULL;
  if (!csv_open("bench_forms", b->options.csv, &out)) return false;
  if (out != NULL) forms_csv(out, &b->heading, b->rows, forms_count);
  return csv_close("bench_forms", b->options.csv, out);
}

int main(int count, char **words) {
  static bench b;
  if (!parse_options(count, words, &b.options)) return 2;
  bool done = run(&b);
  if (done) forms_print(stdout, &b.heading, b.rows, forms_count);
  done = done && write_csv(&b);
  bench_free(&b);
  return done ? 0 : 1;
}
