/* Compressed BVHs change no result. Scenes of every kind are cast flat and with nodes of 80 bytes, in every query and
 * option. The results are compared bit by bit, also with the CPU reference and through slab_enqueue. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/types.h"
#include "filled.h"
#include "job.h"
#include "sets/adversarial.h"
#include "sets/answers.h"
#include "sets/bvh_scenes.h"
#include "sets/coherent_rays.h"

enum { SHAPES = 1500, RAYS = 3000, REFERENCED = 60, PAIRS = 40, ADVERSARIAL_RAYS = 300 };

/* Shared by the tests, so that programs are built once. */
typedef struct contexts {
  slab_context *plain, *compressed;
} contexts;

/* One scene in both layouts. */
typedef struct twins {
  slab_scene *flat, *tree;
  slab_scene_stats stats; /* of the BVH */
} twins;

static twins twins_made(const contexts *c, slab_tree quality, scene_filler *fill, const void *user) {
  twins t = {.flat = filled_scene(c->plain, SLAB_TREE_FLAT, fill, user),
             .tree = filled_scene(c->compressed, quality, fill, user)};
  assert_ok(slab_scene_info(t.tree, &t.stats));
  assert_true(t.stats.tree_depth > 0 || quality == SLAB_TREE_FLAT);
  return t;
}

static void release(twins *t) {
  slab_scene_destroy(t->flat);
  slab_scene_destroy(t->tree);
}

/* ---- comparing ---- */

/* Returns the total number of hits. */
static uint64_t compare(const twins *t, const slab_ray *rays, size_t n, const slab_cast_options *options) {
  answers flat = {0}, tree = {0};
  assert_ok(answers_cast_all(&flat, t->flat, rays, n, options));
  assert_ok(answers_cast_all(&tree, t->tree, rays, n, options));
  for (int q = 0; q < ANSWER_QUERIES; q++) {
    size_t first = 0;
    const size_t differing = answers_differ(&tree, &flat, (slab_query)q, &first);
    const float *r = (const float *)&rays[first];
    if (differing)
      fail_msg("%s: %zu rays differ from flat, ray %zu is {{%a, %a, %a}, %a, {%a, %a, %a}, %a}",
               answer_name((slab_query)q), differing, first, (double)r[0], (double)r[1], (double)r[2], (double)r[3],
               (double)r[4], (double)r[5], (double)r[6], (double)r[7]);
    assert_true(tree.invalid[q] == flat.invalid[q]);
    harness_count(n);
  }
  const uint64_t hits = tree.offsets[n];
  answers_free(&flat);
  answers_free(&tree);
  return hits;
}

static void compare_with_reference(const twins *t, const slab_ray *rays, size_t n, const slab_cast_options *options) {
  answers a = {0};
  assert_ok(answers_cast_all(&a, t->tree, rays, n, options));
  for (int q = 0; q < ANSWER_QUERIES; q++) {
    slab_check_report report;
    assert_ok(slab_check(t->tree, (slab_query)q, rays, n, answers_of(&a, (slab_query)q),
                         q == SLAB_ALL ? a.offsets : NULL, options, &report));
    if (report.mismatches) fail_msg("%s: %s", answer_name((slab_query)q), report.text);
    harness_count(n);
  }
  answers_free(&a);
}

/* ---- the sets ---- */

static slab_status fill_tree_scene(slab_scene *scene, const void *user) {
  const bvh_scene *which = user;
  random_state random = harness_seeded(bvh_scene_name(*which));
  return bvh_scene_fill(*which, SHAPES, random_next(&random), scene);
}

/* Coherent rays, and rays that have nothing in common. */
static void make_rays(random_state *random, const slab_scene_stats *stats, slab_ray rays[RAYS],
                      slab_primitive_id skip[RAYS]) {
  coherent_rays_fill(random, stats, RAYS, rays);
  for (uint32_t i = 0; i < RAYS; i++) {
    if (i >= RAYS / 2) rays[i] = bvh_scene_ray(random, stats);
    skip[i] = (slab_primitive_id){random_below(random, SHAPES), random_below(random, 7)};
  }
}

