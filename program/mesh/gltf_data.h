/* The numbers of a glTF file: buffers, buffer views and accessors. Sizes that a file states are checked here, and
 * nothing is read beyond the bytes that are there. */
#ifndef SLABCAST_PROGRAM_MESH_GLTF_DATA_H
#define SLABCAST_PROGRAM_MESH_GLTF_DATA_H

#include <jansson.h>

#include "program/mesh/readers.h"

typedef struct gltf_buffer {
  const unsigned char *bytes; /* NULL: not read yet */
  char *own;                  /* to be freed */
  size_t size;
} gltf_buffer;

typedef struct gltf {
  const mesh_file *file;
  mesh_builder *builder;
  json_t *root;
  const unsigned char *chunk; /* the binary one of a .glb; NULL: none */
  size_t chunk_size;
  gltf_buffer *buffers; /* as many as the file lists */
} gltf;

/* An accessor's elements one after the other, as numbers: integers that are normalised are fractions already. */
typedef struct gltf_numbers {
  double *values; /* to be freed */
  size_t count;   /* of elements */
} gltf_numbers;

/* The element of one of the file's lists, such as "accessors"; NULL: it has none. */
json_t *gltf_element(const gltf *, const char *list, uint64_t index);
/* A member that is a whole number, from 0 on, or else `otherwise`. Returns 0, or -1: it is something else. */
int gltf_whole(const json_t *object, const char *name, uint64_t otherwise, uint64_t *value);
/* Whether a member is an array of n numbers, which are stored then. */
bool gltf_array(const json_t *object, const char *name, size_t n, double *values);

/* Reads an accessor whose elements have so many components. Returns 0, or -1 with the reason in the builder. */
int gltf_read(const gltf *, uint64_t accessor, size_t components, gltf_numbers *);

#endif
