#include "job.h"

#include <stdlib.h>
#include <string.h>

#include "counting_scene.h"

#define GUARD 0xA5
#define GUARD_BYTES 17u   /* odd, so that results of single bytes begin at an odd byte */
#define COUNTED_BEFORE 5u /* the counter of invalid rays is added to */

static void *room(size_t size) {
  void *bytes = malloc(size + 1);
  assert_non_null(bytes);
  memset(bytes, GUARD, size + 1);
  return bytes;
}

/* Guard bytes up to a multiple of `unit`, and then `size` bytes; NULL: more guard bytes. */
static slab_span append(job *j, size_t unit, const void *bytes, size_t size) {
  const size_t at = (j->size + GUARD_BYTES + unit - 1) / unit * unit;
  unsigned char *grown = room(at + size);
  if (j->size > 0) memcpy(grown, j->before, j->size);
  if (bytes != NULL && size > 0) memcpy(grown + at, bytes, size);
  free(j->before);
  j->before = grown;
  j->size = at + size;
  return (slab_span){NULL, at};
}

static void want_each(job *j, slab_scene *scene, const slab_ray *rays, const slab_cast_options *options) {
  j->want_size = j->batch.count * slab_result_size(j->batch.query);
  j->want = room(j->want_size);
  assert_ok(cast_query(scene, j->batch.query, rays, j->batch.count, j->want, options));
}

static void want_all(job *j, slab_scene *scene, const slab_ray *rays, const slab_cast_options *options) {
  const size_t n = j->batch.count;
  uint64_t *offsets = room((n + 1) * sizeof *offsets), hits = 0;
  assert_ok(slab_all(scene, rays, n, offsets, NULL, 0, &hits, options));
  j->want_size = hits * sizeof(slab_hit);
  j->want = room(j->want_size);
  assert_ok(slab_all(scene, rays, n, offsets, j->want, hits, NULL, options));
  free(offsets);
}

static slab_span append_offsets(job *j, slab_scene *scene, const slab_ray *rays, const slab_cast_options *options) {
  const size_t n = j->batch.count;
  cl_uint *offsets = room((n + 1) * sizeof *offsets);
  offsets[0] = 0;
  assert_ok(slab_count(scene, rays, n, offsets + 1, options));
  for (size_t i = 0; i < n; i++) offsets[i + 1] += offsets[i];
  const slab_span span = append(j, sizeof *offsets, offsets, (n + 1) * sizeof *offsets);
  free(offsets);
  return span;
}

static void fill(job *j, slab_scene *scene, const slab_ray *rays, const slab_cast_options *options) {
  slab_batch *b = &j->batch;
  const cl_uint counted = COUNTED_BEFORE;
  const bool all = b->query == SLAB_ALL;
  b->rays = append(j, 4, rays, b->count * sizeof *rays);
  b->results = append(j, b->query == SLAB_ANY ? 1 : 4, NULL, j->want_size);
  if (all) b->offsets = append_offsets(j, scene, rays, options);
  if (options->skip != NULL) b->skip = append(j, 4, options->skip, b->count * sizeof *options->skip);
  b->invalid = append(j, 4, &counted, sizeof counted);
  append(j, 1, NULL, 0);
}

job job_create(cl_context context, slab_scene *scene, slab_query query, const slab_ray *rays, size_t n,
               const slab_cast_options *options) {
  job j = {.batch = {.query = query, .count = n}};
  slab_cast_options counting = {0};
  if (options != NULL) counting = *options;
  counting.invalid = &j.invalid;
  j.batch.mask = counting.mask;
  j.batch.cull = counting.cull;
  j.batch.face_forward = counting.face_forward;
  if (query == SLAB_ALL)
    want_all(&j, scene, rays, &counting);
  else
    want_each(&j, scene, rays, &counting);
  fill(&j, scene, rays, &counting);
  j.buffer = opencl_buffer(context, j.before, j.size);
  slab_span *spans[] = {&j.batch.rays, &j.batch.results, &j.batch.offsets, &j.batch.skip, &j.batch.invalid};
  for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
    if (spans[i]->offset != 0) spans[i]->buffer = j.buffer;
  return j;
}

void job_verify_bytes(const job *j, const unsigned char *bytes, uint32_t casts) {
  unsigned char *expected = room(j->size);
  const cl_uint counted = COUNTED_BEFORE + casts * (cl_uint)j->invalid;
  memcpy(expected, j->before, j->size);
  if (casts > 0) memcpy(expected + j->batch.results.offset, j->want, j->want_size);
  memcpy(expected + j->batch.invalid.offset, &counted, sizeof counted);
  if (memcmp(bytes, expected, j->size) != 0)
    print_error("query %d, %zu rays at %zu, results at %zu:\n", (int)j->batch.query, j->batch.count,
                j->batch.rays.offset, j->batch.results.offset);
  assert_same_bits(bytes, expected, j->size, 1);
  free(expected);
}

void job_verify(const job *j, cl_command_queue queue, uint32_t casts) {
  unsigned char *bytes = room(j->size);
  assert_cl(clEnqueueReadBuffer(queue, j->buffer, CL_TRUE, 0, j->size, bytes, 0, NULL, NULL));
  job_verify_bytes(j, bytes, casts);
  free(bytes);
}

void job_destroy(job *j) {
  if (j->buffer != NULL) assert_cl(clReleaseMemObject(j->buffer));
  free(j->before);
  free(j->want);
}
