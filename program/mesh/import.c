/* Imports a file: finds its format, and chooses the reader. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/mesh/far_mesh.h"
#include "program/mesh/files.h"
#include "program/mesh/scan.h"
#include "program/mesh/utf16.h"
#ifdef SLABCAST_ZLIB
#include "program/mesh/zip.h"
#endif
#include "program/os/file.h"

/* The text after the last dot of a file's name; NULL if there is none. */
static const char *ending_of(const char *path) {
  const char *dot = strrchr(os_name_in(path), '.');
  return dot ? dot + 1 : NULL;
}

/* ---- files without an ending, and stdin ------------------------------------- */

/* Whether a line is an OBJ vertex. */
static bool has_obj_vertex(scan text) {
  for (; !scan_is_end(&text); scan_next_line(&text)) {
    scan_blanks(&text);
    if (scan_word(&text, "v") && !scan_is_line_end(&text)) return true;
  }
  return false;
}

/* The file name ending for these bytes; NULL if the format is not recognised. */
static const char *told_by_bytes(const mesh_file *file) {
  scan text;
  scan_begin(&text, file, NULL);
  text.comment = '#';
  scan_space(&text);
  const size_t length = scan_word_size(&text);
  if (stl_is_binary(file->bytes, file->size)) return "stl";
  if (scan_word(&text, "ply")) return "ply";
  if (!strncmp(file->bytes, "glTF", 4)) return "glb";
  if (lwob_is(file)) return "lwo";
  if (text.at[0] == '{' && strstr(text.at, "\"asset\"")) return "gltf";
  if (scan_word(&text, "solid")) return "stl";
  if (length >= 3 && length <= strlen("STCN4nOFF") && !strncmp(text.at + length - 3, "OFF", 3)) return "off";
  return has_obj_vertex(text) ? "obj" : NULL;
}

/* ---- readers ------------------------------------------------------------------ */

typedef struct format {
  const char *ending;
  mesh_reader *read;
} format;

static const format formats[] = {
    {"obj", read_obj},   {"ply", read_ply},  {"stl", read_stl}, {"off", read_off},
#ifdef SLABCAST_JANSSON
    {"gltf", read_gltf}, {"glb", read_gltf},
#endif
};

static mesh_reader *reader_of(const mesh_file *file) {
  if (lwob_is(file)) return read_lwob;
  for (const format *f = formats; f < formats + sizeof formats / sizeof *formats; f++)
    if (os_same_name(file->ending, f->ending)) return f->read;
  return read_assimp;
}

static void take_text(mesh_file *file, char *text, size_t size) {
  if (text == NULL) return;
  free(file->bytes);
  file->bytes = text;
  file->size = size;
}

/* Formats whose text is packed. It has no name of its own then, and is read alone. */
static int unpack(mesh_file *file, mesh_builder *builder) {
#ifdef SLABCAST_ZLIB
  static const struct {
    const char *ending, *text_ending;
    char *(*unpack)(const char *bytes, size_t size, size_t *text_size);
    const char *fault;
  } packings[] = {{"zae", "dae", zip_collada, "it is no archive that has a Collada file, or it is damaged"},
                  {"zgl", "xgl", zip_inflated, "it is not packed by zlib, or it is damaged"}};
  for (size_t i = 0; file->named && i < sizeof packings / sizeof *packings; i++) {
    size_t size = 0;
    if (!os_same_name(file->ending, packings[i].ending)) continue;
    char *text = packings[i].unpack(file->bytes, file->size, &size);
    if (text == NULL) return mesh_builder_refuse(builder, "%s", packings[i].fault);
    take_text(file, text, size);
    file->ending = packings[i].text_ending;
    file->named = false;
  }
#else
  (void)file, (void)builder;
#endif
  return 0;
}

/* A text in UTF-16 becomes one in UTF-8. */
static void translate(mesh_file *file) {
  size_t size = 0;
  char *text = utf16_to_utf8(file->bytes, file->size, &size);
  take_text(file, text, size);
}

/* Finds out which text it is, and in which format. */
static int open_text(mesh_file *file, mesh_builder *builder) {
  if (file->size > 2 && !memcmp(file->bytes, "\x1F\x8B", 2))
    return mesh_builder_refuse(builder, "it is packed by gzip; a pipe unpacks it: --mesh <(zcat FILE)");
  if (unpack(file, builder) != 0) return -1;
  translate(file);
  if (file->ending == NULL) file->ending = told_by_bytes(file);
  if (file->ending == NULL)
    return mesh_builder_refuse(builder, "its bytes are not those of OBJ, PLY, STL, OFF or glTF");
  return 0;
}

static int open_file(const char *path, mesh_file *file, mesh_builder *builder) {
  *file = (mesh_file){.path = path, .ending = ending_of(path)};
  file->named = file->ending != NULL;
  file->bytes = files_read(path, &file->size);
  return file->bytes ? open_text(file, builder)
                     : mesh_builder_refuse(builder, "it cannot be read, or there is no memory for it");
}

/* Reads the file, which is opened before where `path` is NULL. */
static int read_once(const char *path, mesh_file *file, const mesh_options *options, mesh_data *out, char *error,
                     size_t error_size) {
  mesh_builder *builder = mesh_builder_create(options);
  if (builder == NULL) return snprintf(error, error_size, "out of memory"), -1;
  const int failed =
      (path && open_file(path, file, builder)) || reader_of(file)(file, builder) || mesh_builder_end(builder, out);
  if (failed) snprintf(error, error_size, "%s", mesh_builder_wrong(builder));
  mesh_builder_destroy(builder);
  return failed ? -1 : 0;
}

/* Reads the file once more where a loss in floats may show, and keeps doubles where it does. */
static int read_doubles(mesh_file *file, const mesh_options *options, mesh_data *mesh, char *error, size_t error_size) {
  mesh_options wanted = *options;
  mesh_data doubles = {0};
  wanted.numbers = MESH_DOUBLES;
  if (options->numbers != MESH_DOUBLES_WHERE_FAR || !far_mesh_may_be(mesh)) return 0;
  if (read_once(NULL, file, &wanted, &doubles, error, error_size) != 0) return -1;
  const bool is_far = far_mesh_is(&doubles);
  mesh_free(is_far ? mesh : &doubles);
  if (is_far) *mesh = doubles;
  return 0;
}

int mesh_import(const char *path, const mesh_options *options, mesh_data *out, char *error, size_t error_size) {
  mesh_file file = {0};
  *out = (mesh_data){0};
  int failed = read_once(path, &file, options, out, error, error_size);
  if (!failed) failed = read_doubles(&file, options, out, error, error_size);
  if (failed) mesh_free(out);
  free(file.bytes);
  return failed;
}
