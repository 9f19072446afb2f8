#include "made_gltf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BYTES_MAX = 4096, TEXT_MAX = 16384, DEPTH_MAX = 4 };

/* A file that is being made. */
typedef struct making {
  random_state *random;
  unsigned char bytes[BYTES_MAX];
  size_t size;
  char views[1024], accessors[2048], nodes[8192];
  size_t view_count, accessor_count;
  double points[MADE_VERTICES_MAX][3];
  uint32_t point_count;
  uint32_t indices[MADE_TRIANGLES_MAX];
  uint32_t corner_count;
  int mode;
} making;

static void add(char *text, size_t size, const char *format, ...) {
  va_list arguments;
  const size_t length = strlen(text);
  va_start(arguments, format);
  const int n = vsnprintf(text + length, size - length, format, arguments);
  va_end(arguments);
  assert_true(n >= 0 && (size_t)n < size - length);
}

/* ---- bytes ---- */

typedef struct kind {
  int type;
  size_t size;
  double least, most;
} kind;

static const kind kinds[] = {{5120, 1, -128, 127}, {5121, 1, 0, 255}, {5122, 2, -32768, 32767},
                             {5123, 2, 0, 65535},  {5126, 4, 0, 0},   {5125, 4, 0, 4294967295.0}};
enum { FLOATS = 4, FIRST_INDEX = 1 };

static void put(making *m, const kind *k, double value) {
  const float single = (float)value;
  uint32_t bits = (uint32_t)(int64_t)value;
  if (k->type == 5126) memcpy(&bits, &single, sizeof bits);
  assert_true(m->size + k->size <= BYTES_MAX);
  for (size_t i = 0; i < k->size; i++) m->bytes[m->size++] = (unsigned char)(bits >> 8 * i);
}

static void fill(making *m, size_t n) {
  assert_true(m->size + n <= BYTES_MAX);
  for (; n > 0; n--) m->bytes[m->size++] = (unsigned char)random_next(m->random);
}

/* Adds a view of all bytes since `from`, and returns its number. */
static size_t add_view(making *m, size_t from, size_t stride) {
  add(m->views, sizeof m->views, "%s{\"buffer\": 0, \"byteOffset\": %zu, \"byteLength\": %zu",
      m->view_count ? ", " : "", from, m->size - from);
  if (stride) add(m->views, sizeof m->views, ", \"byteStride\": %zu", stride);
  add(m->views, sizeof m->views, "}");
  return m->view_count++;
}

/* ---- accessors ---- */

static double value_of(const kind *k, bool normalized, double stored) {
  if (k->type == 5126) return (double)(float)stored;
  return normalized ? fmax(stored / k->most, -1) : stored;
}

static double any_value(making *m, const kind *k) {
  if (k->type == 5126) return (double)random_between(m->random, -4, 4);
  return k->least + floor((double)random_float(m->random) * (k->most - k->least + 1));
}

/* Adds sparse elements to a text of an accessor, and to the points. */
static void add_sparse(making *m, const kind *k, bool normalized, char *text, size_t size) {
  const uint32_t step = 1 + random_below(m->random, 3);
  const kind *index = &kinds[1 + 2 * random_below(m->random, 2)];
  uint32_t count = 0;
  const size_t from = m->size;
  for (uint32_t i = 0; i < m->point_count; i += step, count++) put(m, index, i);
  const size_t indices = add_view(m, from, 0), values_from = m->size;
  for (uint32_t i = 0; i < m->point_count; i += step)
    for (int axis = 0; axis < 3; axis++) {
      const double stored = any_value(m, k);
      put(m, k, stored);
      m->points[i][axis] = value_of(k, normalized, stored);
    }
  add(text, size, ", \"sparse\": {\"count\": %u, \"indices\": {\"bufferView\": %zu, \"componentType\": %d}, ", count,
      indices, index->type);
  add(text, size, "\"values\": {\"bufferView\": %zu}}", add_view(m, values_from, 0));
}

