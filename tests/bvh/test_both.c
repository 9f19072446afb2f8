/* The two BVHs of a scene, that of rays and that of collapsed triangles. Together they hold every triangle that is not
 * void and not hidden, once, as it is now, within the bounds of all nodes above it. Rays find theirs in the first. So
 * it has to be after builds, refits and updates, in models, and of scenes that were unpacked. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
/* cmocka has a macro fail(). */
#undef fail
#include "bvh/compressed.h"
#include "device/backend.h"
#include "device/context.h"
#include "maths/quantised.h"
#include "scene/models.h"
#include "scene/scene.h"
#include "shapes/primitive.h"

enum { PARTS = 3, TRIANGLES = 200, CORNERS = 3 * TRIANGLES, STEPS = 40 };

/* ---- the contents of a scene ---- */

/* A mesh, as the test knows it. */
typedef struct part {
  float corner[CORNERS][3];
  uint32_t index[CORNERS], vertices;
  bool indexed, drops, hidden;
} part;

static slab_mesh mesh_of(const part *p) {
  return (slab_mesh){.vertices = p->corner[0],
                     .vertex_count = p->vertices,
                     .indices = p->indexed ? p->index : NULL,
                     .triangle_count = TRIANGLES};
}

/* Triangle i. Returns whether it is there: neither dropped nor hidden. */
static bool triangle_of(const part *p, uint32_t i, float values[TRIANGLE_FLOATS]) {
  bool there = !p->hidden;
  for (uint32_t c = 0; c < 3; c++) memcpy(values + 3 * c, p->corner[p->index[3 * i + c]], sizeof p->corner[0]);
  for (int r = 0; r < TRIANGLE_FLOATS; r++) there = there && isfinite(values[r]);
  return there;
}

static bool is_collapsed(const float v[TRIANGLE_FLOATS]) {
  const size_t size = 3 * sizeof *v;
  return memcmp(v, v + 3, size) == 0 || memcmp(v + 3, v + 6, size) == 0 || memcmp(v, v + 6, size) == 0;
}

static void random_corners(random_state *random, part *p) {
  for (uint32_t i = 0; i < CORNERS; i++)
    for (int k = 0; k < 3; k++) {
      const float near = i % 3 == 0 ? 0.0f : p->corner[i - i % 3][k];
      p->corner[i][k] = i % 3 == 0 ? random_between(random, -1, 1) : near + random_between(random, -0.1f, 0.1f);
    }
}

/* Collapses one of `each` triangles, to an edge or a point. */
static void collapse_some(random_state *random, part *p, uint32_t each) {
  for (uint32_t i = 0; i < TRIANGLES; i++) {
    if (random_below(random, each) != 0) continue;
    const uint32_t c = random_below(random, 3), how = random_below(random, 8);
    float *a = p->corner[p->index[3 * i + c]], *b = p->corner[p->index[3 * i + (c + 1) % 3]];
    if (how == 0) memset(b, 0, sizeof p->corner[0]); /* at 0, as void ones once were */
    memmove(a, b, sizeof p->corner[0]);              /* they may be one */
    if (how < 2) memmove(p->corner[p->index[3 * i + (c + 2) % 3]], b, sizeof p->corner[0]);
  }
}

static void drop_some(random_state *random, part *p, uint32_t each) {
  for (uint32_t i = 0; p->drops && i < CORNERS; i++)
    if (random_below(random, each) == 0) p->corner[i][i % 3] = NAN;
}

static void move_part(random_state *random, part *p) {
  const uint32_t how = random_below(random, 4);
  if (how == 0) random_corners(random, p);
  if (how == 0 || how == 1) collapse_some(random, p, 10);
  if (how == 2) drop_some(random, p, 100);
  for (uint32_t i = 0; i < CORNERS; i++)
    for (int k = 0; k < 3; k++) p->corner[i][k] *= 1.5f; /* equal corners stay equal */
}

