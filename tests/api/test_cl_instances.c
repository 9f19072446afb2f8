/* Instances that move by transforms in the caller's OpenCL buffers: all of a geometry, some of them by index, all of
 * many geometries. Answers are those of moves from host arrays, in each world. */
#include <stdlib.h>
#include <string.h>

#include "mixed_fates.h"
#include "opencl.h"

enum { N = 300, PLACES = 6, GIVEN = 20, STEPS = 4 };

/* Two scenes of the same instances: of the first geometry each in a world of its own, of the second in all. In one
 * scene they are moved from buffers. */
typedef struct moving {
  cl_context cl;
  cl_command_queue queue;
  slab_context *slab;
  slab_scene *model, *there, *here;
  uint32_t geometries[2];
  slab_span transforms, indices; /* at an odd multiple of 4 bytes, of 2 * PLACES of either */
  slab_ray *rays;
  uint32_t worlds[N]; /* of the rays */
} moving;

static void moving_add(moving *m, slab_scene **scene, const float *transforms) {
  const uint32_t each[PLACES] = {1, 2, 3, 4, 5, 6};
  const slab_geometry_options apart = {.worlds = each};
  assert_ok(slab_scene_create(m->slab, scene));
  assert_ok(slab_scene_set_worlds(*scene, PLACES));
  assert_ok(slab_scene_add_instances(*scene, m->model, transforms, PLACES, &apart, &m->geometries[0]));
  assert_ok(slab_scene_add_instances(*scene, m->model, transforms, PLACES, NULL, &m->geometries[1]));
}

static moving moving_begin(random_state *random, const char *name) {
  const cl_device_id device = opencl_device();
  moving m = {.cl = opencl_context(&device, 1), .rays = mixed_rays(name, N)};
  float transforms[12 * PLACES];
  m.queue = opencl_queue(m.cl, device, OUT_OF_ORDER);
  m.slab = opencl_slab(m.cl, device, NULL);
  m.model = mixed_tree(m.slab, 20);
  m.transforms = (slab_span){opencl_buffer(m.cl, NULL, 2 * sizeof transforms + GIVEN), GIVEN};
  m.indices = (slab_span){opencl_buffer(m.cl, NULL, 2 * PLACES * sizeof(cl_uint) + GIVEN), GIVEN};
  for (uint32_t i = 0; i < N; i++) m.worlds[i] = i % (PLACES + 1);
  mixed_places(random, transforms, PLACES);
  moving_add(&m, &m.there, transforms);
  moving_add(&m, &m.here, transforms);
  return m;
}

static void moving_end(const moving *m) {
  assert_cl(clReleaseMemObject(m->transforms.buffer));
  assert_cl(clReleaseMemObject(m->indices.buffer));
  free(m->rays);
  slab_scene_destroy(m->there);
  slab_scene_destroy(m->here);
  slab_scene_destroy(m->model);
  slab_context_destroy(m->slab);
  assert_cl(clReleaseCommandQueue(m->queue));
  assert_cl(clReleaseContext(m->cl));
}

/* Begins to write the contents of a span. */
static cl_event moving_write(const moving *m, const slab_span *at, const void *from, size_t size) {
  cl_event written = NULL;
  assert_cl(clEnqueueWriteBuffer(m->queue, at->buffer, CL_FALSE, at->offset, size, from, 0, NULL, &written));
  return written;
}

/* Writes them, and waits for the end. */
static void moving_written(const moving *m, const slab_span *at, const void *from, size_t size) {
  const cl_event written = moving_write(m, at, from, size);
  assert_cl(clWaitForEvents(1, &written));
  assert_cl(clReleaseEvent(written));
}

static void moving_end_events(const cl_event *events, cl_uint count) {
  for (cl_uint i = 0; i < count; i++) assert_cl(clReleaseEvent(events[i]));
}

/* Commits both scenes, which then answer alike. */
static void moving_compare(const moving *m) {
  const slab_cast_options options = {.worlds = m->worlds};
  slab_hit got[N], want[N];
  assert_ok(slab_scene_commit(m->there, NULL));
  assert_ok(slab_scene_commit(m->here, NULL));
  assert_ok(slab_closest(m->there, m->rays, N, got, &options));
  assert_ok(slab_closest(m->here, m->rays, N, want, &options));
  assert_same_bits(got, want, N, sizeof *got);
  harness_count(N);
}

/* Refused by this part of its message. */
static void refused(slab_status status, const char *part) {
  assert_status(status, SLAB_INVALID_ARGUMENT);
  assert_mentions(part);
}

/* In some commits, after the event of the write that fills the span. */
static void instances_are_moved_from_buffers(void **state) {
  const float bad[12] = {1};
  (void)state;
  random_state random = harness_seeded(__func__);
  float transforms[12 * PLACES];
  const moving m = moving_begin(&random, __func__);
  slab_span at = m.transforms;
  for (int step = 0; step < STEPS; step++) {
    mixed_places(&random, transforms, PLACES);
    const cl_event written = moving_write(&m, &at, transforms, sizeof transforms);
    assert_ok(slab_scene_update_instances_cl(m.there, 0, &at, PLACES, 1, &written));
    moving_end_events(&written, 1);
    assert_ok(slab_scene_update_instances(m.here, 0, transforms, PLACES));
    moving_compare(&m);
  }
  moving_written(&m, &(slab_span){at.buffer, at.offset + sizeof bad}, bad, sizeof bad);
  refused(slab_scene_update_instances_cl(m.there, 0, &at, PLACES, 0, NULL),
          "slab_scene_update_instances_cl: transform 1");
  at.offset += sizeof transforms;
  refused(slab_scene_update_instances_cl(m.there, 0, &at, PLACES + 1, 0, NULL),
          "transforms: 336 bytes at 308, more than the buffer's 596");
  refused(slab_scene_update_instances_cl(m.there, 0, NULL, PLACES, 0, NULL), "the span is NULL");
  refused(slab_scene_update_instances_cl(m.there, 0, &at, PLACES - 1, 0, NULL),
          "5 transforms for geometry 0, which has 6 instances");
  refused(slab_scene_update_instances_cl(m.there, 0, &at, PLACES, 1, NULL), "wait is NULL");
  moving_compare(&m);
  moving_end(&m);
}