static size_t add_points(making *m) {
  const kind *k = &kinds[random_below(m->random, FLOATS + 1)];
  const bool normalized = k->type != 5126 && random_next(m->random) & 1, zeros = random_below(m->random, 6) == 0;
  const size_t gap = random_below(m->random, 5), before = random_below(m->random, 7), from = m->size;
  char text[512] = "";
  m->point_count = 3 + random_below(m->random, MADE_VERTICES_MAX - 2);
  memset(m->points, 0, sizeof m->points);
  add(text, sizeof text, "\"type\": \"VEC3\", \"componentType\": %d, \"count\": %u", k->type, m->point_count);
  if (normalized) add(text, sizeof text, ", \"normalized\": true");
  if (!zeros) {
    fill(m, before);
    for (uint32_t i = 0; i < m->point_count; i++) {
      for (int axis = 0; axis < 3; axis++) {
        const double stored = any_value(m, k);
        put(m, k, stored);
        m->points[i][axis] = value_of(k, normalized, stored);
      }
      if (i + 1 < m->point_count) fill(m, gap);
    }
    add(text, sizeof text, ", \"byteOffset\": %zu, \"bufferView\": %zu", before,
        add_view(m, from, gap ? 3 * k->size + gap : 0));
  }
  if (zeros || random_next(m->random) & 1) add_sparse(m, k, normalized, text, sizeof text);
  add(m->accessors, sizeof m->accessors, "%s{%s}", m->accessor_count ? ", " : "", text);
  return m->accessor_count++;
}

/* Corners of as many whole triangles as the mode needs. */
static size_t add_indices(making *m) {
  static const int index_kinds[] = {1, 3, 5};
  const kind *k = &kinds[index_kinds[random_below(m->random, 3)]];
  const size_t from = m->size;
  m->corner_count = 3 + random_below(m->random, 12);
  if (m->mode == 4) m->corner_count -= m->corner_count % 3;
  for (uint32_t i = 0; i < m->corner_count; i++) {
    m->indices[i] = random_below(m->random, m->point_count);
    put(m, k, m->indices[i]);
  }
  add(m->accessors, sizeof m->accessors,
      "%s{\"type\": \"SCALAR\", \"componentType\": %d, \"count\": %u, \"bufferView\": %zu}",
      m->accessor_count ? ", " : "", k->type, m->corner_count, add_view(m, from, 0));
  return m->accessor_count++;
}

/* ---- nodes ---- */

/* p moves as a node says: v + 2 q x (q x v + w v), of a unit quaternion. */
static void turn(const double q[4], double v[3]) {
  const double a[3] = {q[1] * v[2] - q[2] * v[1] + q[3] * v[0], q[2] * v[0] - q[0] * v[2] + q[3] * v[1],
                       q[0] * v[1] - q[1] * v[0] + q[3] * v[2]};
  const double b[3] = {q[1] * a[2] - q[2] * a[1], q[2] * a[0] - q[0] * a[2], q[0] * a[1] - q[1] * a[0]};
  for (int k = 0; k < 3; k++) v[k] += 2 * b[k];
}

typedef struct node {
  double move[3], turn[4], scale[3];
} node;

static void apply(const node *n, double p[3]) {
  for (int k = 0; k < 3; k++) p[k] *= n->scale[k];
  turn(n->turn, p);
  for (int k = 0; k < 3; k++) p[k] += n->move[k];
}

static node any_node(making *m) {
  node n;
  double length = 0;
  const double scale = (double)random_between(m->random, 0.5f, 2);
  const float reach = random_next(m->random) & 1 ? 0.004f : 20;
  for (int k = 0; k < 4; k++) {
    n.turn[k] = (double)random_between(m->random, -1, 1) + (k == 3 ? 1.5 : 0);
    length += n.turn[k] * n.turn[k];
  }
  for (int k = 0; k < 4; k++) n.turn[k] /= sqrt(length);
  for (int k = 0; k < 3; k++) {
    n.move[k] = (double)random_between(m->random, -reach, reach);
    n.scale[k] = scale * (double)random_between(m->random, 0.9f, 1.1f);
  }
  return n;
}

