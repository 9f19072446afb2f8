#include "handles.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "police.h"

/* AWAITED: seconds until a wait counts as one that never ends. Other threads may be about to begin what it waits for.
 */
enum { HANDLES = 1 << 14, AWAITED = 5 };

typedef struct slot {
  _Alignas(64) unsigned char object[HANDLE_BYTES];
  const void *owner;
  uint32_t used; /* how often; a part of the number */
  uint32_t next; /* of the free ones */
  int references;
  handle_kind kind;
  bool taken, known; /* known: by its number */
} slot;

static slot slots[HANDLES];
static uint32_t begun, free_ones; /* begun: slots that were used; free_ones: 1 + the first free one of these */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

_Static_assert((int)COUNT_KINDS == (int)HANDLE_COMMAND, "all kinds of handles but commands are counted");

/* ---- the lock ---- */

void handles_lock(void) { pthread_mutex_lock(&lock); }
void handles_unlock(void) { pthread_mutex_unlock(&lock); }
void handles_changed(void) { pthread_cond_broadcast(&changed); }

bool handles_await_change(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += AWAITED;
  return pthread_cond_timedwait(&changed, &lock, &until) != ETIMEDOUT;
}

/* ---- objects ---- */

const char *handle_name(handle_kind kind) {
  static const char *const names[HANDLE_KINDS] = {"a buffer", "a queue",   "an event", "a program",
                                                  "a kernel", "a mapping", "a device", "a command"};
  return names[kind];
}

static slot *slot_of(const void *object) {
  const size_t nth = (size_t)((const slot *)object - slots);
  return &slots[nth];
}

void *handle_new(handle_kind kind, const void *owner, void **handle) {
  uint32_t nth = free_ones;
  POLICE(nth > 0 || begun < HANDLES, "there are %d handles, and %s more", HANDLES, handle_name(kind));
  if (nth > 0)
    free_ones = slots[nth - 1].next;
  else
    nth = ++begun;
  slot *s = &slots[nth - 1];
  memset(s->object, 0, sizeof s->object);
  s->owner = owner;
  s->kind = kind;
  s->references = 1;
  s->used++;
  s->taken = s->known = true;
  const union {
    uintptr_t number;
    void *pointer;
  } made = {.number = (uintptr_t)s->used * HANDLES * 2 + nth};
  *handle = made.pointer;
  return s->object;
}

void *handle_get(handle_kind kind, const void *owner, const void *handle, const char *call) {
  const uintptr_t number = (uintptr_t)handle, nth = number % (HANDLES * 2);
  POLICE(handle != NULL, "%s: %s that is NULL", call, handle_name(kind));
  POLICE(nth > 0 && nth <= begun, "%s: %p is not %s", call, handle, handle_name(kind));
  slot *s = &slots[nth - 1];
  POLICE(s->used == number / (HANDLES * 2) && s->known, "%s: %s used after its release", call, handle_name(kind));
  POLICE(s->kind == kind, "%s: %s used as %s", call, handle_name(s->kind), handle_name(kind));
  POLICE(owner == NULL || s->owner == owner, "%s: %s of another device", call, handle_name(kind));
  return s->object;
}

void handle_retire(const void *object) { slot_of(object)->known = false; }

void handle_free(const void *object) {
  slot *s = slot_of(object);
  s->known = s->taken = false;
  s->next = free_ones;
  free_ones = (uint32_t)(s - slots) + 1;
}

void handle_count(const void *object, int references) { slot_of(object)->references += references; }

count_live handles_live(void) {
  count_live live = {{0}};
  for (uint32_t i = 0; i < begun; i++)
    if (slots[i].known && slots[i].kind < HANDLE_COMMAND) live.references[slots[i].kind] += slots[i].references;
  return live;
}

void handles_none_of(handle_kind kind, const void *owner) {
  for (uint32_t i = 0; i < begun; i++)
    POLICE(!slots[i].taken || slots[i].kind != kind || slots[i].owner != owner, "a device is closed that has %s",
           handle_name(kind));
}
