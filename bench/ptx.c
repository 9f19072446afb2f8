/* The kernels' PTX, loaded by NVIDIA's own driver interface: for cards that have no OpenCL driver.
 *
 *   bench_ptx [--side SIDE] [--primitives N] [--rounds R] FOLDER
 *
 * FOLDER: the output of `tests/gate.sh --ptx FOLDER`. Each kernel casts every query for the rays of SIDE x SIDE pixels,
 * and for as many random ones. The library lays the scene out for its own kernels of one lane, in the layout of GPUs.
 * The answers are compared with that scene's, bit for bit, and a sample of them with the CPU reference. Prints
 * registers and millions of rays per second. Exit code 77 where there is no libcuda.so.1, or no card. */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/api.h"
#include "native/native.h"
#include "scene/scene.h"
#include "sets/answers.h"
#include "sets/timing.h"
#include "sets/trace_rays.h"
#include "trace_answers.h"
#include "trace_scene.h"
#include "work/uniforms.h"

#define SEED 20260711u
enum { GROUP = 64, FLAT_BOXES = 1024, SKIPPED = 77, PARAMETERS = 11 };
enum { SAMPLE = 64 };  /* rays that the CPU reference casts: a second for all queries and a million triangles */
#define UNWRITTEN 0xA5 /* fill byte that no answer consists of */

/* A kernel as tests/gate.sh compiles it, once for each query's program, and the scene that it casts on. */
typedef struct program {
  const char *kernel;
  slab_shape kind;
  slab_tree tree;
  const char *scene;
  uint32_t rays_each; /* of a work-item */
} program;

static const program programs[] = {
    {"compressed", SLAB_TRIANGLE, SLAB_TREE_HIGH, "terrain", 1},
    {"flat", SLAB_BOX, SLAB_TREE_FLAT, "boxes", 4},
};

typedef struct loaded {
  CUmodule module;
  CUfunction function;
  int registers, group; /* of a work-item; work-items of a group */
} loaded;

typedef struct bench {
  const char *folder;
  uint32_t side, primitives;
  int rounds;
  CUdevice device;
  slab_context *context;
  slab_ray *rays;
  size_t n;
  trace_answers wanted, results, sample; /* the scene's, the card's, and some of those */
} bench;

/* ---- the driver ---- */

/* The functions that the library calls, and a clock. */
#define FUNCTIONS(X) \
  CUDA_FUNCTIONS(X)  \
  X(cuEventElapsedTime, "cuEventElapsedTime", (float *milliseconds, CUevent begin, CUevent end))

static struct {
#define FUNCTION(name, symbol, parameters) CUresult(*name) parameters;
  FUNCTIONS(FUNCTION)
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
  FUNCTIONS(FUNCTION)
#undef FUNCTION
  return true;
}

static bool good(CUresult code, const char *what) {
  const char *name = NULL;
  if (code == CUDA_SUCCESS) return true;
  if (cuda.cuGetErrorName(code, &name) != CUDA_SUCCESS || name == NULL) name = "unknown";
  fprintf(stderr, "bench_ptx: %s failed with %d: %s\n", what, code, name);
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
  return good(cuda.cuCtxPushCurrent(context), "cuCtxPushCurrent");
}

/* All on CUDA's default stream. */
static bool finish(void) { return good(cuda.cuStreamSynchronize(NULL), "cuStreamSynchronize"); }

static bool upload(const void *bytes, size_t size, CUdeviceptr *to) {
  if (!good(cuda.cuMemAlloc(to, size), "cuMemAlloc")) return false;
  return bytes == NULL || (good(cuda.cuMemcpyHtoDAsync(*to, bytes, size, NULL), "cuMemcpyHtoDAsync") && finish());
}

