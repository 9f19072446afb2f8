/* slab_check: correct results pass, and every single flipped bit is found and named in the report. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counting_scene.h"
#include "harness.h"
#include "mixed_fates.h"
#include "os/thread.h"
#include "sets/far_scene.h"

enum { N = 32 };

typedef struct world {
  slab_context *context;
  slab_scene *scene;
  slab_ray *rays;
} world;

static int open_world(void **state) {
  world *w = calloc(1, sizeof *w);
  assert_non_null(w);
  w->context = harness_context();
  w->scene = mixed_fates_scene(w->context, 3);
  w->rays = mixed_rays("test_check", N);
  *state = w;
  return 0;
}

static int close_world(void **state) {
  world *w = *state;
  free(w->rays);
  slab_scene_destroy(w->scene);
  slab_context_destroy(w->context);
  free(w);
  return 0;
}

/* ---- results of any query ---- */

typedef struct answer {
  slab_query query;
  unsigned char *results;
  uint64_t offsets[N + 1];
  size_t bytes; /* of results */
} answer;

static answer cast_on(const world *w, slab_query query, const slab_cast_options *options) {
  answer a = {.query = query, .bytes = N * slab_result_size(query)};
  if (query == SLAB_ALL) {
    assert_ok(slab_all(w->scene, w->rays, N, a.offsets, NULL, 0, NULL, options));
    a.bytes = a.offsets[N] * sizeof(slab_hit);
  }
  a.results = malloc(a.bytes + 1);
  assert_non_null(a.results);
  if (query == SLAB_ALL)
    assert_ok(slab_all(w->scene, w->rays, N, a.offsets, (slab_hit *)(void *)a.results, a.offsets[N], NULL, options));
  else
    assert_ok(cast_query(w->scene, query, w->rays, N, a.results, options));
  return a;
}

static slab_check_report report_of(const world *w, const answer *a, const slab_cast_options *options) {
  slab_check_report report;
  memset(&report, 0xA5, sizeof report);
  assert_ok(slab_check(w->scene, a->query, w->rays, N, a->results, a->query == SLAB_ALL ? a->offsets : NULL, options,
                       &report));
  assert_true(report.rays == N);
  return report;
}

static void assert_clean(const world *w, const answer *a, const slab_cast_options *options) {
  const slab_check_report report = report_of(w, a, options);
  if (report.mismatches + report.oracle_wrong > 0) fail_msg("query %d: %s", (int)a->query, report.text);
  assert_string_equal(report.text, "");
}

static void assert_text_has(const slab_check_report *report, const char *part) {
  if (strstr(report->text, part) == NULL) fail_msg("\"%s\" does not have \"%s\"", report->text, part);
}

/* Exactly this ray is reported as wrong. */
static void assert_found(const slab_check_report *report, size_t ray) {
  char name[32];
  snprintf(name, sizeof name, "ray %zu", ray);
  assert_true(report->mismatches == 1);
  assert_true(report->first == ray);
  assert_text_has(report, name);
}

/* ---- flips ---- */

static size_t ray_of_byte(const answer *a, size_t byte) {
  if (a->query != SLAB_ALL) return byte / slab_result_size(a->query);
  size_t ray = 0;
  while (a->offsets[ray + 1] <= byte / sizeof(slab_hit)) ray++;
  return ray;
}

