#include "orders.h"

#include <string.h>

#include "handles.h"
#include "os/clock.h"
#include "police.h"
#include "sets/random.h"

struct own_queue {
  const void *owner;
  own_queue *next; /* of all queues */
  command *first, *last;
  uint64_t flushed; /* the last command that may begin */
  double ends;      /* when its last command does, of PRETENDED_TIMED */
};

typedef struct event {
  gpu_queue *of;
  uint64_t number;  /* of its command */
  command *command; /* NULL: it has ended */
  bool failed;
  double ends;
} event;

static own_queue *queues;
static uint64_t numbers;
static bool is_late, is_timed;
static double engines[ENGINES]; /* when each is free */
static random_state chance;
static unsigned unflushed;

void orders_pace(pretended_pace pace, uint64_t seed) {
  is_late = pace == PRETENDED_LATE;
  is_timed = pace == PRETENDED_TIMED;
  chance = random_seed(seed);
}

unsigned orders_unflushed(void) {
  const unsigned was = unflushed;
  unflushed = 0;
  return was;
}

/* ---- queues ---- */

static own_queue *queue_get(const void *owner, const gpu_queue *handle, const char *call) {
  return handle_get(HANDLE_QUEUE, owner, handle, call);
}

gpu_queue *orders_queue(const void *owner) {
  void *number;
  own_queue *q = handle_new(HANDLE_QUEUE, owner, &number);
  *q = (own_queue){.owner = owner, .next = queues};
  queues = q;
  return number;
}

void orders_release_queue(const void *owner, gpu_queue *handle, const char *call) {
  own_queue *q = queue_get(owner, handle, call), **at = &queues;
  POLICE(q->first == NULL, "%s: a queue goes with commands that have not ended, the first of %s", call, q->first->call);
  while (*at != q) at = &(*at)->next;
  *at = q->next;
  handle_free(q);
}

const void *orders_owner(const gpu_queue *handle, const char *call) { return queue_get(NULL, handle, call)->owner; }

/* ---- commands ---- */

command *orders_command(gpu_queue *on, command_run *run, const char *call) {
  void *number;
  own_queue *q = queue_get(NULL, on, call);
  command *c = handle_new(HANDLE_COMMAND, NULL, &number);
  c->on = q;
  c->run = run;
  c->call = call;
  return c;
}

void orders_use(command *c, buffer *b) {
  b->uses++;
  c->buffers[c->buffers[0] != NULL] = b;
}

static uint64_t sum_of(const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  uint64_t sum = size, word = 0;
  for (; size >= sizeof word; size -= sizeof word, at += sizeof word) {
    memcpy(&word, at, sizeof word);
    sum = (sum ^ word) * 0x100000001b3u;
  }
  memcpy(&word, at, size);
  return (sum ^ word) * 0x100000001b3u;
}

static bool is_pending(uint64_t number) {
  for (const own_queue *q = queues; q != NULL; q = q->next)
    for (const command *c = q->first; c != NULL; c = c->next)
      if (c->number == number) return true;
  return false;
}

static bool may_begin(const command *c) {
  if (c == NULL || c->number > c->on->flushed) return false;
  for (uint32_t i = 0; i < c->after_count; i++)
    if (is_pending(c->after[i])) return false;
  return true;
}

/* Those that wait for a command that has failed do too. */
static void fail_after(uint64_t number) {
  for (const own_queue *q = queues; q != NULL; q = q->next)
    for (command *c = q->first; c != NULL; c = c->next)
      for (uint32_t i = 0; i < c->after_count; i++) c->fails = c->fails || c->after[i] == number;
}

static void end(command *c) {
  if (c->fails) fail_after(c->number);
  if (c->event != NULL) {
    event *e = handle_get(HANDLE_EVENT, NULL, c->event, c->call);
    e->command = NULL;
    e->failed = c->fails;
  }
  for (int i = 0; i < 2; i++)
    if (c->buffers[i] != NULL) buffers_unuse(c->buffers[i]);
  for (uint32_t i = 0; i < KERNEL_ARGUMENTS; i++)
    if (c->kernel.buffers[i] != NULL) buffers_unuse(c->kernel.buffers[i]);
  handle_free(c);
}

/* Runs a command that may begin, drawn by chance of the first ones of all queues. False: there is none. */
static bool run_one(void) {
  command *chosen = NULL;
  uint32_t many = 0;
  for (own_queue *q = queues; q != NULL; q = q->next)
    if (may_begin(q->first) && random_below(&chance, ++many) == 0) chosen = q->first;
  if (chosen == NULL) return false;
  POLICE(chosen->in == NULL || is_timed || sum_of(chosen->in, chosen->size) == chosen->sum,
         "%s: the bytes have changed that are copied", chosen->call);
  if (!chosen->fails)
    chosen->run(chosen);
  else if (chosen->mapped != NULL)
    chosen->mapped->made = true; /* it has ended, and is still to be unmapped */
  own_queue *q = chosen->on;
  q->first = chosen->next;
  if (q->first == NULL) q->last = NULL;
  end(chosen);
  handles_changed();
  return true;
}

