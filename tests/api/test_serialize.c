/* Packed scenes: an unpacked scene gives the same bits, for any scene and BVH. Damaged bytes are refused. Damaged
 * bytes with a valid checksum do no harm. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "mixed_fates.h"
#include "sets/answers.h"
#include "sets/bvh_scenes.h"
#include "sets/nested.h"

enum { SHAPES = 1200, RAYS = 1000, FLIPS = 2000, FORGERIES = 300 };
/* Offsets of length and checksum in the header, and its size. slabcast.h does not specify them. */
enum { LENGTH_AT = 16, CHECKSUM_AT = 24, ROOT_AT = 72, HEADER = 128, ALIGN = 64 };

typedef struct blob {
  unsigned char *bytes;
  size_t size;
} blob;

static blob packed(const slab_scene *scene) {
  blob b = {0};
  assert_ok(slab_scene_pack(scene, NULL, 0, &b.size));
  b.bytes = harness_space(b.size);
  memset(b.bytes, 0xA5, b.size);
  size_t size = 0;
  assert_ok(slab_scene_pack(scene, b.bytes, b.size, &size));
  assert_int_equal(size, b.size);
  return b;
}

static void assert_refused(slab_context *context, const blob *b, size_t size, const char *why) {
  slab_scene *scene = NULL;
  assert_status(slab_scene_unpack(context, b->bytes, size, &scene), SLAB_INVALID_ARGUMENT);
  assert_null(scene);
  if (strstr(slab_message(), why) == NULL) fail_msg("\"%s\" does not say \"%s\"", slab_message(), why);
}

/* ---- the same results ---- */

static void assert_same_answers(slab_scene *a, slab_scene *b, const slab_ray *rays, const slab_cast_options *options) {
  answers of_a = {0}, of_b = {0};
  size_t first = 0;
  assert_ok(answers_cast_all(&of_a, a, rays, RAYS, options));
  assert_ok(answers_cast_all(&of_b, b, rays, RAYS, options));
  assert_true(of_a.offsets[RAYS] > RAYS / 20); /* a set without hits would prove nothing */
  for (int query = 0; query < ANSWER_QUERIES; query++)
    if (answers_differ(&of_b, &of_a, (slab_query)query, &first))
      fail_msg("%s of ray %zu differs", answer_name((slab_query)query), first);
  answers_free(&of_a);
  answers_free(&of_b);
}

static void assert_same_stats(const slab_scene *a, const slab_scene *b) {
  slab_scene_stats of_a, of_b;
  assert_ok(slab_scene_info(a, &of_a));
  assert_ok(slab_scene_info(b, &of_b));
  of_a.build_seconds = of_b.build_seconds = 0;
  of_a.host_bytes = of_b.host_bytes = 0; /* the size of a scene that is built step by step is rounded up */
  assert_same_bits(&of_b, &of_a, 1, sizeof of_a);
}

/* A scene of one context, unpacked in another. */
static void unpacked_answers_alike(slab_context *here, slab_context *there, bvh_scene which, slab_tree tree) {
  const slab_build_options build = {.tree = tree};
  slab_scene *scene = NULL, *copy = NULL;
  random_state random = harness_seeded(bvh_scene_name(which));
  assert_ok(slab_scene_create(here, &scene));
  assert_ok(bvh_scene_fill(which, SHAPES, random_next(&random), scene));
  assert_ok(bvh_scene_add_nothing(scene));
  assert_ok(slab_scene_commit(scene, &build));
  blob b = packed(scene);
  assert_ok(slab_scene_unpack(there, b.bytes, b.size, &copy));
  blob again = packed(copy);
  assert_int_equal(again.size, b.size);
  assert_same_bits(again.bytes, b.bytes, 1, b.size);
  memset(b.bytes, 0, b.size); /* the scene must not refer to the bytes */
  assert_same_stats(scene, copy);
  slab_scene_stats stats;
  slab_ray rays[RAYS];
  slab_primitive_id skip[RAYS];
  assert_ok(slab_scene_info(scene, &stats));
  for (uint32_t i = 0; i < RAYS; i++) {
    rays[i] = bvh_scene_ray(&random, &stats);
    skip[i] = (slab_primitive_id){i % SHAPES, i % 7};
  }
  const slab_cast_options some = {.mask = 1, .cull = SLAB_CULL_FRONT, .skip = skip, .face_forward = 1};
  assert_same_answers(scene, copy, rays, NULL);
  assert_same_answers(scene, copy, rays, &some);
  free(again.bytes);
  free(b.bytes);
  slab_scene_destroy(copy);
  slab_scene_destroy(scene);
}

