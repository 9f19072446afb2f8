/* Refits on a device, of vertices that are in its buffers. Nodes and blocks have the bits that the host's refit writes.
 * Where a device cannot refit, the host does. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "faults/layers.h"
#include "harness.h"
#include "laid_out.h"
#include "opencl.h"
/* cmocka has a macro fail(). */
#undef fail
#include "device/backend.h"
#include "device/context.h"
#include "scene/scene.h"

enum { GRID = 24, SOUP = 300, SCATTERED = 250, SPREAD = 195, RAYS = 400, STEPS = 6 };

static layers under;

/* ---- meshes that move ---- */

/* A mesh on the host, and the buffer that has its vertices, some bytes from the start. */
typedef struct mover {
  slab_mesh mesh;
  float *vertices;
  uint32_t *indices; /* NULL: none */
  size_t size;
  cl_mem buffer;
} mover;

enum { GRID_MESH, SOUP_MESH, SCATTERED_MESH, SPREAD_MESH, MESHES, OFFSET = 20 };

static mover mover_of(slab_context *context, uint32_t vertices, size_t stride, uint32_t triangles, bool indexed) {
  mover m = {.size = vertices * (stride == 0 ? 12 : stride)};
  cl_context cl = NULL;
  m.vertices = harness_space(m.size);
  memset(m.vertices, 0, m.size);
  if (indexed) m.indices = harness_space(3 * triangles * sizeof *m.indices);
  m.mesh = (slab_mesh){m.vertices, stride, vertices, m.indices, triangles, NULL};
  assert_ok(slab_context_objects(context, &cl, NULL));
  m.buffer = opencl_buffer(cl, NULL, m.size + OFFSET);
  return m;
}

static void mover_end(mover *m) {
  assert_cl(clReleaseMemObject(m->buffer));
  free(m->vertices);
  free(m->indices);
}

static float *vertex_of(const mover *m, uint32_t i) {
  return m->vertices + i * (m->mesh.vertex_stride == 0 ? 3 : m->mesh.vertex_stride / sizeof(float));
}

/* Vertices that share triangles, some of which have a vertex twice: these are in no BVH. */
static mover grid_mesh(slab_context *context) {
  mover m = mover_of(context, (GRID + 1) * (GRID + 1), 0, 2 * GRID * GRID, true);
  for (uint32_t i = 0; i < GRID * GRID; i++) {
    const uint32_t a = i / GRID * (GRID + 1) + i % GRID,
                   quad[6] = {a, a + 1, i % 7 == 3 ? a : a + GRID + 2, a, a + GRID + 2, a + GRID + 1};
    memcpy(m.indices + 6 * (size_t)i, quad, sizeof quad);
  }
  return m;
}

/* Triangles in any order of a mesh with a vertex that none has. */
static mover scattered_mesh(slab_context *context, random_state *random) {
  mover m = mover_of(context, 3 * SCATTERED + 1, 20, SCATTERED, true);
  for (uint32_t i = 0; i < 3 * SCATTERED; i++) m.indices[i] = i;
  for (uint32_t i = SCATTERED - 1; i > 0; i--) {
    const uint32_t k = random_below(random, i + 1);
    for (uint32_t c = 0; c < 3; c++) {
      const uint32_t kept = m.indices[3 * i + c];
      m.indices[3 * i + c] = m.indices[3 * k + c];
      m.indices[3 * k + c] = kept;
    }
  }
  return m;
}

