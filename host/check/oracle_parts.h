/* Declarations shared by the oracle's files. See oracle_line.c for the arithmetic and its bounds. */
#ifndef SLABCAST_CHECK_ORACLE_PARTS_H
#define SLABCAST_CHECK_ORACLE_PARTS_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/oracle.h"
#include "shapes.def" /* which kinds there are; no formula */

/* u: half the distance from 1 to the next float. */
#define ORACLE_U 0x1p-24
/* Larger than the error of a few roundings in the subnormal range. */
#define ORACLE_TINY 0x1p-146

/* Encloses all values that a kernel may have computed: [lo, hi]. Zero width: the kernel is exact here. */
typedef struct oracle_span {
  double lo, hi;
} oracle_span;

/* A valid ray, prepared as the contract says: origin + t * direction with the largest component of the direction in [1,
 * 2). Times below are in units of this direction unless they are called final. */
typedef struct oracle_line {
  double origin[3], direction[3];
  double inverse[3];              /* 1 / direction, rounded: only for bounds with slack */
  double length;                  /* of direction */
  double back;                    /* final t = t * back, a power of two */
  oracle_span t_min, t_max;       /* the range as tested */
  oracle_span min_back, max_back; /* final; reported by an interval that is clipped to the range */
  int kx, ky, kz;                 /* the contract's shear axes */
  double sx, sy;                  /* direction[kx] / direction[kz], direction[ky] / direction[kz] */
  bool sx_exact, sy_exact;        /* the quotient is a float */
  double told;                    /* a query reports t * told: back, here and outside */
  /* The ray in an instance's model. final t is in lengths of the line outside. */
  const struct oracle_line *outer; /* NULL: the ray of the scene */
  const oracle_instance *instance;
  const oracle_scene *model; /* which it is in */
  bool certain;              /* its range is certainly not empty, and so are those outside */
} oracle_line;

typedef enum oracle_state { ORACLE_RAY_VALID, ORACLE_RAY_EMPTY, ORACLE_RAY_INVALID } oracle_state;

/* Which crossing of a solid is reported. */
typedef enum oracle_side { ORACLE_NEAR, ORACLE_FAR, ORACLE_EITHER } oracle_side;

typedef struct oracle_question {
  bool solid; /* interval: solids instead of surfaces */
  bool face_forward;
  bool closed;    /* edges of triangles */
  slab_cull cull; /* no culling for solids */
  uint32_t most;  /* SLAB_ALL: hits that are listed at most; 0: all */
} oracle_question;

/* A primitive that is not certainly missed. */
typedef struct oracle_item {
  uint32_t geometry, primitive;
  slab_shape kind;
  const void *shape;
  const oracle_line *line;
  oracle_verdict verdict;
  oracle_span t;     /* final; for intervals: of enter */
  oracle_span leave; /* final; intervals only */
  oracle_side side;
  bool joinable;   /* a triangle that is undecided only because of its edges' signs */
  int facing;      /* triangles: 1 front, -1 back, 0 unknown */
  int patch;       /* index of its oracle_patch, -1: none */
  uint32_t listed; /* how often SLAB_ALL lists it */
} oracle_item;

/* oracle_box and so on, one for each kind. Returns false when certainly missed. */
#define ORACLE_OF(shape, name, names, noun, floats, form, place, source) \
  bool oracle_##name(const oracle_line *, const oracle_question *, const slab_##name *, oracle_item *);
SHAPES(ORACLE_OF)
#undef ORACLE_OF

/* ---- oracle_line.c -------------------------------------------------------- */

oracle_state oracle_line_prepare(const slab_ray *ray, oracle_line *line);
bool oracle_is_float(double x);
bool oracle_is_power_of_two(double x);
/* Whether a + b is a float and is computed without rounding. */
bool oracle_sum_is_float(double a, double b);
oracle_verdict oracle_both(oracle_verdict a, oracle_verdict b);
/* The verdict on a <= b; equality counts as true. */
oracle_verdict oracle_at_most(oracle_span a, oracle_span b);
oracle_verdict oracle_in_range(const oracle_line *line, oracle_span t);
oracle_span oracle_around(double value, double error);
/* Converts computed times to final ones. */
oracle_span oracle_final(const oracle_line *line, oracle_span t);
/* HIT when every final time is finite as a float, MISS when none is. */
oracle_verdict oracle_finite(oracle_span final_t);
/* Computed time (plane - origin) * (1 / direction) of a plane across one axis; direction is not 0. */
oracle_span oracle_face_time(double plane, double origin, double direction);
/* The computed three-term product (a0 b0 + a1 b1) + a2 b2. *error bounds its distance from the exact one. `extra` is
 * the relative error of the factors b. */
double oracle_dot(const double a[3], const double b[3], double extra, double *error);
/* f x direction|^2: the squared distance of the line through f from the origin, times the squared length of the
 * direction. */
double oracle_offset_square(const oracle_line *line, const double f[3]);

/* ---- oracle_slabs.c: boxes and oriented boxes ------------------------------ */

typedef struct oracle_axis {
  oracle_span near, far;      /* computed times of the two planes; -inf, inf: no constraint */
  double near_rise, far_rise; /* signed distances of the planes along the direction ... */
  double speed;               /* ... and how fast the ray runs: near = near_rise / speed */
  bool sound;                 /* the three numbers are exact floats */
  int sign;                   /* sign of the direction; 0: unknown */
} oracle_axis;

/* Axes of a box or oriented box; false when an axis parallel to the ray excludes it. */
bool oracle_box_axes(const oracle_line *, const slab_box *, oracle_axis axis[3]);
bool oracle_obb_axes(const oracle_line *, const slab_obb *, oracle_axis axis[3]);
/* The axes whose near (or far) plane may decide: bit i for axis i. */
unsigned oracle_near_axes(const oracle_axis axis[3]);
unsigned oracle_far_axes(const oracle_axis axis[3]);

