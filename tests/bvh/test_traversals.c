/* No traversal changes a result. Coherent and other rays are cast on flat scenes and through BVHs under each
 * traversal, in every query, and compared bit by bit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filled.h"
#include "harness.h"
#include "maths/ray.h"
#include "sets/answers.h"
#include "sets/bvh_scenes.h"
#include "sets/coherent_rays.h"
#include "sets/lattice.h"
#include "sets/nested.h"

/* Neither is a multiple of the rays of any packet. */
enum { RAYS = 3001, MANY = 200003 };

static const slab_query queries[] = {SLAB_CLOSEST,  SLAB_DISTANCE, SLAB_ANY, SLAB_COUNT,
                                     SLAB_INTERVAL, SLAB_NEAREST,  SLAB_ALL};
enum {
  QUERIES = sizeof queries / sizeof *queries,
  SINGLE_RESULTS = QUERIES - 1, /* queries with one result per ray */
  TRAVERSALS = SLAB_TRAVERSAL_SORTED + 1
};

/* Contexts that the tests share, one per traversal, so that programs are built once. */
typedef struct contexts {
  slab_context *of[TRAVERSALS];
  slab_device_info device;
} contexts;

/* Rays of a packet; where one lane leaves no packets, of what would be one. */
static size_t packet_rays(const contexts *c) { return c->device.lane_width > 1 ? c->device.lane_width : 8; }

/* One scene: flat under SLAB_TRAVERSAL_AUTO, otherwise with a BVH. */
typedef struct scenes {
  slab_scene *of[TRAVERSALS];
  slab_scene_stats stats;
} scenes;

/* Fewer shapes where each depth of the BVH separates one giant. A deeper BVH needs a larger stack, and so other
 * programs than the other scenes. */
static uint32_t shapes_of(bvh_scene which) { return which == BVH_SCALES ? 250 : 1500; }

static void release(scenes *s) {
  for (int k = 0; k < TRAVERSALS; k++) slab_scene_destroy(s->of[k]);
}

typedef slab_scene *scene_maker(slab_context *context, slab_tree tree, scene_filler *fill, const void *user);

static scene_maker scene_of_copies, scene_of_crowd; /* with instances */

static scenes scenes_made_by(scene_maker *make, const contexts *c, slab_tree quality, scene_filler *fill,
                             const void *user) {
  scenes s;
  for (int k = 0; k < TRAVERSALS; k++) {
    s.of[k] = make(c->of[k], k == SLAB_TRAVERSAL_AUTO ? SLAB_TREE_FLAT : quality, fill, user);
    assert_ok(slab_scene_info(s.of[k], &s.stats));
    if (make != scene_of_copies && make != scene_of_crowd) /* flat ones have a BVH too, whose nodes are all visited */
      assert_true((s.stats.tree_depth > 0) == (k != SLAB_TRAVERSAL_AUTO));
  }
  return s;
}

static scenes scenes_made(const contexts *c, slab_tree quality, scene_filler *fill, const void *user) {
  return scenes_made_by(filled_scene, c, quality, fill, user);
}

static slab_status fill_tree_scene(slab_scene *scene, const void *user) {
  const bvh_scene *which = user;
  random_state random = harness_seeded(bvh_scene_name(*which));
  return bvh_scene_fill(*which, shapes_of(*which), random_next(&random), scene);
}

/* ---- comparing ---- */

static const char *traversal_name(int traversal) {
  static const char *const names[TRAVERSALS] = {"auto", "packets", "single", "interleaved", "sorted"};
  return names[traversal];
}

static void compare(const scenes *s, const slab_ray *rays, size_t n, const slab_cast_options *options) {
  answers flat = {0}, tree = {0};
  for (int q = 0; q < QUERIES; q++) {
    const slab_query query = queries[q];
    assert_ok(answers_cast(&flat, query, s->of[0], rays, n, options));
    for (int k = 1; k < TRAVERSALS; k++) {
      size_t first = 0;
      assert_ok(answers_cast(&tree, query, s->of[k], rays, n, options));
      const size_t differing = answers_differ(&tree, &flat, query, &first);
      const float *r = (const float *)&rays[first];
      if (differing)
        fail_msg("%s, %s: %zu rays differ from flat, ray %zu is {{%a, %a, %a}, %a, {%a, %a, %a}, %a}",
                 answer_name(query), traversal_name(k), differing, first, (double)r[0], (double)r[1], (double)r[2],
                 (double)r[3], (double)r[4], (double)r[5], (double)r[6], (double)r[7]);
      assert_true(tree.invalid[query] == flat.invalid[query]);
      harness_count(n);
    }
  }
  answers_free(&flat);
  answers_free(&tree);
}

