
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/status.h"
#include "bvh/memory.h"
#include "device/context.h"
#include "layout/layout.h"
#include "scene/models.h"
#include "scene/worlds.h"

_Static_assert(sizeof(model_entry) == BLOCK_UNIT * sizeof(float), "a model takes a BLOCK_UNIT");

/* The arrays of a model, as a scene takes them. */
typedef struct model_arrays {
  const snapshot *of;
  bvh_layout tree; /* of the model alone, or with its own models */
  bool built;      /* for this purpose: the model has no BVH in host memory */
  uint32_t at;     /* number of its first model among those of the scene */
} model_arrays;

/* The parts that a scene with instances is put together from. */
typedef struct assembly {
  snapshot *scene;
  bvh_layout *out;
  world_lists *worlds;  /* NULL: the scene has none */
  model_arrays *models; /* each once */
  uint32_t count;
  size_t nodes, units, entries, instances, elements; /* of the whole; elements: of its array of models */
} assembly;

/* The layout is that of the context, and so that of all models. */
static slab_layout layout_of(const snapshot *s) { return s->context->layout; }

static size_t floats_a_unit(const snapshot *s) { return block_form_of(layout_of(s)).unit; }

static size_t node_count(const snapshot *s, const bvh_layout *t) {
  return t->node_bytes / layout_node_size(layout_of(s));
}

/* Units of a BVH's blocks, without the arrays of instances and models that may follow. */
static size_t own_units(const snapshot *s, const bvh_layout *t) {
  return (s->has_instances ? (size_t)s->uniforms.instances * BLOCK_UNIT : t->floats) / floats_a_unit(s);
}

/* Stack entries that a traversal can need, where the models need `models` of them. At each depth of a wide BVH they
 * are: children of nodes, eight instances of a block, the rest of its leaf, instances without a gate, the model's end.
 * Interleaved rays have space for seven entries wherever others have one. */
static uint32_t stack_with(slab_layout layout, uint32_t depth, uint32_t models) {
  return layout_stack(layout, layout == SLAB_LAYOUT_COMPRESSED ? depth : depth + 4) + models;
}

static slab_status take_model(model_arrays *m) {
  const snapshot *s = m->of;
  m->built = !s->has_bvh || s->bvh.nodes == NULL;
  if (!m->built) {
    m->tree = s->bvh;
    return SLAB_OK;
  }
  return bvh_layout_build(s, NULL, s->tree == SLAB_TREE_FLAT ? SLAB_TREE_DEFAULT : s->tree, layout_of(s), &m->tree);
}

static uint32_t index_of_model(const assembly *a, const snapshot *of) {
  uint32_t i = 0;
  while (i < a->count && a->models[i].of != of) i++;
  return i;
}

/* Units of the gates that worlds list. */
static size_t lane_units(const snapshot *s, uint32_t lanes) {
  const block_form form = block_form_of(layout_of(s));
  return (size_t)(lanes / form.width) * block_units(form, SHAPE_INSTANCE);
}

/* Adds up the worlds' sizes. */
static void count_worlds(assembly *a) {
  const snapshot *s = a->scene;
  for (uint32_t i = 1; i < a->worlds->part_count; i++) { /* the first is there already */
    const bvh_layout *t = &a->worlds->parts[i].tree;
    a->nodes += node_count(s, t);
    a->units += t->floats / floats_a_unit(s);
    if (t->depth > a->out->depth) a->out->depth = t->depth;
  }
  a->units += lane_units(s, a->worlds->begin[s->worlds + 1]);
  a->elements += s->worlds;
}

/* Lists the models, and adds up their sizes. */
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
  if (a->worlds != NULL) count_worlds(a);
  a->out->stack = stack_with(layout_of(s), a->out->depth, stack);
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

/* Models of the whole, from their entries where they come from. */
static void move_models(const whole *to, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    model_entry *m = &to->models[to->model + i];
    m->table += (uint32_t)to->entry;
    m->root += (uint32_t)to->node;
    if (m->collapsed_root != 0) m->collapsed_root += (uint32_t)to->node;
    for (int k = 0; k < OUTSIDE_LISTS; k++) m->outside[k].first += (uint32_t)to->unit;
  }
}

static void copy_nodes(const snapshot *s, const bvh_layout *t, const whole *to) {
  void *behind = layout_node(layout_of(s), to->nodes, to->node);
  layout_copy_nodes(layout_of(s), t->nodes, node_count(s, t), behind, to->node, to->unit);
}

/* Copies the BVH of a model. One with instances brings its own models along, here and below. */
static void copy_arrays(const model_arrays *m, const whole *to) {
  const size_t unit = floats_a_unit(m->of);
  copy_nodes(m->of, &m->tree, to);
  memcpy(to->blocks + to->unit * unit, m->tree.blocks, own_units(m->of, &m->tree) * unit * sizeof *to->blocks);
}

/* Copies a model's entries, and its instances. */
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
    *models = (model_entry){.entries = s->entries, .geometries = s->ids, .collapsed_root = m->tree.collapsed_root};
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

