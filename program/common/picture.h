/* Pictures: the camera options shared by render and rays, the default camera for a scene, and PNG files. */
#ifndef SLABCAST_PROGRAM_COMMON_PICTURE_H
#define SLABCAST_PROGRAM_COMMON_PICTURE_H

#include <stdint.h>

#include "program/common/options.h"
#include "slabcast.h"

typedef struct camera_options {
  point_option from, to, up; /* those not given are chosen from the scene's bounds */
  real_option fov;           /* vertical, in degrees; default 40 */
} camera_options;

/* Checks that the given options define a camera: `from` and `to` differ, and `up` is not zero. Returns OPTIONS_RUN, or
 * the exit code of a refusal. */
int camera_check(const command_line *command, const camera_options *);

/* Without `from` the whole scene is in view, seen from the front, somewhat above and to the right. stats may be NULL.
 * The scene's bounds are then the cube from -1 to 1. The camera counts from the scene's origin. */
slab_camera camera_from_options(const camera_options *options, const slab_scene_stats *stats, uint32_t width,
                                uint32_t height);

/* Checks that rays from this eye are valid. Returns 0, or -1 with the error printed. */
int eye_check(const float eye[3]);

/* The finite bounds in `stats`, which count from the scene's origin; the cube from -1 to 1 if there are none. */
void camera_bounds(const slab_scene_stats *stats, float lower[3], float upper[3]);
/* A point of the options as the scene's floats count. stats may be NULL. */
void camera_place(const point_option *, const slab_scene_stats *stats, float place[3]);

/* Writes width * height pixels of three bytes, top row first. The file has no time and no gamma, so the same pixels
 * give the same bytes. It appears whole or not at all. Returns 0, or -1 with the error printed. */
int picture_write(const char *path, uint32_t width, uint32_t height, const uint8_t *pixels);

#endif
