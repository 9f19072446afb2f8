/* Worlds. A ray or a point of a world must have the answer of a scene of that world alone, bit by bit and by ids. This
 * holds in every query, layout and build quality, after any adding, moving, disabling and removing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "harness.h"
#include "sets/answers.h"
#include "sets/many_worlds.h"
#include "sets/points.h"

enum { RAYS = 193, POINTS = 97 };

/* ---- as many scenes ---- */

static void same_ray(const answers *a, const answers *b, slab_query query, size_t i, uint32_t world) {
  if (query == SLAB_ALL) {
    const uint64_t n = a->offsets[i + 1] - a->offsets[i];
    if (n != b->offsets[i + 1] - b->offsets[i] ||
        (n > 0 && memcmp(a->all + a->offsets[i], b->all + b->offsets[i], n * sizeof *a->all) != 0))
      fail_msg("all: ray %zu of world %u", i, world);
    return;
  }
  const size_t size = slab_result_size(query);
  const char *x = answers_of(a, query), *y = answers_of(b, query);
  if (memcmp(x + i * size, y + i * size, size) != 0) {
    for (size_t k = 0; k < size / 4; k++)
      print_message("%08x %08x\n", ((const uint32_t *)(x + i * size))[k], ((const uint32_t *)(y + i * size))[k]);
    fail_msg("%s: ray %zu of world %u", answer_name(query), i, world);
  }
}

static void cast_all(answers *a, slab_scene *scene, const slab_ray *rays, const slab_cast_options *options) {
  for (int q = 0; q < ANSWER_QUERIES; q++) {
    assert_ok(answers_cast(a, (slab_query)q, scene, rays, RAYS, options));
    harness_count(RAYS);
  }
}

static void check_all(const many_worlds *w, const answers *a, const slab_ray *rays, const slab_cast_options *options) {
  for (int q = 0; q < ANSWER_QUERIES; q++) {
    slab_check_report report;
    assert_ok(
        slab_check(w->scene, (slab_query)q, rays, RAYS, answers_of(a, (slab_query)q), a->offsets, options, &report));
    if (report.mismatches + report.oracle_wrong > 0) fail_msg("%s: %s", answer_name((slab_query)q), report.text);
  }
}

static void compare_rays(many_worlds *w) {
  slab_ray rays[RAYS];
  uint32_t worlds[RAYS], masks[RAYS];
  answers whole = {0}, alone = {0};
  for (int i = 0; i < RAYS; i++) {
    rays[i] = many_worlds_ray(w);
    worlds[i] = i % 16 != 0 && i / 16 % 2 == 0 ? worlds[i - 1] : many_worlds_any(w); /* half of them in rows */
    masks[i] = random_below(&w->random, 16);
  }
  slab_cast_options options = {.edges = (slab_edges)random_below(&w->random, 2)};
  if (random_below(&w->random, 2) == 0) options.masks = masks;
  slab_cast_options with = options;
  with.worlds = worlds;
  cast_all(&whole, w->scene, rays, &with);
  check_all(w, &whole, rays, &with);
  for (uint32_t world = 0; world <= w->worlds; world++) {
    assert_ok(many_worlds_show(w, world));
    cast_all(&alone, w->plain, rays, &options);
    for (int q = 0; q < ANSWER_QUERIES; q++)
      for (size_t i = 0; i < RAYS; i++)
        if (worlds[i] == world) same_ray(&whole, &alone, (slab_query)q, i, world);
    if (world != 0) continue;
    cast_all(&whole, w->scene, rays, &options); /* without worlds they see what belongs to all */
    for (int q = 0; q < ANSWER_QUERIES; q++)
      for (size_t i = 0; i < RAYS; i++) same_ray(&whole, &alone, (slab_query)q, i, 0);
    cast_all(&whole, w->scene, rays, &with);
  }
  answers_free(&whole);
  answers_free(&alone);
}

