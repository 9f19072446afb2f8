#include "shard.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void shard_label_write(const shard_label *label, char note[NPY_NOTE_MAX]) {
  snprintf(note, NPY_NOTE_MAX,
           "slabcast shard %" PRIu64 "/%" PRIu64 ": %" PRIu64 " rays from %" PRIu64 " on, of %" PRIu64, label->index,
           label->count, label->rays, label->first, label->total);
}

int shard_label_read(const char *note, shard_label *label) {
  char again[NPY_NOTE_MAX];
  *label = (shard_label){0};
  if (sscanf(note, "slabcast shard %" SCNu64 "/%" SCNu64 ": %" SCNu64 " rays from %" SCNu64 " on, of %" SCNu64,
             &label->index, &label->count, &label->rays, &label->first, &label->total) == 5) {
    shard_label_write(label, again);
    if (strcmp(note, again) == 0 && label->index < label->count) return 1;
  }
  *label = (shard_label){0};
  return 0;
}
