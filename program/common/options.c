#include "program/common/options.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/common/scene.h"
#include "program/io/errors.h"
#include "program/io/output.h"
#include "program/os/file.h"

/* ---- values ---------------------------------------------------------------- */

static int parse_point(const char *text, point_option *point) {
  decimal value[3];
  if (parse_reals(text, value, 3) != 3) return 0;
  for (int i = 0; i < 3; i++)
    if (!isfinite(value[i].narrow)) return 0;
  for (int i = 0; i < 3; i++) {
    point->value[i] = value[i].narrow;
    point->wide[i] = value[i].wide;
  }
  return point->given = 1;
}

static int parse_up(const char *text, point_option *up) {
  if (strlen(text) != 1 || !strchr("xyz", text[0])) return parse_point(text, up);
  *up = (point_option){.given = 1, .axis = text[0]};
  up->value[text[0] - 'x'] = 1;
  up->wide[text[0] - 'x'] = 1;
  return 1;
}

static int parse_ray(const char *text, ray_option *given) {
  decimal v[8] = {[6] = {0, 0}, [7] = {(double)INFINITY, INFINITY}};
  const int count = parse_reals(text, v, 8);
  if (count != 6 && count != 8) return 0;
  for (int k = 0; k < 3; k++) {
    given->ray.origin[k] = v[k].narrow;
    given->ray.direction[k] = v[3 + k].narrow;
    given->wide.origin[k] = v[k].wide;
    given->wide.direction[k] = v[3 + k].wide;
  }
  given->ray.t_min = v[6].narrow;
  given->ray.t_max = v[7].narrow;
  given->wide.t_min = v[6].wide;
  given->wide.t_max = v[7].wide;
  return given->given = 1;
}

static int parse_range(const char *text, range_option *range) {
  decimal value[2];
  if (parse_reals(text, value, 2) != 2 || !(value[0].narrow <= value[1].narrow)) return 0;
  *range = (range_option){value[0].narrow, value[1].narrow, 1};
  return 1;
}

/* Floats hold all these counts. */
static int parse_fan(const char *text, fan_option *fan) {
  decimal value[3];
  if (parse_reals(text, value, 3) != 3 || !isfinite(value[1].narrow) || !isfinite(value[2].narrow)) return 0;
  const float count = value[0].narrow;
  if (!(count >= 1 && count <= 65536) || count != floorf(count)) return 0;
  *fan = (fan_option){(uint32_t)count, value[1].narrow, value[2].narrow};
  return 1;
}

/* Parses FIRST mark SECOND, both decimal. */
static int parse_pair(const char *text, char mark, uint64_t *first, uint64_t *second) {
  char *end = NULL;
  return parse_digits(text, 10, &end, first) && *end == mark && parse_count(end + 1, second);
}

static int parse_size(const char *text, size_option *size) {
  uint64_t width = 0, height = 0;
  if (!parse_pair(text, 'x', &width, &height)) return 0;
  if (width < 1 || width > 65536 || height < 1 || height > 65536) return 0;
  *size = (size_option){(uint32_t)width, (uint32_t)height};
  return 1;
}

/* NXxNY has one point along z. */
static int parse_grid(const char *text, grid_option *given) {
  uint64_t size[3] = {0, 0, 1};
  char *end = NULL;
  int axes = 0;
  for (const char *at = text; axes < 3; at = end + 1) {
    if (!parse_digits(at, 10, &end, &size[axes]) || size[axes] < 1 || size[axes] > INT32_MAX) return 0;
    axes++;
    if (*end != 'x') break;
  }
  if (axes < 2 || *end != '\0') return 0;
  for (int axis = 0; axis < 3; axis++) given->size[axis] = (uint32_t)size[axis];
  return 1;
}

static int parse_shard(const char *text, shard_option *shard) {
  return parse_pair(text, '/', &shard->index, &shard->count) && shard->index < shard->count &&
         shard->count <= UINT32_MAX;
}

/* The index of `text` in a list of words separated by |, or -1. */
static int parse_choice(const char *text, const char *words) {
  const size_t length = strlen(text);
  for (int i = 0; *words; i++) {
    const size_t word = strcspn(words, "|");
    if (word == length && !strncmp(words, text, length)) return i;
    words += word + (words[word] == '|');
  }
  return -1;
}

static int in_range(const option *row, double value) {
  return (row->least == 0 && row->most == 0) || (value >= row->least && value <= row->most);
}

/* ---- one option ------------------------------------------------------------ */

static const char *expectation(option_kind kind) {
  switch (kind) {
    case OPTION_REAL:
      return "a number";
    case OPTION_COUNT:
      return "a whole number";
    case OPTION_POINT:
      return "three numbers X,Y,Z";
    case OPTION_UP:
      return "x, y, z or three numbers X,Y,Z";
    case OPTION_RAY:
      return "six or eight numbers OX,OY,OZ,DX,DY,DZ[,T_MIN,T_MAX]";
    case OPTION_SIZE:
      return "WxH, each from 1 to 65536";
    case OPTION_GRID:
      return "NXxNY or NXxNYxNZ, each from 1 to 2147483647";
    case OPTION_RANGE:
      return "two numbers MIN,MAX, the first not above the second";
    case OPTION_FAN:
      return "N,LOW,HIGH: a whole number from 1 to 65536 and two elevations in degrees";
    case OPTION_SHARD:
      return "I/N with I from 0 to N-1";
    default:
      return "a value";
  }
}

