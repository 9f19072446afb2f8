/* Completions for bash, zsh and fish: commands, their options, and the values of those. */
#include <stdio.h>
#include <string.h>

#include "program/common/manual.h"
#include "sets/scenes.h"

/* ---- the values of an option ----------------------------------------------- */

static int takes_file(const option *row) {
  const char *value = row->placeholder;
  return value && (!strncmp(value, "FILE", 4) || strstr(value, ".json"));
}

enum { WORD_MAX = 64 };

/* Copies word `index` of a list with | between. Returns 0 where there are fewer. */
static int take_word(const char *words, size_t index, char word[WORD_MAX]) {
  for (; index > 0; index--) {
    words += strcspn(words, "|");
    if (*words++ == '\0') return 0;
  }
  snprintf(word, WORD_MAX, "%.*s", (int)strcspn(words, "|"), words);
  return 1;
}

/* The same without words in capitals, which are names of values: "BITS|NAME=BITS" has no others. */
static int take_literal(const char *words, size_t index, char word[WORD_MAX]) {
  for (size_t i = 0; take_word(words, i, word); i++)
    if (strcspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == strlen(word) && index-- == 0) return 1;
  return 0;
}

/* The value `index` that is offered for an option. Returns 0 where there are fewer, or none since any text may stand.
 */
static int take_value(const command_line *line, const option *row, size_t index, char word[WORD_MAX]) {
  const char *name = row->placeholder;
  if (!name || takes_file(row)) return 0;
  if (!strcmp(row->name, "--device")) return take_word("cpu|gpu|all", index, word);
  if (!strcmp(row->name, "--builtin")) {
    for (size_t i = 0; i <= index; i++)
      if (!(name = scene_names[i].name)) return 0;
    return snprintf(word, WORD_MAX, "%s:", name);
  }
  if (!strcmp(row->name, "--group")) {
    if (index >= line->group_count) return 0;
    memcpy(&name, (const char *)line->groups + index * line->group_stride, sizeof name);
    return snprintf(word, WORD_MAX, "%s", name);
  }
  return strchr(name, '|') && take_literal(name, index, word);
}

static int takes_words(const command_line *line, const option *row) {
  char word[WORD_MAX];
  return take_value(line, row, 0, word);
}

/* Whether more has to be typed behind a value: the COUNT of NAME:COUNT. */
static int takes_more(const option *row) { return !strcmp(row->name, "--builtin"); }

/* Prints the values with blanks between; `colon` is how the shell has one there. */
static void put_values(const command_line *line, const option *row, const char *colon) {
  char word[WORD_MAX];
  for (size_t i = 0; take_value(line, row, i, word); i++) {
    if (i > 0) putchar(' ');
    for (const char *at = word; *at; at++)
      if (*at == ':')
        fputs(colon, stdout);
      else
        putchar(*at);
  }
}

/* The second word of the usage where it is a list such as "camera|lidar"; its length is 0 elsewhere. */
static const char *argument_words(const command_line *line, size_t *length) {
  const char *second = line->usage + strcspn(line->usage, " ");
  second += *second == ' ';
  *length = strcspn(second, " ");
  if (!line->arguments || !memchr(second, '|', *length)) *length = 0;
  return second;
}

static int takes_file_arguments(const command_line *line) {
  size_t words = 0;
  argument_words(line, &words);
  return line->arguments > 0 && words == 0;
}

/* Prints words that have | between them, with blanks instead. */
static void put_words(const char *words, size_t length) {
  for (size_t i = 0; i < length; i++) putchar(words[i] == '|' ? ' ' : words[i]);
}

/* Length of the first clause of a help, which is enough where a line is short. */
static size_t clause_length(const char *help) {
  static const char *const ends[] = {" (", "; ", ". ", ".\n", ":\n", ";\n"};
  size_t length = strlen(help);
  for (size_t i = 0; i < COUNT_OF(ends); i++) {
    const char *end = strstr(help, ends[i]);
    if (end && (size_t)(end - help) < length) length = (size_t)(end - help);
  }
  return length;
}

/* Prints the clause for a text between single quotes: `quote` is how the shell has one there, and characters of
 * `special` get a backslash. */
static void put_clause(const char *help, const char *quote, const char *special) {
  const size_t length = clause_length(help);
  for (size_t i = 0; i < length; i++) {
    const char letter = help[i] == '\n' ? ' ' : help[i];
    if (letter == '\'') {
      fputs(quote, stdout);
    } else {
      if (strchr(special, letter)) putchar('\\');
      putchar(letter);
    }
  }
}

