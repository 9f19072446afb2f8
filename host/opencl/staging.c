#include "opencl/staging.h"
#include "os/thread.h"

#include <stdlib.h>

/* Unmaps and releases pinned memory. Drivers keep the buffer until the unmapping has ended. */
static void unpin(const staging_buffers *s, staging *from) {
  if (from->pinned != NULL) clEnqueueUnmapMemObject(s->queue, from->host, from->pinned, 0, NULL, NULL);
  from->pinned = NULL;
  objects_release_buffer(&from->host);
}

/* Does not wait for the caller's queue: it may hold work that waits for the caller. */
static void staging_buffers_free(const device *d, staging_buffers *s) {
  if (is_inherited(d)) {
    free(s);
    return;
  }
  for (int p = 0; p < PARTS; p++) {
    unpin(s, &s->staged[p]);
    objects_release_buffer(&s->staged[p].buffer);
  }
  objects_release_buffer(&s->invalid);
  objects_release_buffer(&s->fallback);
  if (s->queue != NULL && s->queue != cl_of(d)->queue) {
    clFinish(s->queue);
    objects_wait(d, s->queue);
  }
  if (s->queue != NULL) clReleaseCommandQueue(s->queue);
  free(s);
}

void staging_buffers_free_all(const device *d, staging_buffers *s) {
  while (s != NULL) {
    staging_buffers *next = s->next;
    staging_buffers_free(d, s);
    s = next;
  }
}

static slab_status staging_buffers_queue(const device *d, staging_buffers *s) {
  if (!d->in_place && !cl_of(d)->queue_is_callers) return objects_queue(d, &s->queue);
  cl_int code = clRetainCommandQueue(cl_of(d)->queue);
  if (code != CL_SUCCESS) return fail_cl(code, "clRetainCommandQueue", "a cast");
  s->queue = cl_of(d)->queue;
  return SLAB_OK;
}

slab_status staging_buffers_take(device *d, staging_buffers **taken) {
  os_mutex_lock(&d->lock);
  staging_buffers *s = cl_of(d)->idle_buffers;
  if (s != NULL) cl_of(d)->idle_buffers = s->next;
  os_mutex_unlock(&d->lock);
  slab_status status = SLAB_OK;
  if (s == NULL) {
    s = calloc(1, sizeof *s);
    if (s == NULL) return fail_memory(sizeof *s, "a cast");
    status = staging_buffers_queue(d, s);
  }
  s->next = NULL;
  if (status == SLAB_OK)
    *taken = s;
  else
    staging_buffers_free(d, s);
  return status;
}

void staging_buffers_give_back(device *d, staging_buffers *s) {
  os_mutex_lock(&d->lock);
  s->next = cl_of(d)->idle_buffers;
  cl_of(d)->idle_buffers = s;
  os_mutex_unlock(&d->lock);
}

/* The new size of a staging buffer: twice the old one, so that growing chunks do not reallocate it each time. Only the
 * hits of a single ray may need more than STAGED_BYTES. */
static size_t staging_room(const device *d, size_t had, size_t size) {
  size_t room = 2 * had < STAGED_BYTES ? 2 * had : STAGED_BYTES;
  if (room > d->info.allocation_bytes) room = d->info.allocation_bytes;
  return room > size ? room : size;
}

/* Pinned memory is optional, since a system may have little: on failure the cast works without it. */
static void pin(const device *d, const staging_buffers *s, staging *to) {
  if (to->size > STAGED_BYTES) return;
  to->host = clCreateBuffer(cl_of(d)->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, to->size, NULL, NULL);
  if (to->host == NULL) return;
  to->pinned =
      clEnqueueMapBuffer(s->queue, to->host, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, to->size, 0, NULL, NULL, NULL);
  if (to->pinned == NULL) objects_release_buffer(&to->host);
}

slab_status staging_reserve(const device *d, staging_buffers *s, part p, size_t size, const char *what) {
  staging *to = &s->staged[p];
  if (size <= to->size) return SLAB_OK;
  const size_t room = staging_room(d, to->size, size);
  unpin(s, to);
  objects_release_buffer(&to->buffer);
  slab_status status = objects_create_buffer(d, CL_MEM_READ_WRITE, room, NULL, what, &to->buffer);
  to->size = status == SLAB_OK ? room : 0;
  if (status == SLAB_OK) pin(d, s, to);
  return status;
}
