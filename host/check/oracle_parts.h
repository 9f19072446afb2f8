/* What the oracle's files share. See oracle_line.c for the arithmetic and its bounds. */
#ifndef SLABCAST_CHECK_ORACLE_PARTS_H
#define SLABCAST_CHECK_ORACLE_PARTS_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "oracle.h"

/* u: half the distance from 1 to the next float. */
#define ORACLE_U 0x1p-24
/* More than a few roundings in the subnormal range can be off by. */
#define ORACLE_TINY 0x1p-146

/* All values that a kernel may have computed lie in [lo, hi]. Zero width: the kernel is exact here. */
typedef struct oracle_span {
  double lo, hi;
} oracle_span;

/* A valid ray as the contract prepares it: origin + t * direction with the largest component of the direction in
 * [1, 2). Times below are in units of this direction unless they are called final. */
typedef struct oracle_line {
  double origin[3], direction[3];
  double inverse[3];              /* of direction, rounded: for bounds with slack */
  double length;                  /* of direction */
  double back;                    /* final t = t * back, a power of two */
  oracle_span t_min, t_max;       /* the range as tested */
  oracle_span min_back, max_back; /* final: what an interval clipped to the range reports */
  int kx, ky, kz;                 /* shear axes of the contract */
  double sx, sy;                  /* direction[kx] / direction[kz], direction[ky] / direction[kz] */
  bool sx_exact, sy_exact;        /* the quotient is a float */
} oracle_line;

typedef enum oracle_state { ORACLE_RAY_VALID, ORACLE_RAY_EMPTY, ORACLE_RAY_INVALID } oracle_state;

/* Which crossing of a solid is reported. */
typedef enum oracle_side { ORACLE_NEAR, ORACLE_FAR, ORACLE_EITHER } oracle_side;

typedef struct oracle_question {
  bool solid; /* interval: solids instead of surfaces */
  bool face_forward;
  slab_cull cull; /* none where solid */
} oracle_question;

/* A primitive that is not certainly missed. */
typedef struct oracle_item {
  uint32_t geometry, primitive;
  slab_shape kind;
  const void *shape;
  oracle_verdict verdict;
  oracle_span t;     /* final; of enter for intervals */
  oracle_span leave; /* final; intervals only */
  oracle_side side;
  bool joinable;   /* a triangle undecided for its edges' signs alone */
  int facing;      /* triangles: 1 front, -1 back, 0 unknown */
  int patch;       /* index of its oracle_patch, -1: none */
  uint32_t listed; /* how often SLAB_ALL lists it */
} oracle_item;

/* ---- oracle_line.c -------------------------------------------------------- */

oracle_state oracle_line_prepare(const slab_ray *ray, oracle_line *line);
bool oracle_is_float(double x);
bool oracle_is_power_of_two(double x);
/* a + b is a float, computed without rounding. */
bool oracle_sum_is_float(double a, double b);
oracle_verdict oracle_both(oracle_verdict a, oracle_verdict b);
/* a <= b, closed. */
oracle_verdict oracle_at_most(oracle_span a, oracle_span b);
oracle_verdict oracle_in_range(const oracle_line *line, oracle_span t);
oracle_span oracle_around(double value, double error);
/* Final times of computed ones. */
oracle_span oracle_final(const oracle_line *line, oracle_span t);
/* HIT when every final time is finite as a float, MISS when none is. */
oracle_verdict oracle_finite(oracle_span final_t);
/* Computed time (plane - origin) * (1 / direction) of a plane across one axis; direction is not 0. */
oracle_span oracle_face_time(double plane, double origin, double direction);
/* The computed three-term product (a0 b0 + a1 b1) + a2 b2 and, in *error, how far it may be from the exact one;
 * `extra` is the relative error that the factors b bring along. */
double oracle_dot(const double a[3], const double b[3], double extra, double *error);
/* |f x direction|^2: how far the line through f passes the origin, times the direction's length, squared. */
double oracle_offset_square(const oracle_line *line, const double f[3]);

/* ---- oracle_slabs.c: boxes and oriented boxes ------------------------------ */

typedef struct oracle_axis {
  oracle_span near, far;      /* computed times of the two planes; -inf, inf: no constraint */
  double near_rise, far_rise; /* signed distances of the planes along the direction ... */
  double speed;               /* ... and how fast the ray runs: near = near_rise / speed */
  bool sound;                 /* the three are exact floats */
  int sign;                   /* of the direction; 0 unknown */
} oracle_axis;

