/* Refits on a device: new blocks and nodes of a compressed BVH beside those of the last commit, which casts may still
 * read. Vertices come from copies that updates have made; nothing but the table, and once the indices, is uploaded. */
#include "opencl/refit.h"

#include <math.h>
#include <stdlib.h>

#include "device/context.h"
#include "layout/layout.h"
#include "opencl/buffers.h"
#include "opencl/program.h"
#include "os/thread.h"
#include "shapes/values.h"

/* Bounds that a device makes must hold subnormal numbers, too. */
bool refit_is_there(const slab_context *context) {
  return context->device_count == 1 && context->layout == SLAB_LAYOUT_COMPRESSED && context->devices[0].info.denormals;
}

/* ---- copies ---- */

static void drop_copy(const device *d, void *copy) {
  cl_mem buffer = copy;
  if (!is_inherited(d)) objects_release_buffer(&buffer);
}

static slab_status await(cl_event *event, const char *what) {
  const cl_int code = clWaitForEvents(1, event); /* what fails while it runs tells nobody else */
  clReleaseEvent(*event);
  return code == CL_SUCCESS ? SLAB_OK : fail_cl(code, "clWaitForEvents", what);
}

slab_status refit_take_vertices(const device *d, const slab_span *from, size_t stride, uint32_t count,
                                device_copy *copy) {
  const size_t each = 3 * sizeof(float), size = count * each;
  const size_t start[3] = {from->offset, 0, 0}, begin[3] = {0, 0, 0}, region[3] = {each, count, 1};
  const cl_command_queue queue = cl_of(d)->queue;
  cl_mem buffer = NULL;
  cl_event copied = NULL;
  slab_status status = objects_create_buffer(d, CL_MEM_READ_WRITE, size, NULL, "vertices", &buffer);
  if (status != SLAB_OK) return status;
  if (stride == each) {
    const cl_int code = clEnqueueCopyBuffer(queue, from->buffer, buffer, start[0], 0, size, 0, NULL, &copied);
    if (code != CL_SUCCESS) status = fail_cl(code, "clEnqueueCopyBuffer", "vertices");
  } else {
    const cl_int code = clEnqueueCopyBufferRect(queue, from->buffer, buffer, start, begin, region, stride, 0, each, 0,
                                                0, NULL, &copied);
    if (code != CL_SUCCESS) status = fail_cl(code, "clEnqueueCopyBufferRect", "vertices");
  }
  if (status == SLAB_OK) status = await(&copied, "vertices");
  if (status == SLAB_OK)
    *copy = (device_copy){d, buffer, drop_copy};
  else
    objects_release_buffer(&buffer);
  return status;
}

/* Uploads a mesh's indices, for this refit and later ones. */
static slab_status indices_take(const device *d, mesh_indices *m, uint32_t triangles) {
  cl_mem buffer = NULL;
  if (m->copy.memory != NULL) return SLAB_OK;
  const slab_status status =
      objects_create_buffer(d, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, 3 * (size_t)triangles * sizeof *m->list,
                            m->list, "a mesh's indices", &buffer);
  if (status == SLAB_OK) m->copy = (device_copy){d, buffer, drop_copy};
  return status;
}

/* ---- commands ---- */

/* Commands on the device's queue, each of which sees what those before it wrote. Failures surface only through their
 * events, so all are kept until they are waited for. */
typedef struct commands {
  device *device;
  cl_event events[64];
  cl_uint count;
} commands;

/* Waits for all so far, and returns the first failure: `status`, or theirs. */
static slab_status commands_end(commands *c, slab_status status) {
  const cl_int code = c->count == 0 ? CL_SUCCESS : clWaitForEvents(c->count, c->events);
  while (c->count > 0) clReleaseEvent(c->events[--c->count]);
  return status == SLAB_OK && code != CL_SUCCESS ? fail_cl(code, "clWaitForEvents", "a refit") : status;
}

/* Makes room for one more. */
static slab_status commands_next(commands *c) {
  return c->count < sizeof c->events / sizeof *c->events ? SLAB_OK : commands_end(c, SLAB_OK);
}

static slab_status copy_buffer(commands *c, cl_mem from, cl_mem to, size_t size) {
  slab_status status = commands_next(c);
  if (status != SLAB_OK) return status;
  const cl_int code = clEnqueueCopyBuffer(cl_of(c->device)->queue, from, to, 0, 0, size, 0, NULL, &c->events[c->count]);
  if (code != CL_SUCCESS) return fail_cl(code, "clEnqueueCopyBuffer", "a refit");
  c->count++;
  return SLAB_OK;
}

typedef struct argument {
  size_t size;
  const void *value;
} argument;

#define ARGUMENT(variable) \
  { sizeof(variable), &(variable) }
#define RUN(c, kernel, items, ...) \
  run(c, kernel, items, (const argument[]){__VA_ARGS__}, sizeof((const argument[]){__VA_ARGS__}) / sizeof(argument))

