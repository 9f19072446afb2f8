/* A libnvrtc.so.12 without CUDA: it compiles CUDA C++ for this processor (host_cuda.h). Its machine code is a library
 * after a line with the size; the stand-in of libcuda loads it.
 *
 * A call with an invalid handle ends the process with a line that says so. So does a compile without --fmad=false or
 * with an architecture that it does not have.
 *
 *   SLAB_NVRTC_STRIKE=N   the Nth call of a program's making that can fail does, as if memory were short */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/nvrtc.h"

#define STANDIN __attribute__((visibility("default")))
#define STANDIN_DECLARE(name, parameters) STANDIN nvrtcResult name parameters;
NVRTC_FUNCTIONS(STANDIN_DECLARE)
#undef STANDIN_DECLARE

enum { PATH = 512, LINE = 8192, LOG = 1 << 16 };

struct _nvrtcProgram {
  char folder[PATH], log[LOG];
  int state;  /* 1: made, 2: compiled */
  char *code; /* with the line before it */
  size_t size;
};

static unsigned long calls; /* of the program at hand; tests that strike have one thread */

static void die(const char *format, ...) {
  va_list list;
  va_start(list, format);
  fputs("libnvrtc stand-in: ", stderr);
  vfprintf(stderr, format, list);
  fputc('\n', stderr);
  va_end(list);
  abort();
}

static int fails(void) {
  const char *wanted = getenv("SLAB_NVRTC_STRIKE");
  const int struck = wanted != NULL && strtoul(wanted, NULL, 10) == ++calls;
  if (struck) calls = 0;
  return struck;
}
#define BEGIN \
  if (fails()) return NVRTC_ERROR_OUT_OF_MEMORY

static void check(nvrtcProgram of, int state) {
  if (of == NULL || of->state < state) die("a program that is none, or is not compiled");
}

static void write_file(nvrtcProgram of, const char *name, const char *text, const char *after) {
  char path[PATH + 64];
  snprintf(path, sizeof path, "%s/%s", of->folder, name);
  FILE *file = fopen(path, "w");
  if (file == NULL || fprintf(file, "%s%s", text, after) < 0 || fclose(file) != 0) die("cannot write %s", path);
}

/* A row of the stand-in for each kernel: after "__global__ void ", or a line's begin that is a macro of that. */
static void list_kernels(const char *source, char *rows, size_t size) {
  static const char *const begins[] = {"__global__ void ", "\nKERNEL "};
  size_t used = 0;
  rows[0] = 0;
  for (int i = 0; i < 2; i++)
    for (const char *at = source; (at = strstr(at, begins[i])) != NULL;) {
      at += strlen(begins[i]);
      used += (size_t)snprintf(rows + used, size - used, "\nSTANDIN_KERNEL(%.*s)", (int)strcspn(at, "( "), at);
      if (used >= size) die("too many kernels");
    }
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *made, const char *source, const char *name, int headers,
                               const char *const *texts, const char *const *names) {
  const char *folder = getenv("TMPDIR");
  char rows[LINE];
  calls = 0;
  BEGIN;
  nvrtcProgram of = *made = calloc(1, sizeof *of);
  snprintf(of->folder, sizeof of->folder, "%s/standin-nvrtc-XXXXXX", folder != NULL ? folder : "/tmp");
  if (mkdtemp(of->folder) == NULL) die("no folder %s", of->folder);
  of->state = 1;
  for (int i = 0; i < headers; i++) write_file(of, names[i], texts[i], "");
  write_file(of, name, source, "");
  list_kernels(source, rows, sizeof rows);
  char whole[LINE];
  snprintf(whole, sizeof whole, "#include \"%s\"\n#include \"%s\"\n", HOST_CUDA, name);
  write_file(of, "all.cpp", whole, rows);
  return NVRTC_SUCCESS;
}

static void remove_folder(const char *folder) {
  char line[PATH + 16];
  snprintf(line, sizeof line, "rm -rf '%s'", folder);
  if (system(line) != 0) die("cannot remove %s", folder);
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *of) {
  check(*of, 1);
  remove_folder((*of)->folder);
  free((*of)->code);
  free(*of);
  *of = NULL;
  return NVRTC_SUCCESS;
}

static void read_log(nvrtcProgram of) {
  char path[PATH + 16];
  snprintf(path, sizeof path, "%s/log", of->folder);
  FILE *file = fopen(path, "r");
  if (file == NULL) return;
  of->log[fread(of->log, 1, LOG - 1, file)] = 0;
  fclose(file);
}

static void read_code(nvrtcProgram of) {
  char path[PATH + 16], line[64];
  snprintf(path, sizeof path, "%s/code", of->folder);
  FILE *file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) die("no code");
  const size_t bytes = (size_t)ftell(file), before = (size_t)snprintf(line, sizeof line, "standin %zu\n", bytes);
  of->size = before + bytes;
  of->code = malloc(of->size);
  memcpy(of->code, line, before);
  rewind(file);
  if (fread(of->code + before, 1, bytes, file) != bytes) die("code that cannot be read");
  fclose(file);
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram of, int count, const char *const *options) {
  char line[LINE];
  int contracts = 1, architectures = 0;
  BEGIN;
  check(of, 1);
  size_t used = (size_t)snprintf(
      line, sizeof line,
      "cd '%s' && " CLANG
      " -x c++ -std=c++20 -fdiagnostics-format=msvc -fno-show-column -O0 -shared -fPIC -w "
      "-ffp-contract=off -fvisibility=hidden -D__CUDACC__ -D__CUDACC_RTC__ -nostdinc++ " FUSED " -I. all.cpp -o code",
      of->folder);
  for (int i = 0; i < count; i++) {
    if (strcmp(options[i], "--fmad=false") == 0)
      contracts = 0;
    else if (strcmp(options[i], "--gpu-architecture=sm_60") == 0)
      architectures++;
    else
      used += (size_t)snprintf(line + used, sizeof line - used, " '%s'", options[i]);
  }
  if (contracts || architectures != 1) die("a compile that contracts, or for no architecture");
  used += (size_t)snprintf(line + used, sizeof line - used, " >log 2>&1");
  if (used >= sizeof line) die("too many options");
  const int ended = system(line);
  read_log(of);
  if (ended == 0) {
    read_code(of);
    of->state = 2;
  }
  return ended == 0 ? NVRTC_SUCCESS : NVRTC_ERROR_COMPILATION;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram of, size_t *bytes) {
  BEGIN;
  check(of, 1);
  *bytes = strlen(of->log) + 1;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram of, char *log) {
  BEGIN;
  check(of, 1);
  strcpy(log, of->log);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram of, size_t *bytes) {
  BEGIN;
  check(of, 2);
  *bytes = of->size;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram of, char *code) {
  BEGIN;
  check(of, 2);
  memcpy(code, of->code, of->size);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram of, size_t *bytes) {
  check(of, 2);
  *bytes = 0;
  die("PTX, where there is machine code");
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetPTX(nvrtcProgram of, char *text) {
  *text = 0;
  return nvrtcGetPTXSize(of, &(size_t){0});
}

static const int architectures[] = {50, 60, 75};
enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };

nvrtcResult nvrtcGetNumSupportedArchs(int *count) {
  BEGIN;
  *count = ARCHITECTURES;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int *list) {
  BEGIN;
  memcpy(list, architectures, sizeof architectures);
  return NVRTC_SUCCESS;
}
