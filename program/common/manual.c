/* Manual pages, as roff with the macros of man(7). */
#include "program/common/manual.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "program/io/errors.h"

/* ---- roff ------------------------------------------------------------------ */

/* Prints part of a line. Text between backticks is bold. Text that roff would read as its own, or as a character for
 * typesetters, is escaped. So it stays as it is and can be copied to a shell. */
static void put_part(const char *text, size_t length) {
  int bold = 0;
  for (size_t i = 0; i < length; i++) {
    switch (text[i]) {
      case '`':
        bold = !bold;
        fputs(bold ? "\\fB" : "\\fR", stdout);
        break;
      case '\\':
        fputs("\\e", stdout);
        break;
      case '-':
        fputs("\\-", stdout);
        break;
      case '\'':
        fputs("\\(aq", stdout);
        break;
      case '^':
        fputs("\\(ha", stdout);
        break;
      case '~':
        fputs("\\(ti", stdout);
        break;
      default:
        putchar(text[i]);
    }
  }
}

/* A line that begins with a dot would be a request. */
static void put_line(const char *text, size_t length) {
  if (length > 0 && text[0] == '.') fputs("\\&", stdout);
  put_part(text, length);
  putchar('\n');
}

static void put_bold(const char *text) {
  fputs("\\fB", stdout);
  put_part(text, strlen(text));
  fputs("\\fR", stdout);
}

static void put_section(const char *name) { printf(".SH %s\n", name); }

/* The first line break or the end. */
static size_t line_length(const char *text) { return strcspn(text, "\n"); }
static const char *next_line(const char *text) { return text + line_length(text) + (text[line_length(text)] != '\0'); }

static int is_indented(const char *line) { return line[0] == ' '; }

/* Length of the word that an indented line "  word  text" explains; 0: it is no such line. */
static size_t item_length(const char *line) {
  const size_t indent = strspn(line, " "), word = strcspn(line + indent, " \n");
  return indent > 0 && !strncmp(line + indent + word, "  ", 2) ? word : 0;
}

/* Whether a line is an example, which is indented too but explains no word. */
static int is_example(const char *line) { return is_indented(line) && !item_length(line); }

static const char *put_list_item(const char *line) {
  const size_t indent = strspn(line, " "), word = item_length(line);
  const char *explained = line + indent + word;
  explained += strspn(explained, " ");
  fputs(".TP\n\\fB", stdout);
  put_part(line + indent, word);
  fputs("\\fR\n", stdout);
  put_line(explained, line_length(explained));
  return next_line(explained);
}

/* Prints the paragraphs and lists in a text of a command, before or beside its examples. */
static void put_prose(const char *text) {
  int begins = 0, in_list = 0; /* whether a paragraph begins; whether the last line was of a list */
  while (*text) {
    if (item_length(text)) {
      text = put_list_item(text);
      in_list = 1;
      continue;
    }
    if (line_length(text) == 0) begins = 1;
    if (line_length(text) > 0 && !is_indented(text)) {
      if (begins || in_list) fputs(".PP\n", stdout);
      put_line(text, line_length(text));
      begins = in_list = 0;
    }
    text = next_line(text);
  }
}

/* Prints the examples of a text, whose lines are not filled. */
static void put_examples(const char *text) {
  fputs(".EX\n", stdout);
  for (; *text; text = next_line(text))
    if (is_example(text)) put_line(text + 2, line_length(text) - 2);
  fputs(".EE\n", stdout);
}

/* Whether a text has lines that are examples, or lines that are none. */
static int has_lines(const char *text, int examples) {
  for (; *text; text = next_line(text))
    if (line_length(text) > 0 && is_example(text) == examples) return 1;
  return 0;
}

/* ---- options --------------------------------------------------------------- */

/* Whether a line of an option's help is one of a list: "word: ...". */
static int is_listed(const char *line) {
  size_t word = 0;
  while (isalpha((unsigned char)line[word]) || line[word] == '-') word++;
  return word > 0 && line[word] == ':';
}

static void put_help(const char *help) {
  for (const char *line = help; *line; line = next_line(line)) {
    if (line > help && is_listed(line)) fputs(".br\n", stdout);
    put_line(line, line_length(line));
  }
}

static void put_option(const char *name, const char *value, const char *help) {
  fputs(".TP\n", stdout);
  put_bold(name);
  if (value) {
    fputs(" \\fI", stdout);
    put_part(value, strlen(value));
    fputs("\\fR", stdout);
  }
  putchar('\n');
  put_help(help);
}

static void put_options_of(const command_line *line) {
  for (size_t i = 0; i < line->option_count; i++)
    put_option(line->options[i].name, line->options[i].placeholder, line->options[i].help);
  put_option("--help", NULL, ABOUT_HELP);
}

static void put_commands(const program *p) {
  put_section("COMMANDS");
  for (size_t i = 0; i < p->command_count; i++) put_option(p->commands[i]->name, NULL, p->commands[i]->about);
  put_section("OPTIONS");
  put_option("--help", NULL, ABOUT_COMMANDS);
  put_option("--version", NULL, ABOUT_VERSION);
}

/* ---- parts of every page --------------------------------------------------- */

