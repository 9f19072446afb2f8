/* The binary tree, from the root down; bounds and the costs of the collapse on the way back up. */
#include "build.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "parts.h"

/* Pairs of branches that a task took from the common supply. */
typedef struct supply {
  uint32_t next, end; /* taken and not yet used */
  uint32_t owed;      /* how many more the task may take: a subtree of n primitives has at most n - 1 pairs */
} supply;

enum { SUPPLY_PAIRS = 64 };

/* What one pass over the input tells. */
typedef struct survey {
  span centers, bounds; /* bounds: of the finite ones */
  uint32_t tags_or, tags_and;
} survey;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- references ---- */

#define COORDINATE_MOST 0x1p125f /* so that sums and differences of two stay finite */

static survey survey_empty(void) { return (survey){span_empty(), span_empty(), 0, ~0u}; }

static void survey_join(survey *s, const survey *other) {
  s->centers = span_join(s->centers, other->centers);
  s->bounds = span_join(s->bounds, other->bounds);
  s->tags_or |= other->tags_or;
  s->tags_and &= other->tags_and;
}

static bool is_moderate(const reference *r) {
  bool moderate = true;
  for (int axis = 0; axis < 3; axis++)
    moderate = moderate && r->lower[axis] >= -COORDINATE_MOST && r->upper[axis] <= COORDINATE_MOST;
  return moderate;
}

/* Bounds of what is finite, each coordinate on its own. */
static span finite_bounds(const reference *r) {
  span bounds = {r->side[0], r->side[1]};
  for (int axis = 0; axis < 3; axis++) {
    if (r->lower[axis] == -INFINITY) bounds.lower[axis] = isinf(r->upper[axis]) ? INFINITY : r->upper[axis];
    if (r->upper[axis] == INFINITY) bounds.upper[axis] = isinf(r->lower[axis]) ? -INFINITY : r->lower[axis];
  }
  return bounds;
}

static void take_references(builder *b, uint32_t first, uint32_t count, survey *seen) {
  const tree_input *input = b->input;
  for (uint32_t i = first; i < first + count; i++) {
    reference *r = &b->references[0][i];
    memcpy(r->lower, input->bounds[i].lower, sizeof r->lower);
    memcpy(r->upper, input->bounds[i].upper, sizeof r->upper);
    r->index = i;
    r->tag = input->kinds ? input->kinds[i] : 0;
    if (is_moderate(r)) {
      seen->bounds = span_join(seen->bounds, (span){r->side[0], r->side[1]});
      seen->centers = span_add(seen->centers, reference_center(r));
    } else {
      r->tag |= REFERENCE_CLAMPED;
      seen->bounds = span_join(seen->bounds, finite_bounds(r));
    }
    seen->tags_or |= r->tag;
    seen->tags_and &= r->tag;
  }
}

/* Bounds that are not finite, or too large, count as the ends of the others. */
static void clamp_references(builder *b, uint32_t first, uint32_t count, survey *seen) {
  for (uint32_t i = first; i < first + count; i++) {
    reference *r = &b->references[0][i];
    if (!(r->tag & REFERENCE_CLAMPED)) continue;
    for (int axis = 0; axis < 3; axis++) {
      r->lower[axis] = fminf(fmaxf(r->lower[axis], b->measure.least[axis]), b->measure.most[axis]);
      r->upper[axis] = fminf(fmaxf(r->upper[axis], b->measure.least[axis]), b->measure.most[axis]);
    }
    seen->centers = span_add(seen->centers, reference_center(r));
  }
}

typedef void survey_pass(builder *, uint32_t first, uint32_t count, survey *);

enum { SURVEY_CHUNK = 1 << 16 };

static uint32_t survey_chunks(uint32_t count) { return count / SURVEY_CHUNK + 1; }

static void survey_all(builder *b, survey_pass *pass, survey *chunks, survey *total) {
  const uint32_t count = b->input->count, n = survey_chunks(count);
  OMP(omp parallel num_threads(b->threads) if (n > 1)) {
    ARITHMETIC callers = arithmetic_begin();
    OMP(omp for schedule(dynamic))
    for (uint32_t i = 0; i < n; i++) {
      const uint32_t first = i * SURVEY_CHUNK, rest = count - first;
      chunks[i] = survey_empty();
      pass(b, first, rest < SURVEY_CHUNK ? rest : SURVEY_CHUNK, &chunks[i]);
    }
  }
  for (uint32_t i = 0; i < n; i++) survey_join(total, &chunks[i]);
}

