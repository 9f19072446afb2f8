#include "scene/models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/extremes.h"
#include "base/pool.h"
#include "base/status.h"
#include "bvh/memory.h"
#include "device/context.h"
#include "layout/layout.h"
#include "maths/primitive.h"
#include "os/thread.h"
#include "scene/scene.h"
#include "shapes/values.h"

_Static_assert(sizeof(instance_entry) == BLOCK_UNIT * sizeof(float), "an instance takes a BLOCK_UNIT");
_Static_assert(sizeof(model_entry) == BLOCK_UNIT * sizeof(float), "a model takes a BLOCK_UNIT");

enum { INSTANCES_A_PIECE = 1024, PRIMITIVES_A_PIECE = 1 << 14 };

/* ---- transforms ---- */

#define SKEW_MOST 4096.0 /* of || |A| |B| ||: scaling, then turning has at most 3 */
#define SCALE_MOST 0x1p60

/* The inverse by the adjugate, in double. False where the determinant is 0 or something is not finite. */
static bool inverse_of(const double a[9], double inverse[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const int r = (j + 1) % 3, s = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
      inverse[3 * i + j] = a[3 * r + c] * a[3 * s + d] - a[3 * r + d] * a[3 * s + c];
    }
  const double determinant = a[0] * inverse[0] + a[1] * inverse[3] + a[2] * inverse[6];
  if (!(fabs(determinant) > 0.0) || !isfinite(determinant)) return false;
  bool finite = true;
  for (int i = 0; i < 9; i++) {
    inverse[i] /= determinant;
    finite = finite && isfinite(inverse[i]);
  }
  return finite;
}

/* || |A| |B| || in the norm of the largest row. */
static double skew_of(const double a[9], const double b[9]) {
  double skew = 0.0;
  for (int i = 0; i < 3; i++) {
    double row = 0.0;
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) row += fabs(a[3 * i + k]) * fabs(b[3 * k + j]);
    skew = greater(skew, row);
  }
  return skew;
}

static double largest_of(const double m[9]) {
  double largest = 0.0;
  for (int i = 0; i < 9; i++) largest = greater(largest, fabs(m[i]));
  return largest;
}

/* A linear map and its inverse. */
typedef struct linear {
  double a[9], b[9];
} linear;

/* Why a map is refused; NULL: it is not. */
static const char *linear_refusal(const linear *m, double *value) {
  *value = largest_of(m->a);
  if (*value > SCALE_MOST) return "scales by more than 2^60";
  *value = largest_of(m->b);
  if (*value > SCALE_MOST) return "scales by less than 2^-60, inversely";
  *value = skew_of(m->a, m->b);
  return *value <= SKEW_MOST ? NULL : "is too skew: |A| |B| beyond 4096";
}

static const char *transform_refusal(const float t[12], instance_entry *made, double *value) {
  linear m;
  for (int i = 0; i < 12; i++) {
    *value = t[i];
    if (!is_within(t[i], i % 4 == 3 ? COORDINATE_MAX : FLOAT_MAX)) return "is not finite, or moves beyond 2^60";
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) m.a[3 * i + j] = t[4 * i + j];
    made->place[i] = t[4 * i + 3];
  }
  *value = 0.0;
  if (!inverse_of(m.a, m.b)) return "is singular: its determinant";
  for (int i = 0; i < 9; i++) made->inverse[i] = (float)m.b[i];
  return linear_refusal(&m, value);
}

/* n instances, not filled in, which retain the model. NULL: memory is short. */
static instance_group *group_create(slab_scene *model, uint32_t geometries, uint32_t n, uint32_t visible) {
  instance_group *made = malloc(sizeof *made + (size_t)n * sizeof *made->instances);
  if (made == NULL) return NULL;
  *made = (instance_group){.references = 1, .count = n, .mask = visible, .model = model, .geometries = geometries};
  scene_retain(model);
  return made;
}

static slab_status fail_group(uint32_t n) {
  return fail_memory(sizeof(instance_group) + (size_t)n * sizeof(instance_entry), "instances");
}

typedef struct transforms_taking {
  const float *from;
  instance_group *to;
  atomic_uint refused; /* the first, or the count */
} transforms_taking;

