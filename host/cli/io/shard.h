/* Which slice of a cast an npy file holds: a note in its header, written by `cast --shard`, read by `join`. */
#ifndef SLABCAST_CLI_SHARD_H
#define SLABCAST_CLI_SHARD_H

#include <stdint.h>

#include "npy.h"

typedef struct shard_label {
  uint64_t index, count; /* the index-th of `count` slices, counted from 0 */
  uint64_t first, rays;  /* of `total` rays, `rays` from number `first` on */
  uint64_t total;
} shard_label;

void shard_label_write(const shard_label *label, char note[NPY_NOTE_MAX]);
/* 1 when the note is such a label, else 0 with *label zero. */
int shard_label_read(const char *note, shard_label *label);

#endif