static void unpacked_scenes_answer_alike(void **state) {
  (void)state;
  slab_context *here = harness_context(), *there = harness_context();
  for (int which = 0; which < BVH_SCENES; which++)
    for (int tree = 0; tree <= SLAB_TREE_HIGH; tree++)
      unpacked_answers_alike(here, there, (bvh_scene)which, (slab_tree)tree);
  slab_context_destroy(there);
  slab_context_destroy(here);
}

/* ---- instances ---- */

static nested nested_of(slab_context *context, random_state *random) {
  nested n;
  assert_ok(nested_begin(&n, context, random_next(random), ADVERSARIAL_ALL_KINDS));
  return n;
}

static void assert_same_nested_answers(nested *n, slab_scene *copy) {
  slab_ray rays[RAYS];
  slab_primitive_id skip[RAYS];
  slab_scene_stats stats;
  assert_ok(slab_scene_info(copy, &stats));
  nested_rays(n, RAYS, rays);
  for (int i = 0; i < RAYS; i++)
    skip[i] = (slab_primitive_id){random_below(&n->random, 12), random_below(&n->random, stats.geometries)};
  assert_same_answers(n->scenes[NESTED_TOP], copy, rays, NULL);
  assert_same_answers(n->scenes[NESTED_TOP], copy, rays,
                      &(slab_cast_options){.mask = 6, .cull = SLAB_CULL_FRONT, .skip = skip, .face_forward = 1});
}

/* Packed, unpacked elsewhere, and packed again to the same bytes. The caller destroys the copy. */
static slab_scene *copied(slab_scene *scene, slab_context *there) {
  slab_scene *copy = NULL;
  blob b = packed(scene);
  assert_ok(slab_scene_unpack(there, b.bytes, b.size, &copy));
  blob again = packed(copy);
  assert_int_equal(again.size, b.size);
  assert_same_bits(again.bytes, b.bytes, 1, b.size);
  assert_same_stats(scene, copy);
  free(again.bytes);
  free(b.bytes);
  return copy;
}

/* Models are as they were at the commit: the scene has two states of one of them. Removed geometries keep their ids,
 * disabled ones can be enabled again, and the rest can be moved. */
static void scenes_with_instances_answer_alike(void **state) {
  (void)state;
  slab_context *here = harness_context(), *there = harness_context();
  random_state random = harness_seeded(__func__);
  for (int round = 0; round < 4; round++) {
    nested n = nested_of(here, &random);
    slab_scene *top = n.scenes[NESTED_TOP];
    assert_ok(slab_scene_enable(n.scenes[1], 0, 0));
    assert_ok(slab_scene_commit(n.scenes[1], NULL));
    if (round > 0) assert_ok(slab_scene_enable(top, n.outer_ids[0], 0));
    if (round > 1) assert_ok(slab_scene_remove(top, n.outer_ids[round % 2]));
    assert_ok(slab_scene_commit(top, &(slab_build_options){.update = SLAB_UPDATE_REBUILD}));
    slab_scene *copy = copied(top, there);
    assert_same_nested_answers(&n, copy);
    for (int i = 0; i < 2; i++) {
      slab_scene *scene = i == 0 ? top : copy;
      const uint32_t left = n.outer_ids[round < 2 ? 1 : 1 - round % 2];
      assert_ok(slab_scene_enable(scene, left, 1));
      assert_ok(slab_scene_update_instances(scene, left, n.inner[0][0], NESTED_EACH));
      assert_ok(slab_scene_commit(scene, NULL));
    }
    assert_same_nested_answers(&n, copy);
    slab_scene_destroy(copy);
    nested_end(&n);
  }
  slab_context_destroy(there);
  slab_context_destroy(here);
}

