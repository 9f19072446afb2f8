#include "kernels.h"

#include <stdint.h>

#include "native/native.h"
#include "police.h"

/* ---- kernels compiled for these tests ---- */

typedef void flat_cut(size_t, const slab_ray *, void *results, const uint32_t *offsets, const geometry_entry *,
                      const float *, const float *, const float *, const float *, const slab_primitive_id *skips,
                      volatile uint32_t *invalid, cast_uniforms);
typedef void wide_cut(size_t, const slab_ray *, void *results, const uint32_t *offsets, const geometry_entry *,
                      const float *, const float *, const float *, const float *, const slab_primitive_id *skips,
                      volatile uint32_t *invalid, cast_uniforms, const void *, const void *, const void *, const void *,
                      const uint8_t *fallback, const uint32_t *sorted);
typedef void compressed_cut(size_t, const slab_ray *, void *results, const uint32_t *offsets, const geometry_entry *,
                            const float *, const float *, const float *, const float *, const slab_primitive_id *skips,
                            volatile uint32_t *invalid, cast_uniforms, const void *, const void *, const void *,
                            const void *);
/* Of rays with masks and hits of their own. */
typedef void own_flat_cut(size_t, const slab_ray *, void *results, const uint32_t *offsets, const geometry_entry *,
                          const float *, const float *, const float *, const float *, const slab_primitive_id *skips,
                          volatile uint32_t *invalid, cast_uniforms, const uint32_t *masks, const slab_short_hit *after,
                          const uint32_t *worlds);
typedef void own_wide_cut(size_t, const slab_ray *, void *results, const uint32_t *offsets, const geometry_entry *,
                          const float *, const float *, const float *, const float *, const slab_primitive_id *skips,
                          volatile uint32_t *invalid, cast_uniforms, const void *, const void *, const void *,
                          const void *, const uint8_t *fallback, const uint32_t *sorted, const uint32_t *masks,
                          const slab_short_hit *after, const uint32_t *worlds);
typedef void own_compressed_cut(size_t, const slab_ray *, void *results, const uint32_t *offsets,
                                const geometry_entry *, const float *, const float *, const float *, const float *,
                                const slab_primitive_id *skips, volatile uint32_t *invalid, cast_uniforms, const void *,
                                const void *, const void *, const void *, const uint32_t *masks,
                                const slab_short_hit *after, const uint32_t *worlds);
/* Points. */
typedef void points_flat_cut(size_t, const float *points, void *results, const uint32_t *order, const float *radii,
                             const uint32_t *masks, const uint32_t *worlds, volatile uint32_t *invalid,
                             const geometry_entry *, const float *, const float *, const float *, const float *,
                             cast_uniforms, float radius);
typedef void points_tree_cut(size_t, const float *points, void *results, const uint32_t *order, const float *radii,
                             const uint32_t *masks, const uint32_t *worlds, volatile uint32_t *invalid,
                             const geometry_entry *, const float *, const float *, const float *, const float *,
                             cast_uniforms, float radius, const void *, const void *, const void *, const void *,
                             uint32_t collapsed_root);
typedef void refit_places(size_t, const uint32_t *blocks, uint32_t *places, uint32_t count);
typedef void refit_triangles(size_t, const uint32_t *vertices, const uint32_t *indices, const uint32_t *places,
                             uint32_t *blocks, uint32_t global_id_base, uint32_t count);
typedef void refit_nodes(size_t, const compressed_node *from, compressed_node *to, const float *blocks,
                         const uint32_t *order, refitted_node *refitted, uint32_t first, uint32_t end, refit_costs);

uint32_t pretended_part_units, pretended_part_nodes;

/* As tests/pretended/CMakeLists.txt names them. */
#define QUERIES(X) X(0) X(1) X(2) X(3) X(4) X(5)
#define DECLARE_CUT(query)                     \
  extern flat_cut pretended_flat_cut_q##query; \
  extern wide_cut pretended_wide_cut_q##query; \
  extern compressed_cut pretended_compressed_cut_q##query;
QUERIES(DECLARE_CUT)
extern own_flat_cut pretended_flat_cut_own;
extern own_wide_cut pretended_wide_cut_own;
extern own_compressed_cut pretended_compressed_cut_own;
extern points_flat_cut pretended_points_flat_cut_q0, pretended_points_flat_cut_q3;
extern points_tree_cut pretended_points_wide_cut_q0, pretended_points_wide_cut_q3, pretended_points_compressed_cut_q0,
    pretended_points_compressed_cut_q3;
