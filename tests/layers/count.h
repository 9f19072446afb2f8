/* The interface between a test and the counting layer. */
#ifndef COUNT_H
#define COUNT_H

enum { COUNT_KINDS = 7 };

/* References that the process holds, by kind of object. */
typedef struct count_live {
  long long references[COUNT_KINDS];
} count_live;

typedef count_live count_now(void); /* type of slab_count_now */

#endif