/* One with indices, some of which are alike; one with indices; one of which some is dropped. */
static part *make_parts(random_state *random) {
  part *p = harness_space(PARTS * sizeof *p);
  memset(p, 0, PARTS * sizeof *p);
  for (int g = 0; g < PARTS; g++) {
    p[g].indexed = g < 2;
    p[g].drops = g == 2;
    random_corners(random, &p[g]);
    for (uint32_t i = 0; i < CORNERS; i++)
      p[g].index[i] = g == 0 && i % 27 == 1 ? p[g].index[i - 1] : p[g].vertices++; /* so every vertex is used */
    if (g > 0) collapse_some(random, &p[g], 12);
    drop_some(random, &p[g], 50);
  }
  return p;
}

static void add_parts(slab_scene *scene, const part *parts) {
  const slab_sphere spheres[3] = {{{1, 2, 3}, 1}, {{0, -1, 1}, 0.5f}, {{-1, 0, -1}, 0.25f}};
  const slab_plane plane = {{0, 0, 1}, -4};
  for (int g = 0; g < PARTS; g++) {
    const slab_mesh mesh = mesh_of(&parts[g]);
    const slab_geometry_options options = {.skip_invalid = parts[g].drops};
    assert_ok(slab_scene_add_mesh(scene, &mesh, &options, NULL));
  }
  assert_ok(slab_scene_add_spheres(scene, spheres, 3, NULL, NULL));
  assert_ok(slab_scene_add_planes(scene, &plane, 1, NULL, NULL));
}

/* ---- the contents of its BVHs ---- */

/* The walked BVHs: a scene's, or those of a model in it. */
typedef struct walk {
  const void *nodes;
  const float *blocks;
  const geometry_entry *table; /* of meshes, and then of geometries left out here */
  const part *parts;
  bool compressed, collapsed; /* collapsed: in the BVH of these */
  bool built;                 /* not refitted */
  uint8_t seen[PARTS * TRIANGLES];
  uint32_t held[2]; /* triangles in each BVH */
} walk;

typedef struct box {
  float lower[3], upper[3];
} box;

static box everywhere(void) { return (box){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}}; }

static void assert_within(const box *b, const float v[TRIANGLE_FLOATS]) {
  for (int r = 0; r < TRIANGLE_FLOATS; r++) assert_true(v[r] >= b->lower[r % 3] && v[r] <= b->upper[r % 3]);
}

static void look_at_triangle(walk *w, uint32_t id, const float v[TRIANGLE_FLOATS], const box *bounds) {
  float nothing[TRIANGLE_FLOATS], want[TRIANGLE_FLOATS];
  primitive_void(SLAB_TRIANGLE, nothing);
  bool there = id != SLAB_MISS;
  if (there) {
    uint32_t g = 0;
    while (g < PARTS && id - w->table[g].global_id_base >= TRIANGLES) g++;
    assert_true(g < PARTS);
    const uint32_t i = id - w->table[g].global_id_base;
    there = triangle_of(&w->parts[g], i, want);
    if (there) assert_int_equal(w->seen[g * TRIANGLES + i]++, 0);
  }
  assert_memory_equal(v, there ? want : nothing, sizeof want);
  if (!there) return;
  assert_within(bounds, v);
  if (w->collapsed || w->built) assert_int_equal(is_collapsed(v), w->collapsed);
  w->held[w->collapsed]++;
}

static void look_at_wide_leaf(walk *w, uint32_t unit, uint32_t meta, const box *bounds) {
  const uint32_t units = BVH_BLOCK_UNITS(TRIANGLE_FLOATS);
  for (uint32_t b = 0; BVH_LEAF_KIND(meta) == SLAB_TRIANGLE && b < BVH_LEAF_BLOCK_COUNT(meta); b++)
    for (uint32_t lane = 0; lane < BVH_WIDTH; lane++) {
      const float *block = w->blocks + (size_t)(unit + b * units) * BLOCK_UNIT + lane;
      float v[TRIANGLE_FLOATS];
      uint32_t id;
      for (int r = 0; r < TRIANGLE_FLOATS; r++) v[r] = block[r * BVH_WIDTH];
      memcpy(&id, block + (size_t)TRIANGLE_FLOATS * BVH_WIDTH, sizeof id);
      look_at_triangle(w, id, v, bounds);
    }
}