/* ---- the sets ---- */

/* Whether the rays of a packet have one octant, as kernels/packet.cl requires. */
static bool agree(const slab_ray *rays, size_t n) {
  ray_word way = UINT32_MAX;
  bool one = true;
  for (size_t i = 0; i < n; i++) {
    const prepared_ray f = ray_scale(&rays[i]);
    if (f.state != RAY_LIVE) continue;
    one = one && (way == UINT32_MAX || f.octant == way) && f.t_min >= 0.0f;
    way = f.octant;
  }
  return one;
}

/* If no packet agreed, or all did, half of the code would not be tested. */
static void assert_mixed_fates(const slab_ray *rays, size_t n, size_t lanes) {
  size_t agreeing = 0;
  for (size_t i = 0; i + lanes <= n; i += lanes) agreeing += agree(rays + i, lanes);
  assert_in_range(agreeing, n / lanes / 2, n / lanes - n / lanes / 20);
}

/* Half of the rays skip what they hit first. */
static void skip_what_is_hit(const scenes *s, const slab_ray *rays, size_t n, slab_primitive_id *skip) {
  answers a = {0};
  size_t hits = 0;
  assert_ok(answers_cast(&a, SLAB_CLOSEST, s->of[0], rays, n, NULL));
  for (size_t i = 0; i < n; i++) {
    hits += a.closest[i].geometry < SLAB_INVALID;
    skip[i] = (slab_primitive_id){i % 2 ? a.closest[i].primitive : SLAB_MISS, a.closest[i].geometry};
  }
  assert_true(hits > n / 10); /* a set without hits would prove nothing */
  answers_free(&a);
}

static void traversals_change_nothing(const contexts *c, bvh_scene which) {
  static const slab_tree qualities[] = {SLAB_TREE_HIGH, SLAB_TREE_FAST};
  static slab_ray rays[RAYS];
  static slab_primitive_id skip[RAYS];
  /* natively far and slivers, which are triangles alone, have kernels of their own */
  scenes s = scenes_made_by(harness_is_native() ? filled_alone : filled_scene, c, qualities[which % 2], fill_tree_scene,
                            &which);
  random_state random = harness_seeded("traversal_choice");
  const slab_cast_options some = {.mask = 1, .cull = SLAB_CULL_FRONT, .skip = skip, .face_forward = 1};
  const slab_cast_options others = {.mask = 2, .cull = SLAB_CULL_BACK, .skip = skip};
  const slab_cast_options masked = {.mask = 1}, skipping = {.skip = skip};
  coherent_rays_fill(&random, &s.stats, RAYS, rays);
  assert_mixed_fates(rays, RAYS, packet_rays(c));
  skip_what_is_hit(&s, rays, RAYS, skip);
  compare(&s, rays, RAYS, NULL);
  compare(&s, rays, RAYS, &some);
  compare(&s, rays, RAYS, &others);
  compare(&s, rays, RAYS, &masked);
  compare(&s, rays, RAYS, &skipping);
  for (size_t i = 0; i < RAYS; i++) rays[i] = bvh_scene_ray(&random, &s.stats);
  compare(&s, rays, RAYS, NULL);
  compare(&s, rays, RAYS, &some);
  release(&s);
}

#define TRAVERSALS_TEST(name, which) \
  static void traversals_equal_flat_on_##name(void **state) { traversals_change_nothing(*state, which); }
TRAVERSALS_TEST(mixed, BVH_MIXED)
TRAVERSALS_TEST(touching, BVH_TOUCHING)
TRAVERSALS_TEST(flatland, BVH_FLATLAND)
TRAVERSALS_TEST(far, BVH_FAR)
TRAVERSALS_TEST(scales, BVH_SCALES)
TRAVERSALS_TEST(slivers, BVH_SLIVERS)

/* ---- cases that are rare in random sets ---- */

enum { LAYERS = 300 };

/* Near z = 0. */
static slab_status fill_layers(slab_scene *scene, const void *user) {
  slab_box layers[LAYERS];
  random_state random = random_seed(LAYERS);
  (void)user;
  for (int i = 0; i < LAYERS; i++) {
    const float x = random_between(&random, 0, 8), y = random_between(&random, 0, 8);
    const float z = 0x1p-24f * (float)(1 + random_below(&random, 64));
    layers[i] = (slab_box){{x - 2, y - 2, z}, {x + 2, y + 2, z + 0x1p-26f}};
  }
  return slab_scene_add_boxes(scene, layers, LAYERS, NULL, NULL);
}

