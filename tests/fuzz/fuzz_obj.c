/* OBJ texts: what the importer keeps of them, and the faults it reports. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "program/mesh/obj_text.h"

static char *copy_of(const uint8_t *data, size_t size) {
  char *copy = malloc(size + !size);
  claim(copy != NULL);
  memcpy(copy, data, size);
  return copy;
}

/* The kept text consists of lines of vertices and faces. Filtering it again keeps all of it. */
static void keeps_geometry(const uint8_t *data, size_t size) {
  char *text = copy_of(data, size);
  const size_t kept = obj_keep_geometry(text, size);
  claim(kept <= size && memchr(text, '\0', kept) == NULL && memchr(text, '\r', kept) == NULL);
  for (size_t i = 0; i < kept; i++)
    if (i == 0 || text[i - 1] == '\n') claim(text[i] == 'v' || text[i] == 'f');
  char *again = copy_of((const uint8_t *)text, kept);
  claim(obj_keep_geometry(again, kept) == kept && memcmp(again, text, kept) == 0);
  free(again);
  free(text);
}

/* Returns the line of the reported fault, 0 for none. */
static long find_fault(const uint8_t *data, size_t size) {
  char fault[80] = "", *text = malloc(size + 1);
  long line = 0, lines = 1;
  claim(text != NULL);
  memcpy(text, data, size);
  text[size] = '\0';
  obj_find_fault(text, fault, sizeof fault);
  for (size_t i = 0; i < size; i++) lines += data[i] == '\n';
  if (fault[0] != '\0') claim(sscanf(fault, "line %ld: ", &line) == 1 && line >= 1 && line <= lines);
  free(text);
  return line;
}

long fuzz_one(const uint8_t *data, size_t size) {
  keeps_geometry(data, size);
  return find_fault(data, size);
}
