/* The origin of a scene, and additions on their way to floats that count from there.
 *
 * The origin is known from slab_scene_origin or the first commit on, and is 0 till then. Doubles that are added
 * meanwhile are kept beside their floats. These count from 0, and are made again when the origin is known. */
#ifndef SLABCAST_SCENE_ORIGIN_H
#define SLABCAST_SCENE_ORIGIN_H

#include "scene/scene.h"

/* Floats in place of an addition's or a range's values. */
typedef struct near_values {
  float *floats; /* NULL: the caller's are taken as they are */
  slab_mesh mesh;
  far_values *far; /* NULL: nothing waits for the origin */
} near_values;

/* Makes an addition, or a range, one of floats that count from the origin. near_values_free follows, also after a
 * failure. A caller that takes `far` sets it to NULL before. */
slab_status origin_near(const slab_scene *, addition *, near_values *);
slab_status origin_near_range(const slab_scene *, values_range *, near_values *);
void near_values_free(near_values *);
/* Puts a range that was taken into the doubles that wait for the origin. source: the range as the caller gave it. */
void origin_put_range(far_values *, const values_range *source);

/* Transforms as the caller gives them: 12 floats each, or 12 doubles. */
typedef struct given_transforms {
  const float *floats;
  const double *doubles;
  bool is_near; /* they count from the origin already: buffers of a device do */
} given_transforms;

/* Floats in place of them. */
typedef struct near_transforms {
  const float *transforms;
  float *floats;  /* NULL: they are the caller's */
  double *places; /* three each: where the model's origin comes to lie; NULL: nothing waits for the scene's */
} near_transforms;

/* Whether instances of a model have other places than their transforms say. */
bool origin_moves(const slab_scene *, const slab_scene *model);
/* Space for n transforms, where they are not taken as they are. moves: whether origin_moves is true of any of their
 * models. near_transforms_free follows, also after a failure. */
slab_status origin_near_space(const slab_scene *, const given_transforms *, uint32_t n, bool moves, near_transforms *);
/* Fills in those from number `first` on, n of one model. */
void origin_near_fill(const slab_scene *, const slab_scene *model, const given_transforms *, size_t first, uint32_t n,
                      near_transforms *);
void near_transforms_free(near_transforms *);

/* Space for the doubles that wait, of a geometry's instances. These are their transforms, or some of them. */
slab_status origin_far_space(added_geometry *, const near_transforms *);
/* Puts n transforms, from number `first` on, into the doubles that wait, in the order of instances or at these
 * indices. */
void origin_far_put(added_geometry *, const near_transforms *, size_t first, const uint32_t *indices, uint32_t n);

/* Beyond this no coordinate of an origin is. */
#define ORIGIN_MAX 0x1p58
/* Gives a scene this origin. After a failure it has none, as before. */
slab_status origin_settle_at(slab_scene *, const char *function, const double origin[3]);
/* The scene as its first commit wants it: with an origin. */
slab_status origin_settle(slab_scene *, const char *function);

#endif
