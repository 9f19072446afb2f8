/* Refits on a device: new blocks and nodes of a compressed BVH beside those of the last commit, which casts may still
 * read. Vertices come from copies that updates have made; nothing but the table, and once the indices, is uploaded. */
#include <math.h>
#include <stdlib.h>

#include "gpu/buffers.h"
#include "gpu/gpu.h"
#include "gpu/program.h"
#include "gpu/update.h"
#include "layout/layout.h"
#include "shapes/values.h"

/* Uploads a mesh's indices, for this refit and later ones. */
static slab_status indices_take(const device *d, mesh_indices *m, uint32_t triangles) {
  gpu_buffer *buffer = NULL;
  if (m->copy.memory != NULL) return SLAB_OK;
  const slab_status status = driver_of(d)->create(d, GPU_READ, GPU_COPY, 3 * (size_t)triangles * sizeof *m->list,
                                                  m->list, "a mesh's indices", &buffer);
  if (status == SLAB_OK) m->copy = (device_copy){d, buffer, update_drop_copy};
  return status;
}

/* ---- commands ---- */

/* Commands on the device's queue, each of which sees the writes of those before it. Failures surface only through their
 * events, so all events are kept until they are waited for. */
typedef struct commands {
  device *device;
  gpu_event *events[64];
  uint32_t count;
} commands;

/* Waits for all so far, and returns the first failure: `status`, or theirs. */
static slab_status commands_end(commands *c, slab_status status) {
  const gpu_driver *driver = driver_of(c->device);
  const slab_status ended =
      c->count == 0 ? SLAB_OK : driver->wait(c->events, c->count, status == SLAB_OK ? "a refit" : NULL);
  while (c->count > 0) driver->release_event(c->events[--c->count]);
  return status == SLAB_OK ? ended : status;
}

/* Makes space for one more. */
static slab_status commands_next(commands *c) {
  return c->count < sizeof c->events / sizeof *c->events ? SLAB_OK : commands_end(c, SLAB_OK);
}

/* The order of the next, whose event is kept once it is enqueued. */
static gpu_order commands_order(commands *c) { return (gpu_order){.done = &c->events[c->count]}; }

static slab_status copy_buffer(commands *c, gpu_buffer *from, gpu_buffer *to, size_t size) {
  slab_status status = commands_next(c);
  if (status != SLAB_OK) return status;
  status = driver_of(c->device)->copy(gpu_of(c->device)->queue, (gpu_rows){from, 0, size}, (gpu_rows){to, 0, size},
                                      size, 1, commands_order(c), "a refit");
  if (status == SLAB_OK) c->count++;
  return status;
}

#define RUN(c, kernel, items, ...)                           \
  run(c, kernel, items, (const gpu_argument[]){__VA_ARGS__}, \
      sizeof((const gpu_argument[]){__VA_ARGS__}) / sizeof(gpu_argument))

/* Enqueues a kernel of `items` work-items, one or more. */
static slab_status run(commands *c, uint32_t nth, size_t items, const gpu_argument *list, size_t arguments) {
  bool unused = false;
  slab_status status = commands_next(c);
  if (status != SLAB_OK) return status;
  const kernel_run launched = {.key = {.source = PROGRAM_REFIT, .kinds = 1u << SLAB_TRIANGLE},
                               .nth = nth,
                               .arguments = list,
                               .count = (uint32_t)arguments,
                               .items = items,
                               .group = WORK_GROUP,
                               .queue = gpu_of(c->device)->queue,
                               .order = commands_order(c),
                               .what = "a refit"};
  status = program_run(c->device, &launched, &unused);
  if (status == SLAB_OK) c->count++;
  return status;
}

/* ---- the plan of a build ---- */

/* Lists the nodes breadth first, so depth by depth, below both roots. */
static void list_depths(const compressed_node *nodes, uint32_t collapsed_root, refit_plan *plan, uint32_t *order) {
  uint32_t count = 1;
  order[0] = 0;
  if (collapsed_root != 0) order[count++] = collapsed_root;
  plan->depths = 0;
  for (uint32_t first = 0; first < count; first = plan->ends[plan->depths++]) {
    plan->ends[plan->depths] = count;
    for (uint32_t i = first; i < plan->ends[plan->depths]; i++) {
      const compressed_node *n = &nodes[order[i]];
      const uint32_t inner = (uint32_t)__builtin_popcount(n->scales >> 24);
      for (uint32_t k = 0; k < inner; k++) order[count++] = n->child + k;
    }
  }
}

