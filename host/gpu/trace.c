/* The header is the public file, and then, for each query, the text of the scene's kernels without the kernels
 * (kernels/walk/trace.h). A text is written for one query and names its functions as it likes. So a macro turns every
 * name that it declares into one of its own while the text is read. Every macro is forgotten after the text. The user's
 * text sees only names that begin with slab_ or SLAB_. */
#include "gpu/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "base/status.h"
#include "data/types.h"
#include "gpu/gpu.h"

/* ---- text that grows ---- */

typedef struct growing {
  char *bytes; /* NULL: memory was short */
  size_t used, size;
} growing;

static void text_add(growing *t, const char *more, size_t length) {
  if (t->bytes == NULL) return;
  if (t->size - t->used <= length) {
    t->size = 2 * (t->size + length);
    char *grown = realloc(t->bytes, t->size);
    if (grown == NULL) free(t->bytes);
    t->bytes = grown;
    if (grown == NULL) return;
  }
  memcpy(t->bytes + t->used, more, length);
  t->bytes[t->used += length] = 0;
}

static void text_say(growing *t, const char *format, const char *word, int length) {
  char line[256];
  const int n = snprintf(line, sizeof line, format, length, word, length, word);
  text_add(t, line, (size_t)n);
}

static void text_embed(growing *t, const char *const *strings, unsigned count) {
  for (unsigned i = 0; i < count; i++) text_add(t, strings[i], strlen(strings[i]));
}

/* A line for each word of a list, each after a blank. */
static void text_each(growing *t, const char *format, const char *words) {
  for (const char *at = words; *at != 0;) {
    const size_t length = strcspn(++at, " ");
    text_say(t, format, at, (int)length);
    at += length;
  }
}

/* ---- the header ---- */

/* The text of a scene's kernels, and the words of it. */
typedef struct trace_source {
  const char *const *text;
  const unsigned *count;
  const char *names, *macros;
} trace_source;

