/* The importer, which runs in the child process: converts a file to triangles over shared vertices.
 *
 * The import library returns one mesh per material, group and object, with a separate vertex for every corner. Its own
 * clean-up steps merge positions that are merely close, move faces and reorder their corners. So this file uses no
 * clean-up step and shares vertices by equal position itself. Groups and materials are removed from OBJ texts before
 * the import, which keeps all faces in one mesh and in file order. */
#include "base/plural.h"
#include "program/mesh/mesh.h"
#include "program/os/file.h"

#include <stdio.h>

#ifndef SLABCAST_ASSIMP

int mesh_import(const char *path, mesh_data *out, char *error, size_t error_size) {
  (void)path;
  *out = (mesh_data){0};
  snprintf(error, error_size, "this build has no mesh importer (assimp was not found when it was configured)");
  return -1;
}

#else

#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <stdlib.h>
#include <string.h>

/* ---- vertices shared by position ------------------------------------------ */

typedef struct builder {
  mesh_data mesh;
  size_t vertex_capacity, triangle_capacity;
  uint32_t *slots; /* hash table with open addressing: index of a vertex + 1; 0: free */
  size_t slot_count;
  char wrong[120]; /* error message for a rejected face */
} builder;

static const uint32_t most_per_geometry = 0xFFFFFFF0u; /* larger ids mean a miss */

