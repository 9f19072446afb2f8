/* Queues, commands and events of the driver that pretends. All need its lock, which waits release. */
#ifndef PRETENDED_ORDERS_H
#define PRETENDED_ORDERS_H

#include "buffers.h"
#include "gpu/driver.h"
#include "kernels.h"
#include "pretended.h"

typedef struct own_queue own_queue;
typedef struct command command;

/* The work of a command. The command uses its buffers until it has ended. */
typedef void command_run(command *);

enum { COMMAND_AFTER = 8 };

/* The engines that commands of PRETENDED_TIMED keep busy. Each does one command at a time, in the order in which they
 * came. */
typedef enum engine { ENGINE_UP, ENGINE_CAST, ENGINE_DOWN, ENGINES } engine;

struct command {
  command *next; /* on its own_queue */
  own_queue *on;
  uint64_t number;
  command_run *run;
  const char *call;
  bool fails; /* its caller's fault, or that of a command that it waits for */
  uint64_t after[COMMAND_AFTER];
  uint32_t after_count;
  gpu_event *event; /* NULL: none was wanted */
  engine engine;
  double seconds; /* for which it keeps the engine busy; 0: it needs none */
  /* what run needs */
  buffer *buffers[2];
  size_t at[2], stride[2], size, count;
  void *out;
  const void *in;
  uint64_t sum; /* of the bytes of `in`, which do not change */
  mapping *mapped;
  kernel_call kernel;
};

/* As in pretended_kind. */
void orders_pace(pretended_pace, uint64_t seed);

gpu_queue *orders_queue(const void *owner);
void orders_release_queue(const void *owner, gpu_queue *, const char *call);
const void *orders_owner(const gpu_queue *, const char *call);

/* A command that is not on its queue yet: the caller fills it in, and puts it there. */
command *orders_command(gpu_queue *, command_run *, const char *call);
/* Puts it on its queue. *done becomes its event, where the order wants one. fails: it ends without having run, and as
 * one that has failed. */
uint64_t orders_put(command *, gpu_order, bool fails);
/* A buffer that the command uses. */
void orders_use(command *, buffer *);

void orders_flush(gpu_queue *, const char *call);
/* Flushes the queue and waits for the command of this number. Whether it went well. */
bool orders_await(gpu_queue *, uint64_t number, const char *call);
void orders_finish(gpu_queue *, const char *call);
/* Begins the commands of these events, and waits for them. Whether all went well. */
bool orders_wait(gpu_event *const *, uint32_t count, const char *call);
void orders_release_event(gpu_event *);

/* Returns the number of commands that began because somebody waited for them, not by a flush before. Sets it to 0. */
unsigned orders_unflushed(void);

#endif
