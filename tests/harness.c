#include "harness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_SEED 20260101u

static uint64_t number_from(const char *variable, uint64_t fallback) {
  const char *text = getenv(variable);
  if (!text || !*text) return fallback;
  char *end = NULL;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  if (errno || *end) fail_msg("%s is '%s', which is no number", variable, text);
  return value;
}

/* Before main, so that it holds for every program. */
__attribute__((constructor)) static void choose_tests(void) {
  const char *only = getenv("SLABCAST_TEST_ONLY");
  if (only && *only) cmocka_set_test_filter(only);
}

uint32_t harness_width(void) { return (uint32_t)number_from("SLABCAST_TEST_WIDTH", 0); }

void harness_status(slab_status got, slab_status want, const char *call, const char *file, int line) {
  if (got != want) {
    print_error("%s\n  gave \"%s\", not \"%s\": %s\n", call, slab_status_text(got), slab_status_text(want),
                slab_message());
    _fail(file, line);
  }
  if (want != SLAB_OK && !*slab_message()) {
    print_error("%s\n  failed as it should, but left no message\n", call);
    _fail(file, line);
  }
}

slab_context *harness_context(void) {
  const slab_context_options options = {.lane_width = harness_width()};
  slab_context *context = NULL;
  assert_ok(slab_context_create(&options, &context));
  return context;
}

void *harness_room(size_t bytes) {
  void *room = malloc(bytes + !bytes);
  assert_non_null(room);
  return room;
}

/* FNV-1a, so that tests of one seed do not share numbers. */
static uint64_t hash_of(const char *text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
  return hash;
}

harness_random harness_seeded(const char *test) {
  const uint64_t seed = number_from("SLABCAST_TEST_SEED", DEFAULT_SEED);
  print_message("%s: SLABCAST_TEST_SEED=%llu\n", test, (unsigned long long)seed);
  return (harness_random){seed ^ hash_of(test)};
}

random_state harness_stream(const char *test) { return random_seed(harness_seeded(test).state); }

uint64_t harness_bits(harness_random *random) {
  uint64_t z = random->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint32_t harness_below(harness_random *random, uint32_t limit) {
  return (uint32_t)(((harness_bits(random) >> 32) * limit) >> 32);
}

float harness_uniform(harness_random *random, float low, float high) {
  const float unit = (float)(harness_bits(random) >> 40) * 0x1p-24f;
  const float value = low + unit * (high - low);
  return value < high ? value : low; /* rounding may reach high */
}

static void print_words(const char *label, const unsigned char *bytes, size_t size) {
  print_error("  %s", label);
  for (size_t i = 0; i < size; i += 4) {
    uint32_t word = 0;
    memcpy(&word, bytes + i, size - i < 4 ? size - i : 4);
    print_error(" %08x", (unsigned)word);
  }
  print_error("\n");
}

void harness_same_bits(const void *got, const void *want, size_t n, size_t size, const char *what, const char *file,
                       int line) {
  const unsigned char *a = got, *b = want;
  for (size_t i = 0; i < n; i++) {
    if (!memcmp(a + i * size, b + i * size, size)) continue;
    print_error("%s[%zu] differs, first of %zu:\n", what, i, n);
    print_words("got ", a + i * size, size);
    print_words("want", b + i * size, size);
    _fail(file, line);
  }
}
