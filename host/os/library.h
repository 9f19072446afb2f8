/* Libraries that are loaded when they are needed. */
#ifndef SLABCAST_OS_LIBRARY_H
#define SLABCAST_OS_LIBRARY_H

/* The program and the libraries that it has loaded already. */
void *os_library_of_program(void);
/* NULL: it is not there, or cannot be loaded. It stays loaded. */
void *os_library_open(const char *name);
/* The same of a library in the folder that this one is in. */
void *os_library_beside(const char *name);
/* The address of a function, in *address, which is a pointer to a function. NULL: the library has none by that name. */
void *os_library_symbol(void *library, const char *name);
/* Why the last library could not be opened; NULL: not known. */
const char *os_library_failure(void);

#endif
