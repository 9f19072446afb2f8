/* What begins a file in a zip archive. */
#ifndef SLABCAST_PROGRAM_MESH_ZIP_H
#define SLABCAST_PROGRAM_MESH_ZIP_H

#include <stddef.h>

/* Stores at most size - 1 bytes of the file of this name, by letters of either case, ended by NUL, and returns how
 * many; 0: there is no such file, or it cannot be unpacked. */
size_t zip_begin_of(const char *archive, size_t archive_size, const char *name, char *bytes, size_t size);

#endif
