/* A set of rays as its kernel gets it: slab_rays (slabcast.h) without its arrays. */
#ifndef DATA_RAY_SET_H
#define DATA_RAY_SET_H

#include "slabcast_types.h"

/* Coefficients of a fisheye's polynomials. */
#define FISHEYE_TERMS 8

/* Cameras have no tables. Others have so many floats for each row, and for each column. */
#define SET_IS_CAMERA(kind) ((kind) <= SLAB_RAYS_FISHEYE)
#define SET_ROW_FLOATS(kind) ((kind) == SLAB_RAYS_BEAMS ? 12u : 3u)
#define SET_COLUMN_FLOATS(kind) ((kind) == SLAB_RAYS_BEAMS ? 6u : 3u)

typedef struct ray_set {
  uint32_t kind;          /* slab_rays_kind */
  uint32_t rows, columns; /* of pixels, poses and beams, points and directions, points and points */
  uint32_t framed;        /* 1: directions are in the frame of the row's normal */
  float t_min, t_max;
  float origin[3], forward[3], right[3], up[3]; /* a slab_camera */
  float across, along, limit;                   /* of a fisheye: u and v at the borders, and the greatest u u + v v */
  float sine[FISHEYE_TERMS], cosine[FISHEYE_TERMS];
} ray_set;

#endif