extern native_wide pretended_wide_whole_q4, pretended_wide_placed_q4;
extern native_own_wide pretended_wide_whole_own, pretended_wide_placed_own;
extern refit_places pretended_places_there;
extern refit_triangles pretended_triangles_there;
extern refit_nodes pretended_nodes_there;

static flat_cut *const flats_cut[] = {
#define FLAT_CUT(query) pretended_flat_cut_q##query,
    QUERIES(FLAT_CUT)};
static wide_cut *const wides_cut[] = {
#define WIDE_CUT(query) pretended_wide_cut_q##query,
    QUERIES(WIDE_CUT)};
static compressed_cut *const compressed_ones_cut[] = {
#define COMPRESSED_CUT(query) pretended_compressed_cut_q##query,
    QUERIES(COMPRESSED_CUT)};

/* ---- the processor's own kernels ---- */

static native_kernel native_of(const program_key *key, native_program program) {
  const native_level *level = native_levels;
  while (level->lanes != 1) level++;
  const uint32_t query = key->own ? QUERY_TOLD : (uint32_t)key->query;
  const native_kinds kinds = key->own         ? (key->instances ? KINDS_own_instances : KINDS_own)
                             : key->instances ? KINDS_instances
                                              : KINDS_all;
  for (const native_variant *v = level->variants; v->program != NATIVE_END; v++)
    if (v->program == program && v->query == query && v->kinds == kinds) return v->kernel;
  police_ends_with("there is no kernel %s", kernels_name(key, 0));
}

static bool of_points(const program_key *key) {
  return key->source == PROGRAM_POINTS_FLAT || key->source == PROGRAM_POINTS_WIDE ||
         key->source == PROGRAM_POINTS_COMPRESSED;
}

/* Of a program that is not cut, and no refit. */
static native_kernel whole_of(const program_key *key) {
  const bool lists = key->source == PROGRAM_WIDE && key->query == SLAB_ALL;
  if (lists && key->own)
    return (native_kernel){.own_wide = key->instances ? pretended_wide_placed_own : pretended_wide_whole_own};
  if (lists) return (native_kernel){.wide = key->instances ? pretended_wide_placed_q4 : pretended_wide_whole_q4};
  return native_of(key, key->source == PROGRAM_FLAT                ? NATIVE_FLAT
                        : key->source == PROGRAM_WIDE              ? NATIVE_WIDE
                        : key->source == PROGRAM_PAIRS             ? NATIVE_PAIRS
                        : key->source == PROGRAM_RAYS              ? NATIVE_RAYS
                        : key->source == PROGRAM_SUMS              ? NATIVE_SUMS
                        : key->source == PROGRAM_BOUNDARY          ? NATIVE_BOUNDARY
                        : key->source == PROGRAM_POINTS_FLAT       ? NATIVE_POINTS_FLAT
                        : key->source == PROGRAM_POINTS_WIDE       ? NATIVE_POINTS_WIDE
                        : key->source == PROGRAM_POINTS_COMPRESSED ? NATIVE_POINTS_COMPRESSED
                                                                   : NATIVE_COMPRESSED);
}

bool kernels_has(const program_key *key, uint32_t nth) {
  const bool casts = key->source == PROGRAM_FLAT || key->source == PROGRAM_WIDE || key->source == PROGRAM_COMPRESSED;
  if (key->cut && key->instances) return false;
  if (key->source == PROGRAM_REFIT) return nth <= KERNEL_NODES;
  return nth == 0 && (casts || of_points(key) || program_is_alone(key->source));
}

const char *kernels_name(const program_key *key, uint32_t nth) {
  static const char *const refits[] = {"places", "triangles", "nodes"};
  static const char *const names[] = {"flat", "wide", "compressed", "packets",     "attributes",  "pairs",
                                      "rays", "sums", "boundary",   "points_flat", "points_wide", "points_compressed"};
  return key->source == PROGRAM_REFIT ? refits[nth % 3] : names[key->source];
}

/* ---- parameters ---- */

static void add(kernel_made *k, parameter_kind kind, size_t size, int times) {
  while (times-- > 0) k->parameters[k->count++] = (parameter){kind, size};
}

