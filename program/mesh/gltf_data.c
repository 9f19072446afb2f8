#include "program/mesh/gltf_data.h"

#include <stdlib.h>
#include <string.h>

#include "program/mesh/files.h"

/* ---- JSON ---------------------------------------------------------------------- */

static const uint64_t no_index = UINT64_MAX;

json_t *gltf_element(const gltf *g, const char *list, uint64_t index) {
  const json_t *array = json_object_get(g->root, list);
  return index < json_array_size(array) ? json_array_get(array, (size_t)index) : NULL;
}

int gltf_whole(const json_t *object, const char *name, uint64_t otherwise, uint64_t *value) {
  const json_t *member = json_object_get(object, name);
  const double most = 0x1p53, number = json_number_value(member);
  *value = otherwise;
  if (member == NULL) return 0;
  if (!json_is_number(member) || !(number >= 0 && number <= most) || number != (double)(uint64_t)number) return -1;
  *value = (uint64_t)number;
  return 0;
}

bool gltf_array(const json_t *object, const char *name, size_t n, double *values) {
  const json_t *array = json_object_get(object, name);
  if (json_array_size(array) != n) return false;
  for (size_t i = 0; i < n; i++) {
    const json_t *number = json_array_get(array, i);
    if (!json_is_number(number)) return false;
    values[i] = json_number_value(number);
  }
  return true;
}

/* ---- buffers ------------------------------------------------------------------- */

static int sextet(char c) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *at = c ? strchr(digits, c) : NULL;
  return at ? (int)(at - digits) : -1;
}

/* Base64, with or without the signs that fill it up. NULL: it is none, or there is no memory. */
static char *decode_base64(const char *text, size_t *size) {
  size_t length = strlen(text);
  while (length > 0 && text[length - 1] == '=') length--;
  char *bytes = malloc(length / 4 * 3 + 3);
  uint32_t bits = 0;
  *size = 0;
  for (size_t i = 0; i < length && bytes; i++) {
    const int value = sextet(text[i]);
    if (value < 0 || (i + 1 == length && length % 4 == 1)) {
      free(bytes);
      return NULL;
    }
    bits = bits << 6 | (uint32_t)value;
    if (i % 4 != 0) bytes[(*size)++] = (char)(bits >> (6 - 2 * (i % 4)) & 255);
  }
  return bytes;
}

static int hex_digit(char c) {
  static const char digits[] = "0123456789abcdefABCDEF";
  const char *at = c ? strchr(digits, c) : NULL;
  if (at == NULL) return -1;
  return at - digits < 16 ? (int)(at - digits) : (int)(at - digits) - 6;
}

/* %20 becomes a blank. The text becomes no longer. */
static void decode_percents(char *text) {
  char *out = text;
  for (const char *at = text; *at; at++) {
    const int high = *at == '%' ? hex_digit(at[1]) : -1, low = high >= 0 ? hex_digit(at[2]) : -1;
    *out++ = (char)(low >= 0 && high + low > 0 ? 16 * high + low : *at);
    if (low >= 0 && high + low > 0) at += 2;
  }
  *out = '\0';
}

static int open_file(const gltf *g, uint64_t index, const char *uri, gltf_buffer *buffer) {
  char *name = malloc(strlen(uri) + 1);
  if (name == NULL) return mesh_builder_refuse(g->builder, "no memory for a name");
  strcpy(name, uri);
  decode_percents(name);
  const char *fault = files_fault(name);
  if (fault == NULL && !g->file->named) fault = files_alone;
  if (fault == NULL) buffer->own = files_read_beside(g->file->path, name, &buffer->size, g->builder);
  if (fault == NULL && buffer->own == NULL) fault = "it cannot be read, or there is no memory for it";
  if (fault)
    mesh_builder_refuse(g->builder, "buffer %llu names the file \"%.80s\": %s", (unsigned long long)index, name, fault);
  free(name);
  buffer->bytes = (const unsigned char *)buffer->own;
  return fault ? -1 : 0;
}

static int open_text(const gltf *g, uint64_t index, const char *uri, gltf_buffer *buffer) {
  static const char mark[] = ";base64,";
  const char *data = strstr(uri, mark);
  if (data) buffer->own = decode_base64(data + strlen(mark), &buffer->size);
  buffer->bytes = (const unsigned char *)buffer->own;
  return buffer->own ? 0
                     : mesh_builder_refuse(g->builder, "buffer %llu is not Base64, or there is no memory for it",
                                           (unsigned long long)index);
}

