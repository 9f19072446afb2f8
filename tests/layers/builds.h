/* The interface between a test and the layer that watches builds. */
#ifndef BUILDS_H
#define BUILDS_H

typedef struct builds_report {
  unsigned sources, binaries; /* programs created from source, and from another program's binary */
  unsigned held;              /* builds that are held now */
  unsigned overdue;           /* builds that were held up to the time limit and then continued */
} builds_report;

/* From now on, builds whose options contain this text are held; NULL: no build is held. Builds that are already held
 * are tested against the new text. */
typedef void builds_hold(const char *options);
/* Resets the counts, except that of the builds that are held now. */
typedef void builds_begin(void);
typedef builds_report builds_seen(void);

#endif
