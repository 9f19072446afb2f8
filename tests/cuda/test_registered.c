/* Arrays of the host that the caller has registered with CUDA. Each chunk whose part lies in one registration is copied
 * as it is. Every other passes through pinned memory of the library's, and the bits are the same. The stand-in refuses
 * copies that leave a registration, and ends the process where one is taken back under a copy. */
#include <stdlib.h>
#include <string.h>

#include "barrier.h"
#include "caller.h"
#include "mixed_fates.h"
#include "sets/answers.h"

enum { N = 5000, CHUNK = 1500, CASES = 168, THREADS = 4, ROUNDS = 5 };

static const slab_query queries[] = {SLAB_CLOSEST, SLAB_NEAREST, SLAB_DISTANCE, SLAB_ANY, SLAB_COUNT, SLAB_INTERVAL};
enum { QUERIES = sizeof queries / sizeof *queries };

/* The library on a context of the card, the caller's or its own, and rays at a scene. */
typedef struct setting {
  caller caller;
  slab_context *own;
  slab_scene *scenes[2]; /* on the caller's context, which has one stream, and on the library's own */
  slab_ray *rays;
  unsigned char *want[QUERIES];
} setting;

static int begin(void **state) {
  const slab_context_options options = {.launch_rays = CHUNK};
  setting *s = calloc(1, sizeof *s);
  *state = s;
  s->caller = caller_begin();
  slab_context_destroy(s->caller.slab);
  assert_ok(slab_context_create_cuda(s->caller.context, s->caller.stream, &options, &s->caller.slab));
  assert_ok(slab_context_create(&options, &s->own));
  s->scenes[0] = mixed_tree(s->caller.slab, 100);
  s->scenes[1] = mixed_tree(s->own, 100);
  s->rays = mixed_rays("registered", N);
  for (int q = 0; q < QUERIES; q++) {
    s->want[q] = harness_space(N * slab_result_size(queries[q]));
    assert_ok(cast_query(s->scenes[1], queries[q], s->rays, N, s->want[q], NULL));
  }
  return 0;
}

static int end(void **state) {
  setting *s = *state;
  for (int i = 0; i < 2; i++) slab_scene_destroy(s->scenes[i]);
  slab_context_destroy(s->own);
  caller_end(&s->caller);
  for (int q = 0; q < QUERIES; q++) free(s->want[q]);
  free(s->rays);
  free(s);
  return 0;
}

/* ---- registrations of an array ---- */

typedef enum kind { NOTHING, ALL, MORE, BEGIN, REST, INSIDE, PIECES, KINDS } kind;

/* An array with space before and after it, and up to two registrations. */
typedef struct array {
  unsigned char *space, *bytes;
  size_t size;
  unsigned char *at[2];
  size_t sizes[2];
  int registrations;
} array;

static array array_of(size_t size) {
  enum { AROUND = 100 };
  array a = {.space = harness_space(size + 2 * AROUND), .size = size};
  a.bytes = a.space + AROUND;
  return a;
}

static void put(array *a, size_t from, size_t to) {
  a->at[a->registrations] = a->bytes + from;
  a->sizes[a->registrations] = to - from;
  assert_cu(cuMemHostRegister(a->bytes + from, to - from, 0));
  a->registrations++;
}

static void register_as(array *a, kind k, random_state *random) {
  const size_t cut = 1 + random_below(random, (uint32_t)a->size - 1);
  switch (k) {
    case ALL:
      put(a, 0, a->size);
      break;
    case MORE: /* neighbours, too */
      a->at[0] = a->space + 1;
      a->sizes[0] = a->size + 150;
      a->registrations = 1;
      assert_cu(cuMemHostRegister(a->at[0], a->sizes[0], 0));
      break;
    case BEGIN:
      put(a, 0, cut);
      break;
    case REST:
      put(a, cut, a->size);
      break;
    case INSIDE:
      put(a, cut / 2, cut);
      break;
    case PIECES: /* no byte between them */
      put(a, 0, cut);
      put(a, cut, a->size);
      break;
    default:
      break;
  }
}

static void unregister(array *a) {
  while (a->registrations > 0) assert_cu(cuMemHostUnregister(a->at[--a->registrations]));
}

/* The least and the most bytes that are copied as they are: the first chunk of a call has CHUNK rays, those after it
 * may have fewer. */
static void bounds(const array *a, kind k, size_t element, size_t *least, size_t *most) {
  size_t all = 0;
  for (int i = 0; i < a->registrations; i++) all += a->sizes[i];
  *most += all < a->size ? all : a->size;
  if (k == ALL || k == MORE)
    *least += a->size;
  else if (a->registrations > 0 && a->at[0] == a->bytes && a->sizes[0] >= CHUNK * element)
    *least += CHUNK * element;
}

