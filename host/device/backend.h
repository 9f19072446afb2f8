/* The interface through which casts use the kernels. host/native/ implements it for the processor, and host/gpu/ for
 * GPUs, over a second seam, the driver (gpu/driver.h). Nothing above it knows OpenCL, except the functions of
 * slabcast_cl.h.
 */
#ifndef SLABCAST_DEVICE_BACKEND_H
#define SLABCAST_DEVICE_BACKEND_H

#include "device/device_scene.h"
#include "device/found.h"
#include "record/chunk.h"
#include "record/device.h"
#include "record/set_rays.h"
#include "record/snapshot.h"
#include "record/sums.h"
#include "slabcast.h"
#include "work/uniforms.h"

/* The arrays of a committed scene in host memory. */
typedef struct scene_arrays {
  const geometry_entry *table;
  uint32_t geometries;
  const float *blocks;
  size_t floats;
  const void *nodes; /* of the context's layout; NULL: no BVH */
  size_t node_bytes;
  slab_layout layout;
} scene_arrays;

/* The outcome of a refit on a device. */
typedef struct refit_outcome {
  bool done; /* else the device cannot, and the host has to */
  double sah_cost;
  uint64_t bytes; /* of the device, for later refits: besides the scene's arrays */
} refit_outcome;

/* The ways that a backend offers for a query on a scene. */
typedef struct offer {
  uint32_t traversals; /* that a cast may choose from now: bit t for slab_traversal t. SLAB_TRAVERSAL_SINGLE is always
                          there; others where the device supports them and their kernels pay by now */
  uint32_t packet;     /* rays of a packet; 0: the query has no packets here */
  double walkers;      /* the largest share of a launch's rays whose hits are being listed at once */
} offer;

struct gpu_driver;

struct backend {
  const struct gpu_driver *driver; /* of the backends of GPUs (gpu/gpu.h); else NULL */
  bool ready;                      /* kernels are there from the start: none is built or loaded for a first use */
  bool tiles;                      /* casts rays that come in rows tile by tile where cast.rows says so */
  bool far;                        /* makes rays of the world, and puts their results, where cast.far says so */
  bool at_hand;                    /* uploads lie in memory of the host, where forked children can read them, too */
  bool compressed_alone;           /* SLAB_LAYOUT_WIDE is refused, and not the default */
  bool mixes;                      /* casts the pieces of a chunk by several traversals where chunk.samples says so */
  /* Appends the devices of the backend, which is given, to the list. A device that cannot be described is left out,
   * with the reason in list->refused. SLAB_NO_DEVICE, with a hint, where there is none. */
  slab_status (*list)(const backend *, device_list *);
  /* Opens one device of a context; the options are in `device` already. The context's devices before it are open. After
   * a failure close is called too. */
  slab_status (*open)(slab_context *, device *, const found_device *);
  void (*close)(device *);
  /* Takes memory of the host that copies to and from this device reach directly, where the system gives some. NULL: the
   * backend never copies. */
  bool (*pin)(const device *, size_t size, void **own, void **bytes);
  void (*unpin)(const device *, void *own, void *bytes);

  /* Uploads a scene. *in_place: the arrays are used in place and must outlive the upload. After a failure release is
   * called too. */
  slab_status (*upload)(const device *, const scene_arrays *, scene_state *, bool *in_place);
  /* Writes these parts of an uploaded scene's blocks anew, and waits. No cast of the library reads it. For casts on the
   * caller's queues that are in flight it waits. *done: false where the scene has to be uploaded anew instead. After a
   * failure release is called too. NULL: the backend uses arrays in place. */
  slab_status (*rewrite)(const device *, const scene_arrays *, const blocks_part *, uint32_t parts, scene_state *,
                         bool *done);
  void (*release)(const device *, scene_state *);
  /* Reads a BVH back: node_bytes, and `floats` floats of blocks. */
  slab_status (*fetch)(const device *, const scene_state *, slab_layout, size_t node_bytes, size_t floats, void *nodes,
                       void *blocks);

  /* Refits the compressed BVH of `last`, whose buffers stay as they are, for this scene, and uploads the table. All
   * that has moved are triangles that the BVH has, with copies of their vertices. After a failure release is called
   * too. NULL: the backend makes no copies. */
  slab_status (*refit)(device *, const snapshot *scene, const snapshot *last, scene_state *, refit_outcome *);

  offer (*offers)(const device_scene *, slab_query);
  /* Starts a chunk and does not wait. After a failure nothing of the chunk is in flight. */
  slab_status (*begin)(const cast *, const device_scene *, chunk *);
  /* Waits for a chunk; its results are then in the caller's array. The next chunk may begin, on success and on failure.
   */
  slab_status (*end)(const cast *, const device_scene *, chunk *, chunk_outcome *);
  /* Instead of end: waits for everything in flight and drops the results. */
  void (*abandon)(const device_scene *, chunk *);
  /* After the last chunk of a call: waits until the caller's memory is no longer used, and frees chunk.flight. */
  slab_status (*settle)(const device_scene *, chunk *);

  /* Casts all rays of a call at once, at most FEW_RAYS, on the caller's thread; flat: by brute force, which the scene
   * has beside its BVH. NULL: the backend has nothing that is faster for few rays than a chunk. */
  slab_status (*few)(const cast *, const device_scene *, bool flat, chunk_outcome *);

  /* Copies the tables that the chunks of a call share to the device: those of a set, whose rays they make there,
   * weights of sums, and a boundary. Each may be NULL. Where the function is NULL chunks read the caller's. */
  slab_status (*open_tables)(device *, const set_rays *, const row_sums *, const boundary *, void **tables);
  void (*close_tables)(const device *, void *tables);
  /* Writes rays of a set. */
  slab_status (*make_rays)(device *, const set_rays *, slab_ray *);

  /* Intersects ray i with shape i. The shapes are accepted ones, as the caller gave them. */
  slab_status (*pairs)(device *, slab_shape, const slab_ray *, const float *shapes, size_t n, slab_interval *);
};

extern const backend native_backend, cuda_backend, opencl_backend;

#endif
