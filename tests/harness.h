/* What every test program shares: cmocka, a context at the lane width under test,
 * seeded numbers, and comparisons that know no tolerance.
 *
 * SLABCAST_TEST_WIDTH (1, 8, 16; 0 or unset: the device's own) chooses the width,
 * SLABCAST_TEST_SEED the seed: a failure is repeated with the seed it printed. SLABCAST_TEST_ONLY
 * names the tests that run, others are left out; * stands for anything. */
#ifndef HARNESS_H
#define HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>

#include "../host/cli/random.h"
#include "slabcast.h"

/* Fails the test with slab_message() unless the call returns SLAB_OK. */
#define assert_ok(call) harness_status((call), SLAB_OK, #call, __FILE__, __LINE__)
/* Fails the test unless the call returns this status and, where it is a failure, leaves a message. */
#define assert_status(call, status) harness_status((call), (status), #call, __FILE__, __LINE__)
void harness_status(slab_status got, slab_status want, const char *call, const char *file, int line);

/* 0: the device's own. */
uint32_t harness_width(void);

/* The first device at harness_width(); no device fails the test. The caller destroys it. */
slab_context *harness_context(void);

/* So many bytes, or the test fails. The caller frees them. */
void *harness_room(size_t bytes);

/* Splitmix64: any state is a good one, and streams of different states are independent. */
typedef struct harness_random {
  uint64_t state;
} harness_random;

/* A stream for the test of this name, from the seed, which is printed. */
harness_random harness_seeded(const char *test);
/* The same for the generators that tests share with the program. */
random_state harness_stream(const char *test);
uint64_t harness_bits(harness_random *random);
uint32_t harness_below(harness_random *random, uint32_t limit);
/* Uniform in [low, high). */
float harness_uniform(harness_random *random, float low, float high);
/* Fails the test at the first of n elements of `size` bytes that differs, and prints both as words in hexadecimal. */
#define assert_same_bits(got, want, n, size) harness_same_bits((got), (want), (n), (size), #got, __FILE__, __LINE__)
void harness_same_bits(const void *got, const void *want, size_t n, size_t size, const char *what, const char *file,
                       int line);

#endif
