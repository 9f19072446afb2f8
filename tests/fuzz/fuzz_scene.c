/* Sequences of calls of the scene API. The bytes select calls and arguments, in any order, valid or not. Each call must
 * return the status that its place in the sequence requires. Each result must equal the CPU reference's and must not be
 * wrong by the oracle. It must also equal that of a scene that was made anew from the state of the last commit. The
 * origins of rays that were cast are then points for queries of the closest.
 *
 * FUZZ_MESHES: the sequences of another target, of meshes in compressed BVHs, of which most updates come from buffers
 * of the scene's OpenCL context. So the device refits. They do not use the oracle, which knows nothing of that. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "fuzz_bytes.h"
#include "sets/answers.h"
#include "sets/shapes.h"
#ifdef FUZZ_MESHES
#include "slabcast_cl.h"
enum { MESHES_ALONE = 1 };
#else
enum { MESHES_ALONE = 0 };
#endif

enum {
  PRIMITIVES_MAX = 5,
  RAYS_MAX = FUZZ_OWN_RAYS,
  CALLS_MAX = 24,
  HITS_MAX = RAYS_MAX * CALLS_MAX * PRIMITIVES_MAX,
  GUARD = 64
};

/* The primitives of a call, as the caller has them. */
typedef struct given {
  slab_shape kind;
  uint32_t n;
  union {
    slab_obb obbs[PRIMITIVES_MAX];
    float values[PRIMITIVES_MAX * SHAPE_FLOATS_MOST];
  } shapes;
  float vertices[3 * 4 * 4];
  uint32_t indices[3 * PRIMITIVES_MAX], vertex_count;
  size_t stride;
  int soup;
} given;

/* A geometry that was added. */
typedef struct known {
  given given;
  uint32_t mask;
  int skip_invalid, enabled, removed;
} known;

typedef struct player {
  fuzz_bytes bytes;
  slab_context *context;
  slab_scene *scene;
  int committed;
  uint32_t geometries, seen_geometries;
  known now[CALLS_MAX], seen[CALLS_MAX]; /* as they are, and as the last commit saw them */
  long done;                             /* calls that returned SLAB_OK */
} player;

/* ---- arguments ---- */

/* Axes that a scene accepts: a rotation about z by a Pythagorean angle, and a permutation of axes. */
static void sound_axes(player *p, float axes[3][3]) {
  const uint32_t turn = fuzz_byte(&p->bytes) % 3;
  const float c = turn == 0 ? 1.0f : turn == 1 ? 0.6f : 0.0f, s = turn == 0 ? 0.0f : turn == 1 ? 0.8f : 1.0f;
  const float rows[3][3] = {{c, s, 0}, {-s, c, 0}, {0, 0, 1}};
  memcpy(axes, rows, sizeof rows);
}

/* ---- calls ---- */

static slab_status said(player *p, slab_status status) { return fuzz_said(&p->done, status); }

static void renew(player *p) {
  slab_scene_destroy(p->scene);
  p->scene = NULL;
  p->committed = 0;
  p->geometries = p->seen_geometries = 0;
  claim(said(p, slab_scene_create(p->context, &p->scene)) == SLAB_OK);
}

static void read_mesh(player *p, given *g) {
  const uint32_t shape = fuzz_byte(&p->bytes);
  g->stride = shape % 2 ? 16 : shape % 16 == 2 ? 4 : 0;
  g->vertex_count = 1 + shape / 16 % 8;
  g->n = fuzz_byte(&p->bytes) % (PRIMITIVES_MAX + 1);
  fuzz_numbers(&p->bytes, g->vertices, g->vertex_count * (g->stride == 16 ? 4 : 3));
  for (uint32_t i = 0; i < 3 * g->n; i++) g->indices[i] = fuzz_byte(&p->bytes) % 9;
  g->soup = shape % 8 == 4;
}

static void read_given(player *p, slab_shape kind, given *g) {
  memset(g, 0, sizeof *g);
  g->kind = kind;
  if (kind == SLAB_TRIANGLE) {
    read_mesh(p, g);
    return;
  }
  g->n = fuzz_byte(&p->bytes) % (PRIMITIVES_MAX + 1);
  fuzz_numbers(&p->bytes, g->shapes.values, g->n * shape_floats(kind));
  for (uint32_t i = 0; kind == SLAB_OBB && i < g->n; i++) sound_axes(p, g->shapes.obbs[i].axes);
}

