/* The command lines of slabcast near and slabcast inside. */
#include <inttypes.h>
#include <math.h>

#include "program/io/errors.h"
#include "program/io/output.h"
#include "program/near/near.h"
#include "program/os/file.h"

/* ---- the tables ------------------------------------------------------------- */

#define PLACE(member) offsetof(near_options, member)

/* Options of both commands, for the rows before and after the query's own. */
#define OPTIONS_POINTS                                                                                                \
  OPTIONS_SCENE(near_options, scene), OPTION_SCENE_UP(near_options, scene),                                           \
      {"--points",                                                                                                    \
       "FILE|-",                                                                                                      \
       OPTION_TEXT,                                                                                                   \
       PLACE(points),                                                                                                 \
       "the points, - for stdin; 3 columns, x y z, or 2 in 2D; of 6 the last three\n"                                 \
       "are passed over; where the first line of a text names them, in any order,\n"                                  \
       "and others are passed over",                                                                                  \
       0,                                                                                                             \
       0},                                                                                                            \
      {"--grid",                                                                                                      \
       "NXxNYxNZ",                                                                                                    \
       OPTION_GRID,                                                                                                   \
       PLACE(grid),                                                                                                   \
       "in place of --points: a grid of so many points over the scene's bounds, x\n"                                  \
       "fastest, ends included; NXxNY has one along z, which lies in the middle",                                     \
       0,                                                                                                             \
       0},                                                                                                            \
      {"--lower", "X,Y,Z", OPTION_POINT, PLACE(lower), "the grid begins here (default: the scene's bounds)", 0, 0},   \
      {"--upper", "X,Y,Z", OPTION_POINT, PLACE(upper), "the grid ends here (default: the scene's bounds)", 0, 0},     \
      {"--margin", "M", OPTION_REAL, PLACE(margin), "widen the scene's bounds so far, on every side", 0, 1e18}, {     \
    "-o", "FILE|-", OPTION_TEXT, PLACE(out), "where results go, - for stdout; without it they are only summed up", 0, \
        0                                                                                                             \
  }
#define OPTIONS_REST                                                                                      \
  OPTION_TREE(near_options, tree), OPTION_LAYOUT(near_options, layout), OPTION_MASK(near_options, scene), \
      {"--worlds",                                                                                        \
       "FILE|-",                                                                                          \
       OPTION_TEXT,                                                                                       \
       PLACE(worlds),                                                                                     \
       "the world of each point, which --instance-worlds makes (0: none): npy of\n"                       \
       "uint32, raw uint32, or text, one a line",                                                         \
       0,                                                                                                 \
       0},                                                                                                \
      OPTION_POINTS_IN(near_options, in),                                                                 \
      {"--out",                                                                                           \
       "auto|npy|raw|text|csv|ply|vti",                                                                   \
       OPTION_CHOICE,                                                                                     \
       PLACE(out_format),                                                                                 \
       "format of the results (default: by the name's ending, .npy, .raw or\n"                            \
       ".bin, .txt, .csv, .ply, .vti; without one npy, on a terminal text)\n"                             \
       "ply: the points, with their results\n"                                                            \
       "vti: of --grid, an image of VTK, which ParaView opens",                                           \
       0,                                                                                                 \
       0},                                                                                                \
      {"--check",                                                                                         \
       NULL,                                                                                              \
       OPTION_SWITCH,                                                                                     \
       PLACE(check),                                                                                      \
       "compare every result with the CPU reference, bit by bit; exit code 3\nif one differs",            \
       0,                                                                                                 \
       0},                                                                                                \
      OPTIONS_POINTS_RUN(near_options, resume, shard),                                                    \
      {"--json",                                                                                          \
       "FILE|-",                                                                                          \
       OPTION_TEXT,                                                                                       \
       PLACE(json),                                                                                       \
       "write a summary: device, points, found, mean, least, most, seconds, ...",                         \
       0,                                                                                                 \
       0},                                                                                                \
      OPTIONS_DEVICE(near_options, device, threads)

static const option near_rows[] = {
    OPTIONS_POINTS,
    {"--query", "closest|distance|within", OPTION_CHOICE, PLACE(query),
     "what is asked of each point:\n"
     "closest: distance, closest point, u, v, feature, primitive, geometry (default)\n"
     "distance: the distance alone\n"
     "within: 1 where something is within --radius, else 0",
     0, 0},
    {"--radius", "R", OPTION_REAL, PLACE(radius), "find nothing beyond this distance (default: no limit)", 0,
     (double)INFINITY},
    OPTIONS_REST,
};

