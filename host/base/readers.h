/* Readers of what a pointer leads to, while another thread replaces the pointer.
 *
 * A reader enters before it loads the pointer, and leaves when it is done. It never waits. Whoever replaces the pointer
 * keeps what it led to until every counter has been zero at some moment since: a reader that loaded the old pointer
 * counts all the while. Threads mostly have counters of their own, since a counter that all cores write would be the
 * slowest part of a cast of one ray. Each has two sides, so that one side runs empty while new readers use the other.
 */
#ifndef SLABCAST_READERS_H
#define SLABCAST_READERS_H

#include <stdatomic.h>
#include <stdint.h>

enum { READERS = 16, READERS_LINE = 64 };

/* All zero: nobody reads. */
typedef struct readers {
  atomic_uint side; /* which new readers use */
  struct {
    atomic_uint inside[2];
    char apart[READERS_LINE - 2 * sizeof(atomic_uint)]; /* no two in one cache line */
  } of[READERS];
} readers;

/* Bit k of these: counter k has been zero. */
typedef uint32_t readers_gone;
#define READERS_ALL_GONE 0xFFFFFFFFu

/* Returns the counter for readers_leave. Threads are told apart by where their stacks lie. */
static inline atomic_uint *readers_enter(readers *r) {
  const uint64_t stack = (uint64_t)(uintptr_t)__builtin_frame_address(0) >> 16;
  atomic_uint *inside =
      &r->of[stack * 0x9E3779B97F4A7C15u >> 60].inside[atomic_load_explicit(&r->side, memory_order_relaxed)];
  atomic_fetch_add(inside, 1); /* in one order with the pointer's load and its replacement */
  return inside;
}

static inline void readers_leave(atomic_uint *inside) { atomic_fetch_sub_explicit(inside, 1, memory_order_release); }

/* Which counters are zero now. Called after the pointer was replaced, by one thread at a time. */
static inline readers_gone readers_now_gone(readers *r) {
  const unsigned side = atomic_load(&r->side);
  readers_gone gone = 0;
  for (unsigned k = 0; k < 2 * READERS; k++)
    if (atomic_load(&r->of[k % READERS].inside[k / READERS]) == 0) gone |= 1u << k;
  const readers_gone other = side == 0 ? 0xFFFF0000u : 0x0000FFFFu;
  if ((gone & other) == other) atomic_store(&r->side, 1 - side);
  return gone;
}

#endif