/* Scenes without a finite z get the depth of their largest side, and no faces across z. */
static measure measure_scene(span bounds, const tree_leaves *leaves) {
  measure m = {.least = float4_max(bounds.lower, float4_all(-COORDINATE_MOST)),
               .most = float4_min(bounds.upper, float4_all(COORDINATE_MOST)),
               .faces = 1.0f,
               .scale = 1.0f,
               .together = (uint32_t)__builtin_ctz(leaves->together),
               .leaf_most = leaves->most,
               .leaf_cost = leaves->cost};
  float4 extent = m.most - m.least;
  float side = fmaxf(extent[0], extent[1]);
  if (!(extent[2] >= 0.0f)) {
    m.least[2] = 0.0f;
    m.most[2] = side;
    m.faces = 0.0f;
  } else {
    side = fmaxf(side, extent[2]);
  }
  if (side > 0.0f) m.scale = ldexpf(1.0f, 50 - (ilogbf(side) < -76 ? -76 : ilogbf(side)));
  return m;
}

/* The references, how to measure, and the bounds of all centres. */
static void survey_input(builder *b, const tree_leaves *leaves, survey *chunks, span *centers) {
  survey seen = survey_empty();
  survey_all(b, take_references, chunks, &seen);
  b->measure = measure_scene(seen.bounds, leaves);
  b->mixed = ((seen.tags_or ^ seen.tags_and) & BRANCH_KIND) != 0;
  if (seen.tags_or & REFERENCE_CLAMPED) survey_all(b, clamp_references, chunks, &seen);
  *centers = seen.centers;
}

/* ---- the tree ---- */

static uint32_t take_pairs(builder *b, uint32_t n) {
  uint32_t first;
  OMP(omp atomic capture) {
    first = b->next_pair;
    b->next_pair += n;
  }
  return first;
}

static uint32_t next_pair(builder *b, supply *s) {
  if (s->next == s->end) {
    const uint32_t n = s->owed < SUPPLY_PAIRS ? s->owed : SUPPLY_PAIRS;
    s->owed -= n;
    s->next = take_pairs(b, n);
    s->end = s->next + n;
  }
  return s->next++;
}

/* The kind of all, or BRANCH_MIXED. */
static uint32_t common_kind(const builder *b, const reference *r, uint32_t count) {
  uint32_t differ = 0;
  for (uint32_t i = 1; b->mixed && i < count; i++) differ |= (r[i].tag ^ r[0].tag) & BRANCH_KIND;
  return differ ? BRANCH_MIXED : r[0].tag & BRANCH_KIND;
}

/* As in the input, whatever was clamped since. */
static span input_span(const builder *b, const reference *r) {
  if (!(r->tag & REFERENCE_CLAMPED)) return (span){r->side[0], r->side[1]};
  const tree_bounds *bounds = &b->input->bounds[r->index];
  return (span){float4_xyz(bounds->lower), float4_xyz(bounds->upper)};
}

static void set_bounds(branch *to, span bounds) {
  for (int axis = 0; axis < 3; axis++) {
    to->lower[axis] = bounds.lower[axis];
    to->upper[axis] = bounds.upper[axis];
  }
}

static void finish_tip(builder *b, const stem *s, const reference *r, uint32_t kind) {
  branch *tip = &b->branches[s->branch];
  span bounds = span_empty();
  for (uint32_t i = 0; i < s->count; i++) {
    bounds = span_join(bounds, input_span(b, &r[i]));
    b->order[s->first + i] = r[i].index;
  }
  set_bounds(tip, bounds);
  tip->link = s->first;
  tip->count = s->count;
  tip->tag = kind | BRANCH_TIP;
  collapse_tip(&b->measure, tip);
}

void branch_finish(const builder *b, uint32_t at, uint32_t pair) {
  branch *whole = &b->branches[at];
  const branch *parts = &b->branches[2 * (size_t)pair];
  set_bounds(whole, span_join((span){float4_xyz(parts[0].lower), float4_xyz(parts[0].upper)},
                              (span){float4_xyz(parts[1].lower), float4_xyz(parts[1].upper)}));
  whole->link = pair;
  whole->count = parts[0].count + parts[1].count;
  const bool mixed = ((parts[0].tag ^ parts[1].tag) & BRANCH_KIND) || ((parts[0].tag | parts[1].tag) & BRANCH_MIXED);
  whole->tag = (parts[0].tag & BRANCH_KIND) | (mixed ? BRANCH_MIXED : 0);
  collapse_inner(&b->measure, whole, parts);
}

/* A branch's part of the tree is complete: the later of two siblings completes their parent, and so on up. Nobody waits
 * for anybody, since a thread that waits may only do what its own task has begun. */
static void complete(builder *b, uint32_t at) {
  while (at != 0) {
    at = b->footprints[at].nodes;
    uint32_t arrived;
    OMP(omp atomic capture seq_cst)
    arrived = ++b->footprints[at].blocks;
    if (arrived < 2) return;
    branch_finish(b, at, b->branches[at].link);
  }
}

static void grow(builder *b, supply *common, const stem *s);

/* One thread's work. */
static void grow_small(builder *b, supply *common, const stem *s) {
  stem parts[2];
  stem_divide(b, s, parts);
  const uint32_t pair = next_pair(b, common);
  for (uint32_t i = 0; i < 2; i++) {
    parts[i].branch = 2 * pair + i;
    grow(b, common, &parts[i]);
  }
  branch_finish(b, s->branch, pair);
}

