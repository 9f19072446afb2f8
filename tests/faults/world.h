/* Where a fault strikes: what stands before one call of the public API, the call, and its outcome. */
#ifndef FAULTS_WORLD_H
#define FAULTS_WORLD_H

#include "opencl.h"

enum { WORLD_RAYS = 100, WORLD_OUTCOME = 1 << 19 };

typedef struct action action;

typedef struct world {
  const action *action;
  /* the caller's own OpenCL objects */
  cl_context cl;
  cl_device_id device;
  cl_command_queue queue;
  cl_mem buffer;
  slab_context *context;
  slab_scene *scene;
  slab_ray rays[WORLD_RAYS];
  slab_primitive_id skips[WORLD_RAYS];
  unsigned char *results; /* of an earlier cast, for slab_check; or a packed scene, */
  size_t packed;          /* and its bytes */
  uint64_t offsets[WORLD_RAYS + 1];
  /* What the call gives: everything is written here, so that two outcomes can be compared as bytes. */
  _Alignas(64) unsigned char outcome[WORLD_OUTCOME];
} world;

/* What the calls are made with. */
typedef struct setting {
  slab_query query;
  slab_tree tree;
  slab_shape shape;
  int copy; /* the options of the context */
  slab_traversal traversal;
  uint32_t boxes;      /* more of them, so that the BVH's arrays are large */
  int queue;           /* slab_context_create_cl: WITHOUT_QUEUE, ... */
  int empty;           /* no rays */
  int required_only;   /* slab_all without hits */
  const char *devices; /* several, for where there are some; NULL: one */
} setting;

enum { WITH_QUEUE, WITHOUT_QUEUE, OUT_OF_ORDER_QUEUE };

struct action {
  const char *name;
  void (*begin)(world *);      /* makes what stands before; fails the test where it cannot */
  slab_status (*run)(world *); /* the call: nothing else in here can fail */
  void (*undo)(world *);       /* takes back what the call made; NULL: nothing */
  bool (*tells_late)(world *); /* whether the caller's event tells that a launch failed; NULL: the call itself does */
  int fresh;                   /* begins anew for every fault, since the call changes what stands before */
  int slow;                    /* builds kernels every time */
  int may_write;               /* the outcome is unspecified after a failure; else untouched */
  setting with;
};

extern const action actions[];
extern const size_t action_count;

void world_begin(world *, const action *);
void world_end(world *);

#endif
