/* Geometry that a scene must refuse, one fault a row, for every kind but boxes, which are never refused. */
#ifndef REFUSED_H
#define REFUSED_H

#include "harness.h"

typedef union any_shape {
  slab_plane plane;
  slab_sphere sphere;
  slab_box box;
  slab_obb obb;
  slab_triangle triangle;
  float floats[15];
} any_shape;

typedef struct refused_case {
  slab_shape kind;
  uint32_t member;   /* of the struct's floats: the one that is wrong */
  float value;       /* what it holds */
  const char *shown; /* how a message shows it, in part */
} refused_case;

size_t refused_count(void);
const refused_case *refused_at(size_t i);

size_t shape_size(slab_shape kind);
/* One that is accepted; a ray from (0, 0, 9) along (0, 0, -1) meets it. */
any_shape shape_accepted(slab_shape kind);
/* The same with the case's fault. */
any_shape shape_refused(const refused_case *);
/* n accepted shapes as an array of the kind's struct, malloc'ed. */
unsigned char *shapes_accepted(slab_shape kind, size_t n);
/* Adds an array of n shapes as one geometry; triangles as a soup. */
slab_status add_shapes(slab_scene *scene, slab_shape kind, const void *shapes, uint32_t n,
                       const slab_geometry_options *options, uint32_t *geometry);

#endif