static uint32_t word_of(const unsigned char *bytes) {
  uint32_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

/* The report contains both bit patterns of the word that was changed; small numbers may be decimal. */
static void assert_bits_named(const slab_check_report *report, const answer *a, uint32_t got, uint32_t want) {
  char text[16];
  const char *format = a->query == SLAB_ANY || a->query == SLAB_COUNT ? "%u" : "%08x";
  snprintf(text, sizeof text, format, got);
  assert_text_has(report, text);
  snprintf(text, sizeof text, format, want);
  assert_text_has(report, text);
}

/* The report names the primitive and geometry of a result that has them, with the values it holds. */
static void assert_primitive_named(const slab_check_report *report, const answer *a, size_t byte) {
  if (slab_result_size(a->query) < sizeof(slab_short_hit)) return;
  const size_t size = slab_result_size(a->query), at = byte / size * size + size - 8;
  char text[32];
  for (size_t i = 0; i < 2; i++) {
    snprintf(text, sizeof text, "%u", word_of(a->results + at + 4 * i));
    assert_text_has(report, text);
  }
}

static void flip_and_find(const world *w, const answer *a, const slab_cast_options *options, size_t byte, int bit) {
  const size_t word = a->query == SLAB_ANY ? byte : byte / 4 * 4;
  const uint32_t want = a->query == SLAB_ANY ? a->results[word] : word_of(a->results + word);
  a->results[byte] ^= (unsigned char)(1 << bit);
  const uint32_t got = a->query == SLAB_ANY ? a->results[word] : word_of(a->results + word);
  const slab_check_report report = report_of(w, a, options);
  assert_found(&report, ray_of_byte(a, byte));
  assert_bits_named(&report, a, got, want);
  assert_primitive_named(&report, a, byte);
  a->results[byte] ^= (unsigned char)(1 << bit);
}

/* Flips every bit of a result, each in a different result. */
static void flip_all(const world *w, slab_query query, const slab_cast_options *options) {
  random_state random = harness_seeded("flips");
  answer a = cast_on(w, query, options);
  const size_t size = slab_result_size(query), results = a.bytes / size;
  assert_true(results > 0);
  assert_clean(w, &a, options);
  for (size_t byte = 0; byte < size; byte++)
    for (int bit = 0; bit < 8; bit++)
      flip_and_find(w, &a, options, random_below(&random, (uint32_t)results) * size + byte, bit);
  assert_clean(w, &a, options);
  free(a.results);
}

static void flipped_bits_of_closest_are_found(void **state) { flip_all(*state, SLAB_CLOSEST, NULL); }
static void flipped_bits_of_distance_are_found(void **state) { flip_all(*state, SLAB_DISTANCE, NULL); }
static void flipped_bits_of_any_are_found(void **state) { flip_all(*state, SLAB_ANY, NULL); }
static void flipped_bits_of_count_are_found(void **state) { flip_all(*state, SLAB_COUNT, NULL); }
static void flipped_bits_of_interval_are_found(void **state) { flip_all(*state, SLAB_INTERVAL, NULL); }
static void flipped_bits_of_nearest_are_found(void **state) { flip_all(*state, SLAB_NEAREST, NULL); }
static void flipped_bits_of_all_are_found(void **state) { flip_all(*state, SLAB_ALL, NULL); }

/* An offset belongs to two rays: it ends one list and starts the next. */
static void flipped_bits_of_offsets_are_found(void **state) {
  const world *w = *state;
  answer a = cast_on(w, SLAB_ALL, NULL);
  for (int bit = 0; bit < 64; bit++) {
    const size_t at = (size_t)(7 * bit) % (N + 1), rays = at == 0 || at == N ? 1 : 2;
    a.offsets[at] ^= (uint64_t)1 << bit;
    const slab_check_report report = report_of(w, &a, NULL);
    assert_true(report.mismatches == rays);
    assert_true(report.first == (at == 0 ? 0 : at - 1));
    a.offsets[at] ^= (uint64_t)1 << bit;
  }
  assert_clean(w, &a, NULL);
  free(a.results);
}

static void several_wrong_rays_are_counted_and_the_first_is_named(void **state) {
  const world *w = *state;
  answer a = cast_on(w, SLAB_CLOSEST, NULL);
  const size_t wrong[] = {31, 5, 17, 20};
  for (size_t i = 0; i < 4; i++) a.results[wrong[i] * sizeof(slab_hit)] ^= 1;
  const slab_check_report report = report_of(w, &a, NULL);
  assert_true(report.mismatches == 4 && report.first == 5);
  assert_text_has(&report, "ray 5");
  free(a.results);
}

static void swapped_hits_of_a_list_are_found(void **state) {
  const world *w = *state;
  answer a = cast_on(w, SLAB_ALL, NULL);
  size_t ray = 0;
  while (ray < N && a.offsets[ray + 1] - a.offsets[ray] < 2) ray++;
  assert_true(ray < N);
  slab_hit *list = (slab_hit *)(void *)a.results + a.offsets[ray], kept = list[0];
  list[0] = list[1];
  list[1] = kept;
  const slab_check_report report = report_of(w, &a, NULL);
  assert_found(&report, ray);
  free(a.results);
}

/* ---- options ---- */

static void check_answers_under_the_options_of_the_cast(void **state) {
  const world *w = *state;
  slab_primitive_id skip[N];
  const answer plain = cast_on(w, SLAB_CLOSEST, NULL);
  for (size_t i = 0; i < N; i++) { /* skip what each ray hit: planes and triangles are then hidden, solids stay */
    const slab_hit *hit = (const slab_hit *)(const void *)plain.results + i;
    skip[i] = (slab_primitive_id){hit->primitive, hit->geometry};
  }
  const slab_cast_options options[] = {
      {.mask = MIXED_FATES_MASK(MIXED_FATES_SPHERES) | MIXED_FATES_MASK(MIXED_FATES_MESH)},
      {.skip = skip},
      {.cull = SLAB_CULL_BACK},
      {.cull = SLAB_CULL_FRONT, .face_forward = 1},
      {.face_forward = 1},
      {.mask = ~MIXED_FATES_MASK(MIXED_FATES_OBBS), .skip = skip, .cull = SLAB_CULL_FRONT, .face_forward = 1},
  };
  for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
    for (slab_query query = SLAB_CLOSEST; query < SLAB_QUERY_COUNT; query++) {
      answer a = cast_on(w, query, &options[o]);
      assert_clean(w, &a, &options[o]);
      free(a.results);
    }
    answer a = cast_on(w, SLAB_CLOSEST, &options[o]);
    assert_true(report_of(w, &a, NULL).mismatches > 0); /* wrong under other options */
    assert_true(report_of(w, &plain, &options[o]).mismatches > 0);
    free(a.results);
  }
  free(plain.results);
}

