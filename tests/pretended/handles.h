/* The handles of the driver that pretends: each has a number of its own, so that none is taken for an older one that
 * was released. And the one lock of the driver, which all functions below need. */
#ifndef PRETENDED_HANDLES_H
#define PRETENDED_HANDLES_H

#include <stdbool.h>

#include "count.h"

/* Those that are counted, then the driver's own. */
typedef enum handle_kind {
  HANDLE_BUFFER,
  HANDLE_QUEUE,
  HANDLE_EVENT,
  HANDLE_PROGRAM,
  HANDLE_KERNEL,
  HANDLE_MAPPING,
  HANDLE_DEVICE,
  HANDLE_COMMAND,
  HANDLE_KINDS
} handle_kind;

enum { HANDLE_BYTES = 6144 }; /* of an object at most */

void handles_lock(void);
void handles_unlock(void);
/* Releases the lock until another thread has called handles_changed, and takes it again. False: that took too long. */
bool handles_await_change(void);
void handles_changed(void);

/* A new object, all zero. *handle: its number, as a pointer. `owner`: the device that it belongs to, NULL: none. */
void *handle_new(handle_kind, const void *owner, void **handle);
/* The object. One that is not there, not of this kind or not of this device (NULL: any) ends the program. */
void *handle_get(handle_kind, const void *owner, const void *handle, const char *call);
/* Its number is known no more, but the object stays. */
void handle_retire(const void *object);
/* And goes. */
void handle_free(const void *object);
/* A reference more or less of an object that has one. */
void handle_count(const void *object, int references);

/* References that are held, by kind. */
count_live handles_live(void);
const char *handle_name(handle_kind);
/* Ends the program where the device has a handle of this kind. */
void handles_none_of(handle_kind, const void *owner);

#endif
