/* The driver of OpenCL: its data of a device, its handles, queues, buffers and failures. */
#ifndef SLABCAST_OPENCL_OPENCL_H
#define SLABCAST_OPENCL_OPENCL_H

#include <stdbool.h>

#include "base/status.h"
#include "gpu/gpu.h"
#include "opencl/loader.h"
#include "record/device.h"
#include "slabcast.h"

/* An open device. */
typedef struct opencl_device {
  cl_context context;
  cl_device_id id;
  bool is_part;          /* a part (sub-device) of another device */
  bool has_double;       /* has double; kernels may divide through it where info.exact_divide is 0 */
  bool limits_registers; /* its compiler takes NVIDIA's option that limits the registers of a work-item */
  size_t group_most;     /* maximum work-items per group, for any kernel */
} opencl_device;

static inline opencl_device *cl_of(const device *d) { return gpu_of(d)->own; }

/* The handles of driver.h are OpenCL's own. */
static inline cl_mem mem_of(gpu_buffer *buffer) { return (cl_mem)buffer; }
static inline gpu_buffer *buffer_of(cl_mem mem) { return (gpu_buffer *)mem; }
static inline cl_command_queue clqueue_of(gpu_queue *queue) { return (cl_command_queue)queue; }
static inline gpu_queue *queue_of(cl_command_queue queue) { return (gpu_queue *)queue; }
static inline gpu_kernel *kernel_of(cl_kernel kernel) { return (gpu_kernel *)kernel; }
static inline gpu_order order_of(cl_uint count, const cl_event *after, cl_event *done) {
  return (gpu_order){.count = count, .after = (gpu_event *const *)after, .done = (gpu_event **)done};
}

/* The functions of the table that are in other files, see driver.h. */
slab_status opencl_list(const backend *, device_list *);
slab_status opencl_open(device *, const found_device *);
void opencl_close(device *);
bool opencl_alike(const device *, const device *other, const program_key *);
slab_status opencl_build(const device *, const program_key *, gpu_program *like, gpu_program **);
slab_status opencl_build_traced(const device *, const program_key *, uint32_t queries, const char *source,
                                const char *options, gpu_program **);
slab_status opencl_kernel(const device *, gpu_program *, const program_key *, uint32_t nth, gpu_kernel **,
                          size_t *group);
void opencl_release_queue(const device *, gpu_queue *);

/* fail for an OpenCL call, with its name, the name of its code, and its purpose; where that is NULL without a message.
 */
slab_status fail_cl(cl_int code, const char *call, const char *purpose);
const char *objects_code_name(cl_int code);

/* Creates the device's opencl_device and queries the device; open.c. */
slab_status open_prepare(device *, const found_device *);
/* Creates an in-order queue of the library's own. */
slab_status objects_queue(const device *, gpu_queue **);
/* Checks that the context and device are not NULL and that the queue (NULL: none) belongs to them. */
slab_status objects_check_queue(const char *function, cl_context, cl_device_id, cl_command_queue);

#endif