/* A list of the first hits is not one of all, nor the other way round, nor a shorter one. */
static void check_lists_under_their_max_hits(void **state) {
  const world *w = *state;
  const slab_cast_options two = {.max_hits = 2}, one = {.max_hits = 1}, very_many = {.max_hits = UINT32_MAX};
  answer all = cast_on(w, SLAB_ALL, NULL), a = cast_on(w, SLAB_ALL, &two);
  assert_clean(w, &all, &very_many);
  assert_clean(w, &a, &two);
  assert_true(report_of(w, &a, NULL).mismatches > 0 && report_of(w, &a, &one).mismatches > 0);
  assert_true(report_of(w, &all, &two).mismatches > 0);
  free(all.results);
  free(a.results);
}

static void flipped_bits_under_options_are_found(void **state) {
  slab_primitive_id skip[N];
  for (uint32_t i = 0; i < N; i++) skip[i] = (slab_primitive_id){i % 40, MIXED_FATES_MESH};
  const slab_cast_options options = {
      .mask = ~MIXED_FATES_MASK(MIXED_FATES_BOXES), .skip = skip, .cull = SLAB_CULL_BACK, .face_forward = 1};
  flip_all(*state, SLAB_INTERVAL, &options);
  flip_all(*state, SLAB_ALL, &options);
}

/* ---- ends of the range ---- */

static void no_rays_are_checked_as_clean(void **state) {
  const world *w = *state;
  const uint64_t offsets[] = {0};
  for (slab_query query = SLAB_CLOSEST; query < SLAB_QUERY_COUNT; query++) {
    slab_check_report report;
    memset(&report, 0xA5, sizeof report);
    assert_ok(slab_check(w->scene, query, NULL, 0, NULL, query == SLAB_ALL ? offsets : NULL, NULL, &report));
    assert_true(report.rays + report.mismatches + report.oracle_rays + report.oracle_wrong + report.oracle_undecided ==
                0);
    assert_string_equal(report.text, "");
  }
}

static void lists_without_a_hit_need_no_hits(void **state) {
  const world *w = *state;
  const uint64_t offsets[N + 1] = {0};
  const slab_cast_options blind = {.mask = MIXED_FATES_MASK(MIXED_FATES_NOTHING)};
  slab_check_report report;
  assert_ok(slab_check(w->scene, SLAB_ALL, w->rays, N, NULL, offsets, &blind, &report));
  assert_true(report.rays == N && report.mismatches == 0);
}

