#include "device/device_scene.h"

#include "device/context.h"
#include "device/tuning.h"

device_scene device_scene_of(const snapshot *scene, uint32_t nth) {
  return (device_scene){scene, &scene->context->devices[nth], &scene->states[nth]};
}

bool device_scene_has_traversals(const device_scene *on) {
  return on->scene->has_bvh && on->scene->context->layout == SLAB_LAYOUT_WIDE;
}

uint32_t device_scene_packet(const device_scene *on, slab_query query) {
  const device *d = on->device;
  if (!device_scene_has_traversals(on) || d->info.lane_width == 1) return 0;
  const bool through_instances = query == SLAB_CLOSEST || query == SLAB_ANY || query == SLAB_COUNT;
  if (on->scene->has_instances && !through_instances) return 0;
  return query == SLAB_ALL || query == SLAB_INTERVAL ? 0 : d->info.lane_width;
}

double device_scene_in_flight(const device_scene *on) {
  const tuning *t = on->device->tuning;
  return device_scene_has_traversals(on) ? (double)t->in_flight / t->interleaved_rays : 1.0;
}