static void put_names(const program *p) {
  for (size_t i = 0; i < p->command_count; i++) printf("%s%s", i > 0 ? " " : "", p->commands[i]->name);
}

/* The name of the shell's function: - is no letter of one. */
static void put_function(const program *p) {
  putchar('_');
  for (const char *at = p->name; *at; at++) putchar(*at == '-' ? '_' : *at);
}

static void put_origin(const program *p, const char *shell) {
  printf("# Written by `%s --help=%s`.\n", p->name, shell);
}

/* ---- bash ------------------------------------------------------------------ */

/* Prints "a | b) result ;;" for the options for which `holds`; nothing if there is none. */
static void bash_case(const command_line *line, int (*holds)(const command_line *, const option *),
                      const char *result) {
  const char *between = "        ";
  for (size_t i = 0; i < line->option_count; i++) {
    if (!holds(line, &line->options[i])) continue;
    printf("%s%s", between, line->options[i].name);
    between = " | ";
  }
  if (between[1] == '|') printf(") %s ;;\n", result);
}

static int takes_any_file(const command_line *line, const option *row) {
  (void)line;
  return takes_file(row);
}

static int takes_text(const command_line *line, const option *row) {
  return row->placeholder && !takes_file(row) && !takes_words(line, row);
}

static void bash_command(const program_command *command) {
  const command_line *line = command->line;
  size_t length = 0;
  const char *words = argument_words(line, &length);
  printf("    %s)\n      words=\"", command->name);
  put_words(words, length);
  for (size_t i = 0; i < line->option_count; i++) printf("%s%s", i > 0 || length > 0 ? " " : "", line->options[i].name);
  printf(" --help\"\n");
  if (takes_file_arguments(line)) puts("      files=yes");
  puts("      case $before in\n        --help) words=\"\" files=\"\" ;;");
  for (size_t i = 0; i < line->option_count; i++) {
    const option *row = &line->options[i];
    if (!takes_words(line, row)) continue;
    printf("        %s) words=\"", row->name);
    put_values(line, row, ":");
    printf("\" files=\"\"%s ;;\n", takes_more(row) ? " more=yes" : "");
  }
  bash_case(line, takes_any_file, "words=\"\" files=yes");
  bash_case(line, takes_text, "words=\"\" files=\"\"");
  puts("      esac\n      ;;");
}

void bash_completion_write(const program *p) {
  put_origin(p, "bash");
  put_function(p);
  puts(
      "() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=\"\" files=\"\" more=\"\" "
      "IFS=$' "
      "\\t\\n'\n"
      "  # To bash, --name=VALUE is three words.\n"
      "  if [[ $word == \"=\" ]]; then\n"
      "    word=\"\"\n"
      "  elif [[ $before == \"=\" ]]; then\n"
      "    before=${COMP_WORDS[COMP_CWORD - 2]}\n"
      "  fi\n"
      "  local command=${COMP_WORDS[1]}\n"
      "  if ((COMP_CWORD == 1)); then command=help; fi\n"
      "  case $command in");
  for (size_t i = 0; i < p->command_count; i++) bash_command(p->commands[i]);
  fputs("    help)\n      words=\"", stdout);
  put_names(p);
  puts(
      "\"\n"
      "      if ((COMP_CWORD == 1)); then words+=\" help --help --version\"; fi\n"
      "      ;;\n"
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  if [[ -n $more ]]; then compopt -o nospace 2>/dev/null; fi\n"
      "  if [[ -n $files ]]; then\n"
      "    compopt -o filenames 2>/dev/null\n"
      "    IFS=$'\\n'\n"
      "    COMPREPLY+=($(compgen -f -- \"$word\"))\n"
      "  fi\n"
      "}");
  fputs("complete -F ", stdout);
  put_function(p);
  printf(" %s\n", p->name);
}

/* ---- zsh ------------------------------------------------------------------- */

static void zsh_option(const command_line *line, const option *row) {
  /* Options of a scene may be given again; a value may stand behind =, or right behind a letter. */
  const char *attached = !row->placeholder ? "" : row->name[1] == '-' ? "=" : "+";
  printf("          '%s%s%s[", row->kind == OPTION_SCENE ? "*" : "", row->name, attached);
  put_clause(row->help, "'\\''", "[]:");
  putchar(']');
  if (takes_file(row)) {
    fputs(":file:_files", stdout);
  } else if (takes_words(line, row)) {
    fputs(takes_more(row) ? ":value:{compadd -S \"\" -- " : ":value:(", stdout);
    put_values(line, row, "\\:");
    putchar(takes_more(row) ? '}' : ')');
  } else if (row->placeholder) {
    putchar(':');
    put_clause(row->placeholder, "'\\''", "[]:");
    putchar(':');
  }
  puts("' \\");
}

