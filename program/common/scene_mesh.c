#include "program/common/scene_mesh.h"

#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/io/errors.h"

/* ---- names ------------------------------------------------------------------ */

void scene_parts_free(scene_parts *parts) {
  for (size_t i = 0; i < parts->count; i++) free(parts->at[i].name);
  free(parts->at);
  *parts = (scene_parts){0};
}

json_t *scene_parts_json(const scene_parts *parts) {
  json_t *list = json_array();
  for (size_t i = 0; list && i < parts->count; i++) {
    const scene_part *part = &parts->at[i];
    json_t *row = json_pack("{s:I, s:s, s:I, s:I}", "geometry", (json_int_t)part->geometry, "name", part->name,
                            "triangles", (json_int_t)part->triangles, "mask", (json_int_t)part->mask);
    if (json_array_append_new(list, row) == 0) continue;
    json_decref(list);
    return NULL;
  }
  return list;
}

static int append_part(scene_parts *parts, scene_part part, const char *name) {
  if (parts->count == parts->capacity) {
    const size_t capacity = parts->capacity ? 2 * parts->capacity : 16;
    scene_part *at = realloc(parts->at, capacity * sizeof *at);
    if (at == NULL) return -1;
    parts->at = at;
    parts->capacity = capacity;
  }
  part.name = strdup(name);
  if (part.name == NULL) return -1;
  parts->at[parts->count++] = part;
  return 0;
}

/* The mask of a geometry with this name. The last rule counts. */
static uint32_t mask_of(const scene_mesh_target *to, const char *name) {
  uint32_t mask = to->mask;
  const size_t length = strlen(name);
  for (size_t i = 0; to->rules && length > 0 && i < to->rules->count; i++) {
    scene_mask *rule = &to->rules->at[i];
    if (rule->length != length || memcmp(rule->name, name, length) != 0) continue;
    rule->used = true;
    mask = rule->bits;
  }
  return mask;
}

/* ---- parts ------------------------------------------------------------------ */

/* A part while it is added. */
typedef struct adding {
  const scene_mesh_target *to;
  const mesh_data *mesh;
  uint32_t *renamed; /* of each vertex of the mesh: its index in the part + 1; 0: not in it. All 0 between parts. */
  void *vertices;    /* as the mesh has them */
  uint32_t *indices;
  float *places; /* of a mesh of floats, rounded */
} adding;

static bool is_double(const mesh_data *mesh) { return mesh->vertices64 != NULL; }
static size_t vertex_bytes(const mesh_data *mesh) { return 3 * (is_double(mesh) ? sizeof(double) : sizeof(float)); }

/* The vertices of a mesh, as it has them. */
static const char *vertices_of(const mesh_data *mesh) {
  return is_double(mesh) ? (const char *)mesh->vertices64 : (const char *)mesh->vertices;
}

/* Places as floats; NULL if out of memory. */
static float *rounded_places(const mesh_data *mesh) {
  const size_t count = (size_t)mesh->place_count * MESH_PLACE;
  float *rounded = malloc((count + 1) * sizeof *rounded);
  for (size_t i = 0; rounded && i < count; i++) rounded[i] = (float)mesh->places[i];
  return rounded;
}

/* Makes the space that extract needs, where there are several parts. */
static bool make_space(adding *a) {
  const size_t vertices = a->mesh->vertex_count, triangles = a->mesh->triangle_count;
  if (a->places == NULL) return false;
  if (a->mesh->part_count == 1) return true;
  a->renamed = calloc(vertices + 1, sizeof *a->renamed);
  a->vertices = malloc((vertices + 1) * vertex_bytes(a->mesh));
  a->indices = malloc((triangles + 1) * 3 * sizeof *a->indices);
  return a->renamed && a->vertices && a->indices;
}