static void take_some(void *argument, size_t first, size_t end) {
  transforms_taking *t = argument;
  for (size_t i = first; i < end; i++) {
    double value;
    t->to->instances[i] = (instance_entry){.model = 0};
    if (transform_refusal(t->from + 12 * i, &t->to->instances[i], &value) == NULL) continue;
    for (unsigned refused = atomic_load(&t->refused); i < refused;)
      if (atomic_compare_exchange_weak(&t->refused, &refused, (unsigned)i)) break;
    return;
  }
}

static slab_status take_transforms(const char *function, const float *transforms, instance_group *to) {
  transforms_taking t = {.from = transforms, .to = to, .refused = to->count};
  pool_loop(to->model->context->threads, to->count, INSTANCES_A_PIECE, take_some, &t);
  if (t.refused == to->count) return SLAB_OK;
  double value;
  const char *why = transform_refusal(transforms + 12 * (size_t)t.refused, &to->instances[t.refused], &value);
  return fail(SLAB_INVALID_ARGUMENT, "%s: transform %u %s (%g)", function, t.refused, why, value);
}

/* ---- transforms in each other ---- */

/* The map of an instance as it is kept. */
static linear linear_of(const instance_entry *of) {
  linear m;
  for (int i = 0; i < 9; i++) m.b[i] = of->inverse[i];
  if (!inverse_of(m.b, m.a)) m.a[0] = INFINITY;
  return m;
}

