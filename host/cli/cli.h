/* What every file of the program shares: commands, exit codes, error lines. */
#ifndef SLABCAST_CLI_H
#define SLABCAST_CLI_H

#include "slabcast.h"

/* A signal that ends the program is passed on after the clean-up, so that shells see it as one. */
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

/* One line "slabcast: ..." on stderr; over a progress line if one is shown. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "slabcast: WHAT: message of the library" and the exit code that goes with the status. */
int complain_status(slab_status status, const char *what);

#endif
