/* The worlds at which bench_worlds casts: instances over a terrain, whose places are new in each frame. */
#ifndef SLABCAST_BENCH_WORLDS_FRAMES_H
#define SLABCAST_BENCH_WORLDS_FRAMES_H

#include <stdbool.h>

#include "embree_worlds.h"
#include "sets/random.h"

enum { WORLDS_MODELS = 5, WORLDS_MODEL_TRIANGLES = 2000, WORLDS_TERRAIN_TRIANGLES = 80000 };
#define WORLDS_TERRAIN_SIZE 20.0f
/* Rays reach all of their terrain, and no other where worlds stand apart in one scene. */
#define WORLDS_REACH (1.3f * WORLDS_TERRAIN_SIZE)
#define WORLDS_APART (2.25f * WORLDS_TERRAIN_SIZE)

typedef struct worlds_frames {
  worlds_plan plan; /* its meshes are these */
  scene_geometry meshes[WORLDS_MODELS], terrain;
  random_state random;
  float *transforms; /* of the frame, as worlds_plan says */
  float *middles;    /* of each world x and y */
  slab_ray *rays;
  uint32_t *worlds; /* of each ray */
} worlds_frames;

/* Of a plan, whose meshes it sets; the first frame. All of these end the program where they fail. */
void worlds_frames_open(worlds_frames *, const worlds_plan *);
void worlds_frames_close(worlds_frames *);
/* New places: of one world, of all. */
void worlds_frames_place(worlds_frames *, uint32_t world);
void worlds_frames_next(worlds_frames *);
/* The meshes, the rays and the next frames as files of an existing folder. `plan` has lines of a name and its value.
 * The rest are plain arrays of float and uint32_t: modelK.vertices, modelK.triangles, those of the terrain, rays (8
 * floats each) and transforms (a frame after the other). */
void worlds_frames_write(worlds_frames *, const char *folder, uint32_t frames);

#endif