static void batch_of_many_tasks_names_its_last_ray(void **state) {
  const world *w = *state;
  enum { MANY = 3001 };
  slab_ray *rays = mixed_rays(__func__, MANY);
  uint32_t *counts = malloc(MANY * sizeof *counts);
  slab_check_report report;
  assert_non_null(counts);
  assert_ok(slab_count(w->scene, rays, MANY, counts, NULL));
  counts[MANY - 1] ^= 1u << 31;
  assert_ok(slab_check(w->scene, SLAB_COUNT, rays, MANY, counts, NULL, NULL, &report));
  assert_found(&report, MANY - 1);
  assert_true(report.rays == MANY);
  free(counts);
  free(rays);
}

/* ---- progress ---- */

/* Calls of progress: it falls never, comes on the caller's thread, and ends the check at the call `stop_at`. */
typedef struct journal {
  os_thread thread;
  uint64_t total, calls, last, stop_at;
} journal;

static int note(void *user, uint64_t done, uint64_t total) {
  journal *j = user;
  assert_true(done > j->last && done <= total && total == j->total);
  assert_true(os_thread_is_self(j->thread));
  j->last = done;
  return ++j->calls == j->stop_at;
}

static void progress_rises_to_the_rays(void **state) {
  const world *w = *state;
  answer a = cast_on(w, SLAB_CLOSEST, NULL);
  journal j = {.thread = os_thread_self(), .total = N};
  assert_clean(w, &a, &(slab_cast_options){.progress = note, .user = &j});
  assert_true(j.calls >= 1 && j.last == N);
  free(a.results);
}

static void a_cancelled_check_leaves_its_report(void **state) {
  const world *w = *state;
  answer a = cast_on(w, SLAB_CLOSEST, NULL);
  journal j = {.thread = os_thread_self(), .total = N, .stop_at = 1};
  slab_check_report report, untouched;
  memset(&report, 0xA5, sizeof report);
  untouched = report;
  const slab_cast_options options = {.progress = note, .user = &j};
  assert_status(slab_check(w->scene, SLAB_CLOSEST, w->rays, N, a.results, NULL, &options, &report), SLAB_CANCELLED);
  assert_non_null(strstr(slab_message(), "slab_check: cancelled after"));
  assert_true(j.calls == 1);
  assert_same_bits(&report, &untouched, 1, sizeof report);
  assert_clean(w, &a, NULL); /* the scene can still be checked */
  free(a.results);
}

static void a_long_check_ends_early(void **state) {
  const world *w = *state;
  enum { LONG = 100000 };
  slab_mesh mesh = {.vertices = (const float[]){0, 0, 0, 1, 0, 0, 0, 1, 0}, .vertex_count = 3, .triangle_count = LONG};
  uint32_t *indices = calloc(3 * LONG, sizeof *indices), *counts = calloc(LONG, sizeof *counts);
  slab_ray *rays = malloc(LONG * sizeof *rays);
  journal j = {.thread = os_thread_self(), .total = LONG, .stop_at = 1};
  slab_scene *scene;
  slab_check_report report;
  assert_true(indices != NULL && counts != NULL && rays != NULL);
  for (uint32_t i = 0; i < LONG; i++) {
    indices[3 * i + 1] = 1;
    indices[3 * i + 2] = 2;
    rays[i] = w->rays[i % N];
  }
  mesh.indices = indices;
  assert_ok(slab_scene_create(w->context, &scene));
  assert_ok(slab_scene_add_mesh(scene, &mesh, NULL, NULL));
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_FLAT}));
  const slab_cast_options options = {.progress = note, .user = &j};
  assert_status(slab_check(scene, SLAB_COUNT, rays, LONG, counts, NULL, &options, &report), SLAB_CANCELLED);
  assert_true(j.calls == 1 && j.last < LONG); /* the whole takes a minute of processor time */
  slab_scene_destroy(scene);
  free(rays);
  free(counts);
  free(indices);
}

/* ---- rays of the world ---- */

enum { FAR_RAYS = 64 };

/* Results of a cast of any source, at any stride. */
typedef struct far_world {
  far_scene scene;
  slab_context *context;
  slab_ray near[FAR_RAYS], floats[FAR_RAYS];
  slab_ray64 far[FAR_RAYS];
} far_world;

