/* The program: finds the command and runs it. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "mesh.h"
#include "output.h"

typedef struct command {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *about;
} command;

static const command commands[] = {
    {"demo", command_demo, "cast a million rays, check every one, draw a picture"},
    {"cast", command_cast, "cast rays from a file or pipe at a scene"},
    {"join", command_join, "put the shards of a cast together"},
    {"rays", command_rays, "make a set of rays: camera, lidar, hemisphere, random"},
    {"render", command_render, "draw a scene"},
    {"verify", command_verify, "check that a device keeps the contract"},
    {"bench", command_bench, "measure a device, and casts against what it can do"},
    {"devices", command_devices, "list the OpenCL devices"},
    {"info", command_info, "describe a scene"},
};
enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static void list_commands(FILE *stream) {
  fputs("usage: slabcast COMMAND [options]\n\nCasts massive batches of rays on any OpenCL device.\n\n", stream);
  for (int i = 0; i < COMMAND_COUNT; i++) fprintf(stream, "  %-9s %s\n", commands[i].name, commands[i].about);
  fputs(
      "\n`slabcast COMMAND --help` tells each command's options, `slabcast --version` the version.\n"
      "Exit codes: 0 done, 1 failed, 2 usage, 3 a check found a mismatch, 4 no device.\n",
      stream);
}

static int run(int argc, char **argv) {
  if (argc < 2) {
    list_commands(stderr);
    return EXIT_USAGE;
  }
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
    list_commands(stdout);
    return EXIT_DONE;
  }
  if (!strcmp(argv[1], "--version")) {
    printf("slabcast %s\n", slab_version());
    return EXIT_DONE;
  }
  for (int i = 0; i < COMMAND_COUNT; i++)
    if (!strcmp(argv[1], commands[i].name)) return commands[i].run(argc - 1, argv + 1);
  complain("unknown command \"%s\"; `slabcast --help` lists them", argv[1]);
  return EXIT_USAGE;
}

int main(int argc, char **argv) {
  const int child = mesh_child_main(argc, argv);
  if (child >= 0) return child;
  output_prepare();
  const int code = run(argc, argv);
  return output_flush_stdout() && code == EXIT_DONE ? EXIT_FAILED : code;
}
