/* The updates of slabcast_cuda.h on the stand-in. Geometry and transforms from device memory give the bits of those
 * from host arrays. The card refits where it can, and no other stream is waited for. Wrong arguments are refused by
 * name with nothing changed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "caller.h"
#include "laid_out.h"
#include "mixed_fates.h"
#include "sets/adversarial.h"
#include "shapes.def"
/* cmocka has a macro fail(). */
#undef fail
#include "device/backend.h"
#include "device/context.h"
#include "scene/scene.h"

enum { EACH = 40, N = 400, STEPS = 4, OFFSET = 20, STREAMS = 3 };

/* Two scenes that are updated alike, from device memory and from host arrays. */
typedef struct pair {
  caller caller;
  CUstream streams[STREAMS]; /* the caller's, another one, CUDA's default stream */
  slab_scene *there, *here;
} pair;

static pair pair_begin(void) {
  pair p = {.caller = caller_begin()};
  p.streams[0] = p.caller.stream;
  assert_cu(cuStreamCreate(&p.streams[1], CU_STREAM_NON_BLOCKING));
  p.there = harness_scene(p.caller.slab);
  p.here = harness_scene(p.caller.slab);
  return p;
}

static void pair_end(const pair *p) {
  slab_scene_destroy(p->there);
  slab_scene_destroy(p->here);
  assert_cu(cuStreamDestroy(p->streams[1]));
  caller_end(&p->caller);
}

static void commit(const pair *p, slab_update update) {
  const slab_build_options how = {.tree = SLAB_TREE_FAST, .update = update};
  assert_ok(slab_scene_commit(p->there, &how));
  assert_ok(slab_scene_commit(p->here, &how));
}

static void assert_same_answers(const pair *p, const slab_ray *rays) {
  slab_hit got[N], want[N];
  assert_ok(slab_closest(p->there, rays, N, got, NULL));
  assert_ok(slab_closest(p->here, rays, N, want, NULL));
  assert_same_bits(got, want, N, sizeof *got);
  harness_count(N);
}

/* ---- device memory that is written and read in the order of a stream ---- */

typedef struct lent {
  CUdeviceptr memory;
  size_t size;
  CUstream stream;
} lent;

/* Begins to write the bytes, at an odd multiple of 4. Nobody waits for that. */
static lent lend(const void *bytes, size_t size, CUstream stream) {
  lent r = {.size = size, .stream = stream};
  assert_cu(cuMemAlloc(&r.memory, size + OFFSET));
  if (size > 0) assert_cu(cuMemcpyHtoDAsync(r.memory + OFFSET, bytes, size, stream));
  return r;
}

static void *lent_at(const lent *r) { return caller_pointer(r->memory + OFFSET); }

/* The caller writes over what an update has read, and frees it. */
static void lent_end(const lent *r) {
  void *junk = harness_space(r->size + 1);
  memset(junk, 0xFF, r->size);
  if (r->size > 0) assert_cu(cuMemcpyHtoDAsync(r->memory + OFFSET, junk, r->size, r->stream));
  assert_cu(cuStreamSynchronize(r->stream));
  assert_cu(cuMemFree(r->memory));
  free(junk);
}

/* ---- every kind ---- */

typedef float shapes_of_kind[EACH * SHAPE_FLOATS_MOST];

static slab_status update_there(const pair *p, slab_shape kind, uint32_t geometry, const void *shapes, uint32_t n,
                                CUstream stream) {
  const slab_mesh soup = {.vertices = shapes, .vertex_count = 3 * n, .triangle_count = n};
  switch (kind) {
    case SLAB_PLANE:
      return slab_scene_update_planes_cuda(p->there, geometry, shapes, n, stream);
    case SLAB_TRIANGLE:
      return slab_scene_update_mesh_cuda(p->there, geometry, &soup, stream);
    case SLAB_BOX:
      return slab_scene_update_boxes_cuda(p->there, geometry, shapes, n, stream);
    case SLAB_SPHERE:
      return slab_scene_update_spheres_cuda(p->there, geometry, shapes, n, stream);
    case SLAB_OBB:
      return slab_scene_update_obbs_cuda(p->there, geometry, shapes, n, stream);
  }
  return SLAB_INVALID_ARGUMENT;
}

static size_t size_of(slab_shape kind, uint32_t n) { return n * shape_floats(kind) * sizeof(float); }

static void draw_shapes(random_state *random, const adversarial *points, slab_shape kind, shapes_of_kind shapes) {
  for (size_t i = 0; i < EACH; i++) {
    float shape[SHAPE_FLOATS_MOST] = {0};
    adversarial_shape(random, kind, points, shape);
    memcpy(shapes + i * shape_floats(kind), shape, shape_floats(kind) * sizeof *shape);
  }
}

/* Both scenes get a geometry of each kind, which drops refused primitives. */
static void add_each_kind(const pair *p, random_state *random, const adversarial *points) {
  const slab_geometry_options drop = {.skip_invalid = 1};
  shapes_of_kind shapes = {0};
  for (int kind = 0; kind < SHAPE_KINDS; kind++) {
    draw_shapes(random, points, (slab_shape)kind, shapes);
    assert_ok(shape_add(p->there, (slab_shape)kind, shapes, EACH, &drop));
    assert_ok(shape_add(p->here, (slab_shape)kind, shapes, EACH, &drop));
  }
}