static size_t hash_of(const float p[3]) {
  uint64_t hash = 0;
  for (int k = 0; k < 3; k++) {
    uint32_t bits;
    memcpy(&bits, &p[k], sizeof bits);
    hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  return (size_t)hash;
}

/* The table entry of the vertex with these bits, or the free entry for it. */
static uint32_t *find_slot(const builder *b, const float p[3]) {
  size_t i = hash_of(p) & (b->slot_count - 1);
  while (b->slots[i] != 0 && memcmp(b->mesh.vertices + 3 * (size_t)(b->slots[i] - 1), p, 3 * sizeof *p) != 0)
    i = (i + 1) & (b->slot_count - 1);
  return &b->slots[i];
}

static int grow_vertices(builder *b) {
  const size_t capacity = b->vertex_capacity ? 2 * b->vertex_capacity : 1024;
  float *vertices = realloc(b->mesh.vertices, capacity * 3 * sizeof *vertices);
  if (vertices == NULL) return -1;
  b->mesh.vertices = vertices;
  b->vertex_capacity = capacity;
  free(b->slots);
  b->slot_count = 2 * capacity; /* at most half full */
  b->slots = calloc(b->slot_count, sizeof *b->slots);
  if (b->slots == NULL) return -1;
  for (uint32_t i = 0; i < b->mesh.vertex_count; i++) *find_slot(b, vertices + 3 * (size_t)i) = i + 1;
  return 0;
}

static int add_vertex(builder *b, const float point[3], uint32_t *index) {
  const float p[3] = {point[0] + 0.0f, point[1] + 0.0f, point[2] + 0.0f}; /* -0 and 0 are the same position */
  if (b->mesh.vertex_count == b->vertex_capacity && grow_vertices(b) != 0) return -1;
  uint32_t *slot = find_slot(b, p);
  if (*slot == 0) {
    memcpy(b->mesh.vertices + 3 * (size_t)b->mesh.vertex_count, p, sizeof p);
    *slot = ++b->mesh.vertex_count;
  }
  *index = *slot - 1;
  return 0;
}

static int add_triangle(builder *b, uint32_t i, uint32_t j, uint32_t k) {
  if (b->mesh.triangle_count == most_per_geometry) return -1;
  if (b->mesh.triangle_count == b->triangle_capacity) {
    const size_t capacity = b->triangle_capacity ? 2 * b->triangle_capacity : 1024;
    uint32_t *indices = realloc(b->mesh.indices, capacity * 3 * sizeof *indices);
    if (indices == NULL) return -1;
    b->mesh.indices = indices;
    b->triangle_capacity = capacity;
  }
  uint32_t *triangle = b->mesh.indices + 3 * (size_t)b->mesh.triangle_count++;
  triangle[0] = i;
  triangle[1] = j;
  triangle[2] = k;
  return 0;
}

/* ---- faces ---------------------------------------------------------------- */

/* Buffers for the largest polygon so far. */
typedef struct polygon {
  float *points;
  uint32_t *shared, *triangles;
  size_t capacity;
} polygon;

static void polygon_free(polygon *p) {
  free(p->points);
  free(p->shared);
  free(p->triangles);
}

static int polygon_reserve(polygon *p, size_t n) {
  if (n > p->capacity) {
    polygon_free(p);
    *p = (polygon){malloc(n * 3 * sizeof(float)), malloc(n * sizeof(uint32_t)), malloc(n * 3 * sizeof(uint32_t)), n};
  }
  if (p->points && p->shared && p->triangles) return 0;
  p->capacity = 0;
  return -1;
}

typedef struct placed_mesh {
  const struct aiMesh *mesh;
  struct aiMatrix4x4 place;
  int moved, mirrored;
} placed_mesh;

static void place_vertex(const placed_mesh *placed, uint32_t index, float p[3]) {
  const struct aiVector3D v = placed->mesh->mVertices[index];
  const struct aiMatrix4x4 *m = &placed->place;
  p[0] = placed->moved ? ((m->a1 * v.x + m->a2 * v.y) + m->a3 * v.z) + m->a4 : v.x;
  p[1] = placed->moved ? ((m->b1 * v.x + m->b2 * v.y) + m->b3 * v.z) + m->b4 : v.y;
  p[2] = placed->moved ? ((m->c1 * v.x + m->c2 * v.y) + m->c3 * v.z) + m->c4 : v.z;
}

/* Adds a face. Returns NULL, or what is wrong. Points and lines have no surface and are skipped. */
static const char *add_face(builder *b, const placed_mesh *placed, const struct aiFace *face, polygon *room) {
  static const char no_memory[] = "more triangles than fit in memory or in a geometry";
  const uint32_t n = face->mNumIndices;
  if (n < 3) return NULL;
  if (polygon_reserve(room, n) != 0) return no_memory;
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t corner =
        placed->mirrored ? (n - i) % n : i; /* keeps front faces in front under a mirroring transform */
    if (face->mIndices[corner] >= placed->mesh->mNumVertices) {
      snprintf(b->wrong, sizeof b->wrong, "face %td names vertex %u, and there %s %u (counted from 0)",
               face - placed->mesh->mFaces, face->mIndices[corner], plural(placed->mesh->mNumVertices, "is", "are"),
               placed->mesh->mNumVertices);
      return b->wrong;
    }
    place_vertex(placed, face->mIndices[corner], room->points + 3 * (size_t)i);
    if (add_vertex(b, room->points + 3 * (size_t)i, &room->shared[i]) != 0) return no_memory;
  }
  if (polygon_split(room->points, n, room->triangles) != 0) return no_memory;
  for (const uint32_t *t = room->triangles; t < room->triangles + 3 * ((size_t)n - 2); t += 3)
    if (add_triangle(b, room->shared[t[0]], room->shared[t[1]], room->shared[t[2]]) != 0) return no_memory;
  return NULL;
}

static const char *add_mesh(builder *b, const placed_mesh *placed) {
  const char *wrong = NULL;
  polygon room = {0};
  if (placed->mesh->mNumVertices > 0 && placed->mesh->mVertices == NULL) return "a mesh without vertices";
  for (uint32_t i = 0; i < placed->mesh->mNumFaces && wrong == NULL; i++)
    wrong = add_face(b, placed, &placed->mesh->mFaces[i], &room);
  polygon_free(&room);
  return wrong;
}