static slab_mesh mesh_of(const given *g) {
  return (slab_mesh){g->vertices, g->stride, g->vertex_count, g->soup ? NULL : g->indices, g->n, NULL};
}

static slab_status add_given(slab_scene *scene, const given *g, const slab_geometry_options *options, uint32_t *id) {
  const slab_mesh mesh = mesh_of(g);
  if (g->kind == SLAB_TRIANGLE) return slab_scene_add_mesh(scene, &mesh, options, id);
  return shape_add_array(scene, g->kind, g->shapes.values, g->n, options, id);
}

static void add(player *p, slab_shape kind) {
  const uint32_t choice = fuzz_byte(&p->bytes);
  uint32_t geometry = 12345, skipped = 12345;
  const slab_geometry_options options = {.mask = choice / 4 % 4, .skip_invalid = choice % 2, .skipped = &skipped};
  known *k = &p->now[p->geometries];
  read_given(p, kind, &k->given);
  k->mask = choice % 4 == 2 ? 0 : options.mask;
  k->skip_invalid = choice % 4 == 2 ? 0 : options.skip_invalid;
  k->enabled = 1;
  k->removed = 0;
  const slab_status status = said(p, add_given(p->scene, &k->given, choice % 4 == 2 ? NULL : &options, &geometry));
  if (status == SLAB_OK) {
    claim(geometry == p->geometries);
    p->geometries++;
  } else {
    claim(status == SLAB_INVALID_ARGUMENT);
    claim(geometry == 12345 && skipped == 12345);
    claim(kind == SLAB_TRIANGLE || choice % 2 == 0);
  }
}

/* A mesh without indices, after an update: its vertices may be those of the indices that the geometry has. */
static void keep_indices(given *to, const given *from) {
  if (from->kind != SLAB_TRIANGLE || !to->soup || from->soup) return;
  memcpy(to->indices, from->indices, sizeof to->indices);
  to->soup = 0;
}

#ifdef FUZZ_MESHES
/* The buffer has what the mesh needs behind `before` bytes, or four bytes less. It is released, with no other
 * reference, after the call. */
static slab_status update_from_buffer(player *p, uint32_t id, const slab_mesh *mesh, cl_context cl) {
  const uint32_t choice = fuzz_byte(&p->bytes);
  const size_t stride = mesh->vertex_stride == 0 ? 12 : mesh->vertex_stride, before = choice % 4 * 4,
               needed = (mesh->vertex_count - (size_t)1) * stride + 12;
  const int lacks = choice / 4 % 8 == 7, wild = choice / 32 == 7, indexed = mesh->indices != NULL;
  char space[64 + sizeof((given *)0)->vertices];
  memset(space, 0xA5, sizeof space);
  memcpy(space + before, mesh->vertices, needed);
  cl_mem vertices = clCreateBuffer(cl, CL_MEM_COPY_HOST_PTR, before + needed - 4 * (size_t)lacks, space, NULL);
  cl_mem indices = !indexed ? NULL
                            : clCreateBuffer(cl, CL_MEM_COPY_HOST_PTR, (3 * PRIMITIVES_MAX) * sizeof(uint32_t),
                                             (void *)(uintptr_t)mesh->indices, NULL);
  claim(vertices != NULL && (indices != NULL) == indexed);
  const slab_mesh_spans spans = {{vertices, before},
                                 wild ? SIZE_MAX / (choice % 8 + 1) : mesh->vertex_stride,
                                 mesh->vertex_count,
                                 {indices, 0},
                                 mesh->triangle_count};
  const slab_status status = slab_scene_update_mesh_cl(p->scene, id, &spans, 0, NULL);
  claim(status != SLAB_OK || (!lacks && (!wild || mesh->vertex_count == 1)));
  claim(clReleaseMemObject(vertices) == CL_SUCCESS);
  claim(indices == NULL || clReleaseMemObject(indices) == CL_SUCCESS);
  return status;
}
#endif

static slab_status update_mesh(player *p, uint32_t id, const slab_mesh *mesh) {
#ifdef FUZZ_MESHES
  cl_context cl = NULL;
  if (fuzz_byte(&p->bytes) % 4 != 0 && slab_context_objects(p->context, &cl, NULL) == SLAB_OK)
    return update_from_buffer(p, id, mesh, cl);
#endif
  return slab_scene_update_mesh(p->scene, id, mesh);
}