static void every_kind_moves_as_from_host_arrays(void **state) {
  static const slab_update updates[] = {SLAB_UPDATE_REFIT, SLAB_UPDATE_AUTO, SLAB_UPDATE_REBUILD};
  (void)state;
  const pair p = pair_begin();
  random_state random = harness_seeded(__func__);
  const adversarial points = adversarial_begin(&random, 0);
  slab_ray *rays = mixed_rays(__func__, N);
  shapes_of_kind shapes = {0};
  add_each_kind(&p, &random, &points);
  commit(&p, SLAB_UPDATE_REBUILD);
  for (uint32_t step = 0; step < STEPS; step++) {
    for (uint32_t kind = 0; kind < SHAPE_KINDS; kind++) {
      if (step > 0 && random_below(&random, 3) == 0) continue; /* of the first all move */
      draw_shapes(&random, &points, (slab_shape)kind, shapes);
      const CUstream stream = p.streams[(step + kind) % STREAMS];
      const lent r = lend(shapes, size_of((slab_shape)kind, EACH), stream);
      assert_ok(update_there(&p, (slab_shape)kind, kind, lent_at(&r), EACH, stream));
      lent_end(&r);
      assert_ok(shape_update_array(p.here, (uint32_t)kind, (slab_shape)kind, shapes, EACH));
    }
    commit(&p, updates[step % 3]);
    assert_same_answers(&p, rays);
  }
  free(rays);
  pair_end(&p);
}

/* ---- meshes, which the card refits ---- */

enum { GRID = 12, CORNERS = (GRID + 1) * (GRID + 1), TRIANGLES = 2 * GRID * GRID, SOUP = 90 };

/* A grid with indices, and a soup whose vertices lie 20 bytes apart. */
typedef struct meshes {
  float grid[3 * CORNERS], soup[5 * 3 * SOUP];
  uint32_t indices[3 * TRIANGLES];
  slab_mesh list[2];
} meshes;

static void draw_vertices(random_state *random, meshes *m) {
  for (uint32_t i = 0; i < CORNERS; i++) {
    m->grid[3 * i] = (float)(i % (GRID + 1)) + random_between(random, -0.4f, 0.4f);
    m->grid[3 * i + 1] = (float)(i / (GRID + 1)) + random_between(random, -0.4f, 0.4f);
    m->grid[3 * i + 2] = random_between(random, -0.4f, 0.4f);
  }
  for (uint32_t i = 0; i < 3 * SOUP; i++)
    for (uint32_t k = 0; k < 5; k++)
      m->soup[5 * i + k] = k > 2 ? NAN : (float)(i / 3 % 9) + random_between(random, -0.5f, 1.5f);
}

static void meshes_begin(random_state *random, meshes *m) {
  for (uint32_t i = 0; i < GRID * GRID; i++) {
    const uint32_t a = i / GRID * (GRID + 1) + i % GRID,
                   quad[6] = {a, a + 1, a + GRID + 2, a, a + GRID + 2, a + GRID + 1};
    memcpy(m->indices + 6 * (size_t)i, quad, sizeof quad);
  }
  draw_vertices(random, m);
  m->list[0] = (slab_mesh){m->grid, 0, CORNERS, m->indices, TRIANGLES, NULL};
  m->list[1] = (slab_mesh){m->soup, 20, 3 * SOUP, NULL, SOUP, NULL};
}

/* Updates both scenes' mesh. indices: those of the mesh go with it. */
static void move_mesh(const pair *p, const slab_mesh *mesh, uint32_t geometry, bool indices, CUstream stream) {
  const size_t stride = mesh->vertex_stride == 0 ? 12 : mesh->vertex_stride;
  const lent v = lend(mesh->vertices, (mesh->vertex_count - 1) * stride + 12, stream);
  const lent i = lend(mesh->indices, indices ? 12 * (size_t)mesh->triangle_count : 0, stream);
  slab_mesh from = *mesh, host = *mesh;
  from.vertices = lent_at(&v);
  from.indices = indices ? lent_at(&i) : NULL;
  if (!indices) host.indices = NULL;
  assert_ok(slab_scene_update_mesh_cuda(p->there, geometry, &from, stream));
  assert_ok(slab_scene_update_mesh(p->here, geometry, &host));
  lent_end(&v);
  lent_end(&i);
}

/* Nodes and blocks. The host keeps what it has refitted itself. */
static void assert_same_trees(const pair *p, bool refitted_there) {
  size_t size[2];
  void *got = laid_out(p->there, &size[0]), *want = laid_out(p->here, &size[1]);
  assert_true(got != NULL && want != NULL);
  assert_true(atomic_load(&p->there->committed)->moves == !refitted_there);
  assert_int_equal(size[0], size[1]);
  assert_same_bits(got, want, size[0] / 4, 4);
  free(got);
  free(want);
}

