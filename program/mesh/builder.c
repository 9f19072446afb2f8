#include "program/mesh/builder.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/mesh/points.h"
#include "program/mesh/polygon.h"

enum { WRONG_MAX = 300, NAME_BYTES = 120, DROPPED_MAX = sizeof(((mesh_facts *)0)->first_dropped) - 1 };

static const uint32_t most_per_geometry = 0xFFFFFFF0u; /* larger ids mean a miss */
static const char no_memory[] = "more triangles than fit in memory or in a geometry";

/* A vertex of the list that faces name. */
typedef struct list_vertex {
  uint32_t shared;  /* its index among the shared ones + 1; 0: no face has named it */
  uint32_t point[]; /* as in a point_set */
} list_vertex;

/* Open addressing, at most half full: an index + 1; 0: free. */
typedef struct slots {
  uint32_t *at;
  size_t count;
} slots;

struct mesh_builder {
  mesh_options options;
  mesh_data mesh;
  char wrong[WRONG_MAX];
  size_t triangle_capacity, part_capacity, place_capacity, name_capacity, file_capacity;
  uint32_t *part_of;   /* of each triangle */
  uint32_t *part_name; /* of each part: where its names begin in mesh.names */
  uint32_t part;       /* to which faces go */
  slots groups;
  point_set vertices; /* the mesh's */
  uint32_t *list;     /* of list_vertex */
  size_t list_count, list_capacity;
  double turn[MESH_PLACE];  /* the turn that the options want */
  double place[MESH_PLACE]; /* of the vertices to come, turned */
  bool turned, moved, mirrored;
  float *corners;      /* space for the largest face so far: positions, shared vertices, triangles */
  double seen_from[3]; /* its positions are */
  uint32_t *shared, *triangles;
  size_t corner_capacity;
  uint64_t faces;
};

/* ---- faults ----------------------------------------------------------------- */

int mesh_builder_refuse(mesh_builder *b, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(b->wrong, sizeof b->wrong, format, arguments);
  va_end(arguments);
  return -1;
}

static int drop(mesh_builder *b, const char *format, va_list arguments) {
  mesh_facts *facts = &b->mesh.facts;
  vsnprintf(b->wrong, sizeof b->wrong, format, arguments);
  if (!b->options.skip_invalid) return -1;
  if (facts->dropped == 0) snprintf(facts->first_dropped, sizeof facts->first_dropped, "%.*s", DROPPED_MAX, b->wrong);
  facts->dropped += facts->dropped < UINT32_MAX;
  b->wrong[0] = '\0';
  return 0;
}

int mesh_builder_drop(mesh_builder *b, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int failed = drop(b, format, arguments);
  va_end(arguments);
  return failed;
}

int mesh_builder_drop_face(mesh_builder *b, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int failed = drop(b, format, arguments);
  va_end(arguments);
  return failed ? -1 : 1;
}

void mesh_builder_warn(mesh_builder *b, const char *format, ...) {
  char *warning = b->mesh.facts.warning;
  va_list arguments;
  if (warning[0] != '\0') return;
  va_start(arguments, format);
  vsnprintf(warning, sizeof b->mesh.facts.warning, format, arguments);
  va_end(arguments);
}

const char *mesh_builder_wrong(const mesh_builder *b) { return b->wrong; }

/* ---- space -------------------------------------------------------------------- */

int mesh_grow(void *array, size_t *capacity, size_t count, size_t element) {
  void *old, *grown;
  if (count < *capacity) return 0;
  const size_t wanted = *capacity ? 2 * *capacity : 256;
  memcpy(&old, array, sizeof old);
  grown = wanted < SIZE_MAX / element ? realloc(old, wanted * element) : NULL;
  if (grown == NULL) return -1;
  memcpy(array, &grown, sizeof grown);
  *capacity = wanted;
  return 0;
}

static int grow(mesh_builder *b, void *array, size_t *capacity, size_t count, size_t element) {
  return mesh_grow(array, capacity, count, element) ? mesh_builder_refuse(b, "%s", no_memory) : 0;
}

static uint64_t mix(uint64_t hash, uint32_t bits) {
  hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 29;
}

/* ---- places ------------------------------------------------------------------- */

void mesh_place_multiply(const double a[MESH_PLACE], const double b[MESH_PLACE], double out[MESH_PLACE]) {
  for (int row = 0; row < 3; row++)
    for (int column = 0; column < 4; column++) {
      const double *r = a + 4 * row;
      out[4 * row + column] = r[0] * b[column] + r[1] * b[4 + column] + r[2] * b[8 + column] + (column == 3 ? r[3] : 0);
    }
}