static void compressed_changes_nothing(const contexts *c, bvh_scene which) {
  static const slab_tree qualities[] = {SLAB_TREE_FAST, SLAB_TREE_HIGH, SLAB_TREE_FLAT};
  static slab_ray rays[RAYS];
  static slab_primitive_id skip[RAYS];
  const slab_cast_options some = {.mask = 1, .cull = SLAB_CULL_FRONT, .skip = skip, .face_forward = 1};
  const slab_cast_options others = {.mask = 2, .cull = SLAB_CULL_BACK, .skip = skip};
  random_state random = harness_seeded("compressed");
  for (int q = 0; q < 3; q++) {
    twins t = twins_made(c, qualities[q], fill_tree_scene, &which);
    make_rays(&random, &t.stats, rays, skip);
    assert_true(compare(&t, rays, RAYS, NULL) > RAYS / 20); /* a set without hits would prove nothing */
    compare(&t, rays, RAYS, q == 1 ? &others : &some);
    compare_with_reference(&t, rays + RAYS / 2 - REFERENCED / 2, REFERENCED, NULL);
    release(&t);
  }
}

#define COMPRESSED_TEST(name, which) \
  static void compressed_equals_flat_on_##name(void **state) { compressed_changes_nothing(*state, which); }
COMPRESSED_TEST(mixed, BVH_MIXED)
COMPRESSED_TEST(touching, BVH_TOUCHING)
COMPRESSED_TEST(flatland, BVH_FLATLAND)
COMPRESSED_TEST(far, BVH_FAR)
COMPRESSED_TEST(scales, BVH_SCALES)
COMPRESSED_TEST(slivers, BVH_SLIVERS)

/* Shapes and rays that share coordinates, zeros of both signs, subnormal and huge numbers. */
typedef struct adversarial_set {
  random_state random;
  adversarial values;
  int extreme;
} adversarial_set;

/* Both twins are filled from the same random state. `user` keeps the shapes that rays aim at. */
static slab_status fill_adversarial(slab_scene *scene, const void *user) {
  adversarial_set *set = *(adversarial_set *const *)user;
  random_state random = set->random;
  set->values = adversarial_begin(&random, set->extreme);
  return adversarial_fill(&random, &set->values, ADVERSARIAL_ALL_KINDS, ADVERSARIAL_MOST, scene);
}

static void compressed_equals_flat_on_adversarial_scenes(void **state) {
  const contexts *c = *state;
  random_state random = harness_seeded("compressed_equals_flat_on_adversarial_scenes");
  slab_device_info info;
  assert_ok(slab_context_device(c->plain, &info));
  uint64_t hits = 0;
  for (int i = 0; i < PAIRS; i++) {
    slab_ray rays[ADVERSARIAL_RAYS];
    slab_primitive_id skip[ADVERSARIAL_RAYS];
    adversarial_set set = {.random = random_seed(random_next(&random)), .extreme = info.denormals != 0 && i % 2};
    const adversarial_set *user = &set;
    twins t = twins_made(c, i % 8 < 5 ? SLAB_TREE_FAST : SLAB_TREE_FLAT, fill_adversarial, &user);
    for (int k = 0; k < ADVERSARIAL_RAYS; k++) {
      rays[k] = adversarial_ray(&random, &set.values);
      skip[k] = adversarial_skip(&random);
    }
    const slab_cast_options options = adversarial_options(&random, skip);
    hits += compare(&t, rays, ADVERSARIAL_RAYS, i % 4 < 2 ? NULL : &options);
    release(&t);
  }
  assert_true(hits > PAIRS * ADVERSARIAL_RAYS / 10);
}

/* ---- sizes, places, counts ---- */

enum { EACH_SIZE = 101, AT_A_SIZE = 3 };

/* Boxes of every size from 2^-40 to 2^60, at positions of the same scale, in one BVH. */
static slab_status fill_sizes(slab_scene *scene, const void *user) {
  slab_box boxes[EACH_SIZE * AT_A_SIZE];
  random_state random = random_seed(EACH_SIZE);
  (void)user;
  for (int i = 0; i < EACH_SIZE * AT_A_SIZE; i++) {
    const float size = ldexpf(1, i / AT_A_SIZE - 40);
    for (int k = 0; k < 3; k++) {
      boxes[i].lower[k] = size * (float)random_below(&random, 16) / 16;
      boxes[i].upper[k] = boxes[i].lower[k] + size * (float)random_below(&random, 4) / 4;
    }
  }
  return slab_scene_add_boxes(scene, boxes, EACH_SIZE * AT_A_SIZE, NULL, NULL);
}

