#include "threads.h"

#include "os/thread.h"

typedef struct call {
  void (*function)(void *);
  void *argument;
} call;

static void *begin(void *argument) {
  const call *c = argument;
  c->function(c->argument);
  return NULL;
}

int threads_run(uint32_t count, void (*function)(void *), void *argument) {
  call c = {function, argument};
  os_thread threads[THREADS_MAX];
  uint32_t started = 0;
  while (started + 1 < count && started < THREADS_MAX && os_thread_start(&threads[started], begin, &c) == 0) started++;
  begin(&c);
  for (uint32_t i = 0; i < started; i++) os_thread_join(threads[i]);
  return started + 1 >= count;
}
