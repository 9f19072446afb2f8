/* Reads glTF 2.0: .gltf and .glb.
 *
 * Meshes stand where the nodes of the scene put them, as they rest: skins, morph targets and animations move nothing.
 * Materials and pictures are not read. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "program/mesh/gltf_data.h"

static const uint64_t none = UINT64_MAX;

/* ---- the file ------------------------------------------------------------------ */

static uint32_t word_at(const char *bytes) {
  const unsigned char *b = (const unsigned char *)bytes;
  return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

enum { HEADER = 12, CHUNK_HEADER = 8, TEXT_CHUNK = 0x4E4F534A, BINARY_CHUNK = 0x004E4942 };

static bool is_binary(const mesh_file *file) { return file->size >= 4 && !memcmp(file->bytes, "glTF", 4); }

/* Whether a chunk of this kind begins here, with all of its bytes. */
static bool is_chunk(const mesh_file *file, size_t at, uint32_t kind) {
  return at <= file->size && file->size - at >= CHUNK_HEADER && word_at(file->bytes + at + 4) == kind &&
         word_at(file->bytes + at) <= file->size - at - CHUNK_HEADER;
}

/* Finds the text and the binary chunk. Writers shall fill chunks up to a multiple of four bytes, and count that; some
 * do not fill, and some do not count. */
static int find_chunks(gltf *g, const char **text, size_t *size) {
  const mesh_file *file = g->file;
  if (!is_binary(file)) {
    *text = file->bytes;
    *size = file->size;
    return 0;
  }
  if (!is_chunk(file, HEADER, TEXT_CHUNK))
    return mesh_builder_refuse(g->builder, "its first chunk is not JSON, or is longer than the file");
  *text = file->bytes + HEADER + CHUNK_HEADER;
  *size = word_at(file->bytes + HEADER);
  size_t next = HEADER + CHUNK_HEADER + *size;
  if (!is_chunk(file, next, BINARY_CHUNK)) next = (next + 3) / 4 * 4;
  if (is_chunk(file, next, BINARY_CHUNK)) {
    g->chunk = (const unsigned char *)file->bytes + next + CHUNK_HEADER;
    g->chunk_size = word_at(file->bytes + next);
  } else if (next < file->size && file->size - next >= CHUNK_HEADER &&
             word_at(file->bytes + next + 4) == BINARY_CHUNK) {
    return mesh_builder_refuse(g->builder, "its binary chunk is longer than the file: it was cut off");
  }
  return 0;
}

static int parse(gltf *g) {
  static const char mark[] = "\xEF\xBB\xBF"; /* of byte order, which editors put before a text */
  const char *text = NULL;
  size_t size = 0;
  json_error_t error;
  if (find_chunks(g, &text, &size) != 0) return -1;
  if (size >= 3 && !memcmp(text, mark, 3)) {
    text += 3;
    size -= 3;
  }
  while (size > 0 && strchr(" \t\r\n", text[size - 1])) size--; /* strchr also matches NUL */
  g->root = json_loadb(text, size, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &error);
  if (json_is_object(g->root)) return 0;
  return mesh_builder_refuse(g->builder, "line %d, column %d: %s", error.line, error.column,
                             g->root ? "its JSON is no object" : error.text);
}

/* ---- extensions ---------------------------------------------------------------- */

/* Whether an extension moves no vertex, or is known here. A name that ends with _ means all that begin so. */
static bool is_known(const char *extension) {
  static const char *const known[] = {
      "KHR_mesh_quantization",
      "EXT_mesh_gpu_instancing",
      "KHR_materials_",
      "KHR_texture_",
      "KHR_lights_punctual",
      "KHR_technique_webgl",
      "KHR_xmp",
      "KHR_xmp_json_ld",
      "KHR_animation_pointer",
      "EXT_texture_",
      "MSFT_texture_",
      "EXT_lights_",
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const size_t length = strlen(known[i]);
    if (!strncmp(extension, known[i], length) && (known[i][length - 1] == '_' || extension[length] == '\0'))
      return true;
  }
  return false;
}

static int check_extensions(const gltf *g) {
  const json_t *required = json_object_get(g->root, "extensionsRequired");
  for (size_t i = 0; i < json_array_size(required); i++) {
    const char *name = json_string_value(json_array_get(required, i));
    if (name == NULL || !is_known(name))
      return mesh_builder_refuse(g->builder, "it requires the extension %.100s, which is not read here",
                                 name ? name : "without a name");
  }
  return 0;
}

/* ---- meshes -------------------------------------------------------------------- */

typedef enum drawing { TRIANGLES = 4, STRIP = 5, FAN = 6 } drawing;

/* A primitive of a mesh. */
typedef struct primitive {
  unsigned long long mesh, number; /* for messages */
  drawing mode;
  uint64_t positions;   /* the accessor */
  uint32_t first;       /* number of its first vertex in the builder's list */
  gltf_numbers indices; /* without values: none, vertices stand in order */
  size_t corners, vertices;
} primitive;

static int give_triangle(mesh_builder *b, const primitive *p, const size_t at[3]) {
  uint32_t corners[3];
  for (int k = 0; k < 3; k++) {
    const double index = p->indices.values ? p->indices.values[at[k]] : (double)at[k];
    if (!(index >= 0 && index < (double)p->vertices && index == floor(index)))
      return mesh_builder_drop(b, "mesh %llu, primitive %llu: a triangle names vertex %.17g of %zu", p->mesh, p->number,
                               index, p->vertices);
    corners[k] = p->first + (uint32_t)index;
  }
  return mesh_builder_face(b, corners, 3);
}

static int give_triangles(mesh_builder *b, const primitive *p) {
  const size_t step = p->mode == TRIANGLES ? 3 : 1;
  int failed = 0;
  if (p->mode == TRIANGLES && p->corners % 3 != 0)
    failed = mesh_builder_drop(b, "mesh %llu, primitive %llu: %zu corners are no whole number of triangles", p->mesh,
                               p->number, p->corners);
  for (size_t i = 0; i + 3 <= p->corners && !failed; i += step) {
    const size_t odd = i & 1;
    const size_t plain[3] = {i, i + 1, i + 2}, strip[3] = {i, i + 1 + odd, i + 2 - odd}, fan[3] = {i + 1, i + 2, 0};
    failed = give_triangle(b, p, p->mode == TRIANGLES ? plain : p->mode == STRIP ? strip : fan);
  }
  return failed;
}

/* Gives the vertices of p->positions behind those given so far. */
static int give_vertices(const gltf *g, primitive *p) {
  gltf_numbers points;
  int failed = gltf_read(g, p->positions, 3, &points);
  p->first += (uint32_t)p->vertices;
  p->vertices = points.count;
  for (size_t i = 0; i < points.count && !failed; i++) {
    const double *at = points.values + 3 * i;
    failed = mesh_builder_vertex(g->builder,
                                 &(mesh_point){{at[0], at[1], at[2]}, {(float)at[0], (float)at[1], (float)at[2]}});
  }
  free(points.values);
  return failed;
}

/* Gives a primitive with its vertices, which it may share with the one before it. */
static int give_primitive(const gltf *g, const json_t *object, primitive *p) {
  uint64_t mode, positions, indices;
  const json_t *attributes = json_object_get(object, "attributes");
  if (gltf_whole(object, "mode", TRIANGLES, &mode) || mode > FAN || gltf_whole(object, "indices", none, &indices) ||
      gltf_whole(attributes, "POSITION", none, &positions))
    return mesh_builder_refuse(g->builder, "mesh %llu, primitive %llu: its mode or accessors are none of glTF's",
                               p->mesh, p->number);
  if (mode < TRIANGLES || positions == none) return 0; /* points, lines, and primitives without positions */
  if (positions != p->positions) {
    p->positions = positions;
    if (give_vertices(g, p) != 0) return -1;
  }
  p->mode = (drawing)mode;
  p->indices = (gltf_numbers){0};
  int failed = indices != none && gltf_read(g, indices, 1, &p->indices);
  p->corners = indices != none ? p->indices.count : p->vertices;
  if (!failed) failed = give_triangles(g->builder, p);
  free(p->indices.values);
  return failed;
}

static int give_mesh(const void *file, uint32_t mesh, mesh_builder *b) {
  const gltf *g = file;
  const json_t *list = json_object_get(gltf_element(g, "meshes", mesh), "primitives");
  primitive p = {.mesh = mesh, .positions = none};
  int failed = 0;
  (void)b;
  for (size_t i = 0; i < json_array_size(list) && !failed; i++) {
    p.number = i;
    failed = give_primitive(g, json_array_get(list, i), &p);
  }
  return failed;
}

/* ---- nodes --------------------------------------------------------------------- */

/* move: x, y, z; turn: a quaternion x, y, z, w of any length but 0; scale: along x, y, z. */
static void make_place(const double move[3], const double turn[4], const double scale[3], double place[MESH_PLACE]) {
  const double x = turn[0], y = turn[1], z = turn[2], w = turn[3], n = x * x + y * y + z * z + w * w;
  const double rows[3][3] = {
      {w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)},
      {2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)},
      {2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z},
  };
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) place[4 * i + k] = rows[i][k] / n * scale[k];
    place[4 * i + 3] = move[i];
  }
}