static far_world *open_far(const char *test) {
  far_world *w = harness_space(sizeof *w);
  random_state random = harness_seeded(test);
  w->context = harness_context();
  assert_ok(far_scene_open(&w->scene, w->context, random_bits(&random), true));
  for (int kind = SLAB_PLANE; kind <= SLAB_TRIANGLE; kind++)
    assert_ok(far_scene_add(&w->scene, (slab_shape)kind, kind == SLAB_PLANE ? 2 : 7, NULL));
  assert_ok(far_scene_place(&w->scene, w->context, 3, NULL));
  assert_ok(far_scene_commit(&w->scene));
  assert_ok(far_scene_rays(&w->scene, FAR_RAYS, w->near, w->far));
  for (size_t i = 0; i < FAR_RAYS; i++) {
    w->floats[i] = w->near[i];
    for (int k = 0; k < 3; k++) w->floats[i].origin[k] = (float)w->far[i].origin[k];
    if (i % 2 == 0) continue; /* from afar */
    for (int k = 0; k < 3; k++)
      w->far[i].origin[k] = w->scene.origin[k] + w->near[i].origin[k] - 1e5 * w->far[i].direction[k];
    w->far[i].t_min = -INFINITY;
    w->far[i].t_max = INFINITY;
  }
  return w;
}

static void close_far(far_world *w) {
  far_scene_close(&w->scene);
  slab_context_destroy(w->context);
  free(w);
}

static slab_check_report report_far(const far_world *w, slab_query query, const slab_source *source,
                                    const slab_results *results) {
  slab_check_report report;
  assert_ok(slab_check_cast(w->scene.far, query, source, results, NULL, &report));
  assert_true(report.rays == source->n);
  harness_count(source->n);
  return report;
}

/* Casts, and finds every bit of a result that is changed, each in another result. */
static void flip_far(const far_world *w, slab_query query, const slab_source *source, size_t gap) {
  random_state random = harness_seeded("far flips");
  const size_t size = source->rays64 != NULL ? slab_result_size64(query) : slab_result_size(query);
  const size_t stride = query == SLAB_ALL ? size : size + gap;
  uint64_t offsets[FAR_RAYS + 1];
  unsigned char *bytes = NULL;
  slab_results results = {.stride = query == SLAB_ALL ? 0 : stride, .offsets = query == SLAB_ALL ? offsets : NULL};
  if (query == SLAB_ALL) assert_ok(slab_cast(w->scene.far, query, source, &results, NULL));
  const size_t count = query == SLAB_ALL ? (size_t)results.required : source->n;
  results.memory = bytes = harness_space(count * stride + 1);
  results.capacity = query == SLAB_ALL ? count : 0;
  assert_true(count > 0);
  assert_ok(slab_cast(w->scene.far, query, source, &results, NULL));
  slab_check_report report = report_far(w, query, source, &results);
  if (report.mismatches + report.oracle_wrong > 0) fail_msg("query %d: %s", (int)query, report.text);
  assert_true(report.oracle_rays == source->n && (source->set != NULL || report.oracle_undecided < source->n / 4));
  for (size_t byte = 0; byte < size; byte++)
    for (int bit = 0; bit < 8; bit++) {
      const size_t at = random_below(&random, (uint32_t)count);
      size_t ray = query == SLAB_ALL ? 0 : at;
      while (query == SLAB_ALL && offsets[ray + 1] <= at) ray++;
      bytes[at * stride + byte] ^= (unsigned char)(1 << bit);
      report = report_far(w, query, source, &results);
      assert_found(&report, ray);
      bytes[at * stride + byte] ^= (unsigned char)(1 << bit);
    }
  free(bytes);
}

static void flipped_bits_of_far_results_are_found(void **state) {
  far_world *w = open_far(__func__);
  for (int q = 0; q < SLAB_QUERY_COUNT; q++) {
    flip_far(w, (slab_query)q, &(slab_source){.rays64 = w->far, .n = FAR_RAYS}, q % 2 == 0 ? 0 : 5);
    flip_far(w, (slab_query)q, &(slab_source){.rays = w->floats, .n = FAR_RAYS}, q % 2 == 0 ? 8 : 0);
  }
  close_far(w);
  (void)state;
}

