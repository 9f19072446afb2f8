/* The OpenCL layers that this process runs under. */
#ifndef FAULTS_LAYERS_H
#define FAULTS_LAYERS_H

#include "builds.h"
#include "count.h"
#include "fail.h"
#include "flip.h"
#include "lie.h"
#include "pinned.h"
#include "pretend.h"
#include "slow.h"
#include "small.h"

/* X(TYPE, MEMBER): the functions that a test calls of its layers. Each is the symbol slab_TYPE of one of them. */
#define LAYER_CALLS(X)          \
  X(count_now, count)           \
  X(fail_arm, fail)             \
  X(fail_call, fail_call)       \
  X(fail_disarm, fail_end)      \
  X(flip_arm, flip)             \
  X(flip_disarm, flip_end)      \
  X(slow_arm, slow)             \
  X(slow_items, slow_items)     \
  X(pretend_as, pretend)        \
  X(pretend_seen, pretend_seen) \
  X(builds_hold, builds_hold)   \
  X(builds_begin, builds_begin) \
  X(builds_seen, builds_seen)   \
  X(small_arm, small)           \
  X(small_now, small_now)       \
  X(pinned_arm, pinned)         \
  X(pinned_now, pinned_now)     \
  X(lie_arm, lie)               \
  X(lie_told, lie_told)

typedef struct layers {
#define LAYER_MEMBER(type, member) type *member;
  LAYER_CALLS(LAYER_MEMBER)
#undef LAYER_MEMBER
} layers;

/* Returns the functions of the layers in OPENCL_LAYERS; NULL for functions that no layer has. The loader ignores a
 * wrong path without a message, so a caller must check the functions it needs. Call it before any other OpenCL call,
 * because ocl-icd modifies the variable while it splits it. */
layers layers_load(void);
/* The same with one more layer, without which the test ends here: it says so, and fails. */
layers layers_with(const char *path);

#endif