/* The triangles of a part over the vertices that it has. A file of one part has no others. */
static slab_mesh extract(const adding *a, const uint32_t *triangles, uint32_t count) {
  if (a->mesh->part_count == 1)
    return (slab_mesh){.vertices = a->mesh->vertices,
                       .vertices64 = a->mesh->vertices64,
                       .vertex_count = a->mesh->vertex_count,
                       .indices = triangles,
                       .triangle_count = count};
  const size_t bytes = vertex_bytes(a->mesh);
  slab_mesh part = {.vertices = is_double(a->mesh) ? NULL : a->vertices,
                    .vertices64 = is_double(a->mesh) ? a->vertices : NULL,
                    .indices = a->indices,
                    .triangle_count = count};
  for (size_t i = 0; i < (size_t)count * 3; i++) {
    const uint32_t vertex = triangles[i];
    if (a->renamed[vertex] == 0) {
      memcpy((char *)a->vertices + part.vertex_count * bytes, vertices_of(a->mesh) + vertex * bytes, bytes);
      a->renamed[vertex] = ++part.vertex_count;
    }
    a->indices[i] = a->renamed[vertex] - 1;
  }
  for (size_t i = 0; i < (size_t)count * 3; i++) a->renamed[triangles[i]] = 0;
  return part;
}

static int tell_part(const adding *a, uint32_t geometry, uint32_t mask, uint32_t triangles, const char *name) {
  if (a->to->parts == NULL || name[0] == '\0') return 0;
  return append_part(a->to->parts, (scene_part){geometry, mask, triangles, NULL}, name);
}

static slab_status add_alone(const adding *a, const slab_mesh *mesh, const char *name) {
  const slab_geometry_options options = {.mask = mask_of(a->to, name)};
  uint32_t geometry = 0;
  const slab_status status = slab_scene_add_mesh(a->to->scene, mesh, &options, &geometry);
  if (status != SLAB_OK) return status;
  return tell_part(a, geometry, options.mask, mesh->triangle_count, name) ? SLAB_OUT_OF_MEMORY : SLAB_OK;
}

static slab_status add_run(const adding *a, slab_scene *model, size_t first, uint32_t count,
                           const slab_geometry_options *options, uint32_t *geometry) {
  const size_t at = first * MESH_PLACE;
  return is_double(a->mesh)
             ? slab_scene_add_instances64(a->to->scene, model, a->mesh->places + at, count, options, geometry)
             : slab_scene_add_instances(a->to->scene, model, a->places + at, count, options, geometry);
}

/* Adds `count` places of a model from this one on, those in a row with equal masks by one call. *name: the first one's;
 * then behind the last one's. */
static slab_status add_places(const adding *a, slab_scene *model, uint32_t triangles, size_t place, uint32_t count,
                              const char **name) {
  for (uint32_t first = 0, end = 0; first < count; first = end) {
    const char *next = *name;
    const slab_geometry_options options = {.mask = mask_of(a->to, next)};
    uint32_t geometry = 0;
    for (end = first; end < count && mask_of(a->to, next) == options.mask; end++) next += strlen(next) + 1;
    const slab_status status = add_run(a, model, place + first, end - first, &options, &geometry);
    if (status != SLAB_OK) return status;
    for (; *name < next; *name += strlen(*name) + 1)
      if (tell_part(a, geometry++, options.mask, triangles, *name)) return SLAB_OUT_OF_MEMORY;
  }
  return SLAB_OK;
}

static slab_status add_model(const adding *a, const slab_mesh *mesh, slab_scene **model) {
  slab_status status = slab_scene_create(a->to->context, model);
  if (status == SLAB_OK) status = slab_scene_add_mesh(*model, mesh, NULL, NULL);
  if (status == SLAB_OK) status = slab_scene_commit(*model, a->to->build);
  return status;
}

static slab_status add_parts(const adding *a) {
  const mesh_data *mesh = a->mesh;
  const uint32_t *triangles = mesh->indices;
  size_t place = 0;
  const char *name = mesh->names;
  slab_status status = SLAB_OK;
  for (const mesh_part *part = mesh->parts; part < mesh->parts + mesh->part_count && status == SLAB_OK; part++) {
    const slab_mesh extracted = extract(a, triangles, part->triangle_count);
    if (part->place_count == 0) {
      status = add_alone(a, &extracted, name);
      name += strlen(name) + 1;
    } else {
      slab_scene *model = NULL;
      status = add_model(a, &extracted, &model);
      if (status == SLAB_OK) status = add_places(a, model, part->triangle_count, place, part->place_count, &name);
      slab_scene_destroy(model); /* the scene retains it */
    }
    triangles += (size_t)part->triangle_count * 3;
    place += part->place_count;
  }
  return status;
}