static void instances_suit_the_other_layout(void **state) {
  (void)state;
  slab_context *there = NULL, *here = harness_context();
  random_state random = harness_seeded(__func__);
  nested n = nested_of(here, &random);
  slab_scene *copy = NULL;
  blob b = packed(n.scenes[NESTED_TOP]);
  assert_ok(slab_context_create(&(slab_context_options){.layout = SLAB_LAYOUT_COMPRESSED}, &there));
  assert_ok(slab_scene_unpack(there, b.bytes, b.size, &copy));
  assert_same_nested_answers(&n, copy);
  free(b.bytes);
  slab_scene_destroy(copy);
  nested_end(&n);
  slab_context_destroy(there);
  slab_context_destroy(here);
}

/* Ids are all that is left of instances that were removed. */
static void a_scene_that_had_instances_answers_alike(void **state) {
  (void)state;
  slab_context *context = harness_context();
  random_state random = harness_seeded(__func__);
  nested n = nested_of(context, &random);
  slab_scene *top = n.scenes[NESTED_TOP];
  for (int i = 0; i < 2; i++) assert_ok(slab_scene_remove(top, n.outer_ids[i]));
  assert_ok(slab_scene_commit(top, &(slab_build_options){.tree = SLAB_TREE_HIGH, .update = SLAB_UPDATE_REBUILD}));
  slab_scene *copy = copied(top, context);
  assert_same_nested_answers(&n, copy);
  slab_scene_destroy(copy);
  nested_end(&n);
  slab_context_destroy(context);
}

/* A model is packed once, however often and however deep it is in a scene. */
static void a_model_is_packed_once(void **state) {
  static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  (void)state;
  slab_context *context = harness_context();
  slab_scene *model = harness_scene(context), *outer = harness_scene(context), *scene = harness_scene(context);
  size_t of_model, of_outer, of_scene;
  assert_ok(bvh_scene_fill(BVH_MIXED, SHAPES, 1, model));
  assert_ok(slab_scene_commit(model, NULL));
  assert_ok(slab_scene_add_instances(outer, model, identity, 1, NULL, NULL));
  assert_ok(slab_scene_commit(outer, NULL));
  for (int i = 0; i < 3; i++) {
    assert_ok(slab_scene_add_instances(scene, outer, identity, 1, NULL, NULL));
    assert_ok(slab_scene_add_instances(scene, model, identity, 1, NULL, NULL));
  }
  assert_ok(slab_scene_commit(scene, NULL));
  assert_ok(slab_scene_pack(model, NULL, 0, &of_model));
  assert_ok(slab_scene_pack(outer, NULL, 0, &of_outer));
  assert_ok(slab_scene_pack(scene, NULL, 0, &of_scene));
  assert_true(of_model > 20000 && of_outer < of_model + 500 && of_scene < of_outer + 1000);
  slab_scene_destroy(scene);
  slab_scene_destroy(outer);
  slab_scene_destroy(model);
  slab_context_destroy(context);
}

/* ---- other checks ---- */