static void sizes_from_2_to_minus_40_to_2_to_60(void **state) {
  static slab_ray rays[RAYS];
  random_state random = harness_seeded("sizes_from_2_to_minus_40_to_2_to_60");
  twins t = twins_made(*state, SLAB_TREE_FAST, fill_sizes, NULL);
  for (int i = 0; i < RAYS; i++) {
    const float size = ldexpf(1, i % EACH_SIZE - 40);
    rays[i] = (slab_ray){.t_min = i % 5 ? 0 : -INFINITY, .t_max = INFINITY};
    for (int k = 0; k < 3; k++) {
      rays[i].origin[k] = size * random_between(&random, -1, 2) / 2;
      rays[i].direction[k] = random_below(&random, 4) ? random_between(&random, -1, 1) : 0.0f;
    }
    rays[i].direction[i % 3] = 1;
  }
  assert_true(compare(&t, rays, RAYS, NULL) > RAYS / 2);
  release(&t);
}

/* `*user` spheres around one point; with 0, no primitive that can be hit. */
static slab_status fill_onions(slab_scene *scene, const void *user) {
  const uint32_t count = *(const uint32_t *)user;
  slab_sphere spheres[100];
  for (uint32_t i = 0; i < count; i++) spheres[i] = (slab_sphere){{1, 2, 3}, 1.0f + (float)(i % 50)};
  return slab_scene_add_spheres(scene, spheres, count, NULL, NULL);
}

static void none_one_and_many_of_one_centre(void **state) {
  const contexts *c = *state;
  slab_ray rays[64];
  random_state random = harness_seeded("none_one_and_many_of_one_centre");
  for (int i = 0; i < 64; i++) {
    rays[i] = (slab_ray){.t_max = INFINITY, .direction = {0, 0, 1}};
    for (int k = 0; k < 3; k++) rays[i].origin[k] = (float)random_below(&random, 8) - 4.0f;
  }
  for (uint32_t count = 0; count <= 100; count = count == 0 ? 1 : count == 1 ? 9 : count + 91) {
    twins t = twins_made(c, SLAB_TREE_FAST, fill_onions, &count);
    assert_true((compare(&t, rays, 64, NULL) > 0) == (count > 0));
    release(&t);
  }
}

/* Boxes side by side along x, from 0 on. */
static slab_status fill_row(slab_scene *scene, const void *user) {
  const uint32_t count = *(const uint32_t *)user;
  slab_box boxes[600];
  for (uint32_t i = 0; i < count; i++)
    boxes[i] = (slab_box){{(float)i + 0.25f, 0, (float)(i % 3)}, {(float)i + 0.75f, 1, 9}};
  return slab_scene_add_boxes(scene, boxes, count, NULL, NULL);
}

/* Brute force loads local boxes, 128 of them, in steps of 4, by groups of 64. Rays go through the first and the last
 * box, and past them, in one direction or several. One ray goes along all boxes through the origin, where zeros past
 * the last box would be hit. */
static void local_boxes_of_every_filling(void **state) {
  const contexts *c = *state;
  static const uint32_t counts[] = {1, 3, 4, 5, 123, 124, 127, 128, 129, 255, 256, 257, 259, 600};
  slab_ray rays[130];
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
    twins t = twins_made(c, SLAB_TREE_FLAT, fill_row, &counts[k]);
    const uint32_t n = counts[k] % 2 ? 130 : 61;
    for (uint32_t i = 0; i < n; i++) {
      const uint32_t box = i % 3 ? counts[k] + 1 - i % 5 : i % 7;
      const float down = i % 2 ? -1 : 1, side = i / 8 % 2 && i % 4 == 0 ? -0.001f : 0.001f;
      rays[i] = (slab_ray){{(float)box + 0.5f, 0.5f, 4 - 20 * down}, 0, {side, 0, down}, INFINITY};
    }
    rays[0] = (slab_ray){{-1, 0, 0}, 0, {1, 0, 0}, INFINITY};
    assert_true(compare(&t, rays, n, NULL) > n / 8);
    release(&t);
  }
}

