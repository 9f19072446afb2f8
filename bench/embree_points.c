/* Embree's point queries, as in its tutorial closest_point: a callback tests each triangle, by Ericson's closest point
 * (Real-Time Collision Detection, 2005), and shortens the radius. */
#include "embree_points.h"

#include <embree4/rtcore.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "embree.h"
#include "threads.h"

enum { CHUNK = 1024 };

struct embree_points {
  RTCDevice device;
  RTCScene scene;
  const scene_geometry *geometry;
  uint32_t threads;
};

typedef struct vector {
  float x, y, z;
} vector;

static vector minus(vector a, vector b) { return (vector){a.x - b.x, a.y - b.y, a.z - b.z}; }
static vector along(vector a, float t, vector b) { return (vector){a.x + t * b.x, a.y + t * b.y, a.z + t * b.z}; }
static float dot(vector a, vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static vector closest_of_triangle(vector p, vector a, vector b, vector c) {
  const vector ab = minus(b, a), ac = minus(c, a), ap = minus(p, a), bp = minus(p, b), cp = minus(p, c);
  const float d1 = dot(ab, ap), d2 = dot(ac, ap);
  if (d1 <= 0.0f && d2 <= 0.0f) return a;
  const float d3 = dot(ab, bp), d4 = dot(ac, bp);
  if (d3 >= 0.0f && d4 <= d3) return b;
  const float d5 = dot(ab, cp), d6 = dot(ac, cp);
  if (d6 >= 0.0f && d5 <= d6) return c;
  const float vc = d1 * d4 - d3 * d2;
  if (vc <= 0.0f && d1 >= 0.0f && d3 <= 0.0f) return along(a, d1 / (d1 - d3), ab);
  const float vb = d5 * d2 - d1 * d6;
  if (vb <= 0.0f && d2 >= 0.0f && d6 <= 0.0f) return along(a, d2 / (d2 - d6), ac);
  const float va = d3 * d6 - d5 * d4;
  if (va <= 0.0f && d4 - d3 >= 0.0f && d5 - d6 >= 0.0f) return along(b, (d4 - d3) / (d4 - d3 + d5 - d6), minus(c, b));
  const float one = 1.0f / (va + vb + vc);
  return along(along(a, vb * one, ab), vc * one, ac);
}

/* The callback's data, which it reads and writes. */
typedef struct asked {
  const scene_geometry *of;
  slab_closest_point found;
} asked;

static vector corner(const scene_geometry *g, uint32_t triangle, uint32_t k) {
  const size_t place = 3 * (size_t)triangle + k, vertex = g->indices != NULL ? g->indices[place] : place;
  const float *v = g->vertices + 3 * vertex;
  return (vector){v[0], v[1], v[2]};
}

static bool test_triangle(struct RTCPointQueryFunctionArguments *a) {
  asked *of = a->userPtr;
  const vector p = {a->query->x, a->query->y, a->query->z};
  const vector at =
      closest_of_triangle(p, corner(of->of, a->primID, 0), corner(of->of, a->primID, 1), corner(of->of, a->primID, 2));
  const vector apart = minus(p, at);
  const float distance = sqrtf(dot(apart, apart));
  if (!(distance < a->query->radius)) return false;
  a->query->radius = distance;
  of->found = (slab_closest_point){.distance = distance, .point = {at.x, at.y, at.z}, .primitive = a->primID};
  return true;
}

embree_points *embree_points_open(const scene_geometry *g, uint32_t threads, int robust) {
  embree_points *e = calloc(1, sizeof *e);
  if (e == NULL || (e->device = embree_device(threads)) == NULL) {
    free(e);
    return NULL;
  }
  e->geometry = g;
  e->threads = threads;
  e->scene = rtcNewScene(e->device);
  rtcSetSceneBuildQuality(e->scene, RTC_BUILD_QUALITY_HIGH);
  rtcSetSceneFlags(e->scene, robust ? RTC_SCENE_FLAG_ROBUST : RTC_SCENE_FLAG_NONE);
  RTCGeometry mesh = rtcNewGeometry(e->device, RTC_GEOMETRY_TYPE_TRIANGLE);
  float *vertices = rtcSetNewGeometryBuffer(mesh, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12, g->vertex_count);
  uint32_t *indices = rtcSetNewGeometryBuffer(mesh, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, g->count);
  for (size_t i = 0; vertices != NULL && i < 3 * (size_t)g->vertex_count; i++) vertices[i] = g->vertices[i];
  for (size_t i = 0; indices != NULL && i < 3 * (size_t)g->count; i++)
    indices[i] = g->indices != NULL ? g->indices[i] : (uint32_t)i;
  rtcSetGeometryPointQueryFunction(mesh, test_triangle);
  rtcCommitGeometry(mesh);
  rtcAttachGeometry(e->scene, mesh);
  rtcReleaseGeometry(mesh);
  rtcCommitScene(e->scene);
  const enum RTCError error = rtcGetDeviceError(e->device);
  if (error == RTC_ERROR_NONE) return e;
  fprintf(stderr, "bench: Embree fails with error %d\n", (int)error);
  embree_points_close(e);
  return NULL;
}

void embree_points_close(embree_points *e) {
  if (e == NULL) return;
  rtcReleaseScene(e->scene);
  rtcReleaseDevice(e->device);
  free(e);
}

typedef struct job {
  const embree_points *e;
  const float *points;
  size_t n;
  slab_closest_point *results;
  atomic_size_t next;
} job;

static void ask_one(const embree_points *e, const float p[3], slab_closest_point *result) {
  struct RTCPointQueryContext context;
  struct RTCPointQuery query = {.x = p[0], .y = p[1], .z = p[2], .radius = INFINITY};
  asked of = {.of = e->geometry, .found = {.distance = INFINITY, .primitive = SLAB_MISS, .geometry = SLAB_MISS}};
  rtcInitPointQueryContext(&context);
  rtcPointQuery(e->scene, &query, &context, NULL, &of);
  *result = of.found;
}

static void work(void *argument) {
  job *j = argument;
  for (size_t first; (first = atomic_fetch_add(&j->next, CHUNK)) < j->n;)
    for (size_t i = first; i < j->n && i < first + CHUNK; i++) ask_one(j->e, j->points + 3 * i, &j->results[i]);
}

int embree_points_ask(const embree_points *e, const float *points, size_t n, slab_closest_point *results) {
  job j = {.e = e, .points = points, .n = n, .results = results};
  if (threads_run(e->threads, work, &j)) return true;
  fprintf(stderr, "bench: no threads for Embree\n");
  return false;
}
