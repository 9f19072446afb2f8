/* The function that a kernel of the user's calls: one ray, one query, and no array (slabcast_device.h).
 *
 * A text is there once for each query of the program, under names of its own. So all functions are in each of the
 * texts, and one of each text is called. Built with SLAB_TRACE, and with the options of flat.cl, wide.cl or
 * compressed.cl. TRACE_CAST: the function that casts a ray of a prepared query. */
#ifndef WALK_TRACE_H
#define WALK_TRACE_H

#include "walk/query.h"

/* A ray that is traced. The scene points into it. */
typedef struct traced_ray {
  cast_uniforms cast;
  prepared_ray ray;
  query_state q;
} traced_ray;

/* The scene as it lies in the parameters of the user's kernel. */
INLINE scene_view trace_scene(const slab_view *view, const cast_uniforms *cast) {
  GLOBAL const float *blocks_0 = view->blocks[0];
  GLOBAL const SCENE_NODE *nodes_0 = (GLOBAL const SCENE_NODE *)view->nodes[0];
#if SLAB_BUFFERS == 4
  GLOBAL const float *blocks_1 = view->blocks[1], *blocks_2 = view->blocks[2], *blocks_3 = view->blocks[3];
  GLOBAL const SCENE_NODE *nodes_1 = (GLOBAL const SCENE_NODE *)view->nodes[1];
  GLOBAL const SCENE_NODE *nodes_2 = (GLOBAL const SCENE_NODE *)view->nodes[2];
  GLOBAL const SCENE_NODE *nodes_3 = (GLOBAL const SCENE_NODE *)view->nodes[3];
#endif
  const scene_view scene = {(GLOBAL const geometry_entry *)view->table, BLOCKS_GIVEN, NODES_GIVEN, cast, false};
  return scene;
}

/* Traces a ray. own: the cast of this ray alone. after: where SLAB_OWN is 1, hits follow this one. */
INLINE void trace_ray(traced_ray *own, const slab_view *view, const slab_ray *given, const slab_trace_options *options,
                      slab_short_hit after) {
  ray_depths depths;
  own->cast = *(const cast_uniforms *)view->cast;
  own->cast.mask = slab_trace_mask(options);
  own->cast.masked = own->cast.mask != 0xFFFFFFFFu;
  own->cast.rules = (uint)options->cull | (options->edges == SLAB_EDGES_CLOSED ? RULE_CLOSED : 0);
  own->cast.face_forward = options->face_forward;
  own->cast.ids = 1;
  own->cast.world = options->world;
  slab_ray ray = *given;
  if (options->world > own->cast.worlds) ray.t_min = NAN; /* which makes it invalid */
  own->ray = ray_prepare(&ray);
  const scene_view scene = trace_scene(view, &own->cast);
  own->q = query_fresh(&own->ray);
  query_skips(&own->q, &scene, options->skip);
  query_owns(&own->q, own->cast.mask, options->world, after);
  depths_begin(&own->q, &depths, &own->ray, &scene);
  if (own->ray.state == RAY_LIVE) TRACE_CAST(&own->q, &own->ray, &scene);
}

/* A function of the public header: the result of a ray's query. The one without options calls the other, so the
 * traversal is there once. Compilers that inline both leave out the code that the defaults do not need. */
#define TRACE(type, name, result)                                                                            \
  static type name##_with(const slab_view *view, const slab_ray *given, const slab_trace_options *options) { \
    traced_ray own;                                                                                          \
    trace_ray(&own, view, given, options, slab_trace_begin());                                               \
    const scene_view scene = trace_scene(view, &own.cast);                                                   \
    (void)scene;                                                                                             \
    return result;                                                                                           \
  }                                                                                                          \
  static type name(const slab_view *view, const slab_ray *ray) {                                             \
    const slab_trace_options defaults = slab_trace_defaults();                                               \
    return name##_with(view, ray, &defaults);                                                                \
  }

/* By the numbers of slab_query: a preprocessor knows no other. */
#if SLAB_OWN
static bool slab_trace_next_with(const slab_view *view, const slab_ray *given, const slab_trace_options *options,
                                 slab_short_hit *hit) {
  traced_ray own;
  slab_ray ray = *given;
  if (hit->t != hit->t) ray.t_min = hit->t; /* which makes it invalid */
  trace_ray(&own, view, &ray, options, *hit);
  const scene_view scene = trace_scene(view, &own.cast);
  *hit = query_short_hit(&own.q, &own.ray, &scene);
  return own.q.global_id != SLAB_MISS;
}
static bool slab_trace_next(const slab_view *view, const slab_ray *ray, slab_short_hit *hit) {
  const slab_trace_options defaults = slab_trace_defaults();
  return slab_trace_next_with(view, ray, &defaults, hit);
}
#elif SLAB_QUERY == 0
TRACE(slab_hit, slab_trace_closest, query_closest(&own.q, &own.ray, &scene))
#elif SLAB_QUERY == 1
TRACE(slab_short_hit, slab_trace_nearest, query_short_hit(&own.q, &own.ray, &scene))
static float slab_trace_distance_with(const slab_view *view, const slab_ray *ray, const slab_trace_options *options) {
  return slab_trace_nearest_with(view, ray, options).t;
}
static float slab_trace_distance(const slab_view *view, const slab_ray *ray) { return slab_trace_nearest(view, ray).t; }
#elif SLAB_QUERY == 2
TRACE(bool, slab_trace_any, own.q.global_id != SLAB_MISS)
#elif SLAB_QUERY == 3
TRACE(uint, slab_trace_count, own.q.count)
#elif SLAB_QUERY == 5
TRACE(slab_interval, slab_trace_interval, query_interval(&own.q, &own.ray, given, &scene))
#endif
#undef TRACE

#endif
