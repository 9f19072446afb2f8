/* Declarations shared by all files of the program: commands, exit codes, error lines. */
#ifndef SLABCAST_CLI_H
#define SLABCAST_CLI_H

#include "slabcast.h"

/* A signal that ends the program is raised again after the clean-up, so that shells see the signal. */
enum exit_code { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_MISMATCH = 3, EXIT_NO_DEVICE = 4 };

/* Each command takes its own name as argv[0] and returns an exit code. */
int command_cast(int argc, char **argv);
int command_rays(int argc, char **argv);
int command_devices(int argc, char **argv);
int command_info(int argc, char **argv);
int command_join(int argc, char **argv);
int command_render(int argc, char **argv);
int command_verify(int argc, char **argv);
int command_demo(int argc, char **argv);
int command_bench(int argc, char **argv);

/* Prints one line "slabcast: ..." to stderr. A shown progress line is overwritten. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints "slabcast: WHAT: message of the library" and returns the exit code for the status. */
int complain_status(slab_status status, const char *what);

#endif