static void meshes_are_refitted_on_the_card(void **state) {
  (void)state;
  static meshes m;
  const pair p = pair_begin();
  random_state random = harness_seeded(__func__);
  slab_ray *rays = mixed_rays(__func__, N);
  meshes_begin(&random, &m);
  for (int i = 0; i < 2; i++) {
    assert_ok(slab_scene_add_mesh(p.there, &m.list[i], NULL, NULL));
    assert_ok(slab_scene_add_mesh(p.here, &m.list[i], NULL, NULL));
  }
  commit(&p, SLAB_UPDATE_REBUILD);
  for (uint32_t step = 0; step < STEPS; step++) {
    draw_vertices(&random, &m);
    move_mesh(&p, &m.list[0], 0, step % 2 == 1, p.streams[step % STREAMS]);
    if (step != 2) move_mesh(&p, &m.list[1], 1, false, p.streams[(step + 1) % STREAMS]);
    commit(&p, SLAB_UPDATE_REFIT);
    assert_same_trees(&p, true);
    assert_same_answers(&p, rays);
  }
  draw_vertices(&random, &m); /* vertices that the host alone moves, it refits alone */
  move_mesh(&p, &m.list[0], 0, false, p.streams[0]);
  assert_ok(slab_scene_update_mesh(p.there, 1, &m.list[1]));
  assert_ok(slab_scene_update_mesh(p.here, 1, &m.list[1]));
  commit(&p, SLAB_UPDATE_REFIT);
  assert_same_trees(&p, false);
  assert_same_answers(&p, rays);
  free(rays);
  pair_end(&p);
}

/* ---- instances ---- */

enum { PLACES = 6 };
static const uint32_t ORDER[PLACES] = {0, 1, 2, 3, 4, 5};

static void instances_move_as_from_host_arrays(void **state) {
  (void)state;
  const pair p = pair_begin();
  random_state random = harness_seeded(__func__);
  slab_scene *model = mixed_tree(p.caller.slab, 20);
  slab_ray *rays = mixed_rays(__func__, N);
  float transforms[12 * PLACES];
  mixed_places(&random, transforms, PLACES);
  assert_ok(slab_scene_add_instances(p.there, model, transforms, PLACES, NULL, NULL));
  assert_ok(slab_scene_add_instances(p.here, model, transforms, PLACES, NULL, NULL));
  commit(&p, SLAB_UPDATE_REBUILD);
  for (uint32_t step = 0; step < STEPS; step++) {
    const CUstream stream = p.streams[step % STREAMS];
    mixed_places(&random, transforms, PLACES);
    const lent r = lend(transforms, sizeof transforms, stream);
    assert_ok(slab_scene_update_instances_cuda(p.there, 0, lent_at(&r), PLACES, stream));
    lent_end(&r);
    assert_ok(slab_scene_update_instances(p.here, 0, transforms, PLACES));
    commit(&p, step % 2 == 0 ? SLAB_UPDATE_REFIT : SLAB_UPDATE_AUTO);
    assert_same_answers(&p, rays);
  }
  free(rays);
  slab_scene_destroy(model);
  pair_end(&p);
}

/* Both scenes get the same instances by two calls, and their geometries. */
static void add_twice(const pair *p, slab_scene *model, const float *transforms, uint32_t geometries[2]) {
  for (int i = 0; i < 2; i++) {
    assert_ok(slab_scene_add_instances(p->there, model, transforms, PLACES, NULL, &geometries[i]));
    assert_ok(slab_scene_add_instances(p->here, model, transforms, PLACES, NULL, &geometries[i]));
  }
}

/* Indices come in any order, one of them twice. */
static void some_instances_move_as_from_host_arrays(void **state) {
  (void)state;
  const pair p = pair_begin();
  random_state random = harness_seeded(__func__);
  slab_scene *model = mixed_tree(p.caller.slab, 20);
  slab_ray *rays = mixed_rays(__func__, N);
  float transforms[12 * PLACES];
  uint32_t indices[PLACES], geometries[2];
  mixed_places(&random, transforms, PLACES);
  add_twice(&p, model, transforms, geometries);
  commit(&p, SLAB_UPDATE_REBUILD);
  for (uint32_t step = 0; step < 2 * STEPS; step++) {
    const CUstream stream = p.streams[step % STREAMS];
    const uint32_t n = step % (PLACES + 1), g = geometries[step % 2];
    mixed_places(&random, transforms, n);
    for (uint32_t i = 0; i < n; i++) indices[i] = random_below(&random, PLACES);
    const lent r = lend(transforms, 48 * (size_t)n, stream), w = lend(indices, 4 * (size_t)n, stream);
    assert_ok(slab_scene_update_some_instances_cuda(p.there, g, lent_at(&w), lent_at(&r), n, stream));
    lent_end(&r), lent_end(&w);
    assert_ok(slab_scene_update_some_instances(p.here, g, indices, transforms, n));
    commit(&p, step % 3 == 0 ? SLAB_UPDATE_REFIT : SLAB_UPDATE_AUTO);
    assert_same_answers(&p, rays);
  }
  free(rays);
  slab_scene_destroy(model);
  pair_end(&p);
}

