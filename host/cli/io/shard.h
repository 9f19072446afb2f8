/* Identifies the slice of a cast in an npy file: a note in its header, written by `cast --shard` and read by `join`. */
#ifndef SLABCAST_CLI_SHARD_H
#define SLABCAST_CLI_SHARD_H

#include <stdint.h>

#include "npy.h"

typedef struct shard_label {
  uint64_t index, count; /* slice `index` of `count`, counted from 0 */
  uint64_t first, rays;  /* `rays` of `total` rays, starting at ray `first` */
  uint64_t total;
} shard_label;

void shard_label_write(const shard_label *label, char note[NPY_NOTE_MAX]);
/* Parses a note. Returns 1 if it is such a label, else 0 with *label zeroed. */
int shard_label_read(const char *note, shard_label *label);

#endif