/* slab_check reads the primitives themselves. */
static void unpacked_scenes_can_be_checked(void **state) {
  (void)state;
  slab_context *context = harness_context();
  slab_scene *scene = mixed_fates_scene(context, 5), *copy = NULL;
  slab_ray *rays = mixed_rays("unpacked_scenes_can_be_checked", RAYS);
  slab_hit *hits = harness_space(RAYS * sizeof *hits);
  slab_check_report report;
  blob b = packed(scene);
  assert_ok(slab_scene_unpack(context, b.bytes, b.size, &copy));
  slab_scene_destroy(scene);
  for (uint32_t geometry = 0; geometry < MIXED_FATES_GEOMETRIES; geometry++) {
    const slab_cast_options options = {.mask = MIXED_FATES_MASK(geometry)};
    assert_ok(slab_closest(copy, rays, RAYS, hits, &options));
    assert_ok(slab_check(copy, SLAB_CLOSEST, rays, RAYS, hits, NULL, &options, &report));
    assert_int_equal(report.mismatches + report.oracle_wrong, 0);
  }
  free(b.bytes);
  free(hits);
  free(rays);
  slab_scene_destroy(copy);
  slab_context_destroy(context);
}

static void suits_another(const slab_context_options *from, const slab_context_options *to, slab_tree tree) {
  const slab_build_options build = {.tree = tree};
  slab_context *here = NULL, *there = NULL;
  slab_scene *scene = NULL, *copy = NULL;
  slab_scene_stats stats;
  slab_ray rays[RAYS];
  random_state random = harness_seeded("suits_another");
  assert_ok(slab_context_create(from, &here));
  assert_ok(slab_context_create(to, &there));
  assert_ok(slab_scene_create(here, &scene));
  assert_ok(bvh_scene_fill(0, SHAPES, random_next(&random), scene));
  assert_ok(slab_scene_commit(scene, &build));
  assert_ok(slab_scene_info(scene, &stats));
  for (uint32_t i = 0; i < RAYS; i++) rays[i] = bvh_scene_ray(&random, &stats);
  blob b = packed(scene);
  assert_ok(slab_scene_unpack(there, b.bytes, b.size, &copy));
  assert_same_answers(scene, copy, rays, NULL);
  free(b.bytes);
  slab_scene_destroy(copy);
  slab_scene_destroy(scene);
  slab_context_destroy(there);
  slab_context_destroy(here);
}

/* A GPU may unpack what a CPU packed. */
static void flat_scenes_suit_other_lanes(void **state) {
  (void)state;
  const slab_context_options one_lane = {.lane_width = 1};
  slab_context *context = NULL;
  if (slab_context_create(&one_lane, &context) == SLAB_UNSUPPORTED) skip(); /* SLABCAST_NATIVE */
  slab_context_destroy(context);
  suits_another(NULL, &one_lane, SLAB_TREE_FLAT);
}

static void trees_of_another_layout_are_built_again(void **state) {
  const slab_context_options wide = {.layout = SLAB_LAYOUT_WIDE}, compressed = {.layout = SLAB_LAYOUT_COMPRESSED};
  (void)state;
  suits_another(&wide, &compressed, SLAB_TREE_HIGH);
  suits_another(&compressed, &wide, SLAB_TREE_FAST);
}

static void an_empty_scene_can_be_packed(void **state) {
  (void)state;
  slab_context *context = harness_context();
  for (int tree = 0; tree <= SLAB_TREE_HIGH; tree++) {
    const slab_build_options build = {.tree = (slab_tree)tree};
    const slab_ray ray = {{0, 0, 0}, 0, {0, 0, 1}, INFINITY};
    slab_scene *scene = NULL, *copy = NULL;
    slab_hit hit;
    assert_ok(slab_scene_create(context, &scene));
    assert_ok(slab_scene_commit(scene, &build));
    blob b = packed(scene);
    assert_ok(slab_scene_unpack(context, b.bytes, b.size, &copy));
    assert_ok(slab_closest(copy, &ray, 1, &hit, NULL));
    assert_int_equal(hit.primitive, SLAB_MISS);
    free(b.bytes);
    slab_scene_destroy(copy);
    slab_scene_destroy(scene);
  }
  slab_context_destroy(context);
}

/* ---- refusals ---- */

static slab_scene *small_tree(slab_context *context) {
  const slab_build_options build = {.tree = SLAB_TREE_FAST};
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(bvh_scene_fill(BVH_MIXED, 300, 1, scene));
  assert_ok(slab_scene_commit(scene, &build));
  return scene;
}

