/* OBJ texts, before and after the import library has them. */
#ifndef SLABCAST_CLI_OBJ_TEXT_H
#define SLABCAST_CLI_OBJ_TEXT_H

#include <stddef.h>

/* Keeps the lines of vertices and faces alone, each from its first letter to its end, those that a backslash continues
 * in one; returns the new size, never larger. `text` has `size` bytes and needs no NUL. */
size_t obj_keep_geometry(char *text, size_t size);

/* The library refuses a text without saying where. Looks for the first face that names a vertex which the text does not
 * have, and describes it with its line in `fault`, which stays as it is when there is none. `text` ends with NUL. */
void obj_find_fault(const char *text, char *fault, size_t size);

#endif
