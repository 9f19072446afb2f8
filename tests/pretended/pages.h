/* Memory after which no byte is readable, and which can be protected. */
#ifndef PRETENDED_PAGES_H
#define PRETENDED_PAGES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pages {
  unsigned char *bytes; /* its first */
  void *mapped;
  size_t size; /* of the mapping, without the page after it */
  bool readonly;
} pages;

/* Takes `size` bytes that end where a page does, or with their last word. False: memory is short. */
bool pages_take(pages *, size_t size);
void pages_give_back(pages *);
void pages_protect(pages *, bool readonly);

#endif