static void update(player *p) {
  const uint32_t id = fuzz_byte(&p->bytes) % (p->geometries + 2), kind = fuzz_byte(&p->bytes);
  given g;
  known *k = id < p->geometries ? &p->now[id] : NULL;
  if (MESHES_ALONE && k != NULL && kind % 8 != 0) { /* other vertices for the same triangles */
    g = k->given;
    fuzz_numbers(&p->bytes, g.vertices, g.vertex_count * (g.stride == 16 ? 4 : 3));
    g.soup = 1;
  } else
    read_given(p, k != NULL && (MESHES_ALONE || kind % 8 != 0) ? k->given.kind : (slab_shape)(kind / 8 % SHAPE_KINDS),
               &g);
  const int fits = k != NULL && !k->removed && g.kind == k->given.kind && g.n == k->given.n;
  const slab_mesh mesh = mesh_of(&g);
  const slab_status status =
      said(p, g.kind == SLAB_TRIANGLE ? update_mesh(p, id, &mesh)
                                      : shape_update_array(p->scene, id, g.kind, g.shapes.values, g.n));
  claim(status == SLAB_OK || status == SLAB_INVALID_ARGUMENT);
  claim(status != SLAB_OK || fits);
  claim(status == SLAB_OK || !fits || !k->skip_invalid || g.kind == SLAB_TRIANGLE);
  if (status != SLAB_OK) return;
  keep_indices(&g, &k->given);
  k->given = g;
}

/* So many primitives, or vertices, a range of a geometry may reach. */
static uint32_t range_end(const given *g) {
  if (g->kind != SLAB_TRIANGLE) return g->n;
  return g->n == 0 ? 0 : g->soup ? 3 * g->n : g->vertex_count;
}

static void put_range(given *to, uint32_t first, const given *from, uint32_t n) {
  const size_t floats = to->kind == SLAB_TRIANGLE ? 3 : shape_floats(to->kind), own = to->stride == 16 ? 4 : floats;
  float *values = to->kind == SLAB_TRIANGLE ? to->vertices : to->shapes.values;
  for (size_t i = 0; i < n; i++)
    memcpy(values + (first + i) * own, from->shapes.values + i * floats, floats * sizeof *values);
}

/* Updates a range of a geometry, in or out of its bounds. A vertex is never dropped. */
static void update_some(player *p) {
  const uint32_t id = fuzz_byte(&p->bytes) % (p->geometries + 1), first = fuzz_byte(&p->bytes) % (PRIMITIVES_MAX + 1);
  known *k = id < p->geometries ? &p->now[id] : NULL;
  const slab_shape kind = k != NULL ? k->given.kind : SLAB_BOX;
  const uint32_t n = fuzz_byte(&p->bytes) % 4, floats = kind == SLAB_TRIANGLE ? 3 : (uint32_t)shape_floats(kind);
  given g = {.kind = kind};
  fuzz_numbers(&p->bytes, g.shapes.values, n * floats);
  for (uint32_t i = 0; kind == SLAB_OBB && i < n; i++) sound_axes(p, g.shapes.obbs[i].axes);
  const int fits = k != NULL && !k->removed && first + n <= range_end(&k->given);
  const slab_status status =
      said(p, kind == SLAB_TRIANGLE ? slab_scene_update_some_vertices(p->scene, id, first, g.shapes.values, n)
                                    : shape_update_some(p->scene, id, kind, first, g.shapes.values, n));
  claim(status == SLAB_OK || status == SLAB_INVALID_ARGUMENT);
  claim(status != SLAB_OK || fits);
  claim(status == SLAB_OK || !fits || n > 0);
  claim(status == SLAB_OK || !fits || !k->skip_invalid || kind == SLAB_TRIANGLE);
  if (status == SLAB_OK) put_range(&k->given, first, &g, n);
}

static void enable_or_remove(player *p, int removes) {
  const uint32_t id = fuzz_byte(&p->bytes) % (p->geometries + 2);
  const int enabled = fuzz_byte(&p->bytes) % 3 == 0;
  known *k = id < p->geometries ? &p->now[id] : NULL;
  const slab_status status =
      said(p, removes ? slab_scene_remove(p->scene, id) : slab_scene_enable(p->scene, id, enabled));
  claim(status == (k != NULL && !k->removed ? SLAB_OK : SLAB_INVALID_ARGUMENT));
  if (status != SLAB_OK) return;
  if (removes)
    k->removed = 1;
  else
    k->enabled = enabled;
}