/* Directions of 2^127 turn a final t of 2^-22 into the subnormal 2^-149. Different crossings then tie, and the lower
 * id wins. So a later crossing with a lower id must not be dropped for being slightly farther. */
static void tied_subnormal_t_goes_to_the_lower_id(void **state) {
  const contexts *c = *state;
  static slab_ray rays[RAYS];
  if (!c->device.denormals) skip();
  random_state random = harness_seeded("tied_subnormal_t_goes_to_the_lower_id");
  scenes s = scenes_made(c, SLAB_TREE_FAST, fill_layers, NULL);
  for (size_t i = 0; i < RAYS; i++) {
    const float x = random_between(&random, 0, 8), y = random_between(&random, 0, 8);
    rays[i] = (slab_ray){{x, y, 0}, 0, {0, 0, ldexpf(1, 123 + (int)(i % 5))}, 1};
  }
  compare(&s, rays, RAYS, NULL);
  release(&s);
}

/* ---- rays that hit their target only by rounding ---------------- */

enum { CORNERED = 96 };

static slab_box cornered_box(random_state *random) {
  slab_box box;
  for (int k = 0; k < 3; k++) {
    box.lower[k] = (float)random_below(random, 64);
    box.upper[k] = box.lower[k] + (float)(1 + random_below(random, 3));
  }
  return box;
}

static slab_status fill_cornered(slab_scene *scene, const void *user) {
  slab_box boxes[CORNERED];
  random_state random = random_seed(CORNERED);
  (void)user;
  for (int i = 0; i < CORNERED; i++) boxes[i] = cornered_box(&random);
  return slab_scene_add_boxes(scene, boxes, CORNERED, NULL, NULL);
}

/* Exactly through a corner: origin = corner - k d, all small integers. The slab test rounds, and accepts because of
 * its widening. A node with this corner must be accepted too. */
static slab_ray ray_through_corner(random_state *random) {
  random_state boxes = random_seed(CORNERED);
  slab_box box = {{0}, {0}};
  slab_ray ray = {.t_max = INFINITY};
  for (uint32_t i = random_below(random, CORNERED) + 1; i > 0; i--) box = cornered_box(&boxes);
  const float t = (float)(1 + random_below(random, 40));
  for (int k = 0; k < 3; k++) {
    const float corner = random_below(random, 2) ? box.upper[k] : box.lower[k];
    ray.direction[k] = (float)(1 + random_below(random, 30)) / (random_below(random, 2) ? 8.0f : -8.0f);
    ray.origin[k] = corner - t * ray.direction[k];
  }
  return ray;
}

static const int space_size[3] = {1, 1, 1000};

static slab_status fill_room(slab_scene *scene, const void *user) {
  lattice_mesh mesh = {0};
  (void)user;
  lattice_box(&mesh, space_size);
  return lattice_add(scene, &mesh, lattice_places[0]);
}

/* A packet of copies has no slack: its hull is one ray, and must contain what that ray needs. One packet
 * in four begins below 0, where packets are not used. */
static void check_copies(const contexts *c, scene_filler *fill, const char *name, slab_ray make(random_state *random)) {
  enum { PACKETS = 4000 };
  const size_t copies = packet_rays(c), n = PACKETS * copies;
  slab_ray *rays = malloc(n * sizeof *rays);
  assert_non_null(rays);
  random_state random = harness_seeded(name);
  for (size_t i = 0; i < n; i++) {
    rays[i] = i % copies == 0 ? make(&random) : rays[i - 1];
    if (i / copies % 4 == 0) rays[i].t_min = -INFINITY;
  }
  const slab_cast_options closed = {.edges = SLAB_EDGES_CLOSED, .max_hits = 2};
  scenes s = scenes_made(c, SLAB_TREE_HIGH, fill, NULL);
  compare(&s, rays, n, NULL);
  compare(&s, rays, n, &closed);
  release(&s);
  free(rays);
}

static void rays_through_corners_meet_their_nodes(void **state) {
  check_copies(*state, fill_cornered, "rays_through_corners_meet_their_nodes", ray_through_corner);
}

static slab_ray ray_in_room(random_state *random) {
  lattice_mesh mesh = {0};
  lattice_box(&mesh, space_size);
  return lattice_rounded_ray(random, &mesh, space_size, lattice_places[0]);
}

/* The shear displaces distant vertices, so rays hit beside the bounds. The padded bounds contain these hits. */
static void rays_in_a_thin_room_meet_its_walls(void **state) {
  check_copies(*state, fill_room, "rays_in_a_thin_room_meet_its_walls", ray_in_room);
}

/* Some packet has NaN in each of its places. The NaN must not remove from the hull what the other rays
 * need. */
