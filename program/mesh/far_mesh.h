/* Which meshes are so far from 0 that rounding to float shows (program/io/far.h). */
#ifndef SLABCAST_PROGRAM_MESH_FAR_MESH_H
#define SLABCAST_PROGRAM_MESH_FAR_MESH_H

#include "program/mesh/mesh.h"

/* Of floats: whether the doubles that they were may be so. */
bool far_mesh_may_be(const mesh_data *);
bool far_mesh_is(const mesh_data *);

#endif