/* The unpacked scene answers alike, and packs alike. */
static void compare_packed(many_worlds *w, slab_context *context) {
  slab_ray rays[RAYS];
  uint32_t worlds[RAYS];
  answers whole = {0}, again = {0};
  slab_scene *unpacked;
  size_t size, twice;
  const slab_cast_options options = {.worlds = worlds};
  assert_ok(slab_scene_pack(w->scene, NULL, 0, &size));
  void *bytes = harness_space(size), *more = harness_space(size);
  assert_ok(slab_scene_pack(w->scene, bytes, size, &size));
  assert_ok(slab_scene_unpack(context, bytes, size, &unpacked));
  for (int i = 0; i < RAYS; i++) {
    rays[i] = many_worlds_ray(w);
    worlds[i] = many_worlds_any(w);
  }
  cast_all(&whole, w->scene, rays, &options);
  cast_all(&again, unpacked, rays, &options);
  for (int q = 0; q < ANSWER_QUERIES; q++)
    for (size_t i = 0; i < RAYS; i++) same_ray(&whole, &again, (slab_query)q, i, worlds[i]);
  assert_ok(slab_scene_pack(unpacked, more, size, &twice));
  assert_true(twice == size && memcmp(bytes, more, size) == 0);
  slab_scene_destroy(unpacked);
  answers_free(&whole);
  answers_free(&again);
  free(bytes);
  free(more);
}

