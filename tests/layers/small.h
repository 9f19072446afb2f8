/* The interface between a test and the layer of small allocations. */
#ifndef SMALL_H
#define SMALL_H

/* From now on, every device allocates at most this many bytes at once (0: its own limit). Resets the counts. */
typedef void small_arm(unsigned long long bytes);

typedef struct small_counts {
  unsigned buffers;           /* created since small_arm */
  unsigned refused;           /* buffers refused because they were larger */
  unsigned long long largest; /* bytes of the largest buffer that was created */
  unsigned launches, cut;     /* kernel launches; cut: those of programs built for a scene in several buffers */
} small_counts;

typedef small_counts small_now(void);

#endif