static void multiply(const double l[9], const double r[9], double product[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      product[3 * i + j] = l[3 * i] * r[j] + l[3 * i + 1] * r[3 + j] + l[3 * i + 2] * r[6 + j];
}

static linear linear_within(const linear *outer, const linear *inner) {
  linear m;
  multiply(outer->a, inner->a, m.a);
  multiply(inner->b, outer->b, m.b);
  return m;
}

static double norm_of(const double m[9]) {
  double most = 0.0;
  for (int i = 0; i < 3; i++) most = greater(most, fabs(m[3 * i]) + fabs(m[3 * i + 1]) + fabs(m[3 * i + 2]));
  return most;
}

/* Norms are submultiplicative: || |A A'| |B' B| || <= ||A|| || |A'| |B'| || ||B||. */
static transform_reach reach_within(const linear *outer, const transform_reach *inner) {
  const double a = norm_of(outer->a), b = norm_of(outer->b);
  return (transform_reach){a * inner->a, b * inner->b, a * inner->skew * b};
}

static transform_reach farther(transform_reach r, transform_reach q) {
  return (transform_reach){greater(r.a, q.a), greater(r.b, q.b), greater(r.skew, q.skew)};
}

static transform_reach reach_of(const snapshot *model) {
  transform_reach most = {0.0, 0.0, 0.0};
  for (uint32_t g = 0; g < model->geometries; g++)
    for (uint32_t i = 0; model->groups[g] != NULL && i < model->groups[g]->count; i++) {
      const linear m = linear_of(&model->groups[g]->instances[i]);
      most = farther(most, (transform_reach){norm_of(m.a), norm_of(m.b), skew_of(m.a, m.b)});
      most = farther(most, reach_within(&m, &model->models[g].measure.reach));
    }
  return most;
}

/* Whether nothing can be refused. There is room for rounding. */
static bool is_short(transform_reach r) {
  return r.a < 0.99 * SCALE_MOST && r.b < 0.99 * SCALE_MOST && r.skew < 0.99 * SKEW_MOST;
}

/* An instance in a model whose map, with those that lead there, is refused. */
typedef struct refused_product {
  const char *why; /* NULL: there is none */
  double value;
  uint32_t level, geometry, instance;
} refused_product;

static refused_product refused_in(const snapshot *model, const linear *outer, uint32_t level) {
  for (uint32_t g = 0; g < model->geometries; g++)
    for (uint32_t i = 0; model->groups[g] != NULL && i < model->groups[g]->count; i++) {
      const linear own = linear_of(&model->groups[g]->instances[i]), m = linear_within(outer, &own);
      refused_product r = {.level = level, .geometry = model->table[g].id, .instance = i};
      r.why = linear_refusal(&m, &r.value);
      if (r.why == NULL && !is_short(reach_within(&m, &model->models[g].measure.reach)))
        r = refused_in(model->models[g].snapshot, &m, level + 1);
      if (r.why != NULL) return r;
    }
  return (refused_product){.why = NULL};
}

/* reach: the model's. */
static slab_status check_products(const char *function, slab_status status, const instance_group *group,
                                  const snapshot *model, const transform_reach *reach) {
  for (uint32_t i = 0; model->has_instances && i < group->count; i++) {
    const linear m = linear_of(&group->instances[i]);
    if (is_short(reach_within(&m, reach))) continue;
    const refused_product r = refused_in(model, &m, 1);
    if (r.why != NULL)
      return fail(status, "%s: transform %u, with that of instance %u of geometry %u, %u %s below, %s (%g)", function,
                  i, r.instance, r.geometry, r.level, r.level == 1 ? "level" : "levels", r.why, r.value);
  }
  return SLAB_OK;
}

/* ---- what is known of a model ---- */

/* An index of a direction has a digit to base 3 for each axis, the direction's component + 1; the opposite one's is the
 * rest to 26. */
enum { DIRECTION_NONE = 13 };
static const int direction_step[3] = {1, 3, 9};

static void extent_grow(double extent[DIRECTIONS], const float low[3], const float high[3]) {
  const double x[3] = {-low[0], 0.0, high[0]}, y[3] = {-low[1], 0.0, high[1]}, z[3] = {-low[2], 0.0, high[2]};
  for (int d = 0; d < DIRECTIONS; d += 3) {
    const double yz = y[d / 3 % 3] + z[d / 9];
    for (int k = 0; k < 3; k++) extent[d + k] = greater(x[k] + yz, extent[d + k]);
  }
}

typedef struct extent_joining {
  const snapshot *model;
  uint32_t geometry;
  os_mutex lock;
  double *to;
} extent_joining;

/* Of primitives none of which stands outside a BVH. */
static void join_some(void *argument, size_t first, size_t end) {
  extent_joining *e = argument;
  const slab_shape kind = (slab_shape)e->model->table[e->geometry].kind;
  const geometry_values *of = e->model->values[e->geometry];
  double extent[DIRECTIONS];
  float room[ROWS_MOST], low[3], high[3];
  for (int d = 0; d < DIRECTIONS; d++) extent[d] = -INFINITY;
  for (size_t i = first; i < end; i++) {
    const float *values = values_at(of, primitive_rows(kind), (uint32_t)i, room);
    if (values_are_void(of, kind, values)) continue;
    primitive_bounds(kind, values, low, high);
    extent_grow(extent, low, high);
  }
  os_mutex_lock(&e->lock);
  for (int d = 0; d < DIRECTIONS; d++) e->to[d] = greater(extent[d], e->to[d]);
  os_mutex_unlock(&e->lock);
}

static model_measure measure_model(const slab_context *context, const snapshot *model) {
  model_measure m = {.bounded = true, .reach = {0.0, 0.0, 0.0}};
  extent_joining e = {.model = model, .lock = OS_MUTEX, .to = m.extent};
  for (int d = 0; d < DIRECTIONS; d++) m.extent[d] = -INFINITY;
  for (uint32_t g = 0; g < model->geometries; g++)
    m.bounded = m.bounded && (is_hidden(model, g) || model->values[g]->outside == 0);
  for (e.geometry = 0; m.bounded && e.geometry < model->geometries; e.geometry++)
    if (!is_hidden(model, e.geometry))
      pool_loop(context->threads, model->table[e.geometry].count, PRIMITIVES_A_PIECE, join_some, &e);
  os_mutex_destroy(&e.lock);
  for (int d = 0; d < DIRECTIONS && !isinf(m.extent[DIRECTION_NONE]); d++)
    m.bounded = m.bounded && isfinite(m.extent[d]);
  if (model->has_instances) m.reach = reach_of(model);
  return m;
}

/* ---- models ---- */

static slab_status check_with_model(const char *function, const instance_group *group) {
  scene_reading reading;
  slab_status status = scene_enter(group->model, function, &reading);
  if (status != SLAB_OK) return status;
  if (reading.scene->has_instances) {
    const transform_reach reach = reach_of(reading.scene);
    status = check_products(function, SLAB_INVALID_ARGUMENT, group, reading.scene, &reach);
  }
  scene_leave(&reading);
  return status;
}

static slab_status finish_group(const char *function, slab_status status, instance_group *made,
                                instance_group **group) {
  if (status == SLAB_OK) status = check_with_model(function, made);
  if (status == SLAB_OK)
    *group = made;
  else
    instances_release(made);
  return status;
}

slab_status instances_take(const char *function, slab_scene *model, uint32_t geometries, const float *transforms,
                           uint32_t n, uint32_t visible, instance_group **group) {
  instance_group *made = group_create(model, geometries, n, visible);
  if (made == NULL) return fail_group(n);
  return finish_group(function, take_transforms(function, transforms, made), made, group);
}

slab_status instances_restore(const char *function, slab_scene *model, const instance_entry *instances, uint32_t n,
                              uint32_t visible, instance_group **group) {
  instance_group *made = group_create(model, (uint32_t)model->ids, n, visible);
  if (made == NULL) return fail_group(n);
  memcpy(made->instances, instances, n * sizeof *instances);
  return finish_group(function, SLAB_OK, made, group);
}

slab_status model_hold(const char *function, const instance_group *group, const held_model *last, held_model *held) {
  scene_reading reading;
  const slab_status status = scene_enter(group->model, function, &reading);
  if (status != SLAB_OK) return status;
  held->snapshot = (snapshot *)reading.scene;
  held->scene = group->model;
  atomic_fetch_add(&held->snapshot->held, 1);
  scene_retain(held->scene);
  scene_leave(&reading);
  held->measure =
      last->snapshot == held->snapshot ? last->measure : measure_model(group->model->context, held->snapshot);
  return check_products(function, SLAB_INVALID_STATE, group, held->snapshot, &held->measure.reach);
}

/* ---- gates ---- */

/* Of a model that has no finite bounds. It stands outside the BVH. */
static const float open_gate[BOX_ROWS] = {-INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY};

static float rounded_down(double x) {
  const float f = (float)x;
  return f > x ? nextafterf(f, -INFINITY) : f;
}

static float rounded_up(double x) {
  const float f = (float)x;
  return f < x ? nextafterf(f, INFINITY) : f;
}

static void swap_if_less(const double size[3], int *a, int *b) {
  if (size[*a] >= size[*b]) return;
  const int kept = *a;
  *a = *b;
  *b = kept;
}

/* Upper bounds of how far a model reaches along a vector and against it: the vector is a sum of directions, in which
 * that is known. With the components in the order of their sizes x >= y >= z it is (x - y) (1, 0, 0) + (y - z)
 * (1, 1, 0) + z (1, 1, 1). */
static void reach_along(const double extent[DIRECTIONS], const double v[3], double *along, double *against) {
  const double size[4] = {fabs(v[0]), fabs(v[1]), fabs(v[2]), 0.0};
  int order[4] = {0, 1, 2, 3}, direction = DIRECTION_NONE;
  swap_if_less(size, &order[0], &order[1]);
  swap_if_less(size, &order[1], &order[2]);
  swap_if_less(size, &order[0], &order[1]);
  *along = *against = 0.0;
  for (int i = 0; i < 3; i++) {
    const double weight = size[order[i]] - size[order[i + 1]];
    direction += v[order[i]] < 0.0 ? -direction_step[order[i]] : direction_step[order[i]];
    *along += weight * extent[direction];
    *against += weight * extent[DIRECTIONS - 1 - direction];
  }
}

/* What holds the model under the inverse of B, padded by 2^-19 K max(|A| |corner|). The corner of the model's bounds:
 * its distance from the model's origin counts, not the size, since B (o - place) has an error in proportion to it. */
static void gate_of(const instance_entry *of, const double extent[DIRECTIONS], float gate[BOX_ROWS]) {
  double corner[3];
  const linear m = linear_of(of);
  const double *a = m.a, skew = skew_of(m.b, m.a);
  for (int k = 0; k < 3; k++)
    corner[k] =
        greater(fabs(extent[DIRECTION_NONE - direction_step[k]]), fabs(extent[DIRECTION_NONE + direction_step[k]]));
  for (int i = 0; i < 3; i++) {
    double reach = 0.0, along, against;
    for (int j = 0; j < 3; j++) reach += fabs(a[3 * i + j]) * corner[j];
    const double pad = 0x1p-19 * skew * reach;
    reach_along(extent, &a[3 * i], &along, &against);
    gate[i] = rounded_down(of->place[i] - against - pad);
    gate[3 + i] = rounded_up(of->place[i] + along + pad);
  }
  bool finite = true;
  for (int i = 0; i < BOX_ROWS; i++) finite = finite && isfinite(gate[i]);
  if (!finite) memcpy(gate, open_gate, sizeof open_gate);
}

typedef struct gates_writing {
  const instance_group *of;
  const model_measure *model;
  float *to;
} gates_writing;

static void write_gates(void *argument, size_t first, size_t end) {
  const gates_writing *w = argument;
  const model_measure *m = w->model;
  for (size_t i = first; i < end; i++) {
    float *gate = w->to + i * BOX_ROWS;
    if (!m->bounded)
      memcpy(gate, open_gate, sizeof open_gate);
    else if (isinf(m->extent[DIRECTION_NONE]))
      primitive_void((slab_shape)SHAPE_INSTANCE, gate);
    else
      gate_of(&w->of->instances[i], m->extent, gate);
  }
}

geometry_values *instances_gates(const slab_context *context, const instance_group *group, const model_measure *model) {
  geometry_values *v = values_create(SHAPE_INSTANCE, group->count, NULL, false);
  if (v == NULL) return NULL;
  v->mask = group->mask;
  gates_writing w = {group, model, v->values};
  pool_loop(context->threads, group->count, INSTANCES_A_PIECE, write_gates, &w);
  values_measure(context->threads, v, (slab_shape)SHAPE_INSTANCE, group->count);
  return v;
}

/* ---- the arrays ---- */

/* The arrays of a model, as a scene takes them. */
typedef struct model_arrays {
  const snapshot *of;
  bvh_layout tree; /* of the model alone, or with its own models */
  bool built;      /* for this purpose: the model has no BVH in host memory */
  uint32_t at;     /* number of its first model among those of the scene */
} model_arrays;

/* What a scene with instances is put together from. */
typedef struct assembly {
  snapshot *scene;
  bvh_layout *out;
  model_arrays *models; /* each once */
  uint32_t count;
  size_t nodes, units, entries, instances, elements; /* of the whole; elements: of its array of models */
} assembly;

/* The layout is that of the context, and so that of all models. */
static slab_layout layout_of(const snapshot *s) { return s->context->layout; }

static size_t floats_a_unit(const snapshot *s) { return block_form_of(layout_of(s)).unit; }

static size_t node_count(const snapshot *s, const bvh_layout *t) { return t->node_bytes / node_size(layout_of(s)); }

/* Units of a BVH's blocks, without the arrays of instances and models that may follow. */
static size_t own_units(const snapshot *s, const bvh_layout *t) {
  return (s->has_instances ? (size_t)s->uniforms.instances * BLOCK_UNIT : t->floats) / floats_a_unit(s);
}

/* On each level of a wide BVH: the children of nodes, eight instances of a block, the rest of its leaf, the instances
 * without a gate and the end of the model. Interleaved rays have room for seven entries wherever others have one. */
uint32_t instances_stack(slab_layout layout, uint32_t depth, uint32_t models) {
  return bvh_stack(layout, layout == SLAB_LAYOUT_COMPRESSED ? depth : depth + 4) + models;
}

static slab_status take_model(model_arrays *m) {
  const snapshot *s = m->of;
  m->built = !s->has_bvh || s->bvh.nodes == NULL;
  if (!m->built) {
    m->tree = s->bvh;
    return SLAB_OK;
  }
  return bvh_layout_build(s, s->tree == SLAB_TREE_FLAT ? SLAB_TREE_DEFAULT : s->tree, layout_of(s), &m->tree);
}

static uint32_t index_of_model(const assembly *a, const snapshot *of) {
  uint32_t i = 0;
  while (i < a->count && a->models[i].of != of) i++;
  return i;
}

/* Lists the models, and counts what they have. */
static slab_status list_models(assembly *a) {
  const snapshot *s = a->scene;
  slab_status status = SLAB_OK;
  uint32_t stack = 0;
  for (uint32_t g = 0; g < s->geometries && status == SLAB_OK; g++) {
    const snapshot *of = s->models[g].snapshot;
    if (of == NULL) continue;
    a->instances += s->groups[g]->count;
    if (index_of_model(a, of) < a->count) continue;
    model_arrays *m = &a->models[a->count];
    *m = (model_arrays){.of = of, .at = (uint32_t)a->elements};
    status = take_model(m);
    a->count++;
    a->nodes += node_count(of, &m->tree);
    a->units += own_units(of, &m->tree);
    a->entries += of->entries;
    a->instances += of->instance_count;
    a->elements += of->model_count;
    if (m->tree.stack > stack) stack = m->tree.stack;
    a->scene->kinds |= of->kinds;
  }
  a->out->stack = instances_stack(layout_of(s), a->out->depth, stack);
  return status;
}

/* The arrays of the whole, and where in each the next model goes. */
typedef struct whole {
  geometry_entry *table;
  void *nodes;
  float *blocks;
  instance_entry *instances;
  model_entry *models;
  size_t node, unit, entry, instance, model;
} whole;

static void copy_wide(const bvh_node *from, size_t n, const whole *to) {
  bvh_node *node = (bvh_node *)to->nodes + to->node;
  for (size_t i = 0; i < n; i++, node++) {
    *node = from[i];
    for (int k = 0; k < BVH_WIDTH; k++)
      if (node->meta[k] != 0) node->child[k] += (uint32_t)(BVH_IS_INNER(node->meta[k]) ? to->node : to->unit);
  }
}

static void copy_compressed(const compressed_node *from, size_t n, const whole *to) {
  compressed_node *node = (compressed_node *)to->nodes + to->node;
  for (size_t i = 0; i < n; i++, node++) {
    *node = from[i];
    node->child += (uint32_t)to->node;
    node->leaf += (uint32_t)to->unit;
  }
}

/* Models of the whole, from what they were where they come from. */
static void move_models(const whole *to, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    model_entry *m = &to->models[to->model + i];
    m->table += (uint32_t)to->entry;
    m->root += (uint32_t)to->node;
    for (int k = 0; k < OUTSIDE_LISTS; k++) m->outside[k].first += (uint32_t)to->unit;
  }
}