static slab_status plan_order(const device *d, const snapshot *last, refit_plan *plan) {
  const size_t size = last->bvh.node_bytes, count = size / sizeof(compressed_node), bytes = count * sizeof(uint32_t);
  compressed_node *nodes = malloc(size);
  uint32_t *order = malloc(bytes);
  slab_status status = nodes == NULL || order == NULL ? fail_memory(size + bytes, "the nodes by depth") : SLAB_OK;
  if (status == SLAB_OK) status = gpu_fetch(d, &last->states[0], SLAB_LAYOUT_COMPRESSED, size, 0, nodes, NULL);
  if (status == SLAB_OK) {
    list_depths(nodes, last->bvh.collapsed_root, plan, order);
    status = driver_of(d)->create(d, GPU_READ, GPU_COPY, bytes, order, "the nodes by depth", &plan->order);
  }
  free(nodes);
  free(order);
  return status;
}

/* No place for any triangle: the kernel that finds them may fail as it runs, and others are queued behind it. */
static slab_status create_places(const device *d, uint64_t triangles, gpu_buffer **places) {
  const size_t size = triangles * sizeof(uint32_t);
  uint32_t *none = malloc(size);
  if (none == NULL) return fail_memory(size, "places of triangles");
  for (uint64_t i = 0; i < triangles; i++) none[i] = SLAB_MISS;
  const slab_status status =
      driver_of(d)->create(d, GPU_READ_WRITE, GPU_COPY, size, none, "places of triangles", places);
  free(none);
  return status;
}

static uint32_t triangle_count(const snapshot *last) { return (uint32_t)(last->bvh.floats / COMPRESSED_TRIANGLE); }

static slab_status share(const device *d, gpu_buffer *buffer, gpu_buffer **with) {
  const slab_status status = driver_of(d)->retain(buffer, "a refit");
  if (status == SLAB_OK) *with = buffer;
  return status;
}

/* The plan of the last commit, where that is of the same build, or a new one. */
static slab_status plan_refit(commands *c, const snapshot *last, refit_plan *plan) {
  const gpu_scene *from = last->states[0].uploaded;
  const uint32_t count = triangle_count(last);
  if (from->plan.places != NULL) {
    *plan = from->plan;
    plan->order = plan->places = NULL;
    const slab_status status = share(c->device, from->plan.order, &plan->order);
    return status == SLAB_OK ? share(c->device, from->plan.places, &plan->places) : status;
  }
  slab_status status = plan_order(c->device, last, plan);
  if (status == SLAB_OK) status = create_places(c->device, last->primitives, &plan->places);
  if (status == SLAB_OK)
    status = RUN(c, KERNEL_PLACES, count, BUFFER_ARGUMENT(from->blocks[0]), BUFFER_ARGUMENT(plan->places),
                 VALUE_ARGUMENT(count));
  return status;
}

/* ---- the whole ---- */

static slab_status move_triangles(commands *c, const snapshot *scene, const snapshot *last, gpu_scene *to) {
  slab_status status = SLAB_OK;
  for (uint32_t g = 0; status == SLAB_OK && g < scene->geometries; g++) {
    const geometry_values *v = scene->values[g];
    const geometry_entry *entry = &scene->table[g];
    if (!has_moved(scene, last, g)) continue;
    if (v->indices != NULL) status = indices_take(c->device, v->indices, entry->count);
    gpu_buffer *vertices = v->copy.memory, *indices = v->indices != NULL ? v->indices->copy.memory : NULL;
    if (status == SLAB_OK)
      status = RUN(c, KERNEL_TRIANGLES, entry->count, BUFFER_ARGUMENT(vertices), BUFFER_ARGUMENT(indices),
                   BUFFER_ARGUMENT(to->plan.places), BUFFER_ARGUMENT(to->blocks[0]),
                   VALUE_ARGUMENT(entry->global_id_base), VALUE_ARGUMENT(entry->count));
  }
  return status;
}

/* Areas need no more than to stay within the range of float. */
static float scale_of(const snapshot *scene) {
  const bvh_bounds b = layout_bounds(scene);
  const float side = fmaxf(fmaxf(b.upper[0] - b.lower[0], b.upper[1] - b.lower[1]), b.upper[2] - b.lower[2]);
  return side > 0.0f ? ldexpf(1.0f, ilogbf(side) < -126 ? 126 : -ilogbf(side)) : 1.0f;
}