static slab_status fill_far_corners(slab_scene *scene, const void *user) {
  slab_box boxes[8];
  (void)user;
  for (int i = 0; i < 8; i++) boxes[i] = (slab_box){{1024 + 0.0625f * (float)i, 0, 0}, {2048, 1024, 1024}};
  return slab_scene_add_boxes(scene, boxes, 8, NULL, NULL);
}

/* Rays from near the origin through edges far from it, where the rounding of planes decides. */
static void local_boxes_lose_no_edge_far_away(void **state) {
  const contexts *c = *state;
  enum { RAYS_AT_EDGES = 4096 };
  static slab_ray rays[RAYS_AT_EDGES];
  random_state random = harness_seeded("local_boxes_lose_no_edge_far_away");
  for (uint32_t i = 0; i < RAYS_AT_EDGES; i++) {
    const float edge[3] = {1024 + 0.0625f * (float)(i % 8), 1024, (float)(1 + random_below(&random, 1000))};
    rays[i].t_max = INFINITY;
    for (int k = 0; k < 3; k++) {
      rays[i].origin[k] = ((float)random_below(&random, 1 << 20) - 0x1p19f) * 0x1p-21f;
      rays[i].direction[k] = edge[k] - rays[i].origin[k];
    }
  }
  twins t = twins_made(c, SLAB_TREE_FLAT, fill_far_corners, NULL);
  assert_true(compare(&t, rays, RAYS_AT_EDGES, NULL) > RAYS_AT_EDGES);
  release(&t);
}

/* ---- options of the caller ------ */

/* Nodes of 80 bytes, triangles of 48. The bytes are those of the table, the triangles, and at most one node per two
 * triangles. */
static void bytes_are_told(void **state) {
  const contexts *c = *state;
  const bvh_scene which = BVH_FAR;
  twins t = twins_made(c, SLAB_TREE_HIGH, fill_tree_scene, &which);
  const uint64_t table = t.stats.geometries * sizeof(geometry_entry), rows = 48 * (t.stats.triangles - 1);
  assert_true(t.stats.device_bytes >= table + rows + sizeof(compressed_node));
  assert_int_equal((t.stats.device_bytes - table - rows) % sizeof(compressed_node), 0);
  assert_true(t.stats.device_bytes < table + rows * 3 / 2);
  assert_true(t.stats.block_occupancy == 1.0);
  release(&t);
}

/* Wide BVHs store blocks of eight, so the size in bytes identifies the layout. */
static void layout_is_by_the_device_s_type(void **state) {
  const contexts *c = *state;
  const bvh_scene which = BVH_MIXED;
  const slab_layout layouts[] = {SLAB_LAYOUT_DEFAULT, SLAB_LAYOUT_WIDE, SLAB_LAYOUT_COMPRESSED};
  uint64_t bytes[3];
  slab_device_info info;
  assert_ok(slab_context_device(c->plain, &info));
  for (int i = 0; i < 3; i++) {
    const slab_context_options options = {.layout = layouts[i]};
    slab_context *context;
    slab_scene_stats stats;
    assert_ok(slab_context_create(&options, &context));
    slab_scene *scene = filled_scene(context, SLAB_TREE_FAST, fill_tree_scene, &which);
    assert_ok(slab_scene_info(scene, &stats));
    bytes[i] = stats.device_bytes;
    slab_scene_destroy(scene);
    slab_context_destroy(context);
  }
  assert_true(bytes[1] > bytes[2]);
  assert_true(bytes[0] == bytes[info.type == SLAB_DEVICE_CPU ? 1 : 2]);
}

static void unknown_layouts_are_refused(void **state) {
  (void)state;
  const slab_context_options odd = {.layout = (slab_layout)3};
  slab_context *context = NULL;
  assert_status(slab_context_create(&odd, &context), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "layout is 3"));
  assert_null(context);
}

/* Enough rays that a wide BVH would try every traversal; and a context that requests a traversal that only wide BVHs
 * have. */
