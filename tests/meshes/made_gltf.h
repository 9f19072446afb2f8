/* glTF files made at random, in every way that the format has to store triangles, and the places of these. */
#ifndef MADE_GLTF_H
#define MADE_GLTF_H

#include <stddef.h>

#include "harness.h"

/* How a file is stored. */
typedef enum made_container {
  MADE_TEXT,     /* .gltf with its bytes in it */
  MADE_BESIDE,   /* .gltf and .bin */
  MADE_BINARY,   /* .glb */
  MADE_UNFILLED, /* .glb whose chunks are not filled up to four bytes */
  MADE_UNCOUNTED /* .glb whose first chunk is filled up, and does not count that */
} made_container;

enum { MADE_TRIANGLES_MAX = 64, MADE_VERTICES_MAX = 16 };

typedef struct made_gltf {
  double corners[MADE_TRIANGLES_MAX][9]; /* of every triangle, where nodes put them */
  size_t triangles, uses;
  double size; /* the largest coordinate */
} made_gltf;

/* Writes the file at `path`, with the ending of its container, and the files that it names. Returns its contents. */
made_gltf make_gltf(random_state *, made_container, const char *path);
const char *made_ending(made_container);

#endif