static void float_rays_of_a_far_scene_are_checked(void **state) {
  far_world *w = open_far(__func__);
  slab_hit hits[FAR_RAYS];
  slab_check_report report;
  assert_ok(slab_closest(w->scene.far, w->floats, FAR_RAYS, hits, NULL));
  assert_ok(slab_check(w->scene.far, SLAB_CLOSEST, w->floats, FAR_RAYS, hits, NULL, NULL, &report));
  assert_string_equal(report.text, "");
  size_t ray = 0;
  while (ray < FAR_RAYS && hits[ray].primitive >= SLAB_INVALID) ray++;
  assert_true(ray < FAR_RAYS);
  hits[ray].t += 1.0f;
  assert_ok(slab_check(w->scene.far, SLAB_CLOSEST, w->floats, FAR_RAYS, hits, NULL, NULL, &report));
  assert_found(&report, ray);
  close_far(w);
  (void)state;
}

/* t of the world is judged by itself: beside the reference, a hit that lies elsewhere is wrong. */
static void the_oracle_judges_t_of_the_world(void **state) {
  far_world *w = open_far(__func__);
  slab_hit64 hits[FAR_RAYS];
  size_t found = 0;
  const slab_source source = {.rays64 = w->far, .n = FAR_RAYS};
  const slab_results results = {.memory = hits};
  slab_results cast_to = results;
  assert_ok(slab_cast(w->scene.far, SLAB_CLOSEST, &source, &cast_to, NULL));
  for (size_t i = 0; i < FAR_RAYS; i++) {
    const slab_hit64 right = hits[i];
    if (right.primitive >= SLAB_INVALID || right.geometry > SLAB_BOX) continue; /* not in an instance */
    const double *d = w->far[i].direction;
    hits[i].t += 0.25 / sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    const slab_check_report report = report_far(w, SLAB_CLOSEST, &source, &results);
    assert_true(report.mismatches == 1);
    found += (size_t)report.oracle_wrong;
    hits[i] = right;
  }
  assert_true(found >= 8);
  close_far(w);
  (void)state;
}

static void rays_of_sets_are_checked(void **state) {
  far_world *w = open_far(__func__);
  const double *o = w->scene.origin;
  const float x = (float)o[0], y = (float)o[1], z = (float)o[2];
  const float pose[12] = {1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z + 90},
              beams[12] = {0, 0, 0, 0, 0, -1, 1, 0, 0, 0, 0.5f, -1};
  const float from[6] = {x, y, z + 90, x + 8, y, z - 90}, down[6] = {0, 0.25f, -1, 1, 0, 1},
              to[6] = {x, y, z, x, y, z + 8};
  const slab_camera camera = {{x, y, z + 90}, {0, 0, -1}, {1, 0, 0}, {0, 1, 0}};
  const slab_rays sets[] = {slab_rays_beams(pose, 1, beams, 2), slab_rays_directions(from, 2, down, 2),
                            slab_rays_pairs(from, 2, to, 2), slab_rays_pinhole(&camera, 4, 4)};
  for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
    const slab_source source = {.set = &sets[s], .first = s == 3 ? 4 : 0, .n = s == 3 ? 12 : s == 0 ? 2 : 4};
    flip_far(w, s % 2 == 0 ? SLAB_NEAREST : SLAB_ALL, &source, 0);
  }
  close_far(w);
  (void)state;
}

/* Rays of doubles begin after the order of a hit, and the check does too. */
static void far_hits_after_others_are_checked(void **state) {
  far_world *w = open_far(__func__);
  slab_hit64 hits[FAR_RAYS];
  slab_short_hit after[FAR_RAYS];
  slab_check_report report;
  const slab_source source = {.rays64 = w->far, .n = FAR_RAYS};
  const slab_cast_options options = {.after = after};
  slab_results results = {.memory = hits};
  assert_ok(slab_cast(w->scene.far, SLAB_CLOSEST, &source, &results, NULL));
  for (size_t i = 0; i < FAR_RAYS; i++) after[i] = (slab_short_hit){hits[i].order, hits[i].primitive, hits[i].geometry};
  assert_ok(slab_cast(w->scene.far, SLAB_CLOSEST, &source, &results, &options));
  assert_ok(slab_check_cast(w->scene.far, SLAB_CLOSEST, &source, &results, &options, &report));
  assert_string_equal(report.text, "");
  assert_ok(slab_check_cast(w->scene.far, SLAB_CLOSEST, &source, &results, NULL, &report));
  assert_true(report.mismatches > FAR_RAYS / 8);
  harness_count(2 * FAR_RAYS);
  close_far(w);
  (void)state;
}