static double determinant(const double m[MESH_PLACE]) {
  return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) + m[2] * (m[4] * m[9] - m[5] * m[8]);
}

const double mesh_at_home[MESH_PLACE] = {[0] = 1, [5] = 1, [10] = 1};

void mesh_builder_says(mesh_builder *b, char up, double unit) {
  const mesh_options *options = &b->options;
  const double scale = options->unit > 0 && unit > 0 ? unit / options->unit : 1;
  const bool turned = options->up && up && options->up != up;
  b->mesh.facts.up = up;
  b->mesh.facts.unit = unit;
  memset(b->turn, 0, sizeof b->turn);
  for (int k = 0; k < 3; k++) b->turn[4 * k + k] = scale;
  if (turned) { /* a quarter turn about the third axis */
    const int from = up - 'x', to = options->up - 'x';
    b->turn[4 * from + from] = b->turn[4 * to + to] = 0;
    b->turn[4 * to + from] = scale;
    b->turn[4 * from + to] = -scale;
  }
  b->turned = turned || scale != 1;
  mesh_builder_list(b, NULL);
}

void mesh_builder_list(mesh_builder *b, const double *place) {
  b->list_count = 0;
  mesh_place_multiply(b->turn, place ? place : mesh_at_home, b->place);
  b->moved = b->turned || (place && memcmp(place, mesh_at_home, sizeof mesh_at_home) != 0);
  b->mirrored = b->moved && determinant(b->place) < 0;
}

/* ---- the list of vertices ------------------------------------------------------- */

void mesh_builder_lost(mesh_builder *b, double distance) {
  if (distance > b->mesh.facts.worst_rounding) b->mesh.facts.worst_rounding = distance;
}

static void note_rounding(mesh_builder *b, double wide, float narrow) {
  if (isfinite(narrow)) mesh_builder_lost(b, fabs((double)narrow - wide));
}

static int share_vertex(mesh_builder *b, list_vertex *vertex) {
  if (b->vertices.count == most_per_geometry || points_share(&b->vertices, vertex->point, &vertex->shared) != 0)
    return mesh_builder_refuse(b, "%s", no_memory);
  vertex->shared++;
  return 0;
}

static size_t list_words(const mesh_builder *b) { return sizeof(list_vertex) / sizeof *b->list + b->vertices.words; }

static list_vertex *list_at(const mesh_builder *b, size_t i) { return (list_vertex *)(b->list + i * list_words(b)); }

static int append_vertex(mesh_builder *b, const double wide[3], const float narrow[3]) {
  if (b->list_count == UINT32_MAX) return mesh_builder_refuse(b, "%s", no_memory);
  if (grow(b, &b->list, &b->list_capacity, b->list_count, list_words(b) * sizeof *b->list) != 0) return -1;
  list_vertex *vertex = list_at(b, b->list_count++);
  vertex->shared = 0;
  point_put(b->vertices.words, vertex->point, wide, narrow);
  for (int k = 0; k < 3 && !mesh_builder_is_double(b); k++) note_rounding(b, wide[k], narrow[k]);
  return 0;
}

int mesh_builder_vertex(mesh_builder *b, const mesh_point *point) {
  if (!b->moved) return append_vertex(b, point->wide, point->narrow);
  double wide[3];
  float narrow[3];
  for (int k = 0; k < 3; k++) {
    const double *row = b->place + 4 * k;
    wide[k] = ((row[0] * point->wide[0] + row[1] * point->wide[1]) + row[2] * point->wide[2]) + row[3];
    narrow[k] = (float)wide[k];
  }
  return append_vertex(b, wide, narrow);
}

int mesh_builder_vertex_float(mesh_builder *b, const float point[3]) {
  const mesh_point both = {{(double)point[0], (double)point[1], (double)point[2]}, {point[0], point[1], point[2]}};
  return mesh_builder_vertex(b, &both);
}

/* ---- faces ------------------------------------------------------------------------ */

static int reserve_corners(mesh_builder *b, size_t n) {
  if (n <= b->corner_capacity) return 0;
  free(b->corners);
  free(b->shared);
  free(b->triangles);
  b->corners = malloc(n * 3 * sizeof *b->corners);
  b->shared = malloc(n * sizeof *b->shared);
  b->triangles = malloc(n * 3 * sizeof *b->triangles);
  b->corner_capacity = b->corners && b->shared && b->triangles ? n : 0;
  return b->corner_capacity ? 0 : mesh_builder_refuse(b, "%s", no_memory);
}

