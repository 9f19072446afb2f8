#include "program/mesh/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/os/file.h"

char *files_read(const char *path, size_t *size) {
  os_facts found;
  if (os_facts_of(path, &found) != 0 || found.kind != OS_FILE || found.size >= SIZE_MAX) return NULL;
  FILE *file = os_open_stream(path);
  char *text = file ? malloc((size_t)found.size + 1) : NULL;
  *size = text ? fread(text, 1, (size_t)found.size, file) : 0;
  if (text) text[*size] = '\0';
  if (file) fclose(file);
  return text;
}

const char files_alone[] = "without an ending of its own name, the mesh file is read alone";

const char *files_fault(const char *name) {
  if (name[0] == '\0') return "it is empty";
  if (strchr("/\\", name[0])) return "it is no name beside the mesh file";
  if (name[strcspn(name, ":/\\")] == ':') return "it is an address, or has a drive";
  for (const char *at = name; *at;) {
    const size_t length = strcspn(at, "/\\");
    if (length == 2 && at[0] == '.' && at[1] == '.') return "it leaves the folder of the mesh file";
    at += length;
    at += strspn(at, "/\\");
  }
  return NULL;
}

char *files_read_beside(const char *path, const char *name, size_t *size, mesh_builder *builder) {
  const size_t folder = (size_t)(os_name_in(path) - path), length = strlen(name);
  char *whole = malloc(folder + length + 1);
  if (whole == NULL) return NULL;
  memcpy(whole, path, folder);
  memcpy(whole + folder, name, length + 1);
  char *bytes = files_read(whole, size);
  if (bytes && mesh_builder_reads(builder, whole) != 0) {
    free(bytes);
    bytes = NULL;
  }
  free(whole);
  return bytes;
}