/* Writes vertices that are near where they were the last time. */
static void move(mover *meshes, uint32_t which, random_state *random) {
  const mover *m = &meshes[which];
  for (uint32_t i = 0; i < m->mesh.vertex_count; i++) {
    float *v = vertex_of(m, i);
    for (int k = 0; k < 3; k++) {
      const float shift = random_between(random, -0.4f, 0.4f);
      const uint32_t triangle = i / 3, corner = i % 3 == (uint32_t)k;
      if (which == GRID_MESH) v[k] = (float)(k == 0 ? i % (GRID + 1) : k == 1 ? i / (GRID + 1) : 0) + shift;
      if (which == SOUP_MESH) v[k] = (float)(triangle % 17 + corner) - 20.0f * (float)(k == 2) + shift;
      if (which == SCATTERED_MESH) v[k] = -(float)(triangle * 7 % 31 + corner) + shift;
      if (which == SPREAD_MESH) v[k] = ldexpf((float)corner + shift + (float)(k == 0), (int)triangle - 140) * 0.5f;
      if (random_below(random, 50) == 0) v[k] = random_below(random, 2) != 0 ? -0.0f : 0.0f;
    }
  }
}

typedef struct movers {
  slab_context *context;
  cl_command_queue queue;
  mover list[MESHES];
  slab_scene *there, *here; /* the same scene, updated by buffers and from host memory */
  uint64_t build;           /* of the commit before the last of `there` */
} movers;

static slab_scene *scene_of(const movers *m) {
  slab_scene *scene = harness_scene(m->context);
  for (int i = 0; i < MESHES; i++) assert_ok(slab_scene_add_mesh(scene, &m->list[i].mesh, NULL, NULL));
  return scene;
}

static slab_context *context_of(slab_context_options options) {
  slab_context *context = NULL;
  options.lane_width = harness_width();
  assert_ok(slab_context_create(&options, &context));
  return context;
}

/* Takes over the context. */
static movers movers_begin(slab_context *context, random_state *random) {
  movers m = {.context = context};
  cl_context cl = NULL;
  cl_device_id id = NULL;
  assert_ok(slab_context_objects(m.context, &cl, &id));
  m.queue = opencl_queue(cl, id, 0);
  m.list[GRID_MESH] = grid_mesh(m.context);
  m.list[SOUP_MESH] = mover_of(m.context, 3 * SOUP, 16, SOUP, false);
  m.list[SCATTERED_MESH] = scattered_mesh(m.context, random);
  m.list[SPREAD_MESH] = mover_of(m.context, 3 * SPREAD, 0, SPREAD, false);
  for (uint32_t i = 0; i < MESHES; i++) move(m.list, i, random);
  m.there = scene_of(&m);
  m.here = scene_of(&m);
  return m;
}

/* In compressed nodes, of which copies are made or not. */
static movers compressed_begin(int copy, random_state *random) {
  return movers_begin(context_of((slab_context_options){.layout = SLAB_LAYOUT_COMPRESSED, .copy = copy}), random);
}

static void movers_end(movers *m) {
  slab_scene_destroy(m->there);
  slab_scene_destroy(m->here);
  for (int i = 0; i < MESHES; i++) mover_end(&m->list[i]);
  assert_cl(clReleaseCommandQueue(m->queue));
  slab_context_destroy(m->context);
}

static void commit(movers *m, slab_update update) {
  const slab_build_options how = {.tree = SLAB_TREE_FAST, .update = update};
  const snapshot *last = atomic_load(&m->there->committed);
  m->build = last == NULL ? UINT64_MAX : last->build;
  assert_ok(slab_scene_commit(m->there, &how));
  assert_ok(slab_scene_commit(m->here, &how));
}

/* The buffer is overwritten after the call, which has copied it. */
static slab_status update_there(const movers *m, uint32_t which) {
  const mover *of = &m->list[which];
  static const cl_float nothing = NAN;
  const slab_mesh_spans spans = {
      {of->buffer, OFFSET}, of->mesh.vertex_stride, of->mesh.vertex_count, {NULL, 0}, of->mesh.triangle_count};
  cl_event written = NULL;
  assert_cl(clEnqueueWriteBuffer(m->queue, of->buffer, CL_FALSE, OFFSET, of->size, of->vertices, 0, NULL, &written));
  const slab_status status = slab_scene_update_mesh_cl(m->there, which, &spans, 1, &written);
  assert_cl(clReleaseEvent(written));
  assert_cl(
      clEnqueueFillBuffer(m->queue, of->buffer, &nothing, sizeof nothing, OFFSET, of->size / 4 * 4, 0, NULL, NULL));
  assert_cl(clFinish(m->queue));
  return status;
}

