/* What the layer that watches builds lets a test order. */
#ifndef BUILDS_H
#define BUILDS_H

typedef struct builds_report {
  unsigned sources, binaries; /* programs that were created of a source, and of another program's binary */
  unsigned held;              /* builds that are held now */
  unsigned overdue;           /* builds that were held so long that they went on by themselves */
} builds_report;

/* From now on builds whose options have this text in them wait; NULL: none does. Those that wait are asked again. */
typedef void builds_hold(const char *options);
/* The counts begin anew, but for the builds that are held. */
typedef void builds_begin(void);
typedef builds_report builds_seen(void);

#endif