static bool is_turn(const double turn[4]) {
  const double n = turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2] + turn[3] * turn[3];
  return n > 0 && isfinite(n);
}

/* The node's own place, relative to its parent. */
static int read_place(const gltf *g, uint32_t index, const json_t *node, double place[MESH_PLACE]) {
  double move[3] = {0, 0, 0}, turn[4] = {0, 0, 0, 1}, scale[3] = {1, 1, 1}, m[16];
  if (json_object_get(node, "matrix")) {
    if (!gltf_array(node, "matrix", 16, m) || m[3] != 0 || m[7] != 0 || m[11] != 0 || m[15] != 1)
      return mesh_builder_refuse(g->builder, "node %u: its matrix is none of 16 numbers whose last row is 0 0 0 1",
                                 index);
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 4; k++) place[4 * i + k] = m[4 * k + i];
    return 0;
  }
  if ((json_object_get(node, "translation") && !gltf_array(node, "translation", 3, move)) ||
      (json_object_get(node, "rotation") && !gltf_array(node, "rotation", 4, turn)) ||
      (json_object_get(node, "scale") && !gltf_array(node, "scale", 3, scale)) || !is_turn(turn))
    return mesh_builder_refuse(g->builder, "node %u: its translation, rotation or scale is none of glTF's", index);
  make_place(move, turn, scale, place);
  return 0;
}