static void put_exit_status(void) {
  put_section("EXIT STATUS");
  for (int code = 0; code < EXIT_CODE_COUNT; code++)
    printf(".TP\n\\fB%d\\fR\n%s\n", code, exit_meaning((enum exit_code)code));
  fputs(".PP\nA signal that ends the program is passed on after the clean\\-up.\n", stdout);
}

/* Whether a command's texts have these words. */
static int tells_of(const command_line *line, const char *words) {
  if (strstr(line->about, words) || (line->closing && strstr(line->closing, words))) return 1;
  for (size_t i = 0; i < line->option_count; i++)
    if (!strcmp(line->options[i].name, words) || strstr(line->options[i].help, words)) return 1;
  return 0;
}

static void put_environment(const program_command *command) {
  put_section("ENVIRONMENT");
  if (!command || tells_of(command->line, "--device")) {
    put_option(
        "SLABCAST_BACKENDS", NULL,
        "the devices that are looked for, with commas between: native (the processor), cuda, opencl; without it all");
    put_option("OCL_ICD_VENDORS", NULL, "tells the OpenCL loader which drivers to take, and the like");
  }
  put_option("NO_COLOR", NULL, "if it is not empty, lines of progress have no escape sequences");
}

/* Whether a command writes the file that an option names. */
static int writes_file(const command_line *line) {
  for (size_t i = 0; i < line->option_count; i++) {
    const option *row = &line->options[i];
    if (row->placeholder && (!strcmp(row->name, "-o") || !strcmp(row->name, "--json"))) return 1;
  }
  return 0;
}

static void put_files(const command_line *line) {
  put_section("FILES");
  put_option("FILE.part", NULL, "what is written until a FILE is whole, which then gets its name");
  if (tells_of(line, ".offsets.npy"))
    put_option("FILE.offsets.npy", NULL, "where each ray's hits begin in FILE, where a ray may have several");
}

static void put_see_also(const program *p, const program_command *command) {
  const char *comma = "";
  put_section("SEE ALSO");
  if (command || strcmp(p->name, "slabcast") != 0) {
    fputs("\\fBslabcast\\fR(1)", stdout);
    comma = ",\n";
  }
  for (size_t i = 0; i < p->command_count; i++) {
    const char *name = p->commands[i]->name;
    char words[64];
    snprintf(words, sizeof words, "slabcast %s", name);
    if (command && (command == p->commands[i] || !tells_of(command->line, words))) continue;
    printf("%s\\%%\\fBslabcast\\-%s\\fR(1)", comma, name);
    comma = ",\n";
  }
  putchar('\n');
}

/* ---- the page -------------------------------------------------------------- */

static void put_title(const char *name, const char *of_command, const char *summary) {
  fputs(".\\\" Written by the program itself, with --help=man.\n.TH ", stdout);
  for (const char *at = name; *at; at++) putchar(toupper((unsigned char)*at));
  if (of_command) putchar('-');
  for (const char *at = of_command ? of_command : ""; *at; at++) putchar(toupper((unsigned char)*at));
  printf(" 1 \"\" \"slabcast %s\" \"Slabcast manual\"\n.nh\n.ad l\n", slab_version());
  put_section("NAME");
  put_part(name, strlen(name));
  if (of_command) printf("\\-%s", of_command);
  fputs(" \\- ", stdout);
  put_line(summary, strlen(summary));
  put_section("SYNOPSIS");
}

void man_page_write(const program *p, const program_command *command) {
  const char *about = command ? command->line->about : p->about;
  const char *closing = command ? command->line->closing : p->closing;
  put_title(p->name, command ? command->name : NULL, command ? command->about : p->summary);
  if (command) printf("\\fB%s\\fR ", p->name);
  const char *usage = command ? command->line->usage : p->usage;
  put_line(usage, strlen(usage));
  put_section("DESCRIPTION");
  put_prose(about);
  if (command) {
    put_section("OPTIONS");
    put_options_of(command->line);
  } else {
    put_commands(p);
  }
  put_exit_status();
  put_environment(command);
  if (command && writes_file(command->line)) put_files(command->line);
  if (has_lines(closing, 0)) {
    put_section("NOTES");
    put_prose(closing);
  }
  if (has_lines(closing, 1)) {
    put_section("EXAMPLES");
    put_examples(closing);
  }
  put_see_also(p, command);
}

/* ---- which form ------------------------------------------------------------ */

static const program_command *find_command(const program *p, const char *name) {
  for (size_t i = 0; i < p->command_count; i++)
    if (!strcmp(p->commands[i]->name, name)) return p->commands[i];
  return NULL;
}

int manual_write(const program *p, int argc, char **argv) {
  const program_command *command = argc == 3 ? find_command(p, argv[1]) : NULL;
  if (argc != 2 && !command) return 0;
  const char *form = argv[argc - 1];
  if (!strcmp(form, "--help=man"))
    man_page_write(p, command);
  else if (!command && !strcmp(form, "--help=bash"))
    bash_completion_write(p);
  else if (!command && !strcmp(form, "--help=zsh"))
    zsh_completion_write(p);
  else if (!command && !strcmp(form, "--help=fish"))
    fish_completion_write(p);
  else
    return 0;
  return 1;
}