static int refuse_value(const command_line *command, const option *row, const char *value) {
  if (value[0] == '\0' && (row->kind == OPTION_TEXT || row->kind == OPTION_SCENE))
    return options_refuse(command, "option %s: its value is empty, %s is wanted", row->name, row->placeholder);
  if (row->kind == OPTION_CHOICE)
    return options_refuse(command, "option %s: \"%s\" is not one of %s", row->name, value, row->placeholder);
  if (row->least != 0 || row->most != 0)
    return options_refuse(command, "option %s: \"%s\" is not %s from %.15g to %.15g", row->name, value,
                          expectation(row->kind), row->least, row->most);
  return options_refuse(command, "option %s: \"%s\" is not %s", row->name, value, expectation(row->kind));
}

static int set_real(const option *row, const char *value, real_option *place) {
  decimal number;
  if (!parse_real(value, &number) || !in_range(row, number.wide)) return 0;
  *place = (real_option){number.narrow, 1, number.wide};
  return 1;
}

static int set_choice(const option *row, const char *value, int *place) {
  const int index = parse_choice(value, row->placeholder);
  if (index >= 0) *place = index;
  return index >= 0;
}

/* Sets the value of an option. Returns 1, 0 if the value is not valid for the row, -1 if the refusal is already
 * printed, -2 if out of memory, printed too. */
static int set_option(const option *row, const char *value, void *values) {
  char *place = (char *)values + row->place;
  switch (row->kind) {
    case OPTION_SWITCH:
      return *(int *)(void *)place = 1;
    case OPTION_TEXT:
      *(const char **)(void *)place = value;
      return value[0] != '\0';
    case OPTION_CHOICE:
      return set_choice(row, value, (int *)(void *)place);
    case OPTION_REAL:
      return set_real(row, value, (real_option *)(void *)place);
    case OPTION_COUNT:
      return parse_count(value, (uint64_t *)(void *)place) && in_range(row, (double)*(uint64_t *)(void *)place);
    case OPTION_POINT:
      return parse_point(value, (point_option *)(void *)place);
    case OPTION_UP:
      return parse_up(value, (point_option *)(void *)place);
    case OPTION_RAY:
      return parse_ray(value, (ray_option *)(void *)place);
    case OPTION_SIZE:
      return parse_size(value, (size_option *)(void *)place);
    case OPTION_GRID:
      return parse_grid(value, (grid_option *)(void *)place);
    case OPTION_RANGE:
      return parse_range(value, (range_option *)(void *)place);
    case OPTION_FAN:
      return parse_fan(value, (fan_option *)(void *)place);
    case OPTION_SHARD:
      return parse_shard(value, (shard_option *)(void *)place);
    case OPTION_SCENE:
      return scene_source_option(*(scene_source **)(void *)place, row->name, value);
  }
  return 0;
}

/* ---- the command line ------------------------------------------------------ */

/* Length of an option's name. A one-letter name may have its value directly after it. */
static size_t name_length(const char *argument) { return argument[1] == '-' ? strcspn(argument, "=") : 2; }

/* The row that `argument` names. */
static const option *find_option(const command_line *command, const char *argument) {
  const size_t length = name_length(argument);
  for (size_t i = 0; i < command->option_count; i++) {
    const char *name = command->options[i].name;
    if (strlen(name) == length && !strncmp(name, argument, length)) return &command->options[i];
  }
  return NULL;
}

static void refuse_unknown(const command_line *command, const char *argument) {
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(argument, "="), argument);
  const char *near = name_near(name, command->options, command->option_count, sizeof *command->options);
  if (near)
    options_refuse(command, "unknown option %s: did you mean %s?", argument, near);
  else
    options_refuse(command, "unknown option %s", argument);
}

/* Parses argv[at] and its value. Returns the number of arguments used; 0 with the refusal printed; -1 with the failure
 * printed. */
static int take_option(const command_line *command, int argc, char **argv, int at, void *values) {
  const option *row = find_option(command, argv[at]);
  const char *attached = argv[at] + name_length(argv[at]);
  if (!row) {
    refuse_unknown(command, argv[at]);
    return 0;
  }
  if (!row->placeholder && *attached) {
    options_refuse(command, "option %s takes no value", row->name);
    return 0;
  }
  if (row->placeholder && !*attached && at + 1 >= argc) {
    options_refuse(command, "option %s wants %s", row->name, row->placeholder);
    return 0;
  }
  const int takes_next = row->placeholder && !*attached;
  const char *value = takes_next ? argv[at + 1] : attached + (*attached == '=');
  const int taken = set_option(row, value, values);
  if (taken == 0) refuse_value(command, row, value);
  if (taken < -1) return -1;
  return taken > 0 ? 1 + takes_next : 0;
}