static void explain_tells_worlds(void **state) {
  const layout_contexts *c = *state;
  const slab_sphere ball = {{0, 0, 4}, 1};
  const slab_ray ray = {{0, 0, 0}, 0, {0, 0, 1}, INFINITY};
  slab_scene *scene = harness_scene(c->of[0]);
  slab_explanation found;
  slab_step steps[256];
  size_t count;
  assert_ok(slab_scene_set_worlds(scene, 2));
  assert_ok(slab_scene_add_spheres(scene, &ball, 1, &(slab_geometry_options){.world = 2}, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  for (uint32_t world = 0; world <= 3; world++) {
    const slab_cast_options options = {.worlds = &world};
    const slab_status status =
        slab_explain(scene, &ray, (slab_primitive_id){0, 0}, &options, &found, steps, 256, &count);
    assert_int_equal(status, world == 3 ? SLAB_INVALID_ARGUMENT : SLAB_OK);
    if (world == 3) continue;
    assert_int_equal(found.hit.geometry, world == 2 ? 0 : SLAB_MISS);
    assert_true(strcmp(steps[0].part, "world") == 0 && steps[0].value == (float)world && steps[1].value == 2.0f);
    if (world != 2) assert_non_null(strstr(steps[count - 1].note, "in another world"));
  }
  const uint32_t none = 0, second = 2;
  const slab_cast_options blind = {.masks = &none, .worlds = &second};
  assert_ok(slab_explain(scene, &ray, (slab_primitive_id){0, 0}, &blind, &found, steps, 256, &count));
  assert_non_null(strstr(steps[count - 1].note, "the mask of the cast hides"));
  slab_scene_destroy(scene);
}

/* Instances have worlds, their models' geometries none; and after a commit that moved them they have the same. */
static void explain_tells_worlds_of_instances(void **state) {
  const layout_contexts *c = *state;
  const slab_sphere ball = {{0, 0, 4}, 1};
  const slab_ray ray = {{0, 0, 0}, 0, {0, 0, 1}, INFINITY};
  const float places[24] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2};
  const uint32_t of_places[2] = {2, 1}, second = 1, world = 1;
  const slab_cast_options options = {.worlds = &world};
  slab_scene *model = harness_scene(c->of[0]), *scene = harness_scene(c->of[0]);
  slab_explanation found;
  slab_step steps[256];
  size_t count;
  assert_ok(slab_scene_add_spheres(model, &ball, 1, NULL, NULL));
  assert_ok(slab_scene_commit(model, NULL));
  assert_ok(slab_scene_set_worlds(scene, 2));
  assert_ok(slab_scene_add_instances(scene, model, places, 2, &(slab_geometry_options){.worlds = of_places}, NULL));
  for (int frame = 0; frame < 3; frame++) {
    assert_ok(slab_scene_update_some_instances(scene, 0, &second, places + (frame % 2 == 0 ? 12 : 0), 1));
    assert_ok(slab_scene_commit(scene, NULL));
    for (uint32_t i = 0; i < 2; i++) {
      assert_ok(slab_explain(scene, &ray, (slab_primitive_id){0, i}, &options, &found, steps, 256, &count));
      assert_true(steps[0].value == (float)world && steps[1].value == (float)of_places[i]);
      assert_int_equal(found.hit.geometry, i == 1 ? 1 : SLAB_MISS);
      if (i == 0) assert_non_null(strstr(steps[count - 1].note, "an instance is in another world"));
    }
    assert_true(found.hit.t == (frame % 2 == 0 ? 5.0f : 3.0f));
  }
  slab_scene_destroy(scene);
  slab_scene_destroy(model);
}

/* A build of everything gives the statistics that the scene had before. */
static void compare_built(many_worlds *w) {
  slab_scene_stats frame, built;
  assert_ok(slab_scene_info(w->scene, &frame));
  assert_ok(slab_scene_commit(w->scene, &(slab_build_options){.tree = w->tree, .update = SLAB_UPDATE_REBUILD}));
  assert_ok(slab_scene_info(w->scene, &built));
  frame.build_seconds = built.build_seconds = 0.0;
  assert_same_bits(frame.lower, built.lower, 3, sizeof(float));
  assert_same_bits(frame.upper, built.upper, 3, sizeof(float));
  assert_true(frame.tree_depth == built.tree_depth && frame.geometries == built.geometries);
}

static unsigned kinds_of(uint32_t seed) {
  return seed % 4 == 0   ? 1u << SLAB_TRIANGLE
         : seed % 4 == 1 ? 1u << SLAB_TRIANGLE | 1u << SLAB_BOX
                         : ADVERSARIAL_ALL_KINDS;
}

static void rays_see_their_world(void **state) {
  const layout_contexts *c = *state;
  random_state seeds = harness_seeded("test_worlds rays");
  for (uint32_t i = 0; i < harness_rays(harness_is_native() ? 9 : 3); i++)
    for (int k = 0; k < c->count; k++) {
      many_worlds w;
      assert_ok(many_worlds_begin(&w, c->of[k], random_next(&seeds), kinds_of(i)));
      for (int n = 0; n < 3; n++) {
        compare_rays(&w);
        assert_ok(many_worlds_change(&w));
      }
      compare_packed(&w, c->of[k]);
      many_worlds_end(&w);
    }
}

/* Frames in which instances alone have moved, some of which are looked at. */
static void frames_are_as_builds(void **state) {
  const layout_contexts *c = *state;
  random_state seeds = harness_seeded("test_worlds frames");
  for (uint32_t i = 0; i < harness_rays(harness_is_native() ? 6 : 3); i++)
    for (int k = 0; k < c->count; k++) {
      many_worlds w;
      assert_ok(many_worlds_begin(&w, c->of[k], random_next(&seeds), kinds_of(i)));
      for (int n = 0; n < 12; n++) {
        assert_ok(many_worlds_move(&w));
        if (n % 3 == 0) compare_rays(&w);
      }
      compare_rays(&w);
      compare_built(&w);
      compare_packed(&w, c->of[k]);
      for (int n = 0; n < 3; n++) assert_ok(many_worlds_move(&w));
      compare_rays(&w);
      many_worlds_end(&w);
    }
}

static void compare_points(many_worlds *w) {
  float points[3 * POINTS], radii[POINTS];
  uint32_t worlds[POINTS], masks[POINTS];
  point_answers whole = {0}, alone = {0};
  for (int i = 0; i < POINTS; i++) {
    adversarial_point(&w->random, &w->points, points + 3 * i);
    worlds[i] = many_worlds_any(w);
  }
  const slab_point_options options = adversarial_point_options(&w->random, &w->points, POINTS, masks, radii);
  slab_point_options with = options;
  with.worlds = worlds;
  assert_ok(point_answers_ask_all(&whole, w->scene, points, POINTS, &with));
  for (int q = 0; q < whole.queries; q++) {
    slab_check_report report;
    const slab_point_options of = point_options_of((slab_point_query)q, &with);
    assert_ok(slab_check_points(w->scene, (slab_point_query)q, points, POINTS,
                                point_answers_of(&whole, (slab_point_query)q), &of, &report));
    if (report.mismatches + report.oracle_wrong > 0)
      fail_msg("%s: %s", point_query_name((slab_point_query)q), report.text);
    harness_count(POINTS);
  }
  for (uint32_t world = 0; world <= w->worlds; world++) {
    assert_ok(many_worlds_show(w, world));
    assert_ok(point_answers_ask_all(&alone, w->plain, points, POINTS, &options));
    for (int q = 0; q < SLAB_POINT_QUERY_COUNT; q++) {
      if (q >= whole.queries || q >= alone.queries) continue;
      const size_t size = slab_point_result_size((slab_point_query)q);
      const char *x = point_answers_of(&whole, (slab_point_query)q), *y = point_answers_of(&alone, (slab_point_query)q);
      for (size_t i = 0; i < POINTS; i++)
        if (worlds[i] == world && memcmp(x + i * size, y + i * size, size) != 0) {
          for (size_t k = 0; k < size / 4; k++)
            print_message("%08x %08x\n", ((const uint32_t *)(x + i * size))[k], ((const uint32_t *)(y + i * size))[k]);
          fail_msg("%s: point %zu of world %u", point_query_name((slab_point_query)q), i, world);
        }
    }
  }
  point_answers_free(&whole);
  point_answers_free(&alone);
}

static void points_see_their_world(void **state) {
  const layout_contexts *c = *state;
  random_state seeds = harness_seeded("test_worlds points");
  for (uint32_t i = 0; i < harness_rays(harness_is_native() ? 9 : 3); i++)
    for (int k = 0; k < c->count; k++) {
      many_worlds w;
      assert_ok(many_worlds_begin_rigid(&w, c->of[k], random_next(&seeds), kinds_of(i)));
      for (int n = 0; n < 2; n++) {
        compare_points(&w);
        assert_ok(many_worlds_change(&w));
        compare_points(&w);
        for (int m = 0; m < 3; m++) assert_ok(many_worlds_move(&w));
      }
      many_worlds_end(&w);
    }
}

/* A model grows of which a world has more instances than are listed: their gates grow with it. */
static void models_grow_in_worlds(void **state) {
  enum { MANY = 40 };
  const layout_contexts *c = *state;
  const uint32_t world = 1;
  const slab_cast_options options = {.worlds = &world};
  const slab_ray down = {{1.5f, 0, 10}, 0, {0, 0, -1}, INFINITY};
  float transforms[MANY * 12] = {0};
  for (int i = 0; i < MANY; i++) {
    for (int k = 0; k < 3; k++) transforms[12 * i + 5 * k] = 1.0f;
    transforms[12 * i + 3] = 8.0f * (float)i;
  }
  for (int k = 0; k < c->count; k++) {
    slab_scene *scene = harness_scene(c->of[k]), *model = harness_scene(c->of[k]);
    slab_sphere ball = {{0, 0, 0}, 1};
    uint32_t id;
    slab_hit hit;
    assert_ok(slab_scene_add_spheres(model, &ball, 1, NULL, &id));
    assert_ok(slab_scene_commit(model, NULL));
    assert_ok(slab_scene_set_worlds(scene, 1));
    assert_ok(slab_scene_add_instances(scene, model, transforms, MANY, &(slab_geometry_options){.world = 1}, NULL));
    assert_ok(slab_scene_commit(scene, NULL));
    assert_ok(slab_closest(scene, &down, 1, &hit, &options));
    assert_int_equal(hit.geometry, SLAB_MISS);
    ball.radius = 2.5f;
    assert_ok(slab_scene_update_spheres(model, id, &ball, 1));
    assert_ok(slab_scene_commit(model, NULL));
    assert_ok(slab_scene_commit(scene, NULL));
    assert_ok(slab_closest(scene, &down, 1, &hit, &options));
    assert_true(hit.geometry == 0 && hit.t >= 8.0f && hit.t <= 8.0f);
    slab_scene_destroy(scene);
    slab_scene_destroy(model);
  }
}

/* ---- refused ---- */

static void what_is_no_world_is_refused(void **state) {
  const layout_contexts *c = *state;
  const slab_sphere ball = {{0, 0, 4}, 1};
  const slab_ray ray = {{0, 0, 0}, 0, {0, 0, 1}, INFINITY};
  const float here[24] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, point[3] = {0, 0, 0};
  const uint32_t worlds[2] = {1, 3};
  slab_scene *scene = harness_scene(c->of[0]), *model = harness_scene(c->of[0]), *other = harness_scene(c->of[0]);
  slab_hit hit;
  float distance;
  slab_check_report report;
  assert_status(slab_scene_set_worlds(NULL, 1), SLAB_INVALID_ARGUMENT);
  assert_status(slab_scene_set_worlds(scene, SLAB_WORLDS + 1), SLAB_INVALID_ARGUMENT);
  assert_mentions("1048577");
  assert_ok(slab_scene_set_worlds(scene, SLAB_WORLDS));
  assert_ok(slab_scene_set_worlds(scene, 2));
  assert_status(slab_scene_add_spheres(scene, &ball, 1, &(slab_geometry_options){.world = 3}, NULL),
                SLAB_INVALID_ARGUMENT);
  assert_mentions("world is 3, and the scene has 2");
  assert_ok(slab_scene_add_spheres(model, &ball, 1, NULL, NULL));
  assert_ok(slab_scene_commit(model, NULL));
  assert_status(slab_scene_add_instances(scene, model, here, 2, &(slab_geometry_options){.worlds = worlds}, NULL),
                SLAB_INVALID_ARGUMENT);
  assert_mentions("worlds[1] is 3, and the scene has 2");
  assert_status(
      slab_scene_add_instances(scene, model, here, 1, &(slab_geometry_options){.worlds = worlds, .world = 2}, NULL),
      SLAB_INVALID_ARGUMENT);
  assert_mentions("world is 2, and worlds are given");
  assert_ok(slab_scene_add_instances(scene, model, here, 1, &(slab_geometry_options){.world = 2}, NULL));
  assert_status(slab_scene_set_worlds(model, 1), SLAB_INVALID_STATE);
  assert_ok(slab_scene_set_worlds(other, 1));
  assert_ok(slab_scene_commit(other, NULL));
  assert_status(slab_scene_add_instances(scene, other, here, 1, NULL, NULL), SLAB_INVALID_ARGUMENT);
  assert_mentions("a model has none");
  assert_status(slab_scene_set_worlds(scene, 1), SLAB_INVALID_ARGUMENT);
  assert_mentions("geometry 0 has something in world 2, beyond 1");
  assert_ok(slab_scene_commit(scene, NULL));
  const slab_cast_options options = {.worlds = worlds + 1}, in = {.worlds = &(uint32_t){2}};
  const slab_point_options asked = {.worlds = worlds + 1};
  assert_status(slab_closest(scene, &ray, 1, &hit, &options), SLAB_INVALID_ARGUMENT);
  assert_mentions("worlds[0] is 3, and the scene has 2");
  assert_status(slab_closest_distances(scene, point, 1, &distance, &asked), SLAB_INVALID_ARGUMENT);
  assert_mentions("worlds[0] is 3");
  assert_ok(slab_closest(scene, &ray, 1, &hit, NULL));
  assert_int_equal(hit.geometry, SLAB_MISS);
  assert_status(slab_check(scene, SLAB_CLOSEST, &ray, 1, &hit, NULL, &options, &report), SLAB_INVALID_ARGUMENT);
  assert_status(slab_check_points(scene, SLAB_CLOSEST_DISTANCES, point, 1, &distance, &asked, &report),
                SLAB_INVALID_ARGUMENT);
  assert_ok(slab_closest(scene, &ray, 1, &hit, &in));
  assert_true(hit.geometry == 0 && hit.t >= 3.0f && hit.t <= 3.0f);
  assert_status(slab_closest(model, &ray, 1, &hit, &in), SLAB_INVALID_ARGUMENT); /* it has none */
  slab_scene_destroy(scene);
  slab_scene_destroy(model);
  slab_scene_destroy(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rays_see_their_world),
      cmocka_unit_test(frames_are_as_builds),
      cmocka_unit_test(points_see_their_world),
      cmocka_unit_test(explain_tells_worlds),
      cmocka_unit_test(explain_tells_worlds_of_instances),
      cmocka_unit_test(models_grow_in_worlds),
      cmocka_unit_test(what_is_no_world_is_refused),
  };
  return cmocka_run_group_tests(tests, harness_each_layout, harness_close);
}
