/* A libcuda.so.1 without a card. Its kernels are those of slabcast-cuda, of the same text and the same dialect
 * (kernels/lanes/ptx.h), compiled for this processor. It knows a module by the first line of its PTX. Kernels of the
 * user's are in libraries that the stand-in of NVRTC makes (nvrtc.c); the output of NVRTC itself is kept, and not run.
 *
 * It holds callers to the interface; a violation ends the process with a line that says so. Violations: a context that
 * is not current, a released handle, bytes outside of an allocation, and parameters that the PTX does not declare. So
 * are a group that a kernel does not allow, and calls before cuInit. In a process that was forked after it all calls
 * but cuInit are violations, and cuInit fails. Objects that are not released by the end are reported, and the exit code
 * is 1.
 *
 *   SLAB_CUDA_CARDS=N     cards; default 1. CUDA_VISIBLE_DEVICES chooses among them
 *   SLAB_CUDA_MEMORY=B    bytes of a card; default 1 GiB
 *   SLAB_CUDA_FAIL=N      the Nth call that can fail does, with SLAB_CUDA_CODE (default 2: out of memory)
 *   SLAB_CUDA_FROM=N      so do all from the Nth on
 *   SLAB_CUDA_FLIP=1      one bit turns of what the host reads, in its middle
 *   SLAB_CUDA_LATE=SEED   commands run when somebody waits, those of several streams in an order drawn by chance */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/ray_set.h"
#include "data/ray_sums.h"
#include "data/types.h"
#include "standin.h"

enum { CU_STREAM_LEGACY = 1, CU_STREAM_PER_THREAD = 2, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9 }; /* Python's */
enum { CUDA_ERROR_ALREADY_REGISTERED = 712, CUDA_ERROR_NOT_REGISTERED = 713 };                    /* callers' */
enum { PARAMETERS = 16, PARAMETER_BYTES = 256, CARDS = 8, CONTEXTS = 2 * CARDS, DEPTH = 8 };
enum { GAP = 4096 }; /* bytes between allocations: who reaches beyond one is not in another */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below */

static void die(const char *format, ...) {
  va_list list;
  va_start(list, format);
  fputs("libcuda stand-in: ", stderr);
  vfprintf(stderr, format, list);
  fputc('\n', stderr);
  va_end(list);
  abort();
}

static unsigned long number(const char *variable, unsigned long otherwise) {
  const char *text = getenv(variable);
  return text == NULL || *text == 0 ? otherwise : strtoul(text, NULL, 10);
}

/* ---- state ---- */

struct CUctx_st {
  CUdevice card;
  unsigned holders;
};

static struct CUctx_st contexts[CONTEXTS]; /* the cards' primary ones, then those of cuCtxCreate */
static size_t used[CARDS];
static _Thread_local CUcontext current[DEPTH];
static _Thread_local int depth;

typedef struct block {
  char *bytes;
  size_t size;
  bool is_pinned;
  bool is_registered; /* the caller's memory, which is pinned */
  CUcontext context;
  struct block *next;
} block;

static block *blocks;

typedef struct command {
  void (*run)(const struct command *);
  CUevent wait, record;
  const struct kernel *kernel;
  const struct user_kernel *user;
  bool counts;
  unsigned groups, group;
  unsigned shape[2][3]; /* of the user's: blocks, and threads of a block, along x, y and z */
  unsigned char parameters[PARAMETERS][PARAMETER_BYTES];
  CUDA_MEMCPY2D rows;
  void *staged; /* a copy of pageable memory, as a card's driver makes one */
  struct command *next;
} command;

struct CUstream_st {
  CUcontext context;
  command *first, **last;
  bool is_held; /* by a test */
  struct CUstream_st *next;
};

struct CUevent_st {
  CUcontext context;
  unsigned waiting; /* records of it that have not run */
};

static CUstream streams;
static unsigned live_events, live_modules;
static uint64_t chance;

/* ---- failures, and a report of objects that are left ---- */

static unsigned long calls, fails_at, fails_from;
static CUresult fails_with;

static atomic_int process; /* that called cuInit; 0: none */

/* Begins a call: in a forked process another thread's lock would never be released. */
static void take(const char *call) {
  const int by = atomic_load(&process);
  if (by == 0) die("%s before cuInit", call);
  if (by != getpid()) die("%s in a process that was forked after cuInit", call);
  pthread_mutex_lock(&lock);
}

/* Under the lock. */
static CUresult count(void) {
  if (calls++ == 0) {
    fails_at = number("SLAB_CUDA_FAIL", 0);
    fails_from = number("SLAB_CUDA_FROM", 0);
    fails_with = (CUresult)number("SLAB_CUDA_CODE", CUDA_ERROR_OUT_OF_MEMORY);
    chance = number("SLAB_CUDA_LATE", 0);
  }
  return (fails_at != 0 && calls == fails_at) || (fails_from != 0 && calls >= fails_from) ? fails_with : CUDA_SUCCESS;
}

int standin_fail(unsigned long later, CUresult code) {
  pthread_mutex_lock(&lock);
  const int reached = fails_at != 0 && calls >= fails_at;
  fails_at = later == 0 ? 0 : calls + later;
  fails_with = code;
  pthread_mutex_unlock(&lock);
  return reached;
}

static CUresult end(CUresult code) {
  pthread_mutex_unlock(&lock);
  return code;
}

static CUresult begin(const char *call) {
  take(call);
  return count();
}

/* Begins a call that can fail; the rest of it runs where it does not. */
#define BEGIN                               \
  const CUresult planned = begin(__func__); \
  if (planned != CUDA_SUCCESS) return end(planned)

static CUcontext here(const char *call) {
  if (depth == 0) die("%s without a current context", call);
  return current[depth - 1];
}