static int add_triangle(mesh_builder *b, uint32_t i, uint32_t j, uint32_t k) {
  const uint32_t count = b->mesh.triangle_count;
  size_t capacity = b->triangle_capacity;
  if (count == most_per_geometry) return mesh_builder_refuse(b, "%s", no_memory);
  if (grow(b, &b->mesh.indices, &capacity, count, 3 * sizeof *b->mesh.indices) != 0) return -1;
  if (grow(b, &b->part_of, &b->triangle_capacity, count, sizeof *b->part_of) != 0) return -1;
  uint32_t *triangle = b->mesh.indices + 3 * (size_t)count;
  triangle[0] = i;
  triangle[1] = j;
  triangle[2] = k;
  b->part_of[count] = b->part;
  b->mesh.parts[b->part].triangle_count++;
  b->mesh.triangle_count++;
  return 0;
}

/* Doubles that float makes valid are: a file is not refused for its doubles alone. */
static bool is_valid(const double p[3]) {
  const float x = (float)p[0], y = (float)p[1], z = (float)p[2], most = 0x1p60f;
  return fabsf(x) <= most && fabsf(y) <= most && fabsf(z) <= most; /* false for NaN */
}

/* A corner for polygon_split. Doubles are so near to each other that they are seen from the face's first corner. */
static void put_corner(mesh_builder *b, size_t i, const list_vertex *vertex) {
  double p[3];
  point_get(b->vertices.words, vertex->point, p);
  if (i == 0) memcpy(b->seen_from, mesh_builder_is_double(b) ? p : (const double[]){0, 0, 0}, sizeof b->seen_from);
  for (int k = 0; k < 3; k++) b->corners[3 * i + (size_t)k] = (float)(p[k] - b->seen_from[k]);
}

/* Takes a vertex of the list that no face has named before; returns as gather_corners does. */
static int take_vertex(mesh_builder *b, uint32_t corner, list_vertex *vertex) {
  double p[3];
  point_get(b->vertices.words, vertex->point, p);
  if (!is_valid(p))
    return mesh_builder_drop_face(b,
                                  "face %llu: vertex %u (%g, %g, %g) is NaN, infinite or beyond 2^60 (counted from 0)",
                                  (unsigned long long)b->faces, corner, p[0], p[1], p[2]);
  return share_vertex(b, vertex);
}

/* Looks corners up. Returns 1 if the face is to be dropped, and -1 if it is an error. */
static int gather_corners(mesh_builder *b, const uint32_t *corners, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const uint32_t corner = corners[b->mirrored ? (n - i) % n : i]; /* front faces stay in front */
    if (corner >= b->list_count)
      return mesh_builder_drop_face(b, "face %llu names vertex %u, and there %s %zu (counted from 0)",
                                    (unsigned long long)b->faces, corner, plural(b->list_count, "is", "are"),
                                    b->list_count);
    list_vertex *vertex = list_at(b, corner);
    const int unusable = vertex->shared == 0 ? take_vertex(b, corner, vertex) : 0;
    if (unusable) return unusable;
    if (n > 3) put_corner(b, i, vertex); /* a triangle is not split */
    b->shared[i] = vertex->shared - 1;
  }
  return 0;
}

int mesh_builder_face(mesh_builder *b, const uint32_t *corners, size_t n) {
  if (n < 3) return b->faces++, 0;
  if (b->mesh.part_count == 0 && mesh_builder_part(b, "") != 0) return -1;
  if (reserve_corners(b, n) != 0) return -1;
  const int unusable = gather_corners(b, corners, n);
  b->faces++;
  if (unusable) return unusable < 0 ? -1 : 0;
  if (polygon_split(b->corners, n, b->triangles) != 0) return mesh_builder_refuse(b, "%s", no_memory);
  for (const uint32_t *t = b->triangles; t < b->triangles + 3 * (n - 2); t += 3)
    if (add_triangle(b, b->shared[t[0]], b->shared[t[1]], b->shared[t[2]]) != 0) return -1;
  return 0;
}

int corner_append(corner_list *list, uint32_t corner, mesh_builder *b) {
  if (grow(b, &list->at, &list->capacity, list->count, sizeof *list->at) != 0) return -1;
  list->at[list->count++] = corner;
  return 0;
}