/* Ends of the padded bounds of a solid within `extent` of its centre, as they can be computed. lo: the least far time.
 * hi: the greatest near time. The kernel pads the bounds. Where the solid is tiny and far away, its times are rounded
 * by more than the padding. The clamp then moves a crossing that is exact by the solid's own formulas. */
oracle_span oracle_bounds_ends(const oracle_line *, const float center[3], const double extent[3]);
/* Widens an end of the interval inside the solid by as much as the clamp to the padded bounds may move it. */
void oracle_clamp(oracle_span gate, oracle_span *end);

/* ---- oracle_sphere.c, oracle_solid.c ---------------------------------------- */

typedef struct oracle_solid {
  oracle_verdict crosses; /* whether the whole line intersects the solid */
  oracle_span near, far;
} oracle_solid;

/* Picks the crossing (surfaces) or clips the interval (solids). Returns false when certainly missed. */
bool oracle_solid_item(const oracle_line *, const oracle_question *, const oracle_solid *, oracle_item *);

/* ---- oracle_surface.c: planes and triangles --------------------------------- */

/* A triangle in the ray's shear space. Edge i is opposite of vertex i. */
typedef struct oracle_view {
  double x[3], y[3], ex[3], ey[3]; /* x, y: exact up to double rounding; ex, ey: the kernel's error, 0 where the kernel
                                    * is exact */
  double rise[3];                  /* times of the vertices' planes across kz */
  double edge[3];                  /* signed areas, positive where the ray runs along cross(b - a, c - a) */
  double edge_error[3];            /* error of the kernel's sign and value that comes from its vertices */
  double edge_size[3];             /* |p| + |q| of the difference p - q */
  int sign[3];                     /* sign of the perturbed edge; 0: unknown */
  bool touches[3];                 /* the ray certainly intersects the line of this edge */
  bool has_area;                   /* false: two vertices certainly coincide there */
} oracle_view;

/* Returns false when one coordinate alone shows a miss. */
bool oracle_triangle_view(const oracle_line *, const slab_triangle *, oracle_view *);
/* Sign of the edge from vertex j to k under the tie rule, for coordinates that are exact floats. */
int oracle_edge_sign(double xj, double yj, double xk, double yk);
/* A certain lower bound of the weights' denominator: |sum of edges| minus all errors. Not usable where it is <= 0. */
double oracle_view_area(const oracle_view *, double error[3], double *sum);
/* Whether the weights are within a bound of those of this view, of this area and sum of edges. */
bool oracle_view_has_weights(double area, double sum);

/* ---- oracle_closed.c ---------------------------------------------------------- */

/* The exact signs of a triangle's three edges at the line: positive where the ray runs along cross(b - a, c - a).
 * Returns t where the line meets the triangle, off by less than 2^-45 of itself. */
double oracle_closed_signs(const oracle_line *, const slab_triangle *, int sign[3]);
/* cross(b - a, c - a): each component is off by 2^-50 of itself, and 0 where it is 0. */
void oracle_closed_normal(const slab_triangle *, double normal[3]);
/* How a ray from p along z crosses a triangle, exactly: 1 from behind, -1 from the front, 0 not. Where p is on an edge,
 * or above or below one, it is that of the point moved by (e, e^2, -d) with 0 < e << d. */
int oracle_crossing(const slab_triangle *, const double p[3]);

/* ---- oracle_patch.c ----------------------------------------------------------- */

/* Triangles joined by edges too close to the ray: between lo and hi of them are hit, in steps of `step`. */
typedef struct oracle_patch {
  uint32_t lo, hi, step;
} oracle_patch;

enum { ORACLE_PATCH_LIMIT = 128 };

/* Sets the items' patch and fills patches. Returns their number. Makes no patches if there are more joinable triangles
 * than the limit. */
uint32_t oracle_patches(oracle_item *items, size_t count, oracle_patch patches[ORACLE_PATCH_LIMIT]);

/* ---- oracle_instance.c --------------------------------------------------------- */

/* The ray in the model of an instance. False where it certainly hits nothing there. */
bool oracle_line_enter(const oracle_line *outer, const oracle_instance *, const oracle_scene *model,
                       oracle_line *inner);
/* B (p - place) of an instance, in floats as the contract says. */
void oracle_point_inside(const oracle_instance *, const float p[3], float inside[3]);
/* The same way back, in double. */
void oracle_point_outside(const oracle_instance *, const double inside[3], double p[3]);
/* The scale of an instance that is rigid but for it, and how far its lengths may differ from that, relative. */
double oracle_scale_of(const oracle_instance *, double *twist);
/* Converts an item of a line in a model to the values that the ray of the scene reports. */
void oracle_tell_outside(oracle_item *);
/* Replaces a normal of length 1 of a model by that outside. Returns the tolerance of its components outside. */
double oracle_normal_outside(const oracle_line *, double n[3], double tolerance);

/* ---- oracle_detail.c ----------------------------------------------------------- */

/* Floats of a kind's struct. */
static inline size_t oracle_floats(slab_shape kind) {
#define FLOATS_OF(shape, name, names, noun, floats, form, place, source) [shape] = (floats),
  static const size_t floats[] = {SHAPES(FLOATS_OF)};
#undef FLOATS_OF
  return floats[kind];
}
/* Checks normal, u and v of a reported hit. Returns NULL when they are possible, otherwise the fault. */
const char *oracle_detail(const oracle_question *, const oracle_item *, const slab_hit *);
/* Whether the kernels compute the same bits for t of both items, for every rounding. */
bool oracle_same_t(const oracle_item *, const oracle_item *);

#endif