static void invalid_rays_are_no_part_of_a_hull(void **state) {
  enum { TIMES = 8 };
  const bvh_scene which = BVH_MIXED;
  static slab_ray rays[RAYS];
  const size_t lanes = packet_rays(*state);
  scenes s = scenes_made(*state, SLAB_TREE_HIGH, fill_tree_scene, &which);
  random_state random = harness_seeded("invalid_rays_are_no_part_of_a_hull");
  for (int time = 0; time < TIMES; time++) {
    coherent_rays_fill(&random, &s.stats, RAYS, rays);
    for (size_t i = 0; i < RAYS; i++) {
      float *spoilt = random_below(&random, 2) ? rays[i].origin : rays[i].direction;
      const bool quarter =
          i % lanes / (lanes / 4 + 1) == i / lanes % 4; /* a quarter of a packet, at other places in the next packet */
      if (quarter) spoilt[random_below(&random, 3)] = NAN;
    }
    compare(&s, rays, RAYS, NULL);
  }
  release(&s);
}

/* ---- rays with many hits ---- */

enum { FLOORS = 96, TOWER_RAYS = 2 * FLOORS * 16 + 5 };

/* One triangle on each floor. */
static slab_status fill_tower(slab_scene *scene, const void *user) {
  slab_triangle floors[FLOORS];
  (void)user;
  for (int i = 0; i < FLOORS; i++) {
    const float z = (float)(i * 31 % FLOORS); /* not in the order of their heights */
    floors[i] = (slab_triangle){{-2, -2, z}, {2, -2, z}, {0, 2, z}};
  }
  return slab_scene_add_mesh(scene, &(slab_mesh){floors[0].a, 3 * sizeof(float), 3 * FLOORS, NULL, FLOORS, NULL}, NULL,
                             NULL);
}

/* Down from between two floors. Neighbours have as many hits but for one ray, which has one more or one less. So of
 * some packets a log of any size is full, and of others it lacks one place. */
static void rays_of_a_packet_may_have_more_hits_than_its_log_holds(void **state) {
  static slab_ray rays[TOWER_RAYS];
  static slab_primitive_id skip[TOWER_RAYS];
  /* Packets list hits on the processor, of triangles alone. */
  scenes s =
      scenes_made_by(harness_is_native() ? filled_alone : filled_scene, *state, SLAB_TREE_HIGH, fill_tower, NULL);
  const slab_cast_options first = {.max_hits = 5}, skipping = {.skip = skip};
  for (int i = 0; i < TOWER_RAYS; i++) {
    const int floors = i / 32 + (i % 32 == 3) - (i % 32 == 20);
    rays[i] = (slab_ray){{0.01f * (float)(i % 8), 0, (float)floors - 0.5f}, 0, {0, 0, -1}, INFINITY};
    skip[i] = (slab_primitive_id){(uint32_t)(i % FLOORS), 0};
  }
  compare(&s, rays, TOWER_RAYS, NULL);
  compare(&s, rays, TOWER_RAYS, &first);
  compare(&s, rays, TOWER_RAYS, &skipping);
  release(&s);
}

/* ---- rays in rows ---- */

/* Natively packets take such rays tile by tile. */
enum { ROW_RAYS = 9000 };

/* A picture of the scene, row by row. Some rays are others. */
static void fill_rows(random_state *random, const slab_scene_stats *stats, uint32_t row, uint32_t n, slab_ray *rays) {
  for (uint32_t i = 0; i < n; i++) {
    const float share[3] = {(float)(i % row) / (float)row, (float)(i / row) * (float)row / (float)n, 0.5f};
    rays[i] = (slab_ray){.t_max = INFINITY};
    for (int k = 0; k < 3; k++) {
      const float extent = stats->upper[k] - stats->lower[k];
      rays[i].origin[k] = stats->upper[k] + extent;
      rays[i].direction[k] = stats->lower[k] + extent * share[k] - rays[i].origin[k];
    }
    if (random_below(random, 50) == 0) rays[i] = bvh_scene_ray(random, stats);
  }
}

static void rows_of_any_length_change_nothing(void **state) {
  static const struct {
    uint32_t row, rays;
  } pictures[] = {{16, 1700}, {33, 33 * 41 + 1}, {64, 64 * 40 + 15}, {100, 100 * 40}, {250, 250 * 36 - 7}};
  static const bvh_scene which[] = {BVH_MIXED, BVH_SLIVERS};
  static slab_ray rays[ROW_RAYS];
  static slab_primitive_id skip[ROW_RAYS];
  random_state random = harness_seeded("rows_of_any_length_change_nothing");
  const slab_cast_options skipping = {.skip = skip};
  for (size_t k = 0; k < sizeof which / sizeof *which; k++) {
    scenes s = scenes_made_by(harness_is_native() ? filled_alone : filled_scene, *state, SLAB_TREE_HIGH,
                              fill_tree_scene, &which[k]);
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
      fill_rows(&random, &s.stats, pictures[i].row, pictures[i].rays, rays);
      compare(&s, rays, pictures[i].rays, NULL);
      skip_what_is_hit(&s, rays, pictures[i].rays, skip);
      compare(&s, rays, pictures[i].rays, &skipping);
    }
    release(&s);
  }
}