static void update_here(const movers *m, uint32_t which) {
  slab_mesh mesh = m->list[which].mesh;
  mesh.indices = NULL;
  assert_ok(slab_scene_update_mesh(m->here, which, &mesh));
}

static void update(movers *m, uint32_t which, random_state *random) {
  move(m->list, which, random);
  assert_ok(update_there(m, which));
  update_here(m, which);
}

/* ---- comparisons ---- */

/* The host keeps what it has refitted itself. */
static bool was_refitted_there(const movers *m) {
  const snapshot *s = atomic_load(&m->there->committed);
  return s->build == m->build && !s->moves;
}

static void assert_same_arrays(const movers *m) {
  size_t size[2];
  void *got = laid_out(m->there, &size[0]), *want = laid_out(m->here, &size[1]);
  assert_true(got != NULL && want != NULL);
  assert_int_equal(size[0], size[1]);
  assert_same_bits(got, want, size[0] / 4, 4);
  free(got);
  free(want);
}

static void assert_same_answers(const movers *m, random_state *random) {
  slab_ray rays[RAYS];
  slab_hit got[RAYS], want[RAYS];
  for (int i = 0; i < RAYS; i++) {
    rays[i] = (slab_ray){.t_max = INFINITY};
    for (int k = 0; k < 3; k++) {
      rays[i].origin[k] = random_between(random, -30.0f, 30.0f);
      rays[i].direction[k] = random_between(random, -20.0f, 20.0f) - rays[i].origin[k];
    }
  }
  assert_ok(slab_closest(m->there, rays, RAYS, got, NULL));
  assert_ok(slab_closest(m->here, rays, RAYS, want, NULL));
  assert_same_bits(got, want, RAYS, sizeof *got);
  harness_count(RAYS);
}

static slab_scene_stats stats_of(const slab_scene *scene) {
  slab_scene_stats stats;
  assert_ok(slab_scene_info(scene, &stats));
  return stats;
}

/* But for the memory that refits there need, and for a cost that is summed in floats. */
static void assert_same_stats(const movers *m) {
  slab_scene_stats got = stats_of(m->there), want = stats_of(m->here);
  assert_true(fabs(got.sah_cost / want.sah_cost - 1.0) < 1e-4);
  assert_true(got.device_bytes > want.device_bytes && got.device_bytes < 2 * want.device_bytes);
  got.sah_cost = want.sah_cost;
  got.device_bytes = want.device_bytes;
  got.build_seconds = want.build_seconds;
  assert_same_bits(&got, &want, 1, sizeof got);
}

/* ---- on the device ---- */

static void nodes_and_blocks_are_those_of_the_host(void **state) {
  (void)state;
  for (int copy = 0; copy < 2; copy++) {
    random_state random = harness_seeded(__func__);
    movers m = compressed_begin(copy, &random);
    commit(&m, SLAB_UPDATE_REFIT);
    for (uint32_t step = 0; step < STEPS; step++) {
      for (uint32_t i = 0; i < MESHES; i++)
        if (i == step % MESHES || random_below(&random, 2) != 0) update(&m, i, &random);
      commit(&m, SLAB_UPDATE_REFIT);
      assert_true(was_refitted_there(&m));
      assert_same_arrays(&m);
      assert_same_answers(&m, &random);
      assert_same_stats(&m);
    }
    movers_end(&m);
  }
}