/* Enqueues a kernel of `items` work-items, one or more. */
static slab_status run(commands *c, uint32_t nth, size_t items, const argument *list, size_t arguments) {
  const program_key key = {.source = PROGRAM_REFIT, .kinds = 1u << SLAB_TRIANGLE};
  device *d = c->device;
  ready_kernel ready = {0};
  cl_int code = CL_SUCCESS;
  slab_status status = commands_next(c);
  if (status != SLAB_OK) return status;
  os_mutex_lock(&d->lock);
  status = program_find(d, &key, nth, &ready);
  for (cl_uint i = 0; status == SLAB_OK && i < arguments; i++) {
    code = clSetKernelArg(ready.kernel, i, list[i].size, list[i].value);
    if (code != CL_SUCCESS) status = fail_cl(code, "clSetKernelArg", "a refit");
  }
  if (status == SLAB_OK) {
    const size_t local = program_group(&ready, WORK_GROUP), global = (items + local - 1) / local * local;
    code =
        clEnqueueNDRangeKernel(cl_of(d)->queue, ready.kernel, 1, NULL, &global, &local, 0, NULL, &c->events[c->count]);
    if (code == CL_SUCCESS)
      c->count++;
    else
      status = fail_cl(code, "clEnqueueNDRangeKernel", "a refit");
  }
  os_mutex_unlock(&d->lock);
  return status;
}

/* ---- the plan of a build ---- */

