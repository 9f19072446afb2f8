/* The interface between a test and the pinning layer. */
#ifndef PINNED_H
#define PINNED_H

typedef enum pinned_refusal {
  PINNED_GIVEN,       /* all requests succeed */
  PINNED_NOT_CREATED, /* none: clCreateBuffer fails */
  PINNED_NOT_MAPPED   /* none: clEnqueueMapBuffer fails */
} pinned_refusal;

typedef struct pinned_report {
  unsigned long long staged,
      direct;                  /* copies of more than one number: staged from or to pinned memory; direct: all others */
  unsigned long long up, down; /* bytes of all copies to devices, and from them */
  unsigned buffers, mappings;  /* buffers and mappings of pinned memory that exist now */
  unsigned lost;               /* buffers of pinned memory that were released while mapped */
} pinned_report;

/* From now on, devices report that they are GPUs if `gpu` is not 0, and requests for pinned memory are refused as
 * given. Resets the counts of copies, of their bytes and of lost buffers. */
typedef void pinned_arm(int gpu, pinned_refusal);
typedef pinned_report pinned_now(void);

#endif