/* The part of a child's bounds within those of its parent. */
static box narrowed(const box *in, const float lower[3], const float upper[3]) {
  box b;
  for (int i = 0; i < 3; i++) {
    b.lower[i] = fmaxf(in->lower[i], lower[i]);
    b.upper[i] = fminf(in->upper[i], upper[i]);
  }
  return b;
}

static void look_at_wide(walk *w, uint32_t n, const box *in) {
  const bvh_node *node = (const bvh_node *)w->nodes + n;
  for (int k = 0; k < BVH_WIDTH; k++) {
    const float lower[3] = {node->bounds[0][k], node->bounds[1][k], node->bounds[2][k]};
    const float upper[3] = {node->bounds[3][k], node->bounds[4][k], node->bounds[5][k]};
    const box bounds = narrowed(in, lower, upper);
    if (node->meta[k] == 0) continue;
    if (BVH_IS_INNER(node->meta[k]))
      look_at_wide(w, node->child[k], &bounds);
    else
      look_at_wide_leaf(w, node->child[k], node->meta[k], &bounds);
  }
}

static box compressed_box(const compressed_node *n, uint32_t k, const box *in) {
  float lower[3], upper[3];
  for (uint32_t i = 0; i < 3; i++) {
    const uint32_t exponent = compressed_byte(n->scales, i);
    const bool bounded = exponent != COMPRESSED_UNBOUNDED;
    const float step = compressed_step(exponent);
    lower[i] = bounded ? compressed_plane(compressed_byte(n->planes[i][k / 4], k % 4), step, n->origin[i]) : -INFINITY;
    upper[i] =
        bounded ? compressed_plane(compressed_byte(n->planes[i + 3][k / 4], k % 4), step, n->origin[i]) : INFINITY;
  }
  return narrowed(in, lower, upper);
}

static void look_at_compressed(walk *w, uint32_t n, const box *in) {
  const compressed_node *node = (const compressed_node *)w->nodes + n;
  uint32_t next = node->child, unit = node->leaf;
  for (uint32_t k = 0; k < BVH_WIDTH; k++) {
    const uint32_t meta = compressed_byte(node->meta[k / 4], k % 4), count = COMPRESSED_LEAF_COUNT(meta);
    const box bounds = compressed_box(node, k, in);
    if (meta == COMPRESSED_INNER) {
      look_at_compressed(w, next++, &bounds);
    } else if (count > 0) {
      const uint32_t kind = SLAB_SPHERE + (meta >> 5), units = compressed_primitive_units(kind);
      for (uint32_t i = 0; i < count; i++, unit += units) {
        const float *block = w->blocks + (size_t)unit * COMPRESSED_UNIT;
        uint32_t id;
        memcpy(&id, block + TRIANGLE_FLOATS, sizeof id);
        if (kind == SLAB_TRIANGLE) look_at_triangle(w, id, block, &bounds);
      }
    }
  }
}

/* Walks from both roots, and checks every triangle. */
static void look(walk *w, uint32_t root, uint32_t collapsed_root) {
  const box all = everywhere();
  memset(w->seen, 0, sizeof w->seen);
  w->held[0] = w->held[1] = 0;
  for (int i = 0; i < (collapsed_root != 0 ? 2 : 1); i++) {
    w->collapsed = i == 1;
    (w->compressed ? look_at_compressed : look_at_wide)(w, i == 1 ? collapsed_root : root, &all);
  }
  for (uint32_t g = 0; g < PARTS; g++)
    for (uint32_t i = 0; i < TRIANGLES; i++) {
      float unused[TRIANGLE_FLOATS];
      assert_int_equal(w->seen[g * TRIANGLES + i], triangle_of(&w->parts[g], i, unused));
    }
  if (collapsed_root != 0 && w->built) assert_true(w->held[1] > 0);
}

