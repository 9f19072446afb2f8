/* The table of OpenCL's functions, and where they are found. */
#define OPENCL_BY_NAME
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "opencl/loader.h"
#include "os/library.h"

opencl_functions opencl_call;

static const char *const libraries[] = {
#ifdef __APPLE__
    "/System/Library/Frameworks/OpenCL.framework/OpenCL",
#endif
#ifdef _WIN32
    "OpenCL.dll"
#else
    "libOpenCL.so.1", "libOpenCL.so"
#endif
};

/* Takes every function from one library, so that no two loaders are mixed. */
static bool take_all(void *library) {
  opencl_functions found;
#define OPENCL_TAKE(name)                                                                                 \
  {                                                                                                       \
    void *const symbol = os_library_symbol(library, #name);                                               \
    if (symbol == NULL) return false;                                                                     \
    memcpy(&found.name, &symbol, sizeof symbol); /* POSIX: a function's address fits an object pointer */ \
  }
  OPENCL_FUNCTIONS(OPENCL_TAKE)
#undef OPENCL_TAKE
  opencl_call = found;
  return true;
}

/* The library stays open until the process ends: drivers have threads of their own. */
const char *opencl_find(void) {
  static char reason[256];
  static bool is_found;
  if (!is_found) is_found = take_all(os_library_of_program());
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !is_found; i++) {
    void *library = os_library_open(libraries[i]);
    is_found = library != NULL && take_all(library);
    if (is_found || reason[0] != 0) continue;
    const char *why = library == NULL ? os_library_failure() : NULL;
    snprintf(reason, sizeof reason, "%s", why != NULL ? why : "it lacks functions of OpenCL 1.2");
  }
  return is_found ? NULL : reason;
}