/* ---- instances ---- */

enum { SHARDS = 40, COPIES = 300, TOWNS = 7, CROWD = 30 };

static slab_status fill_shards(slab_scene *scene, const void *user) {
  slab_triangle shards[SHARDS];
  random_state random = random_seed(SHARDS);
  (void)user;
  for (int i = 0; i < SHARDS; i++)
    for (int k = 0; k < 9; k++) (&shards[i].a[0])[k] = random_between(&random, -1, 1) + (float)(i % 3);
  return slab_scene_add_mesh(scene, &(slab_mesh){shards[0].a, 3 * sizeof(float), 3 * SHARDS, NULL, SHARDS, NULL}, NULL,
                             NULL);
}

/* n instances at random, in a cube of this size. */
static void add_copies(slab_scene *scene, slab_scene *model, uint32_t n, float size, uint32_t group) {
  static float places[COPIES][12];
  random_state random = random_seed(n + group);
  for (uint32_t i = 0; i < n; i++) {
    nested_transform(&random, places[i]);
    for (int k = 0; k < 3; k++) places[i][4 * k + 3] = random_between(&random, 0, size);
  }
  assert_ok(slab_scene_add_instances(scene, model, places[0], n, &(slab_geometry_options){.mask = group}, NULL));
}

/* A model of what `fill` adds, and instances of it: beside the same primitives, and in a model with primitives of its
 * own. */
static slab_scene *scene_of_copies(slab_context *context, slab_tree tree, scene_filler *fill, const void *user) {
  slab_scene *model = filled_alone(context, SLAB_TREE_HIGH, fill, user), *town = harness_scene(context),
             *scene = harness_scene(context);
  add_copies(town, model, 20, 4, 0);
  assert_ok(fill(town, user));
  assert_ok(slab_scene_commit(town, NULL));
  assert_ok(fill(scene, user));
  add_copies(scene, model, COPIES, 20, 1);
  add_copies(scene, town, TOWNS, 20, 2);
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = tree}));
  slab_scene_destroy(model);
  slab_scene_destroy(town);
  return scene;
}

/* Interleaved rays enter and leave models each in its own time. */
static void traversals_equal_flat_through_instances(void **state) {
  static slab_ray rays[RAYS];
  static slab_primitive_id skip[RAYS];
  scenes s = scenes_made_by(scene_of_copies, *state, SLAB_TREE_HIGH, fill_shards, NULL);
  random_state random = harness_seeded("traversals_equal_flat_through_instances");
  const slab_cast_options some = {.mask = 1, .skip = skip, .cull = SLAB_CULL_FRONT},
                          others = {.mask = 2, .max_hits = 3};
  for (int set = 0; set < 2; set++) {
    if (set == 0) coherent_rays_fill(&random, &s.stats, RAYS, rays);
    for (size_t i = 0; i < RAYS && set > 0; i++) rays[i] = bvh_scene_ray(&random, &s.stats);
    skip_what_is_hit(&s, rays, RAYS, skip);
    compare(&s, rays, RAYS, NULL);
    compare(&s, rays, RAYS, &some);
    compare(&s, rays, RAYS, &others);
  }
  for (size_t n = 1; n < 6; n++) compare(&s, rays, n, NULL);
  release(&s);
}

static slab_status fill_tile(slab_scene *scene, const void *user) {
  const slab_triangle tile = {{-1, -1, 0}, {1, -1, 0}, {0, 1, 0}};
  (void)user;
  return slab_scene_add_mesh(scene, &(slab_mesh){tile.a, 3 * sizeof(float), 3, NULL, 1, NULL}, NULL, NULL);
}

/* From so far that t is rounded by more than gates are padded. */
static slab_ray from_afar(random_state *random, const slab_scene_stats *stats) {
  slab_ray ray = {.t_max = INFINITY};
  for (int k = 0; k < 3; k++) {
    ray.direction[k] = random_between(random, -1, 1);
    ray.origin[k] = random_between(random, stats->lower[k], stats->upper[k]) - 1e5f * ray.direction[k];
  }
  return ray;
}