static void zsh_command(const program_command *command) {
  size_t length = 0;
  const char *words = argument_words(command->line, &length);
  printf("        %s)\n        _arguments \\\n", command->name);
  for (size_t i = 0; i < command->line->option_count; i++) zsh_option(command->line, &command->line->options[i]);
  if (length > 0) {
    fputs("          '1:what:(", stdout);
    put_words(words, length);
    puts(")' \\");
  }
  if (takes_file_arguments(command->line)) puts("          '*:file:_files' \\");
  puts("          '(- *)--help[" ABOUT_HELP "]'\n          ;;");
}

void zsh_completion_write(const program *p) {
  printf("#compdef %s\n", p->name);
  put_origin(p, "zsh");
  put_function(p);
  puts(
      "() {\n"
      "  local curcontext=$curcontext state line\n"
      "  typeset -A opt_args\n"
      "  local -a commands\n"
      "  commands=(");
  for (size_t i = 0; i < p->command_count; i++) {
    printf("    '%s:", p->commands[i]->name);
    put_clause(p->commands[i]->about, "'\\''", "");
    puts("'");
  }
  puts("    'help:" ABOUT_COMMANDS
       ", or the options of one'\n"
       "  )\n"
       "  _arguments -C \\\n"
       "    '(- *)--help[" ABOUT_COMMANDS
       "]' \\\n"
       "    '(- *)--version[" ABOUT_VERSION
       "]' \\\n"
       "    '1:command:->command' \\\n"
       "    '*::argument:->argument'\n"
       "  case $state in\n"
       "    command) _describe command commands ;;\n"
       "    argument)\n"
       "      case $words[1] in");
  for (size_t i = 0; i < p->command_count; i++) zsh_command(p->commands[i]);
  fputs("        help) _arguments '1:command:(", stdout);
  put_names(p);
  puts(
      ")' ;;\n"
      "      esac\n"
      "      ;;\n"
      "  esac\n"
      "}\n");
  put_function(p);
  puts(" \"$@\"");
}

/* ---- fish ------------------------------------------------------------------ */

static void fish_begin(const program *p, const char *command) {
  printf("complete -c %s -n '_", p->name);
  put_function(p);
  printf("_is \"%s\"'", command);
}

static void fish_option(const program *p, const program_command *command, const option *row) {
  fish_begin(p, command->name);
  printf(row->name[1] == '-' ? " -l %s" : " -s %s", row->name + (row->name[1] == '-' ? 2 : 1));
  if (takes_file(row)) {
    fputs(" -r -F", stdout);
  } else if (row->placeholder) {
    fputs(" -x", stdout);
  }
  if (takes_words(command->line, row)) {
    fputs(" -a '", stdout);
    put_values(command->line, row, ":");
    putchar('\'');
  }
  fputs(" -d '", stdout);
  put_clause(row->help, "\\'", "\\");
  puts("'");
}

static void fish_command(const program *p, const program_command *command) {
  size_t length = 0;
  const char *words = argument_words(command->line, &length);
  fish_begin(p, "");
  printf(" -a %s -d '", command->name);
  put_clause(command->about, "\\'", "\\");
  puts("'");
  for (size_t i = 0; i < command->line->option_count; i++) fish_option(p, command, &command->line->options[i]);
  fish_begin(p, command->name);
  puts(" -l help -d '" ABOUT_HELP "'");
  if (length > 0) {
    fish_begin(p, command->name);
    fputs(" -a '", stdout);
    put_words(words, length);
    puts("'");
  }
  if (takes_file_arguments(command->line)) {
    fish_begin(p, command->name);
    puts(" -F");
  }
}

void fish_completion_write(const program *p) {
  put_origin(p, "fish");
  puts("# Whether the command is this one; \"\": whether none is named yet.");
  fputs("function _", stdout);
  put_function(p);
  puts(
      "_is\n"
      "  set -l words (commandline -opc)\n"
      "  test \"$words[2]\" = \"$argv[1]\"\n"
      "end");
  printf("complete -c %s -f\n", p->name);
  for (size_t i = 0; i < p->command_count; i++) fish_command(p, p->commands[i]);
  fish_begin(p, "");
  puts(" -a help -d '" ABOUT_COMMANDS ", or the options of one'");
  fish_begin(p, "");
  puts(" -l help -d '" ABOUT_COMMANDS "'");
  fish_begin(p, "");
  puts(" -l version -d '" ABOUT_VERSION "'");
  fish_begin(p, "help");
  fputs(" -a '", stdout);
  put_names(p);
  puts("'");
}