/* EXT_mesh_gpu_instancing: the places of a node's mesh, as up to three accessors. */
static int add_instances(const gltf *g, const json_t *attributes, const mesh_use *use, mesh_use_list *list) {
  static const struct {
    const char *name;
    size_t width;
    double otherwise[4];
  } parts[3] = {{"TRANSLATION", 3, {0, 0, 0, 0}}, {"ROTATION", 4, {0, 0, 0, 1}}, {"SCALE", 3, {1, 1, 1, 0}}};
  gltf_numbers numbers[3] = {{0}};
  size_t count = SIZE_MAX;
  int failed = 0;
  for (int k = 0; k < 3 && !failed; k++) {
    uint64_t accessor;
    if (gltf_whole(attributes, parts[k].name, none, &accessor) != 0) accessor = none - 1;
    if (accessor != none) failed = gltf_read(g, accessor, parts[k].width, &numbers[k]);
    if (accessor != none && numbers[k].count < count) count = numbers[k].count;
  }
  for (size_t i = 0; count != SIZE_MAX && i < count && !failed; i++) {
    const double *of[3];
    double own[MESH_PLACE];
    mesh_use one = *use;
    for (int k = 0; k < 3; k++) of[k] = numbers[k].values ? numbers[k].values + i * parts[k].width : parts[k].otherwise;
    if (!is_turn(of[1]))
      failed = mesh_builder_refuse(g->builder, "instance %zu of node \"%.60s\" has no rotation", i, use->name);
    make_place(of[0], of[1], of[2], own);
    mesh_place_multiply(use->place, own, one.place);
    if (!failed) failed = mesh_builder_use(g->builder, list, &one);
  }
  for (int k = 0; k < 3; k++) free(numbers[k].values);
  return failed;
}

