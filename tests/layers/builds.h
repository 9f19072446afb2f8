/* What the layer that watches builds lets a test order. */
#ifndef BUILDS_H
#define BUILDS_H

typedef struct builds_report {
  unsigned sources, binaries; /* builds since builds_hold: of sources, and of another program's binary */
  unsigned held;              /* builds that are held now */
  unsigned overdue;           /* that were held so long that they went on by themselves */
} builds_report;

/* From now on builds whose options have this text in them wait; NULL: none, and those that wait go on. The counts begin
 * anew but for those that wait. */
typedef void builds_hold(const char *options);
typedef builds_report builds_seen(void);

#endif
