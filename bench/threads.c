#include "threads.h"

#include <pthread.h>

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
  pthread_t threads[THREADS_MAX];
  uint32_t started = 0;
  while (started + 1 < count && started < THREADS_MAX && pthread_create(&threads[started], NULL, begin, &c) == 0)
    started++;
  begin(&c);
  for (uint32_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
  return started + 1 >= count;
}
