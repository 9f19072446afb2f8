/* What to do with a file of the importer: which format it has, and who reads it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int read_text(mesh_file *file, mesh_builder *builder) {
  if (file->size > 2 && !memcmp(file->bytes, "\x1F\x8B", 2))
    return mesh_builder_refuse(builder, "it is packed by gzip; a pipe unpacks it: --mesh <(zcat FILE)");
  if (unpack(file, builder) != 0) return -1;
  translate(file);
  if (file->ending == NULL) file->ending = told_by_bytes(file);
  if (file->ending == NULL)
    return mesh_builder_refuse(builder, "its bytes are not those of OBJ, PLY, STL, OFF or glTF");
  return reader_of(file)(file, builder);
}

static int read_file(const char *path, mesh_builder *builder) {
  mesh_file file = {.path = path, .ending = ending_of(path)};
  file.named = file.ending != NULL;
  file.bytes = files_read(path, &file.size);
  const int failed = file.bytes ? read_text(&file, builder)
                                : mesh_builder_refuse(builder, "it cannot be read, or there is no memory for it");
  free(file.bytes);
  return failed;
}

int mesh_import(const char *path, const mesh_options *options, mesh_data *out, char *error, size_t error_size) {
  mesh_builder *builder = mesh_builder_create(options);
  *out = (mesh_data){0};
  if (builder == NULL) {
    snprintf(error, error_size, "out of memory");
    return -1;
  }
  const int failed = read_file(path, builder) || mesh_builder_end(builder, out);
  if (failed) snprintf(error, error_size, "%s", mesh_builder_wrong(builder));
  mesh_builder_destroy(builder);
  return failed ? -1 : 0;
}
