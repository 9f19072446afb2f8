#include "embree_worlds.h"

#include <embree4/rtcore.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

#include "embree.h"
#include "threads.h"

enum { WORLDS_A_PIECE = 16, PACKET = 16 };

struct embree_worlds {
  worlds_plan plan;
  RTCDevice device;
  RTCScene *models, terrain;
  RTCScene *scenes;        /* one per world, or one */
  RTCGeometry *parts;      /* as transforms lie */
  RTCGeometry *grounds;    /* the terrain, once per world */
  const float *transforms; /* of the call that is going on */
  const slab_ray *rays;
  slab_hit *hits;
  int packets;
  atomic_uint next;
};

static uint32_t scene_count(const worlds_plan *p) { return p->apart > 0.0f ? 1 : p->worlds; }
static size_t part_count(const worlds_plan *p) { return (size_t)p->model_count * p->worlds * p->each; }
static size_t part_of(const worlds_plan *p, uint32_t model, uint32_t world, uint32_t i) {
  return ((size_t)model * p->worlds + world) * p->each + i;
}

/* Where a world stands. */
static void offset_of(const worlds_plan *p, uint32_t world, float offset[2]) {
  const uint32_t side = (uint32_t)ceil(sqrt(p->worlds));
  offset[0] = p->apart * (float)(world % side);
  offset[1] = p->apart * (float)(world / side);
}

/* ---- scenes ---- */

static RTCGeometry instance_of(embree_worlds *e, RTCScene of, uint32_t world, uint32_t id) {
  RTCGeometry made = rtcNewGeometry(e->device, RTC_GEOMETRY_TYPE_INSTANCE);
  const uint32_t base = scene_count(&e->plan) > 1 ? 0 : world * (e->plan.model_count * e->plan.each + 1);
  rtcSetGeometryInstancedScene(made, of);
  rtcAttachGeometryByID(e->scenes[scene_count(&e->plan) > 1 ? world : 0], made, base + id);
  return made;
}

static void set_place(RTCGeometry instance, const float transform[12], const float offset[2]) {
  float m[12];
  memcpy(m, transform, sizeof m);
  m[3] += offset[0];
  m[7] += offset[1];
  rtcSetGeometryTransform(instance, 0, RTC_FORMAT_FLOAT3X4_ROW_MAJOR, m);
  rtcCommitGeometry(instance);
}

static void move_world(embree_worlds *e, uint32_t world) {
  const worlds_plan *p = &e->plan;
  float offset[2];
  offset_of(p, world, offset);
  for (uint32_t k = 0; k < p->model_count; k++)
    for (uint32_t i = 0; i < p->each; i++) {
      const size_t at = part_of(p, k, world, i);
      set_place(e->parts[at], e->transforms + 12 * at, offset);
    }
}

/* ---- threads, which take some worlds at a time ---- */

static void move_worlds(void *argument) {
  embree_worlds *e = argument;
  for (uint32_t first; (first = atomic_fetch_add(&e->next, WORLDS_A_PIECE)) < e->plan.worlds;)
    for (uint32_t world = first; world < first + WORLDS_A_PIECE && world < e->plan.worlds; world++) {
      move_world(e, world);
      if (e->plan.apart == 0.0f) rtcCommitScene(e->scenes[world]);
    }
}

static slab_ray placed(const embree_worlds *e, uint32_t world, const slab_ray *ray) {
  slab_ray moved = *ray;
  float offset[2];
  offset_of(&e->plan, world, offset);
  for (int k = 0; k < 2; k++) moved.origin[k] += offset[k];
  return moved;
}

static void cast_single(const embree_worlds *e, RTCScene scene, uint32_t world, size_t i,
                        struct RTCIntersectArguments *arguments) {
  const slab_ray r = placed(e, world, &e->rays[i]);
  struct RTCRayHit h = {.ray = {.org_x = r.origin[0],
                                .org_y = r.origin[1],
                                .org_z = r.origin[2],
                                .tnear = r.t_min,
                                .dir_x = r.direction[0],
                                .dir_y = r.direction[1],
                                .dir_z = r.direction[2],
                                .tfar = r.t_max,
                                .mask = UINT32_MAX},
                        .hit = {.primID = SLAB_MISS, .geomID = SLAB_MISS, .instID = {SLAB_MISS}}};
  rtcIntersect1(scene, &h, arguments);
  e->hits[i].t = h.hit.geomID != SLAB_MISS ? h.ray.tfar : INFINITY;
}

static void cast_packet(const embree_worlds *e, RTCScene scene, uint32_t world, size_t first, size_t count,
                        struct RTCIntersectArguments *arguments) {
  struct RTCRayHit16 p;
  _Alignas(64) int valid[PACKET];
  for (size_t k = 0; k < PACKET; k++) {
    const slab_ray r = placed(e, world, &e->rays[first + (k < count ? k : 0)]);
    valid[k] = k < count ? -1 : 0;
    p.ray.org_x[k] = r.origin[0], p.ray.org_y[k] = r.origin[1], p.ray.org_z[k] = r.origin[2];
    p.ray.dir_x[k] = r.direction[0], p.ray.dir_y[k] = r.direction[1], p.ray.dir_z[k] = r.direction[2];
    p.ray.tnear[k] = r.t_min, p.ray.tfar[k] = r.t_max, p.ray.time[k] = 0.0f;
    p.ray.mask[k] = UINT32_MAX, p.ray.id[k] = (unsigned int)k, p.ray.flags[k] = 0;
    p.hit.geomID[k] = p.hit.primID[k] = p.hit.instID[0][k] = SLAB_MISS;
  }
  rtcIntersect16(valid, scene, &p, arguments);
  for (size_t k = 0; k < count; k++) e->hits[first + k].t = p.hit.geomID[k] != SLAB_MISS ? p.ray.tfar[k] : INFINITY;
}

