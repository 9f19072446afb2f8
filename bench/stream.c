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

#include "csv.h"
#include "devices.h"
#include "kernel_alone.h"
#include "ray_sets.h"
#include "sets/answers.h"
#include "sets/scenes.h"
#include "sets/timing.h"

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
  kernel_alone kernel;
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

static bool failed_memory(const char *what) {
  fprintf(stderr, "bench_stream: no memory for %s\n", what);
  return false;
}

/* ---- the kernel alone ---- */

/* For SLAB_ALL adds the kernel that counts. */
static bool time_kernels(const bench *b, slab_scene *scene, slab_query query, double *wall, double *processor) {
  *wall = *processor = 0.0;
  if (query == SLAB_ALL && !kernel_time(&b->kernel, scene, SLAB_COUNT, wall, processor)) return false;
  return kernel_time(&b->kernel, scene, query, wall, processor);
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
  if (b->results == NULL || b->wanted == NULL) return failed_memory("results");
  return !b->has_kernel || kernel_fill(&b->kernel, b->rays, n, b->local_offsets, bytes);
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

/* Makes the results that every call must give: of the kernel alone, else of the first call. */
static bool want(const bench *b, slab_query query) {
  const size_t bytes = result_bytes(b, query);
  if (!b->has_kernel) return memcpy(b->wanted, b->results, bytes) != NULL;
  return kernel_read(&b->kernel, b->wanted, bytes);
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
  if (scene_build(scenes[which].name, scenes[which].count, 1, &geometry) != 0) return failed_memory(scenes[which].name);
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
  b->kernel = (kernel_alone){.bench = "bench_stream"};
  bool done = kernel_open(&b->kernel, b->context);
  b->has_kernel = b->kernel.queue != NULL;
  if (done && !copy) print_header(b);
  for (size_t s = 0; done && s < sizeof scenes / sizeof *scenes; s++)
    done = run_scene(b, s, copy ? "copied" : "in place");
  kernel_close(&b->kernel);
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
  if (b->results == NULL || b->wanted == NULL) return failed_memory("results");
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
  if (b->rays == NULL || b->offsets == NULL || b->local_offsets == NULL) return failed_memory("rays");
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