/* Many a hit on a tile lies before its gate, or beside it. */
static void rays_from_afar_hit_no_instance_before_its_gate(void **state) {
  static slab_ray rays[RAYS];
  scenes s = scenes_made_by(scene_of_copies, *state, SLAB_TREE_HIGH, fill_tile, NULL);
  random_state random = harness_seeded("rays_from_afar_hit_no_instance_before_its_gate");
  for (size_t i = 0; i < RAYS; i++) rays[i] = from_afar(&random, &s.stats);
  compare(&s, rays, RAYS, NULL);
  release(&s);
}

static float height_of(size_t i) { return (float)(i * 7 % CROWD) * 0x1p-12f; }

/* Tiles so near each other that no node parts them. */
static slab_scene *scene_of_crowd(slab_context *context, slab_tree tree, scene_filler *fill, const void *user) {
  slab_scene *model = filled_alone(context, SLAB_TREE_HIGH, fill, user), *scene = harness_scene(context);
  float places[CROWD][12] = {{0}};
  for (size_t i = 0; i < CROWD; i++) {
    for (int k = 0; k < 3; k++) places[i][5 * k] = 1;
    places[i][11] = height_of(i);
  }
  assert_ok(slab_scene_add_instances(scene, model, places[0], CROWD, NULL, NULL));
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = tree}));
  slab_scene_destroy(model);
  return scene;
}

/* Each ray is so short that it hits one tile alone, wherever that is in the blocks of a leaf. */
static void all_instances_of_a_leaf_are_visited(void **state) {
  slab_ray rays[CROWD * 16];
  answers a = {0};
  scenes s = scenes_made_by(scene_of_crowd, *state, SLAB_TREE_HIGH, fill_tile, NULL);
  for (size_t i = 0; i < CROWD * 16; i++) {
    const float z = height_of(i), x = (float)(i % 5) * 0x1p-6f;
    rays[i] = (slab_ray){{x, 0, z + 1}, 1 - 0x1p-14f, {0, 0, -1}, 1 + 0x1p-14f};
  }
  compare(&s, rays, CROWD * 16, NULL);
  for (int k = 1; k < TRAVERSALS; k++) {
    assert_ok(answers_cast(&a, SLAB_CLOSEST, s.of[k], rays, CROWD * 16, NULL));
    for (size_t i = 0; i < CROWD * 16; i++) assert_int_equal(a.closest[i].geometry, i % CROWD);
  }
  answers_free(&a);
  release(&s);
}

/* ---- ends ---- */

/* Lanes beyond the last ray write no results. The rays that fill those lanes are not counted as invalid. */
static void nothing_is_written_beyond_the_last_ray(void **state) {
  enum { MOST = 40, GUARD = 16 };
  const bvh_scene which = BVH_MIXED;
  scenes s = scenes_made(*state, SLAB_TREE_HIGH, fill_tree_scene, &which);
  random_state random = harness_seeded("nothing_is_written_beyond_the_last_ray");
  static slab_ray rays[MOST];
  uint64_t invalid[2];
  const slab_cast_options once = {.invalid = &invalid[0]}, again = {.invalid = &invalid[1]};
  static unsigned char flat[(MOST + GUARD) * sizeof(slab_hit)], tree[sizeof flat];
  coherent_rays_fill(&random, &s.stats, MOST, rays);
  for (size_t i = 2; i < MOST; i += 3) rays[i].t_min = NAN;
  for (size_t n = 1; n < MOST; n++)
    for (int q = 0; q < SINGLE_RESULTS; q++)
      for (int k = 1; k < TRAVERSALS; k++) {
        const size_t size = slab_result_size(queries[q]);
        memset(flat, 0xA5, sizeof flat);
        memset(tree, 0xA5, sizeof tree);
        assert_ok(cast_query(s.of[0], queries[q], rays, n, flat, &once));
        assert_ok(cast_query(s.of[k], queries[q], rays, n, tree, &again));
        assert_same_bits(tree, flat, n + GUARD, size);
        assert_true(invalid[0] == invalid[1] && invalid[0] >= n / 3);
      }
  release(&s);
}

