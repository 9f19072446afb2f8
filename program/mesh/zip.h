/* Files in zip archives, and texts that zlib packed. */
#ifndef SLABCAST_PROGRAM_MESH_ZIP_H
#define SLABCAST_PROGRAM_MESH_ZIP_H

#include <stddef.h>

/* Stores at most size - 1 bytes of the file of this name, by letters of either case, ended by NUL. Returns their
 * number; 0: there is no such file, or it cannot be unpacked. */
size_t zip_begin_of(const char *archive, size_t archive_size, const char *name, char *bytes, size_t size);

/* All return a text, ended by NUL, which the caller frees, and its size; NULL: the bytes are none such, or there is no
 * memory. */

/* The file of this name, as above. */
char *zip_text(const char *archive, size_t archive_size, const char *name, size_t *size);
/* The Collada file of an archive: the one that its manifest names, else the first one. */
char *zip_collada(const char *archive, size_t archive_size, size_t *size);
/* The data packed behind the two bytes that zlib begins with. */
char *zip_inflated(const char *bytes, size_t packed_size, size_t *size);

#endif
