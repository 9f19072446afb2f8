#include "gpu/staging.h"
#include "os/thread.h"

#include <stdlib.h>

/* Unmaps and releases pinned memory. Drivers keep the buffer until the unmapping has ended. */
static void unpin(const device *d, const staging_buffers *s, staging *from) {
  if (from->pinned != NULL) driver_of(d)->unmap(s->queue, from->host, from->pinned, NULL);
  from->pinned = NULL;
  gpu_release_buffer(d, &from->host);
}

/* Does not wait for the caller's queue: it may hold work that waits for the caller. */
static void staging_buffers_free(const device *d, staging_buffers *s) {
  if (is_inherited(d)) {
    free(s);
    return;
  }
  for (int p = 0; p < PARTS; p++) {
    unpin(d, s, &s->staged[p]);
    gpu_release_buffer(d, &s->staged[p].buffer);
  }
  gpu_release_buffer(d, &s->invalid);
  gpu_release_buffer(d, &s->fallback);
  if (s->queue != NULL && s->queue != gpu_of(d)->queue) {
    driver_of(d)->finish(s->queue, NULL);
    driver_of(d)->release_queue(d, s->queue);
  }
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
  if (!d->in_place && !gpu_of(d)->queue_is_callers) return driver_of(d)->create_queue(d, &s->queue);
  s->queue = gpu_of(d)->queue; /* which stays longer */
  return SLAB_OK;
}

slab_status staging_buffers_take(device *d, staging_buffers **taken) {
  os_mutex_lock(&d->lock);
  staging_buffers *s = gpu_of(d)->idle_buffers;
  if (s != NULL) gpu_of(d)->idle_buffers = s->next;
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
  s->next = gpu_of(d)->idle_buffers;
  gpu_of(d)->idle_buffers = s;
  os_mutex_unlock(&d->lock);
}

/* The new size of a staging buffer: twice the old one, so that growing chunks do not reallocate it each time. Only the
 * hits of a single ray may need more than STAGED_BYTES. */
static size_t staging_space(const device *d, size_t had, size_t size) {
  size_t space = 2 * had < STAGED_BYTES ? 2 * had : STAGED_BYTES;
  if (space > d->info.allocation_bytes) space = d->info.allocation_bytes;
  return space > size ? space : size;
}

/* NULL: the system refuses it. */
static gpu_buffer *pin(const device *d, gpu_queue *queue, size_t size, void **pinned) {
  const gpu_driver *driver = driver_of(d);
  gpu_buffer *host = NULL;
  if (driver->create(d, GPU_READ_WRITE, GPU_PINNED, size, NULL, NULL, &host) != SLAB_OK) return NULL;
  if (driver->map(queue, host, GPU_READ_WRITE, 0, size, true, (gpu_order){0}, NULL, pinned) != SLAB_OK)
    gpu_release_buffer(d, &host);
  return host;
}

static slab_status grow(const device *d, staging_buffers *s, staging *to, size_t size, const char *what) {
  const size_t space = staging_space(d, to->size, size);
  unpin(d, s, to);
  gpu_release_buffer(d, &to->buffer);
  to->was_asked = false;
  slab_status status = driver_of(d)->create(d, GPU_READ_WRITE, GPU_OWN, space, NULL, what, &to->buffer);
  to->size = status == SLAB_OK ? space : 0;
  return status;
}

/* Pinned memory is optional, since a system may have little: where it is refused the cast works without it. */
slab_status staging_reserve(const device *d, staging_buffers *s, part p, size_t size, bool direct, const char *what) {
  staging *to = &s->staged[p];
  const slab_status status = size <= to->size ? SLAB_OK : grow(d, s, to, size, what);
  if (status != SLAB_OK || direct || to->was_asked || to->size > STAGED_BYTES) return status;
  to->host = pin(d, s->queue, to->size, &to->pinned);
  to->was_asked = true;
  return SLAB_OK;
}

bool gpu_pin(const device *d, size_t size, void **own, void **bytes) {
  gpu_buffer *pinned = pin(d, gpu_of(d)->queue, size, bytes);
  *own = pinned;
  return pinned != NULL;
}

/* Does not wait for the caller's queue either. */
void gpu_unpin(const device *d, void *own, void *bytes) {
  const gpu_device *g = gpu_of(d);
  gpu_buffer *pinned = own;
  g->driver->unmap(g->queue, pinned, bytes, NULL);
  if (!g->queue_is_callers) g->driver->finish(g->queue, NULL);
  gpu_release_buffer(d, &pinned);
}
