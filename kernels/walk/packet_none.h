/* Packets where a scene has no instances. packet_some.h is the same where it has some, and says more. */
#ifndef WALK_PACKET_NONE_H
#define WALK_PACKET_NONE_H

#define PACKET_DEPTH
#define CROSSING_DEPTH
#include "walk/packet_state.inc"

/* Defined as what it is from the beginning: assigned, as in packet_some.h, it takes up to 1.015 of the instructions. */
#define PACKETS(depths, given, scene) packet depths[1] = {{.ray = ray_scale(given)}}

INLINE packet *packet_of_scene(packet *p) { return p; }

INLINE GLOBAL const geometry_entry *packet_entry(const packet *p, uint global_id, const scene_view *scene) {
  (void)p;
  return scene->table + geometry_of(scene->table, scene->cast->geometries, global_id);
}

INLINE const bvh_outside *packet_outside_of(const packet *p, const scene_view *scene) {
  (void)p;
  return scene->cast->outside;
}

INLINE void crossing_in(packet_crossing *c, const packet *p, mask rays, uint global_id, const scene_view *scene) {
  (void)c, (void)p, (void)rays, (void)global_id, (void)scene;
}

INLINE real crossing_t(packet *p, const packet_crossing *c) {
  (void)p;
  return c->t;
}

INLINE mask crossing_is_first(const packet *all, const packet_crossing *c) { return c->global_id < all->global_id; }

INLINE void crossing_kept(packet *p, const packet_crossing *c, mask better) { (void)p, (void)c, (void)better; }

INLINE word packet_geometry(const packet *p) {
  (void)p;
  return (word)(0);
}

#endif
