/* Command lines: a table of options per command, one parser, strict values.
 *
 * Accepted: `--name VALUE`, `--name=VALUE`, `--switch`, `-o VALUE`, `-oVALUE`, `--help`, and `--` before arguments that
 * begin with a dash. Every refusal names the option, the value and the expected ones. */
#ifndef SLABCAST_PROGRAM_COMMON_OPTIONS_H
#define SLABCAST_PROGRAM_COMMON_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/formatted.h"
#include "program/io/grid.h"
#include "program/io/npy.h"
#include "program/io/text.h"
#include "slabcast.h"

/* The type of the member at `place` in the command's struct of values. Members keep their value if the option is
 * absent. */
typedef enum option_kind {
  OPTION_SWITCH, /* int: 1 when given */
  OPTION_TEXT,   /* const char *, not empty */
  OPTION_CHOICE, /* int: index of the value in `placeholder`, a list of words separated by | */
  OPTION_REAL,   /* real_option; inf and -inf allowed, NaN not */
  OPTION_COUNT,  /* uint64_t */
  OPTION_POINT,  /* point_option: X,Y,Z, finite */
  OPTION_UP,     /* point_option: the same, or one letter for that axis */
  OPTION_RAY,    /* ray_option: OX,OY,OZ,DX,DY,DZ[,T_MIN,T_MAX]; NaN and infinities allowed */
  OPTION_SIZE,   /* size_option: WxH, each 1 to 65536 */
  OPTION_GRID,   /* grid_option: NXxNY or NXxNYxNZ, each 1 to INT32_MAX */
  OPTION_RANGE,  /* range_option: MIN,MAX with MIN <= MAX; infinities allowed */
  OPTION_FAN,    /* fan_option: N,LOW,HIGH, N from 1 to 65536 */
  OPTION_SHARD,  /* shard_option: I/N with I < N */
  OPTION_SCENE   /* scene_source *: receives the option; a switch where placeholder is NULL, value NULL then */
} option_kind;

typedef struct point_option {
  float value[3];
  double wide[3]; /* the same in double */
  int given;
  char axis; /* of OPTION_UP: x, y or z where that was given; else 0 */
} point_option;

typedef struct ray_option {
  slab_ray ray;
  slab_ray64 wide; /* the same in double */
  int given;
} ray_option;

typedef struct size_option {
  uint32_t width, height;
} size_option;

typedef struct range_option {
  float least, most;
  int given;
} range_option;

/* Beams whose elevations go evenly from `low` to `high` degrees. */
typedef struct fan_option {
  uint32_t count; /* 0: not given */
  float low, high;
} fan_option;

typedef struct option {
  const char *name;        /* for example "--t-min", "-o" */
  const char *placeholder; /* name of the value in the help; NULL for switches */
  option_kind kind;
  size_t place;       /* offsetof the member that it sets */
  const char *help;   /* one or two sentences; lines are broken at \n, and a line "word: ..." stays one in manuals */
  double least, most; /* accepted range of OPTION_REAL and OPTION_COUNT; both 0: any */
} option;

typedef struct command_line {
  const char *usage;   /* "cast SCENE... --rays FILE|- [options]"; the first word names the command */
  const char *about;   /* a paragraph of the help; lines "  word  text" are a list */
  const char *closing; /* end of the help: notes, and examples as indented lines; may be NULL */
  const option *options;
  size_t option_count;
  int arguments; /* largest number of non-option arguments */
  /* The groups that --group names, for completions: structs that begin with their names, so many bytes apart. */
  const void *groups;
  size_t group_count, group_stride;
} command_line;

