/* Results of a grid as an image of VTK (.vti), which ParaView opens: XML ImageData with an array for each field, behind
 * the XML as raw bytes. Arrays stand one behind the other, so that each batch is written in as many places. */
#ifndef SLABCAST_PROGRAM_IO_IMAGE_FILE_H
#define SLABCAST_PROGRAM_IO_IMAGE_FILE_H

#include "program/io/grid.h"
#include "program/io/result_row.h"

typedef struct image_file image_file;

/* Functions of type int return 0, or -1 with the error printed. */

/* path: of a file, not of a pipe. row: the packed row, fields of kinds f, u and b. resume: goes on from FILE.part, or
 * compares with FILE. */
int image_file_open(const char *path, const grid *, const result_row *row, int resume, image_file **opened);
/* With `resume`, the number of points that need not be measured again. */
uint64_t image_file_resumed(const image_file *);
/* Appends the packed rows of the next n points. */
int image_file_put(image_file *, const void *packed, size_t n);
/* As result_file_commit and result_file_discard. */
int image_file_commit(image_file *);
void image_file_discard(image_file *);

#endif