/* The footprints, not filled in yet, tell a part its parent, and the parent how many of its parts are complete. */
static void grow_large(builder *b, const stem *s) {
  stem parts[2];
  stem_divide(b, s, parts);
  const uint32_t pair = take_pairs(b, 1);
  b->branches[s->branch].link = pair;
  b->footprints[s->branch].blocks = 0;
  for (uint32_t i = 0; i < 2; i++) {
    parts[i].branch = 2 * pair + i;
    b->footprints[parts[i].branch].nodes = s->branch;
  }
  const stem part = parts[1];
  OMP(omp task default(none) firstprivate(b, part))
  grow(b, NULL, &part);
  grow(b, NULL, &parts[0]);
}

/* common: NULL for what may be several threads' work. */
static void grow(builder *b, supply *common, const stem *s) {
  const reference *r = b->references[s->side] + s->first;
  const bool small = s->count < TASK_MIN;
  const uint32_t kind = s->count <= b->tip_most ? common_kind(b, r, s->count) : BRANCH_MIXED;
  supply own = {0, 0, s->count - 1};
  if (kind != BRANCH_MIXED)
    finish_tip(b, s, r, kind);
  else if (small)
    grow_small(b, common ? common : &own, s);
  else
    grow_large(b, s);
  if (common == NULL && small) complete(b, s->branch);
}

static bool builder_create(builder *b, tree_quality quality, const tree_input *input, int threads,
                           const tree_leaves *leaves) {
  static const int bins[] = {[TREE_FAST] = 16, [TREE_DEFAULT] = 16, [TREE_HIGH] = 32};
  static const uint32_t tip_most[] = {[TREE_FAST] = 8, [TREE_DEFAULT] = 8, [TREE_HIGH] = 4};
  const size_t count = input->count;
  *b = (builder){.input = input, .next_pair = 1, .bins = bins[quality], .threads = threads};
  b->tip_most = leaves->together < tip_most[quality] ? leaves->together : tip_most[quality];
#ifdef _OPENMP
  if (b->threads <= 0) b->threads = omp_get_max_threads();
#endif
  for (int i = 0; i < 2; i++) b->references[i] = tree_allocate(count, sizeof *b->references[i]);
  b->order = tree_allocate(count, sizeof *b->order);
  b->branches = tree_allocate(2 * count, sizeof *b->branches);
  b->footprints = tree_allocate(2 * count, sizeof *b->footprints);
  b->slots = tree_allocate(bin_slot_count(input->count), bin_slot_size());
  return b->references[0] && b->references[1] && b->order && b->branches && b->footprints && b->slots;
}

static void builder_free(builder *b) {
  for (int i = 0; i < 2; i++) free(b->references[i]);
  free(b->order);
  free(b->branches);
  free(b->footprints);
  free(b->slots);
  free(b->curve);
}

static bool build_branches(builder *b, tree_quality quality, const tree_leaves *leaves) {
  const uint32_t count = b->input->count;
  survey *chunks = tree_allocate(survey_chunks(count), sizeof *chunks);
  stem root = {.count = count};
  if (chunks == NULL) return false;
  survey_input(b, leaves, chunks, &root.centers);
  free(chunks);
  if (quality == TREE_FAST && !curve_sort(b, &root)) return false;
  OMP(omp parallel num_threads(b->threads) if (count >= TASK_MIN)) {
    ARITHMETIC callers = arithmetic_begin(); /* for the tasks of others too, taken while it waits for the single one */
    OMP(omp single)
    grow(b, NULL, &root);
  }
  return true;
}

/* A root without children. */
static bool build_nothing(tree *out) {
  out->nodes = tree_allocate(1, sizeof *out->nodes);
  if (out->nodes == NULL) return false;
  out->node_count = out->depth = 1;
  node_clear(out->nodes);
  return true;
}

static bool build_as(tree_quality quality, const tree_input *input, const tree_options *options, tree *out) {
  static const tree_leaves blocks = {TREE_WIDTH, TREE_LEAF_BLOCKS, TREE_COST_BLOCK};
  const tree_leaves *leaves = options->leaves.together == 0 ? &blocks : &options->leaves;
  builder b = {0};
  const bool built = builder_create(&b, quality, input, options->threads, leaves) &&
                     build_branches(&b, quality, leaves) && (quality != TREE_HIGH || reinsert(&b)) &&
                     wide_emit(&b, out);
  builder_free(&b);
  return built;
}

bool tree_build(const tree_input *input, const tree_options *options, tree *out) {
  const double start = now();
  *out = (tree){0};
  bool built = input->count == 0 ? build_nothing(out) : build_as(options->quality, input, options, out);
  if (built && out->depth > TREE_DEPTH_MAX) { /* by reinsertion: nothing else can */
    tree_free(out);
    built = build_as(TREE_DEFAULT, input, options, out);
  }
  out->seconds = now() - start;
  return built;
}

void tree_free(tree *t) {
  free(t->nodes);
  free(t->blocks);
  free(t->block_kinds);
  *t = (tree){0};
}
