/* slabcast info: prints a scene's contents and the size and cost of its BVH. */
#include <inttypes.h>
#include <stdio.h>

#include "base/plural.h"
#include "program/common/device.h"
#include "program/common/options.h"
#include "program/common/scene.h"
#include "program/io/errors.h"
#include "program/io/output.h"
#include "shapes.def"

typedef struct info_options {
  const char *device;
  uint64_t threads;
  scene_source *scene;
  int tree, json;
} info_options;

static const option option_rows[] = {
    OPTIONS_SCENE(info_options, scene),
    OPTION_SCENE_UP(info_options, scene),
    OPTION_TREE(info_options, tree),
    {"--json", NULL, OPTION_SWITCH, offsetof(info_options, json), "as JSON", 0, 0},
    OPTIONS_DEVICE(info_options, device, threads),
};

static const command_line command = {
    .usage = "info SCENE... [--tree ...] [--json] [--device SEL]",
    .about = "Describes a scene: primitives, bounds, and the size, depth and cost of its tree.",
    .closing =
        "The SAH cost is the expected work of a random ray through the bounds; 0 where there is no tree.\n\n"
        "  slabcast info --mesh room.obj\n"
        "  slabcast info --builtin city:1000 --tree high --json",
    .options = option_rows,
    .option_count = COUNT_OF(option_rows),
};

static int is_bounded(const slab_scene_stats *stats) { return stats->lower[0] <= stats->upper[0]; }

static void print_count(const char *name, uint64_t count) {
  if (count) printf("%-12s %15" PRIu64 "\n", name, count);
}

static void print_bytes(const char *name, uint64_t bytes) {
  if (bytes >= 10u << 20)
    printf("%-12s %15.1f MiB\n", name, (double)bytes / (1 << 20));
  else
    printf("%-12s %15.1f KiB\n", name, (double)bytes / (1 << 10));
}

/* Prints the names of the first geometries that have one. */
static void print_parts(const scene_parts *parts) {
  enum { MOST = 20 };
  for (size_t i = 0; i < parts->count && i < MOST; i++) {
    const scene_part *part = &parts->at[i];
    printf("geometry %-3" PRIu32 " %15" PRIu32 " %s, mask 0x%" PRIX32 ", \"%s\"\n", part->geometry, part->triangles,
           plural(part->triangles, "triangle", "triangles"), part->mask, part->name);
  }
  if (parts->count > MOST) printf("%-12s %15zu more names, in --json\n", "", parts->count - MOST);
}

static void print_place(const char *name, const double place[3], int digits) {
  printf("%-12s %15.*g %15.*g %15.*g\n", name, digits, place[0], digits, place[1], digits, place[2]);
}

static void world_corner(const slab_scene_stats *stats, const float corner[3], double place[3]) {
  for (int k = 0; k < 3; k++) place[k] = scene_coordinate(stats, k, corner[k]);
}

static void print_corner(const char *name, const slab_scene_stats *stats, const float corner[3]) {
  double place[3];
  world_corner(stats, corner, place);
  print_place(name, place, scene_is_far(stats) ? 12 : 7);
}

static void print_table(const slab_scene_stats *stats, const slab_device_info *device, const scene_parts *parts) {
  printf("%-12s %15" PRIu32 "\n", "geometries", stats->geometries);
#define PRINT_COUNT(shape, name, names, noun, floats, form, place, source) print_count(#names, stats->names);
  SHAPES(PRINT_COUNT)
#undef PRINT_COUNT
  print_parts(parts);
  if (is_bounded(stats)) {
    print_corner("lower", stats, stats->lower);
    print_corner("upper", stats, stats->upper);
    if (scene_is_far(stats)) print_place("origin", stats->origin, 15);
  } else {
    printf("%-12s %15s\n", "bounds", "none");
  }
  print_bytes("host", stats->host_bytes);
  print_bytes("device", stats->device_bytes);
  if (stats->tree_depth) {
    printf("%-12s %15" PRIu32 "\n", "tree depth", stats->tree_depth);
    printf("%-12s %15.4f\n", "SAH cost", stats->sah_cost);
    printf("%-12s %13.1f %% of nodes, %.1f %% of blocks\n", "occupancy", 100.0 * stats->node_occupancy,
           100.0 * stats->block_occupancy);
  } else {
    printf("%-12s %15s\n", "tree", "flat");
  }
  printf("%-12s %15.3f s\n", "built in", stats->build_seconds);
  printf("%-12s %s\n", "on", device->name);
}