static void packing_refuses_what_it_cannot_do(void **state) {
  (void)state;
  slab_context *context = harness_context();
  slab_scene *scene = small_tree(context), *open = NULL, *none = NULL;
  blob b = packed(scene);
  size_t size = 0;
  unsigned char before = b.bytes[0];
  assert_status(slab_scene_pack(scene, b.bytes, b.size - 1, &size), SLAB_CAPACITY);
  assert_int_equal(size, b.size);
  assert_int_equal(b.bytes[0], before);
  assert_status(slab_scene_pack(scene, NULL, 1, &size), SLAB_INVALID_ARGUMENT);
  assert_status(slab_scene_pack(scene, b.bytes, b.size, NULL), SLAB_INVALID_ARGUMENT);
  assert_status(slab_scene_pack(NULL, b.bytes, b.size, &size), SLAB_INVALID_ARGUMENT);
  assert_status(slab_scene_unpack(NULL, b.bytes, b.size, &none), SLAB_INVALID_ARGUMENT);
  assert_status(slab_scene_unpack(context, NULL, b.size, &none), SLAB_INVALID_ARGUMENT);
  assert_status(slab_scene_unpack(context, b.bytes, b.size, NULL), SLAB_INVALID_ARGUMENT);
  assert_status(slab_scene_unpack(context, b.bytes + 4, b.size - 4, &none), SLAB_INVALID_ARGUMENT);
  assert_ok(slab_scene_create(context, &open));
  assert_status(slab_scene_pack(open, b.bytes, b.size, &size), SLAB_INVALID_STATE);
  free(b.bytes);
  slab_scene_destroy(open);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

static void assert_damage_is_refused(slab_context *context, blob *b) {
  random_state random = harness_seeded("damaged_bytes_are_refused");
  for (int i = 0; i < FLIPS; i++) {
    const size_t at = i < 8 * HEADER ? (size_t)i / 8 : random_below(&random, (uint32_t)b->size);
    const unsigned char bit = (unsigned char)(1u << (i < 8 * HEADER ? i % 8 : (int)random_below(&random, 8)));
    b->bytes[at] ^= bit;
    assert_refused(context, b, b->size, "slab_scene_unpack: ");
    b->bytes[at] ^= bit;
  }
  for (size_t size = 0; size < b->size; size += 1 + size / 9) assert_refused(context, b, size, "");
}

static void damaged_bytes_are_refused(void **state) {
  (void)state;
  slab_context *context = harness_context();
  slab_scene *scene = small_tree(context);
  blob b = packed(scene);
  slab_scene_destroy(scene);
  assert_damage_is_refused(context, &b);
  b.bytes[0] ^= 1;
  assert_refused(context, &b, b.size, "not a packed scene");
  b.bytes[0] ^= 1;
  b.bytes[8]++;
  assert_refused(context, &b, b.size, "packed as version 7, and this library reads version 6");
  b.bytes[8]--;
  assert_ok(slab_scene_unpack(context, b.bytes, b.size, &scene));
  slab_scene_destroy(scene);
  free(b.bytes);
  slab_context_destroy(context);
}

/* Where the next of the scenes that are packed together begins. */
static size_t next_scene(const blob *b, size_t at) {
  do {
    at += ALIGN;
  } while (at < b->size && memcmp(b->bytes + at, b->bytes, sizeof "slabscn") != 0);
  return at;
}

static void damaged_models_are_refused(void **state) {
  (void)state;
  slab_context *context = harness_context();
  random_state random = harness_seeded(__func__);
  nested n = nested_of(context, &random);
  slab_scene *scene = NULL;
  blob b = packed(n.scenes[NESTED_TOP]), model = packed(n.scenes[0]), other = packed(n.scenes[1]);
  nested_end(&n);
  assert_damage_is_refused(context, &b);
  for (size_t at = next_scene(&b, 0); at < b.size; at = next_scene(&b, at)) { /* models alone, and none of them */
    assert_refused(context, &b, at, "bytes of a packed scene of");
    assert_refused(context, &(blob){b.bytes + at, b.size - at}, b.size - at, "damaged");
  }
  assert_int_equal(next_scene(&b, 0), other.size); /* the top scene's first model comes first */
  assert_int_equal(next_scene(&b, other.size), other.size + model.size);
  assert_ok(slab_scene_unpack(context, b.bytes, b.size, &scene));
  slab_scene_destroy(scene);
  free(other.bytes);
  free(model.bytes);
  free(b.bytes);
  slab_context_destroy(context);
}

/* ---- forgeries ---- */

/* Writes the checksums that slab_scene_pack would write. */
static void seal(blob *b) {
  uint64_t sum = 0;
  for (size_t at = 0, end; at < b->size; at = end) {
    end = next_scene(b, at);
    memset(b->bytes + at + CHECKSUM_AT, 0, sizeof sum);
    for (size_t i = at; i < end; i += sizeof sum) {
      uint64_t word;
      memcpy(&word, b->bytes + i, sizeof word);
      sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
    }
    memcpy(b->bytes + at + CHECKSUM_AT, &sum, sizeof sum);
  }
}

static uint32_t forged_word(random_state *random) {
  static const uint32_t words[] = {0, 1, 2, 16, 0x80000000u, 0x80000001u, 0x40001u, 0x4FFFFu, 0xFFFFFFFFu, 0x7F800000u};
  const uint32_t i = random_below(random, sizeof words / sizeof *words + 4);
  return i < sizeof words / sizeof *words ? words[i] : random_below(random, 4000);
}

/* Points search both BVHs. Transforms may be forged to be skew. */
static void ask_for_points(slab_scene *scene, const slab_ray *rays) {
  float points[RAYS / 10][3];
  slab_closest_point found[RAYS / 10];
  for (int i = 0; i < RAYS / 10; i++) memcpy(points[i], rays[i].origin, sizeof points[i]);
  const slab_status status = slab_closest_points(scene, points[0], RAYS / 10, found, NULL);
  assert_true(status == SLAB_OK || status == SLAB_UNSUPPORTED);
}

/* Returns 1 if the bytes are accepted; then every cast must end. */
static int try_forgery(slab_context *context, const blob *b, const slab_ray *rays) {
  slab_scene *scene = NULL;
  answers of = {0};
  const slab_status status = slab_scene_unpack(context, b->bytes, b->size, &scene);
  if (status != SLAB_OK) {
    assert_int_equal(status, SLAB_INVALID_ARGUMENT);
    return 0;
  }
  assert_ok(answers_cast_all(&of, scene, rays, RAYS / 10, NULL));
  ask_for_points(scene, rays);
  answers_free(&of);
  slab_scene_destroy(scene);
  return 1;
}

/* Words are forged in each of the scenes, in their headers or anywhere. */
static void forge(blob *b, random_state *random) {
  const bool header = random_below(random, 4) == 0;
  size_t at = 0;
  for (uint32_t skipped = random_below(random, 3); skipped > 0 && next_scene(b, at) < b->size; skipped--)
    at = next_scene(b, at);
  for (uint32_t n = 1 + random_below(random, 3); n > 0; n--) {
    const uint32_t word = forged_word(random);
    const size_t words = (header ? HEADER : next_scene(b, at) - at) / sizeof word;
    memcpy(b->bytes + at + sizeof word * random_below(random, (uint32_t)words), &word, sizeof word);
  }
}

static void assert_no_harm(slab_context *context, slab_scene *scene, const char *name) {
  slab_scene_stats stats;
  slab_ray rays[RAYS / 10];
  random_state stream = harness_seeded("forgeries_harm_nobody, rays");
  random_state random = harness_seeded(name);
  assert_ok(slab_scene_info(scene, &stats));
  for (int i = 0; i < RAYS / 10; i++) rays[i] = bvh_scene_ray(&stream, &stats);
  blob whole = packed(scene), b = {harness_space(whole.size), whole.size};
  seal(&whole);
  assert_int_equal(try_forgery(context, &whole, rays), 1); /* this checksum equals the library's own */
  int taken = 0;
  for (int i = 0; i < FORGERIES; i++) {
    memcpy(b.bytes, whole.bytes, b.size);
    forge(&b, &random);
    seal(&b);
    taken += try_forgery(context, &b, rays);
  }
  print_message("%s: %d of %d forgeries were taken\n", name, taken, FORGERIES);
  assert_true(taken > 0 && taken < FORGERIES); /* values may be arbitrary, links of the BVH may not */
  free(b.bytes);
  free(whole.bytes);
}

/* A sheet every other triangle of which is collapsed. */
static slab_scene *half_collapsed(slab_context *context) {
  enum { TRIANGLES = 200 };
  float corner[3 * TRIANGLES][3];
  slab_scene *scene = harness_scene(context);
  for (uint32_t i = 0; i < 3 * TRIANGLES; i++) {
    const uint32_t own = i % 6 == 5 ? i - 1 : i;
    for (uint32_t k = 0; k < 3; k++) corner[i][k] = (float)(own * (k + 3) % 31) + (float)(own / 3);
  }
  const slab_mesh mesh = {.vertices = corner[0], .vertex_count = 3 * TRIANGLES, .triangle_count = TRIANGLES};
  assert_ok(slab_scene_add_mesh(scene, &mesh, NULL, NULL));
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_HIGH}));
  return scene;
}

