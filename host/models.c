#include "models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bvh/memory.h"
#include "context.h"
#include "layout.h"
#include "primitive.h"
#include "scene.h"

_Static_assert(sizeof(instance_entry) == BLOCK_UNIT * sizeof(float), "an instance takes a BLOCK_UNIT");
_Static_assert(sizeof(model_entry) == BLOCK_UNIT * sizeof(float), "a model takes a BLOCK_UNIT");

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
    skew = fmax(skew, row);
  }
  return skew;
}

static double largest_of(const double m[9]) {
  double largest = 0.0;
  for (int i = 0; i < 9; i++) largest = fmax(largest, fabs(m[i]));
  return largest;
}

static const char *transform_refusal(const float t[12], instance_entry *made, double *value) {
  double a[9], b[9];
  for (int i = 0; i < 12; i++) {
    *value = t[i];
    if (!is_within(t[i], i % 4 == 3 ? COORDINATE_MAX : FLOAT_MAX)) return "is not finite, or moves beyond 2^60";
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) a[3 * i + j] = t[4 * i + j];
    made->place[i] = t[4 * i + 3];
  }
  *value = 0.0;
  if (!inverse_of(a, b)) return "is singular: its determinant";
  *value = largest_of(a);
  if (*value > SCALE_MOST) return "scales by more than 2^60";
  *value = largest_of(b);
  if (*value > SCALE_MOST) return "scales by less than 2^-60, inversely";
  *value = skew_of(a, b);
  if (!(*value <= SKEW_MOST)) return "is too skew: |A| |B| beyond 4096";
  for (int i = 0; i < 9; i++) made->inverse[i] = (float)b[i];
  return NULL;
}

/* n instances without transforms, which retain the model. NULL: memory is short. */
static instance_group *group_create(slab_scene *model, uint32_t geometries, uint32_t n, uint32_t visible) {
  instance_group *made = calloc(1, sizeof *made + (size_t)n * sizeof *made->instances);
  if (made == NULL) return NULL;
  made->references = 1;
  made->count = n;
  made->mask = visible;
  made->geometries = geometries;
  made->model = model;
  scene_retain(model);
  return made;
}

static slab_status fail_group(uint32_t n) {
  return fail_memory(sizeof(instance_group) + (size_t)n * sizeof(instance_entry), "instances");
}

slab_status instances_take(const char *function, slab_scene *model, uint32_t geometries, const float *transforms,
                           uint32_t n, uint32_t visible, instance_group **group) {
  instance_group *made = group_create(model, geometries, n, visible);
  if (made == NULL) return fail_group(n);
  for (uint32_t i = 0; i < n; i++) {
    double value;
    const char *why = transform_refusal(transforms + 12 * (size_t)i, &made->instances[i], &value);
    if (why == NULL) continue;
    instances_release(made);
    return fail(SLAB_INVALID_ARGUMENT, "%s: transform %u %s (%g)", function, i, why, value);
  }
  *group = made;
  return SLAB_OK;
}

slab_status instances_restore(slab_scene *model, const instance_entry *instances, uint32_t n, uint32_t visible,
                              instance_group **group) {
  *group = group_create(model, (uint32_t)model->ids, n, visible);
  if (*group == NULL) return fail_group(n);
  memcpy((*group)->instances, instances, n * sizeof *instances);
  return SLAB_OK;
}

void instances_release(instance_group *g) {
  if (g == NULL || --g->references > 0) return;
  slab_scene_destroy(g->model);
  free(g);
}

/* ---- models ---- */

slab_status model_hold(slab_scene *model, held_model *held) {
  scene_reading reading;
  const slab_status status = scene_enter(model, "slab_scene_commit", &reading);
  if (status != SLAB_OK) return status;
  held->snapshot = (snapshot *)reading.scene;
  held->scene = model;
  atomic_fetch_add(&held->snapshot->held, 1);
  scene_retain(model);
  scene_leave(&reading);
  return SLAB_OK;
}

