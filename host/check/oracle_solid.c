/* Computes the contract's answers from the two ends of a line's interval inside a solid. */
#include "check/oracle_parts.h"

/* The crossing is near if near >= t_min, otherwise far. Then the range is tested. Culling removes one of the two. */
static oracle_verdict pick_crossing(const oracle_line *line, slab_cull cull, const oracle_solid *solid,
                                    oracle_item *item) {
  const oracle_verdict starts = oracle_at_most(line->t_min, solid->near);
  const oracle_verdict near_in = oracle_at_most(solid->near, line->t_max), far_in = oracle_in_range(line, solid->far);
  item->side = starts == ORACLE_HIT ? ORACLE_NEAR : starts == ORACLE_MISS ? ORACLE_FAR : ORACLE_EITHER;
  if (cull == SLAB_CULL_BACK) item->side = ORACLE_NEAR;
  if (cull == SLAB_CULL_FRONT) item->side = ORACLE_FAR;
  item->t = item->side == ORACLE_FAR ? solid->far : solid->near;
  if (cull == SLAB_CULL_BACK) return oracle_both(starts, near_in);
  if (item->side == ORACLE_FAR) return far_in;
  if (item->side == ORACLE_NEAR) return near_in;
  item->t.hi = fmax(solid->near.hi, solid->far.hi);
  return near_in == ORACLE_MISS && far_in == ORACLE_MISS ? ORACLE_MISS : ORACLE_UNDECIDED;
}

/* max(near, t_min) and min(far, t_max). An end that is clipped is reported as the ray gave it. Where rounding may put
 * the far end before the near one or before t_min, a kernel may report either. */
static void clip_interval(const oracle_line *line, const oracle_solid *solid, oracle_item *item) {
  const oracle_span near = oracle_final(line, solid->near), far = oracle_final(line, solid->far);
  item->t.lo = solid->near.lo <= line->t_min.hi ? line->min_back.lo : near.lo;
  item->t.hi = solid->near.lo <= line->t_min.hi ? fmax(near.hi, line->min_back.hi) : near.hi;
  if (solid->near.hi <= line->t_min.lo) item->t.hi = line->min_back.hi;
  item->leave.hi = solid->far.hi >= line->t_max.lo ? line->max_back.hi : far.hi;
  item->leave.lo = solid->far.lo >= line->t_max.hi ? line->max_back.lo : fmin(far.lo, line->max_back.hi);
  if (oracle_finite(item->leave) != ORACLE_HIT) item->leave.hi = INFINITY;
  if (item->leave.lo < item->t.hi) item->leave.hi = fmax(item->leave.hi, item->t.hi);
}

static oracle_verdict stretch(const oracle_line *line, const oracle_solid *solid, oracle_item *item) {
  const oracle_verdict starts = oracle_at_most(solid->near, line->t_max);
  const oracle_verdict ends = oracle_at_most(line->t_min, solid->far); /* as reported: not widened */
  item->side = ORACLE_NEAR;
  clip_interval(line, solid, item);
  oracle_verdict finite = ORACLE_HIT;
  if (solid->near.hi > line->t_min.lo) finite = oracle_finite(item->t);
  if (solid->far.lo < line->t_max.hi && oracle_finite(oracle_final(line, solid->far)) != ORACLE_HIT)
    finite = oracle_both(finite, ORACLE_UNDECIDED);
  return oracle_both(finite, oracle_both(starts, ends));
}

bool oracle_solid_item(const oracle_line *line, const oracle_question *question, const oracle_solid *solid,
                       oracle_item *item) {
  if (solid->crosses == ORACLE_MISS) return false;
  if (question->solid) {
    item->verdict = oracle_both(solid->crosses, stretch(line, solid, item));
  } else {
    item->verdict = oracle_both(solid->crosses, pick_crossing(line, question->cull, solid, item));
    item->t = oracle_final(line, item->t);
    item->verdict = oracle_both(item->verdict, oracle_finite(item->t));
  }
  return item->verdict != ORACLE_MISS;
}

/* ---- padded bounds ---------------------------------------------------------------- */

oracle_span oracle_bounds_ends(const oracle_line *line, const float center[3], const double extent[3]) {
  oracle_span ends = {INFINITY, -INFINITY};
  for (int j = 0; j < 3; j++) {
    const double d = line->direction[j], side = d > 0.0 ? extent[j] : -extent[j];
    if (d == 0.0) continue;
    ends.lo = fmin(ends.lo, oracle_face_time((double)center[j] + side, line->origin[j], d).lo);
    ends.hi = fmax(ends.hi, oracle_face_time((double)center[j] - side, line->origin[j], d).hi);
  }
  return ends;
}

void oracle_clamp(oracle_span gate, oracle_span *end) {
  end->lo = fmin(end->lo, gate.lo);
  end->hi = fmax(end->hi, gate.hi);
}