/* A scene's arrays: the host's, or read from the first device. */
static void arrays_take(const snapshot *s, void **nodes, float **blocks) {
  const device *d = &s->context->devices[0];
  *nodes = harness_space(s->bvh.node_bytes);
  *blocks = harness_space((s->bvh.floats + 1) * sizeof **blocks);
  if (s->bvh.nodes != NULL) {
    memcpy(*nodes, s->bvh.nodes, s->bvh.node_bytes);
    memcpy(*blocks, s->bvh.blocks, s->bvh.floats * sizeof **blocks);
    return;
  }
  assert_ok(d->backend->fetch(d, &s->states[0], s->context->layout, s->bvh.node_bytes, s->bvh.floats, *nodes, *blocks));
}

static const snapshot *committed(slab_scene *scene) { return atomic_load(&scene->committed); }

/* Returns how many are in the BVH of collapsed triangles. */
static uint32_t assert_holds(slab_scene *scene, const part *parts, bool built) {
  const snapshot *s = committed(scene);
  void *nodes;
  float *blocks;
  assert_true(s->has_bvh);
  arrays_take(s, &nodes, &blocks);
  walk w = {.nodes = nodes,
            .blocks = blocks,
            .table = s->table,
            .parts = parts,
            .compressed = s->context->layout == SLAB_LAYOUT_COMPRESSED,
            .built = built};
  look(&w, 0, s->bvh.collapsed_root);
  free(nodes);
  free(blocks);
  return w.held[1];
}

/* ---- tests ---- */

static const slab_layout layouts[] = {SLAB_LAYOUT_WIDE, SLAB_LAYOUT_COMPRESSED};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static slab_scene *made(slab_layout layout, const part *parts, slab_tree tree) {
  slab_scene *scene = harness_scene(harness_shared(layout));
  add_parts(scene, parts);
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = tree}));
  return scene;
}

static void every_triangle_is_held_once(void **state) {
  random_state random = harness_seeded("every_triangle_is_held_once");
  (void)state;
  for (int l = 0; l < LAYOUTS; l++)
    for (slab_tree tree = SLAB_TREE_FAST; tree <= SLAB_TREE_HIGH; tree++) {
      part *parts = make_parts(&random);
      slab_scene *scene = made(layouts[l], parts, tree);
      assert_true(assert_holds(scene, parts, true) > 30);
      slab_scene_destroy(scene);
      free(parts);
    }
}

/* Moves, collapses, opens, drops, hides and shows some of the parts. */
static void change(random_state *random, slab_scene *scene, part *parts) {
  for (uint32_t changes = 1 + random_below(random, 2); changes > 0; changes--) {
    const uint32_t g = random_below(random, PARTS);
    if (random_below(random, 4) == 0) {
      parts[g].hidden = !parts[g].hidden;
      assert_ok(slab_scene_enable(scene, g, !parts[g].hidden));
      continue;
    }
    move_part(random, &parts[g]);
    slab_mesh mesh = mesh_of(&parts[g]);
    mesh.indices = NULL; /* those that it has */
    assert_ok(slab_scene_update_mesh(scene, g, &mesh));
  }
}

static void updates_hold_every_triangle_once(void **state) {
  random_state random = harness_seeded("updates_hold_every_triangle_once");
  (void)state;
  for (int l = 0; l < LAYOUTS; l++) {
    uint32_t refits = 0, builds = 0;
    part *parts = make_parts(&random);
    slab_scene *scene = made(layouts[l], parts, SLAB_TREE_HIGH);
    for (int step = 0; step < STEPS; step++) {
      const uint64_t build = committed(scene)->build;
      change(&random, scene, parts);
      assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_HIGH, .update = SLAB_UPDATE_REFIT}));
      const bool built = committed(scene)->build != build;
      builds += built;
      refits += !built;
      assert_holds(scene, parts, built);
    }
    print_message("%u refits, %u builds\n", refits, builds);
    assert_true(refits > 5 && builds > 0);
    slab_scene_destroy(scene);
    free(parts);
  }
}