static const char *add_node(builder *b, const struct aiScene *scene, const struct aiNode *node,
                            const struct aiMatrix4x4 *parent) {
  placed_mesh placed = {.place = *parent};
  const char *wrong = NULL;
  aiMultiplyMatrix4(&placed.place, &node->mTransformation);
  placed.moved = !aiMatrix4IsIdentity(&placed.place);
  placed.mirrored = aiMatrix4Determinant(&placed.place) < 0;
  for (uint32_t i = 0; i < node->mNumMeshes && wrong == NULL; i++) {
    if (node->mMeshes[i] >= scene->mNumMeshes) return "a node names a mesh that the file does not have";
    placed.mesh = scene->mMeshes[node->mMeshes[i]];
    wrong = add_mesh(b, &placed);
  }
  for (uint32_t i = 0; i < node->mNumChildren && wrong == NULL; i++)
    wrong = add_node(b, scene, node->mChildren[i], &placed.place);
  return wrong;
}

/* ---- files ---------------------------------------------------------------- */

static char *read_whole(const char *path, size_t *size) {
  os_facts found;
  FILE *file = os_open_stream(path);
  if (file == NULL) return NULL;
  char *text = os_facts_of(path, &found) == 0 && found.size < SIZE_MAX ? malloc((size_t)found.size + 1) : NULL;
  *size = text ? fread(text, 1, (size_t)found.size, file) : 0;
  if (text) text[*size] = '\0';
  fclose(file);
  return text;
}

/* Text buffer for damage that the library does not report exactly, or that it only logs while it replaces an unreadable
 * vertex or face by another one. */
enum { DAMAGE_MAX = 200 };

static void describe_obj_fault(const char *path, char damage[DAMAGE_MAX]) {
  size_t size = 0;
  char *text = read_whole(path, &size);
  if (text) obj_find_fault(text, damage, DAMAGE_MAX);
  free(text);
}

static const struct aiScene *import_obj(const char *path, char damage[DAMAGE_MAX]) {
  size_t size = 0;
  char *text = read_whole(path, &size);
  if (text == NULL) return NULL;
  size = obj_keep_geometry(text, size);
  const struct aiScene *scene = NULL;
  if (size > 0 && size <= UINT32_MAX) scene = aiImportFileFromMemory(text, (unsigned)size, 0, "obj");
  free(text);
  if (scene == NULL) describe_obj_fault(path, damage);
  return scene;
}

/* Whether a line begins with end_header, after blanks. Lines may end as on any system. */
static int has_header_end(FILE *file) {
  static const char mark[] = "end_header";
  size_t matched = 0;
  int fresh = 1; /* the line so far has only blanks and the beginning of the mark */
  for (int c; (c = getc(file)) != EOF;) {
    if (c == '\n' || c == '\r') {
      matched = 0;
      fresh = 1;
    } else if (fresh && c == mark[matched]) {
      if (mark[++matched] == '\0') return 1;
    } else {
      fresh = fresh && matched == 0 && (c == ' ' || c == '\t');
    }
  }
  return 0;
}

/* Rejects a PLY file without the end of its header at the start of a line: the library would search for it forever, or
 * crash. */
static void check_ply(const char *path, char damage[DAMAGE_MAX]) {
  FILE *file = os_open_stream(path);
  if (file == NULL) return; /* the library reports this */
  if (!has_header_end(file)) snprintf(damage, DAMAGE_MAX, "its header does not end: no line is end_header");
  fclose(file);
}

/* The text after the last dot of a file's name; NULL if there is none. */
static const char *ending_of(const char *path) {
  const char *dot = strrchr(os_name_in(path), '.');
  return dot ? dot + 1 : NULL;
}

/* ---- files without an ending, and stdin ------------------------------------- */

enum { BINARY_STL_FRONT = 84, BINARY_STL_FACET = 50 };

static int is_binary_stl(const char *bytes, size_t size) {
  uint32_t facets = 0;
  if (size < BINARY_STL_FRONT) return 0;
  memcpy(&facets, bytes + BINARY_STL_FRONT - sizeof facets, sizeof facets);
  return size == BINARY_STL_FRONT + (uint64_t)facets * BINARY_STL_FACET;
}

/* Whether a line is an OBJ vertex. `text` ends with NUL. */
static int has_obj_vertex(const char *text) {
  for (const char *line = text; *line;) {
    line += strspn(line, " \t\r\n");
    if (line[0] == 'v' && (line[1] == ' ' || line[1] == '\t')) return 1;
    line += strcspn(line, "\n");
  }
  return 0;
}