static bool download(void *to, CUdeviceptr from, size_t size) {
  return size == 0 || (good(cuda.cuMemcpyDtoHAsync(to, from, size, NULL), "cuMemcpyDtoHAsync") && finish());
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

static bool load(const bench *b, const program *p, slab_query query, loaded *to) {
  char path[4096], log[8192] = "";
  int names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void *)(sizeof log - 1)};
  snprintf(path, sizeof path, "%s/%s-query%d-kinds%u.ptx", b->folder, p->kernel, (int)PROGRAM_QUERY(query),
           1u << p->kind);
  char *text = read_text(path);
  if (text == NULL) return false;
  const CUresult code = cuda.cuModuleLoadDataEx(&to->module, text, 2, names, values);
  free(text);
  if (code != CUDA_SUCCESS) fprintf(stderr, "bench_ptx: %s: %s\n", path, log);
  const bool done =
      good(code, "cuModuleLoadDataEx") &&
      good(cuda.cuModuleGetFunction(&to->function, to->module, p->kernel), "cuModuleGetFunction") &&
      good(cuda.cuFuncGetAttribute(&to->registers, CU_FUNC_ATTRIBUTE_NUM_REGS, to->function), "cuFuncGetAttribute") &&
      good(cuda.cuFuncGetAttribute(&to->group, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, to->function),
           "cuFuncGetAttribute");
  if (to->group > GROUP) to->group = GROUP;
  return done;
}

/* ---- a cast ---- */

/* The kernel's parameters, in their order (kernels/compressed.cl, kernels/flat.cl). */
typedef struct arguments {
  CUdeviceptr rays, results, offsets, table, blocks, skips, invalid, nodes; /* 0: not used */
  cast_uniforms uniforms;
} arguments;

/* Where the results of ray i begin, counted in results. */
static size_t begin_of(const bench *b, slab_query query, size_t i) {
  return query == SLAB_ALL ? (size_t)b->wanted.offsets[i] : i;
}

static size_t result_bytes(const bench *b, slab_query query) {
  return begin_of(b, query, b->n) * slab_result_size(query);
}

static bool upload_offsets(const bench *b, CUdeviceptr *to) {
  uint32_t *offsets = malloc((b->n + 1) * sizeof *offsets);
  if (offsets == NULL) return false;
  for (size_t i = 0; i <= b->n; i++) offsets[i] = (uint32_t)b->wanted.offsets[i];
  const bool done = upload(offsets, (b->n + 1) * sizeof *offsets, to);
  free(offsets);
  return done;
}

/* The results begin as bytes that no answer has, so that results of an earlier launch do not pass for answers. */
static bool upload_all(const bench *b, const program *p, slab_query query, const snapshot *scene, arguments *a) {
  const native_scene *from = scene->states[0].uploaded;
  const size_t floats = scene->has_bvh ? scene->bvh.floats : (size_t)scene->primitives * 6; /* boxes alone */
  cast_uniforms_of(scene, query, NULL, &a->uniforms);
  a->uniforms.rays = (uint32_t)b->n;
  a->uniforms.rays_each = p->rays_each;
  memset(b->results.results, UNWRITTEN, result_bytes(b, query) + 1);
  return upload(b->rays, b->n * sizeof *b->rays, &a->rays) &&
         upload(b->results.results, result_bytes(b, query) + 1, &a->results) && /* of none hit, one byte */
         (query != SLAB_ALL || upload_offsets(b, &a->offsets)) &&
         upload(from->table, scene->entries * sizeof *from->table, &a->table) &&
         upload(from->blocks, floats * sizeof *from->blocks, &a->blocks) &&
         (!scene->has_bvh || upload(from->nodes, scene->bvh.node_bytes, &a->nodes));
}

static void free_all(arguments *a) {
  const CUdeviceptr buffers[] = {a->rays, a->results, a->offsets, a->table, a->blocks, a->nodes};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
    if (buffers[i] != 0) cuda.cuMemFree(buffers[i]);
}

