/* The header of numpy's .npy format, versions 1.0 to 3.0, and the note in it that names a shard. */
#ifndef SLABCAST_PROGRAM_IO_NPY_H
#define SLABCAST_PROGRAM_IO_NPY_H

#include <stddef.h>
#include <stdint.h>

#include "program/io/input.h"

enum { NPY_DESCR_MAX = 1024, NPY_DIMENSIONS_MAX = 8, NPY_MAGIC = 6, NPY_HEADER_MAX = 2048, NPY_NOTE_MAX = 256 };

typedef struct npy_header {
  char descr[NPY_DESCR_MAX]; /* the dtype as numpy writes it: '<f4' with its quotes, or [('t', '<f4'), ...] */
  size_t item_size;          /* bytes of one item */
  int fortran_order;
  uint64_t shape[NPY_DIMENSIONS_MAX];
  int dimensions;
  char note[NPY_NOTE_MAX]; /* the comment after the dictionary, which numpy ignores; empty if there is none */
} npy_header;

/* 1 if the data begins with numpy's six magic bytes. */
int npy_is(const char *data, size_t size);

/* Parses the dictionary of a header. Returns NULL, or its fault. */
const char *npy_parse(const char *text, size_t size, npy_header *header);

/* The field of this name in a structured dtype: its own dtype, of *length bytes, with its shape if it has one. *place:
 * the byte of an item at which the field begins. NULL: there is none. */
const char *npy_field(const npy_header *header, const char *name, size_t *length, size_t *place);

/* Reads the header at the start of `in`. Returns 0, or -1 with the error printed. */
int npy_read(input *in, npy_header *header);

/* Writes a header to `buffer` and returns its size. The size does not depend on `rows`, so the header can be patched
 * once the rows are counted. columns 0: one dimension. `descr` as in npy_header. */
size_t npy_write(char buffer[NPY_HEADER_MAX], const char *descr, uint64_t rows, uint64_t columns);
/* The same for one dimension, with a note of less than NPY_NOTE_MAX bytes; "": no note. */
size_t npy_write_noted(char buffer[NPY_HEADER_MAX], const char *descr, uint64_t rows, const char *note);

/* Part `index` of `count`, of --shard. */
typedef struct shard_option {
  uint64_t index, count; /* count 0: not sharded */
} shard_option;

/* Identifies the slice of a cast in an npy file: a note in its header, written by `cast --shard` and read by `join`. */
typedef struct shard_label {
  uint64_t index, count; /* slice `index` of `count`, counted from 0 */
  uint64_t first, rays;  /* `rays` of `total` rays, starting at ray `first` */
  uint64_t total;
  uint64_t scene, sample, options; /* digests of the scene, of rays from all of the file, of all else that decides
                                      answers; 0: unknown */
} shard_label;

void shard_label_write(const shard_label *label, char note[NPY_NOTE_MAX]);
/* How the casts of two shards differ, as in "it is of another scene"; NULL: as far as the labels say, in nothing. */
const char *shard_label_differs(const shard_label *, const shard_label *);
/* Parses a note. Returns 1 if it is such a label, else 0 with *label zeroed. */
int shard_label_read(const char *note, shard_label *label);

#endif
