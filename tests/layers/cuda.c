/* A libcuda.so.1 without a card, for the test of bench_ptx. Memory is the process's own. A launch takes parameters as
 * the PTX declares them and calls the library's kernel of one lane for each work-item: the same text as the PTX's,
 * compiled as C11. SLAB_CUDA_FLIP=1 turns one bit of what comes back. */
#include "cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native/native.h"

#define EXPORT __attribute__((visibility("default")))
#define DECLARE(name, symbol, parameters) EXPORT CUresult name parameters __asm__(symbol);
CUDA_FUNCTIONS(DECLARE)
#undef DECLARE

enum { PARAMETERS = 16, INVALID = 1, NOT_FOUND = 500 };

/* A module has one function. */
struct CUmod_st {
  char name[32];
  int query;
  size_t sizes[PARAMETERS]; /* bytes of each parameter */
  int count;
};

CUresult cuInit(unsigned flags) { return flags == 0 ? 0 : INVALID; }

CUresult cuDeviceGet(CUdevice *card, int ordinal) {
  *card = ordinal;
  return ordinal == 0 ? 0 : INVALID;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice card) {
  snprintf(name, (size_t)size, "no card %d", card);
  return 0;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice card) {
  *context = NULL;
  return card == 0 ? 0 : INVALID;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice card) { return card == 0 ? 0 : INVALID; }
CUresult cuCtxSetCurrent(CUcontext context) { return context == NULL ? 0 : INVALID; }
CUresult cuCtxSynchronize(void) { return 0; }

CUresult cuGetErrorString(CUresult code, const char **text) {
  *text = code == NOT_FOUND ? "not found" : "invalid";
  return 0;
}

/* ---- modules ---- */

/* ".param .u64 NAME" or ".param .align 4 .b8 NAME[BYTES]", up to the parenthesis that ends the list. */
static int read_parameters(const char *text, struct CUmod_st *m) {
  const char *end = strchr(text, ')');
  for (const char *at = strstr(text, ".param"); at != NULL && at < end; at = strstr(at + 1, ".param")) {
    size_t bytes = 8;
    if (m->count == PARAMETERS) return -1;
    if (strncmp(at, ".param .u64 ", 12) != 0 && sscanf(at, ".param .align 4 .b8 %*[^[][%zu]", &bytes) != 1) return -1;
    m->sizes[m->count++] = bytes;
  }
  return end == NULL ? -1 : 0;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned options, const int *names, void **values) {
  const char *text = image, *entry = strstr(text, ".visible .entry ");
  CUmodule m = *module = calloc(1, sizeof *m);
  (void)options, (void)names, (void)values;
  if (m == NULL || entry == NULL || sscanf(entry, ".visible .entry %31[a-z](", m->name) != 1) return INVALID;
  if (sscanf(text, "// query %d", &m->query) != 1 || read_parameters(entry, m) != 0) return INVALID;
  return 0;
}

CUresult cuModuleUnload(CUmodule module) {
  free(module);
  return 0;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  *function = (CUfunction)(void *)module;
  return strcmp(module->name, name) == 0 ? 0 : NOT_FOUND;
}

CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
  *value = 1;
  return attribute == CU_FUNC_ATTRIBUTE_NUM_REGS && function != NULL ? 0 : INVALID;
}

/* ---- memory ---- */

CUresult cuMemAlloc(CUdeviceptr *memory, size_t bytes) {
  *memory = (CUdeviceptr)malloc(bytes);
  return *memory != 0 ? 0 : INVALID;
}

CUresult cuMemFree(CUdeviceptr memory) {
  free((void *)memory);
  return 0;
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
  memcpy((void *)to, from, bytes);
  return 0;
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
  memcpy(to, (const void *)from, bytes);
  if (getenv("SLAB_CUDA_FLIP") != NULL) ((unsigned char *)to)[bytes / 2] ^= 1;
  return 0;
}

/* ---- launches ---- */

static const native_variant *variant_of(const char *name, int query) {
  const native_program program = strcmp(name, "flat") == 0 ? NATIVE_FLAT : NATIVE_COMPRESSED;
  for (const native_level *level = native_levels; level->name != NULL; level++)
    for (const native_variant *v = level->variants; level->lanes == 1 && v->program != NATIVE_END; v++)
      if (v->program == program && (int)v->query == query && v->kinds == KINDS_all) return v;
  return NULL;
}

/* The parameters, copied as a launch copies them. */
typedef struct taken {
  void *buffers[PARAMETERS];
  cast_uniforms uniforms;
} taken;

static int take(const struct CUmod_st *m, void **parameters, taken *t) {
  for (int i = 0; i < m->count; i++) {
    if (m->sizes[i] == sizeof *t->buffers)
      memcpy(&t->buffers[i], parameters[i], sizeof *t->buffers);
    else if (i == 7 && m->sizes[i] == sizeof t->uniforms)
      memcpy(&t->uniforms, parameters[i], sizeof t->uniforms);
    else
      return -1;
  }
  return m->count == 8 || m->count == 9 ? 0 : -1;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **parameters,
                        void **extra) {
  const struct CUmod_st *m = (const void *)function;
  const native_variant *v = variant_of(m->name, m->query);
  const size_t items = (size_t)grid_x * block_x;
  taken t;
  if (grid_y * grid_z * block_y * block_z != 1 || shared_bytes != 0 || stream != NULL || extra != NULL) return INVALID;
  if (v == NULL || take(m, parameters, &t) != 0) return INVALID;
  void **b = t.buffers;
  for (size_t i = 0; i < items; i++) {
    if (m->count == 8)
      v->kernel.flat(i, b[0], b[1], b[2], b[3], b[4], b[5], b[6], t.uniforms);
    else
      v->kernel.compressed(i, b[0], b[1], b[2], b[3], b[4], b[5], b[6], t.uniforms, b[8]);
  }
  return 0;
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  *event = NULL;
  return flags == 0 ? 0 : INVALID;
}
CUresult cuEventRecord(CUevent event, CUstream stream) { return event == NULL && stream == NULL ? 0 : INVALID; }
CUresult cuEventDestroy(CUevent event) { return event == NULL ? 0 : INVALID; }

CUresult cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end) {
  *milliseconds = 1.0f;
  return begin == end ? 0 : INVALID;
}
