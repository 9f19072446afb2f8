/* The oracle's verdict on every pair of a ray and a primitive of its group, and the errors of a formulation against it.
 *
 * A ray may hit an edge or a vertex of a triangle exactly. Then a formulation may report a hit or a miss of one
 * triangle, since formulations assign the border differently. There only leaks and doubles over the whole mesh count as
 * errors. Boxes are closed: a box whose border the exact ray touches is hit. Pairs closer to the border than the
 * oracle's bound for float arithmetic, a few units in the last place, are undecided. */
#include "base/pool.h"
#include "check/oracle.h"
#include "check/oracle_parts.h"
#include "forms_sets.h"
#include "sets/shapes.h"

static oracle_verdict judge_pair(const forms_set *set, const float *shape, const slab_ray *ray) {
  const oracle_geometry geometry = {.kind = set->shape, .primitives = shape, .count = 1};
  double t[2];
  return oracle_decide(&geometry, 0, SLAB_ANY, ray, NULL, t);
}

/* Strictly inside of all edges, or strictly outside of one: HIT and MISS of the line, by more than any rounding. */
static oracle_verdict judge_edges(const slab_ray *ray, const slab_triangle *triangle) {
  oracle_line line;
  oracle_view view;
  bool left = false, right = false, open = false;
  if (oracle_line_prepare(ray, &line) != ORACLE_RAY_VALID) return ORACLE_MISS;
  if (!oracle_triangle_view(&line, triangle, &view)) return ORACLE_MISS;
  for (int i = 0; i < 3; i++) {
    const double band = view.edge_error[i] + 0x1p-51 * view.edge_size[i] + 0x1p-140;
    left = left || view.edge[i] > band;
    right = right || view.edge[i] < -band;
    open = open || !(view.edge[i] > band || view.edge[i] < -band);
  }
  if (left && right) return ORACLE_MISS;
  return open ? ORACLE_UNDECIDED : ORACLE_HIT;
}

static oracle_verdict judge(const forms_set *set, const float *shape, const slab_ray *ray) {
  if (set->shape == SLAB_BOX) return judge_pair(set, shape, ray);
  const oracle_verdict line = judge_edges(ray, (const slab_triangle *)shape);
  return line == ORACLE_HIT ? judge_pair(set, shape, ray) : line;
}

static void judge_ray(const forms_set *set, size_t i) {
  const size_t group = i / FORMS_RAYS_PER_GROUP;
  forms_truth *truth = &set->truth[i];
  truth->hit = truth->miss = 0;
  for (uint32_t p = 0; p < set->used[group]; p++) {
    const float *shape = set->shapes + (group * FORMS_GROUP + p) * shape_floats(set->shape);
    const oracle_verdict verdict = judge(set, shape, &set->ray[i]);
    if (verdict == ORACLE_HIT) truth->hit |= (uint16_t)(1u << p);
    if (verdict == ORACLE_MISS) truth->miss |= (uint16_t)(1u << p);
  }
}

enum { RAYS_A_PIECE = 1024 };

static void judge_some(void *argument, size_t first, size_t end) {
  for (size_t i = first; i < end; i++) judge_ray(argument, i);
}

void forms_judge(forms_set *set) { pool_loop(0, set->rays, RAYS_A_PIECE, judge_some, set); }

/* ---- errors ---- */

/* Whether both of some two boxes are hit that share a face in which the ray lies. */
static bool hits_both_sides(uint32_t shared, uint32_t bits) {
  static const uint32_t lower[3] = {0x55, 0x33, 0x0F}; /* of box x + 2y + 4z, those with x = 0, y = 0, z = 0 */
  bool both = false;
  for (int i = 0; i < 3; i++) both = both || ((shared >> i & 1) != 0 && (bits & bits >> (1 << i) & lower[i]) != 0);
  return both;
}

static void add_closed(const forms_truth *truth, uint32_t bits, forms_errors *e) {
  const bool many = (bits & (bits - 1)) != 0;
  if (truth->once) {
    e->closed++;
    e->leaks += bits == 0;
    e->doubles += many;
  } else if (truth->shared != 0 && truth->hit != 0) {
    e->closed++;
    e->leaks += bits == 0;
    e->doubles += hits_both_sides(truth->shared, bits);
  }
}

forms_errors forms_errors_of(const forms_set *set, const uint32_t *bits) {
  forms_errors e = {0};
  for (size_t i = 0; i < set->rays; i++) {
    const forms_truth *truth = &set->truth[i];
    const uint32_t found = bits[i] & ((1u << set->used[i / FORMS_RAYS_PER_GROUP]) - 1u);
    e.misses += (truth->hit & ~found) != 0;
    e.hits += (truth->miss & found) != 0;
    add_closed(truth, found, &e);
  }
  return e;
}

static unsigned ones(uint32_t bits) {
  unsigned n = 0;
  for (; bits != 0; bits &= bits - 1) n++;
  return n;
}

double forms_undecided(const forms_set *set) {
  double pairs = 0.0, decided = 0.0;
  for (size_t i = 0; i < set->rays; i++) {
    pairs += set->used[i / FORMS_RAYS_PER_GROUP];
    decided += ones((uint32_t)(set->truth[i].hit | set->truth[i].miss));
  }
  return 1.0 - decided / pairs;
}
