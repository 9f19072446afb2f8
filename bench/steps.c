/* The cost of a ray: cases for steps.sh, which runs this program beneath valgrind and prints the table.
 *
 *   bench_steps [--rays SIDE] [--set NAME] [--ours] SCENE...
 *
 * A case is a set of rays on a scene, a query and a side: ours one ray after the other, ours interleaved, Embree's.
 * Each is cast on one thread, and valgrind's tool callgrind counts the cast alone and dumps its counts under the name
 * of the case. The program bench_steps_counts is the same with kernels that count their steps (COUNT): it prints these.
 * Both take the kernels of x86-64-v3, since valgrind knows no wider registers. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef BENCH_EMBREE
#include "embree.h"
#endif
#include "sets/trace_rays.h"
#include "slabcast.h"
#include "trace_scene.h"

#ifdef BENCH_COUNTS
#include "lanes/steps.h"
#define SIDES 2
#elif __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define BENCH_CALLGRIND
#define SIDES 3
#else
#define SIDES 3
#endif

#define SEED 20260711u
#define DIFFER_MAX 0.02 /* as in trace.c */
#define LANES_COUNTED 8 /* of x86-64-v3 */
enum { SINGLE, INTERLEAVED, EMBREE, SCENES_MAX = 16 };

static const char *const side_names[] = {"single", "interleaved", "embree"};

typedef struct options {
  const char *scenes[SCENES_MAX];
  int scene_count;
  uint32_t side;
  unsigned sets; /* bit mask of trace_set */
  bool ours;     /* without Embree */
} options;

/* A scene on all sides, and a set of rays. */
typedef struct match {
  const char *scene, *set;
  slab_context *contexts[2];
  slab_scene *scenes[2];
#ifdef BENCH_EMBREE
  embree *embree;
#endif
  slab_ray *rays;
  size_t n;
  slab_hit *results[SIDES]; /* of each ray a slab_hit at most */
} match;

static bool failed_call(const char *what) {
  fprintf(stderr, "bench_steps: %s: %s\n", what, slab_message());
  return false;
}

/* ---- counting ---- */

#ifdef BENCH_COUNTS
static unsigned long long counts[STEPS];

void steps_count(step what, unsigned int n) { counts[what] += n; }

static void counting_begin(void) { memset(counts, 0, sizeof counts); }

static void counting_end(const char *name) {
  printf("%s %llu %llu %llu %llu\n", name, counts[STEP_nodes], counts[STEP_blocks], counts[STEP_candidates],
         counts[STEP_exact]);
}
#elif defined(BENCH_CALLGRIND)
/* Whole threads are counted, and other threads than ours do nothing meanwhile. */
static void counting_begin(void) {
  CALLGRIND_ZERO_STATS;
  CALLGRIND_START_INSTRUMENTATION;
}

static void counting_end(const char *name) {
  CALLGRIND_STOP_INSTRUMENTATION;
  CALLGRIND_DUMP_STATS_AT(name);
}
#else
static void counting_begin(void) {}
static void counting_end(const char *name) { (void)name; }
#endif

/* ---- casts ---- */

static bool cast(const match *m, int side, int any, size_t n) {
#ifdef BENCH_EMBREE
  if (side == EMBREE)
    return embree_cast(m->embree, EMBREE_SINGLE, any ? SLAB_ANY : SLAB_CLOSEST, m->rays, n, m->results[side]) != 0;
#endif
  const slab_status status = any ? slab_any(m->scenes[side], m->rays, n, (uint8_t *)m->results[side], NULL)
                                 : slab_closest(m->scenes[side], m->rays, n, m->results[side], NULL);
  return status == SLAB_OK ? true : failed_call("cast");
}

/* The first cast is not counted: all that is built or learned once is there after it. */
static bool run_case(const match *m, int side, int any) {
  char name[256];
  snprintf(name, sizeof name, "%s %s %s %s %zu", m->scene, m->set, any ? "any" : "closest", side_names[side], m->n);
  if (!cast(m, side, any, m->n)) return false;
  counting_begin();
  const bool done = cast(m, side, any, m->n);
  counting_end(name);
  return done;
}

static bool hits(const match *m, int side, int any, size_t i) {
  if (any) return ((const uint8_t *)m->results[side])[i] != 0;
  return !isinf(m->results[side][i].t);
}

/* Ours are equal to the bit; Embree rounds differently, but more than a few such rays mean that the scenes differ. */
static bool sides_agree(const match *m, int any, int sides) {
  size_t differ = 0;
  if (memcmp(m->results[SINGLE], m->results[INTERLEAVED], m->n * (any ? 1 : sizeof(slab_hit))) != 0) {
    fprintf(stderr, "bench_steps: %s, %s: our traversals give different answers\n", m->scene, m->set);
    return false;
  }
  for (size_t i = 0; sides > EMBREE && i < m->n; i++) differ += hits(m, SINGLE, any, i) != hits(m, EMBREE, any, i);
  if ((double)differ <= DIFFER_MAX * (double)m->n) return true;
  fprintf(stderr, "bench_steps: %s, %s: %zu of %zu rays hit with us or with Embree alone\n", m->scene, m->set, differ,
          m->n);
  return false;
}

static int sides_of(const options *o) {
#ifdef BENCH_EMBREE
  return o->ours ? EMBREE : SIDES;
#else
  (void)o;
  return EMBREE;
#endif
}