static const option inside_rows[] = {
    OPTIONS_POINTS,
    {"--query", "inside|winding|distance|number", OPTION_CHOICE, PLACE(asked),
     "what is asked of each point:\n"
     "inside: 1 where it is inside, else 0 (default)\n"
     "winding: how often surfaces surround it, a whole number\n"
     "distance: how far the closest surface is, below 0 inside\n"
     "number: winding numbers of open meshes too: fractions, beyond 1/2 inside",
     0, 0},
    {"--mode", "union|parity", OPTION_CHOICE, PLACE(parity),
     "union: inside where the winding number is not 0, of parts that overlap too\n"
     "(default)\n"
     "parity: where it is odd; a part in another is a hole, and faces of a mesh\n"
     "need not agree",
     0, 0},
    {"--radius", "R", OPTION_REAL, PLACE(radius),
     "of --query distance: beyond it the distance is inf, inside -inf (default:\nno limit)", 0, (double)INFINITY},
    OPTIONS_REST,
};

const command_line near_line = {
    .usage = "near SCENE... --points FILE|- | --grid NXxNYxNZ [-o FILE|-] [options]",
    .about =
        "Measures how far points are from the scene's surfaces, and where the closest point is. SCENE is any\n"
        "mix of the first eight options. Without -o, and on a terminal, a line on stderr tells mean, least\n"
        "and most.",
    .closing =
        "Results in npy have named fields: numpy.load(FILE)['distance']; those of a grid have the shape\n"
        "(NZ, NY, NX) by .reshape. Where nothing is found the distance is inf, and primitive = geometry =\n"
        "4294967295, of an invalid point 4294967294. Inside of a solid the distance is that to its surface.\n\n"
        "  slabcast near --mesh part.stl --points scan.csv -o deviation.ply\n"
        "  slabcast near --mesh part.stl --grid 256x256x256 --margin 5 \\\n"
        "    --query distance -o field.vti\n"
        "  slabcast near --mesh cell.obj --points path.csv --query within \\\n"
        "    --radius 0.05 -o - --out csv",
    .options = near_rows,
    .option_count = COUNT_OF(near_rows),
};

const command_line inside_line = {
    .usage = "inside SCENE... --points FILE|- | --grid NXxNYxNZ [-o FILE|-] [options]",
    .about =
        "Tells which points are inside of the scene's closed meshes and solids. SCENE is any mix of the first\n"
        "eight options. Signs are exact: of closed meshes the answer is right for every point off their\n"
        "surface. Without -o, and on a terminal, a line on stderr tells how many are inside.",
    .closing =
        "An open mesh is asked along z: the number of crossings of one ray decides, but with --query number.\n"
        "Points on a surface have the answer of points beside it. Planes hold nothing. Of an invalid point the\n"
        "answer is 0, or inf.\n\n"
        "  slabcast inside --mesh part.stl --points scan.csv -o inside.csv\n"
        "  slabcast inside --mesh part.stl --grid 256x256x256 -o cells.npy\n"
        "  slabcast inside --mesh part.stl --grid 256x256x256 --margin 5 \\\n"
        "    --query distance -o field.vti\n"
        "  slabcast inside --mesh scan.ply --points asked.csv --query number \\\n"
        "    -o inside.csv",
    .options = inside_rows,
    .option_count = COUNT_OF(inside_rows),
};

static const command_line *line_of(const near_options *options) {
  return options->command == NEAR_INSIDE ? &inside_line : &near_line;
}

/* ---- options --------------------------------------------------------------- */

static int check_grid(const near_options *options) {
  const uint32_t *size = options->grid.size;
  const int of_grid = size[0] > 0;
  if (!options->points && !of_grid)
    return options_refuse(line_of(options), "the points are missing: --points or --grid");
  if (options->points && of_grid) return options_refuse(line_of(options), "--points and --grid do not go together");
  if (!of_grid && (options->lower.given || options->upper.given || options->margin.given))
    return options_refuse(line_of(options), "--lower, --upper and --margin go with --grid");
  if (options->lower.given && options->upper.given && options->margin.given)
    return options_refuse(line_of(options), "--margin widens the scene's bounds, which --lower and --upper replace");
  if (of_grid && grid_count(size) == 0)
    return options_refuse(line_of(options),
                          "--grid %" PRIu32 "x%" PRIu32 "x%" PRIu32 " has more than %" PRIu64 " points", size[0],
                          size[1], size[2], GRID_MOST);
  return OPTIONS_RUN;
}