int corner_append_number(corner_list *list, uint64_t face, double corner, mesh_builder *b) {
  if (corner >= 0 && corner <= (double)UINT32_MAX && corner == (double)(uint32_t)corner)
    return corner_append(list, (uint32_t)corner, b);
  return mesh_builder_drop_face(b, "face %llu names vertex %.10g (counted from 0)", (unsigned long long)face, corner);
}

/* ---- parts ------------------------------------------------------------------------- */

/* Adds the first NAME_BYTES of a name. */
static int append_name(mesh_builder *b, const char *name) {
  size_t length = strlen(name);
  if (length > NAME_BYTES)
    for (length = NAME_BYTES; length > 0 && (name[length] & 0xC0) == 0x80;) length--; /* no part of a character */
  for (size_t i = 0; i <= length; i++) {
    if (b->mesh.name_bytes == most_per_geometry) return mesh_builder_refuse(b, "its names are too long");
    if (grow(b, &b->mesh.names, &b->name_capacity, b->mesh.name_bytes, 1) != 0) return -1;
    b->mesh.names[b->mesh.name_bytes++] = i < length ? name[i] : '\0';
  }
  return 0;
}

static int append_part(mesh_builder *b, const char *name) {
  const uint32_t count = b->mesh.part_count;
  size_t capacity = b->part_capacity;
  if (count == most_per_geometry) return mesh_builder_refuse(b, "%s", no_memory);
  if (grow(b, &b->mesh.parts, &capacity, count, sizeof *b->mesh.parts) != 0) return -1;
  if (grow(b, &b->part_name, &b->part_capacity, count, sizeof *b->part_name) != 0) return -1;
  b->part_name[count] = b->mesh.name_bytes;
  b->mesh.parts[count] = (mesh_part){0, 0};
  b->part = b->mesh.part_count++;
  return name ? append_name(b, name) : 0;
}

int mesh_builder_part(mesh_builder *b, const char *name) {
  if (b->options.one_geometry && b->mesh.part_count > 0) return 0;
  return append_part(b, b->options.one_geometry ? "" : name);
}

bool mesh_builder_is_one(const mesh_builder *b) { return b->options.one_geometry; }
bool mesh_builder_is_double(const mesh_builder *b) { return b->options.numbers == MESH_DOUBLES; }

int mesh_builder_placed_part(mesh_builder *b) {
  b->list_count = 0;
  b->moved = b->mirrored = false;
  return append_part(b, NULL);
}

int mesh_builder_add_place(mesh_builder *b, const double place[MESH_PLACE], const char *name) {
  double turned[MESH_PLACE];
  if (b->mesh.place_count == most_per_geometry) return mesh_builder_refuse(b, "%s", no_memory);
  if (grow(b, &b->mesh.places, &b->place_capacity, b->mesh.place_count, sizeof turned) != 0) return -1;
  mesh_place_multiply(b->turn, place, turned);
  for (const double *at = turned + 3; at < turned + MESH_PLACE && !mesh_builder_is_double(b); at += 4)
    note_rounding(b, *at, (float)*at);
  memcpy(b->mesh.places + (size_t)b->mesh.place_count * MESH_PLACE, turned, sizeof turned);
  b->mesh.place_count++;
  b->mesh.parts[b->part].place_count++;
  return append_name(b, name);
}

static uint32_t *find_group(const mesh_builder *b, const char *name) {
  uint64_t hash = 0;
  for (const char *c = name; *c; c++) hash = mix(hash, (unsigned char)*c);
  size_t i = (size_t)hash & (b->groups.count - 1);
  while (b->groups.at[i] != 0 && strcmp(b->mesh.names + b->part_name[b->groups.at[i] - 1], name) != 0)
    i = (i + 1) & (b->groups.count - 1);
  return &b->groups.at[i];
}

/* All parts are groups, or none is. */
static int grow_groups(mesh_builder *b) {
  if (2 * (size_t)b->mesh.part_count < b->groups.count) return 0;
  const size_t count = b->groups.count ? 2 * b->groups.count : 64;
  free(b->groups.at);
  b->groups = (slots){calloc(count, sizeof(uint32_t)), count};
  if (b->groups.at == NULL) return mesh_builder_refuse(b, "%s", no_memory);
  for (uint32_t i = 0; i < b->mesh.part_count; i++) *find_group(b, b->mesh.names + b->part_name[i]) = i + 1;
  return 0;
}

int mesh_builder_group(mesh_builder *b, const char *name) {
  if (b->options.one_geometry) return 0;
  if (grow_groups(b) != 0) return -1;
  uint32_t *slot = find_group(b, name);
  if (*slot == 0) {
    *slot = b->mesh.part_count + 1;
    return append_part(b, name);
  }
  b->part = *slot - 1;
  return 0;
}

