#include "program/io/pipeline.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "os/thread.h"
#include "program/io/errors.h"
#include "program/os/interrupt.h"

struct pipeline {
  pipeline_stage *const *stages;
  void *user;
  uint64_t slots;
  os_mutex mutex;
  os_condition moved;
  uint64_t left[PIPELINE_STAGES]; /* batches that have left each stage */
  uint64_t end;                   /* number of batches; known when the last is known, reduced after a failure */
  int code;                       /* exit code of the first failure */
};

/* False where the system has no memory for a lock. */
static bool make(pipeline *p) {
  if (!os_mutex_init(&p->mutex)) return false;
  os_condition_init(&p->moved);
  return true;
}

static void release(pipeline *p) {
  os_condition_destroy(&p->moved);
  os_mutex_destroy(&p->mutex);
}

/* Waits until `batches` batches have left the stage. Returns 0, or -1 if `batch` must not continue. */
static int wait_for(pipeline *p, uint64_t batch, int stage, uint64_t batches) {
  os_mutex_lock(&p->mutex);
  while (batch < p->end && p->left[stage] < batches) os_condition_wait(&p->moved, &p->mutex);
  const int goes_on = batch < p->end;
  os_mutex_unlock(&p->mutex);
  return goes_on ? 0 : -1;
}

int pipeline_await_written(pipeline *p, uint64_t batch) { return wait_for(p, batch, STAGE_WRITE, batch); }

/* Reports that a batch has left the stage. */
static void pass(pipeline *p, int stage) {
  os_mutex_lock(&p->mutex);
  p->left[stage]++;
  os_condition_broadcast(&p->moved);
  os_mutex_unlock(&p->mutex);
}

/* Ends the pipeline at `batch`: that batch and later ones do not continue, earlier ones are completed. A code other
 * than 0 is a failure; the first is kept. */
static void end_at(pipeline *p, uint64_t batch, int code) {
  os_mutex_lock(&p->mutex);
  if (batch < p->end) p->end = batch;
  if (!p->code) p->code = code;
  os_condition_broadcast(&p->moved);
  os_mutex_unlock(&p->mutex);
}

/* Waits until a batch may enter a stage, which is when it has left the one before. It is read when the batch before it
 * in its slot is written. */
static int wait_to_enter(pipeline *p, int stage, uint64_t batch) {
  const uint64_t gone = batch < p->slots ? 0 : batch + 1 - p->slots;
  if (stage == STAGE_READ) return wait_for(p, batch, STAGE_WRITE, gone);
  return wait_for(p, batch, stage - 1, batch + 1);
}

/* Runs a stage for all batches, until none is left or something fails. */
static void run_stage(pipeline *p, int stage) {
  for (uint64_t batch = 0; wait_to_enter(p, stage, batch) == 0; batch++) {
    const int code = p->stages[stage](p, p->user, batch);
    if (code != EXIT_DONE) end_at(p, batch, code == PIPELINE_END ? EXIT_DONE : code);
    pass(p, stage);
  }
}

/* The thread can be interrupted where it waits for bytes, so that a slow producer does not delay the end of a failed
 * run. */
static void *run_reader(void *user) {
  os_reader_begin();
  run_stage(user, STAGE_READ);
  return NULL;
}

static void *run_writer(void *user) {
  run_stage(user, STAGE_WRITE);
  return NULL;
}

static int cannot_start(int failure) {
  complain("cannot start a thread: %s", strerror(failure));
  return EXIT_FAILED;
}

static int run_stages(pipeline *p) {
  os_thread reader, writer;
  int failure = os_thread_start(&reader, run_reader, p);
  if (failure) return cannot_start(failure);
  failure = os_thread_start(&writer, run_writer, p);
  if (failure)
    end_at(p, 0, cannot_start(failure));
  else
    run_stage(p, STAGE_WORK);
  os_reader_interrupt(reader); /* the reader has already ended unless something failed */
  os_thread_join(reader);
  if (!failure) os_thread_join(writer);
  return p->code;
}

int pipeline_run(pipeline_stage *const stages[PIPELINE_STAGES], void *user, uint64_t slots) {
  pipeline p = {.stages = stages, .user = user, .slots = slots, .end = UINT64_MAX};
  if (!make(&p)) return cannot_start(ENOMEM);
  const int code = run_stages(&p);
  release(&p);
  return code;
}
