/* Inside or outside: points aimed at corners, edges and faces of closed tetrahedra, which overlap and face either
 * layout. Winding numbers, those that may be fractions too, and the signs of distances must be those of whole numbers,
 * by which no ray is cast. */
#include <math.h>

#include "program/verify/verify.h"
#include "sets/tetrahedra.h"

enum { POINTS_MOST = 4096, SOLIDS_MOST = 40 }; /* of a batch */

typedef struct inside_batch {
  tetrahedra solids;
  float points[3 * POINTS_MOST], distances[POINTS_MOST], numbers[POINTS_MOST];
  int32_t windings[POINTS_MOST];
} inside_batch;

static void judge(verify_run *run, const inside_batch *b, size_t n) {
  uint64_t on_planes = 0;
  for (size_t i = 0; i < n; i++) {
    const float *p = b->points + 3 * i;
    bool on_plane;
    const int32_t want = tetrahedra_winding(&b->solids, p, &on_plane);
    on_planes += on_plane;
    if (b->windings[i] != want)
      verify_fail(run, 1, NULL, "point %zu (%a %a %a): the winding number is %d, and %d by whole numbers", i,
                  (double)p[0], (double)p[1], (double)p[2], b->windings[i], want);
    if (b->numbers[i] != (float)want)
      verify_fail(run, 1, NULL, "point %zu (%a %a %a): the winding number is %.9g, and %d by whole numbers", i,
                  (double)p[0], (double)p[1], (double)p[2], (double)b->numbers[i], want);
    if (b->distances[i] != 0.0f && (b->distances[i] < 0.0f) != (want != 0))
      verify_fail(run, 1, NULL, "point %zu (%a %a %a): the signed distance is %g, and the winding number %d", i,
                  (double)p[0], (double)p[1], (double)p[2], (double)b->distances[i], want);
  }
  run->tally->cases += 3 * n;
  verify_figure_add(run, FIGURE_SHARE, "in the plane of a face", (double)on_planes);
}

int verify_inside(verify_run *run, random_state *random, size_t n) {
  static inside_batch b;
  static const slab_tree trees[] = {SLAB_TREE_DEFAULT, SLAB_TREE_FAST, SLAB_TREE_HIGH};
  const verify_layout layout = verify_layout_at(run, run->batch);
  const slab_tree tree = trees[random_below(random, 3)];
  slab_scene *scene = NULL;
  tetrahedra_make(random, (tetrahedra_sort)random_below(random, TETRAHEDRA_SORTS),
                  1 + random_below(random, SOLIDS_MOST), &b.solids);
  for (size_t i = 0; i < n; i++) tetrahedra_aim(random, &b.solids, b.points + 3 * i);
  slab_status status = verify_scene(run, layout, &scene);
  if (status == SLAB_OK) status = tetrahedra_add(&b.solids, scene);
  if (status == SLAB_OK) status = verify_commit(run, layout, tree, scene, n);
  if (status == SLAB_OK) status = slab_winding(scene, b.points, n, b.windings, NULL);
  if (status == SLAB_OK) status = slab_signed_distances(scene, b.points, n, b.distances, NULL);
  if (status == SLAB_OK) status = slab_winding_numbers(scene, b.points, n, b.numbers, NULL);
  slab_scene_destroy(scene);
  if (status == SLAB_OK) judge(run, &b, n);
  return verify_status(run, status);
}
