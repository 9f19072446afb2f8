/* The OpenCL layers that this process runs under. */
#ifndef FAULTS_LAYERS_H
#define FAULTS_LAYERS_H

#include "builds.h"
#include "count.h"
#include "fail.h"
#include "flip.h"
#include "pinned.h"
#include "pretend.h"
#include "slow.h"
#include "small.h"

typedef struct layers {
  count_now *count;
  fail_arm *fail;
  fail_call *fail_call;
  fail_disarm *fail_end;
  flip_arm *flip;
  flip_disarm *flip_end;
  slow_arm *slow;
  slow_items *slow_items;
  pretend_as *pretend;
  pretend_seen *pretend_seen;
  builds_hold *builds_hold;
  builds_begin *builds_begin;
  builds_seen *builds_seen;
  small_arm *small;
  small_now *small_now;
  pinned_arm *pinned;
  pinned_now *pinned_now;
} layers;

/* Those of OPENCL_LAYERS; NULL, what no layer has. The loader ignores a wrong path in silence: whoever needs one looks.
 * To be called before any OpenCL, since ocl-icd cuts the variable to pieces. */
layers layers_load(void);
/* The same with one more, for a test that always needs it. */
layers layers_with(const char *path);

#endif
