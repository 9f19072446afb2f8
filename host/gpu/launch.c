/* Launches the kernels of a cast, on buffers of the library or of the caller. */
#include "gpu/launch.h"
#include "data/types.h"
#include "device/context.h"
#include "gpu/program.h"
#include "layout/layout.h"
#include "os/thread.h"

/* Work-items per group. A work-item with interleaved rays is alone in its group. Drivers keep the private memory of all
 * work-items of a group apart, so several such work-items would evict each other's from the cache. */
static uint32_t group_of(const device_scene *on, bool interleaved) {
  return interleaved ? 1 : on->device->tuning->group;
}

/* Rays per work-item; fewer where some cores would get none otherwise. */
static uint32_t rays_each(const device_scene *on, uint32_t rays, bool interleaved) {
  const tuning *t = on->device->tuning;
  const uint32_t most = !on->scene->has_bvh ? t->rays_each : interleaved ? t->interleaved_rays : t->bvh_rays;
  const uint32_t fair =
      rays / (t->groups_a_unit * group_of(on, interleaved) * (on->device->info.compute_units + 1)) + 1;
  return fair < most ? fair : most;
}

enum { ARGUMENTS_MOST = 14 + 2 * SCENE_BUFFERS };

/* Lists the arguments in the order of the kernels' parameters. Kernels of flat scenes have no nodes and nothing after
 * them; kernels of compressed BVHs end with the nodes. Returns the number of arguments. */
static uint32_t list_shared(const device_scene *on, const launch *l, gpu_argument list[ARGUMENTS_MOST]) {
  const gpu_scene *scene = uploaded(on);
  const int buffers = scene->cut ? SCENE_BUFFERS : 1;
  uint32_t n = 0;
  list[n++] = BUFFER_ARGUMENT(l->rays);
  list[n++] = BUFFER_ARGUMENT(l->results);
  list[n++] = BUFFER_ARGUMENT(l->offsets);
  list[n++] = BUFFER_ARGUMENT(scene->table);
  for (int k = 0; k < buffers; k++) list[n++] = BUFFER_ARGUMENT(scene->blocks[k]);
  list[n++] = BUFFER_ARGUMENT(l->skips);
  list[n++] = BUFFER_ARGUMENT(l->invalid);
  list[n++] = VALUE_ARGUMENT(l->uniforms);
  if (!on->scene->has_bvh) return n;
  for (int k = 0; k < buffers; k++) list[n++] = BUFFER_ARGUMENT(scene->nodes[k]);
  if (!device_scene_has_traversals(on)) return n;
  list[n++] = BUFFER_ARGUMENT(l->fallback);
  list[n++] = BUFFER_ARGUMENT(l->sorted);
  return n;
}

static bool has_own(const launch *l) { return l->masks != NULL || l->after != NULL || l->worlds != NULL; }

/* The same, and at the end the arrays of rays' own values, and those of walk/counted.h. */
static uint32_t list_arguments(const device_scene *on, const launch *l, gpu_argument list[ARGUMENTS_MOST]) {
  uint32_t n = list_shared(on, l, list);
  if (has_own(l)) {
    list[n++] = BUFFER_ARGUMENT(l->masks);
    list[n++] = BUFFER_ARGUMENT(l->after);
    list[n++] = BUFFER_ARGUMENT(l->worlds);
  }
  if (l->counted != NULL) {
    list[n++] = BUFFER_ARGUMENT(l->counted);
    list[n++] = VALUE_ARGUMENT(l->counted_at);
  }
  return n;
}

/* Enqueues one work-item per `rays` rays, in groups of `group` work-items where the kernel allows it. */
static slab_status enqueue(const device_scene *on, const program_key *key, uint32_t nth, launch *l, uint32_t rays,
                           size_t group, gpu_queue *queue, gpu_order order) {
  gpu_argument list[ARGUMENTS_MOST];
  kernel_run run = {.key = *key,
                    .nth = nth,
                    .arguments = list,
                    .count = list_arguments(on, l, list),
                    .items = ((size_t)l->uniforms.rays + rays - 1) / rays,
                    .group = group,
                    .queue = queue,
                    .order = order,
                    .what = "a cast"};
  run.key.counted = l->counted != NULL;
  run.key.own = has_own(l);
  run.key.closed = (l->uniforms.rules & RULE_CLOSED) != 0 && (key->kinds >> SLAB_TRIANGLE & 1) != 0 &&
                   program_has_one_edges(on->device, key->source);
  return program_run(on->device, &run, &l->first_use);
}

