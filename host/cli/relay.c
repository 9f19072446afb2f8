#include "relay.h"

#include <string.h>

int relay_make(relay *r, int carriers) {
  memset(r, 0, sizeof *r);
  r->carriers = carriers;
  int failure = pthread_mutex_init(&r->mutex, NULL);
  if (failure) return failure;
  failure = pthread_cond_init(&r->moved, NULL);
  if (failure) pthread_mutex_destroy(&r->mutex);
  return failure;
}

void relay_free(relay *r) {
  pthread_cond_destroy(&r->moved);
  pthread_mutex_destroy(&r->mutex);
}

uint64_t relay_begin(relay *r) {
  pthread_mutex_lock(&r->mutex);
  const uint64_t batch = r->tickets++;
  pthread_mutex_unlock(&r->mutex);
  return batch;
}

int relay_enter(relay *r, int stage, uint64_t batch) {
  pthread_mutex_lock(&r->mutex);
  while (!r->ended[stage] && r->next[stage] != batch) pthread_cond_wait(&r->moved, &r->mutex);
  const int ended = r->ended[stage];
  pthread_mutex_unlock(&r->mutex);
  return ended ? -1 : 0;
}

void relay_leave(relay *r, int stage, int code) {
  pthread_mutex_lock(&r->mutex);
  r->next[stage]++;
  for (int i = 0; code && i <= stage; i++) r->ended[i] = 1;
  if (code != RELAY_NO_MORE && !r->code) r->code = code;
  pthread_cond_broadcast(&r->moved);
  pthread_mutex_unlock(&r->mutex);
}

void relay_stop(relay *r, int code) {
  pthread_mutex_lock(&r->mutex);
  for (int i = 0; i < RELAY_STAGES; i++) r->ended[i] = 1;
  r->code = code;
  pthread_cond_broadcast(&r->moved);
  pthread_mutex_unlock(&r->mutex);
}

void relay_retire(relay *r) {
  pthread_mutex_lock(&r->mutex);
  r->carriers--;
  pthread_cond_broadcast(&r->moved);
  pthread_mutex_unlock(&r->mutex);
}

int relay_wait(relay *r) {
  pthread_mutex_lock(&r->mutex);
  while (r->carriers && !r->code) pthread_cond_wait(&r->moved, &r->mutex);
  const int code = r->code;
  pthread_mutex_unlock(&r->mutex);
  return code;
}
