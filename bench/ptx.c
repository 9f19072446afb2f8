/* The kernels' PTX, loaded by NVIDIA's own driver interface: for cards that have no OpenCL driver.
 *
 *   bench_ptx [--side SIDE] [--primitives N] [--rounds R] FOLDER
 *
 * FOLDER: what `tests/gate.sh --ptx FOLDER` makes. Each kernel casts the rays of SIDE x SIDE pixels, and as many random
 * ones, at a scene that the library lays out for its own kernels of one lane, in the layout of GPUs. The answers are
 * held against that scene's, bit for bit. Prints registers and millions of rays a second. Exit code 77 where there is
 * no libcuda.so.1, or no card. */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "cast.h"
#include "cuda.h"
#include "native/native.h"
#include "scene.h"
#include "timing.h"
#include "trace_rays.h"
#include "trace_scene.h"

#define SEED 20260711u
enum { GROUP = 64, FLAT_BOXES = 1024, SKIPPED = 77, PARAMETERS = 9 };

/* A kernel as tests/gate.sh compiles it. */
typedef struct variant {
  const char *kernel;
  slab_query query;
  slab_shape kind;
  uint32_t rays_each; /* of a work-item */
} variant;

static const variant variants[] = {
    {"compressed", SLAB_CLOSEST, SLAB_TRIANGLE, 1},
    {"compressed", SLAB_ANY, SLAB_TRIANGLE, 1},
    {"flat", SLAB_CLOSEST, SLAB_BOX, 4},
    {"flat", SLAB_ANY, SLAB_BOX, 4},
};

typedef struct bench {
  const char *folder;
  uint32_t side, primitives;
  int rounds;
  CUdevice device;
  slab_context *context;
  slab_ray *rays;
  size_t n;
  unsigned char *wanted, *results;
} bench;

/* ---- the driver ---- */

static struct {
#define FUNCTION(name, symbol, parameters) CUresult(*name) parameters;
  CUDA_FUNCTIONS(FUNCTION)
#undef FUNCTION
} cuda;

/* False, with a message, where there is no driver with all that is needed. */
static bool cuda_load(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "bench_ptx: NVIDIA's driver is not here: %s\n", dlerror());
    return false;
  }
#define FUNCTION(name, symbol, parameters)                                   \
  *(void **)&cuda.name = dlsym(library, symbol);                             \
  if (cuda.name == NULL) {                                                   \
    fprintf(stderr, "bench_ptx: libcuda.so.1 has no function %s\n", symbol); \
    return false;                                                            \
  }
  CUDA_FUNCTIONS(FUNCTION)
#undef FUNCTION
  return true;
}

static bool good(CUresult code, const char *what) {
  const char *text = NULL;
  if (code == 0) return true;
  if (cuda.cuGetErrorString(code, &text) != 0 || text == NULL) text = "unknown";
  fprintf(stderr, "bench_ptx: %s failed with %d: %s\n", what, code, text);
  return false;
}

/* The first card, made current. */
static bool open_card(bench *b) {
  CUcontext context;
  char name[256] = "";
  if (!good(cuda.cuInit(0), "cuInit") || !good(cuda.cuDeviceGet(&b->device, 0), "cuDeviceGet")) return false;
  if (!good(cuda.cuDeviceGetName(name, sizeof name, b->device), "cuDeviceGetName") ||
      !good(cuda.cuDevicePrimaryCtxRetain(&context, b->device), "cuDevicePrimaryCtxRetain"))
    return false;
  printf("%s\n", name);
  return good(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

static bool upload(const void *bytes, size_t size, CUdeviceptr *to) {
  if (!good(cuda.cuMemAlloc(to, size), "cuMemAlloc")) return false;
  return bytes == NULL || good(cuda.cuMemcpyHtoD(*to, bytes, size), "cuMemcpyHtoD");
}

/* ---- modules ---- */

/* The text of a file, with a 0 behind it; malloc'ed. */
static char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  long size = -1;
  if (file != NULL && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0)
    text = calloc(1, (size_t)size + 1);
  const bool whole = text != NULL && fread(text, 1, (size_t)size, file) == (size_t)size;
  if (file != NULL) fclose(file);
  if (whole) return text;
  fprintf(stderr, "bench_ptx: %s: %s; tests/gate.sh --ptx FOLDER makes it\n", path, strerror(errno));
  free(text);
  return NULL;
}

static bool load(const bench *b, const variant *v, CUmodule *module, CUfunction *function) {
  char path[4096], log[8192] = "";
  const int names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void *)(sizeof log - 1)};
  snprintf(path, sizeof path, "%s/%s-query%d-kinds%u.ptx", b->folder, v->kernel, (int)v->query, 1u << v->kind);
  char *text = read_text(path);
  if (text == NULL) return false;
  const CUresult code = cuda.cuModuleLoadDataEx(module, text, 2, names, values);
  free(text);
  if (code != 0) fprintf(stderr, "bench_ptx: %s: %s\n", path, log);
  return good(code, "cuModuleLoadDataEx") &&
         good(cuda.cuModuleGetFunction(function, *module, v->kernel), "cuModuleGetFunction");
}

