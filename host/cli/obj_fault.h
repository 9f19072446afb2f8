/* What is wrong with an OBJ text that the import library refused without saying where. */
#ifndef SLABCAST_CLI_OBJ_FAULT_H
#define SLABCAST_CLI_OBJ_FAULT_H

#include <stddef.h>

/* Looks for the first face that names a vertex which the text does not have, and describes it with its line in
 * `fault`, which stays as it is when there is none. `text` ends with NUL. */
void obj_find_fault(const char *text, char *fault, size_t size);

#endif