/* Copies the BVH of a model. One with instances brings its own models along, here and below. */
static void copy_arrays(const model_arrays *m, const whole *to) {
  const size_t nodes = node_count(m->of, &m->tree), unit = floats_a_unit(m->of);
  if (layout_of(m->of) == SLAB_LAYOUT_COMPRESSED)
    copy_compressed(m->tree.nodes, nodes, to);
  else
    copy_wide(m->tree.nodes, nodes, to);
  memcpy(to->blocks + to->unit * unit, m->tree.blocks, own_units(m->of, &m->tree) * unit * sizeof *to->blocks);
}

/* Copies what tells of a model, and its instances. */
static void copy_tables(const model_arrays *m, const whole *to) {
  const snapshot *s = m->of;
  const float *blocks = m->tree.blocks;
  for (uint32_t e = 0; e < s->entries; e++) {
    geometry_entry *entry = &to->table[to->entry + e];
    *entry = s->table[e];
    if (entry->kind == SHAPE_INSTANCE) entry->first += (uint32_t)to->instance;
  }
  model_entry *models = &to->models[to->model];
  if (s->has_instances) {
    instance_entry *instances = &to->instances[to->instance];
    memcpy(instances, blocks + (size_t)s->uniforms.instances * BLOCK_UNIT, s->instance_count * sizeof *instances);
    memcpy(models, blocks + (size_t)s->uniforms.models * BLOCK_UNIT, s->model_count * sizeof *models);
    for (uint32_t i = 0; i < s->instance_count; i++) instances[i].model += (uint32_t)to->model;
  } else {
    *models = (model_entry){.entries = s->entries, .geometries = s->ids};
    memcpy(models->outside, m->tree.outside, sizeof models->outside);
  }
  move_models(to, s->model_count);
}

