/* The depth of a packet where a scene has instances: the scene, or a model. packet_none.h is the same where it has
 * none. */
#ifndef WALK_PACKET_SOME_H
#define WALK_PACKET_SOME_H

#include "maths/instances.h"
#include "walk/models.h"

/* Members of packet. The packet in a model is the next element of an array. It has no hits: the first packet, of the
 * scene, has. */
#define PACKET_DEPTH                                                                           \
  uint depth;                                                                                  \
  GLOBAL const model_entry *model;                                                             \
  uint first_geometry; /* id of the model's first geometry */                                  \
  uint bottom;         /* entries of the stack below those of this depth */                    \
  uint entered;        /* rays that were live when the packet went into the model; SLAB_ANY */ \
  real gate;           /* as in instance_t; not set for the scene */                           \
  word geometry;       /* id of the geometry of the best hit */

#define CROSSING_DEPTH word geometry; /* its id in the scene */

#include "walk/packet_state.inc"

/* Defines a packet at each depth. None of the rays has hit anything. */
#define PACKETS(depths, given, scene) \
  packet depths[SCENE_DEPTHS];        \
  packet_begin(depths, given, scene)

INLINE void packet_begin(packet *p, const ray_given *given, const scene_view *scene) {
  p->depth = p->first_geometry = p->bottom = 0;
  p->model = scene_model(scene, 0);
  p->geometry = p->where = p->lane = (word)(SLAB_MISS);
  p->count = (word)(0);
  p->ray = ray_scale(given);
}

/* The packet of the scene. */
INLINE packet *packet_of_scene(packet *p) { return p - p->depth; }

/* The entry of a primitive's geometry, in the model that the packet is in. */
INLINE GLOBAL const geometry_entry *packet_entry(const packet *p, uint global_id, const scene_view *scene) {
  return model_entry_of(scene, p->model, global_id);
}

/* The primitives outside the BVH that the packet is in. */
INLINE GLOBAL const bvh_outside *packet_outside_of(const packet *p, const scene_view *scene) {
  (void)scene;
  return p->model->outside;
}

/* Notes the geometry of the primitive that some rays cross. */
INLINE void crossing_in(packet_crossing *c, const packet *p, mask rays, uint global_id, const scene_view *scene) {
  const uint geometry = SLAB_QUERY == SLAB_CLOSEST ? p->first_geometry + packet_entry(p, global_id, scene)->id : 0;
  c->geometry = rays ? (word)(geometry) : c->geometry;
}

/* A crossing's t as that of the scene's rays has it. Any hit in a model is one outside too: t is raised to the gate at
 * most, which is in the range. */
INLINE real crossing_t(packet *p, const packet_crossing *c) {
  const packet *all = packet_of_scene(p);
  real t = c->t;
  for (uint k = p->depth; k > 0; k--) t = instance_t(&all[k].ray, &all[k - 1].ray, all[k].gate, t);
  return t;
}

/* Of two crossings at one t, whether it comes before the best. */
INLINE mask crossing_is_first(const packet *all, const packet_crossing *c) {
  return (c->geometry < all->geometry) | ((c->geometry == all->geometry) & (c->global_id < all->global_id));
}

/* The crossing is the best of some rays now: their limits at each depth are lowered. */
INLINE void crossing_kept(packet *p, const packet_crossing *c, mask better) {
  packet *all = packet_of_scene(p);
  all->geometry = better ? c->geometry : all->geometry;
  for (uint k = 1; k <= p->depth; k++)
    all[k].limit = better ? instance_limit(&all[k].ray, all[k - 1].limit) : all[k].limit;
}

INLINE word packet_geometry(const packet *p) { return p->geometry; }

#endif
