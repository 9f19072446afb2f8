/* Functions that are compiled a second time, for processors with fma (host/base/per_processor.h), give the bits of the
 * first: commits of every kind of primitive, and the CPU reference. On a processor without fma there is one way. */
#include <stdlib.h>
#include <string.h>

#include "base/per_processor.h"
#include "harness.h"
#include "sets/random.h"
#include "sets/scenes.h"

enum { RAYS = 200, SKIPPED = 77 };

static const char *const names[] = {"soup", "terrain", "torus", "hair", "boxes", "spheres", "obbs"};
static const slab_tree trees[] = {SLAB_TREE_FLAT, SLAB_TREE_FAST, SLAB_TREE_DEFAULT, SLAB_TREE_HIGH};

typedef struct packed {
  char *bytes;
  size_t size;
} packed;

static slab_scene *committed(slab_context *context, const scene_geometry *geometry, slab_tree tree) {
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(scene_geometry_add(scene, geometry, NULL, NULL));
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = tree}));
  return scene;
}

static packed pack(const slab_scene *scene) {
  packed p = {NULL, 0};
  slab_scene_pack(scene, NULL, 0, &p.size);
  p.bytes = malloc(p.size);
  assert_non_null(p.bytes);
  assert_ok(slab_scene_pack(scene, p.bytes, p.size, &p.size));
  return p;
}

/* The reference agrees with the kernels, which are the same either way. */
static void reference_agrees(slab_scene *scene, random_state *random) {
  static slab_ray rays[RAYS];
  static slab_hit hits[RAYS];
  slab_check_report report;
  slab_scene_stats bounds;
  assert_ok(slab_scene_info(scene, &bounds));
  for (int i = 0; i < RAYS; i++) {
    rays[i].t_min = 0.0f;
    rays[i].t_max = INFINITY;
    for (int k = 0; k < 3; k++) {
      rays[i].origin[k] = random_between(random, bounds.lower[k], bounds.upper[k]);
      rays[i].direction[k] = random_between(random, -1, 1);
    }
  }
  assert_ok(slab_closest(scene, rays, RAYS, hits, NULL));
  assert_ok(slab_check(scene, SLAB_CLOSEST, rays, RAYS, hits, NULL, NULL, &report));
  if (report.mismatches > 0) fail_msg("%s", report.text);
}

/* Whether two ways to build the geometry give one scene, byte by byte. */
static void builds_alike(slab_context *context, const scene_geometry *geometry, slab_tree tree, random_state *random) {
  packed ways[2];
  for (int way = 0; way < 2; way++) {
    x86_has_fma = way == 1;
    slab_scene *scene = committed(context, geometry, tree);
    ways[way] = pack(scene);
    reference_agrees(scene, random);
    slab_scene_destroy(scene);
  }
  assert_int_equal(ways[0].size, ways[1].size);
  assert_memory_equal(ways[0].bytes, ways[1].bytes, ways[0].size);
  free(ways[0].bytes);
  free(ways[1].bytes);
}

static void with_and_without_fma_bits_are_the_same(void **state) {
  random_state random = harness_seeded("with_and_without_fma_bits_are_the_same");
  slab_context *context = harness_context();
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    for (size_t k = 0; k < sizeof trees / sizeof *trees; k++) {
      scene_geometry geometry;
      assert_int_equal(scene_build(names[i], 1 + random_below(&random, 2000), random_bits(&random), &geometry), 0);
      builds_alike(context, &geometry, trees[k], &random);
      scene_geometry_free(&geometry);
    }
  slab_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(with_and_without_fma_bits_are_the_same)};
  if (!x86_has_fma) return SKIPPED;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
