/* Triangles of which two corners have the same bits are never hit: a BVH holds none of them, and answers as brute
 * force, which does. Triangles with three corners on one line can be hit: a BVH holds them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ways.h"
/* cmocka has a macro fail(). */
#undef fail
#include "scene/scene.h"

enum { PROPER = 250, TRIANGLES = 2 * PROPER, RAYS = 500, STEPS = 3 };

/* Proper triangles have even numbers. The others get the corners that the test is about. */
typedef struct soup {
  float corner[3 * TRIANGLES][3];
  uint32_t index[3 * TRIANGLES];
  bool indexed, without; /* without: proper triangles alone */
} soup;

static slab_mesh mesh_of(const soup *s) {
  const uint32_t triangles = s->without ? PROPER : TRIANGLES;
  return (slab_mesh){.vertices = s->corner[0],
                     .vertex_count = s->indexed ? 3 * TRIANGLES : 3 * triangles,
                     .indices = s->indexed ? s->index : NULL,
                     .triangle_count = triangles};
}

static slab_status fill_soup(slab_scene *scene, const void *user) {
  const slab_mesh mesh = mesh_of(user);
  return slab_scene_add_mesh(scene, &mesh, NULL, NULL);
}

static void random_corner(random_state *random, float corner[3], const float *near) {
  for (int k = 0; k < 3; k++)
    corner[k] = near == NULL ? random_between(random, -1.0f, 1.0f) : near[k] + random_between(random, -0.1f, 0.1f);
}

static void random_soup(random_state *random, soup *s) {
  for (uint32_t i = 0; i < 3 * TRIANGLES; i++) {
    random_corner(random, s->corner[i], i % 3 == 0 ? NULL : s->corner[i - i % 3]);
    s->index[i] = i;
  }
  for (int k = 0; k < 3; k++) { /* proper ones reach farthest */
    s->corner[0][k] = -1.2f;
    s->corner[6][k] = 1.2f;
  }
}

/* Proper triangles alone, numbered from 0. */
static soup proper_of(const soup *s) {
  soup alone = *s;
  for (uint32_t i = 0; i < PROPER; i++) {
    memcpy(alone.corner[3 * i], s->corner[6 * i], sizeof alone.corner[0] * 3);
    memcpy(alone.index + 3 * i, s->index + 6 * i, sizeof alone.index[0] * 3);
  }
  if (alone.indexed) memcpy(alone.corner, s->corner, sizeof alone.corner);
  alone.without = true;
  return alone;
}

/* At corners and edges' middles of all triangles, at points of the edges, and anywhere. */
static void aim(random_state *random, const soup *s, slab_ray *rays) {
  for (uint32_t i = 0; i < RAYS; i++) {
    const uint32_t first = 3 * random_below(random, TRIANGLES);
    const float *a = s->corner[s->index[first + random_below(random, 3)]];
    const float *b = s->corner[s->index[first + random_below(random, 3)]];
    const float share = i % 3 == 0 ? 0.5f : random_between(random, 0.0f, 1.0f);
    rays[i] = (slab_ray){.t_max = INFINITY};
    for (int k = 0; k < 3; k++) {
      const float at = i % 8 == 0 ? random_between(random, -1.0f, 1.0f) : a[k] + share * (b[k] - a[k]);
      rays[i].direction[k] = i % 4 == 1 && k != (int)(i / 4 % 3) ? 0.0f : random_between(random, -1.0f, 1.0f);
      rays[i].origin[k] = at - 2.0f * rays[i].direction[k];
    }
  }
}

/* Casts in all ways. Returns how many hits the triangles of odd numbers have. */
static uint64_t odd_hits(const ways_scenes *scenes, const slab_ray *rays, slab_edges edges) {
  const slab_cast_options options = {.edges = edges};
  answers a = {0};
  uint64_t odd = 0, all = 0;
  ways_cast(scenes, rays, RAYS, &options, &a);
  for (uint64_t i = 0; i < a.offsets[a.n]; i++) odd += a.all[i].primitive % 2;
  for (size_t i = 0; i < a.n; i++) all += a.count[i];
  assert_true(all > 0);
  answers_free(&a);
  return odd;
}

/* Whether the BVHs that rays see are alike in all that can be seen from outside. The depth is the deeper one's, of that
 * and of the BVH of collapsed triangles. */