static event *event_get(const gpu_event *handle, const char *call) {
  return handle_get(HANDLE_EVENT, NULL, handle, call);
}

/* ---- time ---- */

static double later(double a, double b) { return a > b ? a : b; }

/* The time at which the command, which comes now, ends: after those before it on its queue, those that it waits for,
 * and those that keep its engine busy. */
static double take_time(const command *c, const gpu_order *order) {
  double begins = later(seconds_now(), c->on->ends);
  for (uint32_t i = 0; i < order->count; i++) begins = later(begins, event_get(order->after[i], c->call)->ends);
  if (c->seconds > 0.0) begins = later(begins, engines[c->engine]);
  const double ends = begins + c->seconds;
  if (c->seconds > 0.0) engines[c->engine] = ends;
  return ends;
}

/* Without sleeping, which is longer than a transfer. */
static void rest_until(double time) {
  if (!is_timed) return;
  handles_unlock();
  while (seconds_now() < time) continue;
  handles_lock();
}

/* ---- commands that come, and waits ---- */

uint64_t orders_put(command *c, gpu_order order, bool fails) {
  void *number;
  own_queue *q = c->on;
  POLICE(order.count <= COMMAND_AFTER, "%s: after %u events", c->call, order.count);
  for (uint32_t i = 0; i < order.count; i++) {
    const event *e = event_get(order.after[i], c->call);
    if (e->command != NULL) c->after[c->after_count++] = e->number;
    fails = fails || e->failed;
  }
  c->number = ++numbers;
  c->fails = fails;
  c->sum = c->in == NULL || is_timed ? 0 : sum_of(c->in, c->size);
  if (is_timed) q->ends = take_time(c, &order);
  if (order.done != NULL) {
    event *e = handle_new(HANDLE_EVENT, q->owner, &number);
    *e = (event){.number = c->number, .command = c, .ends = q->ends};
    *order.done = c->event = number;
  }
  if (q->last != NULL) q->last->next = c;
  q->last = c;
  if (q->first == NULL) q->first = c;
  const uint64_t put = c->number;
  if (!is_late) q->flushed = put;
  while (!is_late && run_one()) continue;
  return put;
}

static void flush(own_queue *q, bool waits) {
  if (q->last == NULL || q->last->number <= q->flushed) return;
  for (const command *c = q->first; waits && c != NULL; c = c->next) unflushed += c->number > q->flushed;
  q->flushed = q->last->number;
  handles_changed();
}

void orders_flush(gpu_queue *handle, const char *call) { flush(queue_get(NULL, handle, call), false); }

/* Runs commands until this one has ended. */
static void run_until(uint64_t number, const char *call) {
  while (is_pending(number))
    if (!run_one())
      POLICE(handles_await_change(), "%s: it waits for a command that waits for what was never begun", call);
}

bool orders_await(gpu_queue *handle, uint64_t number, const char *call) {
  own_queue *q = queue_get(NULL, handle, call);
  bool fails = false;
  flush(q, false); /* a wait for a number needs no flush before it */
  while (is_pending(number)) {
    for (const command *c = q->first; c != NULL; c = c->next)
      if (c->number == number) fails = c->fails;
    if (!run_one())
      POLICE(handles_await_change(), "%s: it waits for a command that waits for what was never begun", call);
  }
  rest_until(q->ends);
  return !fails;
}

void orders_finish(gpu_queue *handle, const char *call) {
  own_queue *q = queue_get(NULL, handle, call);
  flush(q, true);
  if (q->last != NULL) run_until(q->last->number, call);
  rest_until(q->ends);
}

bool orders_wait(gpu_event *const *events, uint32_t count, const char *call) {
  bool failed = false;
  POLICE(count > 0, "%s: no events", call);
  for (uint32_t i = 0; i < count; i++) {
    const event *e = event_get(events[i], call);
    if (e->command != NULL) flush(e->command->on, true);
  }
  for (uint32_t i = 0; i < count; i++) run_until(event_get(events[i], call)->number, call);
  for (uint32_t i = 0; i < count; i++) {
    const event *e = event_get(events[i], call);
    const double ends = e->ends;
    failed = failed || e->failed;
    rest_until(ends);
  }
  return !failed;
}

void orders_release_event(gpu_event *handle) {
  event *e = event_get(handle, "release_event");
  if (e->command != NULL) e->command->event = NULL;
  handle_free(e);
}
