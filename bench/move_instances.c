/* A mesh that stands in a scene many times, beside Embree's instances. Every instance turns and moves in each frame.
 *
 * Ours are slab_scene_add_instances, slab_scene_update_instances and slab_scene_commit; Embree has a geometry for each
 * instance. Both have a model that was committed before. BVHs are built by default, where commits alone are measured
 * ours by FAST. All sides get the same transforms in turn, in another order each round. A frame of the LiDAR is new
 * transforms, a commit, and 64 beams at 1,024 angles, a third of a turn, from beside the scene. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef BENCH_EMBREE
#include "embree.h"
#endif
#include "move.h"
#include "sets/random.h"
#include "sets/trace_rays.h"
#include "trace_scene.h"

enum { OURS, EMBREE, EMBREE_PACKETS, SIDES };
static const char *const side_names[SIDES] = {"ours", "Embree", "Embree packets"};
#ifdef BENCH_EMBREE
enum { SIDES_HERE = SIDES };
#else
enum { SIDES_HERE = EMBREE };
#endif
enum { BEAMS = 64, ANGLES = 1024, RAYS = MOVE_RAY_SIDE * MOVE_RAY_SIDE };
_Static_assert(BEAMS *ANGLES <= RAYS, "the LiDAR's rays have space");
#define SPACING 0.7  /* of places, in sizes of the model: bounds overlap */
#define DIFFER 1e-4f /* of t that count as the same, relatively, or in sizes of the model */

typedef struct repeated {
  const move_bench *bench;
  const char *name;
  scene_geometry mesh;
  uint32_t n;
  float size; /* of the mesh */
  float *transforms;
  slab_scene *model, *still, *moving;
  slab_ray *rays;
  size_t count;     /* of rays */
  slab_query query; /* closest or any */
  void *hits[SIDES];
#ifdef BENCH_EMBREE
  embree *embree[2]; /* still, moving */
#endif
} repeated;

/* ---- transforms ---- */

/* Turned about an axis, scaled and placed in a cube of places, all at random but for `frame`, by which it turns and
 * swings. */
