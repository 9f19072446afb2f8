/* Mesh files that are text in UTF-16, as some exporters and editors of Windows write them. */
#ifndef SLABCAST_PROGRAM_MESH_UTF16_H
#define SLABCAST_PROGRAM_MESH_UTF16_H

#include <stddef.h>

/* The text in UTF-8, ended by NUL, which the caller frees. NULL: the bytes do not begin with the mark of UTF-16, of
 * either order, or are no text after it, or there is no memory. */
char *utf16_to_utf8(const char *bytes, size_t size, size_t *out_size);

#endif
