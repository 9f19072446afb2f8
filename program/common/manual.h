/* Other forms of --help: manual pages, and completions for shells. All of it comes from the tables that the program
 * parses its command line by. */
#ifndef SLABCAST_PROGRAM_COMMON_MANUAL_H
#define SLABCAST_PROGRAM_COMMON_MANUAL_H

#include "program/common/options.h"

typedef struct program {
  const char *name;
  const char *summary; /* its task, in half a line */
  const char *usage;   /* "slabcast COMMAND [options]" */
  const char *about;   /* as command_line has them */
  const char *closing; /* as command_line has them */
  const program_command *const *commands;
  size_t command_count;
} program;

/* Descriptions of --help and --version of a program. */
#define ABOUT_COMMANDS "list the commands"
#define ABOUT_VERSION "print the version"

/* Answers `PROGRAM --help=FORM` and `PROGRAM COMMAND --help=man` on stdout: FORM is man, bash, zsh or fish. The build
 * calls the program so for the files that it installs. Returns 1, or 0 if the command line is another. */
int manual_write(const program *, int argc, char **argv);

/* The forms, each to stdout. `command` is NULL in the page of the program itself. */
void man_page_write(const program *, const program_command *command);
void bash_completion_write(const program *);
void zsh_completion_write(const program *);
void fish_completion_write(const program *);

#endif