/* Indices come in any order, one of them twice; either span is waited for. */
static void some_instances_are_moved_from_buffers(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  float transforms[12 * 2 * PLACES];
  cl_uint indices[2 * PLACES];
  const moving m = moving_begin(&random, __func__);
  const slab_span *in = &m.indices, *at = &m.transforms;
  const uint32_t g = m.geometries[1];
  for (uint32_t step = 0; step < 2 * STEPS; step++) {
    const uint32_t n = step % (PLACES + 1);
    mixed_places(&random, transforms, n);
    for (uint32_t i = 0; i < n; i++) indices[i] = random_below(&random, PLACES);
    const cl_event written[] = {moving_write(&m, in, indices, sizeof indices),
                                moving_write(&m, at, transforms, sizeof transforms)};
    assert_ok(slab_scene_update_some_instances_cl(m.there, g, in, at, n, 2, written));
    moving_end_events(written, 2);
    assert_ok(slab_scene_update_some_instances(m.here, g, indices, transforms, n));
    moving_compare(&m);
  }
  indices[1] = PLACES;
  moving_written(&m, in, indices, sizeof indices);
  refused(slab_scene_update_some_instances_cl(m.there, g, in, at, 2, 0, NULL),
          "slab_scene_update_some_instances_cl: indices[1] is 6, and there are 6 instances");
  refused(slab_scene_update_some_instances_cl(m.there, g, in, at, 2 * PLACES + 1, 0, NULL), "indices: 52 bytes at 20");
  refused(slab_scene_update_some_instances_cl(m.there, g, at, in, PLACES, 0, NULL), "transforms: 288 bytes at 20");
  refused(slab_scene_update_some_instances_cl(m.there, g, NULL, at, 1, 0, NULL), "the span is NULL");
  refused(slab_scene_update_some_instances_cl(m.there, g, in, &(slab_span){NULL, 0}, 1, 0, NULL),
          "transforms: buffer is NULL");
  refused(slab_scene_update_some_instances_cl(m.there, g + 1, in, at, 1, 0, NULL), "is one of an instance");
  refused(slab_scene_update_some_instances_cl(m.there, g, in, at, 1, 1, NULL), "wait is NULL and wait_count 1");
  moving_compare(&m);
  moving_end(&m);
}

/* In the order of the geometries that are named. */
static void instances_of_many_geometries_are_moved_from_buffers(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  float transforms[12 * 2 * PLACES];
  const moving m = moving_begin(&random, __func__);
  const slab_span *at = &m.transforms;
  const uint32_t turned[] = {m.geometries[1], m.geometries[0]}, twice[] = {0, 0};
  for (int step = 0; step < STEPS; step++) {
    const uint32_t *both = step % 2 == 0 ? m.geometries : turned;
    mixed_places(&random, transforms, 2 * PLACES);
    const cl_event written = moving_write(&m, at, transforms, sizeof transforms);
    assert_ok(slab_scene_move_instances_cl(m.there, both, 2, at, 2 * PLACES, 1, &written));
    moving_end_events(&written, 1);
    assert_ok(slab_scene_move_instances(m.here, both, 2, transforms, 2 * PLACES));
    moving_compare(&m);
  }
  memset(transforms + 12 * (PLACES + 1), 0, 12 * sizeof *transforms);
  moving_written(&m, at, transforms, sizeof transforms);
  refused(slab_scene_move_instances_cl(m.there, turned, 2, at, 2 * PLACES, 0, NULL),
          "slab_scene_move_instances_cl: geometries[1]: transform 1 is singular");
  refused(slab_scene_move_instances_cl(m.there, twice, 2, at, 2 * PLACES, 0, NULL),
          "geometries[1]: geometry 0 is one of them already");
  refused(slab_scene_move_instances_cl(m.there, turned, 2, at, PLACES, 0, NULL),
          "6 transforms for 2 geometries, which have 12 instances");
  refused(slab_scene_move_instances_cl(m.there, NULL, 2, at, PLACES, 0, NULL), "the array of 2 geometries is NULL");
  refused(slab_scene_move_instances_cl(m.there, turned, 2, at, 2 * PLACES + 1, 0, NULL), "transforms: 624 bytes at 20");
  refused(slab_scene_move_instances_cl(m.there, turned, 2, NULL, PLACES, 0, NULL), "the span is NULL");
  moving_compare(&m);
  moving_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(instances_are_moved_from_buffers),
      cmocka_unit_test(some_instances_are_moved_from_buffers),
      cmocka_unit_test(instances_of_many_geometries_are_moved_from_buffers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