static void sources_that_cannot_be_checked_are_named(void **state) {
  far_world *w = open_far(__func__);
  slab_hit64 hits[FAR_RAYS];
  slab_check_report report;
  slab_short_hit after[FAR_RAYS] = {{0}};
  const slab_source source = {.rays64 = w->far, .n = FAR_RAYS}, floats = {.rays = w->floats, .n = FAR_RAYS};
  const slab_source both = {.rays = w->floats, .rays64 = w->far, .n = FAR_RAYS}, none = {.n = FAR_RAYS};
  const slab_results results = {.memory = hits}, sums = {.memory = hits, .type = SLAB_RESULT_SUMS, .columns = 1};
  const slab_results close = {.memory = hits, .stride = 8};
  const slab_cast_options later = {.after = after};
  slab_scene *scene = w->scene.far;
#define REFUSED(source, results, options, status, part)                                                     \
  do {                                                                                                      \
    assert_status(slab_check_cast(scene, SLAB_CLOSEST, (source), (results), (options), &report), (status)); \
    assert_mentions(part);                                                                                  \
  } while (0)
  REFUSED(NULL, &results, NULL, SLAB_INVALID_ARGUMENT, "source is NULL");
  REFUSED(&source, NULL, NULL, SLAB_INVALID_ARGUMENT, "results is NULL");
  REFUSED(&none, &results, NULL, SLAB_INVALID_ARGUMENT, "slab_check_cast: rays is NULL");
  REFUSED(&both, &results, NULL, SLAB_INVALID_ARGUMENT, "more than one");
  REFUSED(&source, &close, NULL, SLAB_INVALID_ARGUMENT, "stride is 8");
  REFUSED(&source, &sums, NULL, SLAB_UNSUPPORTED, "sums");
  REFUSED(&floats, &results, &later, SLAB_UNSUPPORTED, "after");
#undef REFUSED
  close_far(w);
  (void)state;
}

int main(void) {
#define IN_A_WORLD(test) cmocka_unit_test_setup_teardown(test, open_world, close_world)
  const struct CMUnitTest tests[] = {
      IN_A_WORLD(flipped_bits_of_closest_are_found),
      IN_A_WORLD(flipped_bits_of_distance_are_found),
      IN_A_WORLD(flipped_bits_of_any_are_found),
      IN_A_WORLD(flipped_bits_of_count_are_found),
      IN_A_WORLD(flipped_bits_of_interval_are_found),
      IN_A_WORLD(flipped_bits_of_nearest_are_found),
      IN_A_WORLD(flipped_bits_of_all_are_found),
      IN_A_WORLD(several_wrong_rays_are_counted_and_the_first_is_named),
      IN_A_WORLD(swapped_hits_of_a_list_are_found),
      IN_A_WORLD(check_answers_under_the_options_of_the_cast),
      IN_A_WORLD(check_lists_under_their_max_hits),
      IN_A_WORLD(flipped_bits_under_options_are_found),
      IN_A_WORLD(no_rays_are_checked_as_clean),
      IN_A_WORLD(lists_without_a_hit_need_no_hits),
      IN_A_WORLD(batch_of_many_tasks_names_its_last_ray),
      IN_A_WORLD(flipped_bits_of_offsets_are_found),
      IN_A_WORLD(progress_rises_to_the_rays),
      IN_A_WORLD(a_cancelled_check_leaves_its_report),
      IN_A_WORLD(a_long_check_ends_early),
      cmocka_unit_test(flipped_bits_of_far_results_are_found),
      cmocka_unit_test(float_rays_of_a_far_scene_are_checked),
      cmocka_unit_test(the_oracle_judges_t_of_the_world),
      cmocka_unit_test(rays_of_sets_are_checked),
      cmocka_unit_test(far_hits_after_others_are_checked),
      cmocka_unit_test(sources_that_cannot_be_checked_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