void model_drop(held_model *held) {
  if (held->snapshot == NULL) return;
  atomic_fetch_sub(&held->snapshot->held, 1);
  slab_scene_destroy(held->scene);
  *held = (held_model){NULL, NULL};
}

/* ---- gates ---- */

/* Of a model that has no finite bounds. It stands outside the BVH. */
static const float open_gate[BOX_ROWS] = {-INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY};

/* How far the padded bounds of all that a model shows reach in each direction of {-1, 0, 1}^3. A direction's index has
 * a digit to base 3 for each axis, its component + 1; the opposite one's is the rest to 26. */
enum { DIRECTIONS = 27, DIRECTION_NONE = 13 };
typedef struct model_reach {
  double in[DIRECTIONS]; /* the most of direction . point; -inf: the model shows nothing */
} model_reach;

static const int direction_step[3] = {1, 3, 9};

static void reach_grow(model_reach *r, const float low[3], const float high[3]) {
  const double x[3] = {-low[0], 0.0, high[0]}, y[3] = {-low[1], 0.0, high[1]}, z[3] = {-low[2], 0.0, high[2]};
  for (int d = 0; d < DIRECTIONS; d += 3) {
    const double yz = y[d / 3 % 3] + z[d / 9];
    for (int k = 0; k < 3; k++) r->in[d + k] = x[k] + yz > r->in[d + k] ? x[k] + yz : r->in[d + k];
  }
}

/* False where something has no bounds, or infinite ones. */
static bool model_reaches(const snapshot *model, model_reach *r) {
  float room[ROWS_MOST], low[3], high[3];
  for (int d = 0; d < DIRECTIONS; d++) r->in[d] = -INFINITY;
  for (uint32_t g = 0; g < model->geometries; g++) {
    const slab_shape kind = (slab_shape)model->table[g].kind;
    for (uint32_t i = 0; !is_hidden(model, g) && i < model->table[g].count; i++) {
      const float *values = values_at(model->values[g], primitive_rows(kind), i, room);
      if (values_are_void(model->values[g], kind, values)) continue;
      if (kind == SLAB_PLANE) return false;
      primitive_bounds(kind, values, low, high);
      for (int k = 0; k < 3; k++)
        if (!isfinite(low[k]) || !isfinite(high[k])) return false;
      reach_grow(r, low, high);
    }
  }
  return true;
}

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
static void reach_along(const model_reach *r, const double v[3], double *along, double *against) {
  const double size[4] = {fabs(v[0]), fabs(v[1]), fabs(v[2]), 0.0};
  int order[4] = {0, 1, 2, 3}, direction = DIRECTION_NONE;
  swap_if_less(size, &order[0], &order[1]);
  swap_if_less(size, &order[1], &order[2]);
  swap_if_less(size, &order[0], &order[1]);
  *along = *against = 0.0;
  for (int i = 0; i < 3; i++) {
    const double weight = size[order[i]] - size[order[i + 1]];
    direction += v[order[i]] < 0.0 ? -direction_step[order[i]] : direction_step[order[i]];
    *along += weight * r->in[direction];
    *against += weight * r->in[DIRECTIONS - 1 - direction];
  }
}

/* What holds the model under the inverse of B, padded by 2^-19 K max(|A| |corner|). The corner of the model's bounds:
 * its distance from the model's origin counts, not the size, since B (o - place) has an error in proportion to it. */
static void gate_of(const instance_entry *of, const model_reach *model, float gate[BOX_ROWS]) {
  double b[9], a[9], corner[3];
  for (int i = 0; i < 9; i++) b[i] = of->inverse[i];
  const bool inverts = inverse_of(b, a);
  const double skew = inverts ? skew_of(a, b) : INFINITY;
  for (int k = 0; k < 3; k++)
    corner[k] =
        fmax(fabs(model->in[DIRECTION_NONE - direction_step[k]]), fabs(model->in[DIRECTION_NONE + direction_step[k]]));
  for (int i = 0; i < 3; i++) {
    double reach = 0.0, along, against;
    for (int j = 0; j < 3; j++) reach += fabs(a[3 * i + j]) * corner[j];
    const double pad = 0x1p-19 * skew * reach;
    reach_along(model, &a[3 * i], &along, &against);
    gate[i] = rounded_down(of->place[i] - against - pad);
    gate[3 + i] = rounded_up(of->place[i] + along + pad);
  }
  bool finite = inverts;
  for (int i = 0; i < BOX_ROWS; i++) finite = finite && isfinite(gate[i]);
  if (!finite) memcpy(gate, open_gate, sizeof open_gate);
}

