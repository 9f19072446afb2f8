/* Batches that pass through stages in order, with a thread for each stage. While one batch is read, the one before it
 * is worked on, and the one before that is written. */
#ifndef SLABCAST_PROGRAM_IO_PIPELINE_H
#define SLABCAST_PROGRAM_IO_PIPELINE_H

#include <stdint.h>

enum { STAGE_READ, STAGE_WORK, STAGE_WRITE, PIPELINE_STAGES };
/* Batches in the pipeline at once. A stage's return value at the end, which is more than any exit code. */
enum { PIPELINE_SLOTS = 3, PIPELINE_END = 1 << 8 };

typedef struct pipeline pipeline;

/* Does a stage's work on a batch, which uses what it had in slot batch % slots before. Returns an exit code, the error
 * printed, or PIPELINE_END: there is no such batch. */
typedef int pipeline_stage(pipeline *, void *user, uint64_t batch);

/* Runs all stages until one ends or fails; batches before that one are completed. Reading and writing have threads of
 * their own. The work stays in the caller's, because some OpenCL implementations do not support calls from other
 * threads than the one that made the context. slots: 1 to PIPELINE_SLOTS. Returns an exit code, errors printed. */
int pipeline_run(pipeline_stage *const stages[PIPELINE_STAGES], void *user, uint64_t slots);

/* For the stage of the work: waits until the batches before this one are written. Returns 0, or -1 if the batch must
 * not continue. */
int pipeline_await_written(pipeline *, uint64_t batch);

#endif
