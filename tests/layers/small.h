/* What the layer of small allocations lets a test order. */
#ifndef SMALL_H
#define SMALL_H

/* From now on every device allocates so many bytes at once (0: as many as it does); the counts begin anew. */
typedef void small_arm(unsigned long long bytes);

typedef struct small_counts {
  unsigned buffers;           /* created since */
  unsigned refused;           /* for being larger */
  unsigned long long largest; /* bytes of the largest that was created */
  unsigned launches, cut;     /* of kernels, and of these the ones that were built for a scene in several buffers */
} small_counts;

typedef small_counts small_now(void);

#endif
