/* Intersects ray i with shape i on a device. */
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"
#include "gpu/program.h"
#include "maths/primitive.h"
#include "shapes/primitive.h"

#define LAUNCH_PAIRS (1u << 20)

/* The device's buffers, for at most LAUNCH_PAIRS pairs. */
typedef struct pair_buffers {
  gpu_buffer *rays, *shapes, *intervals;
} pair_buffers;

/* Casts pairs whose rays and shapes are there, and waits: only its event reports that a kernel has failed while it
 * ran. */
static slab_status cast_pairs(device *d, slab_shape kind, const pair_buffers *b, size_t first, uint32_t count) {
  const uint32_t shape = (uint32_t)kind, from = (uint32_t)first;
  const gpu_argument list[] = {BUFFER_ARGUMENT(b->rays), BUFFER_ARGUMENT(b->shapes), BUFFER_ARGUMENT(b->intervals),
                               VALUE_ARGUMENT(shape),    VALUE_ARGUMENT(count),      VALUE_ARGUMENT(from)};
  gpu_event *launched = NULL;
  bool unused = false;
  const kernel_run run = {.key = {.source = PROGRAM_PAIRS, .query = SLAB_INTERVAL, .kinds = 1u << kind},
                          .nth = KERNEL_MAIN,
                          .arguments = list,
                          .count = sizeof list / sizeof *list,
                          .items = count,
                          .group = WORK_GROUP,
                          .queue = gpu_of(d)->queue,
                          .order = {.done = &launched},
                          .what = "pairs"};
  slab_status status = program_run(d, &run, &unused);
  if (status != SLAB_OK) return status;
  status = driver_of(d)->wait(&launched, 1, "pairs");
  driver_of(d)->release_event(launched);
  return status;
}

static slab_status run_pairs(device *d, slab_shape kind, const pair_buffers *b, const slab_ray *rays,
                             const float *prepared, size_t first, uint32_t count, slab_interval *intervals) {
  const gpu_driver *driver = driver_of(d);
  gpu_queue *queue = gpu_of(d)->queue;
  const gpu_order order = {0};
  const size_t shape_bytes = count * primitive_floats(kind) * sizeof *prepared;
  slab_status status = driver->write(queue, b->rays, 0, rays + first, count * sizeof *rays, true, order, "pairs");
  if (status == SLAB_OK) status = driver->write(queue, b->shapes, 0, prepared, shape_bytes, true, order, "pairs");
  if (status == SLAB_OK) status = cast_pairs(d, kind, b, first, count);
  if (status != SLAB_OK) return status;
  return driver->read(queue, b->intervals, 0, intervals + first, count * sizeof *intervals, true, order, "pairs");
}

slab_status gpu_pairs(device *d, slab_shape kind, const slab_ray *rays, const float *shapes, size_t n,
                      slab_interval *intervals) {
  const gpu_driver *driver = driver_of(d);
  slab_status status = SLAB_OK;
  pair_buffers b = {0};
  const uint32_t most = n < LAUNCH_PAIRS ? (uint32_t)n : LAUNCH_PAIRS;
  const size_t shape_bytes = most * primitive_floats(kind) * sizeof(float);
  float *prepared = malloc(shape_bytes);
  if (prepared == NULL) status = fail_memory(shape_bytes, "pairs");
  if (status == SLAB_OK) status = driver->create(d, GPU_READ, GPU_OWN, most * sizeof *rays, NULL, "pairs", &b.rays);
  if (status == SLAB_OK) status = driver->create(d, GPU_READ, GPU_OWN, shape_bytes, NULL, "pairs", &b.shapes);
  if (status == SLAB_OK)
    status = driver->create(d, GPU_WRITE, GPU_OWN, most * sizeof *intervals, NULL, "pairs", &b.intervals);
  for (size_t first = 0; status == SLAB_OK && first < n; first += most) {
    uint32_t count = n - first < most ? (uint32_t)(n - first) : most;
    primitives_prepare(kind, shapes + first * primitive_floats(kind), count, prepared);
    status = run_pairs(d, kind, &b, rays, prepared, first, count, intervals);
  }
  gpu_release_buffer(d, &b.rays);
  gpu_release_buffer(d, &b.shapes);
  gpu_release_buffer(d, &b.intervals);
  free(prepared);
  return status;
}
