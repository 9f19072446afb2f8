/* Declarations that the parts of bench_move share: options, device, and the rows of its table. */
#ifndef SLABCAST_BENCH_MOVE_H
#define SLABCAST_BENCH_MOVE_H

#include <stdbool.h>
#include <stdio.h>

#include "sets/timing.h"
#include "slabcast.h"

enum { MOVE_SCENES_MAX = 32, MOVE_RAY_SIDE = 512 }; /* width and height of pictures of rays, in pixels */
#define MOVE_SEED 20260711u

typedef struct move_options {
  const char *scenes[MOVE_SCENES_MAX], *csv;
  int scene_count, rounds, threads, processor_time;
} move_options;

typedef struct move_bench {
  move_options options;
  FILE *csv; /* NULL: none */
  slab_context *context;
  slab_device_info device;
} move_bench;

typedef struct move_row {
  const char *scene;
  uint32_t triangles; /* of its mesh or model */
  const char *what, *side;
  const timing *times, *first; /* first: of the side that others are compared with */
  double units;                /* the number of units done in one of these times, */
  const char *unit;            /* and a unit's name */
} move_row;

/* Prints a row, and adds it to the CSV. */
void move_print(const move_bench *, const move_row *);

/* Both print to stderr and return false. */
bool move_failed(const char *what); /* a call of the library has */
bool move_out_of_memory(void);

/* The model of a scene "N*MODEL"; NULL: the scene has another form. n receives N. */
const char *move_model(const char *scene, uint32_t *n);
/* A model placed N times, which all turn and move in each frame. */
bool move_instances(const move_bench *, const char *scene);

/* Whether a scene has the form "boxes:N". */
bool move_is_boxes(const char *scene);
/* N boxes of which a few move in each frame. */
bool move_boxes(const move_bench *, const char *scene);

#endif