static bool launch(const bench *b, const program *p, const loaded *code, arguments *a, double *seconds) {
  CUdeviceptr none = 0; /* the parameter of slabcast-cuda's kernels for a number of rays in a buffer */
  void *parameters[PARAMETERS] = {&a->rays,    &a->results,  &a->offsets, &a->table, &a->blocks, &a->skips,
                                  &a->invalid, &a->uniforms, &a->nodes,   &none,     &none};
  const unsigned items = (unsigned)((b->n + p->rays_each - 1) / p->rays_each), group = (unsigned)code->group;
  CUevent begin = NULL, end = NULL;
  float milliseconds = 0.0f;
  const bool done = good(cuda.cuEventCreate(&begin, 0), "cuEventCreate") &&
                    good(cuda.cuEventCreate(&end, 0), "cuEventCreate") &&
                    good(cuda.cuEventRecord(begin, NULL), "cuEventRecord") &&
                    good(cuda.cuLaunchKernel(code->function, (items + group - 1) / group, 1, 1, group, 1, 1, 0, NULL,
                                             parameters, NULL),
                         "cuLaunchKernel") &&
                    good(cuda.cuEventRecord(end, NULL), "cuEventRecord") && finish() &&
                    good(cuda.cuEventElapsedTime(&milliseconds, begin, end), "cuEventElapsedTime");
  if (begin != NULL) cuda.cuEventDestroy(begin);
  if (end != NULL) cuda.cuEventDestroy(end);
  *seconds = 1e-3 * (double)milliseconds;
  return done;
}

/* ---- answers ---- */

static bool failed(const char *text) {
  fprintf(stderr, "bench_ptx: %s\n", text);
  return false;
}

/* Casts for the scene's answers, and makes space for as many results. */
static bool cast_wanted(bench *b, slab_query query, slab_scene *scene) {
  uint64_t hits = 0;
  slab_status status;
  if (query == SLAB_ALL)
    status = slab_all(scene, b->rays, b->n, b->wanted.offsets, NULL, 0, &hits, NULL);
  else
    status = cast_query(scene, query, b->rays, b->n, b->wanted.results, NULL);
  if (status == SLAB_OK && hits > 0) {
    if (!trace_answers_reserve(&b->wanted, hits) || !trace_answers_reserve(&b->results, hits + 1))
      return failed("no memory for all hits");
    status = slab_all(scene, b->rays, b->n, b->wanted.offsets, b->wanted.results, hits, NULL, NULL);
  }
  return status == SLAB_OK || failed(slab_message());
}

/* Returns whether all answers are those of the scene. */
static bool compare(const bench *b, const char *what, slab_query query) {
  const size_t size = slab_result_size(query);
  const char *wanted = b->wanted.results, *results = b->results.results;
  size_t differ = 0, first = 0;
  for (size_t i = b->n; i-- > 0;) {
    const size_t begin = begin_of(b, query, i), end = begin_of(b, query, i + 1);
    if (memcmp(wanted + begin * size, results + begin * size, (end - begin) * size) != 0) differ++, first = i;
  }
  if (differ != 0)
    fprintf(stderr, "bench_ptx: %s: %zu of %zu answers differ, the first of ray %zu\n", what, differ, b->n, first);
  return differ == 0;
}

/* Returns whether some of the answers, evenly spread, are those of the CPU reference. */
static bool judge(bench *b, const char *what, slab_query query, slab_scene *scene) {
  slab_ray rays[SAMPLE];
  slab_check_report report;
  const size_t count = b->n < SAMPLE ? b->n : SAMPLE, step = b->n / count;
  for (size_t k = 0; k < count; k++) rays[k] = b->rays[k * step];
  if (query == SLAB_ALL) memcpy(b->results.offsets, b->wanted.offsets, (b->n + 1) * sizeof *b->wanted.offsets);
  if (!trace_answers_pick(query, &b->results, step, count, &b->sample)) return failed("no memory for a sample");
  const uint64_t *offsets = query == SLAB_ALL ? b->sample.offsets : NULL;
  if (slab_check(scene, query, rays, count, b->sample.results, offsets, NULL, &report) != SLAB_OK)
    return failed(slab_message());
  if (report.mismatches != 0)
    fprintf(stderr, "bench_ptx: %s: the CPU reference refuses %llu of %zu answers, %zu rays apart: %s\n", what,
            (unsigned long long)report.mismatches, count, step, report.text);
  return report.mismatches == 0;
}

