/* Compares a cast from host arrays to host arrays with its kernel alone, on each device of devices.h where none is
 * named. With several devices, compares a cast on all of them with the ideal split.
 *
 * The kernel alone is slab_enqueue on existing buffers, timed by its event's profile. The call is the one of slabcast.h
 * on the same context. Both traverse BVHs with single rays, since slab_enqueue does. They alternate, and the results of
 * every call are compared with the kernel's, bit by bit. The processor has no kernel apart from the call: its calls are
 * timed alone, and compared with the first one. Processor time, which does not depend on other load on the
 * machine, is printed beside wall time. Waiting shows only in wall time.
 *
 * --split SEL,SEL,...: compares a context of these devices with each of them alone. On a busy machine use the layer
 * tests/layers/slow.c, which slows two devices down to given speeds: POCL_DEVICES="basic basic"
 * OPENCL_LAYERS=.../libslab_slow_layer.so SLAB_SLOW=64000,256000 --rays 1000000 --split 0,1. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "csv.h"
#include "devices.h"
#include "ray_sets.h"
#include "scenes.h"
#include "slabcast_cl.h"
#include "timing.h"

typedef struct options {
  const char *split, *csv, *device;
  size_t rays;
  int rounds;
} options;

static const struct {
  const char *name;
  uint32_t count;
  slab_tree tree;
} scenes[] = {{"boxes", 512, SLAB_TREE_FLAT}, {"terrain", 200000, SLAB_TREE_HIGH}};

static const slab_query queries[] = {SLAB_CLOSEST, SLAB_ANY, SLAB_DISTANCE, SLAB_ALL};

typedef struct bench {
  options options;
  slab_context *context;
  bool has_kernel;
  cl_context cl;
  cl_command_queue queue;
  cl_mem rays_buffer, results_buffer, offsets_buffer;
  slab_ray *rays;
  unsigned char *wanted, *results;
  uint64_t *offsets;
  cl_uint *local_offsets;
  size_t hits; /* of SLAB_ALL */
  FILE *csv;
  slab_device_info device;
} bench;

/* ---- failures ---- */

static bool failed(const char *what) {
  fprintf(stderr, "bench_stream: %s: %s\n", what, slab_message());
  return false;
}

static bool good(cl_int code, const char *what) {
  if (code != CL_SUCCESS) fprintf(stderr, "bench_stream: %s failed with %d\n", what, (int)code);
  return code == CL_SUCCESS;
}

/* ---- the kernel alone ---- */

static bool open_queue(bench *b) {
  cl_device_id id;
  cl_int code = CL_SUCCESS;
  const slab_status status = slab_context_objects(b->context, &b->cl, &id);
  b->has_kernel = status != SLAB_UNSUPPORTED;
  if (!b->has_kernel) return true;
  if (status != SLAB_OK) return failed("the context");
  b->queue = clCreateCommandQueue(b->cl, id, CL_QUEUE_PROFILING_ENABLE, &code);
  return good(code, "clCreateCommandQueue");
}

static void close_buffers(bench *b) {
  cl_mem *const buffers[] = {&b->rays_buffer, &b->results_buffer, &b->offsets_buffer};
  for (int i = 0; i < 3; i++) {
    if (*buffers[i] != NULL) clReleaseMemObject(*buffers[i]);
    *buffers[i] = NULL;
  }
}

static void close_queue(bench *b) {
  if (b->queue != NULL) clReleaseCommandQueue(b->queue);
  b->queue = NULL;
}

static bool make_buffer(const bench *b, size_t size, cl_mem *buffer) {
  cl_int code;
  *buffer = clCreateBuffer(b->cl, CL_MEM_READ_WRITE, size, NULL, &code);
  return good(code, "clCreateBuffer");
}