/* The root of the BVH of collapsed triangles is in the header. With any other root, nodes may belong to the other BVH,
 * or be reached from nowhere. */
static void roots_that_lead_astray_are_refused(void **state) {
  (void)state;
  if (harness_width() == 1 && !harness_is_native()) return; /* another layout */
  slab_context *context = harness_context();
  slab_scene *scene = half_collapsed(context), *copy = NULL;
  blob b = packed(scene);
  uint64_t root;
  memcpy(&root, b.bytes + ROOT_AT, sizeof root);
  assert_true(root > 0);
  for (uint64_t other = 0; other < 4 * root; other++) {
    memcpy(b.bytes + ROOT_AT, &other, sizeof other);
    seal(&b);
    const slab_status status = slab_scene_unpack(context, b.bytes, b.size, &copy);
    assert_int_equal(status, other == root ? SLAB_OK : SLAB_INVALID_ARGUMENT);
    if (status == SLAB_OK) slab_scene_destroy(copy);
  }
  free(b.bytes);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

static void forgeries_harm_nobody(void **state) {
  (void)state;
  slab_context *context = harness_context();
  random_state random = harness_seeded(__func__);
  slab_scene *scene = small_tree(context), *half = half_collapsed(context);
  nested n = nested_of(context, &random);
  assert_no_harm(context, scene, "a tree");
  assert_no_harm(context, half, "collapsed triangles");
  slab_scene_destroy(half);
  assert_no_harm(context, n.scenes[NESTED_TOP], "instances");
  nested_end(&n);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scenes_with_instances_answer_alike),
      cmocka_unit_test(instances_suit_the_other_layout),
      cmocka_unit_test(a_scene_that_had_instances_answers_alike),
      cmocka_unit_test(a_model_is_packed_once),
      cmocka_unit_test(damaged_models_are_refused),
      cmocka_unit_test(unpacked_scenes_answer_alike),
      cmocka_unit_test(unpacked_scenes_can_be_checked),
      cmocka_unit_test(flat_scenes_suit_other_lanes),
      cmocka_unit_test(trees_of_another_layout_are_built_again),
      cmocka_unit_test(an_empty_scene_can_be_packed),
      cmocka_unit_test(packing_refuses_what_it_cannot_do),
      cmocka_unit_test(damaged_bytes_are_refused),
      cmocka_unit_test(roots_that_lead_astray_are_refused),
      cmocka_unit_test(forgeries_harm_nobody),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
