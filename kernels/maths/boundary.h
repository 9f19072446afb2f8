/* Winding numbers of open meshes. The number of crossings (winding.h) depends on the ray's direction where a surface
 * ends. Each edge there adds a term that takes the dependence away: the angle at which it appears.
 *
 * An edge from a to b and the ray's opposite, -z, span a spherical triangle about the point. Projected from +z onto the
 * plane, a direction (x, y, z) of length l is (x, y) / (l - z), and -z is the origin. Half the triangle's solid angle
 * is the argument of 1 + conj(A) B for the projections A and B (Van Oosterom and Strackee 1983, with one corner there).
 * The number is crossings - sum of arguments / 2 pi (Martens, Trettner, Bessmeltsev 2026). Where the ray passes an edge
 * the argument jumps by 2 pi and a crossing comes or goes. So its sign must be that of the edge function exactly, ties
 * included.
 *
 * Take a chain of edges and the chord from its first to its last vertex. Far from both, and where the ray does not pass
 * between them, they differ by the solid angle of a patch. Its dipole, quadrupole and octupole approximate that.
 *
 * Terms are added as whole numbers, in units of 2^-28 turns: in any order, with equal bits. */
#ifndef MATHS_BOUNDARY_H
#define MATHS_BOUNDARY_H

#include "data/boundary.h"
#include "maths/crossing.h"
#include "maths/ray.h"

#ifdef __OPENCL_C_VERSION__
typedef long boundary_sum;
#else
typedef int64_t boundary_sum;
#endif

#define BOUNDARY_UNITS 0x1p28f
#define BOUNDARY_LEAST 0x1p-126f /* so that no division is by 0 */
/* The same of distances, whose squares vanish below it: directions stay below 2. */
#define BOUNDARY_NEAREST 0x1p-75f

/* ---- an edge ---- */

/* The projection of one end, (x, y) / s, with |x|, |y| and s at most 1. */
typedef struct boundary_end {
  real x, y, s;
} boundary_end;

/* (l - z) is (x^2 + y^2) / (l + z) where z > 0, so that nothing cancels. Right above the point x and y are those of the
 * moved point, seen from which the end lies towards -x. */
INLINE boundary_end boundary_end_of(const float p[3], GLOBAL const float *at) {
  const real x = lanes_load(at) - p[0], y = lanes_load(at + BOUNDARY_WIDTH) - p[1],
             z = lanes_load(at + 2 * BOUNDARY_WIDTH) - p[2];
  const mask above = z >= 0.0f;
  const real flat = lanes_max(lanes_abs(x), lanes_abs(y)), least = BOUNDARY_LEAST;
  const real length = lanes_sqrt(lanes_fma(z, z, lanes_fma(x, x, y * y)));
  const real sum = lanes_max(length + lanes_abs(z), least);
  const real size = lanes_divide((real)(1.0f), above ? lanes_max(flat, least) : sum);
  boundary_end end = {x * size, y * size, (real)(1.0f)};
  end.x = (above & (flat == 0.0f)) ? (real)(-1.0f) : end.x;
  end.s = above ? lanes_fma(end.x, end.x, end.y * end.y) * lanes_divide(flat, sum) : end.s;
  return end;
}

/* The argument of the complex number (along, across) in turns, of which the first half: 0 to 1/2. Off by 3e-8. */
INLINE real boundary_turns(real along, real across) {
  const real a = lanes_abs(along), b = lanes_abs(across);
  const mask steep = b > a;
  const real q = lanes_divide(steep ? a : b, lanes_max(steep ? b : a, (real)(BOUNDARY_LEAST))), z = q * q;
  const real zz = z * z; /* in pairs: each step waits for the one before */
  const real low = lanes_fma(zz, lanes_fma(z, (real)(-0x1.6aae3ep-6f), (real)(0x1.041012p-5f)),
                             lanes_fma(z, (real)(-0x1.b28dc8p-5f), (real)(0x1.45f2f8p-3f)));
  const real high = lanes_fma(zz, lanes_fma(z, (real)(-0x1.5253p-11f), (real)(0x1.c813acp-9f)),
                              lanes_fma(z, (real)(-0x1.2397dp-7f), (real)(0x1.f6dbcep-7f)));
  real sum = q * lanes_fma(zz * zz, high, low);
  sum = steep ? 0.25f - sum : sum;
  return along < 0.0f ? 0.5f - sum : sum;
}

/* The turns of edges, and those whose sign rounded numbers cannot tell though the argument is not near 0. */
INLINE real boundary_edges(const float p[3], GLOBAL const float *node, mask *unsure) {
  const boundary_end a = boundary_end_of(p, node + BOUNDARY_FROM * BOUNDARY_WIDTH),
                     b = boundary_end_of(p, node + BOUNDARY_TO * BOUNDARY_WIDTH);
  const real m = a.x * b.y, n = a.y * b.x, across = m - n, size = lanes_abs(m) + lanes_abs(n);
  const real along = lanes_fma(a.s, b.s, lanes_fma(a.x, b.x, a.y * b.y));
  const real error = lanes_fma(size, (real)(CROSSING_ERROR), (real)(CROSSING_FAINT));
  const real turns = boundary_turns(along, across);
  *unsure = (lanes_abs(across) <= error) & (along < size);
  return across < 0.0f ? -turns : turns;
}