/* Measures the seconds of a kernel, wall and processor time. */
static bool time_kernel(const bench *b, slab_scene *scene, slab_query query, double *wall, double *processor) {
  const slab_batch batch = {.query = query,
                            .count = b->options.rays,
                            .rays = {b->rays_buffer, 0},
                            .results = {b->results_buffer, 0},
                            .offsets = {b->offsets_buffer, 0}};
  cl_event done;
  cl_ulong from = 0, to = 0;
  const double begin = timing_now(1);
  if (slab_enqueue(scene, &batch, b->queue, 0, NULL, &done) != SLAB_OK) return failed("slab_enqueue");
  bool ok = good(clFinish(b->queue), "clFinish");
  *processor += timing_now(1) - begin;
  ok = ok && good(clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_START, sizeof from, &from, NULL), "profiling") &&
       good(clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_END, sizeof to, &to, NULL), "profiling");
  clReleaseEvent(done);
  *wall += 1e-9 * (double)(to - from);
  return ok;
}

/* For SLAB_ALL adds the kernel that counts. */
static bool time_kernels(const bench *b, slab_scene *scene, slab_query query, double *wall, double *processor) {
  *wall = *processor = 0.0;
  if (query == SLAB_ALL && !time_kernel(b, scene, SLAB_COUNT, wall, processor)) return false;
  return time_kernel(b, scene, query, wall, processor);
}

static size_t result_bytes(const bench *b, slab_query query) {
  return (query == SLAB_ALL ? b->hits : b->options.rays) * slab_result_size(query);
}

/* ---- the call ---- */

static bool call(const bench *b, slab_scene *scene, slab_query query) {
  const size_t n = b->options.rays;
  slab_status status;
  if (query == SLAB_ALL)
    status = slab_all(scene, b->rays, n, b->offsets, (slab_hit *)(void *)b->results, b->hits, NULL, NULL);
  else
    status = cast_query(scene, query, b->rays, n, b->results, NULL);
  return status == SLAB_OK || failed(answer_name(query));
}

static bool compare(const bench *b, slab_query query) {
  if (memcmp(b->results, b->wanted, result_bytes(b, query)) == 0) return true;
  fprintf(stderr, "bench_stream: %s: the call's results differ from the kernel's\n", answer_name(query));
  return false;
}

/* ---- a scene ---- */

/* Has rays and the offsets of SLAB_ALL on the device, and room for `bytes` bytes of results. */
static bool make_buffers(bench *b, size_t bytes) {
  const size_t n = b->options.rays;
  return make_buffer(b, n * sizeof *b->rays, &b->rays_buffer) && make_buffer(b, bytes, &b->results_buffer) &&
         make_buffer(b, (n + 1) * sizeof *b->local_offsets, &b->offsets_buffer) &&
         good(clEnqueueWriteBuffer(b->queue, b->rays_buffer, CL_TRUE, 0, n * sizeof *b->rays, b->rays, 0, NULL, NULL),
              "clEnqueueWriteBuffer") &&
         good(clEnqueueWriteBuffer(b->queue, b->offsets_buffer, CL_TRUE, 0, (n + 1) * sizeof *b->local_offsets,
                                   b->local_offsets, 0, NULL, NULL),
              "clEnqueueWriteBuffer");
}

/* Allocates rays, their results and the offsets of SLAB_ALL, in host memory and on the device. */
static bool prepare(bench *b, slab_scene *scene) {
  const size_t n = b->options.rays;
  if (slab_all(scene, b->rays, n, b->offsets, NULL, 0, NULL, NULL) != SLAB_OK) return failed("slab_all");
  b->hits = b->offsets[n];
  for (size_t i = 0; i <= n; i++) b->local_offsets[i] = (cl_uint)b->offsets[i];
  const size_t bytes = ((b->hits > n ? b->hits : n) + 1) * sizeof(slab_hit); /* never 0 bytes */
  free(b->results);
  free(b->wanted);
  b->results = malloc(bytes);
  b->wanted = malloc(bytes);
  if (b->results == NULL || b->wanted == NULL) return good(CL_OUT_OF_HOST_MEMORY, "malloc");
  return !b->has_kernel || make_buffers(b, bytes);
}