/* Rows shared by the commands. `type` is the struct of values, `member` its scene_source * or const char *. */
#define OPTIONS_SCENE(type, member)                                                                                 \
  {"--mesh",                                                                                                        \
   "FILE",                                                                                                          \
   OPTION_SCENE,                                                                                                    \
   offsetof(type, member),                                                                                          \
   "a mesh file or pipe: OBJ, PLY, STL, OFF, glTF, ...; - is stdin",                                                \
   0,                                                                                                               \
   0},                                                                                                              \
      {"--boxes",                                                                                                   \
       "FILE",                                                                                                      \
       OPTION_SCENE,                                                                                                \
       offsetof(type, member),                                                                                      \
       "boxes, an array (n,6): lower x y z, upper x y z; (n,4) in 2D",                                              \
       0,                                                                                                           \
       0},                                                                                                          \
      {"--spheres", "FILE", OPTION_SCENE, offsetof(type, member), "spheres, an array (n,4): centre, radius", 0, 0}, \
      {"--planes",                                                                                                  \
       "FILE",                                                                                                      \
       OPTION_SCENE,                                                                                                \
       offsetof(type, member),                                                                                      \
       "planes, an array (n,4): normal, offset; points with normal . x = offset",                                   \
       0,                                                                                                           \
       0},                                                                                                          \
      {"--obbs",                                                                                                    \
       "FILE",                                                                                                      \
       OPTION_SCENE,                                                                                                \
       offsetof(type, member),                                                                                      \
       "oriented boxes, an array (n,15): centre, half size, three axes",                                            \
       0,                                                                                                           \
       0},                                                                                                          \
      {"--builtin",                                                                                                 \
       "NAME:COUNT",                                                                                                \
       OPTION_SCENE,                                                                                                \
       offsetof(type, member),                                                                                      \
       "a generated scene of about COUNT primitives; NAME is one of\nboxes, city, spheres, flake, obbs, planes, "   \
       "soup, hair, terrain,\ntorus, knot, lattice, room",                                                          \
       0,                                                                                                           \
       0},                                                                                                          \
      {"--instances",                                                                                               \
       "FILE",                                                                                                      \
       OPTION_SCENE,                                                                                                \
       offsetof(type, member),                                                                                      \
       "the mesh of --of, which comes next, placed n times by affine maps, an\narray (n,3,4) or (n,4,4); "          \
       "each place has a geometry id",                                                                              \
       0,                                                                                                           \
       0},                                                                                                          \
      {"--of",                                                                                                      \
       "FILE",                                                                                                      \
       OPTION_SCENE,                                                                                                \
       offsetof(type, member),                                                                                      \
       "the mesh file that --instances places, as --mesh reads it",                                                 \
       0,                                                                                                           \
       0},                                                                                                          \
      {"--instance-worlds",                                                                                         \
       "FILE",                                                                                                      \
       OPTION_SCENE,                                                                                                \
       offsetof(type, member),                                                                                      \
       "the world of each of these places, 1 or more, or 0, all: npy or raw of\nuint32, or text, one a line",       \
       0,                                                                                                           \
       0},                                                                                                          \
      {"--origin",                                                                                                  \
       "X,Y,Z",                                                                                                     \
       OPTION_SCENE,                                                                                                \
       offsetof(type, member),                                                                                      \
       "where floats count from: numbers of text and float64 keep their digits\nnear it (default: the middle of "   \
       "what is far from 0, else 0,0,0, which\nrounds all to float32)",                                             \
       0,                                                                                                           \
       0},                                                                                                          \
      {"--one-geometry",                                                                                            \
       NULL,                                                                                                        \
       OPTION_SCENE,                                                                                                \
       offsetof(type, member),                                                                                      \
       "a mesh file is one geometry; else each group, object or node is one,\nwith its name",                       \
       0,                                                                                                           \
       0},                                                                                                          \
      {"--unit",                                                                                                    \
       "mm|cm|m|km|in|ft|U",                                                                                        \
       OPTION_SCENE,                                                                                                \
       offsetof(type, member),                                                                                      \
       "scale meshes whose file names its unit to this one; U: a number of\nmetres (default: the file's)",          \
       0,                                                                                                           \
       0},                                                                                                          \
      {"--skip-invalid",                                                                                            \
       NULL,                                                                                                        \
       OPTION_SCENE,                                                                                                \
       offsetof(type, member),                                                                                      \
       "drop invalid faces of meshes and rows of arrays, and say how many",                                         \
       0,                                                                                                           \
       0},                                                                                                          \
  {                                                                                                                 \
    "--import-seconds", "S", OPTION_SCENE, offsetof(type, member),                                                  \
        "processor time that reading a mesh file may take\n(default: 5, and 1 for each 10 MB)", 0, 0                \
  }
/* Of commands without a camera, which has an --up of its own. */
#define OPTION_SCENE_UP(type, member)                                                                           \
  {                                                                                                             \
    "--up", "x|y|z", OPTION_SCENE, offsetof(type, member),                                                      \
        "turn meshes whose file names its axis so that this one is up\n(default: the file's coordinates)", 0, 0 \
  }
/* `threads` is a uint64_t, for slab_context_options. */
#define OPTIONS_DEVICE(type, member, threads)                                 \
  {"--device",                                                                \
   "SEL",                                                                     \
   OPTION_TEXT,                                                               \
   offsetof(type, member),                                                    \
   "an index of `slabcast devices`, part of a name, cpu, gpu, cuda:N;\n"      \
   "several with commas between, or all (default: a GPU, or the first)",      \
   0,                                                                         \
   0},                                                                        \
  {                                                                           \
    "--threads", "N", OPTION_COUNT, offsetof(type, threads),                  \
        "at most N threads of the host build trees, sort rays and check\n"    \
        "answers (default: as many as the process may use); those of a CPU\n" \
        "device are its driver's to set (PoCL: POCL_MAX_PTHREAD_COUNT)",      \
        1, 1024                                                               \
  }
/* Sets an int, in the order of slab_tree. */
#define OPTION_TREE(type, member)                                              \
  {                                                                            \
    "--tree", "default|flat|fast|high", OPTION_CHOICE, offsetof(type, member), \
        "how the scene is laid out; never changes an answer", 0, 0             \
  }
/* Sets an int, in the order of slab_layout. */
#define OPTION_LAYOUT(type, member)                                               \
  {                                                                               \
    "--layout", "default|wide|compressed", OPTION_CHOICE, offsetof(type, member), \
        "how primitives and trees lie on the device: wide as CPUs have them,\n"   \
        "compressed as GPUs have them; never changes an answer (default: the\n"   \
        "device's)",                                                              \
        0, 0                                                                      \
  }