static void place(const repeated *r, uint32_t i, int frame, float m[12]) {
  random_state random = random_seed(MOVE_SEED + i);
  const uint32_t side = (uint32_t)ceil(cbrt(r->n)), at[3] = {i % side, i / side % side, i / side / side};
  const float angle = random_between(&random, 0, 6.28f) + 0.1f * (float)frame, scale = random_between(&random, 0.6f, 1);
  float q[4] = {cosf(0.5f * angle)}, length = 0; /* a quaternion */
  for (int k = 1; k < 4; k++) {
    q[k] = random_between(&random, -1, 1);
    length += q[k] * q[k];
  }
  for (int k = 1; k < 4; k++) q[k] *= sinf(0.5f * angle) / sqrtf(length);
  const float w = q[0], x = q[1], y = q[2], z = q[3];
  const float turn[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                         2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                         2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  for (int k = 0; k < 3; k++) {
    for (int j = 0; j < 3; j++) m[4 * k + j] = scale * turn[3 * k + j];
    m[4 * k + 3] = (float)SPACING * r->size * ((float)at[k] + 0.2f * sinf(angle + (float)k));
  }
}

static void place_all(repeated *r, int frame) {
  for (uint32_t i = 0; i < r->n; i++) place(r, i, frame, r->transforms + 12 * (size_t)i);
}

/* ---- the measurements ---- */

static bool place_ours(repeated *r, slab_tree tree, slab_scene **scene) {
  if (slab_scene_create(r->bench->context, scene) == SLAB_OK &&
      slab_scene_add_instances(*scene, r->model, r->transforms, r->n, NULL, NULL) == SLAB_OK &&
      slab_scene_commit(*scene, &(slab_build_options){.tree = tree}) == SLAB_OK)
    return true;
  return move_failed("instances");
}

static bool move(repeated *r, int side, slab_tree tree) {
  if (side == OURS && (slab_scene_update_instances(r->moving, 0, r->transforms, r->n) != SLAB_OK ||
                       slab_scene_commit(r->moving, &(slab_build_options){.tree = tree}) != SLAB_OK))
    return move_failed("new transforms");
#ifdef BENCH_EMBREE
  if (side != OURS) embree_move(r->embree[1], r->transforms);
#endif
  return true;
}

static bool cast(repeated *r, int side, bool moving) {
  if (side == OURS) {
    slab_scene *scene = moving ? r->moving : r->still;
    const slab_status status = r->query == SLAB_ANY ? slab_any(scene, r->rays, r->count, r->hits[side], NULL)
                                                    : slab_closest(scene, r->rays, r->count, r->hits[side], NULL);
    return status == SLAB_OK || move_failed("a cast");
  }
#ifdef BENCH_EMBREE
  return embree_cast(r->embree[moving], side == EMBREE ? EMBREE_SINGLE : EMBREE_PACKET, r->query, r->rays, r->count,
                     r->hits[side]);
#else
  return false;
#endif
}

static bool first_commit(repeated *r, int side) {
  if (side == OURS) return place_ours(r, SLAB_TREE_DEFAULT, &r->still);
#ifdef BENCH_EMBREE
  return embree_place(r->embree[0], r->transforms, r->n);
#else
  return false;
#endif
}

static void undo_first_commit(repeated *r, int side) {
  if (side == OURS) {
    slab_scene_destroy(r->still);
    r->still = NULL;
  }
#ifdef BENCH_EMBREE
  if (side == EMBREE) embree_clear(r->embree[0]);
#endif
}

static bool update_and_commit(repeated *r, int side) { return move(r, side, SLAB_TREE_FAST); }

static bool cast_still(repeated *r, int side) { return cast(r, side, false); }

static bool lidar_frame(repeated *r, int side) { return move(r, side, SLAB_TREE_DEFAULT) && cast(r, side, true); }

typedef struct work {
  const char *what, *unit;
  bool (*run)(repeated *, int side);
  void (*undo)(repeated *, int side); /* before the next round; NULL: nothing */
  int sides;
  bool moves; /* the transforms are new in each round */
} work;

/* units: the number of units in a round. */
static bool measure(repeated *r, const work *w, double units) {
  const int on = r->bench->options.processor_time, rounds = r->bench->options.rounds;
  const int sides = w->sides < SIDES_HERE ? w->sides : SIDES_HERE;
  timing times[SIDES] = {{.rounds = 0}};
  for (int round = -2; round < rounds; round++) {
    if (w->moves) place_all(r, round);
    for (int k = 0; k < sides; k++) {
      const int side = (k * (round % 2 == 0 ? 1 : sides - 1) + round + 2 * sides) % sides;
      if (w->undo != NULL && round > -2) w->undo(r, side);
      const double begin = timing_now(on);
      if (!w->run(r, side)) return false;
      if (round >= 0) times[side].seconds[times[side].rounds++] = timing_now(on) - begin;
    }
  }
  for (int side = 0; side < sides; side++)
    move_print(r->bench, &(move_row){r->name, r->mesh.count, w->what, side_names[side], &times[side], &times[OURS],
                                     units, w->unit});
  return true;
}

/* ---- hits ---- */

#ifdef BENCH_EMBREE
static bool is_same(const repeated *r, float t, float u) {
  return t == u || fabsf(t - u) <= DIFFER * fmaxf(r->size, fmaxf(t, u));
}
#endif

/* Embree rounds differently, and its triangles are not watertight: rays whose t differs are counted. */
static void compare_hits(const repeated *r) {
  const slab_hit *ours = r->hits[OURS];
  size_t hits = 0;
  for (size_t i = 0; i < r->count; i++) hits += ours[i].primitive != SLAB_MISS;
  printf("  %zu of %zu rays hit", hits, r->count);
#ifdef BENCH_EMBREE
  const slab_hit *theirs = r->hits[EMBREE];
  size_t others = 0, far = 0;
  for (size_t i = 0; i < r->count; i++) {
    far += !is_same(r, ours[i].t, theirs[i].t);
    others += ours[i].geometry != theirs[i].geometry;
  }
  printf("; by Embree t is another for %zu, the instance for %zu", far, others);
#endif
  printf("\n");
}

static void compare_any(const repeated *r) {
  const uint8_t *ours = r->hits[OURS];
  size_t hits = 0;
  for (size_t i = 0; i < r->count; i++) hits += ours[i];
  printf("  %zu of %zu rays hit", hits, r->count);
#ifdef BENCH_EMBREE
  const uint8_t *theirs = r->hits[EMBREE];
  size_t others = 0;
  for (size_t i = 0; i < r->count; i++) others += ours[i] != theirs[i];
  printf("; by Embree %zu others", others);
#endif
  printf("\n");
}

static bool run_query(repeated *r, trace_set set, slab_query query) {
  char what[32];
  snprintf(what, sizeof what, "%s rays%s", trace_set_names[set], query == SLAB_ANY ? ", any" : "");
  const work casts = {.what = what, .unit = "rays", .run = cast_still, .sides = SIDES};
  r->query = query;
  if (!measure(r, &casts, (double)r->count)) return false;
  (query == SLAB_ANY ? compare_any : compare_hits)(r);
  return true;
}

static bool run_rays(repeated *r, trace_set set) {
  if (trace_rays_fill(r->still, set, MOVE_SEED, MOVE_RAY_SIDE, r->rays, r->hits[OURS], &r->count) != SLAB_OK)
    return move_failed("rays");
  return (set == TRACE_SHADOW || run_query(r, set, SLAB_CLOSEST)) && run_query(r, set, SLAB_ANY);
}

static bool run_lidar(repeated *r) {
  slab_scene_stats stats;
  if (slab_scene_info(r->moving, &stats) != SLAB_OK) return move_failed("bounds");
  r->count = (size_t)BEAMS * ANGLES;
  for (size_t i = 0; i < r->count; i++) {
    const double up = 0.7 * ((double)(i % BEAMS) / BEAMS - 0.5), aside = 2.1 * ((double)(i / BEAMS) / ANGLES - 0.5);
    r->rays[i] = (slab_ray){.direction = {(float)(cos(aside) * cos(up)), (float)(sin(aside) * cos(up)), (float)sin(up)},
                            .t_max = INFINITY};
    for (int k = 0; k < 3; k++) r->rays[i].origin[k] = 0.5f * (stats.lower[k] + stats.upper[k]);
    r->rays[i].origin[0] = stats.lower[0] - r->size;
  }
  r->query = SLAB_CLOSEST;
  const work frames = {.what = "LiDAR frame", .unit = "frames", .run = lidar_frame, .sides = SIDES, .moves = true};
  if (!measure(r, &frames, 1)) return false;
  compare_hits(r);
  return true;
}

/* ---- a scene ---- */

static uint64_t bytes_of(slab_scene *scene) {
  slab_scene_stats stats;
  return slab_scene_info(scene, &stats) == SLAB_OK ? stats.host_bytes + stats.device_bytes : 0;
}

/* Of an instance, beyond its model; and of a copy, which would be as large as the model. */
static bool tell_bytes(repeated *r) {
  slab_scene *one = NULL;
  const uint32_t n = r->n;
  r->n = 1;
  const bool done = place_ours(r, SLAB_TREE_DEFAULT, &one);
  r->n = n;
  if (done && n > 1) {
    const double instance = (double)(bytes_of(r->still) - bytes_of(one)) / (n - 1), copy = (double)bytes_of(r->model);
    printf("  %-18s %.0f bytes; a copy of the model takes %.0f, %.0f times as much\n", "an instance", instance, copy,
           copy / instance);
  }
  slab_scene_destroy(one);
  return done;
}

static bool open_sides(repeated *r) {
  const slab_mesh mesh = {.vertices = r->mesh.vertices,
                          .vertex_count = r->mesh.vertex_count,
                          .indices = r->mesh.indices,
                          .triangle_count = r->mesh.count};
  slab_scene_stats stats;
  if (slab_scene_create(r->bench->context, &r->model) != SLAB_OK ||
      slab_scene_add_mesh(r->model, &mesh, NULL, NULL) != SLAB_OK || slab_scene_commit(r->model, NULL) != SLAB_OK ||
      slab_scene_info(r->model, &stats) != SLAB_OK)
    return move_failed("model");
  for (int k = 0; k < 3; k++) r->size = fmaxf(r->size, stats.upper[k] - stats.lower[k]);
  place_all(r, 0);
#ifdef BENCH_EMBREE
  for (int i = 0; i < 2; i++)
    if ((r->embree[i] = embree_open_model(&r->mesh, (uint32_t)r->bench->options.threads)) == NULL) return false;
  if (!embree_place(r->embree[1], r->transforms, r->n)) return false;
#endif
  return place_ours(r, SLAB_TREE_DEFAULT, &r->moving);
}

static void close_sides(repeated *r) {
  slab_scene_destroy(r->still);
  slab_scene_destroy(r->moving);
  slab_scene_destroy(r->model);
#ifdef BENCH_EMBREE
  for (int i = 0; i < 2; i++) embree_close(r->embree[i]);
#endif
}

static bool allocate(repeated *r) {
  bool done = true;
  r->transforms = malloc(12 * sizeof(float) * r->n);
  r->rays = malloc(RAYS * sizeof *r->rays);
  for (int side = 0; side < SIDES; side++) done = (r->hits[side] = calloc(RAYS, sizeof(slab_hit))) != NULL && done;
  return (done && r->transforms != NULL && r->rays != NULL) || move_out_of_memory();
}

const char *move_model(const char *scene, uint32_t *n) {
  char *end = NULL;
  const unsigned long count = strtoul(scene, &end, 10);
  *n = (uint32_t)count;
  return *end == '*' && count > 0 && count <= 100000000 ? end + 1 : NULL;
}

bool move_instances(const move_bench *bench, const char *scene) {
  repeated r = {.bench = bench, .name = scene};
  static const work commits = {"first commit", "inst", first_commit, undo_first_commit, EMBREE + 1, false},
                    updates = {"update and commit", "inst", update_and_commit, NULL, EMBREE + 1, true};
  const char *model = move_model(scene, &r.n);
  if (!trace_scene_read(model, MOVE_SEED, &r.mesh)) return false;
  bool done = r.mesh.kind == SLAB_TRIANGLE && r.mesh.count > 0;
  if (!done) fprintf(stderr, "bench_move: %s has no triangles\n", model);
  done = done && allocate(&r) && open_sides(&r);
  if (done) printf("%s, %u instances of %u triangles\n", scene, r.n, r.mesh.count);
  done = done && measure(&r, &commits, r.n) && measure(&r, &updates, r.n) && tell_bytes(&r);
  done =
      done && run_rays(&r, TRACE_PRIMARY) && run_rays(&r, TRACE_SHADOW) && run_rays(&r, TRACE_RANDOM) && run_lidar(&r);
  close_sides(&r);
  for (int side = 0; side < SIDES; side++) free(r.hits[side]);
  free(r.rays);
  free(r.transforms);
  scene_geometry_free(&r.mesh);
  return done;
}