static void describe_cast(kernel_made *k) {
  const program_key *key = &k->program.key;
  const int buffers = key->cut ? 4 : 1;
  add(k, READS, 0, 1);              /* rays */
  add(k, WRITES, 0, 1);             /* results */
  add(k, MAY_READ, 0, 1);           /* offsets */
  add(k, READS, 0, 1);              /* the table */
  add(k, READS, 0, 1);              /* blocks */
  add(k, MAY_READ, 0, buffers - 1); /* and more of them */
  add(k, MAY_READ, 0, 1);           /* skips */
  add(k, MAY_WRITE, 0, 1);          /* the count of invalid rays */
  add(k, VALUE, sizeof(cast_uniforms), 1);
  if (key->source != PROGRAM_FLAT) {
    add(k, READS, 0, 1); /* nodes */
    add(k, MAY_READ, 0, buffers - 1);
  }
  if (key->source == PROGRAM_WIDE) add(k, MAY_READ, 0, 2); /* rays that packets left, and the order */
  if (key->own) add(k, MAY_READ, 0, 3);                    /* masks, hits to begin after, worlds */
}

static void describe_points(kernel_made *k) {
  const program_key *key = &k->program.key;
  const int buffers = key->cut ? 4 : 1;
  add(k, READS, 0, 1);              /* points */
  add(k, WRITES, 0, 1);             /* results */
  add(k, MAY_READ, 0, 4);           /* order, radii, masks, worlds */
  add(k, MAY_WRITE, 0, 1);          /* the count of invalid points */
  add(k, READS, 0, 2);              /* the table, blocks */
  add(k, MAY_READ, 0, buffers - 1); /* and more of them */
  add(k, VALUE, sizeof(cast_uniforms), 1);
  add(k, VALUE, sizeof(float), 1); /* the radius */
  if (key->source == PROGRAM_POINTS_FLAT) return;
  add(k, READS, 0, 1); /* nodes */
  add(k, MAY_READ, 0, buffers - 1);
  add(k, VALUE, sizeof(uint32_t), 1); /* the other root */
}

static void describe_refit(kernel_made *k) {
  static const char *const texts[] = {"rwv", "rorwvv", "rwrrwvvc"}; /* places, triangles, nodes */
  for (const char *at = texts[k->nth]; *at != 0; at++)
    add(k,
        *at == 'r'   ? READS
        : *at == 'o' ? MAY_READ
        : *at == 'w' ? WRITES
                     : VALUE,
        *at == 'v'   ? sizeof(uint32_t)
        : *at == 'c' ? sizeof(refit_costs)
                     : 0,
        1);
}

void kernels_describe(kernel_made *k) {
  k->count = 0;
  if (k->program.key.source == PROGRAM_REFIT) {
    describe_refit(k);
  } else if (k->program.key.source == PROGRAM_PAIRS) {
    add(k, READS, 0, 2);
    add(k, WRITES, 0, 1);
    add(k, VALUE, sizeof(uint32_t), 3);
  } else if (k->program.key.source == PROGRAM_RAYS) {
    add(k, MAY_READ, 0, 3);
    add(k, WRITES, 0, 1);
    add(k, VALUE, sizeof(ray_set), 1);
    add(k, VALUE, sizeof(uint32_t), 4);
  } else if (k->program.key.source == PROGRAM_SUMS) {
    add(k, READS, 0, 2);
    add(k, MAY_READ, 0, 1);
    add(k, READS, 0, 1);
    add(k, WRITES, 0, 1);
    add(k, VALUE, sizeof(ray_sums), 1);
    add(k, VALUE, sizeof(uint32_t), 3);
  } else if (k->program.key.source == PROGRAM_BOUNDARY) {
    add(k, READS, 0, 1);
    add(k, WRITES, 0, 1);
    add(k, MAY_READ, 0, 3);
    add(k, READS, 0, 2);
    add(k, VALUE, sizeof(uint32_t), 4);
  } else if (of_points(&k->program.key)) {
    describe_points(k);
  } else {
    describe_cast(k);
  }
}

/* ---- running ---- */

/* Its nth argument, a buffer; NULL: none. */
static void *at(const kernel_call *c, uint32_t nth) {
  return c->buffers[nth] == NULL ? NULL : c->buffers[nth]->pages.bytes;
}
static uint32_t number(const kernel_call *c, uint32_t nth) { return *(const uint32_t *)(const void *)c->values[nth]; }