static program_source source_of(const device_scene *on) {
  if (!on->scene->has_bvh) return PROGRAM_FLAT;
  return device_scene_has_traversals(on) ? PROGRAM_WIDE : PROGRAM_COMPRESSED;
}

/* The stack that a program is compiled with: the scene's entries, rounded up so that most scenes share programs. BVHs
 * up to 18 deep need 126; the few that are deeper share the stack of the deepest. Of scenes with instances the sum over
 * all depths is: the scene and four models in each other, each with a BVH eight deep, need 392. */
static uint32_t stack_of(const device_scene *on) {
  const bool wide = device_scene_has_traversals(on);
  const uint32_t need = on->scene->bvh.stack, deepest = layout_stack(SLAB_LAYOUT_WIDE, BVH_DEPTH_MAX);
  const uint32_t step = !wide ? BVH_DEPTH_MAX : on->scene->has_instances ? 512 : need <= 128 ? 128 : deepest;
  return (need + step - 1) / step * step;
}

static program_key key_of(const device_scene *on, program_source source, slab_query query, bool deferred) {
  return (program_key){.source = source,
                       .query = PROGRAM_QUERY(query),
                       /* of a scene with instances all: its models change the kinds, and so there are few programs */
                       .kinds = on->scene->has_instances ? SHAPES_ALL : on->scene->kinds,
                       .stack = stack_of(on),
                       .deferred = deferred,
                       .instances = on->scene->has_instances,
                       .cut = uploaded(on)->cut};
}

/* ---- points ---- */

static program_source points_source_of(const device_scene *on) {
  if (!on->scene->has_bvh) return PROGRAM_POINTS_FLAT;
  return device_scene_has_traversals(on) ? PROGRAM_POINTS_WIDE : PROGRAM_POINTS_COMPRESSED;
}

slab_status launch_points(const device_scene *on, slab_query query, float radius, launch *l, gpu_queue *queue,
                          gpu_order order) {
  const gpu_scene *scene = uploaded(on);
  const int buffers = scene->cut ? SCENE_BUFFERS : 1;
  gpu_argument list[ARGUMENTS_MOST] = {BUFFER_ARGUMENT(l->rays),    BUFFER_ARGUMENT(l->results),
                                       BUFFER_ARGUMENT(NULL),       BUFFER_ARGUMENT(l->radii),
                                       BUFFER_ARGUMENT(l->masks),   BUFFER_ARGUMENT(l->worlds),
                                       BUFFER_ARGUMENT(l->invalid), BUFFER_ARGUMENT(scene->table)};
  uint32_t n = 8;
  for (int k = 0; k < buffers; k++) list[n++] = BUFFER_ARGUMENT(scene->blocks[k]);
  list[n++] = VALUE_ARGUMENT(l->uniforms);
  list[n++] = VALUE_ARGUMENT(radius);
  if (on->scene->has_bvh) {
    for (int k = 0; k < buffers; k++) list[n++] = BUFFER_ARGUMENT(scene->nodes[k]);
    list[n++] = VALUE_ARGUMENT(on->scene->bvh.collapsed_root);
  }
  l->uniforms.rays_each = rays_each(on, l->uniforms.rays, false);
  const kernel_run run = {.key = key_of(on, points_source_of(on), query, false),
                          .nth = KERNEL_MAIN,
                          .arguments = list,
                          .count = n,
                          .items = ((size_t)l->uniforms.rays + l->uniforms.rays_each - 1) / l->uniforms.rays_each,
                          .group = on->device->tuning->group,
                          .queue = queue,
                          .order = order,
                          .what = "points"};
  return program_run(on->device, &run, &l->first_use);
}

slab_status launch_boundary(const device_scene *on, const boundary *of, const void *tables, launch *l, gpu_queue *queue,
                            gpu_order order) {
  const call_tables *t = tables;
  const uint32_t trees = of->trees, mask = l->uniforms.mask, count = l->uniforms.rays, each = 1;
  const gpu_argument list[] = {BUFFER_ARGUMENT(l->rays),  BUFFER_ARGUMENT(l->results), BUFFER_ARGUMENT(NULL),
                               BUFFER_ARGUMENT(l->masks), BUFFER_ARGUMENT(l->worlds),  BUFFER_ARGUMENT(t->boundary),
                               BUFFER_ARGUMENT(t->trees), VALUE_ARGUMENT(trees),       VALUE_ARGUMENT(mask),
                               VALUE_ARGUMENT(count),     VALUE_ARGUMENT(each)};
  const kernel_run run = {.key = {.source = PROGRAM_BOUNDARY},
                          .nth = KERNEL_MAIN,
                          .arguments = list,
                          .count = sizeof list / sizeof *list,
                          .items = count,
                          .group = on->device->tuning->group,
                          .queue = queue,
                          .order = order,
                          .what = "a boundary"};
  return program_run(on->device, &run, &l->first_use);
}

