#include "interop/batch.h"

#include <string.h>

#include "base/status.h"
#include "device/context.h"
#include "device/tuning.h"
#include "scene/scene.h"
#include "work/uniforms.h"

slab_status batch_check(const char *function, slab_query query, size_t count, slab_cull cull, slab_edges edges) {
  if ((unsigned)query >= SLAB_QUERY_COUNT)
    return fail(SLAB_INVALID_ARGUMENT, "%s: query is %d, not a slab_query", function, (int)query);
  const slab_status status = check_rules(function, cull, edges);
  if (status != SLAB_OK) return status;
  if (count > UINT32_MAX - WORK_GROUP)
    return fail(SLAB_INVALID_ARGUMENT, "%s: %zu rays in one launch", function, count);
  return SLAB_OK;
}

static slab_status enqueue(const snapshot *scene, slab_query query, size_t count, const slab_cast_options *options,
                           launch *l, gpu_queue *queue, gpu_order order) {
  const device_scene on = device_scene_of(scene, 0);
  const cast_uniforms placed = l->uniforms;
  if (count == 0) return driver_of(on.device)->mark(queue, order, "an empty batch");
  cast_uniforms_of(scene, query, options, &l->uniforms);
  memcpy(l->uniforms.at, placed.at, sizeof placed.at);
  l->uniforms.masks_begin = placed.masks_begin;
  l->uniforms.after_begin = placed.after_begin;
  l->uniforms.worlds_begin = placed.worlds_begin;
  if (l->masks != NULL) l->uniforms.masked = 1;
  l->uniforms.rays = (uint32_t)count;
  l->uniforms.skip = l->skips != NULL;
  l->uniforms.invalid = l->invalid != NULL;
  gpu_lend(&on);
  return launch_enqueue(&on, query, l, queue, order);
}

/* A context on the caller's objects has one device, so the first device is used. */
slab_status batch_enqueue(slab_scene *scene, const char *function, slab_query query, size_t count,
                          const slab_cast_options *options, launch *l, gpu_queue *queue, gpu_order order) {
  scene_reading reading;
  slab_status status = scene_enter(scene, function, &reading);
  if (status != SLAB_OK) return status;
  status = enqueue(reading.scene, query, count, options, l, queue, order);
  scene_leave(&reading); /* the launch has the scene's buffers from here on, which are copies */
  return status;
}