/* In the order of the geometries that are named. */
static void instances_of_many_geometries_move_as_from_host_arrays(void **state) {
  (void)state;
  const pair p = pair_begin();
  random_state random = harness_seeded(__func__);
  slab_scene *model = mixed_tree(p.caller.slab, 20);
  slab_ray *rays = mixed_rays(__func__, N);
  float transforms[2 * 12 * PLACES];
  uint32_t geometries[2];
  mixed_places(&random, transforms, PLACES);
  add_twice(&p, model, transforms, geometries);
  commit(&p, SLAB_UPDATE_REBUILD);
  for (uint32_t step = 0; step < STEPS; step++) {
    const CUstream stream = p.streams[step % STREAMS];
    const uint32_t turned[] = {geometries[1], geometries[0]}, *both = step % 2 == 0 ? geometries : turned;
    mixed_places(&random, transforms, 2 * PLACES);
    const lent r = lend(transforms, sizeof transforms, stream);
    assert_ok(slab_scene_move_instances_cuda(p.there, both, 2, lent_at(&r), 2 * PLACES, stream));
    lent_end(&r);
    assert_ok(slab_scene_move_instances(p.here, both, 2, transforms, 2 * PLACES));
    commit(&p, step % 2 == 0 ? SLAB_UPDATE_REFIT : SLAB_UPDATE_AUTO);
    assert_same_answers(&p, rays);
  }
  free(rays);
  slab_scene_destroy(model);
  pair_end(&p);
}

/* ---- waits ---- */

/* The stream of the library's own calls is held: an update that waited for it would never end. */
static void no_other_stream_is_waited_for(void **state) {
  (void)state;
  const slab_box box = {.lower = {-1, -1, -1}, .upper = {1, 1, 1}}, moved = {.lower = {4, 4, 4}, .upper = {5, 5, 5}};
  const uint32_t last = 2;
  const pair p = pair_begin();
  static meshes m;
  random_state random = harness_seeded(__func__);
  slab_ray *rays = mixed_rays(__func__, N);
  slab_scene *model = mixed_tree(p.caller.slab, 20);
  slab_scene *const both[] = {p.there, p.here};
  float transforms[12 * PLACES];
  meshes_begin(&random, &m);
  mixed_places(&random, transforms, PLACES);
  for (int i = 0; i < 2; i++) {
    assert_ok(slab_scene_add_boxes(both[i], &box, 1, NULL, NULL));
    assert_ok(slab_scene_add_mesh(both[i], m.list, NULL, NULL));
    assert_ok(slab_scene_add_instances(both[i], model, transforms, PLACES, NULL, NULL));
  }
  commit(&p, SLAB_UPDATE_REBUILD);
  draw_vertices(&random, &m);
  mixed_places(&random, transforms, PLACES);
  const CUdeviceptr other = caller_upload(&p.caller, NULL, 64);
  const lent b = lend(&moved, sizeof moved, p.streams[1]), v = lend(m.grid, sizeof m.grid, p.streams[1]),
             t = lend(transforms, sizeof transforms, p.streams[2]), i = lend(ORDER, sizeof ORDER, p.streams[2]);
  slab_mesh mesh = {lent_at(&v), 0, CORNERS, NULL, TRIANGLES, NULL};
  standin_hold(p.streams[0], 1);
  assert_cu(cuMemcpyDtoDAsync(other, other + 32, 32, p.streams[0]));
  assert_ok(slab_scene_update_boxes_cuda(p.there, 0, lent_at(&b), 1, p.streams[1]));
  assert_ok(slab_scene_update_mesh_cuda(p.there, 1, &mesh, p.streams[1]));
  assert_ok(slab_scene_update_instances_cuda(p.there, 2, lent_at(&t), PLACES, p.streams[2]));
  assert_ok(slab_scene_update_some_instances_cuda(p.there, 2, lent_at(&i), lent_at(&t), PLACES, p.streams[2]));
  assert_ok(slab_scene_move_instances_cuda(p.there, &last, 1, lent_at(&t), PLACES, p.streams[2]));
  assert_int_equal(cuStreamQuery(p.streams[0]), CUDA_ERROR_NOT_READY);
  standin_hold(p.streams[0], 0);
  mesh.vertices = m.grid;
  assert_ok(slab_scene_update_boxes(p.here, 0, &moved, 1));
  assert_ok(slab_scene_update_mesh(p.here, 1, &mesh));
  assert_ok(slab_scene_update_instances(p.here, 2, transforms, PLACES));
  commit(&p, SLAB_UPDATE_AUTO);
  assert_same_answers(&p, rays);
  lent_end(&b), lent_end(&v), lent_end(&t), lent_end(&i);
  assert_cu(cuMemFree(other));
  free(rays);
  slab_scene_destroy(model);
  pair_end(&p);
}

/* ---- frames of worlds ---- */

enum { WORLDS = 30, FRAMES = 24 };

/* The places of each frame: one world has moved since the one before, some, or all. */
typedef struct moves {
  float transforms[FRAMES + 1][12 * WORLDS];
  uint32_t indices[FRAMES][WORLDS], first[FRAMES], count[FRAMES];
} moves;

static void draw_moves(random_state *random, moves *m) {
  mixed_places(random, m->transforms[0], WORLDS);
  for (int frame = 0; frame < FRAMES; frame++) {
    const uint32_t most = frame % 3 == 0 ? 1 : frame % 3 == 1 ? 5 : WORLDS;
    float *to = m->transforms[frame + 1];
    memcpy(to, m->transforms[frame], sizeof m->transforms[frame]);
    m->first[frame] = random_below(random, WORLDS - most + 1);
    m->count[frame] = most;
    for (uint32_t i = 0; i < most; i++) m->indices[frame][i] = m->first[frame] + i;
    mixed_places(random, to + (size_t)12 * m->first[frame], most);
  }
}

