/* What the lying layer lets a test order. */
#ifndef LIE_H
#define LIE_H

/* From now on programs are built so that they compute as the lie of this name says (lie.c); NULL: as they stand.
 * device: on that one alone, as its platform lists them; below 0: on all. False where there is no such lie. */
typedef int lie_arm(const char *name, int device);

typedef struct lie_report {
  unsigned probes;  /* programs of the probe that were built, */
  unsigned planted; /* and those of them that lie, since lie_arm */
} lie_report;

typedef lie_report lie_told(void);

#endif
