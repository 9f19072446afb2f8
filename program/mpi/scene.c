#include "program/mpi/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/clock.h"
#include "program/common/device.h"
#include "program/io/errors.h"

/* ---- devices --------------------------------------------------------------- */

enum { SELECTOR_MAX = 160 };

/* Copies word `index` of a list, modulo the number of words. */
static void take_word(const char *list, int index, char word[SELECTOR_MAX]) {
  int words = 1;
  for (const char *at = list; *at; at++) words += *at == ',';
  for (index %= words; index > 0; index--) list = strchr(list, ',') + 1;
  snprintf(word, SELECTOR_MAX, "%.*s", (int)strcspn(list, ","), list);
}

/* The list index of device number `index` among those of a type (any: among all), modulo their number; -1: none. */
static int find_device(const slab_device_info *list, size_t count, int any, slab_device_type type, int index) {
  int found = 0;
  for (size_t i = 0; i < count; i++) found += any || list[i].type == type;
  if (found == 0) return -1;
  index %= found;
  for (size_t i = 0; i < count; i++)
    if ((any || list[i].type == type) && index-- == 0) return (int)i;
  return -1;
}

/* The selector for slab_context_create; NULL: none. */
static const char *select_device(const char *selector, int local, char word[SELECTOR_MAX]) {
  if (selector && strchr(selector, ',')) {
    take_word(selector, local, word);
    return word;
  }
  const int all = selector && !strcmp(selector, "all"), cpu = selector && !strcmp(selector, "cpu");
  if (selector && !all && !cpu && strcmp(selector, "gpu") != 0) return selector;
  size_t count = 0;
  if (slab_devices(NULL, 0, &count) != SLAB_OK) return selector;
  slab_device_info *list = calloc(count + 1, sizeof *list);
  int found = -1;
  if (list && slab_devices(list, count, &count) == SLAB_OK)
    found = find_device(list, count, all, cpu ? SLAB_DEVICE_CPU : SLAB_DEVICE_GPU, local);
  free(list);
  if (found < 0) return selector;
  snprintf(word, SELECTOR_MAX, "%d", found);
  return word;
}

/* Opens this rank's device. Returns an exit code. */
static int open_device(const team *t, slab_context_options options, slab_context **context) {
  char word[SELECTOR_MAX];
  options.device = select_device(options.device, t->local, word);
  return device_open_with(&options, context);
}

/* ---- the scene ------------------------------------------------------------- */

/* Allocates `size` bytes, or prints an error. */
static void *space_for(uint64_t size) {
  void *bytes = size <= SIZE_MAX ? malloc((size_t)size) : NULL;
  if (!bytes) complain("out of memory for a packed scene of %llu bytes", (unsigned long long)size);
  return bytes;
}

/* Rank 0: serializes the scene. */
static int pack(const slab_scene *scene, void **bytes, uint64_t *size) {
  size_t needed = 0;
  slab_status status = slab_scene_pack(scene, NULL, 0, &needed);
  *size = needed;
  if (status == SLAB_OK && !(*bytes = space_for(needed))) return EXIT_FAILED;
  if (status == SLAB_OK) status = slab_scene_pack(scene, *bytes, needed, &needed);
  return status == SLAB_OK ? EXIT_DONE : complain_status(status, "packing the scene");
}

/* Sends the scene of rank 0 to all ranks. All ranks must have agreed that rank 0 has it. */
static int hand_round(team *t, scene_source *source, slab_context *context, slab_scene **scene) {
  void *bytes = NULL;
  uint64_t size = 0;
  int code = team_agree(t, t->rank == 0 ? pack(*scene, &bytes, &size) : EXIT_DONE);
  if (code == EXIT_DONE) {
    uint32_t worlds = scene_source_worlds(source);
    team_share(t, &size, sizeof size);
    team_share(t, &worlds, sizeof worlds);
    scene_source_tell_worlds(source, worlds);
    if (t->rank > 0) bytes = space_for(size);
    code = team_agree(t, bytes ? EXIT_DONE : EXIT_FAILED);
  }
  if (code == EXIT_DONE) {
    team_share(t, bytes, (size_t)size);
    slab_status status = SLAB_OK;
    if (t->rank > 0) status = slab_scene_unpack(context, bytes, (size_t)size, scene);
    code = team_agree(t, status == SLAB_OK ? EXIT_DONE : complain_status(status, "the scene"));
  }
  free(bytes);
  return code;
}

/* Loads the scene on rank 0 and sends it. Returns the agreed code; *scene is NULL on failure. */
static int share_scene(team *t, scene_source *source, slab_context *context, slab_tree tree, slab_scene **scene) {
  *scene = NULL;
  int code = team_agree(t, t->rank == 0 ? scene_source_load(source, context, tree, scene) : EXIT_DONE);
  if (code == EXIT_DONE && t->size > 1) code = hand_round(t, source, context, scene);
  if (code == EXIT_DONE) return code;
  slab_scene_destroy(*scene);
  *scene = NULL;
  return code;
}

int team_scene_open(team *t, scene_source *source, const slab_context_options *options, slab_tree tree,
                    slab_context **context, slab_scene **scene, slab_scene_stats *stats, slab_device_info *device,
                    double *seconds) {
  int code = team_agree(t, open_device(t, *options, context));
  if (code != EXIT_DONE) return code;
  const double start = seconds_now();
  code = share_scene(t, source, *context, tree, scene);
  if (code != EXIT_DONE) return code;
  *seconds = seconds_now() - start;
  slab_status status = slab_scene_info(*scene, stats);
  if (status == SLAB_OK) status = slab_context_device(*context, device);
  return team_agree(t, status == SLAB_OK ? EXIT_DONE : complain_status(status, "the scene"));
}
