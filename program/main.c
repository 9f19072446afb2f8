/* The program: selects the command, runs it, and prints error lines. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "program/common/manual.h"
#include "program/common/options.h"
#include "program/io/errors.h"
#include "program/io/output.h"
#include "program/io/progress.h"
#include "program/io/text.h"
#include "program/mesh/mesh.h"
#include "program/os/file.h"

void complain(const char *format, ...) {
  char text[COMPLAINT_MAX], shown[COMPLAINT_MAX];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  text_printable(text, shown, sizeof shown);
  os_hold_stream(stderr); /* keeps lines of different threads apart */
  if (os_is_terminal(OS_STDERR)) terminal_wipe();
  fprintf(stderr, "slabcast: %s\n", shown);
  os_let_go_stream(stderr);
}

static const program_command *const commands[] = {&command_demo,   &command_cast,   &command_lidar, &command_view,
                                                  &command_near,   &command_inside, &command_join,  &command_rays,
                                                  &command_render, &command_verify, &command_bench, &command_devices,
                                                  &command_info,   &command_explain};
enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static const program slabcast = {
    .name = "slabcast",
    .summary = "cast massive batches of rays at a scene",
    .usage = "slabcast COMMAND [options]",
    .about = "Casts massive batches of rays on the processor, on NVIDIA GPUs by CUDA, and on any OpenCL device.",
    .closing =
        "`slabcast COMMAND --help` or `slabcast help COMMAND` tells a command's options, `slabcast --version`\n"
        "or -V the version.\n\n"
        "  slabcast demo\n"
        "  slabcast render --builtin city:400 -o city.png\n"
        "  slabcast rays camera --builtin city:400 -o rays.npy\n"
        "  slabcast cast --builtin city:400 --rays rays.npy -o hits.npy",
    .commands = commands,
    .command_count = COMMAND_COUNT,
};

static void list_commands(FILE *stream) {
  fprintf(stream, "usage: %s\n\n%s\n\n", slabcast.usage, slabcast.about);
  for (int i = 0; i < COMMAND_COUNT; i++) fprintf(stream, "  %-9s %s\n", commands[i]->name, commands[i]->about);
  fputs("\nExit codes:", stream);
  for (int code = 0; code < EXIT_CODE_COUNT; code++)
    fprintf(stream, "%s %d %s", code > 0 ? "," : "", code, exit_meaning((enum exit_code)code));
  fprintf(stream, ".\n\n%s\n", slabcast.closing);
}

static int is_one_of(const char *word, const char *first, const char *second) {
  return !strcmp(word, first) || !strcmp(word, second);
}

/* argv[0] is the name of the command. */
static int run_command(int argc, char **argv) {
  for (int i = 0; i < COMMAND_COUNT; i++)
    if (!strcmp(argv[0], commands[i]->name)) return commands[i]->run(argc, argv);
  const char *names[COMMAND_COUNT];
  for (int i = 0; i < COMMAND_COUNT; i++) names[i] = commands[i]->name;
  const char *near = name_near(argv[0], names, COMMAND_COUNT, sizeof *names);
  if (near)
    complain("unknown command \"%s\": did you mean \"%s\"?", argv[0], near);
  else
    complain("unknown command \"%s\"; `slabcast --help` lists them", argv[0]);
  return EXIT_USAGE;
}

/* `help` lists the commands; `help COMMAND` is `COMMAND --help`. */
static int help(int argc, char **argv) {
  char word[] = "--help", *of_command[] = {argc > 1 ? argv[1] : NULL, word, NULL};
  if (argc > 2) {
    complain("unexpected argument \"%s\": `slabcast help` takes one command", argv[2]);
    return EXIT_USAGE;
  }
  if (argc == 2 && strcmp(argv[1], "help") != 0) return run_command(2, of_command);
  list_commands(stdout);
  return EXIT_DONE;
}

static int run(int argc, char **argv) {
  if (argc < 2) {
    list_commands(stderr);
    return EXIT_USAGE;
  }
  if (manual_write(&slabcast, argc, argv)) return EXIT_DONE;
  if (!strcmp(argv[1], "help")) return help(argc - 1, argv + 1);
  const int version = is_one_of(argv[1], "--version", "-V");
  if (!version && !is_one_of(argv[1], "--help", "-h")) return run_command(argc - 1, argv + 1);
  if (version)
    printf("slabcast %s\n", slab_version());
  else
    list_commands(stdout);
  return EXIT_DONE;
}

int main(int argc, char **argv) {
  os_begin_streams();
  const int child = mesh_child_main(argc, argv);
  if (child >= 0) return child;
  output_prepare();
  const int code = run(argc, argv);
  return output_flush_stdout() && code == EXIT_DONE ? EXIT_FAILED : code;
}