static void a_case(const setting *s, int i, random_state *random) {
  const int q = i % QUERIES;
  const size_t element = slab_result_size(queries[q]);
  const kind of_rays = random_below(random, KINDS), of_results = (kind)(i % KINDS);
  array rays = array_of(N * sizeof *s->rays), results = array_of(N * element);
  size_t least = 0, most = 0;
  memcpy(rays.bytes, s->rays, rays.size);
  register_as(&rays, of_rays, random);
  register_as(&results, of_results, random);
  standin_registered();
  assert_ok(cast_query(s->scenes[random_below(random, 2)], queries[q], (const slab_ray *)(const void *)rays.bytes, N,
                       results.bytes, NULL));
  bounds(&rays, of_rays, sizeof *s->rays, &least, &most);
  bounds(&results, of_results, element, &least, &most);
  assert_in_range(standin_registered(), least, most);
  assert_same_bits(results.bytes, s->want[q], N, element);
  unregister(&rays);
  unregister(&results);
  memset(results.bytes, 0xA5, results.size);
  assert_ok(
      cast_query(s->scenes[i % 2], queries[q], (const slab_ray *)(const void *)rays.bytes, N, results.bytes, NULL));
  assert_true(standin_registered() == 0);
  assert_same_bits(results.bytes, s->want[q], N, element);
  free(rays.space);
  free(results.space);
  harness_count(2 * N);
}

static void whatever_is_registered_the_bits_are_the_same(void **state) {
  random_state random = harness_seeded(__func__);
  for (int i = 0; i < CASES; i++) a_case(*state, i, &random);
}

/* ---- calls that fail ---- */

typedef struct failing {
  const setting *s;
  array rays, results;
} failing;

/* Takes the registrations back as soon as the call has returned, whatever became of it. */
static slab_status cast_registered(void *user) {
  failing *f = user;
  CUresult code = cuMemHostRegister(f->rays.bytes, f->rays.size, 0);
  if (code != CUDA_SUCCESS) return SLAB_OK; /* the fault has met the caller's own call */
  code = cuMemHostRegister(f->results.bytes, f->results.size, 0);
  const slab_status status =
      cast_query(f->s->scenes[1], SLAB_ANY, (const slab_ray *)(const void *)f->rays.bytes, N, f->results.bytes, NULL);
  assert_cu(cuMemHostUnregister(f->rays.bytes));
  if (code == CUDA_SUCCESS) assert_cu(cuMemHostUnregister(f->results.bytes));
  if (status == SLAB_OK) assert_same_bits(f->results.bytes, f->s->want[3], N, 1);
  return status;
}

static void calls_that_fail_leave_no_copy_in_flight(void **state) {
  const setting *s = *state;
  failing f = {s, array_of(N * sizeof *s->rays), array_of(N)};
  unsigned told;
  memcpy(f.rays.bytes, s->rays, f.rays.size);
  const unsigned calls = caller_strike(cast_registered, &f, &told);
  print_message("%u calls, %u failures told\n", calls, told);
  assert_in_range(told, calls / 2, calls);
  free(f.rays.space);
  free(f.results.space);
}

/* ---- several threads ---- */

typedef struct worker {
  os_thread thread;
  const setting *s;
  barrier *start;
  const slab_ray *rays;
  unsigned char results[N];
  bool failed;
} worker;

static void *work(void *argument) {
  worker *w = argument;
  barrier_wait(w->start);
  for (int i = 0; i < ROUNDS; i++)
    w->failed = w->failed || cast_query(w->s->scenes[1], SLAB_ANY, w->rays, N, w->results, NULL) != SLAB_OK ||
                memcmp(w->results, w->s->want[3], N) != 0;
  return NULL;
}

static void threads_cast_from_one_registered_array(void **state) {
  static worker workers[THREADS];
  const setting *s = *state;
  barrier start;
  barrier_begin(&start, THREADS);
  assert_cu(cuMemHostRegister(s->rays, N * sizeof *s->rays, 0));
  assert_cu(cuMemHostRegister(workers, sizeof workers, 0));
  standin_registered();
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (worker){.s = s, .start = &start, .rays = s->rays};
    assert_int_equal(os_thread_start(&workers[i].thread, work, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) os_thread_join(workers[i].thread);
  assert_true(standin_registered() == (uint64_t)THREADS * ROUNDS * N * (sizeof *s->rays + 1));
  assert_cu(cuMemHostUnregister(s->rays));
  assert_cu(cuMemHostUnregister(workers));
  for (int i = 0; i < THREADS; i++) assert_false(workers[i].failed);
  barrier_end(&start);
  harness_count((size_t)THREADS * ROUNDS * N);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(whatever_is_registered_the_bits_are_the_same),
                                     cmocka_unit_test(calls_that_fail_leave_no_copy_in_flight),
                                     cmocka_unit_test(threads_cast_from_one_registered_array)};
  return cmocka_run_group_tests(tests, begin, end);
}