/* ---- kernels of the user's ---- */

program_key launch_trace_key(const device_scene *on) { return key_of(on, source_of(on), SLAB_CLOSEST, false); }

uint32_t launch_trace_buffers(const device_scene *on, gpu_buffer *list[1 + 2 * SCENE_BUFFERS]) {
  const gpu_scene *scene = uploaded(on);
  const uint32_t buffers = scene->cut ? SCENE_BUFFERS : 1;
  uint32_t n = 0;
  list[n++] = scene->table;
  for (uint32_t k = 0; k < buffers; k++) list[n++] = scene->blocks[k];
  for (uint32_t k = 0; k < buffers; k++) list[n++] = on->scene->has_bvh ? scene->nodes[k] : NULL;
  return n;
}

/* Work-items of flat scenes walk all their rays at once, those of interleaved rays tuning.walkers, others one ray. */
uint32_t launch_walkers(const device_scene *on, const launch *l) {
  const uint32_t rays = l->uniforms.rays, each = rays_each(on, rays, l->interleaved), items = (rays + each - 1) / each;
  if (!on->scene->has_bvh) return rays;
  return l->interleaved ? items * on->device->tuning->walkers : items;
}

slab_status launch_enqueue(const device_scene *on, slab_query query, launch *l, gpu_queue *queue, gpu_order order) {
  const program_key key = key_of(on, source_of(on), query, l->deferred);
  l->uniforms.rays_each = rays_each(on, l->uniforms.rays, l->interleaved);
  return enqueue(on, &key, l->interleaved ? KERNEL_INTERLEAVED : KERNEL_MAIN, l, l->uniforms.rays_each,
                 group_of(on, l->interleaved), queue, order);
}

uint32_t launch_packet(const device_scene *on, slab_query query) {
  const device *d = on->device;
  if (!device_scene_has_traversals(on) || d->info.lane_width == 1) return 0;
  const bool through_instances = query == SLAB_CLOSEST || query == SLAB_ANY || query == SLAB_COUNT;
  if (on->scene->has_instances && !through_instances) return 0;
  return query == SLAB_ALL || query == SLAB_INTERVAL ? 0 : d->info.lane_width;
}

offer gpu_offers(const device_scene *on, slab_query query) {
  device *d = on->device;
  offer o = {.traversals = 1u << SLAB_TRAVERSAL_SINGLE, .walkers = 1.0};
  if (!device_scene_has_traversals(on)) return o;
  o.walkers = (double)d->tuning->walkers / d->tuning->interleaved_rays;
  if (d->info.lane_width == 1) return o;
  o.packet = launch_packet(on, query);
  const program_key packets = key_of(on, PROGRAM_PACKET, query, false),
                    wide = key_of(on, PROGRAM_WIDE, query, launch_defers(on, query));
  os_mutex_lock(&d->lock);
  if (o.packet != 0 && program_pays(d, &packets, KERNEL_MAIN)) o.traversals |= 1u << SLAB_TRAVERSAL_PACKETS;
  if (program_pays(d, &wide, KERNEL_INTERLEAVED)) o.traversals |= 1u << SLAB_TRAVERSAL_INTERLEAVED;
  os_mutex_unlock(&d->lock);
  return o;
}

slab_status launch_packets(const device_scene *on, slab_query query, launch *l, gpu_queue *queue, gpu_order order) {
  const program_key key = key_of(on, PROGRAM_PACKET, query, false);
  const uint32_t packet = on->device->info.lane_width;
  l->uniforms.rays_each = (rays_each(on, l->uniforms.rays, false) + packet - 1) / packet * packet;
  return enqueue(on, &key, KERNEL_MAIN, l, l->uniforms.rays_each, on->device->tuning->group, queue, order);
}

bool launch_defers(const device_scene *on, slab_query query) {
  return query == SLAB_CLOSEST && launch_packet(on, query) != 0;
}

slab_status launch_attributes(const device_scene *on, slab_query query, launch *l, gpu_queue *queue, gpu_order order) {
  program_key key = key_of(on, PROGRAM_ATTRIBUTES, query, false);
  key.stack = 0; /* it has none */
  return enqueue(on, &key, KERNEL_MAIN, l, on->device->info.lane_width, on->device->tuning->group, queue, order);
}