static void add_node(making *m, const node *n, size_t number, bool shows, bool has_child) {
  char *text = m->nodes;
  const size_t size = sizeof m->nodes;
  add(text, size, "%s{\"name\": \"node%zu\"", number ? ", " : "", number);
  if (shows) add(text, size, ", \"mesh\": 0");
  if (has_child) add(text, size, ", \"children\": [%zu]", number + 1);
  if (random_next(m->random) & 1) {
    double columns[4][3] = {{n->scale[0], 0, 0}, {0, n->scale[1], 0}, {0, 0, n->scale[2]}, {0, 0, 0}};
    add(text, size, ", \"matrix\": [");
    for (int c = 0; c < 4; c++) {
      turn(n->turn, columns[c]);
      for (int k = 0; k < 3; k++) add(text, size, "%.17g, ", columns[c][k] + (c == 3 ? n->move[k] : 0));
      add(text, size, c == 3 ? "1]" : "0, ");
    }
  } else {
    add(text, size, ", \"translation\": [%.17g, %.17g, %.17g]", n->move[0], n->move[1], n->move[2]);
    add(text, size, ", \"rotation\": [%.17g, %.17g, %.17g, %.17g]", n->turn[0], n->turn[1], n->turn[2], n->turn[3]);
    add(text, size, ", \"scale\": [%.17g, %.17g, %.17g]", n->scale[0], n->scale[1], n->scale[2]);
  }
  add(text, size, "}");
}

static void show_triangle(const making *m, const node *nodes, size_t depth, const uint32_t at[3], made_gltf *out) {
  assert_true(out->triangles < MADE_TRIANGLES_MAX);
  double *corners = out->corners[out->triangles++];
  for (int c = 0; c < 3; c++) {
    const uint32_t i = m->corner_count ? m->indices[at[c]] : at[c];
    double *p = corners + 3 * c;
    memcpy(p, m->points[i], 3 * sizeof *p);
    for (size_t n = depth; n-- > 0;) apply(&nodes[n], p);
    for (int k = 0; k < 3; k++) out->size = fmax(out->size, fabs(p[k]));
  }
}

/* The triangles at the end of a chain of nodes. */
static void show(const making *m, const node *nodes, size_t depth, made_gltf *out) {
  const uint32_t count = m->corner_count ? m->corner_count : m->point_count;
  for (uint32_t i = 0; i + 3 <= count; i += m->mode == 4 ? 3 : 1) {
    uint32_t at[3] = {i, i + 1, i + 2};
    if (m->mode == 5 && i % 2 == 1) at[1] = i + 2, at[2] = i + 1;
    if (m->mode == 6) at[0] = i + 1, at[1] = i + 2, at[2] = 0;
    show_triangle(m, nodes, depth, at, out);
  }
}

/* Chains of nodes whose last one shows the mesh. Returns how many nodes. */
static size_t add_nodes(making *m, made_gltf *out, char *roots, size_t size) {
  size_t number = 0;
  out->uses = 1 + random_below(m->random, 3);
  for (size_t use = 0; use < out->uses; use++) {
    node nodes[DEPTH_MAX];
    const size_t depth = 1 + random_below(m->random, DEPTH_MAX);
    add(roots, size, "%s%zu", use ? ", " : "", number);
    for (size_t n = 0; n < depth; n++) {
      nodes[n] = any_node(m);
      add_node(m, &nodes[n], number++, n + 1 == depth, n + 1 < depth);
    }
    show(m, nodes, depth, out);
  }
  return number;
}

/* ---- files ---- */

