/* The camera options shared by render, demo and rays, and how a scene is framed without them. */
#ifndef SLABCAST_CLI_CAMERA_H
#define SLABCAST_CLI_CAMERA_H

#include "options.h"
#include "slabcast.h"

typedef struct camera_options {
  point_option from, to, up; /* those not given are chosen from the scene's bounds */
  real_option fov;           /* vertical, in degrees; default 40 */
} camera_options;

/* That what is given makes a camera: a point to look at apart from the one it is seen from, and an up that points
 * somewhere. OPTIONS_RUN, or a refusal. */
int camera_check(const command_line *command, const camera_options *);

/* Without `from` the whole scene is in view, seen from the front, somewhat above and to the right. stats may be
 * NULL: the cube from -1 to 1 then stands for the scene. */
slab_camera camera_from_options(const camera_options *options, const slab_scene_stats *stats, uint32_t width,
                                uint32_t height);

/* The finite bounds that `stats` gives; the cube from -1 to 1 where there are none. */
void camera_bounds(const slab_scene_stats *stats, float lower[3], float upper[3]);

#endif
