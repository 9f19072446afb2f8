/* slabcast lidar: casts the rays of a sensor, which are made where they are cast. */
#include <math.h>
#include <stdlib.h>

#include "program/cast.h"
#include "program/io/errors.h"
#include "program/io/sweep.h"

typedef struct lidar_options {
  cast_options cast; /* at first, as its rows of options want it */
  fan_option fan;
  range_option range;
  uint64_t spin, returns;
} lidar_options;

#define PLACE(member) offsetof(lidar_options, member)

static const option option_rows[] = {
    OPTIONS_SCENE(cast_options, scene),
    OPTION_SCENE_UP(cast_options, scene),
    {"--beams", "FILE|-", OPTION_TEXT, CAST_PLACE(beams),
     "the sensor's beams, npy, text or csv, a row each: elevation above its xy\n"
     "plane, and azimuth from x towards y (without it 0), in degrees; or 6\n"
     "numbers, origin and direction in its frame",
     0, 0},
    {"--fan", "N,LOW,HIGH", OPTION_FAN, PLACE(fan),
     "in place of --beams: N beams, evenly from LOW to HIGH degrees of elevation", 0, 0},
    {"--poses", "FILE|-", OPTION_TEXT, CAST_PLACE(poses),
     "where the sensor is at each firing, affine maps from its frame to the\n"
     "scene's as --instances has them, (n,3,4) or (n,4,4) (default: one, the\n"
     "scene's frame)",
     0, 0},
    {"--spin", "N", OPTION_COUNT, PLACE(spin),
     "make a whole turn about the sensor's z of N firings at each pose (default:\n"
     "each pose is one firing)",
     1, 1 << 24},
    {"--range", "MIN,MAX", OPTION_RANGE, PLACE(range),
     "see what lies so far along a beam, in lengths of its direction (default:\n0,inf)", 0, 0},
    {"--returns", "K", OPTION_COUNT, PLACE(returns),
     "give the first K hits of each ray, in order (default: the closest alone);\n"
     "of npy and raw, FILE.offsets.npy says where each ray's begin",
     1, UINT32_MAX},
    CAST_OPTION_OUT,
    OPTION_TREE(cast_options, tree),
    OPTION_LAYOUT(cast_options, layout),
    OPTION_MASK(cast_options, scene),
    CAST_OPTIONS_CROSSINGS,
    CAST_OPTIONS_NORMALS_POINTS,
    CAST_OPTION_FORMAT,
    CAST_OPTIONS_RUN,
    OPTIONS_DEVICE(cast_options, device, threads),
};

static const command_line command = {
    .usage = "lidar SCENE... --beams FILE|--fan N,LOW,HIGH [--poses FILE] [-o FILE|-] [options]",
    .about =
        "Casts the rays of a LiDAR at a scene, without a file of rays: each beam from each firing's pose, and\n"
        "none is stored. Ray f * beams + b is that of firing f and beam b, all counted from 0.",
    .closing =
        "A point of a ply has x y z, t, normal, u, v, primitive, geometry, firing, beam, return (1 is the\n"
        "first hit of its ray) and ray. Other formats are those of `slabcast cast` with the same rays:\n"
        "of --query closest, with --returns K of --query all. Sensors have z up; many meshes have y up,\n"
        "which --up z turns.\n\n"
        "  slabcast lidar --builtin city:400 --fan 64,-25,15 --spin 1024 -o turn.ply\n"
        "  slabcast lidar --mesh street.glb --up z --beams beams.csv \\\n"
        "    --poses drive.npy --range 0.5,120 --returns 3 -o drive.ply",
    .options = option_rows,
    .option_count = COUNT_OF(option_rows),
};

/* Sets the query that --returns means. */
static int parse(int argc, char **argv, lidar_options *options) {
  cast_options *cast = &options->cast;
  cast->line = &command;
  const int code = options_parse(&command, argc, argv, options, NULL);
  if (code != OPTIONS_RUN) return code;
  if (!cast->beams && !options->fan.count) return options_refuse(&command, "the beams are missing: --beams or --fan");
  if (cast->beams && options->fan.count) return options_refuse(&command, "--beams and --fan do not go together");
  cast->query = options->returns ? SLAB_ALL : SLAB_CLOSEST;
  cast->max_hits = options->returns;
  return cast_check(cast);
}

static int run(lidar_options *options) {
  const range_option *range = &options->range;
  const fan_option *fan = &options->fan;
  const sweep_options wanted = {
      .beams = options->cast.beams,
      .poses = options->cast.poses,
      .fan = fan->count,
      .low = (double)fan->low,
      .high = (double)fan->high,
      .spin = options->spin,
      .t_min = range->given ? range->least : 0.0f,
      .t_max = range->given ? range->most : INFINITY,
  };
  sweep sensor;
  if (sweep_make(&wanted, &sensor)) return EXIT_FAILED;
  options->cast.sweep = &sensor;
  const int code = cast_run(&options->cast);
  sweep_free(&sensor);
  return code;
}

static int command_main(int argc, char **argv) {
  lidar_options options = {.cast = {.scene = scene_source_create()}};
  if (!options.cast.scene) {
    complain("out of memory");
    return EXIT_FAILED;
  }
  int code = parse(argc, argv, &options);
  if (code == OPTIONS_RUN) code = run(&options);
  scene_source_destroy(options.cast.scene);
  return code;
}

const program_command command_lidar = {"lidar", "cast the rays of a LiDAR at a scene", command_main, &command};