/* Lists the nodes breadth first, so level by level. */
static void list_levels(const compressed_node *nodes, refit_plan *plan, uint32_t *order) {
  uint32_t count = 1;
  order[0] = 0;
  plan->levels = 0;
  for (uint32_t first = 0; first < count; first = plan->ends[plan->levels++]) {
    plan->ends[plan->levels] = count;
    for (uint32_t i = first; i < plan->ends[plan->levels]; i++) {
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
  slab_status status = nodes == NULL || order == NULL ? fail_memory(size + bytes, "the levels of the tree") : SLAB_OK;
  if (status == SLAB_OK) status = opencl_fetch(d, &last->states[0], SLAB_LAYOUT_COMPRESSED, size, 0, nodes, NULL);
  if (status == SLAB_OK) {
    list_levels(nodes, plan, order);
    status = objects_create_buffer(d, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, order, "the levels of the tree",
                                   &plan->order);
  }
  free(nodes);
  free(order);
  return status;
}

/* No place yet for any triangle: the BVH leaves out those that are never hit. */
static slab_status create_places(const device *d, uint64_t triangles, cl_mem *places) {
  const size_t size = triangles * sizeof(uint32_t);
  uint32_t *none = malloc(size);
  if (none == NULL) return fail_memory(size, "places of triangles");
  for (uint64_t i = 0; i < triangles; i++) none[i] = SLAB_MISS;
  const slab_status status =
      objects_create_buffer(d, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size, none, "places of triangles", places);
  free(none);
  return status;
}

static uint32_t triangle_count(const snapshot *last) { return (uint32_t)(last->bvh.floats / COMPRESSED_TRIANGLE); }

static slab_status share(cl_mem buffer, cl_mem *with) {
  const cl_int code = clRetainMemObject(buffer);
  if (code != CL_SUCCESS) return fail_cl(code, "clRetainMemObject", "a refit");
  *with = buffer;
  return SLAB_OK;
}

/* The plan of the last commit, where that is of the same build, or a new one. */
static slab_status plan_refit(commands *c, const snapshot *last, refit_plan *plan) {
  const opencl_scene *from = last->states[0].uploaded;
  const uint32_t count = triangle_count(last);
  if (from->plan.places != NULL) {
    *plan = from->plan;
    plan->order = plan->places = NULL;
    const slab_status status = share(from->plan.order, &plan->order);
    return status == SLAB_OK ? share(from->plan.places, &plan->places) : status;
  }
  slab_status status = plan_order(c->device, last, plan);
  if (status == SLAB_OK) status = create_places(c->device, last->primitives, &plan->places);
  if (status == SLAB_OK)
    status = RUN(c, KERNEL_PLACES, count, ARGUMENT(from->blocks[0]), ARGUMENT(plan->places), ARGUMENT(count));
  return status;
}

/* ---- the whole ---- */

static slab_status move_triangles(commands *c, const snapshot *scene, const snapshot *last, opencl_scene *to) {
  slab_status status = SLAB_OK;
  for (uint32_t g = 0; status == SLAB_OK && g < scene->geometries; g++) {
    const geometry_values *v = scene->values[g];
    const geometry_entry *entry = &scene->table[g];
    if (!has_moved(scene, last, g)) continue;
    if (v->indices != NULL) status = indices_take(c->device, v->indices, entry->count);
    const cl_mem vertices = v->copy.memory, indices = v->indices != NULL ? v->indices->copy.memory : NULL;
    const argument list = {sizeof indices, indices != NULL ? &indices : NULL};
    if (status == SLAB_OK)
      status = RUN(c, KERNEL_TRIANGLES, entry->count, ARGUMENT(vertices), list, ARGUMENT(to->plan.places),
                   ARGUMENT(to->blocks[0]), ARGUMENT(entry->global_id_base), ARGUMENT(entry->count));
  }
  return status;
}

/* Areas need no more than to stay within the range of float. */
static float scale_of(const snapshot *scene) {
  const bvh_bounds b = layout_bounds(scene);
  const float side = fmaxf(fmaxf(b.upper[0] - b.lower[0], b.upper[1] - b.lower[1]), b.upper[2] - b.lower[2]);
  return side > 0.0f ? ldexpf(1.0f, ilogbf(side) < -126 ? 126 : -ilogbf(side)) : 1.0f;
}

static slab_status move_nodes(commands *c, const snapshot *scene, const opencl_scene *from, opencl_scene *to,
                              cl_mem refitted) {
  const tuning *t = c->device->tuning;
  const refit_costs costs = {BVH_COST_NODE, t->leaves.cost, scale_of(scene)};
  const refit_plan *plan = &to->plan;
  slab_status status = SLAB_OK;
  for (uint32_t level = plan->levels; status == SLAB_OK && level-- > 0;) {
    const uint32_t first = level == 0 ? 0 : plan->ends[level - 1], end = plan->ends[level];
    status =
        RUN(c, KERNEL_NODES, end - first, ARGUMENT(from->nodes[0]), ARGUMENT(to->nodes[0]), ARGUMENT(to->blocks[0]),
            ARGUMENT(plan->order), ARGUMENT(refitted), ARGUMENT(first), ARGUMENT(end), ARGUMENT(costs));
  }
  return status;
}

/* As bvh.h says it: where the root has no area, every area counts as 1. */
static slab_status read_cost(const device *d, const snapshot *last, cl_mem refitted, double *sah_cost) {
  refitted_node root;
  const cl_int code = clEnqueueReadBuffer(cl_of(d)->queue, refitted, CL_TRUE, 0, sizeof root, &root, 0, NULL, NULL);
  if (code != CL_SUCCESS) return fail_cl(code, "clEnqueueReadBuffer", "the cost of the tree");
  const double nodes = (double)(last->bvh.node_bytes / sizeof(compressed_node)), triangles = triangle_count(last);
  *sah_cost = root.area > 0.0f ? (double)root.cost / (double)root.area
                               : nodes * (double)BVH_COST_NODE + triangles * (double)d->tuning->leaves.cost;
  return SLAB_OK;
}

static slab_status create_buffers(const device *d, const snapshot *scene, const snapshot *last, opencl_scene *to,
                                  cl_mem *refitted) {
  const size_t nodes = last->bvh.node_bytes, count = nodes / sizeof(compressed_node);
  slab_status status = buffers_upload_table(d, scene->table, scene->entries, cl_of(d)->scene_in_place, &to->table);
  if (status == SLAB_OK)
    status = objects_create_buffer(d, CL_MEM_READ_WRITE, last->bvh.floats * sizeof(float), NULL, "the tree's blocks",
                                   to->blocks);
  if (status == SLAB_OK)
    status = objects_create_buffer(d, CL_MEM_READ_WRITE, nodes, NULL, "the tree's nodes", to->nodes);
  return status == SLAB_OK ? objects_create_buffer(d, CL_MEM_READ_WRITE, count * sizeof(refitted_node), NULL,
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

slab_status opencl_refit(device *d, const snapshot *scene, const snapshot *last, scene_state *state,
                         refit_outcome *out) {
  const opencl_scene *from = last->states[0].uploaded;
  commands c = {.device = d};
  cl_mem below = NULL; /* what is below each node */
  if (from->cut) return SLAB_OK;
  opencl_scene *to = state->uploaded = calloc(1, sizeof *to);
  if (to == NULL) return fail_memory(sizeof *to, "a scene's buffers");
  slab_status status = create_buffers(d, scene, last, to, &below);
  if (status == SLAB_OK) status = plan_refit(&c, last, &to->plan);
  if (status == SLAB_OK) status = copy_buffer(&c, from->blocks[0], to->blocks[0], last->bvh.floats * sizeof(float));
  if (status == SLAB_OK) status = move_triangles(&c, scene, last, to);
  if (status == SLAB_OK) status = move_nodes(&c, scene, from, to, below);
  status = commands_end(&c, status); /* before buffers go */
  if (status == SLAB_OK) status = read_cost(d, last, below, &out->sah_cost);
  objects_release_buffer(&below);
  out->bytes = bytes_kept(scene, last);
  out->done = status == SLAB_OK;
  return status;
}