/* A file gets the number of calls, for sweeps. */
__attribute__((destructor)) static void tell_left(void) {
  if (atomic_load(&process) != getpid()) return;
  const char *file = getenv("SLAB_CUDA_CALLS");
  FILE *out = file != NULL ? fopen(file, "w") : NULL;
  unsigned left = live_events + live_modules;
  for (const block *b = blocks; b != NULL; b = b->next) left++;
  for (CUstream s = streams; s != NULL; s = s->next) left++;
  for (int i = 0; i < CONTEXTS; i++) left += contexts[i].holders;
  if (out != NULL) {
    fprintf(out, "%lu calls, %u left\n", calls, left);
    fclose(out);
  }
  if (left != 0 && number("SLAB_CUDA_FROM", 0) == 0) {
    fprintf(stderr, "libcuda stand-in: %u handles were not released\n", left);
    _Exit(1);
  }
}

/* ---- cards and contexts ---- */

static int cards(void) {
  const unsigned long n = number("SLAB_CUDA_CARDS", 1);
  return n > CARDS ? CARDS : (int)n;
}

static size_t memory_set; /* by a test; 0: not */

static size_t memory(void) { return memory_set != 0 ? memory_set : number("SLAB_CUDA_MEMORY", 1ul << 30); }

void standin_memory(size_t bytes) {
  pthread_mutex_lock(&lock);
  memory_set = bytes;
  pthread_mutex_unlock(&lock);
}

/* Which cards are there, by the order of CUDA_VISIBLE_DEVICES: those before the first word that names none, or one for
 * the second time. A word is a number, or the begin of a UUID. */
static int visible[CARDS], visible_count;

static int card_of(const char *word, size_t length) {
  char *stop, name[8];
  const long n = strtol(word, &stop, 10);
  if (length > 0 && stop == word + length) return n >= 0 && n < cards() ? (int)n : -1;
  for (int i = 0; i < cards(); i++) {
    snprintf(name, sizeof name, "GPU-%02x", (unsigned)i);
    if (length > 4 && strncmp(word, name, length < 6 ? length : 6) == 0) return i;
  }
  return -1;
}

static void look_for_cards(void) {
  const char *chosen = getenv("CUDA_VISIBLE_DEVICES");
  visible_count = 0;
  for (int i = 0; chosen == NULL && i < cards(); i++) visible[visible_count++] = i;
  while (chosen != NULL && visible_count < CARDS) {
    const size_t length = strcspn(chosen, ",");
    const int card = card_of(chosen, length);
    for (int i = 0; i < visible_count; i++)
      if (visible[i] == card) return;
    if (card < 0) return;
    visible[visible_count++] = card;
    chosen = chosen[length] == ',' ? chosen + length + 1 : NULL;
  }
}

