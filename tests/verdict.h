/* Sets of rays whose answers, from the device, the oracle judges.
 *
 * A set is a scene and rays at it, both in coordinates of about 1, moved by `scale` and `offset` to where they are
 * cast. SLABCAST_TEST_RAYS (default 20000) says how many rays a set and a query get; more than VERDICT_BATCH come with
 * new scenes. */
#ifndef VERDICT_H
#define VERDICT_H

#include "harness.h"
#include "scenes.h"

enum { VERDICT_GEOMETRIES = 5, VERDICT_QUERIES = 6, VERDICT_COUNT = 16, VERDICT_BATCH = 20000 };

typedef struct verdict_set verdict_set;
struct verdict_set {
  const char *name;
  const char *scenes[VERDICT_GEOMETRIES + 1]; /* names of bench/scenes.h; or */
  /* fills up to VERDICT_GEOMETRIES geometries and returns how many. */
  uint32_t (*build)(const verdict_set *, harness_random *, scene_geometry *);
  uint32_t count; /* of each scene's primitives; 0: VERDICT_COUNT */
  slab_ray (*ray)(const verdict_set *, harness_random *);
  float scale[3], offset[3]; /* scale 0: 1 */
  double cap;                /* the share of rays that may be undecided */
  slab_cull cull;
  int face_forward;
  uint32_t mask; /* geometry i has bit i alone */
  int skip;      /* every other ray skips some plane or triangle */
};

/* One scene of a set, committed, and rays at it. */
typedef struct verdict_world {
  slab_scene *scene;
  slab_ray *rays;
  slab_primitive_id *skip;
  size_t n;
  slab_cast_options options;
} verdict_world;

verdict_world verdict_open(slab_context *, const verdict_set *, harness_random *, size_t n);
void verdict_close(verdict_world *);

typedef struct verdict_answer {
  slab_query query;
  void *results;
  uint64_t *offsets; /* SLAB_ALL, else NULL */
} verdict_answer;

verdict_answer verdict_cast(const verdict_world *, slab_query);
void verdict_answer_free(verdict_answer *);
/* Every ray is judged. */
slab_check_report verdict_check(const verdict_world *, const verdict_answer *);

/* Casts all six queries and prints a line for each; fails the test where the device differs from the CPU reference,
 * where the oracle proves an answer wrong, and where more than set->cap is undecided. */
void verdict_judge(slab_context *, const verdict_set *);

#endif