static void scene_of_nothing_is_missed_by_every_tactic(void **state) {
  const contexts *c = *state;
  static slab_ray rays[RAYS];
  static slab_hit hits[RAYS];
  const slab_build_options options = {.tree = SLAB_TREE_FAST};
  const slab_scene_stats bounds = {.upper = {1, 1, 1}};
  random_state random = harness_seeded("scene_of_nothing_is_missed_by_every_tactic");
  coherent_rays_fill(&random, &bounds, RAYS, rays);
  for (int k = 1; k < TRAVERSALS; k++) {
    slab_scene *scene;
    assert_ok(slab_scene_create(c->of[k], &scene));
    assert_ok(slab_scene_commit(scene, &options));
    assert_ok(slab_closest(scene, rays, RAYS, hits, NULL));
    for (size_t i = 0; i < RAYS; i++) {
      const uint32_t why = ray_scale(&rays[i]).state == RAY_INVALID ? SLAB_INVALID : SLAB_MISS;
      const slab_hit want = {INFINITY, {0, 0, 0}, 0, 0, why, why};
      assert_same_bits(&hits[i], &want, 1, sizeof want);
    }
    slab_scene_destroy(scene);
  }
}

/* ---- trials ---- */

/* Rays: all launches except the first and the last are larger than TRIAL_MOST, unless they are trials; those with
 * samples are not larger than MIXED_MOST. */
enum { TRIAL_MOST = 16384, MIXED_MOST = 262144 };

typedef struct steps {
  uint64_t done, most;
  uint32_t trials;
} steps;

static int note_step(void *user, uint64_t done, uint64_t total) {
  steps *s = user;
  (void)total;
  s->trials += done - s->done <= TRIAL_MOST;
  if (done - s->done > s->most) s->most = done - s->done;
  s->done = done;
  return 0;
}

/* Neighbours begin near each other and have similar directions. Which traversal is best for them is found by trials.
 * A few rays are odd. */
static void fill_alike(random_state *random, const slab_scene_stats *stats, size_t n, slab_ray *rays) {
  for (size_t i = 0; i < n; i++) {
    const float along = (float)i / (float)n, across = (float)(i % 1000) / 1000.0f;
    const float share[3] = {along, across, random_between(random, 0, 0.01f)};
    slab_ray ray = {.t_max = INFINITY};
    for (int k = 0; k < 3; k++) {
      const float extent = stats->upper[k] - stats->lower[k];
      ray.origin[k] = stats->lower[k] + extent * share[k];
      ray.direction[k] = stats->upper[k] + 0.1f * extent - ray.origin[k];
    }
    rays[i] = random_below(random, 50) ? ray : bvh_scene_ray(random, stats);
  }
}

/* Kernels that are to be tried are compiled only after casts without them have taken as long as compiling. So tests
 * of trials repeat the cast until they have seen some. */
enum { CASTS_MOST = 2000 };

/* Enough rays that packets and single rays are tried on some of them, and one of the two is chosen. */
static void trials_change_nothing(void **state) {
  const contexts *c = *state;
  const bvh_scene which = BVH_MIXED;
  if (c->device.lane_width == 1) skip(); /* no choice, so no trials */
  scenes s = scenes_made(c, SLAB_TREE_HIGH, fill_tree_scene, &which);
  slab_scene *measured = filled_scene(c->of[SLAB_TRAVERSAL_AUTO], SLAB_TREE_HIGH, fill_tree_scene, &which);
  slab_ray *rays = malloc(MANY * sizeof *rays);
  assert_non_null(rays);
  random_state random = harness_seeded("trials_change_nothing");
  fill_alike(&random, &s.stats, MANY, rays);
  answers flat = {0}, tree = {0};
  for (int q = 0; q < SINGLE_RESULTS; q++) {
    size_t first = 0;
    steps seen = {0};
    const slab_cast_options watched = {.progress = note_step, .user = &seen};
    assert_ok(answers_cast(&flat, queries[q], s.of[0], rays, MANY, NULL));
    /* SLAB_INTERVAL has no packets; the processor takes samples instead, by which the third cast may go another way */
    const uint32_t trials = queries[q] == SLAB_INTERVAL || harness_is_native() ? 0 : 2;
    for (int k = 0; k < 3 || (k < CASTS_MOST && seen.trials < trials); k++) {
      seen = (steps){0};
      assert_ok(answers_cast(&tree, queries[q], measured, rays, MANY, &watched));
      assert_int_equal(answers_differ(&tree, &flat, queries[q], &first), 0);
      assert_true(tree.invalid[queries[q]] == flat.invalid[queries[q]]);
      assert_int_equal(seen.done, MANY);
    }
    assert_true(seen.trials >= trials);
  }
  answers_free(&flat);
  answers_free(&tree);
  free(rays);
  slab_scene_destroy(measured);
  release(&s);
}