/* NVIDIA's own compiler asks the driver for tables that nobody else knows, and does without them. */
STANDIN CUresult cuGetExportTable(const void **table, const void *id);
CUresult cuGetExportTable(const void **table, const void *id) {
  (void)id;
  *table = NULL;
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuInit(unsigned flags) {
  const int by = atomic_load(&process);
  if (by != 0 && by != getpid()) return CUDA_ERROR_NOT_INITIALIZED;
  pthread_mutex_lock(&lock);
  atomic_store(&process, getpid());
  const CUresult planned = count();
  if (planned != CUDA_SUCCESS) return end(planned);
  look_for_cards();
  return end(flags != 0 ? CUDA_ERROR_INVALID_VALUE : visible_count == 0 ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS);
}

CUresult cuDriverGetVersion(int *version) {
  BEGIN;
  *version = 12040;
  return end(CUDA_SUCCESS);
}

CUresult cuGetErrorName(CUresult code, const char **name) {
  *name = code == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_THE_STAND_IN";
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *number_of) {
  BEGIN;
  *number_of = visible_count;
  return end(CUDA_SUCCESS);
}

CUresult cuDeviceGet(CUdevice *card, int ordinal) {
  BEGIN;
  *card = ordinal;
  return end(ordinal < visible_count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuDeviceGetName(char *name, int size, CUdevice card) {
  BEGIN;
  (void)card;
  snprintf(name, (size_t)size, "no card");
  return end(CUDA_SUCCESS);
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice card) {
  BEGIN;
  memset(uuid->bytes, 0x5A, sizeof uuid->bytes);
  uuid->bytes[0] = (unsigned char)visible[card];
  return end(CUDA_SUCCESS);
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice card) {
  BEGIN;
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      *value = 1000000;
      break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = 2 + visible[card];
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = (int)number("SLAB_CUDA_CAPABILITY", 6);
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = 0;
      break;
    default:
      return end(CUDA_ERROR_INVALID_VALUE);
  }
  return end(CUDA_SUCCESS);
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice card) {
  BEGIN;
  (void)card;
  *bytes = memory();
  return end(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice card) {
  BEGIN;
  *context = &contexts[card];
  contexts[card].card = card;
  contexts[card].holders++;
  return end(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxRelease(CUdevice card) {
  take(__func__);
  if (contexts[card].holders == 0) die("the context of card %d is released too often", card);
  contexts[card].holders--;
  return end(CUDA_SUCCESS);
}

/* It fails on a context alone that is gone, and then nothing is left to be released. */
CUresult cuCtxPushCurrent(CUcontext context) {
  take(__func__);
  if (context == NULL || context->holders == 0) die("cuCtxPushCurrent of a context that is not retained");
  if (depth == DEPTH) die("contexts are pushed and not popped");
  current[depth++] = context;
  return end(CUDA_SUCCESS);
}

CUresult cuCtxPopCurrent(CUcontext *context) {
  take(__func__);
  end(CUDA_SUCCESS);
  if (depth == 0) die("cuCtxPopCurrent without a current context");
  *context = current[--depth];
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  *context = depth == 0 ? NULL : current[depth - 1];
  return CUDA_SUCCESS;
}

/* It is current then, as a context is that was pushed. */
CUresult cuCtxCreate(CUcontext *context, unsigned flags, CUdevice card) {
  BEGIN;
  (void)flags;
  for (int i = CARDS; i < CONTEXTS; i++) {
    if (contexts[i].holders > 0) continue;
    contexts[i] = (struct CUctx_st){card, 1};
    if (depth == DEPTH) die("contexts are pushed and not popped");
    *context = current[depth++] = &contexts[i];
    return end(CUDA_SUCCESS);
  }
  return end(CUDA_ERROR_OUT_OF_MEMORY);
}

/* All that is in it has been released. */
CUresult cuCtxDestroy(CUcontext context) {
  take(__func__);
  if (context->holders != 1) die("a context is destroyed that is none");
  for (const block *b = blocks; b != NULL; b = b->next)
    if (b->context == context) die("a context is destroyed before its memory");
  for (CUstream s = streams; s != NULL; s = s->next)
    if (s->context == context) die("a context is destroyed before its streams");
  if (depth > 0 && current[depth - 1] == context) depth--;
  context->holders = 0;
  return end(CUDA_SUCCESS);
}

CUresult cuCtxGetDevice(CUdevice *card) {
  BEGIN;
  if (depth == 0) return end(CUDA_ERROR_INVALID_CONTEXT);
  *card = current[depth - 1]->card;
  return end(CUDA_SUCCESS);
}

static void run_all(void);

CUresult cuCtxSynchronize(void) {
  BEGIN;
  run_all();
  for (CUstream s = streams; s != NULL; s = s->next)
    if (s->first != NULL && s->context == here("cuCtxSynchronize")) die("a context waits for ever");
  return end(CUDA_SUCCESS);
}

/* ---- modules ---- */

/* A kernel of a program, as this processor has it. */
typedef struct kernel {
  const char *program, *name;
  void (*function)(void);
  unsigned group; /* work-items of a group at most: barriers are for those of one */
} kernel;

#define ONE(symbol, kernel_name) extern void slab_cuda_##symbol##_##kernel_name(void);
#define ROW(program, symbol, kernel_name, group) {program, #kernel_name, slab_cuda_##symbol##_##kernel_name, group},
#include "kernels.inc" /* declares all, and defines KERNELS */
static const kernel kernels[] = {KERNELS};

/* One of the user's, as host_cuda.h has it. at: thread, threads of a block, block, blocks; x, y and z of each. */
typedef struct user_kernel {
  void (*run)(const unsigned at[4][3], void **arguments);
  int count;
  const size_t *sizes; /* of its parameters */
} user_kernel;

struct CUmod_st {
  void *own;         /* a library of the user's kernels; else NULL */
  const char *code;  /* the output of NVIDIA's own compiler, which nothing here runs; else NULL */
  size_t code_bytes; /* names of its sections have its kernels' names */
  char program[64];
  const char *text;
  size_t length;
  bool counts; /* lines that look for a number of rays are code and no comments: kernels/lanes/ptx.h */
  struct CUfunc_st *functions;
};

struct CUfunc_st {
  const kernel *kernel;
  const user_kernel *user;
  bool is_code; /* which is not run */
  bool counts;
  size_t sizes[PARAMETERS]; /* bytes of each parameter */
  int count;
  CUcontext context;
  struct CUfunc_st *next;
};

/* ".param .u64 NAME", ".param .u32 NAME", ".param .f32 NAME" or ".param .align 4 .b8 NAME[BYTES]", up to the
 * parenthesis that ends the list. */
static void read_parameters(const char *entry, CUfunction f) {
  const char *stop = strchr(entry, ')');
  for (const char *at = strstr(entry, ".param"); at != NULL && at < stop; at = strstr(at + 1, ".param")) {
    const bool word = strncmp(at, ".param .u32", 11) == 0 || strncmp(at, ".param .f32", 11) == 0;
    size_t bytes = strncmp(at, ".param .u64", 11) == 0 ? 8 : word ? 4 : 0;
    if (bytes == 0 && sscanf(at, ".param .align %*d .b8 %*[^[][%zu]", &bytes) != 1) die("a parameter like %.40s", at);
    if (f->count == PARAMETERS || bytes > PARAMETER_BYTES) die("a parameter of %zu bytes", bytes);
    f->sizes[f->count++] = bytes;
  }
}

/* A library that lies in memory, after a line with its size. The loader knows libraries by the names of their files, so
 * each has a file of its own. */
static void *open_own(const char *image) {
  const char *folder = getenv("TMPDIR");
  char path[512];
  char *bytes;
  const size_t size = strtoul(image, &bytes, 10);
  snprintf(path, sizeof path, "%s/standin-kernels-XXXXXX", folder != NULL ? folder : "/tmp");
  const int file = mkstemp(path);
  if (file < 0 || write(file, bytes + 1, size) != (ssize_t)size) die("no file of %zu bytes", size);
  close(file);
  void *own = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  unlink(path);
  if (own == NULL) die("a module of the user's: %s", dlerror());
  return own;
}

/* Machine code is an ELF file, which ends with the table of its sections. */
static size_t code_size(const char *image) {
  Elf64_Ehdr header;
  memcpy(&header, image, sizeof header);
  return header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned options, int *names, void **values) {
  const char *text = image;
  BEGIN;
  here("cuModuleLoadDataEx");
  (void)options, (void)names, (void)values;
  CUmodule m = *module = calloc(1, sizeof *m);
  if (strncmp(text, "standin ", 8) == 0) {
    m->own = open_own(text + 8);
    live_modules++;
    return end(CUDA_SUCCESS);
  }
  if (strncmp(text, ELFMAG, SELFMAG) == 0) {
    m->code_bytes = code_size(text);
    m->code = memcpy(malloc(m->code_bytes), text, m->code_bytes);
    live_modules++;
    return end(CUDA_SUCCESS);
  }
  if (m == NULL || sscanf(text, "// %63s", m->program) != 1) die("a module without a name");
  m->text = strdup(text);
  m->counts = strstr(text, ".reg .u32 most") != NULL && strstr(text, "\n//+") == NULL;
  live_modules++;
  return end(CUDA_SUCCESS);
}

CUresult cuModuleUnload(CUmodule module) {
  take(__func__);
  here("cuModuleUnload");
  while (module->functions != NULL) {
    CUfunction next = module->functions->next;
    free(module->functions);
    module->functions = next;
  }
  if (module->own != NULL) dlclose(module->own);
  free((void *)(uintptr_t)module->code);
  free((void *)(uintptr_t)module->text);
  free(module);
  live_modules--;
  return end(CUDA_SUCCESS);
}

/* A function is the same each time, as the driver has it. */
static CUfunction known_user(CUmodule module, const char *name) {
  char row[128];
  snprintf(row, sizeof row, "standin_%s", name);
  const user_kernel *const user = module->own != NULL ? dlsym(module->own, row) : NULL;
  CUfunction f = user != NULL ? module->functions : NULL;
  while (f != NULL && f->user != user) f = f->next;
  return f;
}

static void find_user(CUfunction f, CUmodule module, const char *name) {
  char row[128];
  snprintf(row, sizeof row, "standin_%s", name);
  f->user = dlsym(module->own, row);
  if (f->user == NULL) return;
  if (f->user->count > PARAMETERS) die("%d parameters", f->user->count);
  for (; f->count < f->user->count; f->count++) {
    f->sizes[f->count] = f->user->sizes[f->count];
    if (f->sizes[f->count] > PARAMETER_BYTES) die("a parameter of %zu bytes", f->sizes[f->count]);
  }
}

static void find_own(CUfunction f, CUmodule module, const char *name) {
  char wanted[64];
  snprintf(wanted, sizeof wanted, ".entry %s(", name);
  const char *entry = strstr(module->text, wanted);
  for (size_t i = 0; entry != NULL && i < sizeof kernels / sizeof *kernels; i++)
    if (strcmp(kernels[i].program, module->program) == 0 && strcmp(kernels[i].name, name) == 0) f->kernel = &kernels[i];
  if (f->kernel == NULL) return;
  read_parameters(entry, f);
  f->counts = module->counts;
}

static bool has_section(CUmodule module, const char *name) {
  char wanted[128];
  const int length = snprintf(wanted, sizeof wanted, ".text.%s", name);
  return memmem(module->code, module->code_bytes, wanted, (size_t)length + 1) != NULL;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  BEGIN;
  CUfunction f = known_user(module, name);
  if (f != NULL) {
    *function = f;
    return end(CUDA_SUCCESS);
  }
  f = calloc(1, sizeof *f);
  f->context = here("cuModuleGetFunction");
  if (module->own != NULL)
    find_user(f, module, name);
  else if (module->code != NULL)
    f->is_code = has_section(module, name);
  else
    find_own(f, module, name);
  if (f->kernel == NULL && f->user == NULL && !f->is_code) {
    free(f);
    return end(CUDA_ERROR_NOT_FOUND);
  }
  f->next = module->functions;
  *function = module->functions = f;
  return end(CUDA_SUCCESS);
}

CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
  BEGIN;
  if (attribute == CU_FUNC_ATTRIBUTE_NUM_REGS)
    *value = 1;
  else if (attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
    *value = (int)function->kernel->group;
  else
    return end(CUDA_ERROR_INVALID_VALUE);
  return end(CUDA_SUCCESS);
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t n, size_t *offset, size_t *size) {
  BEGIN;
  if (n >= (size_t)function->count) return end(CUDA_ERROR_INVALID_VALUE);
  *size = function->sizes[n];
  *offset = 0; /* which nobody uses here */
  return end(CUDA_SUCCESS);
}

/* ---- memory ---- */

enum { ALIGNED = 512 }; /* as a card's memory is */

static CUresult allocate(void **bytes, size_t size, bool is_pinned) {
  CUcontext context = here("an allocation");
  if (size == 0) return CUDA_ERROR_INVALID_VALUE;
  size_t *taken = &used[context->card];
  if (!is_pinned && (size > memory() || *taken > memory() - size)) return CUDA_ERROR_OUT_OF_MEMORY;
  char *made = size > memory() ? NULL : aligned_alloc(ALIGNED, (size + GAP + ALIGNED - 1) / ALIGNED * ALIGNED);
  if (made == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  block *b = malloc(sizeof *b);
  *b = (block){made, size, is_pinned, false, context, blocks};
  memset(b->bytes, 0xA5, size);
  if (!is_pinned) *taken += size;
  blocks = b;
  *bytes = b->bytes;
  return CUDA_SUCCESS;
}

static void deallocate(void *bytes, bool is_pinned) {
  run_all(); /* both wait for commands in flight */
  for (CUstream s = streams; s != NULL; s = s->next)
    if (s->first != NULL) die("a release of memory waits for ever");
  for (block **at = &blocks; *at != NULL; at = &(*at)->next) {
    block *b = *at;
    if (b->bytes != bytes || b->is_pinned != is_pinned || b->is_registered) continue;
    if (b->context != here("a release of memory")) die("memory is released in another context");
    if (!is_pinned) used[b->context->card] -= b->size;
    *at = b->next;
    free(b->bytes);
    free(b);
    return;
  }
  die("memory is released that is none");
}

CUresult cuMemAlloc(CUdeviceptr *at, size_t size) {
  void *bytes;
  BEGIN;
  const CUresult code = allocate(&bytes, size, false);
  if (code == CUDA_SUCCESS) *at = (CUdeviceptr)(uintptr_t)bytes;
  return end(code);
}

CUresult cuMemFree(CUdeviceptr at) {
  take(__func__);
  deallocate((void *)(uintptr_t)at, false);
  return end(CUDA_SUCCESS);
}

CUresult cuMemHostAlloc(void **bytes, size_t size, unsigned flags) {
  BEGIN;
  (void)flags;
  return end(allocate(bytes, size, true));
}

CUresult cuMemFreeHost(void *bytes) {
  take(__func__);
  deallocate(bytes, true);
  return end(CUDA_SUCCESS);
}

static bool overlap(const block *b, const void *bytes, size_t size) {
  const char *at = bytes;
  return at < b->bytes + b->size && b->bytes < at + size;
}

CUresult cuMemHostRegister(void *bytes, size_t size, unsigned flags) {
  BEGIN;
  (void)flags;
  if (bytes == NULL || size == 0) return end(CUDA_ERROR_INVALID_VALUE);
  for (const block *b = blocks; b != NULL; b = b->next)
    if (overlap(b, bytes, size)) return end(CUDA_ERROR_ALREADY_REGISTERED);
  block *b = malloc(sizeof *b);
  *b = (block){bytes, size, true, true, here("cuMemHostRegister"), blocks};
  blocks = b;
  return end(CUDA_SUCCESS);
}

static bool uses(const command *c, const block *b) {
  const void *host = c->rows.srcHost != NULL ? c->rows.srcHost : c->rows.dstHost;
  return host != NULL && overlap(b, host, 1);
}

/* Waits for nothing: who copies there waits before. */
CUresult cuMemHostUnregister(void *bytes) {
  take(__func__);
  for (block **at = &blocks; *at != NULL; at = &(*at)->next) {
    block *b = *at;
    if (b->bytes != bytes || !b->is_registered) continue;
    for (CUstream s = streams; s != NULL; s = s->next)
      for (const command *c = s->first; c != NULL; c = c->next)
        if (uses(c, b)) die("memory is unregistered that a copy uses");
    *at = b->next;
    free(b);
    return end(CUDA_SUCCESS);
  }
  return end(CUDA_ERROR_NOT_REGISTERED);
}

/* The block that has these bytes, or NULL. */
static const block *block_of(const void *from, size_t size, bool is_pinned) {
  const char *at = from;
  for (const block *b = blocks; b != NULL; b = b->next)
    if (b->is_pinned == is_pinned && at >= b->bytes && at < b->bytes + b->size)
      return size <= (size_t)(b->bytes + b->size - at) ? b : NULL;
  return NULL;
}

static void check(CUdeviceptr at, size_t size) {
  if (block_of((void *)(uintptr_t)at, size, false) == NULL) die("%zu bytes that are not all of an allocation", size);
}

/* The context of memory cannot be queried: memory of a pool has none. */
CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr at) {
  BEGIN;
  const void *const byte = (void *)(uintptr_t)at;
  const block *b = block_of(byte, 1, false);
  if (b == NULL) b = block_of(byte, 1, true);
  if (b == NULL) return end(CUDA_ERROR_INVALID_VALUE);
  if (attribute == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
    *(unsigned *)value = b->is_pinned ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  else if (attribute == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR)
    *(CUdeviceptr *)value = (CUdeviceptr)(uintptr_t)b->bytes;
  else if (attribute == CU_POINTER_ATTRIBUTE_RANGE_SIZE)
    *(size_t *)value = b->size;
  else if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
    *(int *)value = b->context->card;
  else
    return end(CUDA_ERROR_INVALID_VALUE);
  return end(CUDA_SUCCESS);
}

/* ---- commands ---- */

static _Thread_local int item, group_size, group_number, groups;
int __nvvm_read_ptx_sreg_tid_x(void);
int __nvvm_read_ptx_sreg_ntid_x(void);
int __nvvm_read_ptx_sreg_ctaid_x(void);
int __nvvm_read_ptx_sreg_nctaid_x(void);
int __nvvm_read_ptx_sreg_tid_x(void) { return item; }
int __nvvm_read_ptx_sreg_ntid_x(void) { return group_size; }
int __nvvm_read_ptx_sreg_ctaid_x(void) { return group_number; }
int __nvvm_read_ptx_sreg_nctaid_x(void) { return groups; }

static _Thread_local bool counts;
bool standin_counts(void);
bool standin_counts(void) { return counts; }

/* The functions as C sees them. */
typedef void flat_kernel(void *, void *, void *, void *, void *, void *, void *, cast_uniforms, void *, uint32_t);
typedef void compressed_kernel(void *, void *, void *, void *, void *, void *, void *, cast_uniforms, void *, void *,
                               uint32_t);
/* Of rays with masks, hits and worlds of their own: three parameters more. */
typedef void own_flat_kernel(void *, void *, void *, void *, void *, void *, void *, cast_uniforms, void *, void *,
                             void *, void *, uint32_t);
typedef void own_compressed_kernel(void *, void *, void *, void *, void *, void *, void *, cast_uniforms, void *,
                                   void *, void *, void *, void *, uint32_t);
typedef void pairs_kernel(void *, void *, void *, uint32_t, uint32_t, uint32_t);
typedef void rays_kernel(void *, void *, void *, void *, ray_set, uint32_t, uint32_t, uint32_t, uint32_t);
typedef void sums_kernel(void *, void *, void *, void *, void *, ray_sums, uint32_t, uint32_t, uint32_t);
typedef void boundary_kernel(void *, void *, void *, void *, void *, void *, void *, uint32_t, uint32_t, uint32_t,
                             uint32_t);
typedef void points_flat_kernel(void *, void *, void *, void *, void *, void *, void *, void *, void *, cast_uniforms,
                                float);
typedef void points_compressed_kernel(void *, void *, void *, void *, void *, void *, void *, void *, void *,
                                      cast_uniforms, float, void *, uint32_t);
typedef void places_kernel(void *, void *, uint32_t);
typedef void triangles_kernel(void *, void *, void *, void *, uint32_t, uint32_t);
typedef void nodes_kernel(void *, void *, void *, void *, void *, uint32_t, uint32_t, refit_costs);

static void *pointer(const command *c, int i) {
  void *p;
  memcpy(&p, c->parameters[i], sizeof p);
  return p;
}
static uint32_t word(const command *c, int i) {
  uint32_t w;
  memcpy(&w, c->parameters[i], sizeof w);
  return w;
}
static float real_at(const command *c, int i) {
  float x;
  memcpy(&x, c->parameters[i], sizeof x);
  return x;
}
static cast_uniforms uniforms_at(const command *c, int i) {
  cast_uniforms u;
  memcpy(&u, c->parameters[i], sizeof u);
  return u;
}
static cast_uniforms uniforms(const command *c) { return uniforms_at(c, 7); }

static bool is_own(const command *c) { return strstr(c->kernel->program, "-own") != NULL; }

#define P(i) pointer(c, i)
static void run_item(const command *c) {
  const char *name = c->kernel->name;
  void (*f)(void) = c->kernel->function;
  if (strcmp(name, "flat") == 0 && is_own(c)) {
    ((own_flat_kernel *)f)(P(0), P(1), P(2), P(3), P(4), P(5), P(6), uniforms(c), P(8), P(9), P(10), P(11),
                           word(c, 12));
  } else if (strcmp(name, "compressed") == 0 && is_own(c)) {
    ((own_compressed_kernel *)f)(P(0), P(1), P(2), P(3), P(4), P(5), P(6), uniforms(c), P(8), P(9), P(10), P(11), P(12),
                                 word(c, 13));
  } else if (strcmp(name, "flat") == 0) {
    ((flat_kernel *)f)(P(0), P(1), P(2), P(3), P(4), P(5), P(6), uniforms(c), P(8), word(c, 9));
  } else if (strcmp(name, "compressed") == 0) {
    ((compressed_kernel *)f)(P(0), P(1), P(2), P(3), P(4), P(5), P(6), uniforms(c), P(8), P(9), word(c, 10));
  } else if (strcmp(name, "pairs") == 0) {
    ((pairs_kernel *)f)(P(0), P(1), P(2), word(c, 3), word(c, 4), word(c, 5));
  } else if (strcmp(name, "rays") == 0) {
    ray_set set;
    memcpy(&set, c->parameters[4], sizeof set);
    ((rays_kernel *)f)(P(0), P(1), P(2), P(3), set, word(c, 5), word(c, 6), word(c, 7), word(c, 8));
  } else if (strcmp(name, "sums") == 0) {
    ray_sums sums;
    memcpy(&sums, c->parameters[5], sizeof sums);
    ((sums_kernel *)f)(P(0), P(1), P(2), P(3), P(4), sums, word(c, 6), word(c, 7), word(c, 8));
  } else if (strcmp(name, "boundary") == 0) {
    ((boundary_kernel *)f)(P(0), P(1), P(2), P(3), P(4), P(5), P(6), word(c, 7), word(c, 8), word(c, 9), word(c, 10));
  } else if (strcmp(name, "points_flat") == 0) {
    ((points_flat_kernel *)f)(P(0), P(1), P(2), P(3), P(4), P(5), P(6), P(7), P(8), uniforms_at(c, 9), real_at(c, 10));
  } else if (strcmp(name, "points_compressed") == 0) {
    ((points_compressed_kernel *)f)(P(0), P(1), P(2), P(3), P(4), P(5), P(6), P(7), P(8), uniforms_at(c, 9),
                                    real_at(c, 10), P(11), word(c, 12));
  } else if (strcmp(name, "places") == 0) {
    ((places_kernel *)f)(P(0), P(1), word(c, 2));
  } else if (strcmp(name, "triangles") == 0) {
    ((triangles_kernel *)f)(P(0), P(1), P(2), P(3), word(c, 4), word(c, 5));
  } else {
    refit_costs costs;
    memcpy(&costs, c->parameters[7], sizeof costs);
    ((nodes_kernel *)f)(P(0), P(1), P(2), P(3), P(4), word(c, 5), word(c, 6), costs);
  }
}

/* The nth place of a shape. */
static void place(const unsigned shape[3], unsigned n, unsigned at[3]) {
  at[0] = n % shape[0];
  at[1] = n / shape[0] % shape[1];
  at[2] = n / shape[0] / shape[1];
}

static unsigned volume(const unsigned shape[3]) { return shape[0] * shape[1] * shape[2]; }

static void run_user(const command *c) {
  unsigned at[4][3];
  void *arguments[PARAMETERS];
  for (int i = 0; i < PARAMETERS; i++) arguments[i] = (void *)(uintptr_t)c->parameters[i];
  memcpy(at[3], c->shape[0], sizeof at[3]);
  memcpy(at[1], c->shape[1], sizeof at[1]);
  for (unsigned number = 0; number < volume(at[3]); number++) {
    place(at[3], number, at[2]);
    for (unsigned thread = 0; thread < volume(at[1]); thread++) {
      place(at[1], thread, at[0]);
      c->user->run((const unsigned(*)[3])at, arguments);
    }
  }
}

static void run_kernel(const command *c) {
  groups = (int)c->groups;
  group_size = (int)c->group;
  counts = c->counts;
  for (group_number = 0; group_number < groups; group_number++)
    for (item = 0; item < group_size; item++) run_item(c);
}

static void run_copy(const command *c) {
  const CUDA_MEMCPY2D *r = &c->rows;
  const char *from = r->srcMemoryType == CU_MEMORYTYPE_DEVICE ? (char *)(uintptr_t)r->srcDevice
                     : c->staged != NULL                      ? c->staged
                                                              : r->srcHost;
  char *to = r->dstMemoryType == CU_MEMORYTYPE_DEVICE ? (char *)(uintptr_t)r->dstDevice : r->dstHost;
  if (r->srcMemoryType == CU_MEMORYTYPE_DEVICE) check(r->srcDevice, (r->Height - 1) * r->srcPitch + r->WidthInBytes);
  if (r->dstMemoryType == CU_MEMORYTYPE_DEVICE) check(r->dstDevice, (r->Height - 1) * r->dstPitch + r->WidthInBytes);
  for (size_t i = 0; i < r->Height; i++) memcpy(to + i * r->dstPitch, from + i * r->srcPitch, r->WidthInBytes);
  if (r->dstMemoryType != CU_MEMORYTYPE_DEVICE && number("SLAB_CUDA_FLIP", 0) != 0) to[r->WidthInBytes / 2] ^= 1;
}

static void run_nothing(const command *c) { (void)c; }

/* NULL and 1: CUDA's default stream, one of each context. 2: the thread's, of which there is one here. */
static bool is_default(CUstream given) { return (uintptr_t)given <= CU_STREAM_PER_THREAD; }
static CUstream stream_of(CUstream given) {
  static struct CUstream_st defaults[2][CONTEXTS];
  if (!is_default(given)) return given;
  CUcontext context = here("the default stream");
  CUstream s = &defaults[(uintptr_t)given == CU_STREAM_PER_THREAD][context - contexts];
  if (s->last == NULL) s->last = &s->first;
  s->context = context;
  return s;
}

/* Runs the first command of a stream; false where it has none, or that waits. */
static bool run_first(CUstream s) {
  command *c = s->first;
  if (c == NULL || s->is_held || (c->wait != NULL && c->wait->waiting > 0)) return false;
  s->first = c->next;
  if (s->first == NULL) s->last = &s->first;
  c->run(c);
  if (c->record != NULL) c->record->waiting--;
  free(c->staged);
  free(c);
  return true;
}

static uint64_t draw(void) {
  chance ^= chance << 13;
  chance ^= chance >> 7;
  return chance ^= chance << 17;
}

/* Some command of any stream; false where none can run. */
static bool run_some(void) {
  unsigned count = 0;
  for (CUstream s = streams; s != NULL; s = s->next) count++;
  if (count == 0) return false;
  unsigned skip = chance != 0 ? (unsigned)(draw() % count) : 0;
  CUstream at = streams;
  while (skip-- > 0) at = at->next;
  for (unsigned tried = 0; tried < count; tried++) {
    if (run_first(at)) return true;
    at = at->next != NULL ? at->next : streams;
  }
  return false;
}

static void run_all(void) {
  while (run_some()) {
  }
}

static CUresult enqueue(CUstream s, command *c) {
  const bool at_once = is_default(s);
  s = stream_of(s);
  if (s->context != here("a command")) die("a command on a stream of another context");
  *s->last = c;
  s->last = &c->next;
  if (chance == 0) run_all();
  while (at_once && s->first != NULL && (run_first(s) || run_some())) {
  }
  return CUDA_SUCCESS;
}

static command *command_of(void (*run)(const command *)) {
  command *c = calloc(1, sizeof *c);
  c->run = run;
  return c;
}

static uint64_t registered; /* bytes copied from and to registered memory */

uint64_t standin_registered(void) {
  pthread_mutex_lock(&lock);
  const uint64_t was = registered;
  registered = 0;
  pthread_mutex_unlock(&lock);
  return was;
}

/* A copy is in pinned memory as a whole or not at all. Memory after it has other ways to the card. */
static bool is_copied(const void *host, size_t size) {
  for (const block *b = blocks; host != NULL && b != NULL; b = b->next) {
    if (!b->is_pinned || !overlap(b, host, size)) continue;
    if (block_of(host, size, true) != b) return false;
    if (b->is_registered) registered += size;
  }
  return true;
}

/* Pageable memory that is read is read now, as a driver stages it; into such memory a copy is made at once. */
static CUresult copy(CUstream s, const CUDA_MEMCPY2D *rows) {
  CUstream into = stream_of(s);
  const size_t from = (rows->Height - 1) * rows->srcPitch + rows->WidthInBytes,
               to = (rows->Height - 1) * rows->dstPitch + rows->WidthInBytes;
  if (rows->srcMemoryType != CU_MEMORYTYPE_DEVICE && !is_copied(rows->srcHost, from)) return CUDA_ERROR_INVALID_VALUE;
  if (rows->dstMemoryType != CU_MEMORYTYPE_DEVICE && !is_copied(rows->dstHost, to)) return CUDA_ERROR_INVALID_VALUE;
  command *c = command_of(run_copy);
  c->rows = *rows;
  if (rows->srcMemoryType != CU_MEMORYTYPE_DEVICE && block_of(rows->srcHost, from, true) == NULL) {
    c->staged = malloc(from);
    memcpy(c->staged, rows->srcHost, from);
  }
  const bool now = rows->dstMemoryType != CU_MEMORYTYPE_DEVICE && block_of(rows->dstHost, 1, true) == NULL;
  const CUresult code = enqueue(s, c);
  while (now && into->first != NULL && run_some()) {
  }
  if (now && into->first != NULL) die("a copy waits for ever");
  return code;
}

/* A copy of bytes, between the host where an address of it is given and the card. */
static CUresult copy_bytes(void *host_to, CUdeviceptr to, const void *host_from, CUdeviceptr from, size_t bytes,
                           CUstream s) {
  const CUDA_MEMCPY2D row = {.srcMemoryType = host_from == NULL ? CU_MEMORYTYPE_DEVICE : 0,
                             .srcHost = host_from,
                             .srcDevice = from,
                             .srcPitch = bytes,
                             .dstMemoryType = host_to == NULL ? CU_MEMORYTYPE_DEVICE : 0,
                             .dstHost = host_to,
                             .dstDevice = to,
                             .dstPitch = bytes,
                             .WidthInBytes = bytes,
                             .Height = 1};
  if (host_from == NULL) check(from, bytes);
  if (host_to == NULL) check(to, bytes);
  return copy(s, &row);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream s) {
  BEGIN;
  return end(copy_bytes(NULL, to, from, 0, bytes, s));
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream s) {
  BEGIN;
  return end(copy_bytes(to, 0, NULL, from, bytes, s));
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream s) {
  BEGIN;
  return end(copy_bytes(NULL, to, NULL, from, bytes, s));
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned word, size_t count, CUstream s) {
  BEGIN;
  uint32_t *words = malloc(count * sizeof *words + 1);
  for (size_t i = 0; i < count; i++) words[i] = word;
  const CUresult code = copy_bytes(NULL, to, words, 0, count * sizeof *words, s); /* which stages them */
  free(words);
  return end(code);
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *rows, CUstream s) {
  BEGIN;
  return end(copy(s, rows));
}

CUresult cuLaunchKernel(CUfunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream s, void **parameters,
                        void **extra) {
  BEGIN;
  const unsigned shape[2][3] = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}};
  const bool is_row = grid_y * grid_z * block_y * block_z == 1;
  if (!is_row && f->user == NULL) die("a launch of another shape");
  if (f->is_code) die("a launch of machine code");
  if (shared_bytes != 0 || extra != NULL || volume(shape[0]) == 0 || volume(shape[1]) == 0 || volume(shape[1]) > 1024)
    die("a launch that no card takes");
  if (f->user == NULL && block_x > f->kernel->group) die("a group of %u for %s", block_x, f->kernel->name);
  if (f->context != stream_of(s)->context) die("a kernel of another context");
  command *c = command_of(f->user != NULL ? run_user : run_kernel);
  c->kernel = f->kernel;
  c->user = f->user;
  c->counts = f->counts;
  c->groups = grid_x;
  c->group = block_x;
  memcpy(c->shape, shape, sizeof shape);
  for (int i = 0; i < f->count; i++) memcpy(c->parameters[i], parameters[i], f->sizes[i]);
  return end(enqueue(s, c));
}

/* ---- streams and events ---- */

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  BEGIN;
  if (flags != CU_STREAM_NON_BLOCKING) die("a stream that waits for the one of all");
  CUstream s = *stream = calloc(1, sizeof *s);
  s->context = here("cuStreamCreate");
  s->last = &s->first;
  s->next = streams;
  streams = s;
  return end(CUDA_SUCCESS);
}

CUresult cuStreamDestroy(CUstream stream) {
  take(__func__);
  run_all();
  for (CUstream *at = &streams; *at != NULL; at = &(*at)->next) {
    if (*at != stream) continue;
    *at = stream->next;
    free(stream);
    return end(CUDA_SUCCESS);
  }
  die("a stream is destroyed that is none");
  return end(CUDA_ERROR_INVALID_VALUE);
}

void standin_hold(CUstream stream, int held) {
  pthread_mutex_lock(&lock);
  stream->is_held = held != 0;
  if (!stream->is_held && chance == 0) run_all();
  pthread_mutex_unlock(&lock);
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
  BEGIN;
  *context = stream_of(stream)->context;
  return end(CUDA_SUCCESS);
}

CUresult cuStreamQuery(CUstream stream) {
  BEGIN;
  stream = stream_of(stream);
  return end(stream->first == NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY);
}

CUresult cuStreamSynchronize(CUstream stream) {
  BEGIN;
  stream = stream_of(stream);
  while (stream->first != NULL && run_some()) {
  }
  if (stream->first != NULL) die("a stream waits for ever");
  return end(CUDA_SUCCESS);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  BEGIN;
  (void)flags;
  command *c = command_of(run_nothing);
  c->wait = event;
  return end(enqueue(stream, c));
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  BEGIN;
  (void)flags;
  *event = calloc(1, sizeof **event);
  (*event)->context = here("cuEventCreate");
  live_events++;
  return end(CUDA_SUCCESS);
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  BEGIN;
  command *c = command_of(run_nothing);
  c->record = event;
  event->waiting++;
  return end(enqueue(stream, c));
}

/* Both have been recorded, and have ended. */
CUresult cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to) {
  BEGIN;
  if (from->waiting + to->waiting > 0) return end(CUDA_ERROR_NOT_READY);
  *milliseconds = 1.0f;
  return end(CUDA_SUCCESS);
}

CUresult cuEventSynchronize(CUevent event) {
  BEGIN;
  while (event->waiting > 0 && run_some()) {
  }
  if (event->waiting > 0) die("an event is awaited for ever");
  return end(CUDA_SUCCESS);
}

CUresult cuEventQuery(CUevent event) {
  BEGIN;
  return end(event->waiting == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY);
}

/* Commands that wait for it go on all the same: its records run first. */
CUresult cuEventDestroy(CUevent event) {
  take(__func__);
  while (event->waiting > 0 && run_some()) {
  }
  for (CUstream s = streams; s != NULL; s = s->next)
    for (command *c = s->first; c != NULL; c = c->next)
      if (c->wait == event) c->wait = NULL;
  live_events--;
  free(event);
  return end(CUDA_SUCCESS);
}