static void print_help_text(const char *text, int indent) {
  for (; *text; text++) {
    putchar(*text);
    if (*text == '\n') printf("%*s", indent, "");
  }
  putchar('\n');
}

static void print_help(const command_line *command) {
  enum { INDENT = 26 };
  printf("usage: slabcast %s\n\n%s\n\n", command->usage, command->about);
  for (size_t i = 0; i < command->option_count; i++) {
    const option *row = &command->options[i];
    const int width =
        printf("  %s%s%s", row->name, row->placeholder ? " " : "", row->placeholder ? row->placeholder : "");
    if (width > INDENT - 2)
      printf("\n%*s", INDENT, "");
    else
      printf("%*s", INDENT - width, "");
    print_help_text(row->help, INDENT);
  }
  printf("  %-*s%s\n", INDENT - 2, "--help", ABOUT_HELP);
  if (command->closing) printf("\n%s\n", command->closing);
}

int options_refuse(const command_line *command, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  complain("%s", text);
  fprintf(stderr, "usage: slabcast %s\n", command->usage);
  return EXIT_USAGE;
}

/* Writes words separated by | as "npy, raw or txt". */
static void list_words(const char *words, char *text, size_t size) {
  size_t at = 0;
  text[0] = '\0';
  while (*words && at < size) {
    const size_t word = strcspn(words, "|");
    const int is_last = words[word] == '\0';
    at += (size_t)snprintf(text + at, size - at, "%s%.*s", at == 0 ? "" : is_last ? " or " : ", ", (int)word, words);
    words += word + !is_last;
  }
}

int options_check_ending(const command_line *command, const char *path, const char *endings) {
  char ending[32], list[64];
  const char *name = os_name_in(path), *dot = strrchr(name, '.');
  if (!dot || dot == name || strlen(dot + 1) >= sizeof ending || output_is_direct(path)) return OPTIONS_RUN;
  size_t letters = 0;
  for (size_t i = 0; i <= strlen(dot + 1); i++) {
    ending[i] = (char)tolower((unsigned char)dot[1 + i]);
    letters += isalpha((unsigned char)ending[i]) != 0;
  }
  if (letters == 0 || parse_choice(ending, endings) >= 0) return OPTIONS_RUN;
  list_words(endings, list, sizeof list);
  return options_refuse(command, "-o %s: %s files cannot be written, only %s%s", path, dot + 1, list,
                        find_option(command, "--out") ? "; --out FORMAT is for any name" : "");
}

/* Checks that need the whole command line. */
static int check_scene(const command_line *command, const void *values) {
  for (size_t i = 0; i < command->option_count; i++)
    if (command->options[i].kind == OPTION_SCENE) {
      const char *place = (const char *)values + command->options[i].place;
      return scene_source_is_whole(*(scene_source *const *)(const void *)place) ? OPTIONS_RUN : EXIT_USAGE;
    }
  return OPTIONS_RUN;
}

/* A file without its option may be a mesh. */
static int refuse_argument(const command_line *command, const char *argument) {
  os_facts found;
  bool takes_mesh = false;
  for (size_t i = 0; i < command->option_count; i++) takes_mesh |= command->options[i].kind == OPTION_SCENE;
  if (takes_mesh && os_facts_of(argument, &found) == 0 && found.kind == OS_FILE)
    return options_refuse(command, "unexpected argument \"%s\"; files stand behind their options: --mesh %s", argument,
                          argument);
  return options_refuse(command, "unexpected argument \"%s\"", argument);
}

int options_parse(const command_line *command, int argc, char **argv, void *values, int *arguments) {
  int kept = 0, only_arguments = 0;
  for (int at = 1; at < argc;) {
    const char *argument = argv[at];
    if (only_arguments || argument[0] != '-' || argument[1] == '\0') {
      if (kept >= command->arguments) return refuse_argument(command, argument);
      argv[++kept] = argv[at++];
    } else if (!strcmp(argument, "--")) {
      only_arguments = 1;
      at++;
    } else if (!strcmp(argument, "--help") || !strcmp(argument, "-h")) {
      print_help(command);
      return EXIT_DONE;
    } else {
      const int taken = take_option(command, argc, argv, at, values);
      if (taken <= 0) return taken < 0 ? EXIT_FAILED : EXIT_USAGE;
      at += taken;
    }
  }
  if (arguments) *arguments = kept;
  return check_scene(command, values);
}

int options_check_stdin(const command_line *command, const char *before, const input_option *inputs, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const char *name = inputs[i].name;
    if (!inputs[i].path || strcmp(inputs[i].path, "-") != 0) continue;
    if (before) return options_refuse(command, "%s - and %s - cannot both come from stdin", before, name);
    before = name;
  }
  return OPTIONS_RUN;
}

int options_check_apart(const command_line *command, const char *out, const char *json) {
  if (!out || !json || strcmp(out, json) != 0) return OPTIONS_RUN;
  return options_refuse(command, "-o and --json cannot both go to %s", strcmp(out, "-") ? out : "stdout");
}
