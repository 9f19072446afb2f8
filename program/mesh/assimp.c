/* Reads a mesh file by the import library.
 *
 * The library returns one mesh per material, group and object, with a separate vertex for every corner. Its own
 * clean-up steps merge positions that are merely close, move faces and reorder their corners. So this file uses no
 * clean-up step. */
#include "program/mesh/readers.h"

#ifndef SLABCAST_ASSIMP

int read_assimp(const mesh_file *file, mesh_builder *builder) {
  (void)file;
  return mesh_builder_refuse(builder, "this build has no mesh importer (assimp was not found when it was configured)");
}

#else

#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/mesh/assimp_files.h"
#include "program/mesh/assimp_says.h"

/* ---- a scene of the library -------------------------------------------------- */

/* A scene, and the library's changes to it. */
typedef struct imported {
  const struct aiScene *scene;
  assimp_change change;
  const assimp_decimals *decimals;
} imported;

/* Where a node stands, and how far the library's floats moved it or a parent. */
typedef struct standing {
  double place[MESH_PLACE], lost;
} standing;

/* A number of the file before it became a float, as far as that is known, and how far it was moved. */
static double wide_of(const mesh_builder *b, const imported *in, float narrow, double *lost) {
  if (mesh_builder_is_double(b)) return assimp_decimals_only(in->decimals, narrow, lost);
  const double wide = assimp_decimals_wide(in->decimals, narrow);
  *lost = fabs(wide - (double)narrow);
  return wide;
}

/* Floats stay as the library has made them. */
static void widen(const mesh_builder *b, const imported *in, standing *node) {
  for (double *at = node->place + 3; at < node->place + MESH_PLACE; at += 4) {
    double lost;
    const double wide = wide_of(b, in, (float)*at, &lost);
    if (mesh_builder_is_double(b)) *at = wide;
    if (lost > node->lost) node->lost = lost;
  }
}

static void place_of(const struct aiMatrix4x4 *m, double place[MESH_PLACE]) {
  const double rows[MESH_PLACE] = {(double)m->a1, (double)m->a2, (double)m->a3, (double)m->a4,
                                   (double)m->b1, (double)m->b2, (double)m->b3, (double)m->b4,
                                   (double)m->c1, (double)m->c2, (double)m->c3, (double)m->c4};
  memcpy(place, rows, sizeof rows);
}

/* Mirrors a place along z, before and behind it. */
static void mirror(double place[MESH_PLACE]) {
  for (int i = 0; i < 2; i++) place[4 * i + 2] = -place[4 * i + 2];
  for (int k = 0; k < 4; k += k == 1 ? 2 : 1) place[8 + k] = -place[8 + k];
}

/* Collada's reader makes names up. */
static bool has_name(const struct aiNode *node) {
  return node->mName.length > 0 && strncmp(node->mName.data, "$ColladaAutoName$", 17) != 0;
}

/* Where a node stands, as its parent does. */
static standing stand(const mesh_builder *b, const imported *in, const struct aiNode *node, const standing *parent) {
  standing own = {.lost = parent->lost}, there;
  if (in->change == ASSIMP_ROOTS && node == in->scene->mRootNode) return *parent;
  place_of(&node->mTransformation, own.place);
  widen(b, in, &own);
  mesh_place_multiply(parent->place, own.place, there.place);
  there.lost = own.lost;
  return there;
}

static int list_node(mesh_builder *b, const imported *in, const struct aiNode *node, const standing *parent,
                     mesh_use_list *list) {
  const struct aiScene *scene = in->scene;
  const standing own = stand(b, in, node, parent);
  int failed = 0;
  for (uint32_t i = 0; i < node->mNumMeshes && !failed; i++) {
    mesh_use use = {.mesh = node->mMeshes[i]};
    if (use.mesh >= scene->mNumMeshes) return mesh_builder_refuse(b, "a node names a mesh that the file does not have");
    use.name = has_name(node) ? node->mName.data : scene->mMeshes[use.mesh]->mName.data;
    memcpy(use.place, own.place, sizeof use.place);
    mesh_builder_lost(b, own.lost);
    if (in->change == ASSIMP_MIRRORS) mirror(use.place);
    failed = mesh_builder_use(b, list, &use);
  }
  for (uint32_t i = 0; i < node->mNumChildren && !failed; i++)
    failed = list_node(b, in, node->mChildren[i], &own, list);
  return failed;
}

/* Mirrors a mesh back along z, and turns its faces back. */
static void mirror_mesh(const struct aiMesh *mesh) {
  for (uint32_t i = 0; i < mesh->mNumVertices && mesh->mVertices; i++) mesh->mVertices[i].z = -mesh->mVertices[i].z;
  for (uint32_t i = 0; i < mesh->mNumFaces; i++) {
    unsigned *corners = mesh->mFaces[i].mIndices;
    for (unsigned k = 0, n = mesh->mFaces[i].mNumIndices; k < n / 2; k++) {
      const unsigned corner = corners[k];
      corners[k] = corners[n - 1 - k];
      corners[n - 1 - k] = corner;
    }
  }
}