static int check_radius(const near_options *options) {
  const real_option *radius = &options->radius;
  if (options->query == SLAB_POINTS_WITHIN && !radius->given)
    return options_refuse(line_of(options), "--query within wants --radius R");
  if (options->command == NEAR_INSIDE && radius->given && options->query != SLAB_SIGNED_DISTANCES)
    return options_refuse(line_of(options), "--radius goes with --query distance");
  if (options->parity && !near_tells_inside(options))
    return options_refuse(line_of(options), "--mode goes with --query inside");
  if (radius->given && radius->value == 0) return options_refuse(line_of(options), "--radius 0 is not above 0");
  return OPTIONS_RUN;
}

/* Sets the format of the results from the option or the file name. */
static int choose_format(near_options *options) {
  if (!options->out)
    return options->out_format == FORMAT_AUTO
               ? OPTIONS_RUN
               : options_refuse(line_of(options), "--out is the format of -o FILE, which is missing");
  if (options->out_format != FORMAT_AUTO) return OPTIONS_RUN;
  options->out_format = os_has_ending(options->out, ".vti")   ? FORMAT_VTI
                        : os_has_ending(options->out, ".ply") ? FORMAT_PLY
                                                              : (int)format_of_output(options->out);
  return options_check_ending(line_of(options), options->out, RESULT_ENDINGS "|vti");
}

static int check_format(const near_options *options) {
  const char *out = options->out;
  const int direct = out && output_is_direct(out), image = options->out_format == FORMAT_VTI;
  if (image && options->grid.size[0] == 0)
    return options_refuse(line_of(options), "-o %s: vti is an image of a grid, and points of a file are none", out);
  if (image && options->shard.count > 0)
    return options_refuse(line_of(options), "-o %s: vti is an image of a whole grid, which --shard divides", out);
  if (direct && (image || options->out_format == FORMAT_PLY))
    return options_refuse(line_of(options), "-o %s: %s wants a file, neither stdout nor a pipe", out,
                          image ? "vti" : "ply");
  if (options->resume && (!out || direct))
    return options_refuse(line_of(options), "--resume wants -o FILE, which neither stdout nor a pipe is");
  return OPTIONS_RUN;
}

static int check_options(near_options *options) {
  const input_option inputs[] = {{"--points", options->points}, {"--worlds", options->worlds}};
  if (!scene_source_count(options->scene))
    return options_refuse(line_of(options), "the scene is missing: --mesh, --boxes, ...");
  int code = check_grid(options);
  if (code == OPTIONS_RUN) code = check_radius(options);
  if (code == OPTIONS_RUN)
    code = options_check_stdin(line_of(options), scene_source_stdin(options->scene), inputs, COUNT_OF(inputs));
  if (code == OPTIONS_RUN) code = choose_format(options);
  if (code == OPTIONS_RUN) code = check_format(options);
  return code == OPTIONS_RUN ? options_check_apart(line_of(options), options->out, options->json) : code;
}

bool near_tells_inside(const near_options *options) {
  return options->command == NEAR_INSIDE && options->asked == INSIDE_BYTES;
}

int near_parse(int argc, char **argv, near_options *options) {
  static const slab_point_query queries[] = {[INSIDE_BYTES] = SLAB_WINDING,
                                             [INSIDE_WINDING] = SLAB_WINDING,
                                             [INSIDE_DISTANCE] = SLAB_SIGNED_DISTANCES,
                                             [INSIDE_NUMBER] = SLAB_WINDING_NUMBERS};
  const int code = options_parse(line_of(options), argc, argv, options, NULL);
  if (options->command == NEAR_INSIDE) options->query = (int)queries[options->asked];
  if (options->shard.count > 0) scene_source_make_digest(options->scene); /* for its label */
  return code == OPTIONS_RUN ? check_options(options) : code;
}
