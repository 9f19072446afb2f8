/* The demo's materials and lighting: secondary rays and shading. */
#ifndef SLABCAST_CLI_DEMO_LIGHT_H
#define SLABCAST_CLI_DEMO_LIGHT_H

#include "demo_scene.h"

/* Replaces the normal of a hit by that of smooth land or of waves. The functions below expect such hits. */
void demo_smooth(const demo_scene *, const slab_ray *, slab_hit *);

static inline int demo_is_hit(const slab_hit *hit) { return hit->geometry < DEMO_GEOMETRIES; }

/* Whether the surface is a mirror: water or gold. */
static inline int demo_is_polished(const slab_hit *hit) {
  return hit->geometry == DEMO_WATER || hit->geometry == DEMO_FLAKE;
}

int demo_faces_sun(const slab_hit *);

enum { DEMO_PATTERN = 16 };
/* Ray number `pattern` of 16: towards the sun's disc, or into the hemisphere above the surface. */
slab_ray demo_sun_ray(const slab_ray *, const slab_hit *, uint32_t pattern);
slab_ray demo_sky_ray(const slab_ray *, const slab_hit *, uint32_t pattern);
/* The reflection of a ray at a polished surface. */
slab_ray demo_mirror_ray(const slab_ray *, const slab_hit *);

/* Colour of a ray that misses. */
vec3 demo_sky(const demo_scene *, const slab_ray *);

/* Light that reaches the origin of a ray from its hit. sun and sky: shares of the light rays that are not occluded.
 * reflected: colour of the mirror ray; used if the surface is polished. */
vec3 demo_shade(const demo_scene *, const slab_ray *, const slab_hit *, float sun, float sky, vec3 reflected);

/* Converts a sum of light to bytes of a pixel. */
void demo_develop(vec3 light, uint8_t pixel[3]);

#endif