/* Writes the instances of the scene's own groups. Returns their number. */
static uint32_t write_instances(const assembly *a, const whole *to) {
  const snapshot *s = a->scene;
  uint32_t at = 0;
  for (uint32_t g = 0; g < s->geometries; g++) {
    if (s->models[g].snapshot == NULL) continue;
    const instance_group *group = s->groups[g];
    const uint32_t model = a->models[index_of_model(a, s->models[g].snapshot)].at;
    to->table[g].first = at;
    for (uint32_t i = 0; i < group->count; i++) {
      to->instances[at] = group->instances[i];
      to->instances[at].model = model;
      to->instances[at++].geometry = to->table[g].id + i * group->geometries;
    }
  }
  return at;
}

/* The scene's own are there already. It is model 0. */
static void assemble(const assembly *a, bool has_models, whole *to) {
  const snapshot *s = a->scene;
  memcpy(to->table, s->table, s->geometries * sizeof *s->table);
  to->models[0] = (model_entry){.entries = s->geometries, .geometries = s->ids};
  memcpy(to->models[0].outside, a->out->outside, sizeof a->out->outside);
  to->node = s->own_nodes;
  to->unit = s->own_units;
  to->entry = s->geometries;
  to->instance = write_instances(a, to);
  to->model = 1;
  for (uint32_t i = 0; i < a->count; i++) {
    const model_arrays *m = &a->models[i];
    if (!has_models) copy_arrays(m, to);
    copy_tables(m, to);
    to->node += node_count(m->of, &m->tree);
    to->unit += own_units(m->of, &m->tree);
    to->entry += m->of->entries;
    to->instance += m->of->instance_count;
    to->model += m->of->model_count;
  }
}