/* ---- other files ---------------------------------------------------------------------- */

int mesh_builder_reads(mesh_builder *b, const char *path) {
  mesh_data *mesh = &b->mesh;
  for (size_t i = 0, size = strlen(path) + 1; i < size; i++) {
    if (mesh->file_bytes == most_per_geometry) return mesh_builder_refuse(b, "the names of its files are too long");
    if (grow(b, &mesh->files, &b->file_capacity, mesh->file_bytes, 1) != 0) return -1;
    mesh->files[mesh->file_bytes++] = path[i];
  }
  return 0;
}

/* ---- the end ------------------------------------------------------------------------- */

/* Orders triangles by part; within a part they stay in their order. */
static int sort_triangles(mesh_builder *b) {
  bool sorted = true;
  const uint32_t count = b->mesh.triangle_count;
  for (uint32_t i = 1; i < count && sorted; i++) sorted = b->part_of[i - 1] <= b->part_of[i];
  if (sorted) return 0;
  uint32_t *indices = malloc((size_t)count * 3 * sizeof *indices);
  uint32_t *next = calloc((size_t)b->mesh.part_count + 1, sizeof *next);
  if (indices && next) {
    for (uint32_t i = 0; i < b->mesh.part_count; i++) next[i + 1] = next[i] + b->mesh.parts[i].triangle_count;
    for (uint32_t i = 0; i < count; i++)
      memcpy(indices + 3 * (size_t)next[b->part_of[i]]++, b->mesh.indices + 3 * (size_t)i, 3 * sizeof *indices);
    free(b->mesh.indices);
    b->mesh.indices = indices;
    free(next);
    return 0;
  }
  free(indices);
  free(next);
  return mesh_builder_refuse(b, "%s", no_memory);
}

/* The bytes of the names of part i. */
static uint32_t name_bytes(const mesh_builder *b, uint32_t i) {
  return (i + 1 < b->mesh.part_count ? b->part_name[i + 1] : b->mesh.name_bytes) - b->part_name[i];
}

/* Removes the parts without triangles, with their names and places. */
static void remove_empty_parts(mesh_builder *b) {
  mesh_data *mesh = &b->mesh;
  uint32_t parts = 0, places = 0, names = 0, place = 0;
  for (uint32_t i = 0; i < mesh->part_count; i++) {
    const mesh_part part = mesh->parts[i];
    const uint32_t bytes = name_bytes(b, i);
    if (part.triangle_count > 0) {
      memmove(mesh->names + names, mesh->names + b->part_name[i], bytes);
      for (uint32_t k = 0; k < part.place_count * MESH_PLACE; k++)
        mesh->places[(size_t)places * MESH_PLACE + k] = mesh->places[(size_t)place * MESH_PLACE + k];
      names += bytes;
      places += part.place_count;
      mesh->parts[parts++] = part;
    }
    place += part.place_count;
  }
  mesh->part_count = parts;
  mesh->place_count = places;
  mesh->name_bytes = names;
}

int mesh_builder_end(mesh_builder *b, mesh_data *out) {
  if (b->mesh.triangle_count == 0)
    return b->mesh.facts.dropped ? mesh_builder_refuse(b, "no triangle is left: %s", b->mesh.facts.first_dropped)
                                 : mesh_builder_refuse(b, "it holds no triangles");
  if (sort_triangles(b) != 0) return -1;
  remove_empty_parts(b);
  *out = b->mesh;
  out->vertex_count = b->vertices.count;
  if (mesh_builder_is_double(b))
    out->vertices64 = b->vertices.at;
  else
    out->vertices = b->vertices.at;
  b->vertices.at = NULL;
  b->mesh = (mesh_data){0};
  return 0;
}

mesh_builder *mesh_builder_create(const mesh_options *options) {
  mesh_builder *b = calloc(1, sizeof *b);
  if (b == NULL) return NULL;
  b->options = *options;
  b->vertices.words = mesh_builder_is_double(b) ? POINT_OF_DOUBLES : POINT_OF_FLOATS;
  mesh_builder_says(b, 0, 0);
  return b;
}

void mesh_builder_destroy(mesh_builder *b) {
  if (b == NULL) return;
  mesh_free(&b->mesh);
  free(b->part_of);
  free(b->part_name);
  free(b->groups.at);
  points_free(&b->vertices);
  free(b->list);
  free(b->corners);
  free(b->shared);
  free(b->triangles);
  free(b);
}
