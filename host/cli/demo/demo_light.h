/* How the demo's surfaces look: where light leaves them to, and what colour arrives at the eye. */
#ifndef SLABCAST_CLI_DEMO_LIGHT_H
#define SLABCAST_CLI_DEMO_LIGHT_H

#include "demo_scene.h"

/* Turns the normal of a hit into what triangles and a plane do not have: that of smooth land, of waves. The functions
 * below want hits so prepared. */
void demo_smooth(const demo_scene *, const slab_ray *, slab_hit *);

static inline int demo_is_hit(const slab_hit *hit) { return hit->geometry < DEMO_GEOMETRIES; }

/* Is it a mirror: water, gold? */
static inline int demo_is_polished(const slab_hit *hit) {
  return hit->geometry == DEMO_WATER || hit->geometry == DEMO_FLAKE;
}

int demo_faces_sun(const slab_hit *);

enum { DEMO_PATTERN = 16 };
/* Ray number `pattern` of 16 towards the sun's disc, and into the half-sphere over the surface. */
slab_ray demo_sun_ray(const slab_ray *, const slab_hit *, uint32_t pattern);
slab_ray demo_sky_ray(const slab_ray *, const slab_hit *, uint32_t pattern);
/* Where a polished surface mirrors the ray that met it. */
slab_ray demo_mirror_ray(const slab_ray *, const slab_hit *);

/* Of a ray that meets nothing. */
vec3 demo_sky(const demo_scene *, const slab_ray *);

/* What reaches the start of a ray from where it met the scene. sun and sky: the shares of their rays that arrive.
 * reflected: what the mirror ray saw; used where the surface is polished. */
vec3 demo_shade(const demo_scene *, const slab_ray *, const slab_hit *, float sun, float sky, vec3 reflected);

/* A sum of light as bytes on a screen. */
void demo_develop(vec3 light, uint8_t pixel[3]);

#endif