static void traversals_do_not_apply(void **state) {
  const contexts *c = *state;
  enum { MANY = 140000 };
  const bvh_scene which = BVH_FAR;
  const slab_context_options turns = {.layout = SLAB_LAYOUT_COMPRESSED, .traversal = SLAB_TRAVERSAL_INTERLEAVED};
  slab_context *context;
  random_state random = harness_seeded("traversals_do_not_apply");
  slab_ray *rays = harness_space(MANY * sizeof *rays);
  float *measured = harness_space(MANY * sizeof *measured), *turned = harness_space(MANY * sizeof *turned);
  assert_ok(slab_context_create(&turns, &context));
  twins t = twins_made(c, SLAB_TREE_FAST, fill_tree_scene, &which);
  slab_scene *other = filled_scene(context, SLAB_TREE_FAST, fill_tree_scene, &which);
  coherent_rays_fill(&random, &t.stats, MANY, rays);
  assert_ok(slab_distance(t.tree, rays, MANY, measured, NULL));
  assert_ok(slab_distance(other, rays, MANY, turned, NULL));
  assert_same_bits(turned, measured, MANY, sizeof *turned);
  slab_scene_destroy(other);
  release(&t);
  slab_context_destroy(context);
  free(rays);
  free(measured);
  free(turned);
}

/* ---- the caller's own buffers ---- */

static void enqueue_gives_the_bits_of_the_call(void **state) {
  (void)state;
  static slab_ray rays[RAYS];
  static slab_primitive_id skip[RAYS];
  const bvh_scene which = BVH_MIXED;
  const slab_context_options options = {.layout = SLAB_LAYOUT_COMPRESSED};
  const slab_cast_options some = {.mask = 1, .cull = SLAB_CULL_BACK, .skip = skip, .face_forward = 1};
  random_state random = harness_seeded("enqueue_gives_the_bits_of_the_call");
  cl_device_id device = opencl_device();
  cl_context context = opencl_context(&device, 1);
  cl_command_queue queue = opencl_queue(context, device, 0);
  slab_context *slab;
  slab_scene_stats stats;
  assert_ok(slab_context_create_cl(context, device, queue, &options, &slab));
  slab_scene *scene = filled_scene(slab, SLAB_TREE_HIGH, fill_tree_scene, &which);
  assert_ok(slab_scene_info(scene, &stats));
  make_rays(&random, &stats, rays, skip);
  for (int q = 0; q < ANSWER_QUERIES; q++) {
    job j = job_create(context, scene, (slab_query)q, rays, RAYS, q % 2 ? &some : NULL);
    cl_event done = NULL;
    assert_ok(slab_enqueue(scene, &j.batch, queue, 0, NULL, &done));
    assert_cl(clWaitForEvents(1, &done));
    assert_cl(clReleaseEvent(done));
    job_verify(&j, queue, 1);
    job_destroy(&j);
  }
  slab_scene_destroy(scene);
  slab_context_destroy(slab);
  assert_cl(clReleaseCommandQueue(queue));
  assert_cl(clReleaseContext(context));
}

/* ---- fixtures ---- */

static int setup(void **state) {
  static contexts c;
  const slab_context_options compressed = {.layout = SLAB_LAYOUT_COMPRESSED};
  assert_ok(slab_context_create(NULL, &c.plain));
  assert_ok(slab_context_create(&compressed, &c.compressed));
  *state = &c;
  return 0;
}

static int teardown(void **state) {
  const contexts *c = *state;
  slab_context_destroy(c->plain);
  slab_context_destroy(c->compressed);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(compressed_equals_flat_on_mixed),
      cmocka_unit_test(compressed_equals_flat_on_touching),
      cmocka_unit_test(compressed_equals_flat_on_flatland),
      cmocka_unit_test(compressed_equals_flat_on_far),
      cmocka_unit_test(compressed_equals_flat_on_scales),
      cmocka_unit_test(compressed_equals_flat_on_slivers),
      cmocka_unit_test(compressed_equals_flat_on_adversarial_scenes),
      cmocka_unit_test(sizes_from_2_to_minus_40_to_2_to_60),
      cmocka_unit_test(none_one_and_many_of_one_centre),
      cmocka_unit_test(local_boxes_of_every_filling),
      cmocka_unit_test(local_boxes_lose_no_edge_far_away),
      cmocka_unit_test(bytes_are_told),
      cmocka_unit_test(layout_is_by_the_device_s_type),
      cmocka_unit_test(unknown_layouts_are_refused),
      cmocka_unit_test(traversals_do_not_apply),
      cmocka_unit_test(enqueue_gives_the_bits_of_the_call),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