/* Buffers are opened when an accessor first needs them: one that holds only pictures may be missing. */
static const gltf_buffer *open_buffer(const gltf *g, uint64_t index) {
  const json_t *object = gltf_element(g, "buffers", index);
  const char *uri = json_string_value(json_object_get(object, "uri"));
  if (object == NULL) {
    mesh_builder_refuse(g->builder, "there is no buffer %llu", (unsigned long long)index);
    return NULL;
  }
  gltf_buffer *buffer = &g->buffers[index];
  if (buffer->bytes) return buffer;
  if (uri) return (!strncmp(uri, "data:", 5) ? open_text : open_file)(g, index, uri, buffer) ? NULL : buffer;
  *buffer = (gltf_buffer){g->chunk, NULL, g->chunk_size};
  if (index == 0 && g->chunk) return buffer;
  mesh_builder_refuse(g->builder, "buffer %llu has neither a URI nor the binary chunk", (unsigned long long)index);
  return NULL;
}

/* ---- buffer views -------------------------------------------------------------- */

typedef struct span {
  const unsigned char *bytes;
  uint64_t size, stride; /* stride 0: elements follow each other */
} span;

static int open_view(const gltf *g, uint64_t index, span *view) {
  const json_t *object = gltf_element(g, "bufferViews", index);
  uint64_t buffer, offset;
  if (object == NULL || gltf_whole(object, "buffer", no_index, &buffer) ||
      gltf_whole(object, "byteOffset", 0, &offset) || gltf_whole(object, "byteLength", 0, &view->size) ||
      gltf_whole(object, "byteStride", 0, &view->stride))
    return mesh_builder_refuse(g->builder, "there is no buffer view %llu, or its sizes are no whole numbers",
                               (unsigned long long)index);
  const gltf_buffer *from = open_buffer(g, buffer);
  if (from == NULL) return -1;
  if (offset > from->size || view->size > from->size - offset)
    return mesh_builder_refuse(g->builder, "buffer view %llu has bytes %llu to %llu of a buffer of %zu",
                               (unsigned long long)index, (unsigned long long)offset,
                               (unsigned long long)(offset + view->size), from->size);
  view->bytes = from->bytes + offset;
  return 0;
}

/* ---- accessors ----------------------------------------------------------------- */

typedef struct component {
  unsigned type, size;
  double most; /* the value that is 1 when normalised; 0: it cannot be */
} component;

enum { I8 = 5120, U8 = 5121, I16 = 5122, U16 = 5123, U32 = 5125, F32 = 5126 };

static const component components[] = {{I8, 1, 127},    {U8, 1, 255}, {I16, 2, 32767},
                                       {U16, 2, 65535}, {U32, 4, 0},  {F32, 4, 0}};

static const component *component_of(const json_t *object) {
  uint64_t type;
  if (gltf_whole(object, "componentType", 0, &type) == 0)
    for (const component *c = components; c < components + sizeof components / sizeof *components; c++)
      if (c->type == type) return c;
  return NULL;
}

/* Integers are stored with the least byte first. */
static double read_number(const unsigned char *at, const component *c) {
  uint32_t bits = 0;
  float value;
  for (unsigned k = 0; k < c->size; k++) bits |= (uint32_t)at[k] << 8 * k;
  switch (c->type) {
    case I8:
      return (double)bits - (bits & 0x80 ? 0x100 : 0);
    case I16:
      return (double)bits - (bits & 0x8000 ? 0x10000 : 0);
    case F32:
      memcpy(&value, &bits, sizeof value);
      return (double)value;
    default:
      return (double)bits;
  }
}

/* How elements stand in bytes. */
typedef struct layout {
  uint64_t accessor; /* for messages */
  const component *component;
  size_t width; /* components of an element */
  bool normalized;
} layout;

/* Finds `count` elements, at least one, from the object's bufferView and byteOffset on. */
static int find_elements(const gltf *g, const json_t *object, const layout *as, uint64_t count, span *found) {
  const unsigned long long accessor = as->accessor;
  const uint64_t element = as->width * as->component->size;
  uint64_t index, offset;
  if (gltf_whole(object, "bufferView", no_index, &index) || index == no_index ||
      gltf_whole(object, "byteOffset", 0, &offset))
    return mesh_builder_refuse(g->builder, "accessor %llu: where its elements stand is no whole number", accessor);
  if (open_view(g, index, found) != 0) return -1;
  if (found->stride == 0) found->stride = element;
  if (offset > found->size || element > found->size - offset ||
      count - 1 > (found->size - offset - element) / found->stride)
    return mesh_builder_refuse(g->builder, "accessor %llu: its %llu elements do not fit in buffer view %llu", accessor,
                               (unsigned long long)count, (unsigned long long)index);
  found->bytes += offset;
  return 0;
}