const char *made_ending(made_container container) { return container <= MADE_BESIDE ? "gltf" : "glb"; }

static void write_base64(const making *m, char *out) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < m->size; i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; k++) bits = bits << 8 | (i + k < m->size ? m->bytes[i + k] : 0);
    for (size_t k = 0; k < 4; k++) *out++ = i + k <= m->size ? digits[bits >> (18 - 6 * k) & 63] : '=';
  }
  *out = '\0';
}

static void write_word(FILE *file, size_t word) {
  for (int k = 0; k < 4; k++) fputc((int)(word >> 8 * k & 255), file);
}

static void write_chunk(FILE *file, made_container container, const char *kind_of_chunk, const void *data,
                        size_t size) {
  const size_t filled = container == MADE_UNFILLED ? size : (size + 3) / 4 * 4;
  write_word(file, container == MADE_UNCOUNTED ? size : filled);
  fwrite(kind_of_chunk, 1, 4, file);
  fwrite(data, 1, size, file);
  for (size_t i = size; i < filled; i++) fputc(kind_of_chunk[0] == 'J' ? ' ' : 0, file);
}

static void write_file(const making *m, made_container container, const char *path, const char *text) {
  char beside[256];
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  if (container == MADE_TEXT || container == MADE_BESIDE) {
    fputs(text, file);
  } else {
    fwrite("glTF", 1, 4, file);
    write_word(file, 2);
    write_word(file, 20 + strlen(text) + 8 + m->size);
    write_chunk(file, container, "JSON", text, strlen(text));
    write_chunk(file, container, "BIN", m->bytes, m->size);
  }
  assert_int_equal(fclose(file), 0);
  if (container != MADE_BESIDE) return;
  assert_true((size_t)snprintf(beside, sizeof beside, "%s bytes.bin", path) < sizeof beside);
  file = fopen(beside, "wb");
  assert_non_null(file);
  fwrite(m->bytes, 1, m->size, file);
  assert_int_equal(fclose(file), 0);
}

made_gltf make_gltf(random_state *random, made_container container, const char *path) {
  static char text[TEXT_MAX], uri[3 * BYTES_MAX], base64[2 * BYTES_MAX];
  making m = {.random = random, .mode = 4 + (int)random_below(random, 3)};
  made_gltf out = {.triangles = 0};
  char roots[64] = "", indices[32] = "";
  const size_t points = add_points(&m);
  if (random_next(random) & 1)
    snprintf(indices, sizeof indices, ", \"indices\": %zu", add_indices(&m));
  else if (m.mode == 4) /* as many as make whole triangles: the others are corners of the last */
    snprintf(indices, sizeof indices, ", \"indices\": %zu", add_indices(&m));
  add_nodes(&m, &out, roots, sizeof roots);
  uri[0] = '\0';
  write_base64(&m, base64);
  const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  if (container == MADE_TEXT)
    snprintf(uri, sizeof uri, ", \"uri\": \"data:application/octet-stream;base64,%s\"", base64);
  if (container == MADE_BESIDE) snprintf(uri, sizeof uri, ", \"uri\": \"%s%%20bytes.bin\"", name);
  const int length =
      snprintf(text, sizeof text,
               "{\"asset\": {\"version\": \"2.0\"}, \"scene\": 0, \"scenes\": [{\"nodes\": [%s]}], \"nodes\": [%s], "
               "\"meshes\": [{"
               "\"primitives\": [{\"attributes\": {\"POSITION\": %zu}%s, \"mode\": %d}]}], \"buffers\": "
               "[{\"byteLength\": %zu%s}], "
               "\"bufferViews\": [%s], \"accessors\": [%s], \"extensionsRequired\": [\"KHR_mesh_quantization\"]}",
               roots, m.nodes, points, indices, m.mode, m.size, uri, m.views, m.accessors);
  assert_true(length > 0 && (size_t)length < sizeof text);
  write_file(&m, container, path, text);
  return out;
}
