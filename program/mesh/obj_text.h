/* OBJ texts before and after the import library reads them. */
#ifndef SLABCAST_PROGRAM_MESH_OBJ_TEXT_H
#define SLABCAST_PROGRAM_MESH_OBJ_TEXT_H

#include <stddef.h>

/* Keeps only the lines of vertices and faces, each from its first letter to its end. Lines continued by a backslash are
 * joined. Returns the new size, which is never larger. `text` has `size` bytes and needs no NUL. */
size_t obj_keep_geometry(char *text, size_t size);

/* Finds the reason of a rejection, because the library rejects a text without naming the place. Searches for the first
 * face with a vertex index that the text does not have, and writes it with its line to `fault`. If there is none,
 * `fault` is unchanged. `text` ends with NUL. */
void obj_find_fault(const char *text, char *fault, size_t size);

#endif
