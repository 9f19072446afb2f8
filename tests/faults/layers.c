#include "layers.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

/* Converts dlsym's object pointer to a function pointer, which POSIX guarantees to work. */
typedef union symbol {
  void *object;
#define SYMBOL_MEMBER(type, member) type *member;
  LAYER_CALLS(SYMBOL_MEMBER)
} symbol;

/* Adds the symbols of this layer, if the loader has loaded it. */
static void add(layers *all, const char *path) {
  void *loaded = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (!loaded) return;
#define FIND(type, member) \
  if (!all->member) all->member = (symbol){dlsym(loaded, "slab_" #type)}.member;
  LAYER_CALLS(FIND)
  dlclose(loaded); /* it stays loaded by the loader */
}

layers layers_load(void) {
  layers all = {0};
  char paths[4096];
  cl_uint platforms;
  const char *given = getenv("OPENCL_LAYERS");
  snprintf(paths, sizeof paths, "%s", given ? given : "");
  clGetPlatformIDs(0, NULL, &platforms); /* the loader loads its layers at the first call */
  for (char *rest = NULL, *path = strtok_r(paths, ":", &rest); path; path = strtok_r(NULL, ":", &rest)) add(&all, path);
  return all;
}

layers layers_with(const char *path) {
  const char *others = getenv("OPENCL_LAYERS");
  char paths[4096];
  snprintf(paths, sizeof paths, "%s%s%s", others ? others : "", others ? ":" : "", path);
  setenv("OPENCL_LAYERS", paths, 1);
  const layers all = layers_load();
  void *loaded = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (loaded == NULL) {
    fprintf(stderr, "layers: %s was not loaded\n", path);
    exit(1);
  }
  dlclose(loaded);
  return all;
}