/* Makes room for the whole, unless it is there. */
static slab_status make_room(const assembly *a, size_t floats, bvh_layout *out) {
  const snapshot *s = a->scene;
  const size_t size = node_size(layout_of(s)), node_bytes = a->nodes * size, unit = floats_a_unit(s);
  if (floats / unit > UINT32_MAX || a->nodes > UINT32_MAX - 1)
    return fail(SLAB_OUT_OF_MEMORY, "the scene's models take %zu units of %zu bytes, more than 2^32", floats / unit,
                unit * sizeof(float));
  if (out->node_bytes == node_bytes && out->floats == floats) return SLAB_OK;
  bvh_layout made = *out;
  made.model_set = 0;
  made.node_bytes = node_bytes;
  made.floats = floats;
  made.nodes = bvh_allocate(node_bytes, 1);
  made.blocks = bvh_allocate(floats + 1, sizeof *made.blocks);
  if (made.nodes == NULL || made.blocks == NULL) {
    layout_free_arrays(&made);
    return fail_memory(node_bytes + floats * sizeof *made.blocks, "the scene's models");
  }
  memcpy(made.nodes, out->nodes, s->own_nodes * size);
  memcpy(made.blocks, out->blocks, s->own_units * unit * sizeof *made.blocks);
  layout_free_arrays(out);
  *out = made;
  return SLAB_OK;
}