static void assert_bvhs_alike(const ways_scenes *got, const ways_scenes *want, bool alike) {
  for (int k = 0; k < WAYS; k++) {
    slab_scene_stats a, b;
    if (got->of[k] == NULL) continue;
    assert_ok(slab_scene_info(got->of[k], &a));
    assert_ok(slab_scene_info(want->of[k], &b));
    if (b.tree_depth == 0) continue;
    assert_true((a.sah_cost == b.sah_cost && a.node_occupancy == b.node_occupancy && a.tree_depth >= b.tree_depth &&
                 a.block_occupancy == b.block_occupancy) == alike);
  }
}

/* ---- two corners alike ---- */

/* How two corners of a triangle are one: by the index, by the bits of two vertices, or where each has its own. */
enum { BY_INDEX, BY_BITS, BY_OWN, COLLAPSES };

/* corner: the one that is as the next; 3: all are alike. */
static void collapse(soup *s, int how, uint32_t corner) {
  s->indexed = how != BY_OWN;
  for (uint32_t i = 1; i < TRIANGLES; i += 2)
    for (uint32_t c = 0; c < 3; c++) {
      const uint32_t to = corner == 3 ? 3 * i : 3 * i + (c + 1) % 3;
      if (c != corner && corner != 3) continue;
      if (how == BY_INDEX)
        s->index[3 * i + c] = to;
      else
        memcpy(s->corner[3 * i + c], s->corner[to], sizeof s->corner[0]);
    }
}

static void bvhs_hold_no_collapsed_triangles(void **state) {
  random_state random = harness_seeded("bvhs_hold_no_collapsed_triangles");
  soup *s = harness_space(sizeof *s);
  slab_ray rays[RAYS];
  for (int how = 0; how < COLLAPSES; how++)
    for (uint32_t corner = 0; corner <= 3; corner++) {
      random_soup(&random, s);
      collapse(s, how, corner);
      const soup alone = proper_of(s);
      ways_scenes scenes = ways_made(*state, fill_soup, s), others = ways_made(*state, fill_soup, &alone);
      assert_bvhs_alike(&scenes, &others, true);
      aim(&random, s, rays);
      for (int edges = 0; edges < 2; edges++) assert_int_equal(odd_hits(&scenes, rays, (slab_edges)edges), 0);
      ways_free(&scenes);
      ways_free(&others);
    }
  free(s);
}

/* Nothing is in the BVH. */
static void all_may_be_collapsed(void **state) {
  random_state random = harness_seeded("all_may_be_collapsed");
  soup *s = harness_space(sizeof *s);
  slab_ray rays[RAYS];
  random_soup(&random, s);
  s->indexed = true;
  for (uint32_t i = 0; i < TRIANGLES; i++) s->index[3 * i] = s->index[3 * i + 1];
  ways_scenes scenes = ways_made(*state, fill_soup, s);
  answers a = {0};
  aim(&random, s, rays);
  ways_cast(&scenes, rays, RAYS, NULL, &a);
  assert_true(a.offsets[a.n] == 0);
  answers_free(&a);
  ways_free(&scenes);
  free(s);
}

/* ---- three corners on one line ---- */

static float whole(random_state *random, float scale) {
  return scale * (float)((int32_t)random_below(random, 501) - 250);
}

/* Four times as far as `way` from corner to corner, the third half-way: all exactly. */
static void lay_on_a_line(random_state *random, float *from, float *to, float *middle) {
  for (int k = 0; k < 3; k++) {
    const float way = whole(random, 0x1p-10f);
    from[k] = whole(random, 0x1p-9f);
    to[k] = from[k] + 4.0f * way;
    middle[k] = from[k] + 2.0f * way;
  }
}

/* The rays meet the lines, exactly, a quarter of the way from corner to corner. */
static void aim_at_lines(random_state *random, const soup *s, slab_ray *rays) {
  for (uint32_t i = 0; i < RAYS; i++) {
    const uint32_t first = 3 * (2 * random_below(random, PROPER) + 1), c = random_below(random, 3);
    const float *a = s->corner[first + c], *b = s->corner[first + (c + 1) % 3];
    rays[i] = (slab_ray){.t_max = INFINITY};
    for (int k = 0; k < 3; k++) {
      rays[i].direction[k] = whole(random, 0x1p-9f);
      rays[i].origin[k] = 0.5f * (a[k] + b[k]) - rays[i].direction[k];
    }
  }
}

