/* The setting of a fault: the state before one call of the public API, the call, and its outcome. */
#ifndef FAULTS_WORLD_H
#define FAULTS_WORLD_H

#include "opencl.h"

enum { WORLD_RAYS = 100, WORLD_RAYS_MOST = 300, WORLD_OUTCOME = 1 << 19 };

typedef struct action action;

typedef struct world {
  const action *action;
  /* the caller's own OpenCL objects */
  cl_context cl;
  cl_device_id device;
  cl_command_queue queue;
  cl_mem buffer;
  slab_program *program;
  cl_kernel kernel;
  slab_context *context;
  slab_scene *scene, *model; /* model: where the scene gets instances */
  slab_ray rays[WORLD_RAYS_MOST];
  slab_primitive_id skips[WORLD_RAYS_MOST];
  uint32_t masks[WORLD_RAYS_MOST];
  slab_short_hit after[WORLD_RAYS_MOST];
  unsigned char *results; /* of an earlier cast, for slab_check; or the bytes of a packed scene, */
  size_t packed;          /* and their number */
  uint64_t offsets[WORLD_RAYS_MOST + 1];
  /* All that the call writes, so that two outcomes can be compared as bytes. */
  _Alignas(64) unsigned char outcome[WORLD_OUTCOME];
} world;

/* The parameters of the calls. */
typedef struct setting {
  slab_query query;
  slab_tree tree;
  slab_shape shape;
  slab_update update;
  int again; /* the scene was changed and committed before */
  int copy;  /* option of the context */
  slab_traversal traversal;
  int whole;           /* the rays are not cut into launches, so few rays go their own way */
  uint32_t boxes;      /* number of boxes if not 0: more of them, so that the BVH's arrays are large */
  int queue;           /* for slab_context_create_cl: WITHOUT_QUEUE, ... */
  int empty;           /* no rays */
  int many;            /* WORLD_RAYS_MOST rays, so that threads share pairs and checks */
  int required_only;   /* slab_all without hits */
  int own;             /* rays have masks, and but for intervals hits to begin after */
  int counted;         /* the number of rays is in a buffer */
  const char *devices; /* several devices, if there are some; NULL: one device */
} setting;

enum { WITH_QUEUE, WITHOUT_QUEUE, OUT_OF_ORDER_QUEUE };

struct action {
  const char *name;
  void (*begin)(world *);      /* creates the state before the call; fails the test on an error */
  slab_status (*run)(world *); /* makes the call; nothing else in it can fail */
  void (*undo)(world *);       /* undoes what the call did; NULL: nothing to undo */
  bool (*tells_late)(world *); /* whether the caller's event reports that a launch failed; NULL: the call itself does */
  int fresh;                   /* the state is created anew for every fault, because the call changes it */
  int slow;                    /* builds kernels every time */
  int may_write;               /* the outcome is unspecified after a failure; otherwise it must be untouched */
  setting with;
};

extern const action actions[];
extern const size_t action_count;
/* The actions of slabcast_cl.h, and those that probe an OpenCL device. The processor has neither. */
extern const action actions_cl[];
extern const size_t action_cl_count;

void world_begin(world *, const action *);
void world_end(world *);
/* Of the caller's own objects. */
void world_release_opencl(world *);

#endif