static int give_vertex(const imported *in, const struct aiVector3D *v, mesh_builder *b) {
  mesh_point point = {.narrow = {v->x, v->y, v->z}};
  for (int k = 0; k < 3; k++) {
    double lost;
    point.wide[k] = wide_of(b, in, point.narrow[k], &lost);
    if (mesh_builder_is_double(b)) mesh_builder_lost(b, lost); /* of floats the builder sees it */
  }
  return mesh_builder_vertex(b, &point);
}

static int give_mesh(const void *file, uint32_t index, mesh_builder *b) {
  const imported *in = file;
  const struct aiMesh *mesh = in->scene->mMeshes[index];
  int failed = 0;
  if (mesh->mNumVertices > 0 && mesh->mVertices == NULL) return mesh_builder_refuse(b, "a mesh without vertices");
  for (uint32_t i = 0; i < mesh->mNumVertices && !failed; i++) failed = give_vertex(in, &mesh->mVertices[i], b);
  for (uint32_t i = 0; i < mesh->mNumFaces && !failed; i++)
    failed = mesh_builder_face(b, mesh->mFaces[i].mIndices, mesh->mFaces[i].mNumIndices);
  return failed;
}

static int add_scene(mesh_builder *b, const assimp_files *files, const struct aiScene *scene) {
  static const standing home = {.place = {[0] = 1, [5] = 1, [10] = 1}},
                        turned_back = {.place = {[0] = 1, [6] = -1, [9] = 1}};
  const imported in = {scene, assimp_change_of(files->file), &files->decimals};
  mesh_use_list list = {0};
  char up;
  double unit;
  assimp_facts(files->file, scene, &up, &unit);
  mesh_builder_says(b, up, unit);
  for (uint32_t i = 0; i < scene->mNumMeshes && in.change == ASSIMP_MIRRORS; i++) mirror_mesh(scene->mMeshes[i]);
  const int failed = list_node(b, &in, scene->mRootNode, in.change == ASSIMP_TURNS ? &turned_back : &home, &list) ||
                     mesh_builder_nodes(b, &list, scene->mNumMeshes, give_mesh, &in);
  free(list.uses);
  return failed ? -1 : 0;
}

/* ---- files ---------------------------------------------------------------- */

/* Text buffer for damage that the library does not report exactly, or that it only logs while it replaces an unreadable
 * vertex or face by another one. */
enum { DAMAGE_MAX = ASSIMP_LOSS_MAX };

static void note_damage(const char *line, char *damage) {
  if (damage[0] == '\0') assimp_is_loss(line, damage);
}

static const struct aiScene *import_file(assimp_files *files) {
  struct aiPropertyStore *properties = aiCreatePropertyStore();
  aiSetImportPropertyInteger(properties, AI_CONFIG_IMPORT_NO_SKELETON_MESHES, 1); /* else it makes some up from nodes */
  aiSetImportPropertyInteger(properties, AI_CONFIG_IMPORT_AC_EVAL_SUBDIVISION, 0); /* faces are the file's own */
  const struct aiScene *scene = aiImportFileExWithProperties(assimp_files_name(files), 0, &files->calls, properties);
  aiReleasePropertyStore(properties);
  return scene;
}

/* Refuses a file without a scene, or drops the parts that its scene lacks. A file that may not be opened is part of the
 * reason. */
static int note_loss(mesh_builder *b, const assimp_files *files, const char *damage, bool is_scene) {
  const char *told = damage[0] ? damage : aiGetErrorString(), *also = files->denied[0] ? "; " : "";
  if (told[0] == '\0') told = "it holds no faces, or more text than the importer takes";
  return is_scene ? mesh_builder_drop(b, "%.170s%s%s", told, also, files->denied)
                  : mesh_builder_refuse(b, "%.170s%s%s", told, also, files->denied);
}

static int import_scene(assimp_files *files, mesh_builder *b) {
  char damage[DAMAGE_MAX] = "";
  const struct aiLogStream log = {note_damage, damage};
  aiAttachLogStream(&log);
  const struct aiScene *scene = import_file(files);
  aiDetachLogStream(&log);
  if (damage[0] == '\0') assimp_lacks(files->file, damage);
  const bool is_scene = scene && scene->mRootNode;
  int failed = 0;
  if (!is_scene || damage[0]) failed = note_loss(b, files, damage, is_scene);
  if (!failed) failed = add_scene(b, files, scene);
  aiReleaseImport(scene);
  return failed;
}

int read_assimp(const mesh_file *file, mesh_builder *b) {
  assimp_files files;
  const int no_space = assimp_files_begin(&files, file, b);
  const int failed = no_space ? mesh_builder_refuse(b, "no memory for its text") : import_scene(&files, b);
  assimp_files_end(&files);
  return failed;
}

#endif
