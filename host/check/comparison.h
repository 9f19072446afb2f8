/* Comparing results with the CPU reference and the oracle: the part that rays and points have in common. */
#ifndef SLABCAST_CHECK_COMPARISON_H
#define SLABCAST_CHECK_COMPARISON_H

#include "base/arithmetic.h"
#include "check/judge.h"
#include "check/reference.h"
#include "scene/scene.h"
#include "slabcast.h"

/* One of several: rays or points. */
typedef struct compared compared;
/* Compares the i-th. Adds to *invalid where it is. answer: space that is kept. Returns false when memory runs out. */
typedef bool compare_one(const compared *, size_t i, reference_answer *answer, slab_check_report *, uint64_t *invalid);

/* Begins each check. */
struct compared {
  const char *function, *noun; /* for messages: "slab_check", "ray" */
  compare_one *one;
  const snapshot *scene;
  size_t n;
  slab_progress *progress;
  void *user;
  const uint64_t *invalid; /* the caller's counts; NULL: none */
  arithmetic *callers;     /* for progress callbacks */
  judge judge;
};

/* The options of the call. */
static inline void compared_tells(compared *c, slab_progress *progress, void *user, const uint64_t *invalid) {
  c->progress = progress;
  c->user = user;
  c->invalid = invalid;
}

/* Compares all by several threads, and ends the reading. The report is filled after a success alone. */
slab_status compare_all(compared *, scene_reading *, slab_check_report *report);

/* Writes of the i-th that its first word of `count` that differs has these names. primitive_at: the index of its
 * primitive, which the geometry follows. */
void describe_words(char *text, size_t size, const char *noun, size_t i, const char *const *names, const void *got,
                    const void *expected, size_t count, size_t primitive_at);

/* The same of doubles. Returns false where none differs. */
bool describe_doubles(char *text, size_t size, const char *noun, size_t i, const char *const *names, const void *got,
                      const void *expected, size_t count);

/* The same of one float that differs. */
void describe_float(char *text, size_t size, const char *noun, const char *name, size_t i, const float *got,
                    const float *expected);

/* Whether the report's text is still to describe the first that disagrees. */
static inline bool is_first(const slab_check_report *report) { return report->mismatches + report->oracle_wrong == 0; }

/* Counts the oracle's verdict on the i-th, and describes the first that is wrong. Returns false where memory is
 * short. */
bool count_judgement(const compared *, size_t i, oracle_judgement, const char *why, slab_check_report *);

/* Whether the oracle judges the i-th. */
static inline bool is_judged(const compared *c, size_t i) { return i % c->judge.stride == 0; }

#endif
