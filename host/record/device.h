/* A device of a context, as casts see it. `opened` is the backend's own part. */
#ifndef SLABCAST_RECORD_DEVICE_H
#define SLABCAST_RECORD_DEVICE_H

#include <stdbool.h>

#include "base/process.h"
#include "os/thread.h"
#include "record/hits.h"
#include "slabcast.h"

typedef struct backend backend;
typedef struct tuning tuning;

typedef struct device {
  const backend *backend;
  void *opened;     /* the backend's own, from open to close */
  uint32_t nth;     /* index in its context */
  uint32_t process; /* process_number() when it was opened */
  slab_device_info info;
  bool in_place;            /* kernels use host arrays without a copy */
  uint32_t launch_rays;     /* the caller's limit of rays per launch; 0: none */
  uint32_t launch_items;    /* maximum work-items per launch of packets; 0: no limit */
  slab_traversal traversal; /* the caller's choice of traversal */
  const tuning *tuning;     /* tuning values of the device's class */
  os_mutex lock;            /* guards the two times below, learned results of casts, and the backend's offers */
  double building;          /* seconds of the last chunk for which kernels had to be built; 0: none yet */
  double casting;           /* seconds of chunks cast since then */
  batch_keeper kept;        /* memory of listed hits */
} device;

/* Whether the device was opened before this process was forked. Its driver's objects, locks and threads are then the
 * parent's. */
static inline bool is_inherited(const device *d) { return d->process != process_number(); }

#endif