/* Its gates hold no more than itself, as those of mixed_tree do, which has planes. */
static slab_scene *model_of_boxes(slab_context *context) {
  const slab_box boxes[] = {{.lower = {-1, -1, -1}, .upper = {1, 1, 1}}, {.lower = {1, 0, 0}, .upper = {2, 1, 1}}};
  slab_scene *scene = harness_scene(context);
  assert_ok(slab_scene_add_boxes(scene, boxes, 2, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  return scene;
}

static void add_worlds(slab_scene *scene, slab_scene *model, const float *transforms) {
  uint32_t worlds[WORLDS];
  for (uint32_t i = 0; i < WORLDS; i++) worlds[i] = i + 1;
  assert_ok(slab_scene_set_worlds(scene, WORLDS));
  assert_ok(
      slab_scene_add_instances(scene, model, transforms, WORLDS, &(slab_geometry_options){.worlds = worlds}, NULL));
}

/* A commit that writes a frame where an older one lies waits for casts of that one which are in flight: each answers
 * by the frame that it began on. */
static void frames_wait_for_casts_in_flight(void **state) {
  (void)state;
  const pair p = pair_begin();
  random_state random = harness_seeded(__func__);
  slab_ray *rays = mixed_rays(__func__, N);
  slab_scene *model = model_of_boxes(p.caller.slab);
  moves *m = harness_space(sizeof *m);
  uint32_t worlds[N];
  CUdeviceptr hits[FRAMES];
  slab_hit got[N], want[N];
  draw_moves(&random, m);
  for (uint32_t i = 0; i < N; i++) worlds[i] = i % WORLDS + 1;
  const CUdeviceptr there = caller_upload(&p.caller, rays, N * sizeof *rays),
                    of_rays = caller_upload(&p.caller, worlds, sizeof worlds);
  for (int frame = 0; frame < FRAMES; frame++) hits[frame] = caller_upload(&p.caller, NULL, sizeof want);
  add_worlds(p.there, model, m->transforms[0]);
  add_worlds(p.here, model, m->transforms[0]);
  commit(&p, SLAB_UPDATE_REBUILD);
  for (int frame = 0; frame < FRAMES; frame++) {
    const slab_cuda_batch batch = {.query = SLAB_CLOSEST,
                                   .count = N,
                                   .rays = caller_pointer(there),
                                   .worlds = caller_pointer(of_rays),
                                   .results = caller_pointer(hits[frame])};
    for (int i = 0; i < 40; i++) assert_cu(cuMemcpyDtoDAsync(hits[frame], hits[frame] + 64, 64, p.streams[1]));
    assert_ok(slab_enqueue_cuda(p.there, &batch, p.streams[1])); /* behind others, so that it is late */
    assert_ok(slab_scene_update_some_instances(
        p.there, 0, m->indices[frame], m->transforms[frame + 1] + (size_t)12 * m->first[frame], m->count[frame]));
    assert_ok(slab_scene_commit(p.there, NULL));
  }
  for (int frame = 0; frame < FRAMES; frame++) {
    size_t met = 0;
    assert_ok(slab_scene_update_instances(p.here, 0, m->transforms[frame], WORLDS));
    assert_ok(slab_scene_commit(p.here, &(slab_build_options){.update = SLAB_UPDATE_REBUILD}));
    assert_ok(slab_closest(p.here, rays, N, want, &(slab_cast_options){.worlds = worlds}));
    assert_cu(cuStreamSynchronize(p.streams[1]));
    assert_cu(cuMemcpyDtoHAsync(got, hits[frame], sizeof want, p.streams[1]));
    assert_cu(cuStreamSynchronize(p.streams[1]));
    assert_same_bits(got, want, N, sizeof *got);
    for (size_t i = 0; i < N; i++) met += want[i].primitive != SLAB_MISS;
    assert_true(met > N / 20);
    assert_cu(cuMemFree(hits[frame]));
  }
  harness_count((size_t)FRAMES * N);
  assert_cu(cuMemFree(there));
  assert_cu(cuMemFree(of_rays));
  free(m);
  free(rays);
  slab_scene_destroy(model);
  pair_end(&p);
}

/* ---- refusals ---- */

/* Each is refused by this part of its message, and the scene answers as before. */
static void refused(const pair *p, slab_status status, const char *part) {
  assert_status(status, SLAB_INVALID_ARGUMENT);
  assert_mentions(part);
  assert_ok(slab_scene_commit(p->there, NULL));
}

/* Of every kind: no array, or one that is not aligned, is the host's or is too short. A geometry of another count, of
 * another kind, or none. A stream of another context. */
static void what_is_wrong_is_refused_by_name(void **state) {
  (void)state;
  const pair p = pair_begin();
  random_state random = harness_seeded(__func__);
  const adversarial points = adversarial_begin(&random, 0);
  slab_ray *rays = mixed_rays(__func__, N);
  CUcontext other = NULL, current = NULL;
  CUstream foreign = NULL;
  shapes_of_kind shapes = {0};
  add_each_kind(&p, &random, &points);
  commit(&p, SLAB_UPDATE_REBUILD);
  assert_cu(cuCtxCreate(&other, 0, 0));
  assert_cu(cuStreamCreate(&foreign, CU_STREAM_NON_BLOCKING));
  assert_cu(cuCtxPopCurrent(&current));
  for (uint32_t g = 0; g < SHAPE_KINDS; g++) {
    const slab_shape kind = (slab_shape)g;
    const CUstream stream = p.streams[g % STREAMS];
    const lent r = lend(shapes, size_of(kind, EACH), stream);
    char *at = lent_at(&r);
    refused(&p, update_there(&p, kind, g, NULL, EACH, stream), "s is NULL");
    refused(&p, update_there(&p, kind, g, at + 2, EACH, stream), "is no multiple of 4");
    refused(&p, update_there(&p, kind, g, shapes, EACH, stream), "is not memory that a card reaches");
    refused(&p, update_there(&p, kind, g, at + 4, EACH, stream), "are more than a card reaches there");
    refused(&p, update_there(&p, kind, g, at, EACH - 1, stream), "39 primitives for geometry");
    refused(&p, update_there(&p, kind, (g + 1) % SHAPE_KINDS, at, EACH, stream), "has primitives of another kind");
    refused(&p, update_there(&p, kind, SHAPE_KINDS, at, EACH, stream), "the scene has 5");
    refused(&p, update_there(&p, kind, g, at, EACH, foreign), "the stream is of another context");
    refused(&p, slab_scene_update_instances_cuda(p.there, g, (float *)(void *)at, 1, stream),
            "slab_scene_update_instances_cuda: geometry");
    lent_end(&r);
  }
  assert_same_answers(&p, rays);
  assert_cu(cuCtxPushCurrent(other));
  assert_cu(cuStreamDestroy(foreign));
  assert_cu(cuCtxDestroy(other));
  free(rays);
  pair_end(&p);
}

/* Of a geometry of two instances, whose second transform is singular and whose second index is one too high. */
static void refuse_instances(const pair *p, uint32_t g, CUstream stream) {
  const float transforms[24] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  const uint32_t twice[] = {g, g}, past[] = {0, 2, 1, 0};
  const lent t = lend(transforms, sizeof transforms, stream), w = lend(past, sizeof past, stream);
  const uint32_t *in = lent_at(&w);
  const float *at = lent_at(&t);
  refused(p, slab_scene_update_some_instances_cuda(p->there, g, in, at, 2, stream),
          "slab_scene_update_some_instances_cuda: indices[1] is 2, and there are 2 instances");
  refused(p, slab_scene_update_some_instances_cuda(p->there, g, in + 2, at, 2, stream), "transform 1 is singular");
  refused(p, slab_scene_update_some_instances_cuda(p->there, g, in + 2, at, 3, stream), "indices: 12 bytes at 0x");
  refused(p, slab_scene_update_some_instances_cuda(p->there, g, in, at, 3, stream), "transforms: 144 bytes at 0x");
  refused(p, slab_scene_update_some_instances_cuda(p->there, g, past, at, 1, stream), "is not memory that a card");
  refused(p, slab_scene_update_some_instances_cuda(p->there, g, NULL, at, 1, stream), "indices is NULL");
  refused(p, slab_scene_update_some_instances_cuda(p->there, g, in, NULL, 1, stream), "transforms is NULL");
  refused(p, slab_scene_update_some_instances_cuda(p->there, 0, in, at, 1, stream), "has primitives of another kind");
  refused(p, slab_scene_move_instances_cuda(p->there, &g, 1, at, 2, stream),
          "slab_scene_move_instances_cuda: geometries[0]: transform 1 is singular");
  refused(p, slab_scene_move_instances_cuda(p->there, twice, 2, at, 2, stream),
          "2 transforms for 2 geometries, which have 4 instances");
  refused(p, slab_scene_move_instances_cuda(p->there, NULL, 1, at, 2, stream), "the array of 1 geometries is NULL");
  refused(p, slab_scene_move_instances_cuda(p->there, &g, 1, at, 3, stream), "transforms: 144 bytes at 0x");
  refused(p, slab_scene_move_instances_cuda(p->there, &g, 1, transforms, 2, stream), "is not memory that a card");
  lent_end(&t), lent_end(&w);
}

/* As those of host arrays, by index and value. */
static void values_are_refused_as_those_of_arrays(void **state) {
  (void)state;
  const pair p = pair_begin();
  const slab_sphere spheres[2] = {{{0, 0, 0}, 1}, {{3, 0, 0}, 1}};
  const uint32_t past[6] = {0, 1, 2, 0, 1, 9};
  float corners[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0}, transforms[24] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  const slab_mesh mesh = {corners, 0, 4, (const uint32_t[]){0, 1, 2, 1, 2, 3}, 2, NULL};
  slab_scene *model = mixed_tree(p.caller.slab, 20);
  const float pairs[24] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 0, 1, 0, 0, 0, 0, 1, 0};
  assert_ok(slab_scene_add_spheres(p.there, spheres, 2, NULL, NULL));
  assert_ok(slab_scene_add_mesh(p.there, &mesh, NULL, NULL));
  assert_ok(slab_scene_add_instances(p.there, model, pairs, 2, NULL, NULL));
  assert_ok(slab_scene_commit(p.there, NULL));
  const CUstream stream = p.streams[1];
  slab_sphere bad[2] = {spheres[0], spheres[1]};
  bad[1].radius = -1;
  const lent s = lend(bad, sizeof bad, stream), w = lend(past, sizeof past, stream);
  refused(&p, slab_scene_update_spheres_cuda(p.there, 0, lent_at(&s), 2, stream), "sphere 1");
  lent v = lend(corners, sizeof corners, stream);
  slab_mesh from = {lent_at(&v), 0, 4, lent_at(&w), 2, NULL};
  refused(&p, slab_scene_update_mesh_cuda(p.there, 1, &from, stream), "triangle 1: index 9 is out of range");
  refused(&p, slab_scene_update_mesh_cuda(p.there, 1, NULL, stream), "mesh is NULL");
  from.indices = NULL, from.vertex_stride = 8;
  refused(&p, slab_scene_update_mesh_cuda(p.there, 1, &from, stream), "vertex_stride is 8");
  from.vertex_stride = 16;
  refused(&p, slab_scene_update_mesh_cuda(p.there, 1, &from, stream), "vertices: 60 bytes at 0x");
  from.vertex_stride = (size_t)1 << 62; /* four of which are 0 bytes, were they not counted with care */
  refused(&p, slab_scene_update_mesh_cuda(p.there, 1, &from, stream), "are more than a card reaches there");
  from.vertex_count = 5;
  refused(&p, slab_scene_update_mesh_cuda(p.there, 1, &from, stream), "are more than a card reaches there");
  from.vertex_stride = 0, from.vertex_count = 3;
  refused(&p, slab_scene_update_mesh_cuda(p.there, 1, &from, stream), "3 vertices for the indices of geometry 1");
  lent_end(&v);
  corners[10] = NAN;
  v = lend(corners, sizeof corners, stream);
  from = (slab_mesh){lent_at(&v), 0, 4, NULL, 2, NULL};
  refused(&p, slab_scene_update_mesh_cuda(p.there, 1, &from, stream), "triangle 1");
  const lent t = lend(transforms, sizeof transforms, stream); /* the second is all zero */
  refused(&p, slab_scene_update_instances_cuda(p.there, 2, lent_at(&t), 2, stream), "transform 1");
  refused(&p, slab_scene_update_instances_cuda(p.there, 2, lent_at(&t), 3, stream), "transforms: 144 bytes at 0x");
  refused(&p, slab_scene_update_instances_cuda(p.there, 2, lent_at(&t), 1, stream), "1 transforms for geometry 2");
  refused(&p, slab_scene_update_instances_cuda(p.there, 2, NULL, 2, stream), "transforms is NULL");
  refused(&p, slab_scene_update_instances_cuda(NULL, 2, lent_at(&t), 2, stream), "scene is NULL");
  refuse_instances(&p, 2, stream);
  lent_end(&s), lent_end(&v), lent_end(&w), lent_end(&t);
  slab_scene_destroy(model);
  pair_end(&p);
}

static void scenes_that_are_not_on_a_card_are_refused(void **state) {
  (void)state;
  const pair p = pair_begin();
  slab_context *processor = NULL;
  assert_int_equal(setenv("SLABCAST_BACKENDS", "native", 1), 0);
  assert_ok(slab_context_create(NULL, &processor));
  assert_int_equal(setenv("SLABCAST_BACKENDS", "cuda", 1), 0);
  slab_scene *scene = harness_scene(processor);
  assert_status(slab_scene_update_boxes_cuda(scene, 0, NULL, 0, NULL), SLAB_UNSUPPORTED);
  assert_status(slab_scene_update_mesh_cuda(scene, 0, NULL, NULL), SLAB_UNSUPPORTED);
  assert_status(slab_scene_update_instances_cuda(scene, 0, NULL, 0, NULL), SLAB_UNSUPPORTED);
  assert_status(slab_scene_update_some_instances_cuda(scene, 0, NULL, NULL, 0, NULL), SLAB_UNSUPPORTED);
  assert_status(slab_scene_move_instances_cuda(scene, NULL, 0, NULL, 0, NULL), SLAB_UNSUPPORTED);
  assert_mentions("is not a card by CUDA");
  slab_scene_destroy(scene);
  slab_context_destroy(processor);
  pair_end(&p);
}

/* ---- calls that fail ---- */

/* An update and its commit. Casts answer the state before both or the one after, whatever failed. */
typedef struct strike {
  pair on; /* of which `there` has one geometry */
  slab_status (*update)(const struct strike *, CUstream);
  slab_shape kind;
  const void *shapes;
  const uint32_t *indices;
  const slab_ray *rays;
  slab_hit before[N], after[N];
} strike;

static slab_status update_shapes(const strike *s, CUstream stream) {
  return update_there(&s->on, s->kind, 0, s->shapes, EACH, stream);
}

static slab_status update_grid(const strike *s, CUstream stream) {
  const slab_mesh mesh = {s->shapes, 0, CORNERS, NULL, TRIANGLES, NULL};
  return slab_scene_update_mesh_cuda(s->on.there, 0, &mesh, stream);
}

static slab_status update_places(const strike *s, CUstream stream) {
  return slab_scene_update_instances_cuda(s->on.there, 0, s->shapes, PLACES, stream);
}

static slab_status update_some_places(const strike *s, CUstream stream) {
  return slab_scene_update_some_instances_cuda(s->on.there, 0, s->indices, s->shapes, PLACES, stream);
}

static slab_status move_places(const strike *s, CUstream stream) {
  const uint32_t first = 0;
  return slab_scene_move_instances_cuda(s->on.there, &first, 1, s->shapes, PLACES, stream);
}

static slab_status update_struck(void *user) {
  const strike *s = user;
  slab_hit got[N];
  slab_status status = s->update(s, s->on.streams[1]);
  if (status == SLAB_OK) status = slab_scene_commit(s->on.there, &(slab_build_options){.update = SLAB_UPDATE_REFIT});
  if (status == SLAB_OK) return SLAB_OK;
  assert_ok(slab_closest(s->on.there, s->rays, N, got, NULL));
  assert_true(memcmp(got, s->before, sizeof got) == 0 || memcmp(got, s->after, sizeof got) == 0);
  return status;
}

static strike *strike_begin(slab_status (*update)(const strike *, CUstream), slab_shape kind, const slab_ray *rays) {
  static strike s;
  s = (strike){.on = pair_begin(), .update = update, .kind = kind, .rays = rays};
  return &s;
}

/* Strikes the update of `there` to what `here` is. */
static void strike_end(strike *s, const void *shapes, size_t size) {
  unsigned told = 0;
  const lent l = lend(shapes, size, s->on.streams[1]), in = lend(ORDER, sizeof ORDER, s->on.streams[1]);
  commit(&s->on, SLAB_UPDATE_REBUILD);
  assert_ok(slab_closest(s->on.there, s->rays, N, s->before, NULL));
  assert_ok(slab_closest(s->on.here, s->rays, N, s->after, NULL));
  assert_true(memcmp(s->before, s->after, sizeof s->before) != 0);
  s->shapes = lent_at(&l);
  s->indices = lent_at(&in);
  const unsigned calls = caller_strike(update_struck, s, &told);
  assert_same_answers(&s->on, s->rays);
  print_message("%u calls, %u failures told\n", calls, told);
  assert_true(calls > 5 && told > calls / 2);
  lent_end(&l), lent_end(&in);
  pair_end(&s->on);
}

static void each_call_that_fails_is_told(void **state) {
  (void)state;
  static meshes m;
  const slab_geometry_options drop = {.skip_invalid = 1};
  random_state random = harness_seeded(__func__);
  const adversarial points = adversarial_begin(&random, 0);
  slab_ray *rays = mixed_rays(__func__, N);
  for (int kind = 0; kind < SHAPE_KINDS; kind++) {
    strike *s = strike_begin(update_shapes, (slab_shape)kind, rays);
    shapes_of_kind shapes = {0};
    draw_shapes(&random, &points, s->kind, shapes);
    assert_ok(shape_add(s->on.there, s->kind, shapes, EACH, &drop));
    draw_shapes(&random, &points, s->kind, shapes);
    assert_ok(shape_add(s->on.here, s->kind, shapes, EACH, &drop));
    strike_end(s, shapes, size_of(s->kind, EACH));
  }
  strike *s = strike_begin(update_grid, SLAB_TRIANGLE, rays);
  meshes_begin(&random, &m);
  assert_ok(slab_scene_add_mesh(s->on.there, m.list, NULL, NULL));
  draw_vertices(&random, &m);
  assert_ok(slab_scene_add_mesh(s->on.here, m.list, NULL, NULL));
  strike_end(s, m.grid, sizeof m.grid);
  free(rays);
}

static void each_call_that_fails_moves_all_or_nothing(void **state) {
  (void)state;
  slab_status (*const updates[])(const strike *, CUstream) = {update_places, update_some_places, move_places};
  random_state random = harness_seeded(__func__);
  slab_ray *rays = mixed_rays(__func__, N);
  float transforms[12 * PLACES];
  for (int i = 0; i < 3; i++) {
    strike *s = strike_begin(updates[i], SLAB_TRIANGLE, rays);
    slab_scene *model = mixed_tree(s->on.caller.slab, 20);
    mixed_places(&random, transforms, PLACES);
    assert_ok(slab_scene_add_instances(s->on.there, model, transforms, PLACES, NULL, NULL));
    mixed_places(&random, transforms, PLACES);
    assert_ok(slab_scene_add_instances(s->on.here, model, transforms, PLACES, NULL, NULL));
    slab_scene_destroy(model);
    strike_end(s, transforms, sizeof transforms);
  }
  free(rays);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_moves_as_from_host_arrays),
      cmocka_unit_test(meshes_are_refitted_on_the_card),
      cmocka_unit_test(instances_move_as_from_host_arrays),
      cmocka_unit_test(some_instances_move_as_from_host_arrays),
      cmocka_unit_test(instances_of_many_geometries_move_as_from_host_arrays),
      cmocka_unit_test(no_other_stream_is_waited_for),
      cmocka_unit_test(frames_wait_for_casts_in_flight),
      cmocka_unit_test(what_is_wrong_is_refused_by_name),
      cmocka_unit_test(values_are_refused_as_those_of_arrays),
      cmocka_unit_test(scenes_that_are_not_on_a_card_are_refused),
      cmocka_unit_test(each_call_that_fails_is_told),
      cmocka_unit_test(each_call_that_fails_moves_all_or_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