#define OPTION_MASK(type, member)                                                 \
  {                                                                               \
    "--mask", "BITS|NAME=BITS", OPTION_SCENE, offsetof(type, member),             \
        "see only what some of the scene's options add: 1 is the first, 2 the\n"  \
        "second, 4 the third, their sum several; the 33rd is 1 again (default:\n" \
        "all); NAME=BITS gives geometries of that name in mesh files other bits", \
        0, 0                                                                      \
  }
/* Of commands that read points. Sets an int, a file_format. */
#define OPTION_POINTS_IN(type, member)                                              \
  {                                                                                 \
    "--in", "auto|npy|raw|text", OPTION_CHOICE, offsetof(type, member),             \
        "format of the points (default: by name or first bytes, else text); raw:\n" \
        "rows of three little-endian float32",                                      \
        0, 0                                                                        \
  }
#define OPTIONS_POINTS_RUN(type, resume, shard)                                      \
  {"--resume",                                                                       \
   NULL,                                                                             \
   OPTION_SWITCH,                                                                    \
   offsetof(type, resume),                                                           \
   "go on from FILE.part of an interrupted run with the same points and scene:\n"    \
   "the same bytes come out; a finished FILE is compared and stays",                 \
   0,                                                                                \
   0},                                                                               \
  {                                                                                  \
    "--shard", "I/N", OPTION_SHARD, offsetof(type, shard),                           \
        "only the I-th of N equal slices of the points, counted from 0; `slabcast\n" \
        "join` puts them together",                                                  \
        0, 0                                                                         \
  }
#define OPTIONS_CAMERA(type, member)                                                     \
  {"--from",                                                                             \
   "X,Y,Z",                                                                              \
   OPTION_POINT,                                                                         \
   offsetof(type, member) + offsetof(camera_options, from),                              \
   "where the rays start (default: outside the scene's bounds)",                         \
   0,                                                                                    \
   0},                                                                                   \
      {"--to",                                                                           \
       "X,Y,Z",                                                                          \
       OPTION_POINT,                                                                     \
       offsetof(type, member) + offsetof(camera_options, to),                            \
       "the point looked at (default: the middle of the scene)",                         \
       0,                                                                                \
       0},                                                                               \
      {"--up",                                                                           \
       "X,Y,Z|x|y|z",                                                                    \
       OPTION_UP,                                                                        \
       offsetof(type, member) + offsetof(camera_options, up),                            \
       "the direction that is up in the image (default: 0,1,0); one letter:\n"           \
       "also in meshes whose file names its axis",                                       \
       0,                                                                                \
       0},                                                                               \
  {                                                                                      \
    "--fov", "DEG", OPTION_REAL, offsetof(type, member) + offsetof(camera_options, fov), \
        "vertical field of view in degrees (default: 40)", 0.01, 179.0                   \
  }

#define ABOUT_HELP "list these options" /* the description of --help */

/* Returned by options_parse if the command shall run. Any other value is the exit code to return. */
enum { OPTIONS_RUN = -1 };

/* Fills `values`. Moves the non-option arguments to argv[1] onwards and writes their number to *arguments (may be NULL
 * if the command takes none). Prints the help to stdout, and a refusal to stderr. */
int options_parse(const command_line *command, int argc, char **argv, void *values, int *arguments);

/* Prints a refusal found after parsing: "slabcast: ..." and the command's usage line. Returns EXIT_USAGE. */
int options_refuse(const command_line *command, const char *format, ...) FORMATTED(2, 3);

/* Call before any work. Checks that the ending of the file name for -o is one of `endings` ("npy|raw"), in any case, or
 * that there is none. Outputs that are not files may have any name, and an ending without a letter does not count.
 * Returns OPTIONS_RUN, or the exit code of a refusal. */
int options_check_ending(const command_line *command, const char *path, const char *endings);

/* An option that names an input; path NULL: it is not given. */
typedef struct input_option {
  const char *name, *path;
} input_option;
/* Checks that stdin, "-", is the input of only one option. before: an option of the scene that has it; NULL: none.
 * Returns OPTIONS_RUN, or the exit code of a refusal. */
int options_check_stdin(const command_line *command, const char *before, const input_option *inputs, size_t count);
/* Checks that results and the summary, paths of -o and --json or NULL, do not go to one place. Returns likewise. */
int options_check_apart(const command_line *command, const char *out, const char *json);

/* A command of the program. */
typedef struct program_command {
  const char *name;
  const char *about;                 /* its task, in half a line */
  int (*run)(int argc, char **argv); /* takes its own name as argv[0] and returns an exit code */
  const command_line *line;
} program_command;

extern const program_command command_demo, command_cast, command_lidar, command_join, command_rays, command_render,
    command_verify, command_bench, command_devices, command_info, command_explain, command_view, command_near,
    command_inside;

#endif