/* The file name ending for these bytes, which end with NUL; NULL if the format is not recognised. */
static const char *told_by_bytes(const char *bytes, size_t size) {
  const char *word = bytes + strspn(bytes, " \t\r\n");
  const size_t length = strcspn(word, " \t\r\n");
  if (is_binary_stl(bytes, size)) return "stl";
  if (length == 3 && !strncmp(word, "ply", 3)) return "ply";
  if (!strncmp(bytes, "glTF", 4)) return "glb";
  if (length == 5 && !strncmp(word, "solid", 5)) return "stl";
  if (length >= 3 && length <= 6 && !strncmp(word + length - 3, "OFF", 3)) return "off";
  return has_obj_vertex(bytes) ? "obj" : NULL;
}

static void note_damage(const char *message, char *damage) {
  const int found = !strncmp(message, "Error", 5) || strstr(message, "Unable to parse property") != NULL;
  const char *text = strstr(message, ": ");
  if (!found || damage[0] != '\0') return;
  snprintf(damage, DAMAGE_MAX, "%s", text ? text + 2 : message);
  damage[strcspn(damage, "\n")] = '\0';
}

static const struct aiScene *import_bytes(const char *path, const char *ending, char damage[DAMAGE_MAX]) {
  size_t size = 0;
  char *bytes = read_whole(path, &size);
  const struct aiScene *scene = NULL;
  if (size > UINT32_MAX)
    snprintf(damage, DAMAGE_MAX, "%zu bytes are more than can be read without a file's name", size);
  else if (bytes)
    scene = aiImportFileFromMemory(bytes, (unsigned)size, 0, ending);
  free(bytes);
  return scene;
}

/* The ending that selects the format; NULL with the reason in `damage`. */
static const char *choose_ending(const char *path, char damage[DAMAGE_MAX]) {
  const char *ending = ending_of(path);
  if (ending) return ending;
  size_t size = 0;
  char *bytes = read_whole(path, &size);
  if (bytes) ending = told_by_bytes(bytes, size);
  free(bytes);
  if (!ending) snprintf(damage, DAMAGE_MAX, "its bytes are not those of OBJ, PLY, STL, OFF or binary glTF");
  return ending;
}

static const struct aiScene *import_file(const char *path, char damage[DAMAGE_MAX]) {
  const struct aiLogStream log = {note_damage, damage};
  const struct aiScene *scene = NULL;
  const char *ending = choose_ending(path, damage);
  if (ending && os_same_name(ending, "ply")) check_ply(path, damage);
  if (!ending || damage[0] != '\0') return NULL;
  aiAttachLogStream(&log);
  if (os_same_name(ending, "obj"))
    scene = import_obj(path, damage);
  else
    scene = ending_of(path) ? aiImportFile(path, 0) : import_bytes(path, ending, damage);
  aiDetachLogStream(&log);
  return scene;
}

int mesh_import(const char *path, mesh_data *out, char *error, size_t error_size) {
  builder b = {0};
  char damage[DAMAGE_MAX] = "";
  const struct aiMatrix4x4 here = {.a1 = 1, .b2 = 1, .c3 = 1, .d4 = 1};
  const struct aiScene *scene = import_file(path, damage);
  const char *wrong = NULL;
  *out = (mesh_data){0};
  if (damage[0])
    wrong = damage;
  else if (scene == NULL || scene->mRootNode == NULL)
    wrong = aiGetErrorString()[0] ? aiGetErrorString() : "it holds no faces, or more text than the importer takes";
  else
    wrong = add_node(&b, scene, scene->mRootNode, &here);
  if (wrong == NULL && b.mesh.triangle_count == 0) wrong = "it holds no triangles";
  free(b.slots);
  if (wrong != NULL) {
    snprintf(error, error_size, "%s", wrong);
    mesh_free(&b.mesh);
  }
  *out = b.mesh;
  aiReleaseImport(scene);
  return wrong ? -1 : 0;
}

#endif