/* Triangles that are collapsed by their indices stay so: moving vertices is no reason to build. Others that collapse
 * stay in the BVH of rays. */
static void collapsed_by_index_is_refitted(void **state) {
  random_state random = harness_seeded("collapsed_by_index_is_refitted");
  (void)state;
  for (int l = 0; l < LAYOUTS; l++) {
    part *parts = make_parts(&random);
    for (int g = 1; g < PARTS; g++) random_corners(&random, &parts[g]);
    slab_scene *scene = made(layouts[l], parts, SLAB_TREE_HIGH);
    for (int step = 0; step < 3; step++) {
      const uint64_t build = committed(scene)->build;
      random_corners(&random, &parts[0]);
      if (step == 1) collapse_some(&random, &parts[0], 5);
      slab_mesh mesh = mesh_of(&parts[0]);
      mesh.indices = NULL;
      assert_ok(slab_scene_update_mesh(scene, 0, &mesh));
      assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_HIGH, .update = SLAB_UPDATE_REFIT}));
      assert_true(committed(scene)->build == build);
      assert_true(assert_holds(scene, parts, step != 1) > 20);
    }
    slab_scene_destroy(scene);
    free(parts);
  }
}

/* A triangle that was dropped when its BVH was built has a place in neither. If it is no longer dropped, but still
 * cannot be hit, that is a reason to build. */
static void what_was_dropped_may_come_back_collapsed(void **state) {
  random_state random = harness_seeded("what_was_dropped_may_come_back_collapsed");
  (void)state;
  for (int l = 0; l < LAYOUTS; l++) {
    part *parts = make_parts(&random), *p = &parts[2];
    slab_mesh mesh = mesh_of(p);
    random_corners(&random, p);
    p->corner[0][0] = NAN;
    slab_scene *scene = made(layouts[l], parts, SLAB_TREE_HIGH);
    const uint64_t build = committed(scene)->build;
    for (uint32_t c = 0; c < 3; c++) memcpy(p->corner[c], p->corner[3], sizeof p->corner[0]);
    assert_ok(slab_scene_update_mesh(scene, 2, &mesh));
    assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_HIGH, .update = SLAB_UPDATE_REFIT}));
    assert_true(committed(scene)->build != build);
    assert_holds(scene, parts, true);
    slab_scene_destroy(scene);
    free(parts);
  }
}

/* The BVH of rays is empty then. */
static void a_scene_of_collapsed_ones_alone(void **state) {
  random_state random = harness_seeded("a_scene_of_collapsed_ones_alone");
  (void)state;
  for (int l = 0; l < LAYOUTS; l++) {
    part *parts = make_parts(&random);
    for (int g = 0; g < PARTS; g++) collapse_some(&random, &parts[g], 1);
    slab_scene *scene = made(layouts[l], parts, SLAB_TREE_HIGH);
    float dropped[TRIANGLE_FLOATS];
    uint32_t there = 0;
    for (uint32_t i = 0; i < PARTS * TRIANGLES; i++)
      there += triangle_of(&parts[i / TRIANGLES], i % TRIANGLES, dropped);
    assert_int_equal(assert_holds(scene, parts, true), there);
    slab_scene_destroy(scene);
    free(parts);
  }
}

