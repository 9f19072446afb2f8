#include "cuda/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bvh/bvh.h"
#include "cuda/programs.h"
#include "os/library.h"

#ifdef _WIN32
#define PTX_LIBRARY "slabcast-cuda.dll"
#else
#define PTX_TEXT(x) #x
#define PTX_NAME(major, minor) "libslabcast-cuda.so." PTX_TEXT(major) "." PTX_TEXT(minor)
#define PTX_LIBRARY PTX_NAME(SLAB_VERSION_MAJOR, SLAB_VERSION_MINOR)
#endif

static ptx_function *programs;

/* Called once. */
const char *ptx_find(void) {
  size_t size;
  void *library = os_library_beside(PTX_LIBRARY);
  if (library == NULL) library = os_library_open(PTX_LIBRARY);
  if (library == NULL) return PTX_LIBRARY ", which has the kernels, is not there";
  void *const found = os_library_symbol(library, "slabcast_ptx");
  if (found == NULL) return PTX_LIBRARY " has no kernels";
  ptx_function *function;
  memcpy(&function, &found, sizeof function); /* POSIX: a function's address fits an object pointer */
  if (function(SLAB_VERSION_NUMBER, "refit", NULL, &size) != PTX_DONE)
    return PTX_LIBRARY " is of another version of Slabcast";
  programs = function;
  return NULL;
}

static bool of_points(const program_key *key) {
  return key->source == PROGRAM_POINTS_FLAT || key->source == PROGRAM_POINTS_COMPRESSED;
}

/* The kinds that a program is compiled for: boxes or triangles alone where that pays, else all. */
static const char *kinds_of(const program_key *key) {
  if (key->instances) return "instances";
  if (of_points(key)) return "all";
  if (key->kinds == 1u << SLAB_BOX) return "boxes";
  return key->kinds == 1u << SLAB_TRIANGLE && key->source == PROGRAM_COMPRESSED ? "triangles" : "all";
}

/* Programs of which there is one for all scenes; NULL: others. */
static const char *alone_name(program_source source) {
  return source == PROGRAM_PAIRS      ? "pairs"
         : source == PROGRAM_RAYS     ? "rays"
         : source == PROGRAM_SUMS     ? "sums"
         : source == PROGRAM_BOUNDARY ? "boundary"
         : source == PROGRAM_REFIT    ? "refit"
                                      : NULL;
}

/* The name of a program in the library. SLAB_UNSUPPORTED where cards have none. */
static slab_status ptx_name(const program_key *key, char *name, size_t size) {
  const char *edges = key->closed ? "-closed" : "";
  const bool compressed = key->source == PROGRAM_COMPRESSED || key->source == PROGRAM_POINTS_COMPRESSED;
  const char *alone = alone_name(key->source);
  if (alone != NULL)
    snprintf(name, size, "%s", alone);
  else if (of_points(key) && !key->cut)
    snprintf(name, size, "points-%d-%s-%s", (int)key->query, compressed ? "compressed" : "flat", kinds_of(key));
  else if (key->own && !key->cut) /* of every query and kind, and of both edges */
    snprintf(name, size, "%s-own%s", compressed ? "compressed" : "flat", key->instances ? "-instances" : "");
  else if ((compressed || key->source == PROGRAM_FLAT) && !key->cut)
    snprintf(name, size, "%s-%d-%s%s", compressed ? "compressed" : "flat", (int)key->query, kinds_of(key), edges);
  else
    return fail(SLAB_UNSUPPORTED, "by CUDA there are no such kernels"); /* needed neither by lanes nor by the layout */
  return SLAB_OK;
}

/* Turns the lines "//+...", which are those of lanes/ptx.h, into code. */
static void uncomment(char *text) {
  for (char *at = text; (at = strstr(at, "\n//+")) != NULL;) memset(at + 1, ' ', 3);
}

slab_status ptx_text(const program_key *key, char **text) {
  char name[64];
  size_t size = 0;
  slab_status status = ptx_name(key, name, sizeof name);
  if (status != SLAB_OK) return status;
  ptx_outcome outcome = programs(SLAB_VERSION_NUMBER, name, NULL, &size);
  char *made = outcome == PTX_DONE ? malloc(size + 1) : NULL;
  if (outcome == PTX_DONE && made == NULL) return fail_memory(size + 1, "a program");
  if (outcome == PTX_DONE) outcome = programs(SLAB_VERSION_NUMBER, name, made, &size);
  if (outcome != PTX_DONE) {
    free(made);
    return fail(SLAB_BUILD_FAILED, PTX_LIBRARY " %s \"%s\"", outcome == PTX_UNKNOWN ? "lacks" : "has a damaged", name);
  }
  made[size] = 0;
  if (key->counted) uncomment(made);
  *text = made;
  return SLAB_OK;
}
