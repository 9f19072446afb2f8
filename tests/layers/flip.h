/* The interface between a test and the flipping layer. */
#ifndef FLIP_H
#define FLIP_H

typedef struct flip_report {
  unsigned reads, flipped; /* since flip_arm */
} flip_report;

/* From now on, flips one bit of the nth read-back, counted from 1: `bit` modulo its length in bits. nth 0: only
 * counts. */
typedef void flip_arm(unsigned nth, unsigned long long bit);
typedef flip_report flip_disarm(void);

#endif