/* ---- a chain from afar ---- */

/* Which children must be looked into: the point is near, or its ray may pass between edges and chord. terms: a chain's
 * terms less its chord's. */
INLINE mask boundary_patches(const float p[3], GLOBAL const float *node, real *terms) {
#define ROW(n) lanes_load(node + (n)*BOUNDARY_WIDTH)
  const real x = ROW(BOUNDARY_CENTER) - p[0], y = ROW(BOUNDARY_CENTER + 1) - p[1], z = ROW(BOUNDARY_CENTER + 2) - p[2];
  const real square = lanes_fma(z, z, lanes_fma(x, x, y * y)), reach = ROW(BOUNDARY_REACH);
  const real size = lanes_divide((real)(1.0f), lanes_max(lanes_sqrt(square), (real)(BOUNDARY_NEAREST)));
  const real i = x * size, j = y * size, k = z * size, scale = reach * size;
  const real dipole =
      lanes_fma(ROW(BOUNDARY_DIPOLE), i, lanes_fma(ROW(BOUNDARY_DIPOLE + 1), j, ROW(BOUNDARY_DIPOLE + 2) * k));
  const real ii = i * i, jj = j * j, kk = k * k;
  real four = ROW(BOUNDARY_QUADRUPOLE) * (ii - kk);
  four = lanes_fma(ROW(BOUNDARY_QUADRUPOLE + 1), jj - kk, four);
  const real mixed = lanes_fma(ROW(BOUNDARY_QUADRUPOLE + 2), j, ROW(BOUNDARY_QUADRUPOLE + 3) * k);
  four = lanes_fma(2.0f * i, mixed, four);
  four = lanes_fma(2.0f * j, ROW(BOUNDARY_QUADRUPOLE + 4) * k, four);
  const real three = 3.0f;
  const real of_x =
      lanes_fma(ROW(BOUNDARY_OCTUPOLE), ii - three * kk, ROW(BOUNDARY_OCTUPOLE + 1) * (three * (jj - kk)));
  const real of_y =
      lanes_fma(ROW(BOUNDARY_OCTUPOLE + 2), jj - three * kk, ROW(BOUNDARY_OCTUPOLE + 3) * (three * (ii - kk)));
  const real of_z =
      lanes_fma(ROW(BOUNDARY_OCTUPOLE + 4), three * ii - kk, ROW(BOUNDARY_OCTUPOLE + 5) * (three * jj - kk));
  real eight = ROW(BOUNDARY_OCTUPOLE + 6) * (6.0f * i * j * k);
  eight = lanes_fma(of_x, i, lanes_fma(of_y, j, lanes_fma(of_z, k, eight)));
  *terms = scale * scale * lanes_fma(scale, lanes_fma(scale, eight, four), dipole);
  const mask near = square <= reach * reach;
  const mask passes = !((ROW(BOUNDARY_LOWER) > p[0]) | (ROW(BOUNDARY_LOWER + 1) > p[1]) | (ROW(BOUNDARY_UPPER) < p[0]) |
                        (ROW(BOUNDARY_UPPER + 1) < p[1]) | (ROW(BOUNDARY_UPPER + 2) < p[2]));
  return (lanes_as_word(ROW(BOUNDARY_CHILD)) != 0) & (near | passes);
#undef ROW
}

/* ---- a node ---- */

/* In whole units, the half away from 0. */
INLINE mask boundary_units(real turns) {
  const real units = turns * BOUNDARY_UNITS;
  return lanes_to_int(units < 0.0f ? units - 0.5f : units + 0.5f);
}

/* The turns of a child whose sign rounded numbers cannot tell. An edge along z is left out: it has no angle. */
INLINE float boundary_exactly(const float p[3], GLOBAL const float *child, float turns) {
  float ends[2][3];
  for (uint i = 0; i < 6; i++) ends[i / 3][i % 3] = child[i * BOUNDARY_WIDTH];
  const float size = scalar_float(scalar_bits(turns) & 0x7FFFFFFFu);
  return slab_side(p, ends) < 0 ? -size : size;
}

/* Units of a node's first LANES children. into: which of them must be looked into, and count nothing here. */
INLINE mask boundary_children(const float p[3], GLOBAL const float *node, mask *into) {
  real terms = 0.0f;
  mask unsure;
  *into = (mask)0;
  if (lanes_any(lanes_as_word(lanes_load(node + BOUNDARY_CHILD * BOUNDARY_WIDTH)) != 0))
    *into = boundary_patches(p, node, &terms);
  real turns = boundary_edges(p, node, &unsure);
  unsure = unsure & !*into;
  if (lanes_any(unsure)) {
    float each[LANES];
    lanes_store(turns, each);
    for (uint bits = lanes_bits(unsure); bits != 0; bits &= bits - 1) {
      const uint lane = lowest_lane(bits);
      each[lane] = boundary_exactly(p, node + lane, each[lane]);
    }
    turns = lanes_from(each);
  }
  return boundary_units(*into ? (real)(0.0f) : turns + terms);
}

/* ---- answers ---- */

INLINE float boundary_answer(int winding, boundary_sum sum) {
  return (float)((boundary_sum)winding * (1 << 28) - sum) * (1.0f / BOUNDARY_UNITS);
}

#endif