/* A commit takes the copy of the last update before it, and no later commit takes it again. */
static void the_last_update_before_a_commit_counts(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  movers m = compressed_begin(0, &random);
  commit(&m, SLAB_UPDATE_REFIT);
  for (int step = 0; step < 3; step++) {
    update(&m, GRID_MESH, &random);
    update(&m, GRID_MESH, &random);
    update(&m, SOUP_MESH, &random);
    m.list[SPREAD_MESH].vertices[7] = NAN;
    assert_status(update_there(&m, SPREAD_MESH), SLAB_INVALID_ARGUMENT);
    m.list[SPREAD_MESH].vertices[7] = 0.25f;
    commit(&m, SLAB_UPDATE_REFIT);
    assert_true(was_refitted_there(&m));
    assert_same_arrays(&m);
  }
  movers_end(&m);
}

/* A rebuild makes another BVH, for which the next refit has other places. */
static void refits_follow_each_build(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  movers m = compressed_begin(0, &random);
  commit(&m, SLAB_UPDATE_REFIT);
  for (int step = 0; step < STEPS; step++) {
    update(&m, SOUP_MESH, &random);
    update(&m, SPREAD_MESH, &random);
    commit(&m, step % 3 == 2 ? SLAB_UPDATE_REBUILD : SLAB_UPDATE_REFIT);
    assert_true(was_refitted_there(&m) == (step % 3 != 2));
    assert_same_arrays(&m);
  }
  movers_end(&m);
}

/* Moves the grid as it is, then lifts its vertices apart. */
static void what_costs_too_much_is_built(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  movers m = compressed_begin(0, &random);
  const mover *grid = &m.list[GRID_MESH];
  assert_ok(slab_scene_remove(m.there, SPREAD_MESH)); /* beside which the others are as good as points */
  assert_ok(slab_scene_remove(m.here, SPREAD_MESH));
  commit(&m, SLAB_UPDATE_AUTO);
  for (int apart = 0; apart < 2; apart++) {
    for (uint32_t i = 0; i < grid->mesh.vertex_count; i++)
      vertex_of(grid, i)[2] += apart ? random_between(&random, -90.0f, 90.0f) : 1.0f;
    assert_ok(update_there(&m, GRID_MESH));
    update_here(&m, GRID_MESH);
    commit(&m, SLAB_UPDATE_AUTO);
    assert_true(was_refitted_there(&m) == !apart);
  }
  assert_same_arrays(&m);
  assert_same_answers(&m, &random);
  movers_end(&m);
}

/* More geometries than commands are waited for at once, of one triangle each, of which some have not moved. */
static void many_geometries_move(void **state) {
  enum { MANY = 150 };
  (void)state;
  random_state random = harness_seeded(__func__);
  movers m = compressed_begin(0, &random);
  mover one = mover_of(m.context, 3, 0, 1, false);
  for (int step = 0; step < 3; step++) {
    for (uint32_t i = 0; i < MANY; i++) {
      for (int k = 0; k < 9; k++) one.vertices[k] = random_between(&random, 0.0f, 1.0f) + (float)(k % 3 == 0 ? i : 0);
      if (step == 0) {
        assert_ok(slab_scene_add_mesh(m.there, &one.mesh, NULL, NULL));
        assert_ok(slab_scene_add_mesh(m.here, &one.mesh, NULL, NULL));
      } else if (i % 7 != (uint32_t)step) {
        const slab_mesh_spans spans = {{one.buffer, OFFSET}, 0, 3, {NULL, 0}, 1};
        assert_cl(clEnqueueWriteBuffer(m.queue, one.buffer, CL_TRUE, OFFSET, one.size, one.vertices, 0, NULL, NULL));
        assert_ok(slab_scene_update_mesh_cl(m.there, MESHES + i, &spans, 0, NULL));
        assert_ok(slab_scene_update_mesh(m.here, MESHES + i, &one.mesh));
      }
    }
    commit(&m, SLAB_UPDATE_REFIT);
    assert_true(was_refitted_there(&m) == (step > 0));
    assert_same_arrays(&m);
  }
  mover_end(&one);
  movers_end(&m);
}

