/* What the pinning layer lets a test order and see. */
#ifndef PINNED_H
#define PINNED_H

typedef enum pinned_refusal {
  PINNED_GIVEN,       /* as much as is asked for */
  PINNED_NOT_CREATED, /* none: clCreateBuffer fails */
  PINNED_NOT_MAPPED   /* none: clEnqueueMapBuffer fails */
} pinned_refusal;

typedef struct pinned_report {
  unsigned long long staged, direct; /* copies of more than a number: from and to pinned memory, and others */
  unsigned buffers, mappings;        /* of pinned memory, alive now */
  unsigned lost;                     /* buffers of pinned memory that were released while mapped */
} pinned_report;

/* From now on devices call themselves GPUs where `gpu` is not 0, and refuse pinned memory so; copies and what is lost
 * are counted anew. */
typedef void pinned_arm(int gpu, pinned_refusal);
typedef pinned_report pinned_now(void);

#endif
