/* The formulations that 'bench forms' compares, as C11 and on its sets. Ours is never wrong, and the sets detect the
 * known faults of the others. */
#include <string.h>

#include "forms_reference.h"
#include "forms_sets.h"
#include "harness.h"

enum { RAYS = 16384 };
#define SEED 20240607u

static void find(const form *f, const forms_set *set, uint32_t *bits) {
  const size_t floats = set->shape == SLAB_BOX ? 6 : 9;
  float blocks[FORMS_GROUP * FORM_ROWS_MOST];
  for (size_t i = 0; i < set->rays; i++) {
    const size_t first = i / FORMS_RAYS_PER_GROUP * FORMS_GROUP;
    if (i % FORMS_RAYS_PER_GROUP == 0) form_pack(f->layout, 1, set->shapes + first * floats, FORMS_GROUP, blocks);
    bits[i] = form_reference(f, &set->ray[i], blocks, FORMS_GROUP);
  }
}

static forms_errors errors_of(const char *function, forms_kind kind) {
  static uint32_t bits[RAYS];
  const form *f = form_named(function);
  forms_set set;
  assert_non_null(f);
  assert_true(forms_set_make(f->shape, kind, SEED, RAYS, &set));
  assert_int_equal(set.rays, RAYS);
  forms_judge(&set);
  find(f, &set, bits);
  const forms_errors e = forms_errors_of(&set, bits);
  forms_set_free(&set);
  return e;
}

static void ours_is_never_wrong(void **state) {
  (void)state;
  for (forms_kind kind = 0; kind < FORMS_KINDS; kind++) {
    const forms_errors box = errors_of("form_ours_box", kind), triangle = errors_of("form_ours_triangle", kind);
    assert_int_equal(box.misses + box.hits + box.leaks, 0);
    assert_int_equal(triangle.misses + triangle.hits + triangle.leaks + triangle.doubles, 0);
    if (kind == FORMS_SHARED)
      assert_int_equal(box.doubles, box.closed); /* boxes are closed, so both boxes of a shared face contain it */
  }
}

/* Each fault must occur in at least one ray of a thousand. */
static void other_forms_are_wrong_where_they_are_known_to_be(void **state) {
  static const struct {
    const char *function;
    forms_kind kind;
    size_t offset; /* offset of the count in forms_errors */
  } faults[] = {
      {"form_division", FORMS_AXIS, offsetof(forms_errors, misses)}, /* 0 / 0 */
      {"form_division", FORMS_SHARED, offsetof(forms_errors, leaks)},
      {"form_min_max", FORMS_AXIS, offsetof(forms_errors, misses)},   /* 0 * inf */
      {"form_min_max", FORMS_CORNER, offsetof(forms_errors, misses)}, /* rounding */
      {"form_min_max_exclusive", FORMS_CORNER, offsetof(forms_errors, misses)},
      {"form_early_out", FORMS_CORNER, offsetof(forms_errors, misses)},
      {"form_boundaries", FORMS_CORNER, offsetof(forms_errors, misses)},
      {"form_offset", FORMS_AXIS, offsetof(forms_errors, hits)}, /* inf - inf */
      {"form_offset_fma", FORMS_CORNER, offsetof(forms_errors, misses)},
      {"form_williams", FORMS_SHARED, offsetof(forms_errors, leaks)},
      {"form_signs", FORMS_CORNER, offsetof(forms_errors, misses)},
      {"form_clamped", FORMS_AXIS, offsetof(forms_errors, misses)}, /* one face exclusive */
      {"form_signs_fma", FORMS_AXIS, offsetof(forms_errors, misses)},
      {"form_center", FORMS_AXIS, offsetof(forms_errors, hits)},
      {"form_front_faces", FORMS_CORNER, offsetof(forms_errors, misses)},
      {"form_separating_axes", FORMS_SHARED, offsetof(forms_errors, misses)},
      {"form_moller_trumbore", FORMS_RANDOM, offsetof(forms_errors, misses)}, /* small triangles */
      {"form_moller_trumbore_exact", FORMS_SHARED, offsetof(forms_errors, leaks)},
      {"form_moller_trumbore_late", FORMS_CORNER, offsetof(forms_errors, leaks)},
      {"form_unit_triangle", FORMS_SHARED, offsetof(forms_errors, leaks)},
      {"form_havel_herout", FORMS_SHARED, offsetof(forms_errors, leaks)},
      {"form_baldwin_weber", FORMS_SHARED, offsetof(forms_errors, hits)},
      {"form_volumes", FORMS_RANDOM, offsetof(forms_errors, hits)}, /* small and far away */
      {"form_volumes_tolerant", FORMS_SHARED, offsetof(forms_errors, doubles)},
      {"form_watertight", FORMS_SHARED, offsetof(forms_errors, doubles)}, /* inclusive edges */
  };
  (void)state;
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    const forms_errors e = errors_of(faults[i].function, faults[i].kind);
    size_t count;
    memcpy(&count, (const char *)&e + faults[i].offset, sizeof count);
    if (count < RAYS / 1000)
      fail_msg("%s is wrong in %zu of %d rays of the set \"%s\"", faults[i].function, count, RAYS,
               forms_kind_names[faults[i].kind]);
  }
}

/* Formulations that are right where others fail. This proves that the sets do not reject everything. */
static void sound_forms_are_right_where_they_are_known_to_be(void **state) {
  (void)state;
  assert_int_equal(errors_of("form_division_guarded", FORMS_AXIS).misses, 0);
  assert_int_equal(errors_of("form_boundaries", FORMS_AXIS).misses, 0);
  assert_int_equal(errors_of("form_signs", FORMS_AXIS).misses, 0);
  assert_int_equal(errors_of("form_watertight", FORMS_CORNER).leaks, 0);
  for (size_t i = 0; i < forms_count; i++)
    if (forms_list[i].shape == SLAB_BOX) assert_int_equal(errors_of(forms_list[i].function, FORMS_RANDOM).misses, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ours_is_never_wrong),
      cmocka_unit_test(other_forms_are_wrong_where_they_are_known_to_be),
      cmocka_unit_test(sound_forms_are_right_where_they_are_known_to_be),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