static bool run_set(const options *o, match *m, trace_set set) {
  const int sides = sides_of(o);
  bool done = true;
  m->set = trace_set_names[set];
  if (trace_rays_fill(m->scenes[SINGLE], set, SEED, o->side, m->rays, m->results[SINGLE], &m->n) != SLAB_OK)
    return failed_call("rays");
  for (int any = 0; done && m->n > 0 && any <= 1; any++) {
    for (int side = 0; done && side < sides; side++) done = run_case(m, side, any);
    done = done && sides_agree(m, any, sides);
  }
  return done;
}

/* ---- a match ---- */

static bool scene_open(const scene_geometry *g, slab_traversal traversal, slab_context **context, slab_scene **scene) {
  const slab_context_options settings = {
      .device = "cpu", .lane_width = LANES_COUNTED, .traversal = traversal, .threads = 1};
  const bool done = slab_context_create(&settings, context) == SLAB_OK &&
                    slab_scene_create(*context, scene) == SLAB_OK &&
                    scene_geometry_add(*scene, g, NULL, NULL) == SLAB_OK &&
                    slab_scene_commit(*scene, &(slab_build_options){.tree = SLAB_TREE_HIGH}) == SLAB_OK;
  return done ? true : failed_call("scene");
}

static bool match_open(const options *o, const char *scene, match *m) {
  const size_t n = (size_t)o->side * o->side;
  const char *slash = strrchr(scene, '/');
  scene_geometry geometry;
  *m = (match){.scene = slash == NULL ? scene : slash + 1};
  if (!trace_scene_read(scene, SEED, &geometry)) return false;
  bool done = geometry.kind == SLAB_TRIANGLE;
  if (!done) fprintf(stderr, "bench_steps: %s: not of triangles, whose steps alone are counted\n", scene);
  done = done && scene_open(&geometry, SLAB_TRAVERSAL_SINGLE, &m->contexts[SINGLE], &m->scenes[SINGLE]) &&
         scene_open(&geometry, SLAB_TRAVERSAL_INTERLEAVED, &m->contexts[INTERLEAVED], &m->scenes[INTERLEAVED]);
#ifdef BENCH_EMBREE
  if (done && !o->ours) done = (m->embree = embree_open(&geometry, 1, 0)) != NULL;
#endif
  scene_geometry_free(&geometry);
  bool whole = (m->rays = malloc(n * sizeof *m->rays)) != NULL;
  for (int i = 0; i < SIDES; i++) whole = (m->results[i] = malloc(n * sizeof *m->results[i])) != NULL && whole;
  if (!whole) fprintf(stderr, "bench_steps: no memory for %zu rays\n", n);
  return done && whole;
}

static void match_close(match *m) {
  for (int i = 0; i < 2; i++) {
    slab_scene_destroy(m->scenes[i]);
    slab_context_destroy(m->contexts[i]);
  }
#ifdef BENCH_EMBREE
  embree_close(m->embree);
#endif
  for (int i = 0; i < SIDES; i++) free(m->results[i]);
  free(m->rays);
}

static bool run_scene(const options *o, const char *scene) {
  match m;
  bool done = match_open(o, scene, &m);
  for (trace_set set = 0; done && set < TRACE_SETS; set++)
    if ((o->sets >> set & 1) != 0) done = run_set(o, &m, set);
  match_close(&m);
  return done;
}

/* ---- options ---- */

static bool parse_set(const char *name, options *o) {
  for (unsigned set = 0; set < TRACE_SETS; set++)
    if (strcmp(name, trace_set_names[set]) == 0) return (o->sets = 1u << set) != 0;
  return false;
}

static bool parse_options(int count, char **words, options *o) {
  *o = (options){.side = 128, .sets = (1u << TRACE_SETS) - 1};
  for (int i = 1; i < count; i++) {
    if (strcmp(words[i], "--ours") == 0) {
      o->ours = true;
    } else if (strcmp(words[i], "--rays") == 0 && i + 1 < count) {
      o->side = (uint32_t)atoi(words[++i]);
      if (o->side < 32 || o->side > 4096 || (o->side & (o->side - 1)) != 0) return false;
    } else if (strcmp(words[i], "--set") == 0 && i + 1 < count) {
      if (!parse_set(words[++i], o)) return false;
    } else if (words[i][0] != '-' && o->scene_count < SCENES_MAX) {
      o->scenes[o->scene_count++] = words[i];
    } else {
      return false;
    }
  }
  return o->scene_count > 0;
}

int main(int count, char **words) {
  options o;
  const int child = trace_scene_child(count, words);
  if (child >= 0) return child;
  if (!parse_options(count, words, &o)) {
    fprintf(stderr, "usage: bench_steps [--rays SIDE] [--set NAME] [--ours] SCENE...\n");
    return 2;
  }
#ifdef BENCH_CALLGRIND
  if (!RUNNING_ON_VALGRIND) fprintf(stderr, "bench_steps: nothing counts: steps.sh runs this beneath valgrind\n");
#elif !defined(BENCH_COUNTS)
  fprintf(stderr, "bench_steps: built without valgrind's headers, so nothing is counted\n");
  return 77;
#endif
  bool done = true;
  for (int i = 0; done && i < o.scene_count; i++) done = run_scene(&o, o.scenes[i]);
  return done ? 0 : 1;
}