static trace_source source_of(program_source of) {
#define SOURCE(name) \
  (trace_source) { embedded_##name, &embedded_##name##_count, embedded_##name##_names, embedded_##name##_macros }
  return of == PROGRAM_FLAT ? SOURCE(flat) : of == PROGRAM_WIDE ? SOURCE(wide) : SOURCE(compressed);
#undef SOURCE
}

/* The definitions in which a program of one ray per work-item differs from programs that cast arrays. */
static const char of_one_ray[] =
    "#define SLAB_TRACE\n#undef SLAB_RAYS\n#define SLAB_RAYS 1\n#undef SLAB_LOCAL_BOXES\n#define SLAB_LOCAL_BOXES 0\n"
    "#undef SLAB_WALKERS\n#define SLAB_WALKERS 1\n#undef SLAB_RAY_PAIRS\n#define SLAB_RAY_PAIRS 1\n";

/* Options of the compiler: those that define become lines of the header, the others stay. undefine: its last lines. */
static void split_options(const char *options, growing *define, growing *undefine, growing *others) {
  for (const char *at = options; *at != 0;) {
    const size_t length = strcspn(at, " ");
    const char *word = at + 2;
    const size_t name = strcspn(word, "= ");
    if (strncmp(at, "-D", 2) != 0) {
      text_say(others, "%.*s ", at, (int)length);
    } else {
      const bool valued = word[name] == '=';
      text_say(define, "#define %.*s ", word, (int)name);
      text_say(define, "%.*s\n", valued ? word + name + 1 : "", valued ? (int)(length - name - 3) : 0);
      text_say(undefine, "#undef %.*s\n", word, (int)name);
    }
    at += length + strspn(at + length, " ");
  }
  text_add(define, of_one_ray, sizeof of_one_ray - 1);
}

/* The functions of one query. The functions of SLAB_ALL find the hit after a hit, and store none. They are the
 * functions of SLAB_NEAREST for rays with a hit to begin after. */
static void add_query(growing *t, const trace_source *source, uint32_t query, const growing *define,
                      const growing *undefine) {
  const bool walks = query == SLAB_ALL;
  char begin[128];
  const int n = snprintf(begin, sizeof begin,
                         "#define SLAB_FUNCTIONS %u\n#undef SLAB_QUERY\n#define SLAB_QUERY %u\n#define SLAB_OWN %d\n",
                         query, walks ? (unsigned)SLAB_DISTANCE : query, walks);
  text_add(t, define->bytes, define->used);
  text_add(t, begin, (size_t)n);
  text_each(t, "#define %.*s SLAB_OWN_NAME(%.*s_)\n", source->names);
  text_embed(t, source->text, *source->count);
  text_each(t, "#undef %.*s\n", source->macros);
  text_each(t, "#undef %.*s\n", source->names);
  text_add(t, undefine->bytes, undefine->used);
  text_each(t, "#undef %.*s\n", " SLAB_FUNCTIONS SLAB_OWN SLAB_TRACE");
}

static void add_header(growing *t, const trace_language *language, const program_key *key, uint32_t queries,
                       const char *specialised, growing *others) {
  char about[512];
  const trace_source source = source_of(key->source);
  growing define = {calloc(1, 1), 0, 1}, undefine = {calloc(1, 1), 0, 1};
  split_options(specialised, &define, &undefine, others);
  const int n =
      snprintf(about, sizeof about,
               "/* Slabcast %s, under the MIT License: Copyright (c) 2026 Slabcast contributors */\n"
               "#define SLAB_QUERIES %uu\n#define SLAB_VIEW_WORDS %zu\n#define SLAB_VIEW_BUFFERS %d\n",
               slab_version(), queries, sizeof(cast_uniforms) / sizeof(uint32_t), key->cut ? SCENE_BUFFERS : 1);
  text_add(t, about, (size_t)n);
  text_embed(t, embedded_device, embedded_device_count);
  static const char begin[] =
      "#ifndef SLAB_OWN_NAME\n"
      "#define SLAB_OWN_NAME(name) SLAB_OWN_NAME_OF(name, SLAB_FUNCTIONS)\n"
      "#define SLAB_OWN_NAME_OF(name, number) SLAB_OWN_NAME_FOR(name, number)\n"
      "#define SLAB_OWN_NAME_FOR(name, number) slab_own_##name##number\n";
  text_add(t, begin, sizeof begin - 1);
  text_add(t, language->begin, strlen(language->begin));
  text_embed(t, language->dialect, language->dialect_count);
  if (define.bytes != NULL && undefine.bytes != NULL) {
    for (uint32_t query = 0; query < SLAB_QUERY_COUNT; query++)
      if ((queries >> query & 1) != 0) add_query(t, &source, query, &define, &undefine);
  } else {
    free(t->bytes);
    t->bytes = NULL;
  }
  text_each(t, "#undef %.*s\n", language->dialect_macros);
  text_add(t, language->end, strlen(language->end));
  text_add(t, "#endif\n", 7);
  free(define.bytes);
  free(undefine.bytes);
}

slab_status trace_write(const trace_language *language, const program_key *key, uint32_t queries,
                        const char *specialised, trace_text *written) {
  growing header = {calloc(1, 1), 0, 1}, others = {calloc(1, 1), 0, 1};
  add_header(&header, language, key, queries, specialised, &others);
  if (header.bytes != NULL && others.bytes != NULL) {
    *written = (trace_text){header.bytes, others.bytes};
    return SLAB_OK;
  }
  free(header.bytes);
  free(others.bytes);
  return fail_memory(header.size + others.size, "a kernel's text");
}

void trace_forget(trace_text *text) {
  free(text->header);
  free(text->options);
}

slab_status trace_check_options(const char *options, const char *const *refused, unsigned count) {
  for (unsigned i = 0; i < count; i++)
    if (strstr(options, refused[i]) != NULL)
      return fail(SLAB_INVALID_ARGUMENT, "slab_program_create: option %s changes the arithmetic of tracing",
                  refused[i]);
  return SLAB_OK;
}