/* The cast waits until the scene has been refitted three times, so that its buffers would have been written. */
static void a_cast_in_flight_answers_what_it_began_with(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  const slab_context_options compressed = {.layout = SLAB_LAYOUT_COMPRESSED};
  const cl_device_id id = opencl_device();
  const cl_context cl = opencl_context(&id, 1);
  slab_context *context = NULL;
  assert_ok(slab_context_create_cl(cl, id, NULL, &compressed, &context));
  movers m = movers_begin(context, &random);
  slab_ray rays[RAYS];
  slab_hit want[RAYS], got[RAYS];
  for (int i = 0; i < RAYS; i++)
    rays[i] = (slab_ray){{(float)(i % GRID) + 0.3f, (float)(i / GRID) + 0.4f, 9}, 0, {0, 0, -1}, INFINITY};
  commit(&m, SLAB_UPDATE_REFIT);
  update(&m, GRID_MESH, &random);
  commit(&m, SLAB_UPDATE_REFIT); /* the cast reads what a refit wrote */
  assert_ok(slab_closest(m.there, rays, RAYS, want, NULL));
  const cl_command_queue queue = opencl_queue(cl, id, 0);
  const cl_event gate = opencl_gate(cl);
  const cl_mem in = opencl_buffer(cl, rays, sizeof rays), out = opencl_buffer(cl, NULL, sizeof got);
  const slab_batch batch = {.query = SLAB_CLOSEST, .count = RAYS, .rays = {in, 0}, .results = {out, 0}};
  assert_ok(slab_enqueue(m.there, &batch, queue, 1, &gate, NULL));
  assert_cl(clFlush(queue));
  for (int step = 0; step < 3; step++) {
    update(&m, GRID_MESH, &random);
    commit(&m, SLAB_UPDATE_REFIT);
    assert_true(was_refitted_there(&m));
  }
  opencl_open_gate(gate);
  assert_cl(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
  assert_same_bits(got, want, RAYS, sizeof *got);
  assert_ok(slab_closest(m.there, rays, RAYS, got, NULL));
  assert_true(memcmp(got, want, sizeof got) != 0);
  harness_count(RAYS);
  assert_cl(clReleaseMemObject(in));
  assert_cl(clReleaseMemObject(out));
  assert_cl(clReleaseEvent(gate));
  assert_cl(clReleaseCommandQueue(queue));
  assert_cl(clReleaseContext(cl));
  movers_end(&m);
}

enum { STATES = 2, COMMITS = 40 };

/* A thread that casts until `ends` is set, and the answers that it may get. */
typedef struct onlooker {
  slab_scene *scene;
  slab_ray rays[RAYS];
  slab_hit want[STATES][RAYS];
  atomic_bool ends;
  unsigned casts, strange, seen[STATES];
} onlooker;

static void *look_on(void *argument) {
  onlooker *o = argument;
  slab_hit got[RAYS];
  while (!atomic_load(&o->ends)) {
    bool known = false;
    if (slab_closest(o->scene, o->rays, RAYS, got, NULL) != SLAB_OK) memset(got, 0, sizeof got);
    for (int i = 0; i < STATES; i++) {
      const bool same = memcmp(got, o->want[i], sizeof got) == 0;
      o->seen[i] += same;
      known = known || same;
    }
    o->strange += !known;
    o->casts++;
  }
  return NULL;
}

static void no_cast_sees_half_a_refit(void **state) {
  (void)state;
  static onlooker o;
  random_state random = harness_seeded(__func__);
  movers m = compressed_begin(0, &random);
  const mover *grid = &m.list[GRID_MESH];
  float *kept[STATES];
  pthread_t thread;
  for (int i = 0; i < RAYS; i++)
    o.rays[i] = (slab_ray){{(float)(i % GRID) + 0.3f, (float)(i / GRID) + 0.4f, 9}, 0, {0, 0, -1}, INFINITY};
  for (int i = 0; i < STATES; i++) {
    move(m.list, GRID_MESH, &random);
    kept[i] = harness_space(grid->size);
    memcpy(kept[i], grid->vertices, grid->size);
    update_here(&m, GRID_MESH);
    assert_ok(update_there(&m, GRID_MESH));
    commit(&m, SLAB_UPDATE_REFIT);
    assert_ok(slab_closest(m.here, o.rays, RAYS, o.want[i], NULL));
  }
  o.scene = m.there;
  assert_int_equal(pthread_create(&thread, NULL, look_on, &o), 0);
  for (int step = 0; step < COMMITS; step++) {
    memcpy(grid->vertices, kept[step % STATES], grid->size);
    assert_ok(update_there(&m, GRID_MESH));
    commit(&m, SLAB_UPDATE_REFIT);
    assert_true(was_refitted_there(&m));
    opencl_pause();
  }
  atomic_store(&o.ends, true);
  assert_int_equal(pthread_join(thread, NULL), 0);
  print_message("%u casts, %u and %u of the states\n", o.casts, o.seen[0], o.seen[1]);
  assert_true(o.casts > 0 && o.strange == 0);
  assert_true(o.seen[0] > 0 && o.seen[1] > 0);
  harness_count((size_t)o.casts * RAYS);
  for (int i = 0; i < STATES; i++) free(kept[i]);
  movers_end(&m);
}

/* ---- on the host ---- */

static void add_spheres(const movers *m) {
  const slab_sphere sphere = {{0, 0, 50}, 1};
  assert_ok(slab_scene_add_spheres(m->there, &sphere, 1, NULL, NULL));
  assert_ok(slab_scene_add_spheres(m->here, &sphere, 1, NULL, NULL));
}

/* Of no triangles, but with vertices. */
static void update_an_empty_mesh(const movers *m, bool add) {
  const slab_mesh empty = {m->list[SOUP_MESH].vertices, 0, 3, NULL, 0, NULL};
  slab_mesh_spans spans = {{m->list[SOUP_MESH].buffer, OFFSET}, 4, 3, {NULL, 0}, 0};
  if (add) assert_ok(slab_scene_add_mesh(m->there, &empty, NULL, NULL));
  if (add) assert_ok(slab_scene_add_mesh(m->here, &empty, NULL, NULL));
  assert_ok(slab_scene_update_mesh_cl(m->there, MESHES + 1, &spans, 0, NULL)); /* a stride that no copy can have */
  spans.vertex_stride = 0;
  assert_ok(slab_scene_update_mesh_cl(m->there, MESHES + 1, &spans, 0, NULL));
  assert_ok(slab_scene_update_mesh(m->here, MESHES + 1, &empty));
}

/* A mesh that drops what it refuses: its second triangle, or none. */
static void drop(movers *m, uint32_t geometry, bool drops) {
  mover soup = mover_of(m->context, 6, 0, 2, false);
  for (uint32_t i = 0; i < 18; i++) soup.vertices[i] = (float)(i * i % 7);
  soup.vertices[12] = drops ? NAN : 2.0f;
  const slab_geometry_options options = {.skip_invalid = 1};
  const slab_mesh_spans spans = {{soup.buffer, OFFSET}, 0, 6, {NULL, 0}, 2};
  assert_cl(clEnqueueWriteBuffer(m->queue, soup.buffer, CL_TRUE, OFFSET, soup.size, soup.vertices, 0, NULL, NULL));
  if (geometry == MESHES) {
    assert_ok(slab_scene_add_mesh(m->there, &soup.mesh, &options, NULL));
    assert_ok(slab_scene_add_mesh(m->here, &soup.mesh, &options, NULL));
  } else {
    assert_ok(slab_scene_update_mesh_cl(m->there, MESHES, &spans, 0, NULL));
    assert_ok(slab_scene_update_mesh(m->here, MESHES, &soup.mesh));
  }
  mover_end(&soup);
}

static void expect(movers *m, slab_update update, bool there, random_state *random) {
  commit(m, update);
  assert_true(was_refitted_there(m) == there);
  assert_same_arrays(m);
  assert_same_answers(m, random);
}

/* After any other change the host refits or builds, from the device's buffers, and the device may go on from there. */
static void the_host_refits_what_a_device_cannot(void **state) {
  (void)state;
  for (int copy = 0; copy < 2; copy++) {
    random_state random = harness_seeded(__func__);
    movers m = compressed_begin(copy, &random);
    drop(&m, MESHES, false);
    update_an_empty_mesh(&m, true);
    expect(&m, SLAB_UPDATE_REFIT, false, &random);
    update(&m, GRID_MESH, &random);
    update_an_empty_mesh(&m, false);
    expect(&m, SLAB_UPDATE_REFIT, true, &random);
    update_an_empty_mesh(&m, false);
    expect(&m, SLAB_UPDATE_REFIT, false, &random); /* nothing to do */
    update(&m, GRID_MESH, &random);
    move(m.list, SOUP_MESH, &random);
    assert_ok(slab_scene_update_mesh(m.there, SOUP_MESH, &m.list[SOUP_MESH].mesh));
    update_here(&m, SOUP_MESH);
    expect(&m, SLAB_UPDATE_REFIT, false, &random); /* some vertices are the host's alone */
    for (int step = 0; step < 4; step++) { /* two corners are one, not by their indices: refitted, built; two others */
      const mover *soup = &m.list[SOUP_MESH];
      move(m.list, SOUP_MESH, &random);
      if (step < 3) memcpy(vertex_of(soup, step < 2 ? 4 : 8), vertex_of(soup, step < 2 ? 3 : 7), 3 * sizeof(float));
      assert_ok(update_there(&m, SOUP_MESH));
      update_here(&m, SOUP_MESH);
      expect(&m, step == 1 ? SLAB_UPDATE_REBUILD : SLAB_UPDATE_REFIT, step == 0, &random);
    }
    update(&m, SOUP_MESH, &random);
    expect(&m, SLAB_UPDATE_REFIT, true, &random);
    for (int step = 0; step < 3; step++) { /* the same beside triangles that have a vertex twice: built, built again */
      const mover *grid = &m.list[GRID_MESH];
      move(m.list, GRID_MESH, &random);
      if (step == 0) memcpy(vertex_of(grid, 1), vertex_of(grid, 0), 3 * sizeof(float));
      assert_ok(update_there(&m, GRID_MESH));
      update_here(&m, GRID_MESH);
      expect(&m, step == 0 ? SLAB_UPDATE_REBUILD : SLAB_UPDATE_REFIT, step == 2, &random);
    }
    for (int enabled = 0; enabled < 2; enabled++) {
      assert_ok(slab_scene_enable(m.there, SPREAD_MESH, enabled));
      assert_ok(slab_scene_enable(m.here, SPREAD_MESH, enabled));
      update(&m, GRID_MESH, &random);
      expect(&m, SLAB_UPDATE_REFIT, false, &random);
      update(&m, GRID_MESH, &random);
      if (enabled == 0) update(&m, SPREAD_MESH, &random); /* while it is disabled */
      expect(&m, SLAB_UPDATE_REFIT, true, &random);
    }
    for (int built = 0; built < 2; built++) { /* dropped triangles have a place after a refit, none after a build */
      drop(&m, 0, true);
      expect(&m, built ? SLAB_UPDATE_REBUILD : SLAB_UPDATE_REFIT, false, &random);
      drop(&m, 0, false);
      expect(&m, SLAB_UPDATE_REFIT, !built, &random);
    }
    drop(&m, 0, false);
    expect(&m, SLAB_UPDATE_REFIT, true, &random);
    assert_ok(slab_scene_remove(m.there, SCATTERED_MESH));
    assert_ok(slab_scene_remove(m.here, SCATTERED_MESH));
    update(&m, GRID_MESH, &random);
    expect(&m, SLAB_UPDATE_REFIT, false, &random);
    update(&m, GRID_MESH, &random);
    expect(&m, SLAB_UPDATE_REFIT, true, &random);
    add_spheres(&m);
    update(&m, GRID_MESH, &random);
    expect(&m, SLAB_UPDATE_REFIT, false, &random);
    update(&m, GRID_MESH, &random);
    expect(&m, SLAB_UPDATE_REFIT, false, &random); /* not triangles alone */
    movers_end(&m);
  }
}

static void wide_trees_are_refitted_by_the_host(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  movers m = movers_begin(context_of((slab_context_options){.layout = SLAB_LAYOUT_WIDE, .copy = 1}), &random);
  expect(&m, SLAB_UPDATE_REFIT, false, &random);
  for (uint32_t i = 0; i < MESHES; i++) update(&m, i, &random);
  expect(&m, SLAB_UPDATE_REFIT, false, &random);
  movers_end(&m);
}

/* The blocks are cut, by the layer of small allocations. */
static void scenes_in_several_buffers_are_refitted_by_the_host(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  under.small(60000);
  movers m = compressed_begin(1, &random);
  expect(&m, SLAB_UPDATE_REFIT, false, &random);
  for (uint32_t i = 0; i < MESHES; i++) update(&m, i, &random);
  expect(&m, SLAB_UPDATE_REFIT, false, &random);
  assert_true(under.small_now().cut > 0);
  movers_end(&m);
  under.small(0);
}

/* A scene that a device has refitted can be packed and be a model, although the host has none of its nodes. */
static void what_a_device_has_refitted_is_a_scene_like_others(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  movers m = compressed_begin(1, &random);
  const float turned[12] = {0, -1, 0, 5, 1, 0, 0, 0, 0, 0, 1, 0};
  commit(&m, SLAB_UPDATE_REFIT);
  update(&m, GRID_MESH, &random);
  commit(&m, SLAB_UPDATE_REFIT);
  assert_true(was_refitted_there(&m));
  size_t size = 0;
  movers packed = m, holders = m;
  assert_ok(slab_scene_pack(m.there, NULL, 0, &size));
  void *bytes = harness_space(size);
  assert_ok(slab_scene_pack(m.there, bytes, size, &size));
  assert_ok(slab_scene_unpack(m.context, bytes, size, &packed.there));
  free(bytes);
  assert_same_answers(&packed, &random);
  slab_scene_destroy(packed.there);
  holders.there = harness_scene(m.context);
  holders.here = harness_scene(m.context);
  assert_ok(slab_scene_add_instances(holders.there, m.there, turned, 1, NULL, NULL));
  assert_ok(slab_scene_add_instances(holders.here, m.here, turned, 1, NULL, NULL));
  for (int step = 0; step < 2; step++) {
    commit(&holders, SLAB_UPDATE_AUTO);
    assert_same_answers(&holders, &random);
    update(&m, GRID_MESH, &random);
    commit(&m, SLAB_UPDATE_REFIT);
  }
  slab_scene_destroy(holders.there);
  slab_scene_destroy(holders.here);
  movers_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nodes_and_blocks_are_those_of_the_host),
      cmocka_unit_test(the_last_update_before_a_commit_counts),
      cmocka_unit_test(refits_follow_each_build),
      cmocka_unit_test(what_costs_too_much_is_built),
      cmocka_unit_test(many_geometries_move),
      cmocka_unit_test(a_cast_in_flight_answers_what_it_began_with),
      cmocka_unit_test(no_cast_sees_half_a_refit),
      cmocka_unit_test(the_host_refits_what_a_device_cannot),
      cmocka_unit_test(wide_trees_are_refitted_by_the_host),
      cmocka_unit_test(scenes_in_several_buffers_are_refitted_by_the_host),
      cmocka_unit_test(what_a_device_has_refitted_is_a_scene_like_others),
  };
  under = layers_with(SMALL_LAYER);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