static void commit(player *p) {
  const uint32_t choice = fuzz_byte(&p->bytes);
  const slab_build_options options = {
      .tree = MESHES_ALONE && choice % 8 != 0 ? SLAB_TREE_FAST : (slab_tree)(choice % 5),
      .update = (slab_update)(choice / 64)};
  const int unknown = (unsigned)options.tree > SLAB_TREE_HIGH || (unsigned)options.update > SLAB_UPDATE_REBUILD;
  const slab_status status = said(p, slab_scene_commit(p->scene, &options));
  claim(status == (unknown ? SLAB_INVALID_ARGUMENT : SLAB_OK));
  if (unknown) return;
  p->committed = 1;
  memcpy(p->seen, p->now, sizeof p->seen);
  p->seen_geometries = p->geometries;
}

/* A new scene of the geometries that the last commit saw, without later changes. Void primitives stand for those that
 * are not seen. */
static slab_scene *made_anew(player *p) {
  const slab_build_options flat = {.tree = SLAB_TREE_FLAT};
  slab_scene *scene = NULL;
  claim(slab_scene_create(p->context, &scene) == SLAB_OK);
  for (uint32_t i = 0; i < p->seen_geometries; i++) {
    const known *k = &p->seen[i];
    given nothing = {.kind = k->given.kind, .n = k->given.n, .soup = 1};
    const int hidden = k->removed || !k->enabled;
    const slab_geometry_options options = {.mask = k->mask, .skip_invalid = hidden || k->skip_invalid};
    for (size_t f = 0; f < sizeof nothing.shapes.values / sizeof(float); f++) nothing.shapes.values[f] = NAN;
    claim(add_given(scene, hidden ? &nothing : &k->given, &options, NULL) == SLAB_OK);
  }
  claim(slab_scene_commit(scene, &flat) == SLAB_OK);
  return scene;
}

static void ask_info(player *p) {
  slab_scene_stats stats;
  const slab_status status = said(p, slab_scene_info(p->scene, &stats));
  claim(status == (p->committed ? SLAB_OK : SLAB_INVALID_STATE));
  if (status == SLAB_OK) claim(stats.geometries == p->seen_geometries);
}

static int cancel(void *user, uint64_t done, uint64_t total) {
  claim(done <= total);
  return *(const int *)user;
}

static void judge(player *p, slab_query query, const slab_ray *rays, size_t n, const void *results,
                  const uint64_t *offsets, const slab_cast_options *options) {
  slab_check_report report;
  claim(said(p, slab_check(p->scene, query, rays, n, results, offsets, options, &report)) == SLAB_OK);
  claim(report.rays == n && report.mismatches == 0 && (MESHES_ALONE || report.oracle_wrong == 0));
}

/* `size` bytes of results, with guard bytes on both sides that must not change. */
typedef struct guarded {
  unsigned char *bytes;
  size_t size;
} guarded;

static guarded guarded_space(size_t size) {
  guarded space = {malloc(size + 2 * GUARD), size};
  claim(space.bytes != NULL);
  memset(space.bytes, 0xA5, size + 2 * GUARD);
  return space;
}

static void guarded_free(guarded space) {
  for (size_t i = 0; i < GUARD; i++) claim(space.bytes[i] == 0xA5 && space.bytes[GUARD + space.size + i] == 0xA5);
  free(space.bytes);
}

static slab_status cast_all(player *p, const slab_ray *rays, size_t n, const slab_cast_options *options) {
  uint64_t offsets[RAYS_MAX + 1], required = 0;
  slab_status status = said(p, slab_all(p->scene, rays, n, offsets, NULL, 0, &required, options));
  if (status != SLAB_OK) return status;
  claim(required <= HITS_MAX && offsets[n] == required);
  const uint64_t capacity = required > 1 && fuzz_byte(&p->bytes) % 4 == 0 ? required - 1 : required;
  const guarded hits = guarded_space((size_t)capacity * sizeof(slab_hit));
  status = said(p, slab_all(p->scene, rays, n, offsets, (slab_hit *)(hits.bytes + GUARD), capacity, NULL, options));
  if (capacity < required)
    claim(status == SLAB_CAPACITY);
  else if (status == SLAB_OK)
    judge(p, SLAB_ALL, rays, n, hits.bytes + GUARD, offsets, options);
  guarded_free(hits);
  return capacity < required ? SLAB_OK : status;
}