/* The arguments of all casts, in their order: A, and from `more` on those after the first blocks. */
#define CAST_BEGIN(c) item, at(c, 0), at(c, 1), at(c, 2), at(c, 3), at(c, 4)
#define CAST_END(c, more) at(c, more), at(c, (more) + 1), *(const cast_uniforms *)(const void *)(c)->values[0]
#define CUT(c, from) at(c, from), at(c, (from) + 1), at(c, (from) + 2), at(c, (from) + 3)

static void run_own(const kernel_call *c, native_kernel own, size_t item) {
  const program_source source = c->program.key.source;
  if (source == PROGRAM_FLAT)
    own.own_flat(CAST_BEGIN(c), CAST_END(c, 5), at(c, 8), at(c, 9), at(c, 10));
  else if (source == PROGRAM_WIDE)
    own.own_wide(CAST_BEGIN(c), CAST_END(c, 5), at(c, 8), at(c, 9), at(c, 10), at(c, 11), at(c, 12), at(c, 13));
  else
    own.own_compressed(CAST_BEGIN(c), CAST_END(c, 5), at(c, 8), at(c, 9), at(c, 10), at(c, 11));
}

static void run_whole(const kernel_call *c, native_kernel own, size_t item) {
  const program_source source = c->program.key.source;
  if (source == PROGRAM_FLAT)
    own.flat(CAST_BEGIN(c), CAST_END(c, 5));
  else if (source == PROGRAM_WIDE)
    own.wide(CAST_BEGIN(c), CAST_END(c, 5), at(c, 8), at(c, 9), at(c, 10));
  else if (source == PROGRAM_COMPRESSED)
    own.compressed(CAST_BEGIN(c), CAST_END(c, 5), at(c, 8));
  else if (source == PROGRAM_RAYS)
    own.rays(item, at(c, 0), at(c, 1), at(c, 2), at(c, 3), *(const ray_set *)(const void *)c->values[0], number(c, 1),
             number(c, 2), number(c, 3), number(c, 4));
  else if (source == PROGRAM_SUMS)
    own.sums(item, at(c, 0), at(c, 1), at(c, 2), at(c, 3), at(c, 4), *(const ray_sums *)(const void *)c->values[0],
             number(c, 1), number(c, 2), number(c, 3));
  else if (source == PROGRAM_BOUNDARY)
    own.boundary(item, at(c, 0), at(c, 1), at(c, 2), at(c, 3), at(c, 4), at(c, 5), at(c, 6), number(c, 0), number(c, 1),
                 number(c, 2), number(c, 3));
  else
    own.pairs(item, at(c, 0), at(c, 1), at(c, 2), number(c, 0), number(c, 1), number(c, 2));
}

/* The arguments of points, in their order. */
#define POINTS_BEGIN(c) item, at(c, 0), at(c, 1), at(c, 2), at(c, 3), at(c, 4), at(c, 5), at(c, 6), at(c, 7), at(c, 8)
#define POINTS_END(c) *(const cast_uniforms *)(const void *)(c)->values[0], *(const float *)(const void *)(c)->values[1]

static void run_points(const kernel_call *c, native_kernel own, size_t item) {
  if (c->program.key.source == PROGRAM_POINTS_FLAT)
    own.points_flat(POINTS_BEGIN(c), POINTS_END(c));
  else if (c->program.key.source == PROGRAM_POINTS_WIDE)
    own.points_wide(POINTS_BEGIN(c), POINTS_END(c), at(c, 11), number(c, 2));
  else
    own.points_compressed(POINTS_BEGIN(c), POINTS_END(c), at(c, 11), number(c, 2));
}

static points_tree_cut *tree_cut_of(const program_key *key) {
  const bool winds = key->query == SLAB_COUNT;
  if (key->source == PROGRAM_POINTS_WIDE) return winds ? pretended_points_wide_cut_q3 : pretended_points_wide_cut_q0;
  return winds ? pretended_points_compressed_cut_q3 : pretended_points_compressed_cut_q0;
}