/* Enough rays that the interleaved traversal is tried. */
static void check_million(const contexts *c, const char *name, uint32_t trials,
                          void fill(random_state *, const slab_scene_stats *, size_t, slab_ray *)) {
  enum { MILLION = 1100003 };
  if (c->device.lane_width == 1) skip(); /* no choice, so no trials */
  const bvh_scene which = BVH_MIXED;
  static const slab_traversal traversal_of[2] = {SLAB_TRAVERSAL_AUTO, SLAB_TRAVERSAL_SINGLE};
  slab_scene *scenes_of[2];
  slab_scene_stats stats;
  random_state random = harness_seeded(name);
  slab_ray *rays = harness_space(MILLION * sizeof *rays);
  uint8_t *occluded[2];
  steps seen = {0};
  for (int k = 0; k < 2; k++) {
    occluded[k] = harness_space(MILLION);
    memset(occluded[k], 0xEE, MILLION);
    scenes_of[k] = filled_scene(c->of[traversal_of[k]], SLAB_TREE_HIGH, fill_tree_scene, &which);
  }
  assert_ok(slab_scene_info(scenes_of[0], &stats));
  fill(&random, &stats, MILLION, rays);
  const slab_cast_options watched = {.progress = note_step, .user = &seen};
  assert_ok(slab_any(scenes_of[1], rays, MILLION, occluded[1], NULL));
  for (int k = 0; k == 0 || (k < CASTS_MOST && seen.trials < trials); k++) {
    seen = (steps){0};
    assert_ok(slab_any(scenes_of[0], rays, MILLION, occluded[0], &watched));
    assert_memory_equal(occluded[0], occluded[1], MILLION);
    assert_int_equal(seen.done, MILLION);
  }
  assert_true(seen.trials >= trials);
  if (trials == 0) assert_true(seen.most <= MIXED_MOST);
  for (int k = 0; k < 2; k++) {
    slab_scene_destroy(scenes_of[k]);
    free(occluded[k]);
  }
  free(rays);
}

static void turns_are_tried_and_change_nothing(void **state) {
  check_million(*state, "turns_are_tried_and_change_nothing", harness_is_native() ? 0 : 2, fill_alike);
}

static void fill_scattered(random_state *random, const slab_scene_stats *stats, size_t n, slab_ray *rays) {
  for (size_t i = 0; i < n; i++) rays[i] = bvh_scene_ray(random, stats);
}

/* One trial decides whether they are sorted. */
static void scattered_rays_are_tried_and_change_nothing(void **state) {
  check_million(*state, "scattered_rays_are_tried_and_change_nothing", 1, fill_scattered);
}

/* ---- fixtures ---- */

/* Rays are sorted per launch, and there are several launches. Arrays are copied, and the sorted order with them. */
static int setup(void **state) {
  static contexts c;
  for (int k = 0; k < TRAVERSALS; k++) {
    const slab_context_options options = {.lane_width = harness_width(),
                                          .traversal = (slab_traversal)k,
                                          .launch_rays = k == SLAB_TRAVERSAL_SORTED ? RAYS / 2 : 0,
                                          .copy = k == SLAB_TRAVERSAL_SORTED};
    assert_ok(slab_context_create(&options, &c.of[k]));
  }
  assert_ok(slab_context_device(c.of[SLAB_TRAVERSAL_AUTO], &c.device));
  *state = &c;
  return 0;
}

static int teardown(void **state) {
  const contexts *c = *state;
  for (int k = 0; k < TRAVERSALS; k++) slab_context_destroy(c->of[k]);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(traversals_equal_flat_on_mixed),
      cmocka_unit_test(traversals_equal_flat_on_touching),
      cmocka_unit_test(traversals_equal_flat_on_flatland),
      cmocka_unit_test(traversals_equal_flat_on_far),
      cmocka_unit_test(traversals_equal_flat_on_scales),
      cmocka_unit_test(traversals_equal_flat_on_slivers),
      cmocka_unit_test(tied_subnormal_t_goes_to_the_lower_id),
      cmocka_unit_test(rays_through_corners_meet_their_nodes),
      cmocka_unit_test(rays_in_a_thin_room_meet_its_walls),
      cmocka_unit_test(invalid_rays_are_no_part_of_a_hull),
      cmocka_unit_test(rays_of_a_packet_may_have_more_hits_than_its_log_holds),
      cmocka_unit_test(rows_of_any_length_change_nothing),
      cmocka_unit_test(traversals_equal_flat_through_instances),
      cmocka_unit_test(rays_from_afar_hit_no_instance_before_its_gate),
      cmocka_unit_test(all_instances_of_a_leaf_are_visited),
      cmocka_unit_test(nothing_is_written_beyond_the_last_ray),
      cmocka_unit_test(scene_of_nothing_is_missed_by_every_tactic),
      cmocka_unit_test(trials_change_nothing),
      cmocka_unit_test(turns_are_tried_and_change_nothing),
      cmocka_unit_test(scattered_rays_are_tried_and_change_nothing),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
