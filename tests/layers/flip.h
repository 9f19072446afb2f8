/* What the flipping layer lets a test order. */
#ifndef FLIP_H
#define FLIP_H

typedef struct flip_report {
  unsigned reads, flipped; /* since flip_arm */
} flip_report;

/* Flips a bit of the nth read-back from now on, counted from 1: `bit` modulo its length in bits; 0: counts alone. */
typedef void flip_arm(unsigned nth, unsigned long long bit);
typedef flip_report flip_disarm(void);

#endif
