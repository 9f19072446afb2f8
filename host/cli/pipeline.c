#include "pipeline.h"

#include <string.h>

int pipeline_make(pipeline *r) {
  memset(r, 0, sizeof *r);
  r->end = UINT64_MAX;
  int failure = pthread_mutex_init(&r->mutex, NULL);
  if (failure) return failure;
  failure = pthread_cond_init(&r->moved, NULL);
  if (failure) pthread_mutex_destroy(&r->mutex);
  return failure;
}

void pipeline_free(pipeline *r) {
  pthread_cond_destroy(&r->moved);
  pthread_mutex_destroy(&r->mutex);
}

int pipeline_wait(pipeline *r, uint64_t batch, int stage, uint64_t batches) {
  pthread_mutex_lock(&r->mutex);
  while (batch < r->end && r->left[stage] < batches) pthread_cond_wait(&r->moved, &r->mutex);
  const int goes_on = batch < r->end;
  pthread_mutex_unlock(&r->mutex);
  return goes_on ? 0 : -1;
}

void pipeline_pass(pipeline *r, int stage) {
  pthread_mutex_lock(&r->mutex);
  r->left[stage]++;
  pthread_cond_broadcast(&r->moved);
  pthread_mutex_unlock(&r->mutex);
}

void pipeline_end(pipeline *r, uint64_t batch, int code) {
  pthread_mutex_lock(&r->mutex);
  if (batch < r->end) r->end = batch;
  if (!r->code) r->code = code;
  pthread_cond_broadcast(&r->moved);
  pthread_mutex_unlock(&r->mutex);
}
