#include "device/device_scene.h"

#include "device/context.h"

device_scene device_scene_of(const snapshot *scene, uint32_t nth) {
  return (device_scene){scene, &scene->context->devices[nth], &scene->states[nth]};
}

bool device_scene_has_traversals(const device_scene *on) {
  return on->scene->has_bvh && on->scene->context->layout == SLAB_LAYOUT_WIDE;
}
