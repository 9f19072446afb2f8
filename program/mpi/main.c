/* The program `slabcast-mpi`: the commands cast, near and inside on every rank of an MPI job. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "program/common/manual.h"
#include "program/io/errors.h"
#include "program/io/output.h"
#include "program/mesh/mesh.h"
#include "program/mpi/cast.h"
#include "program/mpi/near.h"
#include "program/os/file.h"
#include "program/os/interrupt.h"

static const program_command *const commands[] = {&command_cast, &command_near, &command_inside};

static const program slabcast_mpi = {
    .name = "slabcast-mpi",
    .summary = "cast rays, and measure points, on every rank of an MPI job",
    .usage = "mpirun [-n RANKS] slabcast-mpi cast|near|inside SCENE... -o FILE [options]",
    .about =
        "`slabcast cast`, `near` and `inside` on the ranks of an MPI job: one reads the scene and builds its BVH, "
        "each\n"
        "asks for its share of the rays or points, and the file that comes out is the same. Rays, points and results\n"
        "are files, npy or raw. Local rank i takes the i-th device of those that --device names: all, a list, cpu,\n"
        "gpu (the default, where there are GPUs).",
    .closing =
        "`slabcast-mpi COMMAND --help` tells the options. Exit codes are those of slabcast, the same from every "
        "rank.\n\n"
        "  mpirun -n 4 slabcast-mpi cast --mesh room.obj --rays rays.npy -o hits.npy\n"
        "  mpirun -n 4 slabcast-mpi near --mesh room.obj --grid 512x512x512 -o d.npy",
    .commands = commands,
    .command_count = COUNT_OF(commands),
};

static void tell_usage(FILE *stream) {
  fprintf(stream, "usage: %s\n\n%s\n\n%s\n", slabcast_mpi.usage, slabcast_mpi.about, slabcast_mpi.closing);
}

/* Handles command lines that need no other rank; only rank 0 prints. */
static int run(team *t, int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "cast")) return team_cast(t, argc - 1, argv + 1);
  if (argc > 1 && !strcmp(argv[1], "near")) return team_near(t, NEAR_DISTANCES, argc - 1, argv + 1);
  if (argc > 1 && !strcmp(argv[1], "inside")) return team_near(t, NEAR_INSIDE, argc - 1, argv + 1);
  const char *word = argc > 1 ? argv[1] : "";
  const int help = !strcmp(word, "--help") || !strcmp(word, "-h"),
            version = !strcmp(word, "--version") || !strcmp(word, "-V");
  if (t->rank == 0 && version)
    printf("slabcast %s\n", slab_version());
  else if (t->rank == 0)
    tell_usage(help ? stdout : stderr);
  return help || version ? EXIT_DONE : EXIT_USAGE;
}

int main(int argc, char **argv) {
  os_begin_streams();
  const int child = mesh_child_main(argc, argv);
  if (child >= 0) return child;
  if (manual_write(&slabcast_mpi, argc, argv)) return fflush(stdout) ? EXIT_FAILED : EXIT_DONE; /* no job is needed */
  MPI_Init(&argc, &argv);
  team t = team_begin();
  os_fail_beyond_limits();           /* on every rank */
  if (t.rank == 0) output_prepare(); /* only rank 0 has part files to remove */
  int code = run(&t, argc, argv);
  if (fflush(stdout) || ferror(stdout)) {
    complain("cannot write to standard output: %s", strerror(errno));
    code = code == EXIT_DONE ? EXIT_FAILED : code;
  }
  code = team_agree(&t, code);
  signal(SIGTERM, SIG_IGN); /* launchers send SIGTERM to the other ranks when the first one exits with a code */
  MPI_Finalize();
  return code;
}