static slab_status put_together(assembly *a) {
  snapshot *s = a->scene;
  const size_t form = floats_a_unit(s), begin = (a->units * form + BLOCK_UNIT - 1) / BLOCK_UNIT; /* of the two arrays */
  whole to = {.table = malloc((a->entries + 1) * sizeof *to.table)};
  if (to.table == NULL) return fail_memory(a->entries * sizeof *to.table, "the geometry table");
  const slab_status status = make_room(a, (begin + a->instances + a->elements) * BLOCK_UNIT, a->out);
  if (status != SLAB_OK) {
    free(to.table);
    return status;
  }
  to.nodes = a->out->nodes;
  to.blocks = a->out->blocks;
  memset(to.blocks + a->units * form, 0, (begin * BLOCK_UNIT - a->units * form) * sizeof *to.blocks);
  to.instances = (instance_entry *)(to.blocks + begin * BLOCK_UNIT);
  to.models = (model_entry *)(to.instances + a->instances);
  assemble(a, a->out->model_set == s->model_set, &to);
  free(s->table);
  s->table = to.table;
  s->entries = (uint32_t)a->entries;
  s->instance_count = (uint32_t)a->instances;
  s->model_count = (uint32_t)a->elements;
  s->uniforms.instances = (uint32_t)begin;
  s->uniforms.models = (uint32_t)(begin + a->instances);
  a->out->model_set = s->model_set;
  return SLAB_OK;
}

slab_status instances_append(snapshot *s, bvh_layout *out) {
  assembly a = {
      .scene = s, .out = out, .nodes = s->own_nodes, .units = s->own_units, .entries = s->geometries, .elements = 1};
  a.models = calloc(s->geometries + (size_t)1, sizeof *a.models);
  slab_status status =
      a.models == NULL ? fail_memory(s->geometries * sizeof *a.models, "the list of models") : list_models(&a);
  if (status == SLAB_OK) status = put_together(&a);
  for (uint32_t i = 0; i < a.count; i++)
    if (a.models[i].built) layout_free_arrays(&a.models[i].tree);
  free(a.models);
  return status;
}