static bool cast_set(bench *b, const program *p, slab_query query, slab_scene *scene, const loaded *code,
                     const char *set) {
  arguments a = {0};
  timing t = {0};
  char what[80];
  snprintf(what, sizeof what, "%s, %s, %s rays", p->kernel, answer_name(query), set);
  if (!cast_wanted(b, query, scene)) return false;
  bool done = upload_all(b, p, query, atomic_load(&scene->committed), &a);
  for (int r = -1; done && r < b->rounds; r++) { /* the first is warm-up */
    double seconds;
    done = launch(b, p, code, &a, &seconds);
    if (r >= 0) t.seconds[t.rounds++] = seconds;
  }
  done = done && download(b->results.results, a.results, result_bytes(b, query));
  free_all(&a);
  if (!done) return false;
  const bool equal = compare(b, what, query), right = judge(b, what, query, scene);
  if (equal && right)
    printf("%-10s %-8s %-8s | %9zu rays | %3d registers | %9.1f Mrays/s | answers equal\n", p->kernel,
           answer_name(query), set, b->n, code->registers, 1e-6 * (double)b->n / timing_summarise(&t).best);
  return equal && right;
}

/* ---- scenes and rays ---- */

static bool open_scene(const bench *b, const program *p, slab_scene **scene) {
  const slab_build_options build = {.tree = p->tree};
  scene_geometry geometry;
  char name[48];
  snprintf(name, sizeof name, "%s:%u", p->scene, p->tree == SLAB_TREE_FLAT ? FLAT_BOXES : b->primitives);
  if (!trace_scene_read(name, SEED, &geometry)) return false;
  const bool done = slab_scene_create(b->context, scene) == SLAB_OK &&
                    scene_geometry_add(*scene, &geometry, NULL, NULL) == SLAB_OK &&
                    slab_scene_commit(*scene, &build) == SLAB_OK;
  scene_geometry_free(&geometry);
  if (!done) fprintf(stderr, "bench_ptx: %s: %s\n", name, slab_message());
  return done;
}

/* Casts every query. One that fails does not end the others. */
static bool cast_queries(bench *b, const program *p, slab_scene *scene, const loaded *codes) {
  static const trace_set sets[] = {TRACE_PRIMARY, TRACE_RANDOM};
  bool done = true;
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
    if (trace_rays_fill(scene, sets[i], SEED, b->side, b->rays, NULL, &b->n) != SLAB_OK) return failed(slab_message());
    for (int q = 0; q < SLAB_QUERY_COUNT; q++)
      done = cast_set(b, p, (slab_query)q, scene, &codes[q], trace_set_names[sets[i]]) && done;
  }
  return done;
}

static bool run_program(bench *b, const program *p) {
  slab_scene *scene = NULL;
  loaded codes[SLAB_QUERY_COUNT] = {{0}};
  bool done = open_scene(b, p, &scene);
  for (int q = 0; done && q < SLAB_QUERY_COUNT; q++) done = load(b, p, (slab_query)q, &codes[q]);
  done = done && cast_queries(b, p, scene, codes);
  for (int q = 0; q < SLAB_QUERY_COUNT; q++)
    if (codes[q].module != NULL) cuda.cuModuleUnload(codes[q].module);
  slab_scene_destroy(scene);
  return done;
}

static bool run(bench *b) {
  /* one lane: blocks of flat scenes are those of GPUs */
  const slab_context_options with = {.device = "cpu", .lane_width = 1, .layout = SLAB_LAYOUT_COMPRESSED};
  const size_t most = (size_t)b->side * b->side;
  b->rays = malloc(most * sizeof *b->rays);
  bool done = trace_answers_open(&b->wanted, most);
  done = trace_answers_open(&b->results, most + 1) && done;
  done = trace_answers_open(&b->sample, SAMPLE) && done && b->rays != NULL;
  if (!done) fprintf(stderr, "bench_ptx: no memory for %zu rays\n", most);
  if (done && slab_context_create(&with, &b->context) != SLAB_OK) {
    fprintf(stderr, "bench_ptx: the processor: %s\n", slab_message());
    done = false;
  }
  if (done)
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) done = run_program(b, &programs[i]) && done;
  slab_context_destroy(b->context);
  free(b->rays);
  trace_answers_close(&b->wanted);
  trace_answers_close(&b->results);
  trace_answers_close(&b->sample);
  return done;
}

static bool parse_options(int count, char **words, bench *b) {
  *b = (bench){.side = 1024, .primitives = 1000000, .rounds = 7};
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
  CUcontext own;
  cuda.cuCtxPopCurrent(&own);
  cuda.cuDevicePrimaryCtxRelease(b.device);
  return done ? 0 : 1;
}