/* False when certainly missed. */
bool oracle_box(const oracle_line *, const oracle_question *, const slab_box *, oracle_item *);
bool oracle_obb(const oracle_line *, const oracle_question *, const slab_obb *, oracle_item *);
/* Axes of a box or oriented box; false when an axis parallel to the ray excludes it. */
bool oracle_box_axes(const oracle_line *, const slab_box *, oracle_axis axis[3]);
bool oracle_obb_axes(const oracle_line *, const slab_obb *, oracle_axis axis[3]);
/* The axes whose near (far) plane may decide: bit i for axis i. */
unsigned oracle_near_axes(const oracle_axis axis[3]);
unsigned oracle_far_axes(const oracle_axis axis[3]);

/* Ends of the gate of a solid within `extent` of its centre: lo, the least far time, and hi, the greatest near one,
 * that its bounds can be computed to. The kernel pads the bounds, but by less than their times are rounded where the
 * solid is tiny and far away: then the clamp moves a crossing that is exact by the solid's own formulas. */
oracle_span oracle_bounds_ends(const oracle_line *, const float center[3], const double extent[3]);
/* An end of the stretch inside, as the gate may clamp it. */
void oracle_clamp(oracle_span gate, oracle_span *end);

/* ---- oracle_sphere.c, oracle_solid.c ---------------------------------------- */

typedef struct oracle_solid {
  oracle_verdict crosses; /* the whole line meets it */
  oracle_span near, far;
} oracle_solid;

bool oracle_sphere(const oracle_line *, const oracle_question *, const slab_sphere *, oracle_item *);
/* Picks the crossing (surfaces) or clips the stretch (solids). False when certainly missed. */
bool oracle_solid_item(const oracle_line *, const oracle_question *, const oracle_solid *, oracle_item *);

/* ---- oracle_surface.c: planes and triangles --------------------------------- */

bool oracle_plane(const oracle_line *, const oracle_question *, const slab_plane *, oracle_item *);

/* A triangle seen along the ray: vertices in shear space, edge i opposite of vertex i. */
typedef struct oracle_view {
  double x[3], y[3], ex[3], ey[3]; /* exact up to double rounding, and the kernel's error; 0: the kernel is exact */
  double rise[3];                  /* times of the vertices' planes across kz */
  double edge[3];                  /* signed areas, positive where the ray runs along cross(b - a, c - a) */
  double edge_error[3];            /* of the kernel's sign and value through its vertices */
  double edge_size[3];             /* |p| + |q| of the difference p - q */
  int sign[3];                     /* of the perturbed edge; 0 unknown */
  bool has_area;                   /* false: two vertices certainly coincide there */
} oracle_view;

bool oracle_triangle(const oracle_line *, const oracle_question *, const slab_triangle *, oracle_item *);
/* False when one coordinate alone shows a miss. */
bool oracle_triangle_view(const oracle_line *, const slab_triangle *, oracle_view *);
/* Sign of the edge from vertex j to k under the tie rule, for coordinates that are exact floats. */
int oracle_edge_sign(double xj, double yj, double xk, double yk);
/* The weights' least certain denominator: |sum of edges| less all errors; <= 0: no use. */
double oracle_view_area(const oracle_view *, double error[3], double *sum);

/* ---- oracle_patch.c ----------------------------------------------------------- */

/* Triangles joined by edges too close to the ray: between lo and hi of them are hit, in steps of `step`. */
typedef struct oracle_patch {
  uint32_t lo, hi, step;
} oracle_patch;

enum { ORACLE_PATCH_LIMIT = 128 };

/* Sets items' patch and fills patches; returns how many. More joinable triangles than the limit: none. */
uint32_t oracle_patches(const oracle_line *, oracle_item *items, size_t count,
                        oracle_patch patches[ORACLE_PATCH_LIMIT]);

/* ---- oracle_detail.c ----------------------------------------------------------- */

/* Normal, u and v of a reported hit; NULL when possible, else what is wrong. */
const char *oracle_detail(const oracle_line *, const oracle_question *, const oracle_item *, const slab_hit *);
/* Both items' kernels compute the same bits for t, whatever they are. */
bool oracle_same_t(const oracle_line *, const oracle_item *, const oracle_item *);

#endif
