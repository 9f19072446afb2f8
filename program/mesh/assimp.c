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
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a scene of the library -------------------------------------------------- */

/* place = parent times the node's own, in double. */
static void place_node(const double parent[MESH_PLACE], const struct aiMatrix4x4 *own, double place[MESH_PLACE]) {
  const double m[MESH_PLACE] = {(double)own->a1, (double)own->a2, (double)own->a3, (double)own->a4,
                                (double)own->b1, (double)own->b2, (double)own->b3, (double)own->b4,
                                (double)own->c1, (double)own->c2, (double)own->c3, (double)own->c4};
  mesh_place_multiply(parent, m, place);
}

static int list_node(mesh_builder *b, const struct aiScene *scene, const struct aiNode *node,
                     const double parent[MESH_PLACE], mesh_use_list *list) {
  mesh_use use;
  int failed = 0;
  place_node(parent, &node->mTransformation, use.place);
  for (uint32_t i = 0; i < node->mNumMeshes && !failed; i++) {
    use.mesh = node->mMeshes[i];
    if (use.mesh >= scene->mNumMeshes) return mesh_builder_refuse(b, "a node names a mesh that the file does not have");
    use.name = node->mName.length ? node->mName.data : scene->mMeshes[use.mesh]->mName.data;
    if (mesh_builder_use(b, list, &use) != 0) failed = -1;
  }
  for (uint32_t i = 0; i < node->mNumChildren && !failed; i++)
    failed = list_node(b, scene, node->mChildren[i], use.place, list);
  return failed;
}

static int give_mesh(const void *file, uint32_t index, mesh_builder *b) {
  const struct aiMesh *mesh = ((const struct aiScene *)file)->mMeshes[index];
  int failed = 0;
  if (mesh->mNumVertices > 0 && mesh->mVertices == NULL) return mesh_builder_refuse(b, "a mesh without vertices");
  for (uint32_t i = 0; i < mesh->mNumVertices && !failed; i++) {
    const struct aiVector3D v = mesh->mVertices[i];
    failed = mesh_builder_vertex_float(b, (const float[3]){v.x, v.y, v.z});
  }
  for (uint32_t i = 0; i < mesh->mNumFaces && !failed; i++)
    failed = mesh_builder_face(b, mesh->mFaces[i].mIndices, mesh->mFaces[i].mNumIndices);
  return failed;
}

static int add_scene(mesh_builder *b, const struct aiScene *scene) {
  static const double here[MESH_PLACE] = {[0] = 1, [5] = 1, [10] = 1};
  mesh_use_list list = {0};
  const int failed = list_node(b, scene, scene->mRootNode, here, &list) ||
                     mesh_builder_nodes(b, &list, scene->mNumMeshes, give_mesh, scene);
  free(list.uses);
  return failed ? -1 : 0;
}

/* ---- files ---------------------------------------------------------------- */

/* Text buffer for damage that the library does not report exactly, or that it only logs while it replaces an unreadable
 * vertex or face by another one. */
enum { DAMAGE_MAX = 200 };

static void note_damage(const char *message, char *damage) {
  const int found = !strncmp(message, "Error", 5) || strstr(message, "Unable to parse property") != NULL;
  const char *text = strstr(message, ": ");
  if (!found || damage[0] != '\0') return;
  snprintf(damage, DAMAGE_MAX, "%s", text ? text + 2 : message);
  damage[strcspn(damage, "\n")] = '\0';
}

static const struct aiScene *import_file(const mesh_file *file, char damage[DAMAGE_MAX]) {
  if (file->named) return aiImportFile(file->path, 0); /* so that it finds what the file names */
  if (file->size <= UINT32_MAX) return aiImportFileFromMemory(file->bytes, (unsigned)file->size, 0, file->ending);
  snprintf(damage, DAMAGE_MAX, "%zu bytes are more than can be read without a file's name", file->size);
  return NULL;
}

int read_assimp(const mesh_file *file, mesh_builder *b) {
  char damage[DAMAGE_MAX] = "";
  const struct aiLogStream log = {note_damage, damage};
  int failed = -1;
  aiAttachLogStream(&log);
  const struct aiScene *scene = import_file(file, damage);
  aiDetachLogStream(&log);
  if (damage[0])
    mesh_builder_refuse(b, "%s", damage);
  else if (scene == NULL || scene->mRootNode == NULL)
    mesh_builder_refuse(
        b, "%s",
        aiGetErrorString()[0] ? aiGetErrorString() : "it holds no faces, or more text than the importer takes");
  else
    failed = add_scene(b, scene);
  aiReleaseImport(scene);
  return failed;
}

#endif
