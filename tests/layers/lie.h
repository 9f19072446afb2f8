/* The interface between a test and the lying layer. */
#ifndef LIE_H
#define LIE_H

/* From now on, programs compute by the lie of this name (lie.c); NULL: as they are. `device` is the index of the only
 * device that lies, in its platform's list; below 0: all lie. Returns false if there is no such lie. */
typedef int lie_arm(const char *name, int device);

typedef struct lie_report {
  unsigned probes;  /* programs of the probe that were built, since lie_arm */
  unsigned planted; /* those of them that lie */
} lie_report;

typedef lie_report lie_told(void);

#endif
