/* What the counting layer tells a test of the same process. */
#ifndef COUNT_H
#define COUNT_H

enum { COUNT_KINDS = 7 };

/* References that the process holds, by kind of object. */
typedef struct count_live {
  long long references[COUNT_KINDS];
} count_live;

typedef count_live count_now(void); /* of slab_count_now */

#endif