/* Copies the BVH of a world. */
static void copy_part(const snapshot *s, world_part *p, const whole *to, model_entry *entry) {
  const size_t unit = floats_a_unit(s);
  p->node = (uint32_t)to->node;
  p->unit = (uint32_t)to->unit;
  copy_nodes(s, &p->tree, to);
  memcpy(to->blocks + to->unit * unit, p->tree.blocks, p->tree.floats * sizeof *to->blocks);
  entry->root = (uint32_t)to->node;
  if (p->tree.collapsed_root != 0) entry->collapsed_root = (uint32_t)to->node + p->tree.collapsed_root;
  memcpy(entry->outside, p->tree.outside, sizeof entry->outside);
  for (int k = 0; k < OUTSIDE_LISTS; k++) entry->outside[k].first += (uint32_t)to->unit;
}

typedef struct gates_listing {
  const snapshot *scene;
  const world_lists *worlds;
  size_t units; /* of a block */
  size_t unit;  /* of the first */
  float *blocks;
} gates_listing;

/* Writes blocks of gates, for the ids of their lanes. */
static void list_gates(void *argument, size_t first, size_t end) {
  const gates_listing *l = argument;
  const block_form form = block_form_of(layout_of(l->scene));
  for (size_t b = first; b < end; b++) {
    float *block = l->blocks + (l->unit + b * l->units) * form.unit;
    block_write_ids(form, SHAPE_INSTANCE, block, l->worlds->lanes + b * form.width, form.width);
  }
  const block_writing writing = {l->scene, form, l->blocks, l->blocks, 0};
  blocks_write(&writing, SHAPE_INSTANCE, (uint32_t)(l->unit + first * l->units), (uint32_t)(end - first), NULL);
}

enum { GATES_A_PIECE = 256 };

/* Writes the parts of the worlds, and their entries behind those of the models. */
static void put_worlds(const assembly *a, whole *to) {
  const snapshot *s = a->scene;
  world_lists *w = a->worlds;
  const block_form form = block_form_of(layout_of(s));
  model_entry *entries = &to->models[to->model] - 1; /* worlds count from 1 */
  for (uint32_t world = 1; world <= s->worlds; world++)
    entries[world] = (model_entry){.entries = s->geometries, .geometries = s->ids, .root = ROOT_NONE};
  for (uint32_t i = 1; i < w->part_count; i++) {
    world_part *p = &w->parts[i];
    copy_part(s, p, to, &entries[p->world]);
    to->node += node_count(s, &p->tree);
    to->unit += p->tree.floats / floats_a_unit(s);
  }
  w->unit = (uint32_t)to->unit;
  const gates_listing l = {s, w, block_units(form, SHAPE_INSTANCE), to->unit, to->blocks};
  pool_loop(s->context->threads, w->begin[s->worlds + 1] / form.width, GATES_A_PIECE, list_gates, (void *)&l);
  for (uint32_t world = 1; world <= s->worlds; world++) {
    const uint32_t first = w->begin[world], lanes = w->begin[world + 1] - first;
    if (lanes == 0) continue;
    entries[world].outside[OUTSIDE_INSTANCES] =
        (bvh_outside){(uint32_t)(to->unit + lane_units(s, first)), lanes / form.width};
  }
}

/* The scene's own are there already. It is model 0. */
static void assemble(const assembly *a, bool has_models, whole *to) {
  const snapshot *s = a->scene;
  memcpy(to->table, s->table, s->geometries * sizeof *s->table);
  to->models[0] =
      (model_entry){.entries = s->geometries, .geometries = s->ids, .collapsed_root = a->out->collapsed_root};
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
  if (a->worlds != NULL) put_worlds(a, to);
}

/* Makes space for the whole, unless it is there. */
static slab_status make_space(const assembly *a, size_t floats, bvh_layout *out) {
  const snapshot *s = a->scene;
  const size_t size = layout_node_size(layout_of(s)), node_bytes = a->nodes * size, unit = floats_a_unit(s);
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
  const slab_status status = make_space(a, (begin + a->instances + a->elements) * BLOCK_UNIT, a->out);
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
  s->model_count = (uint32_t)(a->elements - s->worlds);
  s->uniforms.instances = (uint32_t)begin;
  s->uniforms.models = (uint32_t)(begin + a->instances);
  s->uniforms.worlds = s->worlds;
  s->uniforms.world_models = s->model_count - 1;
  a->out->model_set = s->model_set;
  return SLAB_OK;
}

slab_status assembly_append(snapshot *s, world_lists *worlds, bvh_layout *out) {
  assembly a = {.scene = s,
                .out = out,
                .worlds = worlds,
                .nodes = s->own_nodes,
                .units = s->own_units,
                .entries = s->geometries,
                .elements = 1};
  a.models = calloc(s->geometries + (size_t)1, sizeof *a.models);
  slab_status status =
      a.models == NULL ? fail_memory(s->geometries * sizeof *a.models, "the list of models") : list_models(&a);
  if (status == SLAB_OK) status = put_together(&a);
  for (uint32_t i = 0; i < a.count; i++)
    if (a.models[i].built) layout_free_arrays(&a.models[i].tree);
  free(a.models);
  return status;
}