static void read_elements(const span *from, const layout *as, size_t count, double *values) {
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < as->width; k++) {
      const double number = read_number(from->bytes + i * from->stride + k * as->component->size, as->component);
      const double fraction = number / as->component->most;
      *values++ = !as->normalized ? number : fraction < -1 ? -1 : fraction;
    }
}

/* Some elements are replaced by others. */
static int replace_elements(const gltf *g, const json_t *sparse, const layout *as, const gltf_numbers *all) {
  const json_t *places = json_object_get(sparse, "indices");
  const layout index = {as->accessor, component_of(places), 1, false};
  const json_t *new_ones = json_object_get(sparse, "values");
  span numbers, elements;
  uint64_t count;
  if (gltf_whole(sparse, "count", 0, &count) || count > all->count || index.component == NULL)
    return mesh_builder_refuse(g->builder, "accessor %llu: its sparse elements are not as glTF has them",
                               (unsigned long long)as->accessor);
  if (count == 0) return 0;
  if (find_elements(g, places, &index, count, &numbers) || find_elements(g, new_ones, as, count, &elements)) return -1;
  double *at = malloc((size_t)count * sizeof *at), *values = malloc((size_t)count * as->width * sizeof *values);
  int failed = at && values ? 0 : mesh_builder_refuse(g->builder, "no memory for an accessor");
  if (!failed) read_elements(&numbers, &index, (size_t)count, at);
  if (!failed) read_elements(&elements, as, (size_t)count, values);
  for (size_t i = 0; i < count && !failed; i++)
    if (at[i] >= 0 && at[i] < (double)all->count)
      memcpy(all->values + (size_t)at[i] * as->width, values + i * as->width, as->width * sizeof *values);
    else
      failed = mesh_builder_refuse(g->builder, "accessor %llu: a sparse element has number %.0f of %zu",
                                   (unsigned long long)as->accessor, at[i], all->count);
  free(at);
  free(values);
  return failed;
}

/* Describes the elements of an accessor. */
static int read_layout(const gltf *g, const json_t *object, layout *as, uint64_t *count) {
  static const char *const types[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
  const char *type = json_string_value(json_object_get(object, "type"));
  as->component = component_of(object);
  if (object == NULL || as->component == NULL || gltf_whole(object, "count", no_index, count) || *count == no_index)
    return mesh_builder_refuse(g->builder,
                               "there is no accessor %llu, or its count or component type is none of glTF's",
                               (unsigned long long)as->accessor);
  if (type == NULL || strcmp(type, types[as->width]) != 0)
    return mesh_builder_refuse(g->builder, "accessor %llu is %.16s and shall be %s", (unsigned long long)as->accessor,
                               type ? type : "without a type", types[as->width]);
  as->normalized = json_is_true(json_object_get(object, "normalized")) && as->component->most > 0;
  /* Without bytes of its own it is zeros: few bytes must not take much memory. */
  if (json_object_get(object, "bufferView") == NULL && *count > g->file->size)
    return mesh_builder_refuse(g->builder, "accessor %llu has %llu elements without bytes, in a file of %zu",
                               (unsigned long long)as->accessor, (unsigned long long)*count, g->file->size);
  return 0;
}

int gltf_read(const gltf *g, uint64_t accessor, size_t width, gltf_numbers *out) {
  const json_t *object = gltf_element(g, "accessors", accessor), *sparse = json_object_get(object, "sparse");
  layout as = {.accessor = accessor, .width = width};
  uint64_t count;
  span found = {0};
  *out = (gltf_numbers){0};
  if (read_layout(g, object, &as, &count) != 0) return -1;
  if (count == 0) return 0;
  if (json_object_get(object, "bufferView") && find_elements(g, object, &as, count, &found) != 0) return -1;
  if (count < SIZE_MAX / (width * sizeof *out->values))
    out->values = calloc((size_t)count, width * sizeof *out->values);
  if (out->values == NULL)
    return mesh_builder_refuse(g->builder, "no memory for the %llu elements of accessor %llu",
                               (unsigned long long)count, (unsigned long long)accessor);
  out->count = (size_t)count;
  if (found.bytes) read_elements(&found, &as, out->count, out->values);
  return sparse ? replace_elements(g, sparse, &as, out) : 0;
}