/* Rounded by the shear they are on none: that hits some is what keeps them in a BVH. */
static void triangles_on_a_line_stay(void **state) {
  random_state random = harness_seeded("triangles_on_a_line_stay");
  soup *s = harness_space(sizeof *s);
  slab_ray rays[RAYS];
  uint64_t hits = 0;
  for (uint32_t middle = 0; middle < 3; middle++) {
    random_soup(&random, s);
    s->indexed = middle != 1;
    for (uint32_t i = 1; i < TRIANGLES; i += 2) {
      float(*v)[3] = s->corner + (size_t)3 * i;
      lay_on_a_line(&random, v[(middle + 1) % 3], v[(middle + 2) % 3], v[middle]);
    }
    const soup alone = proper_of(s);
    ways_scenes scenes = ways_made(*state, fill_soup, s), others = ways_made(*state, fill_soup, &alone);
    assert_bvhs_alike(&scenes, &others, false);
    aim_at_lines(&random, s, rays);
    hits += odd_hits(&scenes, rays, SLAB_EDGES_HALF_OPEN);
    ways_free(&scenes);
    ways_free(&others);
  }
  print_message("%d triangles of three corners on a line are hit\n", (int)hits);
  assert_true(hits > 20);
  free(s);
}

/* ---- refits ---- */

static const snapshot *committed(slab_scene *scene) { return atomic_load(&scene->committed); }

static void update_all(const ways_scenes *scenes, const soup *s, bool refitted) {
  slab_mesh mesh = mesh_of(s);
  mesh.indices = NULL; /* those that it has */
  for (int k = 0; k < WAYS; k++) {
    if (scenes->of[k] == NULL) continue;
    const slab_build_options again = {.tree = committed(scenes->of[k])->tree, .update = SLAB_UPDATE_REFIT};
    const uint64_t build = committed(scenes->of[k])->build;
    assert_ok(slab_scene_update_mesh(scenes->of[k], 0, &mesh));
    assert_ok(slab_scene_commit(scenes->of[k], &again));
    const snapshot *now = committed(scenes->of[k]);
    if (now->has_bvh) assert_true((now->build == build) == refitted);
  }
}

/* Collapses the triangles of even numbers as those of odd ones are. */
static void swap_collapsed(soup *to, const soup *from) {
  for (uint32_t i = 0; i < TRIANGLES; i += 2)
    memcpy(to->corner[3 * i], from->corner[3 * (i + 1)], sizeof to->corner[0] * 3);
}

/* A triangle that was left out stays out as long as it is collapsed, whatever else moves. One that collapses later may
 * stay in. */
static void refits_know_what_was_left_out(void **state) {
  random_state random = harness_seeded("refits_know_what_was_left_out");
  soup *s = harness_space(sizeof *s), *open = harness_space(sizeof *s);
  slab_ray rays[RAYS];
  for (int how = 0; how < COLLAPSES; how++) {
    random_soup(&random, s);
    collapse(s, how, (uint32_t)how);
    ways_scenes scenes = ways_made(*state, fill_soup, s);
    for (int step = 0; step < STEPS; step++) {
      for (uint32_t i = 0; i < 3 * TRIANGLES; i++)
        for (int k = 0; k < 3; k++) s->corner[i][k] *= 1.01f; /* equal corners stay equal */
      update_all(&scenes, s, true);
      aim(&random, s, rays);
      assert_int_equal(odd_hits(&scenes, rays, SLAB_EDGES_HALF_OPEN), 0);
    }
    if (how != BY_INDEX) {
      *open = *s;
      random_soup(&random, open);
      swap_collapsed(open, s);
      for (int step = 0; step < STEPS;
           step++) { /* others, as many: built; all: built; the first ones again: refitted */
        if (step == 1) random_soup(&random, open);
        update_all(&scenes, step == 2 ? s : open, step == 2);
        aim(&random, step == 2 ? s : open, rays);
        assert_true((odd_hits(&scenes, rays, SLAB_EDGES_HALF_OPEN) == 0) == (step == 2));
      }
    }
    ways_free(&scenes);
  }
  free(s);
  free(open);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bvhs_hold_no_collapsed_triangles),
      cmocka_unit_test(all_may_be_collapsed),
      cmocka_unit_test(triangles_on_a_line_stay),
      cmocka_unit_test(refits_know_what_was_left_out),
  };
  return cmocka_run_group_tests(tests, ways_setup, ways_teardown);
}
