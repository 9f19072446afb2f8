#include "fuzz_bytes.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "sets/points.h"

fuzz_bytes fuzz_begin(const uint8_t *data, size_t size) {
  return (fuzz_bytes){data, data + size, size > 0 && data[size - 1] == 0xFF};
}

uint32_t fuzz_byte(fuzz_bytes *p) { return p->at < p->end ? *p->at++ : 0; }

float fuzz_number(fuzz_bytes *p) {
  static const float extremes[] = {0.0f,      -0.0f,      INFINITY,  -INFINITY, NAN,   0x1p60f,
                                   -0x1p60f,  0x1.8p60f,  0x1p-140f, 0x1p-30f,  1e38f, -1e38f,
                                   0x1p-126f, 1048577.0f, 1e-20f,    0x1p-149f};
  const uint32_t first = fuzz_byte(p);
  uint32_t bits = 0;
  if (first >= 32) return ((float)first - 144.0f) * 0.125f;
  if (first >= 16) return extremes[first - 16];
  if (first >= 12) return (float)first;
  for (int i = 0; i < 4; i++) bits = bits << 8 | fuzz_byte(p);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

void fuzz_numbers(fuzz_bytes *p, float *values, size_t n) {
  for (size_t i = 0; i < n; i++) values[i] = fuzz_number(p);
}

slab_ray fuzz_ray(fuzz_bytes *p) {
  slab_ray ray = {.t_max = INFINITY};
  fuzz_numbers(p, ray.origin, 3);
  fuzz_numbers(p, ray.direction, 3);
  if (fuzz_byte(p) % 4 == 0) {
    ray.t_min = fuzz_number(p);
    ray.t_max = fuzz_number(p);
  }
  return ray;
}

slab_status fuzz_said(long *done, slab_status status) {
  claim(status == SLAB_OK || slab_message()[0] != '\0');
  *done += status == SLAB_OK;
  return status;
}

slab_scene *fuzz_copy(long *done, slab_context *context, const slab_scene *scene) {
  size_t size = 0;
  slab_scene *copy = NULL;
  claim(fuzz_said(done, slab_scene_pack(scene, NULL, 0, &size)) == SLAB_OK);
  void *bytes = malloc(size);
  claim(bytes != NULL && fuzz_said(done, slab_scene_pack(scene, bytes, size, &size)) == SLAB_OK);
  claim(fuzz_said(done, slab_scene_unpack(context, bytes, size, &copy)) == SLAB_OK);
  free(bytes);
  return copy;
}

void fuzz_judge(slab_scene *scene, slab_query query, const slab_ray *rays, const answers *a,
                const slab_cast_options *options) {
  slab_check_report report;
  const uint64_t *offsets = query == SLAB_ALL ? a->offsets : NULL;
  claim(slab_check(scene, query, rays, a->n, answers_of(a, query), offsets, options, &report) == SLAB_OK);
  if (report.mismatches + report.oracle_wrong > 0) fprintf(stderr, "%s: %s\n", answer_name(query), report.text);
  claim(report.rays == a->n && report.mismatches == 0 && report.oracle_wrong == 0);
}

/* hit: of the ray, or NULL. */
static slab_short_hit read_after(fuzz_bytes *p, const slab_hit *hit) {
  const uint32_t choice = fuzz_byte(p);
  if (hit == NULL || choice % 4 == 3) {
    const float t = fuzz_number(p);
    const uint32_t ids = fuzz_byte(p);
    return (slab_short_hit){t, ids % 8, ids / 8 % 8};
  }
  return (slab_short_hit){hit->t, hit->primitive + choice / 4 % 3 - 1, hit->geometry + choice / 16 % 3 - 1};
}

bool fuzz_own_read(fuzz_bytes *p, fuzz_own *own, slab_scene *scene, slab_query query, const slab_ray *rays, size_t n,
                   slab_cast_options *options) {
  const uint32_t choice = p->owns ? fuzz_byte(p) : 0;
  const bool masked = choice & 1, late = choice & 2;
  slab_hit hits[FUZZ_OWN_RAYS];
  slab_cast_options plain = *options;
  plain.progress = NULL;
  const bool hit = late && slab_closest(scene, rays, n, hits, &plain) == SLAB_OK;
  bool taken = !(masked && options->mask != 0) && !(late && query == SLAB_INTERVAL);
  for (size_t i = 0; i < n; i++) {
    if (masked) own->masks[i] = fuzz_byte(p) % 4;
    if (late) own->after[i] = read_after(p, hit ? &hits[i] : NULL);
    taken = taken && !(late && isnan(own->after[i].t));
  }
  if (masked) options->masks = own->masks;
  if (late) options->after = own->after;
  return taken;
}

/* ---- points ---- */

static void compare_points(slab_scene *scene, slab_scene *twin, slab_point_query query, const float *points, size_t n,
                           const slab_point_options *options, bool judged) {
  point_answers found = {0}, others = {0};
  slab_check_report report;
  size_t first;
  const slab_point_options its = point_options_of(query, options);
  const slab_status status = point_answers_ask(&found, query, scene, points, n, options);
  claim(point_answers_ask(&others, query, twin, points, n, options) == status);
  claim(status == SLAB_OK || (status == SLAB_UNSUPPORTED && query != SLAB_WINDING));
  if (status == SLAB_OK) {
    claim(point_answers_differ(&found, &others, query, &first) == 0);
    claim(found.invalid[query] <= n && found.invalid[query] == others.invalid[query]);
    claim(slab_check_points(scene, query, points, n, point_answers_of(&found, query), &its, &report) == SLAB_OK);
    if (report.mismatches + report.oracle_wrong > 0) fprintf(stderr, "%s\n", report.text);
    claim(report.rays == n && report.mismatches == 0 && (!judged || report.oracle_wrong == 0));
  }
  point_answers_free(&found);
  point_answers_free(&others);
}

void fuzz_points(slab_scene *scene, slab_scene *twin, const slab_ray *rays, size_t n, uint32_t mask, bool judged) {
  float points[3 * FUZZ_OWN_RAYS], radii[FUZZ_OWN_RAYS];
  for (size_t i = 0; i < n; i++) {
    memcpy(points + 3 * i, rays[i].origin, sizeof rays[i].origin);
    radii[i] = rays[i].t_max >= 0 ? rays[i].t_max : 1;
  }
  const slab_point_options options = {.mask = mask, .radii = radii};
  for (int query = 0; query < SLAB_POINT_QUERY_COUNT; query++)
    compare_points(scene, twin, (slab_point_query)query, points, n, &options, judged);
}

/* ---- contexts ---- */

/* Five rays per launch, so that a cast takes several; without launches, as the processor casts few rays. Also by the
 * kernels that a C compiler makes, which have its sanitizers, in either layout. OpenCL has the first alone: the others
 * would be more programs to build. */
#ifndef FUZZ_MESHES
static const slab_context_options kinds[] = {
    {.launch_rays = 5}, {0}, {.lane_width = 1}, {.lane_width = 1, .layout = SLAB_LAYOUT_COMPRESSED, .launch_rays = 5}};
enum { KINDS = sizeof kinds / sizeof *kinds, KINDS_OF_OPENCL = 1 };
#else /* where the device refits: in compressed BVHs, in host memory or not */
static const slab_context_options kinds[] = {{.layout = SLAB_LAYOUT_COMPRESSED},
                                             {.layout = SLAB_LAYOUT_COMPRESSED, .copy = 1, .launch_rays = 5}};
enum { KINDS = sizeof kinds / sizeof *kinds, KINDS_OF_OPENCL = KINDS };
#endif

static slab_context *contexts[KINDS];

static void close_contexts(void) {
  for (int i = 0; i < KINDS; i++) slab_context_destroy(contexts[i]);
}

slab_context *fuzz_context(size_t choice) {
  const char *backends = getenv("SLABCAST_BACKENDS");
  const bool native = backends != NULL && strcmp(backends, "native") == 0;
  slab_context **context = &contexts[choice % (native ? KINDS : KINDS_OF_OPENCL)];
  if (contexts[0] == NULL) {
    claim(slab_context_create(&kinds[0], &contexts[0]) == SLAB_OK);
    atexit(close_contexts);
  }
  if (*context == NULL) claim(slab_context_create(&kinds[context - contexts], context) == SLAB_OK);
  return *context;
}