static slab_status move_nodes(commands *c, const snapshot *scene, const gpu_scene *from, gpu_scene *to,
                              gpu_buffer *refitted) {
  const tuning *t = c->device->tuning;
  const refit_costs costs = {BVH_COST_NODE, t->leaves.cost, scale_of(scene)};
  const refit_plan *plan = &to->plan;
  slab_status status = SLAB_OK;
  for (uint32_t depth = plan->depths; status == SLAB_OK && depth-- > 0;) {
    const uint32_t first = depth == 0 ? 0 : plan->ends[depth - 1], end = plan->ends[depth];
    status = RUN(c, KERNEL_NODES, end - first, BUFFER_ARGUMENT(from->nodes[0]), BUFFER_ARGUMENT(to->nodes[0]),
                 BUFFER_ARGUMENT(to->blocks[0]), BUFFER_ARGUMENT(plan->order), BUFFER_ARGUMENT(refitted),
                 VALUE_ARGUMENT(first), VALUE_ARGUMENT(end), VALUE_ARGUMENT(costs));
  }
  return status;
}

/* As in bvh.h: where the root has no area, every area counts as 1. */
static slab_status read_cost(const device *d, const snapshot *last, gpu_buffer *refitted, double *sah_cost) {
  refitted_node root;
  const slab_status status = driver_of(d)->read(gpu_of(d)->queue, refitted, 0, &root, sizeof root, true, (gpu_order){0},
                                                "the cost of the tree");
  if (status != SLAB_OK) return status;
  const double nodes = (double)(last->bvh.node_bytes / sizeof(compressed_node)), triangles = triangle_count(last);
  *sah_cost = root.area > 0.0f ? (double)root.cost / (double)root.area
                               : nodes * (double)BVH_COST_NODE + triangles * (double)d->tuning->leaves.cost;
  return SLAB_OK;
}

static slab_status create_buffers(const device *d, const snapshot *scene, const snapshot *last, gpu_scene *to,
                                  gpu_buffer **refitted) {
  const gpu_driver *driver = driver_of(d);
  const size_t nodes = last->bvh.node_bytes, count = nodes / sizeof(compressed_node);
  slab_status status = buffers_upload_table(d, scene->table, scene->entries, gpu_of(d)->scene_in_place, &to->table);
  if (status == SLAB_OK)
    status = driver->create(d, GPU_READ_WRITE, GPU_OWN, last->bvh.floats * sizeof(float), NULL, "the tree's blocks",
                            to->blocks);
  if (status == SLAB_OK)
    status = driver->create(d, GPU_READ_WRITE, GPU_OWN, nodes, NULL, "the tree's nodes", to->nodes);
  return status == SLAB_OK ? driver->create(d, GPU_READ_WRITE, GPU_OWN, count * sizeof(refitted_node), NULL,
                                            "refitted nodes", refitted)
                           : status;
}

/* Of the plan, and of the indices of all meshes. */
static uint64_t bytes_kept(const snapshot *scene, const snapshot *last) {
  uint64_t words = last->bvh.node_bytes / sizeof(compressed_node) + last->primitives;
  for (uint32_t g = 0; g < scene->geometries; g++) {
    const geometry_values *v = scene->values[g];
    if (v != NULL && v->indices != NULL && v->indices->copy.memory != NULL)
      words += 3 * (uint64_t)scene->table[g].count;
  }
  return words * sizeof(uint32_t);
}

slab_status gpu_refit(device *d, const snapshot *scene, const snapshot *last, scene_state *state, refit_outcome *out) {
  const gpu_scene *from = last->states[0].uploaded;
  commands c = {.device = d};
  gpu_buffer *below = NULL; /* the facts about each node's subtree */
  if (from->cut) return SLAB_OK;
  gpu_scene *to = state->uploaded = calloc(1, sizeof *to);
  if (to == NULL) return fail_memory(sizeof *to, "a scene's buffers");
  slab_status status = create_buffers(d, scene, last, to, &below);
  if (status == SLAB_OK) status = plan_refit(&c, last, &to->plan);
  if (status == SLAB_OK) status = copy_buffer(&c, from->blocks[0], to->blocks[0], last->bvh.floats * sizeof(float));
  if (status == SLAB_OK) status = move_triangles(&c, scene, last, to);
  if (status == SLAB_OK) status = move_nodes(&c, scene, from, to, below);
  status = commands_end(&c, status); /* before buffers go */
  if (status == SLAB_OK) status = read_cost(d, last, below, &out->sah_cost);
  gpu_release_buffer(d, &below);
  out->bytes = bytes_kept(scene, last);
  out->done = status == SLAB_OK;
  return status;
}
