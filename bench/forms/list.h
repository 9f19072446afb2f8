/* Every formulation: X(function without form_, shape, layout, name, source,
 *                      additions and multiplications (fma is one), min and max, comparisons and selects, divisions,
 *                      all of them before the first exit)
 *
 * Operations are counted from the formulas in slab_forms.h and triangle_forms.h, for one test carried to its end. Not
 * counted are values computed once per ray, signs and absolute values (one bit), and the joining of masks. */
#ifndef FORMS_LIST_H
#define FORMS_LIST_H

#define FORMS(X)                                                                                                \
  X(division, SLAB_BOX, FORM_BOUNDS, "division, swaps", "Kay-Kajiya 1986", 6, 6, 10, 6, 28)                     \
  X(division_guarded, SLAB_BOX, FORM_BOUNDS, "division, guarded", "Haines 1989", 6, 6, 10, 6, 28)               \
  X(min_max, SLAB_BOX, FORM_BOUNDS, "inverse, min/max", "folklore", 12, 12, 1, 0, 25)                           \
  X(min_max_exclusive, SLAB_BOX, FORM_BOUNDS, "min/max, exclusive", "folklore", 12, 12, 1, 0, 25)               \
  X(early_out, SLAB_BOX, FORM_BOUNDS, "min/max, early out", "folklore", 12, 12, 3, 0, 9)                        \
  X(boundaries, SLAB_BOX, FORM_BOUNDS, "min/max, NaN-safe", "Barnes 2022", 12, 18, 1, 0, 31)                    \
  X(offset, SLAB_BOX, FORM_BOUNDS, "offset, mul-sub", "folklore", 12, 12, 1, 0, 25)                             \
  X(offset_fma, SLAB_BOX, FORM_BOUNDS, "offset, fma", "folklore", 6, 12, 1, 0, 19)                              \
  X(williams, SLAB_BOX, FORM_BOUNDS, "signs, early out", "Williams 2005", 12, 4, 6, 0, 10)                      \
  X(signs, SLAB_BOX, FORM_BOUNDS, "signs, inclusive", "folklore", 12, 6, 1, 0, 19)                              \
  X(clamped, SLAB_BOX, FORM_BOUNDS, "signs, clamped", "Aila-Laine 2009", 12, 6, 1, 0, 19)                       \
  X(signs_fma, SLAB_BOX, FORM_BOUNDS, "clamped, fma", "Embree 2014", 6, 6, 1, 0, 13)                            \
  X(widened, SLAB_BOX, FORM_BOUNDS, "signs, 2 ulp wider", "Ize 2013", 13, 6, 2, 0, 21)                          \
  X(center, SLAB_BOX, FORM_CENTER, "centre and extent", "Quilez", 15, 6, 1, 0, 22)                              \
  X(front_faces, SLAB_BOX, FORM_CENTER, "front faces", "Majercik 2018", 21, 0, 19, 0, 40)                       \
  X(separating_axes, SLAB_BOX, FORM_CENTER, "separating axes", "Ericson 2005", 24, 0, 9, 0, 33)                 \
  X(ours_box, SLAB_BOX, FORM_BOUNDS, "ours", "kernels/maths/box.h", 26, 15, 7, 0, 19)                           \
  X(moller_trumbore, SLAB_TRIANGLE, FORM_VERTICES, "eps 1e-6", "Moller-Trumbore 1997", 51, 0, 7, 1, 21)         \
  X(moller_trumbore_exact, SLAB_TRIANGLE, FORM_VERTICES, "no eps", "Moller-Trumbore 1997", 51, 0, 7, 1, 21)     \
  X(moller_trumbore_late, SLAB_TRIANGLE, FORM_VERTICES, "no eps, divides last", "Embree 2014", 48, 0, 9, 1, 50) \
  X(unit_triangle, SLAB_TRIANGLE, FORM_WOOP, "unit triangle", "Woop 2004", 38, 0, 5, 1, 14)                     \
  X(havel_herout, SLAB_TRIANGLE, FORM_WOOP, "planes, divides last", "Havel-Herout 2010", 35, 0, 9, 1, 42)       \
  X(baldwin_weber, SLAB_TRIANGLE, FORM_BALDWIN_WEBER, "transformed", "Baldwin-Weber 2016", 30, 0, 5, 1, 14)     \
  X(volumes, SLAB_TRIANGLE, FORM_VERTICES, "Pluecker", "Kensler-Shirley 2006", 58, 0, 8, 1, 57)                 \
  X(volumes_tolerant, SLAB_TRIANGLE, FORM_VERTICES, "Pluecker, tolerant", "Embree robust", 94, 4, 4, 1, 78)     \
  X(watertight, SLAB_TRIANGLE, FORM_VERTICES, "shear, rounded", "Woop-Benthin-Wald 2013", 38, 0, 9, 1, 39)      \
  X(ours_triangle, SLAB_TRIANGLE, FORM_VERTICES, "ours", "kernels/maths/triangle.h", 99, 51, 41, 1, 30)

#endif