static void run_points_cut(const kernel_call *c, native_kernel unused, size_t item) {
  const program_key *key = &c->program.key;
  (void)unused;
  if (key->source == PROGRAM_POINTS_FLAT)
    (key->query == SLAB_COUNT ? pretended_points_flat_cut_q3 : pretended_points_flat_cut_q0)(
        POINTS_BEGIN(c), at(c, 9), at(c, 10), at(c, 11), POINTS_END(c));
  else
    tree_cut_of(key)(POINTS_BEGIN(c), at(c, 9), at(c, 10), at(c, 11), POINTS_END(c), CUT(c, 14), number(c, 2));
}

static void run_own_cut(const kernel_call *c, native_kernel unused, size_t item) {
  (void)unused;
  const program_source source = c->program.key.source;
  if (source == PROGRAM_FLAT)
    pretended_flat_cut_own(CAST_BEGIN(c), at(c, 5), at(c, 6), at(c, 7), CAST_END(c, 8), at(c, 11), at(c, 12),
                           at(c, 13));
  else if (source == PROGRAM_WIDE)
    pretended_wide_cut_own(CAST_BEGIN(c), at(c, 5), at(c, 6), at(c, 7), CAST_END(c, 8), CUT(c, 11), at(c, 15),
                           at(c, 16), at(c, 17), at(c, 18), at(c, 19));
  else
    pretended_compressed_cut_own(CAST_BEGIN(c), at(c, 5), at(c, 6), at(c, 7), CAST_END(c, 8), CUT(c, 11), at(c, 15),
                                 at(c, 16), at(c, 17));
}

static void run_cut(const kernel_call *c, native_kernel unused, size_t item) {
  (void)unused;
  const program_key *key = &c->program.key;
  if (key->source == PROGRAM_FLAT)
    flats_cut[key->query](CAST_BEGIN(c), at(c, 5), at(c, 6), at(c, 7), CAST_END(c, 8));
  else if (key->source == PROGRAM_WIDE)
    wides_cut[key->query](CAST_BEGIN(c), at(c, 5), at(c, 6), at(c, 7), CAST_END(c, 8), CUT(c, 11), at(c, 15),
                          at(c, 16));
  else
    compressed_ones_cut[key->query](CAST_BEGIN(c), at(c, 5), at(c, 6), at(c, 7), CAST_END(c, 8), CUT(c, 11));
}

static void run_refit(const kernel_call *c, native_kernel unused, size_t item) {
  (void)unused;
  if (c->nth == KERNEL_PLACES)
    pretended_places_there(item, at(c, 0), at(c, 1), number(c, 0));
  else if (c->nth == KERNEL_TRIANGLES)
    pretended_triangles_there(item, at(c, 0), at(c, 1), at(c, 2), at(c, 3), number(c, 0), number(c, 1));
  else
    pretended_nodes_there(item, at(c, 0), at(c, 1), at(c, 2), at(c, 3), at(c, 4), number(c, 0), number(c, 1),
                          *(const refit_costs *)(const void *)c->values[2]);
}

typedef void runner(const kernel_call *, native_kernel, size_t item);

static runner *runner_of(const program_key *key) {
  if (key->source == PROGRAM_REFIT) return run_refit;
  if (of_points(key)) return key->cut ? run_points_cut : run_points;
  if (key->own) return key->cut ? run_own_cut : run_own;
  return key->cut ? run_cut : run_whole;
}

void kernels_run(const kernel_call *c) {
  const program_key *key = &c->program.key;
  const bool whole = key->source != PROGRAM_REFIT && !key->cut;
  runner *const run = runner_of(key);
  const native_kernel own = whole ? whole_of(key) : (native_kernel){0};
  for (uint32_t i = 0; i < KERNEL_ARGUMENTS; i++)
    if (c->buffers[i] != NULL) buffers_for_kernel(c->buffers[i], c->writes[i], c->name);
  pretended_part_units = c->program.part_units;
  pretended_part_nodes = c->program.part_nodes;
  police_kernel_begins(c->name);
  for (size_t i = 0; i < c->items; i++) run(c, own, (i * c->step + c->first) % c->items);
  police_kernel_ends();
  for (uint32_t i = 0; i < KERNEL_ARGUMENTS; i++)
    if (c->buffers[i] != NULL) pages_protect(&c->buffers[i]->pages, false);
}

_Static_assert(sizeof(gpu_value) <= KERNEL_VALUE && sizeof(kernel_made) <= 6144, "there is space for arguments");
