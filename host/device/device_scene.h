/* A snapshot on one device. backend.h declares its functions. */
#ifndef SLABCAST_DEVICE_DEVICE_SCENE_H
#define SLABCAST_DEVICE_DEVICE_SCENE_H

#include "device/tuning.h"
#include "record/snapshot.h"

typedef struct device_scene {
  const snapshot *scene;
  device *device;
  scene_state *state;
} device_scene;

device_scene device_scene_of(const snapshot *, uint32_t nth);
/* Whether the scene has a wide BVH, to which slab_traversal applies. */
bool device_scene_has_traversals(const device_scene *);

/* Whether brute force beside a BVH suits rays of which nothing is known. */
static inline bool is_flat_likely(const snapshot *scene) { return scene->beside_work <= BESIDE_MOST / 5; }

#endif