/* Packed after a build and after refits; a BVH that was unpacked is refitted as well. */
static void unpacked_scenes_hold_every_triangle_once(void **state) {
  random_state random = harness_seeded("unpacked_scenes_hold_every_triangle_once");
  (void)state;
  part *parts = make_parts(&random);
  slab_scene *scene = made(SLAB_LAYOUT_WIDE, parts, SLAB_TREE_HIGH);
  for (int step = 0; step < 6; step++) {
    size_t size = 0;
    slab_scene *copy = NULL;
    assert_ok(slab_scene_pack(scene, NULL, 0, &size));
    void *bytes = harness_space(size);
    assert_ok(slab_scene_pack(scene, bytes, size, &size));
    assert_ok(slab_scene_unpack(harness_shared(SLAB_LAYOUT_WIDE), bytes, size, &copy));
    assert_int_equal(committed(copy)->bvh.collapsed_root, committed(scene)->bvh.collapsed_root);
    assert_int_equal(committed(copy)->bvh.stack, committed(scene)->bvh.stack);
    assert_int_equal(assert_holds(copy, parts, false), assert_holds(scene, parts, false));
    free(bytes);
    slab_scene_destroy(scene);
    scene = copy;
    change(&random, scene, parts);
    assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_HIGH, .update = SLAB_UPDATE_REFIT}));
    assert_holds(scene, parts, false);
  }
  slab_scene_destroy(scene);
  free(parts);
}

/* ---- models ---- */

/* The models of a scene: each has the parts of a depth, the lowest last. */
static void assert_models_hold(slab_scene *scene, part *const depths[], uint32_t count) {
  const snapshot *s = committed(scene);
  void *nodes;
  float *blocks;
  arrays_take(s, &nodes, &blocks);
  const model_entry *models = (const model_entry *)(const void *)(blocks + (size_t)s->uniforms.models * BLOCK_UNIT);
  assert_int_equal(s->model_count, count);
  for (uint32_t m = 0; m < count; m++) {
    walk w = {.nodes = nodes,
              .blocks = blocks,
              .table = s->table + models[m].table,
              .parts = depths[m],
              .compressed = s->context->layout == SLAB_LAYOUT_COMPRESSED,
              .built = true};
    look(&w, models[m].root, models[m].collapsed_root);
    assert_true(w.held[1] > 30);
  }
  assert_int_equal(models[0].collapsed_root, s->bvh.collapsed_root);
  free(nodes);
  free(blocks);
}

static void models_hold_every_triangle_once(void **state) {
  static const float moved[12] = {0, -1, 0, 3, 1, 0, 0, 4, 0, 0, 1, 5};
  random_state random = harness_seeded("models_hold_every_triangle_once");
  (void)state;
  for (int l = 0; l < LAYOUTS; l++) {
    part *depths[3];
    slab_scene *scenes[3];
    for (int i = 2; i >= 0; i--) {
      depths[i] = make_parts(&random);
      scenes[i] = harness_scene(harness_shared(layouts[l]));
      add_parts(scenes[i], depths[i]);
      if (i < 2) assert_ok(slab_scene_add_instances(scenes[i], scenes[i + 1], moved, 1, NULL, NULL));
      assert_ok(slab_scene_commit(scenes[i], &(slab_build_options){.tree = SLAB_TREE_HIGH}));
      if (i < 2) assert_models_hold(scenes[i], depths + i, 3 - (uint32_t)i);
    }
    random_corners(&random, &depths[0][0]); /* a refit of the scene alone */
    slab_mesh mesh = mesh_of(&depths[0][0]);
    assert_ok(slab_scene_update_mesh(scenes[0], 0, &mesh));
    assert_ok(slab_scene_commit(scenes[0], NULL));
    assert_models_hold(scenes[0], depths, 3);
    for (int i = 0; i < 3; i++) {
      slab_scene_destroy(scenes[i]);
      free(depths[i]);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_triangle_is_held_once),     cmocka_unit_test(updates_hold_every_triangle_once),
      cmocka_unit_test(collapsed_by_index_is_refitted),  cmocka_unit_test(what_was_dropped_may_come_back_collapsed),
      cmocka_unit_test(a_scene_of_collapsed_ones_alone), cmocka_unit_test(unpacked_scenes_hold_every_triangle_once),
      cmocka_unit_test(models_hold_every_triangle_once),
  };
  return cmocka_run_group_tests(tests, NULL, harness_close);
}