/* ---- a cast ---- */

/* What the kernel's parameters are, in their order (kernels/compressed.cl, kernels/flat.cl). */
typedef struct arguments {
  CUdeviceptr rays, results, offsets, table, blocks, skips, invalid, nodes; /* 0: not used */
  cast_uniforms uniforms;
} arguments;

static bool upload_all(const bench *b, const variant *v, const snapshot *scene, arguments *a) {
  const native_scene *from = scene->states[0].uploaded;
  const size_t floats = scene->has_bvh ? scene->bvh.floats : (size_t)scene->primitives * 6; /* boxes alone */
  cast_uniforms_of(scene, v->query, NULL, &a->uniforms);
  a->uniforms.rays = (uint32_t)b->n;
  a->uniforms.rays_each = v->rays_each;
  return upload(b->rays, b->n * sizeof *b->rays, &a->rays) &&
         upload(NULL, b->n * slab_result_size(v->query), &a->results) &&
         upload(from->table, scene->entries * sizeof *from->table, &a->table) &&
         upload(from->blocks, floats * sizeof *from->blocks, &a->blocks) &&
         (!scene->has_bvh || upload(from->nodes, scene->bvh.node_bytes, &a->nodes));
}

static void free_all(arguments *a) {
  const CUdeviceptr buffers[] = {a->rays, a->results, a->table, a->blocks, a->nodes};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
    if (buffers[i] != 0) cuda.cuMemFree(buffers[i]);
}

static bool launch(const bench *b, const variant *v, CUfunction function, arguments *a, double *seconds) {
  void *parameters[PARAMETERS] = {&a->rays,  &a->results, &a->offsets,  &a->table, &a->blocks,
                                  &a->skips, &a->invalid, &a->uniforms, &a->nodes};
  const size_t items = (b->n + v->rays_each - 1) / v->rays_each;
  CUevent begin = NULL, end = NULL;
  float milliseconds = 0.0f;
  const bool done =
      good(cuda.cuEventCreate(&begin, 0), "cuEventCreate") && good(cuda.cuEventCreate(&end, 0), "cuEventCreate") &&
      good(cuda.cuEventRecord(begin, NULL), "cuEventRecord") &&
      good(cuda.cuLaunchKernel(function, (unsigned)((items + GROUP - 1) / GROUP), 1, 1, GROUP, 1, 1, 0, NULL,
                               parameters, NULL),
           "cuLaunchKernel") &&
      good(cuda.cuEventRecord(end, NULL), "cuEventRecord") && good(cuda.cuCtxSynchronize(), "cuCtxSynchronize") &&
      good(cuda.cuEventElapsedTime(&milliseconds, begin, end), "cuEventElapsedTime");
  if (begin != NULL) cuda.cuEventDestroy(begin);
  if (end != NULL) cuda.cuEventDestroy(end);
  *seconds = 1e-3 * (double)milliseconds;
  return done;
}

/* Returns whether all answers are those of the scene. */
static bool compare(const bench *b, const variant *v, const char *set) {
  const size_t size = slab_result_size(v->query);
  size_t differ = 0, first = 0;
  for (size_t i = b->n; i-- > 0;)
    if (memcmp(b->wanted + i * size, b->results + i * size, size) != 0) differ++, first = i;
  if (differ != 0)
    fprintf(stderr, "bench_ptx: %s, %s, %s rays: %zu of %zu answers differ, the first of ray %zu\n", v->kernel,
            answer_name(v->query), set, differ, b->n, first);
  return differ == 0;
}

static bool cast_set(const bench *b, const variant *v, slab_scene *scene, CUfunction function, const char *set) {
  arguments a = {0};
  timing t = {0};
  int registers = 0;
  if (cast_query(scene, v->query, b->rays, b->n, b->wanted, NULL) != SLAB_OK) {
    fprintf(stderr, "bench_ptx: %s\n", slab_message());
    return false;
  }
  bool done = upload_all(b, v, atomic_load(&scene->committed), &a) &&
              good(cuda.cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function), "cuFuncGetAttribute");
  for (int r = -1; done && r < b->rounds; r++) { /* the first is warm-up */
    double seconds;
    done = launch(b, v, function, &a, &seconds);
    if (r >= 0) t.seconds[t.rounds++] = seconds;
  }
  done = done && good(cuda.cuMemcpyDtoH(b->results, a.results, b->n * slab_result_size(v->query)), "cuMemcpyDtoH") &&
         compare(b, v, set);
  free_all(&a);
  if (done)
    printf("%-10s %-8s %-8s | %9zu rays | %3d registers | %9.1f Mrays/s | answers equal\n", v->kernel,
           answer_name(v->query), set, b->n, registers, 1e-6 * (double)b->n / timing_summarise(&t).best);
  return done;
}