static void print_row(const bench *b, const char *scene, const char *memory, slab_query query, const timing t[4]) {
  timing_summary s[4];
  for (int i = 0; i < 4; i++) s[i] = timing_summarise(&t[i]);
  const double rate = 1e-6 * (double)b->options.rays;
  printf("%-8s %-8s %-8s | ", scene, memory, answer_name(query));
  if (b->has_kernel)
    printf("%8.2f ", rate / s[0].best);
  else
    printf("%8s ", "-");
  printf("%8.2f (spread %3.0f%%)", rate / s[2].best, 100.0 * s[2].spread);
  if (b->has_kernel)
    printf(" | %5.2f %5.2f | %5.2f\n", s[0].best / s[2].best, s[0].median / s[2].median, s[1].best / s[3].best);
  else
    printf(" | %5s %5s | %5s\n", "-", "-", "-");
  fflush(stdout);
  if (b->csv == NULL) return;
  const double alone[3] = {s[0].best, s[0].median, s[1].best};
  char kernel[3][32] = {"", "", ""};
  for (int i = 0; b->has_kernel && i < 3; i++) snprintf(kernel[i], sizeof kernel[i], "%.6f", alone[i]);
  fprintf(b->csv, "\"%s\",%s,%s,%s,%zu,%d,%s,%s,%.6f,%.6f,%s,%.6f\n", b->device.name, scene, memory, answer_name(query),
          b->options.rays, b->options.rounds, kernel[0], kernel[1], s[2].best, s[2].median, kernel[2], s[3].best);
}

/* What every call must give: the results of the kernel alone, else of the first call. */
static bool want(const bench *b, slab_query query) {
  const size_t bytes = result_bytes(b, query);
  if (!b->has_kernel) return memcpy(b->wanted, b->results, bytes) != NULL;
  return good(clEnqueueReadBuffer(b->queue, b->results_buffer, CL_TRUE, 0, bytes, b->wanted, 0, NULL, NULL),
              "clEnqueueReadBuffer");
}

/* One row: the kernel and the call interleaved. The first round is warm-up. */
static bool run_query(bench *b, const char *name, const char *memory, slab_scene *scene, slab_query query) {
  timing t[4] = {0}; /* kernel: wall time, processor time; then the call: the same */
  for (int r = -1; r < b->options.rounds; r++) {
    double wall = 0.0, processor = 0.0;
    if (b->has_kernel && !time_kernels(b, scene, query, &wall, &processor)) return false;
    memset(b->results, 0xA5, result_bytes(b, query));
    const double begin = timing_now(0), processor_begin = timing_now(1);
    if (!call(b, scene, query)) return false;
    const double call_wall = timing_now(0) - begin, call_processor = timing_now(1) - processor_begin;
    if ((r < 0 && !want(b, query)) || !compare(b, query)) return false;
    const double all[4] = {wall, processor, call_wall, call_processor};
    for (int i = 0; r >= 0 && i < 4; i++) t[i].seconds[t[i].rounds++] = all[i];
  }
  print_row(b, name, memory, query, t);
  return true;
}

static bool make_scene(slab_context *context, size_t which, slab_scene **scene) {
  scene_geometry geometry;
  const slab_build_options build = {.tree = scenes[which].tree};
  if (scene_build(scenes[which].name, scenes[which].count, 1, &geometry) != 0)
    return good(CL_OUT_OF_HOST_MEMORY, scenes[which].name);
  slab_status status = slab_scene_create(context, scene);
  if (status == SLAB_OK) status = scene_geometry_add(*scene, &geometry, NULL, NULL);
  if (status == SLAB_OK) status = slab_scene_commit(*scene, &build);
  scene_geometry_free(&geometry);
  return status == SLAB_OK || failed(scenes[which].name);
}