static const char *name_of(const json_t *object, const json_t *otherwise) {
  const char *name = json_string_value(json_object_get(object, "name"));
  if (name == NULL) name = json_string_value(json_object_get(otherwise, "name"));
  return name ? name : "";
}

/* Adds the mesh that a node shows, if any. */
static int add_use(const gltf *g, uint32_t index, const json_t *node, const double place[MESH_PLACE],
                   mesh_use_list *list) {
  uint64_t number;
  if (json_object_get(node, "mesh") == NULL) return 0;
  const json_t *mesh = gltf_whole(node, "mesh", none, &number) ? NULL : gltf_element(g, "meshes", number);
  if (mesh == NULL) return mesh_builder_refuse(g->builder, "node %u shows a mesh that the file does not have", index);
  mesh_use use = {.name = name_of(node, mesh), .mesh = (uint32_t)number};
  memcpy(use.place, place, sizeof use.place);
  const json_t *instances = json_object_get(json_object_get(node, "extensions"), "EXT_mesh_gpu_instancing");
  const json_t *attributes = json_object_get(instances, "attributes");
  return attributes ? add_instances(g, attributes, &use, list) : mesh_builder_use(g->builder, list, &use);
}

/* Nodes whose turn has not come, the next one last. Nodes are a forest, so each stands here once at most. */
typedef struct pending {
  uint32_t node;
  double parent[MESH_PLACE];
} pending;

typedef struct walk {
  pending *stack;
  unsigned char *seen; /* of each node */
  size_t depth, nodes;
} walk;

/* Puts off the nodes of a list, so that the first is taken first. */
static int put_off(const gltf *g, const json_t *list, const double parent[MESH_PLACE], walk *w) {
  for (size_t i = json_array_size(list); i-- > 0;) {
    const json_t *number = json_array_get(list, i);
    const double node = json_number_value(number);
    if (!json_is_number(number) || !(node >= 0 && node < (double)w->nodes) || node != floor(node))
      return mesh_builder_refuse(g->builder, "it names node %.17g, and has %zu", node, w->nodes);
    if (w->seen[(size_t)node])
      return mesh_builder_refuse(g->builder, "node %.0f is twice in the scene, or stands in itself", node);
    w->seen[(size_t)node] = 1;
    w->stack[w->depth].node = (uint32_t)node;
    memcpy(w->stack[w->depth++].parent, parent, sizeof w->stack->parent);
  }
  return 0;
}

static int walk_nodes(const gltf *g, walk *w, mesh_use_list *list) {
  int failed = 0;
  while (w->depth > 0 && !failed) {
    const pending next = w->stack[--w->depth];
    const json_t *node = gltf_element(g, "nodes", next.node);
    double own[MESH_PLACE], place[MESH_PLACE];
    failed = read_place(g, next.node, node, own);
    if (failed) break;
    mesh_place_multiply(next.parent, own, place);
    failed = add_use(g, next.node, node, place, list) || put_off(g, json_object_get(node, "children"), place, w);
  }
  return failed;
}

/* A file without a scene shows every node that has no parent. */
static int put_off_roots(const gltf *g, walk *w) {
  json_t *roots = json_array();
  unsigned char *children = calloc(w->nodes + 1, 1);
  int failed = roots && children ? 0 : mesh_builder_refuse(g->builder, "no memory for its nodes");
  for (size_t i = 0; i < w->nodes && !failed; i++) {
    const json_t *list = json_object_get(gltf_element(g, "nodes", i), "children");
    for (size_t k = 0; k < json_array_size(list); k++) {
      const double child = json_number_value(json_array_get(list, k));
      if (child >= 0 && child < (double)w->nodes) children[(size_t)child] = 1;
    }
  }
  for (size_t i = 0; i < w->nodes && !failed; i++)
    if (!children[i]) failed = json_array_append_new(roots, json_real((double)i));
  if (!failed) failed = put_off(g, roots, mesh_at_home, w);
  json_decref(roots);
  free(children);
  return failed;
}

