/* Random scenes that stand in each other by random transforms, and rays that meet them as they would meet the models.
 */
#ifndef SLABCAST_SETS_NESTED_H
#define SLABCAST_SETS_NESTED_H

#include <stdbool.h>

#include "sets/adversarial.h"

enum { NESTED_EACH = 7, NESTED_SCENES = 4, NESTED_TOP = NESTED_SCENES - 1, NESTED_BUNDLE = 16 };

/* Two models, a scene with instances of both, and the top one with instances of the second and of the third. The last
 * two have primitives too, before, between and behind. All are committed. */
typedef struct nested {
  random_state random;
  unsigned kinds;
  bool is_rigid;         /* transforms turn, mirror, move and scale alike along all axes */
  adversarial points[2]; /* of the models: rays aim at these */
  slab_scene *scenes[NESTED_SCENES];
  slab_tree trees[NESTED_SCENES];
  float inner[2][NESTED_EACH][12], outer[2][NESTED_EACH][12]; /* transforms in scenes 2 and 3 */
  uint32_t outer_ids[2];                                      /* of the instances in the top scene */
} nested;

/* Transforms scale, mirror, turn and move, in any number of these ways, by much or by little. */
void nested_transform(random_state *random, float transform[12]);
/* The same, but for shears and scales that differ by axis. */
void nested_rigid(random_state *random, float transform[12]);
void nested_transforms(random_state *random, float transforms[NESTED_EACH][12]);
/* A ray that is given in a model's space, in front of the model's instance. */
slab_ray nested_ray_outside(const float transform[12], slab_ray ray);

/* kinds: of primitives, as in adversarial_fill, triangles among them; with planes some instances have no gate. After a
 * failure nested_end too. */
slab_status nested_begin(nested *, slab_context *, uint64_t seed, unsigned kinds);
slab_status nested_begin_rigid(nested *, slab_context *, uint64_t seed, unsigned kinds);
/* n rays for the top scene. Half of the bundles of NESTED_BUNDLE consecutive ones are much alike. */
void nested_rays(nested *, size_t n, slab_ray *rays);
void nested_end(nested *);

#endif