static bool run_scene(bench *b, size_t which, const char *memory) {
  slab_scene *scene = NULL;
  bool done = make_scene(b->context, which, &scene) && prepare(b, scene);
  for (size_t q = 0; done && q < sizeof queries / sizeof *queries; q++)
    done = run_query(b, scenes[which].name, memory, scene, queries[q]);
  slab_scene_destroy(scene);
  return done;
}

static void print_header(const bench *b) {
  printf("%s, %s, %zu rays; kernel alone and call from host arrays to host arrays in millions of rays a second,\n",
         b->device.name, b->device.platform, b->options.rays);
  printf("what of the kernel's speed is left by best and median wall time, and by processor time\n\n");
  printf("%-8s %-8s %-8s | %8s %8s               | %5s %5s | %5s\n", "scene", "arrays", "query", "kernel", "call",
         "best", "med.", "proc.");
}

/* On a context in which arrays are copied, or used in place. */
static bool run_arrays(bench *b, const char *selector, int copy) {
  const slab_context_options with = {.device = selector, .copy = copy, .traversal = SLAB_TRAVERSAL_SINGLE};
  if (slab_context_create(&with, &b->context) != SLAB_OK || slab_context_device(b->context, &b->device) != SLAB_OK)
    return failed("the context");
  bool done = open_queue(b);
  if (done && !copy) print_header(b);
  for (size_t s = 0; done && s < sizeof scenes / sizeof *scenes; s++) {
    done = run_scene(b, s, copy ? "copied" : "in place");
    close_buffers(b);
  }
  close_queue(b);
  slab_context_destroy(b->context);
  b->context = NULL;
  return done;
}

static bool run_overlap(bench *b) {
  char chosen[DEVICES_DEFAULT][DEVICE_SELECTOR];
  const int count = b->options.device != NULL ? 1 : devices_default(chosen);
  bool done = true;
  if (b->csv != NULL)
    fprintf(b->csv,
            "device,scene,arrays,query,rays,rounds,kernel_best_s,kernel_median_s,call_best_s,call_median_s,"
            "kernel_processor_s,call_processor_s\n");
  for (int i = 0; done && i < count; i++) {
    const char *selector = b->options.device != NULL ? b->options.device : chosen[i];
    done = run_arrays(b, selector, 0);
    if (done && b->has_kernel) done = run_arrays(b, selector, 1); /* the processor never copies */
    putchar('\n');
  }
  return done;
}

/* ---- several devices ---- */

/* One context and scene on these devices, and the seconds of a cast. */
typedef struct crew {
  slab_context *context;
  slab_scene *scene;
  timing seconds;
} crew;

enum { CREWS = 9 };

static bool crew_open(crew *c, const char *devices) {
  const slab_context_options with = {.device = devices};
  if (slab_context_create(&with, &c->context) != SLAB_OK) return failed(devices);
  return make_scene(c->context, 0, &c->scene);
}

static bool crew_cast(bench *b, crew *c, bool counts) {
  memset(b->results, 0xA5, b->options.rays * sizeof(slab_hit));
  const double begin = timing_now(0);
  if (!call(b, c->scene, SLAB_CLOSEST)) return false;
  if (counts) c->seconds.seconds[c->seconds.rounds++] = timing_now(0) - begin;
  return compare(b, SLAB_CLOSEST);
}

/* Times all listed devices together, and each of them alone. On a busy machine speeds change between rounds, so each
 * round has its own ideal split. */
