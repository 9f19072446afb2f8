/* Casting through every query at once: what each gives is compared with the CPU reference and with the others, and, in
 * tables, with what was worked out by hand. */
#ifndef EXPECT_H
#define EXPECT_H

#include "answers.h"
#include "harness.h"
#include "shapes.h"

/* Fails the test where a query differs from the CPU reference, is proved wrong by the oracle, contradicts another
 * query, or breaks a form that all answers have (answers_fault). Release the answers with answers_free. */
void expect_cast(slab_scene *scene, const slab_ray *rays, size_t n, const slab_cast_options *options, answers *a);
/* The same without the oracle: for numbers beyond those the contract promises exact signs for (products of a
 * triangle's coordinates below 2^-102), where the CPU reference still holds. */
void expect_cast_in_extremes(slab_scene *scene, const slab_ray *rays, size_t n, const slab_cast_options *options,
                             answers *a);

/* What one ray and one primitive give. */
typedef struct expect_want {
  float t, normal[3], u, v; /* t = INFINITY: no surface is hit */
  float enter, leave;       /* INFINITY, -INFINITY: no solid is met */
} expect_want;

typedef struct expect_row {
  slab_ray ray;
  expect_want want;
} expect_row;

#define EXPECT_MISS \
  { INFINITY, {0, 0, 0}, 0, 0, INFINITY, -INFINITY }
/* A box's crossing at t of the face that looks along -x, +x, ... */
#define EXPECT_FACE_0 {-1, 0, 0}, 0, 0
#define EXPECT_FACE_1 {1, 0, 0}, 1, 0
#define EXPECT_FACE_2 {0, -1, 0}, 2, 0
#define EXPECT_FACE_3 {0, 1, 0}, 3, 0
#define EXPECT_FACE_4 {0, 0, -1}, 4, 0
#define EXPECT_FACE_5 {0, 0, 1}, 5, 0
#define EXPECT_NO_SURFACE INFINITY, {0, 0, 0}, 0, 0
#define EXPECT_NO_SOLID INFINITY, -INFINITY

/* The same for a face known at run time. */
expect_want expect_face(float t, unsigned face, float enter, float leave);

/* Fails the test unless the shape (a struct of `kind`) alone in a scene gives what the rows want in every query, and
 * slab_pairs the same interval. Numbers are the same ones up to `within`; 0: exactly. The shape is one of the last of
 * several of its kind, the others dropped as invalid, so that lanes and numbering are tested with it. rows: an array.
 */
#define expect_shape(context, kind, shape, rows, options, within)                                               \
  expect_rows((context), (kind), (shape), (rows), sizeof(rows) / sizeof *(rows), (options), (within), __FILE__, \
              __LINE__)
/* The same for one row. */
#define expect_ray(context, kind, shape, row, options, within) \
  expect_rows((context), (kind), (shape), (row), 1, (options), (within), __FILE__, __LINE__)
void expect_rows(slab_context *context, slab_shape kind, const void *shape, const expect_row *rows, size_t n,
                 const slab_cast_options *options, float within, const char *file, int line);

/* A committed scene of one geometry. */
slab_scene *expect_scene(slab_context *context, slab_shape kind, const void *shapes, uint32_t n);

/* ---- cmocka's fixtures: *state is a context ---- */
int expect_setup(void **state);
int expect_teardown(void **state);

#endif
