/* What the demo shows, and how its surfaces look: a knot over a spiral of columns, in code alone. */
#ifndef SLABCAST_CLI_DEMO_SCENE_H
#define SLABCAST_CLI_DEMO_SCENE_H

#include <stddef.h>
#include <stdint.h>

#include "../../bench/scenes.h"
#include "vec3.h"

enum { DEMO_COLUMNS = 0, DEMO_KNOT = 1 }; /* geometry ids */

typedef struct demo_scene {
  slab_box *boxes; /* the ground, then the columns */
  uint32_t box_count;
  scene_geometry knot;
  vec3 *normals; /* of the knot's sides at each ring */
  slab_camera camera;
} demo_scene;

/* 0, or -1 without memory. Release with demo_scene_free either way. */
int demo_scene_build(uint32_t width, uint32_t height, demo_scene *out);
void demo_scene_free(demo_scene *);

/* A place where a ray met the scene. */
typedef struct demo_surface {
  vec3 position, view;  /* view: unit, from the eye */
  vec3 facet, normal;   /* as hit, against the view; smoothed along the knot */
  vec3 color;           /* share of light given back */
  float distance;       /* from the eye */
  slab_primitive_id id; /* of what was hit */
  uint32_t part;        /* differs where light may: a box's face, a side of the knot */
} demo_surface;

/* Which of its sides a triangle of the knot is on. */
uint32_t demo_knot_side(uint32_t primitive);

/* hit must be one. */
demo_surface demo_surface_at(const demo_scene *scene, const slab_ray *ray, const slab_hit *hit);

int demo_faces_sun(const demo_surface *surface);

enum { DEMO_PATTERN = 16 };
/* Ray number `pattern` of 16 towards the sun's disc, and into the half-sphere over the facet. */
slab_ray demo_sun_ray(const demo_surface *surface, uint32_t pattern);
slab_ray demo_sky_ray(const demo_surface *surface, uint32_t pattern);
/* Where a polished surface mirrors the view. */
slab_ray demo_mirror_ray(const demo_surface *surface);

vec3 demo_sky_color(vec3 direction);
/* sun and sky: the shares of their rays that arrive. reflected: what the mirror ray saw; NULL where not polished. */
vec3 demo_shade(const demo_surface *surface, float sun, float sky, const vec3 *reflected);
/* A sum of light as bytes on a screen. */
void demo_develop(vec3 light, uint8_t pixel[3]);

#endif