/* A file without nodes is a store of meshes. */
static int list_meshes(const gltf *g, mesh_use_list *list) {
  const json_t *meshes = json_object_get(g->root, "meshes");
  int failed = 0;
  for (size_t i = 0; i < json_array_size(meshes) && !failed; i++) {
    mesh_use use = {.name = name_of(json_array_get(meshes, i), NULL), .mesh = (uint32_t)i};
    memcpy(use.place, mesh_at_home, sizeof use.place);
    failed = mesh_builder_use(g->builder, list, &use);
  }
  return failed;
}

static int list_uses(const gltf *g, mesh_use_list *list) {
  const json_t *nodes = json_object_get(g->root, "nodes");
  uint64_t number;
  walk w = {.nodes = json_array_size(nodes)};
  if (gltf_whole(g->root, "scene", 0, &number) != 0) number = none;
  const json_t *scene = gltf_element(g, "scenes", number);
  if (scene == NULL && json_object_get(g->root, "scene"))
    return mesh_builder_refuse(g->builder, "it shows a scene that it does not have");
  if (w.nodes == 0) return list_meshes(g, list);
  if (w.nodes >= UINT32_MAX) return mesh_builder_refuse(g->builder, "it has too many nodes");
  w.stack = malloc((w.nodes + 1) * sizeof *w.stack);
  w.seen = calloc(w.nodes + 1, 1);
  int failed = w.stack && w.seen ? 0 : mesh_builder_refuse(g->builder, "no memory for its nodes");
  if (!failed) failed = scene ? put_off(g, json_object_get(scene, "nodes"), mesh_at_home, &w) : put_off_roots(g, &w);
  if (!failed) failed = walk_nodes(g, &w, list);
  free(w.stack);
  free(w.seen);
  return failed;
}

/* ---- all of it ----------------------------------------------------------------- */

/* glTF 1.0 has its meshes by name. */
static bool is_first_version(const gltf *g) {
  return is_binary(g->file) && g->file->size >= 8 ? word_at(g->file->bytes + 4) == 1
                                                  : json_is_object(json_object_get(g->root, "meshes"));
}

static int read_parsed(gltf *g) {
  const json_t *asset = json_object_get(g->root, "asset");
  const char *version = json_string_value(json_object_get(asset, "version"));
  const char *least = json_string_value(json_object_get(asset, "minVersion"));
  const size_t meshes = json_array_size(json_object_get(g->root, "meshes"));
  mesh_use_list list = {0};
  if (version == NULL || strncmp(version, "2.", 2) != 0 || (least && strcmp(least, "2.0") != 0))
    return mesh_builder_refuse(g->builder, "it is glTF %.16s, and 2.0 is read",
                               version ? least ? least : version : "without a version");
  if (meshes >= UINT32_MAX) return mesh_builder_refuse(g->builder, "it has too many meshes");
  g->buffers = calloc(json_array_size(json_object_get(g->root, "buffers")) + 1, sizeof *g->buffers);
  if (g->buffers == NULL) return mesh_builder_refuse(g->builder, "no memory for its buffers");
  mesh_builder_says(g->builder, 'y', 1); /* as glTF has it always */
  const int failed = check_extensions(g) || list_uses(g, &list) ||
                     mesh_builder_nodes(g->builder, &list, (uint32_t)meshes, give_mesh, g);
  free(list.uses);
  return failed ? -1 : 0;
}

int read_gltf(const mesh_file *file, mesh_builder *b) {
  gltf g = {.file = file, .builder = b};
  if (is_binary(file) && is_first_version(&g)) return read_assimp(file, b);
  int failed = parse(&g);
  if (!failed) failed = is_first_version(&g) ? read_assimp(file, b) : read_parsed(&g);
  for (size_t i = 0; g.buffers && i < json_array_size(json_object_get(g.root, "buffers")); i++) free(g.buffers[i].own);
  free(g.buffers);
  json_decref(g.root);
  return failed;
}