static void compare_anew(player *p, slab_query query, const slab_ray *rays, size_t n, const unsigned char *results,
                         const slab_cast_options *options) {
  const guarded wanted = guarded_space(n * slab_result_size(query));
  slab_cast_options quiet = *options;
  slab_scene *anew = made_anew(p);
  quiet.progress = NULL;
  claim(cast_query(anew, query, rays, n, wanted.bytes + GUARD, &quiet) == SLAB_OK);
  claim(memcmp(wanted.bytes + GUARD, results, n * slab_result_size(query)) == 0);
  slab_scene_destroy(anew);
  guarded_free(wanted);
}

static slab_status cast_one(player *p, slab_query query, const slab_ray *rays, size_t n,
                            const slab_cast_options *options) {
  const guarded results = guarded_space(n * slab_result_size(query));
  const slab_status status = said(p, cast_query(p->scene, query, rays, n, results.bytes + GUARD, options));
  if (status == SLAB_OK) judge(p, query, rays, n, results.bytes + GUARD, NULL, options);
  if (status == SLAB_OK) compare_anew(p, query, rays, n, results.bytes + GUARD, options);
  guarded_free(results);
  return status;
}

static void cast(player *p) {
  const slab_query query = MESHES_ALONE ? (fuzz_byte(&p->bytes) % 2 == 0 ? SLAB_CLOSEST : SLAB_COUNT)
                                        : (slab_query)(fuzz_byte(&p->bytes) % 6);
  const uint32_t choice = fuzz_byte(&p->bytes), n = fuzz_byte(&p->bytes) % (RAYS_MAX + 1);
  slab_ray rays[RAYS_MAX];
  slab_primitive_id skips[RAYS_MAX];
  uint64_t invalid = 0;
  int cancels = choice % 16 == 9;
  slab_cast_options options = {.mask = choice / 16 % 4,
                               .skip = choice % 8 == 3 ? skips : NULL,
                               .cull = (slab_cull)(choice / 64),
                               .face_forward = choice % 2,
                               .progress = choice % 4 == 1 ? cancel : NULL,
                               .user = &cancels,
                               .invalid = &invalid};
  fuzz_own own;
  for (uint32_t i = 0; i < n; i++) {
    rays[i] = fuzz_ray(&p->bytes);
    if (options.skip) skips[i] = (slab_primitive_id){fuzz_byte(&p->bytes) % 8, fuzz_byte(&p->bytes) % 8};
  }
  const bool taken = fuzz_own_read(&p->bytes, &own, p->scene, query, rays, n, &options);
  const slab_status status = query == SLAB_ALL ? cast_all(p, rays, n, &options) : cast_one(p, query, rays, n, &options);
  if ((unsigned)options.cull > SLAB_CULL_FRONT || !taken)
    claim(status == SLAB_INVALID_ARGUMENT || (!p->committed && status == SLAB_INVALID_STATE));
  else if (!p->committed)
    claim(status == SLAB_INVALID_STATE);
  else
    claim(status == SLAB_OK || (cancels && status == SLAB_CANCELLED));
  claim(invalid <= n);
  if (status != SLAB_OK) return;
  slab_scene *anew = made_anew(p);
  fuzz_points(p->scene, anew, rays, n, options.mask, !MESHES_ALONE);
  slab_scene_destroy(anew);
}

/* Inputs of different lengths take different contexts. */
long fuzz_one(const uint8_t *data, size_t size) {
  player p = {.bytes = fuzz_begin(data, size), .context = fuzz_context(size)};
  renew(&p);
  for (int calls = 0; p.bytes.at < p.bytes.end && calls < CALLS_MAX; calls++) {
    const uint32_t first = fuzz_byte(&p.bytes), call = first % 12;
    if (first >= 252)
      enable_or_remove(&p, first % 2);
    else if (first >= 216 && first < 228)
      update_some(&p);
    else if (first >= 228 || (MESHES_ALONE && call >= 2 && call < 5))
      update(&p);
    else if (call < 5)
      add(&p, MESHES_ALONE ? SLAB_TRIANGLE : (slab_shape)call);
    else if (call == 5 || (MESHES_ALONE && call == 6))
      commit(&p);
    else if (call == 6)
      ask_info(&p);
    else if (call == 7)
      renew(&p);
    else
      cast(&p);
  }
  slab_scene_destroy(p.scene);
  return p.done;
}