static bool run_crews(bench *b, crew crews[CREWS], int devices) {
  timing ratio = {0};
  for (int r = -1; r < b->options.rounds; r++) {
    double rate = 0.0;
    for (int i = 0; i <= devices; i++) {
      if (r < 0 && i == 0 && cast_query(crews[0].scene, SLAB_CLOSEST, b->rays, b->options.rays, b->wanted, NULL))
        return failed("closest");
      if (!crew_cast(b, &crews[i], r >= 0)) return false;
      if (r >= 0 && i > 0) rate += 1.0 / crews[i].seconds.seconds[r];
    }
    if (r >= 0) ratio.seconds[ratio.rounds++] = crews[0].seconds.seconds[r] * rate;
  }
  const timing_summary s = timing_summarise(&ratio);
  for (int i = 0; i <= devices; i++)
    printf("%s%d: median %.3f s\n", i == 0 ? "all of " : "alone, device ", i == 0 ? devices : i - 1,
           timing_summarise(&crews[i].seconds).median);
  printf("wall time to the ideal split: median %.3f, best %.3f, spread %.0f%%\n", s.median, s.best, 100.0 * s.spread);
  return true;
}

static bool run_split(bench *b) {
  crew crews[CREWS] = {0};
  char list[1024];
  int devices = 0;
  bool done = crew_open(&crews[0], b->options.split);
  b->results = malloc(b->options.rays * sizeof(slab_hit));
  b->wanted = malloc(b->options.rays * sizeof(slab_hit));
  if (b->results == NULL || b->wanted == NULL) return good(CL_OUT_OF_HOST_MEMORY, "malloc");
  snprintf(list, sizeof list, "%s", b->options.split);
  for (char *rest = NULL, *word = strtok_r(list, ",", &rest); done && word != NULL && devices + 1 < CREWS;
       word = strtok_r(NULL, ",", &rest))
    done = crew_open(&crews[++devices], word);
  done = done && run_crews(b, crews, devices);
  for (int i = 0; i < CREWS; i++) {
    slab_scene_destroy(crews[i].scene);
    slab_context_destroy(crews[i].context);
  }
  return done;
}

/* ---- the run ---- */

static bool parse_options(int count, char **words, options *o) {
  *o = (options){.rays = 4000000, .rounds = 7};
  for (int i = 1; i + 1 < count; i += 2) {
    const char *value = words[i + 1];
    if (strcmp(words[i], "--split") == 0)
      o->split = value;
    else if (strcmp(words[i], "--csv") == 0)
      o->csv = value;
    else if (strcmp(words[i], "--device") == 0)
      o->device = value;
    else if (strcmp(words[i], "--rays") == 0)
      o->rays = strtoul(value, NULL, 10);
    else if (strcmp(words[i], "--rounds") == 0)
      o->rounds = atoi(value);
    else
      return false;
  }
  return count % 2 == 1 && o->rays > 0 && o->rays <= 100000000 && o->rounds > 0 && o->rounds <= ROUNDS_MAX;
}

static bool bench_open(bench *b) {
  const size_t n = b->options.rays;
  random_state random = random_seed(1);
  b->rays = malloc(n * sizeof *b->rays);
  b->offsets = malloc((n + 1) * sizeof *b->offsets);
  b->local_offsets = malloc((n + 1) * sizeof *b->local_offsets);
  if (b->rays == NULL || b->offsets == NULL || b->local_offsets == NULL) return good(CL_OUT_OF_HOST_MEMORY, "malloc");
  ray_set_fill(RAYS_INSIDE, &random, n, b->rays);
  return csv_open("bench_stream", b->options.csv, &b->csv);
}

static bool bench_close(bench *b) {
  free(b->rays);
  free(b->offsets);
  free(b->local_offsets);
  free(b->results);
  free(b->wanted);
  return csv_close("bench_stream", b->options.csv, b->csv);
}

int main(int count, char **words) {
  bench b = {0};
  if (!parse_options(count, words, &b.options)) {
    fprintf(stderr, "usage: bench_stream [--device SEL] [--rays N] [--rounds R] [--csv FILE] [--split SEL,SEL...]\n");
    return 2;
  }
  bool done = bench_open(&b);
  if (done) done = b.options.split != NULL ? run_split(&b) : run_overlap(&b);
  return bench_close(&b) && done ? 0 : 1;
}