/* ---- messages ------------------------------------------------------------------ */

static void tell_units(const char *name, const mesh_facts *facts, const mesh_options *options) {
  if (options->up && !facts->up && !options->up_unasked)
    complain("warning: --up: %s names no axis, and is left as it is", name);
  if (options->up_unasked && facts->up && facts->up != options->up)
    complain("note: %s: %c is up, as the file says; it is turned so that %c is (--up %c leaves it)", name, facts->up,
             options->up, facts->up);
  if (options->unit > 0 && !(facts->unit > 0))
    complain("warning: --unit: %s names no unit, and is left as it is", name);
  if (facts->up && facts->up != 'y' && !options->up)
    complain("note: %s: %c is up, as the file says; coordinates are its own (--up turns them)", name, facts->up);
  if (facts->unit > 0 && facts->unit != 1 && !(options->unit > 0))
    complain("note: %s: its unit is %.9g m, as the file says; coordinates are its own (--unit scales them)", name,
             facts->unit);
}

static void tell_facts(const char *name, const mesh_facts *facts, const mesh_options *options) {
  tell_units(name, facts, options);
  if (facts->warning[0]) complain("warning: %s: %s", name, facts->warning);
  if (facts->dropped > 0)
    complain("warning: %s: %u %s dropped; the first: %s", name, facts->dropped,
             plural(facts->dropped, "face was", "faces were"), facts->first_dropped);
}

/* As it is added; places: the rounded ones. */
static void digest_mesh(digest *seen, const mesh_data *mesh, const float *places) {
  const size_t numbers = (size_t)mesh->place_count * MESH_PLACE;
  digest_add(seen, vertices_of(mesh), mesh->vertex_count * vertex_bytes(mesh));
  digest_add(seen, mesh->indices, (size_t)mesh->triangle_count * 3 * sizeof *mesh->indices);
  digest_add(seen, mesh->parts, mesh->part_count * sizeof *mesh->parts);
  if (is_double(mesh))
    digest_add(seen, mesh->places, numbers * sizeof *mesh->places);
  else
    digest_add(seen, places, numbers * sizeof *places);
}

/* A mesh file may name others, as glTF does, that an output would replace. */
static int spare_files(const mesh_data *mesh, const scene_outputs *outputs) {
  const char *end = mesh->files + mesh->file_bytes;
  for (const char *file = mesh->files; file < end; file += strlen(file) + 1)
    for (size_t i = 0; i < outputs->count; i++)
      if (output_spares(outputs->at[i], file) != 0) return -1;
  return 0;
}

static slab_status add_mesh(const mesh_data *mesh, const scene_mesh_target *to) {
  adding a = {.to = to, .mesh = mesh, .places = rounded_places(mesh)};
  const bool has_space = make_space(&a);
  if (has_space) digest_mesh(to->seen, mesh, a.places);
  const slab_status status = has_space ? add_parts(&a) : SLAB_OUT_OF_MEMORY;
  free(a.renamed);
  free(a.vertices);
  free(a.indices);
  free(a.places);
  return status;
}

int scene_mesh_add(const char *path, const mesh_options *options, const scene_mesh_target *to, double *worst_rounding) {
  mesh_data mesh;
  char error[1024];
  mesh_options wanted = *options;
  const char *name = strcmp(path, "-") != 0 ? path : "standard input";
  wanted.numbers = to->numbers;
  if (mesh_read(path, &wanted, &mesh, error, sizeof error) != 0) {
    complain("%s", error);
    return EXIT_FAILED;
  }
  tell_facts(name, &mesh.facts, options);
  *worst_rounding = mesh.facts.worst_rounding;
  if (to->in_double && is_double(&mesh)) *to->in_double = true;
  const int unspared = spare_files(&mesh, to->outputs);
  const slab_status status = unspared ? SLAB_OK : add_mesh(&mesh, to);
  mesh_free(&mesh);
  return unspared ? EXIT_FAILED : status == SLAB_OK ? EXIT_DONE : complain_status(status, name);
}