geometry_values *instances_gates(const slab_context *context, const instance_group *group, const snapshot *model) {
  model_reach reach;
  geometry_values *v = values_create(SHAPE_INSTANCE, group->count, NULL, false);
  if (v == NULL) return NULL;
  v->mask = group->mask;
  const bool bounded = model_reaches(model, &reach);
  for (uint32_t i = 0; i < group->count; i++) {
    float *gate = v->values + (size_t)i * BOX_ROWS;
    if (!bounded)
      memcpy(gate, open_gate, sizeof open_gate);
    else if (isinf(reach.in[DIRECTION_NONE]))
      primitive_void((slab_shape)SHAPE_INSTANCE, gate);
    else
      gate_of(&group->instances[i], &reach, gate);
  }
  values_measure(context, v, (slab_shape)SHAPE_INSTANCE, group->count);
  return v;
}

/* ---- the arrays ---- */

/* The arrays of a model, as a scene takes them. */
typedef struct model_arrays {
  const snapshot *of;
  bvh_layout tree; /* of the model alone, or with its own models */
  bool built;      /* for this purpose: the model has no wide BVH in host memory */
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

static size_t node_count(const bvh_layout *t) { return t->node_bytes / sizeof(bvh_node); }

/* BLOCK_UNITs of a BVH's blocks, without the arrays of instances and models that may follow. */
static size_t own_units(const snapshot *s, const bvh_layout *t) {
  return s->has_instances ? s->uniforms.instances : t->floats / BLOCK_UNIT;
}

/* On each level: the children of nodes, eight instances of a block, the rest of its leaf, the instances without a gate
 * and the end of the model. Rounded up so that most scenes share programs. */
uint32_t instances_stack(uint32_t depth, uint32_t models) { return (7 * depth + 11 + models + 511) / 512 * 512; }

static slab_status take_model(model_arrays *m) {
  const snapshot *s = m->of;
  m->built = !s->has_bvh || snapshot_layout(s) != SLAB_LAYOUT_WIDE || s->bvh.nodes == NULL;
  if (!m->built) {
    m->tree = s->bvh;
    return SLAB_OK;
  }
  return bvh_layout_build(s, s->tree == SLAB_TREE_FLAT ? SLAB_TREE_DEFAULT : s->tree, SLAB_LAYOUT_WIDE, &m->tree);
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
    a->nodes += node_count(&m->tree);
    a->units += own_units(of, &m->tree);
    a->entries += of->entries;
    a->instances += of->instance_count;
    a->elements += of->model_count;
    if (m->tree.stack > stack) stack = m->tree.stack;
    a->scene->kinds |= of->kinds;
  }
  a->out->stack = instances_stack(a->out->depth, stack);
  return status;
}

/* The arrays of the whole, and where in each the next model goes. */
typedef struct whole {
  geometry_entry *table;
  bvh_node *nodes;
  float *blocks;
  instance_entry *instances;
  model_entry *models;
  size_t node, unit, entry, instance, model;
} whole;