static json_t *bound(const slab_scene_stats *stats, const float *corner) {
  double place[3];
  world_corner(stats, corner, place);
  return is_bounded(stats) ? json_pack("[f, f, f]", place[0], place[1], place[2]) : json_null();
}

static json_t *describe(const slab_scene_stats *stats, const slab_device_info *device, const scene_parts *parts) {
  json_t *all = json_pack("{s:s, s:I}", "device", device->name, "geometries", (json_int_t)stats->geometries);
#define SET_COUNT(shape, name, names, noun, floats, form, place, source) \
  (void)json_object_set_new(all, #names, json_integer((json_int_t)stats->names));
  SHAPES(SET_COUNT)
#undef SET_COUNT
  if (parts->count > 0) (void)json_object_set_new(all, "names", scene_parts_json(parts));
  json_t *rest = json_pack("{s:o, s:o, s:I, s:I, s:I, s:f, s:f, s:f, s:f}", "lower", bound(stats, stats->lower),
                           "upper", bound(stats, stats->upper), "host_bytes", (json_int_t)stats->host_bytes,
                           "device_bytes", (json_int_t)stats->device_bytes, "tree_depth", (json_int_t)stats->tree_depth,
                           "sah_cost", stats->sah_cost, "node_occupancy", stats->node_occupancy, "block_occupancy",
                           stats->block_occupancy, "build_seconds", stats->build_seconds);
  if (scene_is_far(stats))
    json_object_set_new(rest, "origin", json_pack("[f, f, f]", stats->origin[0], stats->origin[1], stats->origin[2]));
  const int failed = json_object_update(all, rest);
  json_decref(rest);
  if (!failed) return all;
  json_decref(all);
  return NULL;
}

static int save_json(const slab_scene_stats *stats, const slab_device_info *device, const scene_parts *parts) {
  json_t *all = describe(stats, device, parts);
  const int failed = scene_is_far(stats) ? json_save_doubles("-", all) : json_save("-", all);
  return failed ? EXIT_FAILED : EXIT_DONE;
}

static int show(const info_options *options) {
  slab_context *context = NULL;
  slab_scene *scene = NULL;
  slab_scene_stats stats;
  slab_device_info device;
  slab_status status;
  int code = device_open(options->device, options->threads, &context);
  if (code != EXIT_DONE) goto done;
  code = scene_source_load(options->scene, context, (slab_tree)options->tree, &scene);
  if (code != EXIT_DONE) goto done;
  status = slab_scene_info(scene, &stats);
  if (status == SLAB_OK) status = slab_context_device(context, &device);
  if (status != SLAB_OK)
    code = complain_status(status, "info");
  else if (options->json)
    code = save_json(&stats, &device, scene_source_parts(options->scene));
  else
    print_table(&stats, &device, scene_source_parts(options->scene));
done:
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  return code;
}

static int command_main(int argc, char **argv) {
  info_options options = {.scene = scene_source_create()};
  if (!options.scene) {
    complain("out of memory");
    return EXIT_FAILED;
  }
  int code = options_parse(&command, argc, argv, &options, NULL);
  if (code == OPTIONS_RUN && !scene_source_count(options.scene))
    code = options_refuse(&command, "the scene is missing: --mesh, --boxes, ...");
  if (code == OPTIONS_RUN) code = show(&options);
  scene_source_destroy(options.scene);
  return code;
}

const program_command command_info = {"info", "describe a scene", command_main, &command};