static void cast_world(const embree_worlds *e, uint32_t world, struct RTCIntersectArguments *arguments) {
  const RTCScene scene = e->scenes[e->plan.apart > 0.0f ? 0 : world];
  const size_t first = (size_t)world * e->plan.rays, end = first + e->plan.rays;
  for (size_t i = first; i < end; i += e->packets ? PACKET : 1)
    if (e->packets)
      cast_packet(e, scene, world, i, end - i < PACKET ? end - i : PACKET, arguments);
    else
      cast_single(e, scene, world, i, arguments);
}

static void cast_worlds(void *argument) {
  embree_worlds *e = argument;
  const unsigned int modes = embree_flush();
  struct RTCIntersectArguments arguments;
  rtcInitIntersectArguments(&arguments);
  arguments.flags = e->packets ? RTC_RAY_QUERY_FLAG_COHERENT : RTC_RAY_QUERY_FLAG_INCOHERENT;
  for (uint32_t first; (first = atomic_fetch_add(&e->next, WORLDS_A_PIECE)) < e->plan.worlds;)
    for (uint32_t world = first; world < first + WORLDS_A_PIECE && world < e->plan.worlds; world++)
      cast_world(e, world, &arguments);
  _mm_setcsr(modes);
}

static bool run(embree_worlds *e, void (*function)(void *)) {
  atomic_store(&e->next, 0);
  if (!threads_run(e->plan.threads, function, e)) {
    fprintf(stderr, "bench: the system refuses Embree its %u threads\n", e->plan.threads);
    return false;
  }
  const enum RTCError error = rtcGetDeviceError(e->device);
  if (error != RTC_ERROR_NONE) fprintf(stderr, "bench: Embree fails with error %d\n", (int)error);
  return error == RTC_ERROR_NONE;
}

/* ---- calls ---- */

int embree_worlds_move(embree_worlds *e, const float *transforms) {
  e->transforms = transforms;
  if (!run(e, move_worlds)) return false;
  if (e->plan.apart > 0.0f) rtcCommitScene(e->scenes[0]);
  return true;
}

int embree_worlds_move_one(embree_worlds *e, uint32_t world, const float *transforms) {
  e->transforms = transforms;
  move_world(e, world);
  rtcCommitScene(e->scenes[e->plan.apart > 0.0f ? 0 : world]);
  return true;
}

int embree_worlds_cast(embree_worlds *e, int packets, const slab_ray *rays, slab_hit *hits) {
  e->packets = packets;
  e->rays = rays;
  e->hits = hits;
  return run(e, cast_worlds);
}

static bool allocate(embree_worlds *e) {
  const worlds_plan *p = &e->plan;
  e->models = calloc(p->model_count, sizeof *e->models);
  e->scenes = calloc(scene_count(p), sizeof *e->scenes);
  e->parts = calloc(part_count(p), sizeof *e->parts);
  e->grounds = calloc(p->worlds, sizeof *e->grounds);
  if (e->models != NULL && e->scenes != NULL && e->parts != NULL && e->grounds != NULL) return true;
  fprintf(stderr, "bench: no memory for the worlds of Embree\n");
  return false;
}

static void add_world(embree_worlds *e, uint32_t world) {
  static const float here[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  const worlds_plan *p = &e->plan;
  float offset[2];
  offset_of(p, world, offset);
  for (uint32_t k = 0, id = 0; k < p->model_count; k++)
    for (uint32_t i = 0; i < p->each; i++)
      e->parts[part_of(p, k, world, i)] = instance_of(e, e->models[k], world, id++);
  e->grounds[world] = instance_of(e, e->terrain, world, p->model_count * p->each);
  set_place(e->grounds[world], here, offset);
}

embree_worlds *embree_worlds_open(const worlds_plan *plan, const float *transforms) {
  embree_worlds *e = calloc(1, sizeof *e);
  if (e == NULL) return NULL;
  e->plan = *plan;
  e->device = embree_device(plan->threads);
  if (e->device != NULL && allocate(e)) {
    for (uint32_t k = 0; k < plan->model_count; k++)
      e->models[k] = embree_scene(e->device, &plan->models[k], RTC_SCENE_FLAG_NONE);
    e->terrain = embree_scene(e->device, plan->terrain, RTC_SCENE_FLAG_NONE);
    for (uint32_t i = 0; i < scene_count(plan); i++) e->scenes[i] = rtcNewScene(e->device);
    for (uint32_t world = 0; world < plan->worlds; world++) add_world(e, world);
    if (embree_worlds_move(e, transforms)) return e;
  }
  embree_worlds_close(e);
  return NULL;
}

void embree_worlds_close(embree_worlds *e) {
  if (e == NULL) return;
  for (size_t i = 0; e->parts != NULL && i < part_count(&e->plan); i++)
    if (e->parts[i] != NULL) rtcReleaseGeometry(e->parts[i]);
  for (uint32_t i = 0; e->grounds != NULL && i < e->plan.worlds; i++)
    if (e->grounds[i] != NULL) rtcReleaseGeometry(e->grounds[i]);
  for (uint32_t i = 0; e->scenes != NULL && i < scene_count(&e->plan); i++)
    if (e->scenes[i] != NULL) rtcReleaseScene(e->scenes[i]);
  for (uint32_t k = 0; e->models != NULL && k < e->plan.model_count; k++)
    if (e->models[k] != NULL) rtcReleaseScene(e->models[k]);
  if (e->terrain != NULL) rtcReleaseScene(e->terrain);
  if (e->device != NULL) rtcReleaseDevice(e->device);
  free(e->models);
  free(e->scenes);
  free(e->parts);
  free(e->grounds);
  free(e);
}