/* ---- scenes and rays ---- */

static bool open_scene(const bench *b, bool flat, slab_scene **scene) {
  const slab_build_options build = {.tree = flat ? SLAB_TREE_FLAT : SLAB_TREE_HIGH};
  scene_geometry geometry;
  char name[48];
  snprintf(name, sizeof name, "%s:%u", flat ? "boxes" : "terrain", flat ? FLAT_BOXES : b->primitives);
  if (!trace_scene_read(name, SEED, &geometry)) return false;
  const bool done = slab_scene_create(b->context, scene) == SLAB_OK &&
                    scene_geometry_add(*scene, &geometry, NULL, NULL) == SLAB_OK &&
                    slab_scene_commit(*scene, &build) == SLAB_OK;
  scene_geometry_free(&geometry);
  if (!done) fprintf(stderr, "bench_ptx: %s: %s\n", name, slab_message());
  return done;
}

static bool run_variant(bench *b, const variant *v) {
  static const trace_set sets[] = {TRACE_PRIMARY, TRACE_RANDOM};
  slab_scene *scene = NULL;
  CUmodule module = NULL;
  CUfunction function = NULL;
  bool done = open_scene(b, v->kind == SLAB_BOX, &scene) && load(b, v, &module, &function);
  for (size_t i = 0; done && i < sizeof sets / sizeof *sets; i++)
    done = trace_rays_fill(scene, sets[i], SEED, b->side, b->rays, NULL, &b->n) == SLAB_OK &&
           cast_set(b, v, scene, function, trace_set_names[sets[i]]);
  if (module != NULL) cuda.cuModuleUnload(module);
  slab_scene_destroy(scene);
  return done;
}

static bool run(bench *b) {
  /* one lane: blocks of flat scenes are those of GPUs */
  const slab_context_options with = {.device = "cpu", .lane_width = 1, .layout = SLAB_LAYOUT_COMPRESSED};
  const size_t most = (size_t)b->side * b->side;
  b->rays = malloc(most * sizeof *b->rays);
  b->wanted = malloc(most * sizeof(slab_hit));
  b->results = malloc(most * sizeof(slab_hit));
  bool done = b->rays != NULL && b->wanted != NULL && b->results != NULL;
  if (!done) fprintf(stderr, "bench_ptx: no memory for %zu rays\n", most);
  if (done && slab_context_create(&with, &b->context) != SLAB_OK) {
    fprintf(stderr, "bench_ptx: the processor: %s\n", slab_message());
    done = false;
  }
  for (size_t i = 0; done && i < sizeof variants / sizeof *variants; i++) done = run_variant(b, &variants[i]);
  slab_context_destroy(b->context);
  free(b->rays);
  free(b->wanted);
  free(b->results);
  return done;
}

static bool parse_options(int count, char **words, bench *b) {
  *b = (bench){.side = 2048, .primitives = 1000000, .rounds = 7};
  for (int i = 1; i < count; i++) {
    const unsigned long value = i + 1 < count ? strtoul(words[i + 1], NULL, 10) : 0;
    if (words[i][0] != '-' && b->folder == NULL) {
      b->folder = words[i];
      continue;
    }
    if (strcmp(words[i], "--side") == 0)
      b->side = (uint32_t)value;
    else if (strcmp(words[i], "--primitives") == 0)
      b->primitives = (uint32_t)value;
    else if (strcmp(words[i], "--rounds") == 0)
      b->rounds = (int)value;
    else
      return false;
    i++;
  }
  return b->folder != NULL && b->side >= 32 && b->side <= 4096 && (b->side & (b->side - 1)) == 0 &&
         b->primitives >= 100 && b->primitives <= 100000000 && b->rounds > 0 && b->rounds <= ROUNDS_MAX;
}

int main(int count, char **words) {
  bench b;
  const int child = trace_scene_child(count, words);
  if (child >= 0) return child;
  if (!parse_options(count, words, &b)) {
    fprintf(stderr, "usage: bench_ptx [--side SIDE] [--primitives N] [--rounds R] FOLDER\n");
    return 2;
  }
  if (!cuda_load() || !open_card(&b)) return SKIPPED;
  const bool done = run(&b);
  cuda.cuDevicePrimaryCtxRelease(b.device);
  return done ? 0 : 1;
}