static void copy_nodes(const bvh_layout *from, const whole *to) {
  const bvh_node *own = from->nodes;
  for (size_t n = 0; n < node_count(from); n++) {
    bvh_node *node = &to->nodes[to->node + n];
    *node = own[n];
    for (int k = 0; k < BVH_WIDTH; k++)
      if (node->meta[k] != 0) node->child[k] += (uint32_t)(BVH_IS_INNER(node->meta[k]) ? to->node : to->unit);
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

/* Copies what a model has. One with instances brings its own models along. */
static void copy_model(const model_arrays *m, const whole *to) {
  const snapshot *s = m->of;
  const float *blocks = m->tree.blocks;
  copy_nodes(&m->tree, to);
  memcpy(to->blocks + to->unit * BLOCK_UNIT, blocks, own_units(s, &m->tree) * BLOCK_UNIT * sizeof *blocks);
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

/* The scene's own come first. It is model 0. */
static void assemble(const assembly *a, whole *to) {
  const snapshot *s = a->scene;
  const bvh_layout *own = a->out;
  memcpy(to->nodes, own->nodes, own->node_bytes);
  memcpy(to->blocks, own->blocks, own->floats * sizeof *own->blocks);
  memcpy(to->table, s->table, s->geometries * sizeof *s->table);
  to->models[0] = (model_entry){.entries = s->geometries, .geometries = s->ids};
  memcpy(to->models[0].outside, own->outside, sizeof own->outside);
  to->node = node_count(own);
  to->unit = own->floats / BLOCK_UNIT;
  to->entry = s->geometries;
  to->instance = write_instances(a, to);
  to->model = 1;
  for (uint32_t i = 0; i < a->count; i++) {
    const model_arrays *m = &a->models[i];
    copy_model(m, to);
    to->node += node_count(&m->tree);
    to->unit += own_units(m->of, &m->tree);
    to->entry += m->of->entries;
    to->instance += m->of->instance_count;
    to->model += m->of->model_count;
  }
}

/* Replaces the arrays of the scene alone by those of the whole. */
static slab_status replace_arrays(assembly *a) {
  snapshot *s = a->scene;
  const size_t units = a->units + a->instances + a->elements;
  if (units > UINT32_MAX || a->nodes > UINT32_MAX - 1)
    return fail(SLAB_OUT_OF_MEMORY, "the scene's models take %zu units of 64 bytes, more than 2^32", units);
  whole to = {.table = malloc((a->entries + 1) * sizeof *to.table),
              .nodes = bvh_allocate(a->nodes, sizeof *to.nodes),
              .blocks = bvh_allocate(units * BLOCK_UNIT + 1, sizeof *to.blocks)};
  if (to.table == NULL || to.nodes == NULL || to.blocks == NULL) {
    free(to.table);
    free(to.nodes);
    free(to.blocks);
    return fail_memory(units * BLOCK_UNIT * sizeof *to.blocks + a->nodes * sizeof *to.nodes, "the scene's models");
  }
  to.instances = (instance_entry *)(to.blocks + a->units * BLOCK_UNIT);
  to.models = (model_entry *)(to.instances + a->instances);
  assemble(a, &to);
  free(s->table);
  layout_free_arrays(a->out);
  s->table = to.table;
  s->entries = (uint32_t)a->entries;
  s->instance_count = (uint32_t)a->instances;
  s->model_count = (uint32_t)a->elements;
  s->uniforms.instances = (uint32_t)a->units;
  s->uniforms.models = (uint32_t)(a->units + a->instances);
  a->out->nodes = to.nodes;
  a->out->node_bytes = a->nodes * sizeof *to.nodes;
  a->out->blocks = to.blocks;
  a->out->floats = units * BLOCK_UNIT;
  return SLAB_OK;
}

slab_status instances_append(snapshot *s, bvh_layout *out) {
  assembly a = {.scene = s,
                .out = out,
                .nodes = node_count(out),
                .units = out->floats / BLOCK_UNIT,
                .entries = s->geometries,
                .elements = 1};
  a.models = calloc(s->geometries + (size_t)1, sizeof *a.models);
  slab_status status =
      a.models == NULL ? fail_memory(s->geometries * sizeof *a.models, "the list of models") : list_models(&a);
  if (status == SLAB_OK) status = replace_arrays(&a);
  for (uint32_t i = 0; i < a.count; i++)
    if (a.models[i].built) layout_free_arrays(&a.models[i].tree);
  free(a.models);
  return status;
}
