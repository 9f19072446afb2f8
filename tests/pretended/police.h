/* The end of a test program in which gpu/ breaks a rule of the seam (host/gpu/driver.h). */
#ifndef PRETENDED_POLICE_H
#define PRETENDED_POLICE_H

#include "base/formatted.h"

/* Ends the program unless the rule holds; the rest is a format and its values, which say what was done. */
#define POLICE(holds, ...)         \
  do {                             \
    if (holds) break;              \
    police_ends_with(__VA_ARGS__); \
  } while (0)

_Noreturn void police_ends_with(const char *format, ...) FORMATTED(1, 2);

/* Called at the begin and the end of a kernel. A read or write of it outside its buffers ends the program, and the
 * message names the kernel. */
void police_kernel_begins(const char *name);
void police_kernel_ends(void);

#endif
