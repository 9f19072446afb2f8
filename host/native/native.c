/* The processor as a device: its description, the level that it runs, and the scenes on it. */
#include "native/native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "base/plural.h"
#include "base/pool.h"
#include "base/processors.h"
#include "base/status.h"
#include "device/tuning.h"
#include "os/process.h"

/* ---- the processor ---- */

/* Whether this processor, and the system, have the instructions that a level was compiled for. */
static bool runs(const native_level *level) {
#ifdef __x86_64__
  if (strcmp(level->name, "x86-64-v3") == 0) return x86_level() >= 3;
  if (strcmp(level->name, "x86-64-v4") == 0) return x86_level() >= 4;
#endif
  return level->name != NULL;
}

/* The best level with this many lanes (0: with any), or NULL. */
static const native_level *level_with(uint32_t lanes) {
  for (const native_level *l = native_levels; l->name != NULL; l++)
    if ((lanes == 0 || l->lanes == lanes) && runs(l)) return l;
  return NULL;
}

#ifdef __x86_64__
static void tell_processor(slab_device_info *info) {
  unsigned words[12] = {0}, most = 0, leaf[4];
  if (__get_cpuid(0, &leaf[0], &leaf[1], &leaf[2], &leaf[3])) {
    const unsigned vendor[] = {leaf[1], leaf[3], leaf[2]};
    memcpy(info->vendor, vendor, sizeof vendor);
  }
  if (__get_cpuid(0x80000000u, &most, &leaf[1], &leaf[2], &leaf[3]) && most >= 0x80000004u)
    for (unsigned i = 0; i < 3; i++)
      __get_cpuid(0x80000002u + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2], &words[4 * i + 3]);
  char name[sizeof words + 1] = "";
  memcpy(name, words, sizeof words);
  const char *begin = name;
  while (*begin == ' ') begin++;
  snprintf(info->name, sizeof info->name, "%s", begin);
  for (size_t end = strlen(info->name); end > 0 && info->name[end - 1] == ' ';) info->name[--end] = 0;
}
#else
static void tell_processor(slab_device_info *info) { os_machine(info->name, sizeof info->name); }
#endif

static void tell_level(slab_device_info *info, const native_level *level) {
  snprintf(info->version, sizeof info->version, "compiled for %s", level->name);
  info->lane_width = level->lanes;
}

static slab_device_info processor_info(const native_level *level) {
  slab_device_info info = {.type = SLAB_DEVICE_CPU, .denormals = 1, .rounds_to_nearest = 1, .exact_divide = 1};
  const uint64_t memory = os_memory();
  tell_processor(&info);
  snprintf(info.driver, sizeof info.driver, "%s", slab_version());
  tell_level(&info, level);
  snprintf(info.platform, sizeof info.platform, SLAB_PROCESSOR_PLATFORM);
  info.compute_units = pool_threads();
  info.memory_bytes = info.allocation_bytes = memory > 0 ? memory : SIZE_MAX;
  return info;
}

static slab_status native_list(const backend *own, device_list *list) {
  const native_level *level = level_with(0);
  if (level == NULL) return fail(SLAB_NO_DEVICE, "the library was built without kernels for this processor");
  const slab_status status = device_list_reserve(list, 1);
  if (status != SLAB_OK) return status;
  list->devices[list->count++] = (found_device){.backend = own, .info = processor_info(level)};
  return SLAB_OK;
}

/* ---- opening ---- */

static slab_status native_open(slab_context *context, device *d, const found_device *found) {
  (void)context, (void)found;
  const native_level *level = level_with(d->info.lane_width);
  if (level == NULL)
    return fail(SLAB_UNSUPPORTED,
                "\"%s\": the library has no kernels of %u lane%s that this processor can run; lane_width 0 takes the "
                "best it has",
                d->info.name, d->info.lane_width, plural(d->info.lane_width, "", "s"));
  native_device *n = d->opened = calloc(1, sizeof *n);
  if (n == NULL) return fail_memory(sizeof *n, "a device");
  for (const native_variant *v = level->variants; v->program != NATIVE_END; v++)
    n->of[v->program][v->query][v->kinds] = v;
  tell_level(&d->info, level);
  d->in_place = true;
  d->tuning = tuning_of(SLAB_DEVICE_CPU);
  return SLAB_OK;
}

static void native_close(device *d) {
  if (d->opened != NULL) native_free_idle(d->opened);
  free(d->opened);
  d->opened = NULL;
}

/* ---- scenes ---- */

/* Instead of an empty array, which may be NULL: kernels read an element before they know that none counts. */
static const geometry_entry no_geometry;
static const float no_block[BLOCK_TAIL];

static slab_status native_upload(const device *d, const scene_arrays *from, scene_state *state, bool *in_place) {
  (void)d;
  native_scene *to = state->uploaded = malloc(sizeof *to);
  if (to == NULL) return fail_memory(sizeof *to, "a scene");
  *to = (native_scene){from->geometries > 0 ? from->table : &no_geometry, from->floats > 0 ? from->blocks : no_block,
                       from->nodes};
  *in_place = true;
  return SLAB_OK;
}

static void native_release(const device *d, scene_state *state) {
  (void)d;
  free(state->uploaded);
  state->uploaded = NULL;
}

static slab_status native_fetch(const device *d, const scene_state *state, slab_layout layout, size_t node_bytes,
                                size_t floats, void *nodes, void *blocks) {
  const native_scene *from = state->uploaded;
  (void)d, (void)layout;
  memcpy(nodes, from->nodes, node_bytes);
  memcpy(blocks, from->blocks, floats * sizeof(float));
  return SLAB_OK;
}

static offer native_offers(const device_scene *on, slab_query query) {
  offer o = {.traversals = 1u << SLAB_TRAVERSAL_SINGLE, .walkers = native_walkers(on)};
  if (!device_scene_has_traversals(on) || on->device->info.lane_width == 1) return o;
  const native_variant *packet = native_variant_of(on, NATIVE_PACKET, query);
  if (packet != NULL) o.traversals |= 1u << SLAB_TRAVERSAL_PACKETS, o.packet = packet->lanes;
  if (native_variant_of(on, NATIVE_INTERLEAVED, query) != NULL) o.traversals |= 1u << SLAB_TRAVERSAL_INTERLEAVED;
  return o;
}

const backend native_backend = {
    .ready = true,
    .tiles = true,
    .far = true,
    .mixes = true,
    .at_hand = true,
    .list = native_list,
    .open = native_open,
    .close = native_close,
    .upload = native_upload,
    .release = native_release,
    .fetch = native_fetch,
    .offers = native_offers,
    .begin = native_begin,
    .end = native_end,
    .abandon = native_abandon,
    .settle = native_settle,
    .few = native_few,
    .make_rays = native_make_rays,
    .pairs = native_cast_pairs,
};
