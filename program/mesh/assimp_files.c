#include "program/mesh/assimp_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/mesh/files.h"
#include "program/os/file.h"

/* A file that is open: its bytes in memory. */
typedef struct opened {
  struct aiFile calls; /* first, so that the library's pointer is ours */
  const char *bytes;
  char *own; /* to be freed */
  size_t size, at;
} opened;

static size_t read_some(struct aiFile *file, char *to, size_t size, size_t count) {
  opened *o = (opened *)file;
  const size_t whole = size ? (o->size - o->at) / size : 0, n = whole < count ? whole : count;
  memcpy(to, o->bytes + o->at, n * size);
  o->at += n * size;
  return n;
}

static size_t write_none(struct aiFile *file, const char *from, size_t size, size_t count) {
  (void)file, (void)from, (void)size, (void)count;
  return 0;
}

static size_t tell(struct aiFile *file) { return ((const opened *)file)->at; }
static size_t tell_size(struct aiFile *file) { return ((const opened *)file)->size; }
static void flush(struct aiFile *file) { (void)file; }

static enum aiReturn seek(struct aiFile *file, size_t offset, enum aiOrigin origin) {
  opened *o = (opened *)file;
  const size_t from = origin == aiOrigin_SET ? 0 : origin == aiOrigin_CUR ? o->at : o->size;
  const size_t to = from + offset; /* an offset back is a large one, which wraps */
  if (to > o->size) return aiReturn_FAILURE;
  o->at = to;
  return aiReturn_SUCCESS;
}

/* A file that the mesh file names: the library gives its path, in the folder of the mesh file or as the mesh file has
 * it. */
static char *read_other(assimp_files *files, const char *path, size_t *size) {
  const char *mesh = files->file->path;
  const size_t folder = (size_t)(os_name_in(mesh) - mesh);
  const char *name = folder > 0 && !strncmp(path, mesh, folder) ? path + folder : path;
  const char *fault = files->name[0] ? files_alone : files_fault(name);
  char *bytes = fault ? NULL : files_read_beside(mesh, name, size, files->builder);
  if (bytes && lwob_is(&(mesh_file){.bytes = bytes, .size = *size})) {
    free(bytes);
    bytes = NULL;
    fault = "objects of LightWave 5 are read alone, not within scenes";
  }
  if (fault == NULL) return bytes;
  if (files->denied[0] == '\0')
    snprintf(files->denied, sizeof files->denied, "it names the file \"%.70s\": %s", name, fault);
  return NULL;
}

/* Files of numbers that the library reads as doubles stay as they are. */
static bool is_respelled(const char *path, const char *bytes, size_t size) {
  static const char *const doubles[] = {".ifc", ".ifcxml", ".step", ".stp"};
  const char *ending = strrchr(os_name_in(path), '.');
  for (size_t i = 0; ending && i < sizeof doubles / sizeof *doubles; i++)
    if (os_same_name(ending, doubles[i])) return false;
  return memchr(bytes, '\0', size) == NULL;
}

/* Spells the decimals of a text that was read. */
static int respell_other(assimp_files *files, const char *path, opened *o) {
  char *text = NULL;
  size_t size = 0;
  if (!is_respelled(path, o->bytes, o->size)) return 0;
  if (assimp_decimals_respell(&files->decimals, o->bytes, o->size, &text, &size) != 0) return -1;
  if (text == NULL) return 0;
  free(o->own);
  o->bytes = o->own = text;
  o->size = size;
  return 0;
}

static struct aiFile *open_file(struct aiFileIO *calls, const char *path, const char *mode) {
  assimp_files *files = (assimp_files *)calls;
  opened *o = strchr(mode, 'w') || strchr(mode, 'a') ? NULL : calloc(1, sizeof *o);
  if (o == NULL) return NULL;
  o->calls = (struct aiFile){read_some, write_none, tell, tell_size, seek, flush, NULL};
  if (!strcmp(path, assimp_files_name(files))) {
    o->bytes = files->respelled ? files->respelled : files->file->bytes;
    o->size = files->respelled ? files->respelled_size : files->file->size;
  } else {
    o->bytes = o->own = read_other(files, path, &o->size);
  }
  if (o->bytes && (o->own == NULL || respell_other(files, path, o) == 0)) return &o->calls;
  free(o->own);
  free(o);
  return NULL;
}

static void close_file(struct aiFileIO *calls, struct aiFile *file) {
  opened *o = (opened *)file;
  (void)calls;
  if (o) free(o->own);
  free(o);
}

int assimp_files_begin(assimp_files *files, const mesh_file *file, mesh_builder *builder) {
  *files = (assimp_files){.calls = {open_file, close_file, NULL}, .file = file, .builder = builder};
  files->decimals.keeps_all = mesh_builder_is_double(builder);
  if (!file->named) snprintf(files->name, sizeof files->name, "mesh.%.60s", file->ending);
  if (!is_respelled(file->path, file->bytes, file->size)) return 0;
  return assimp_decimals_respell(&files->decimals, file->bytes, file->size, &files->respelled, &files->respelled_size);
}

void assimp_files_end(assimp_files *files) {
  free(files->respelled);
  assimp_decimals_end(&files->decimals);
}

const char *assimp_files_name(const assimp_files *files) { return files->name[0] ? files->name : files->file->path; }
