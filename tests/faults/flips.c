/* flips [REPEATS]: checks that slab_check detects every bit flipped in data that is read back.
 *
 * Covers every query, on the caller's arrays in place and copied, flat and with a BVH. The flips are uniform over
 * all bits of all read-backs, including the counts before the hits of SLAB_ALL and the number of invalid rays. The
 * one flip that slab_check does not see is a flip that makes the cast fail. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers.h"
#include "scene.h"

enum { RAYS = 100, LAUNCH = 64, HITS = 16384, QUERIES = SLAB_QUERY_COUNT };

typedef struct fixture {
  layers under;
  unsigned repeats;
  slab_ray rays[RAYS];
  slab_primitive_id skips[RAYS];
} fixture;

/* One way to cast, and its results. */
typedef struct trial {
  const fixture *f;
  slab_scene *scene;
  slab_query query;
  slab_cast_options options;
  uint64_t invalid, offsets[RAYS + 1];
  slab_hit results[HITS];
} trial;

static slab_status cast(trial *t) {
  const slab_ray *rays = t->f->rays;
  switch (t->query) {
    case SLAB_CLOSEST:
      return slab_closest(t->scene, rays, RAYS, t->results, &t->options);
    case SLAB_DISTANCE:
      return slab_distance(t->scene, rays, RAYS, (float *)t->results, &t->options);
    case SLAB_ANY:
      return slab_any(t->scene, rays, RAYS, (uint8_t *)t->results, &t->options);
    case SLAB_COUNT:
      return slab_count(t->scene, rays, RAYS, (uint32_t *)t->results, &t->options);
    case SLAB_INTERVAL:
      return slab_interval_of(t->scene, rays, RAYS, (slab_interval *)t->results, &t->options);
    case SLAB_NEAREST:
      return slab_nearest(t->scene, rays, RAYS, (slab_short_hit *)t->results, &t->options);
    case SLAB_ALL:
      break;
  }
  return slab_all(t->scene, rays, RAYS, t->offsets, t->results, HITS, NULL, &t->options);
}

/* Whether slab_check finds no fault. */
static bool passes(trial *t) {
  slab_check_report report;
  assert_ok(slab_check(t->scene, t->query, t->f->rays, RAYS, t->results, t->query == SLAB_ALL ? t->offsets : NULL,
                       &t->options, &report));
  const bool found = report.mismatches > 0 || report.oracle_wrong > 0;
  assert_true(found == (report.text[0] != '\0'));
  return !found;
}

/* The number of read-backs of one cast. It is not taken from the first cast, in which the number of hits is not
 * known yet. */
static unsigned count_reads(trial *t) {
  assert_ok(cast(t));
  t->f->under.flip(0, 0);
  assert_ok(cast(t));
  const flip_report report = t->f->under.flip_end();
  assert_true(report.reads > 0 && report.flipped == 0);
  assert_true(passes(t));
  return report.reads;
}

/* Memory into which hits are collected is mapped as a whole. A flip between the hits is in no result. */
static bool answers_are(const trial *t, const slab_hit *hits, const uint64_t *offsets) {
  return t->query == SLAB_ALL && memcmp(t->offsets, offsets, sizeof t->offsets) == 0 &&
         memcmp(t->results, hits, offsets[RAYS] * sizeof *hits) == 0;
}

/* Returns 1 if the flip was not detected. */
static unsigned flip_once(trial *t, unsigned reads, const trial *right, random_state *random) {
  const unsigned nth = 1 + random_below(random, reads);
  const uint64_t bit = random_bits(random);
  t->f->under.flip(nth, bit);
  const slab_status status = cast(t);
  const flip_report report = t->f->under.flip_end();
  assert_int_equal(report.flipped, 1);
  if (status != SLAB_OK || !passes(t) || answers_are(t, right->results, right->offsets)) return 0;
  print_error("query %d: bit %llu of read-back %u of %u goes unseen\n", (int)t->query, (unsigned long long)bit, nth,
              reads);
  return 1;
}

static unsigned flip_query(const fixture *f, slab_scene *scene, slab_query query, random_state *random) {
  trial *t = calloc(1, sizeof *t);
  unsigned unseen = 0;
  assert_non_null(t);
  t->f = f;
  t->scene = scene;
  t->query = query;
  t->options = (slab_cast_options){.skip = f->skips, .invalid = &t->invalid};
  const unsigned reads = count_reads(t);
  trial *right = malloc(sizeof *right);
  assert_non_null(right);
  *right = *t;
  for (unsigned i = 0; i < f->repeats; i++) unseen += flip_once(t, reads, right, random);
  assert_ok(cast(t));
  assert_true(passes(t));
  free(right);
  free(t);
  return unseen;
}

static void every_flip_is_seen(void **state) {
  const fixture *f = *state;
  random_state random = harness_seeded("every_flip_is_seen");
  unsigned flips = 0, unseen = 0;
  for (int way = 0; way < 4; way++) {
    const slab_context_options options = {.launch_rays = LAUNCH, .copy = way & 1};
    const slab_build_options tree = {.tree = way & 2 ? SLAB_TREE_DEFAULT : SLAB_TREE_FLAT};
    slab_context *context = NULL;
    slab_scene *scene = NULL;
    assert_ok(slab_context_create(&options, &context));
    assert_ok(slab_scene_create(context, &scene));
    scene_fill(scene, way & 2 ? 1200 : 0);
    assert_ok(slab_scene_commit(scene, &tree));
    for (int query = 0; query < QUERIES; query++, flips += f->repeats)
      unseen += flip_query(f, scene, (slab_query)query, &random);
    slab_scene_destroy(scene);
    slab_context_destroy(context);
  }
  print_message("%u bits flipped, %u seen\n", flips, flips - unseen);
  assert_int_equal(unseen, 0);
}

int main(int argc, char **argv) {
  static fixture f;
  f.under = layers_load();
  f.repeats = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 20;
  if (!f.under.flip || !f.under.flip_end || f.repeats == 0) {
    fprintf(stderr, "flips: no repeats, or the layer is not there: OPENCL_LAYERS names other files\n");
    return 1;
  }
  scene_rays(f.rays, f.skips, RAYS);
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(every_flip_is_seen, &f)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
