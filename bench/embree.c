#include "embree.h"

#include <embree4/rtcore.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

#include "threads.h"

enum { CHUNK = 2048, PACKET = 16 };

/* Hits, in memory that only grows. */
typedef struct hit_list {
  slab_hit *hits;
  size_t count, space;
} hit_list;

struct embree {
  RTCDevice device;
  RTCScene fast, robust;
  uint32_t threads;
  RTCScene model; /* of instances, which `fast` holds then */
  RTCGeometry *instances;
  uint32_t count;
  hit_list *chunks; /* of the last rays in a cast for all hits, one for each chunk: kept for the next cast */
  size_t chunk_count;
};

/* ---- the device ---- */

RTCDevice embree_device(uint32_t threads) {
  char settings[64];
  snprintf(settings, sizeof settings, "threads=%u,set_affinity=0", threads);
  RTCDevice device = rtcNewDevice(settings);
  if (device == NULL) {
    fprintf(stderr, "bench: Embree gives no device (error %d)\n", (int)rtcGetDeviceError(NULL));
    return NULL;
  }
  /* Within a major version the interface only grows. */
  const int version = (int)rtcGetDeviceProperty(device, RTC_DEVICE_PROPERTY_VERSION);
  if (version / 10000 == RTC_VERSION_MAJOR && version >= RTC_VERSION) return device;
  fprintf(stderr, "bench: Embree's library is version %d, its headers are %d\n", version, RTC_VERSION);
  rtcReleaseDevice(device);
  return NULL;
}

const char *embree_version(void) {
  static char text[16];
  RTCDevice device = embree_device(1);
  if (device == NULL) return "";
  const int version = (int)rtcGetDeviceProperty(device, RTC_DEVICE_PROPERTY_VERSION);
  snprintf(text, sizeof text, "%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
  rtcReleaseDevice(device);
  return text;
}

/* ---- the scene ---- */

static void *new_buffer(RTCGeometry geometry, enum RTCBufferType type, enum RTCFormat format, size_t stride,
                        size_t count) {
  return rtcSetNewGeometryBuffer(geometry, type, 0, format, stride, count);
}

static RTCGeometry triangles(RTCDevice device, const scene_geometry *g) {
  RTCGeometry mesh = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
  float *vertices = new_buffer(mesh, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT3, 12, g->vertex_count);
  uint32_t *indices = new_buffer(mesh, RTC_BUFFER_TYPE_INDEX, RTC_FORMAT_UINT3, 12, g->count);
  if (vertices == NULL || indices == NULL) return mesh;
  memcpy(vertices, g->vertices, 12 * (size_t)g->vertex_count);
  for (size_t i = 0; i < 3 * (size_t)g->count; i++) indices[i] = g->indices != NULL ? g->indices[i] : (uint32_t)i;
  return mesh;
}

static RTCGeometry spheres(RTCDevice device, const scene_geometry *g) {
  RTCGeometry points = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_SPHERE_POINT);
  void *vertices = new_buffer(points, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT4, sizeof(slab_sphere), g->count);
  if (vertices != NULL) memcpy(vertices, g->shapes, sizeof(slab_sphere) * (size_t)g->count);
  return points;
}

static RTCGeometry boxes(RTCDevice device, const scene_geometry *g) {
  static const uint8_t corners[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                        {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  RTCGeometry quads = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_QUAD);
  float *vertices = new_buffer(quads, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT3, 12, 8 * (size_t)g->count);
  uint32_t *indices = new_buffer(quads, RTC_BUFFER_TYPE_INDEX, RTC_FORMAT_UINT4, 16, 6 * (size_t)g->count);
  const slab_box *box = g->shapes;
  for (uint32_t i = 0; vertices != NULL && indices != NULL && i < g->count; i++) {
    for (uint32_t c = 0; c < 8; c++)
      for (uint32_t k = 0; k < 3; k++) *vertices++ = (c >> k & 1) != 0 ? box[i].upper[k] : box[i].lower[k];
    for (uint32_t f = 0; f < 6; f++)
      for (uint32_t c = 0; c < 4; c++) *indices++ = 8 * i + corners[f][c];
  }
  return quads;
}

RTCScene embree_scene(RTCDevice device, const scene_geometry *g, unsigned int flags) {
  RTCScene scene = rtcNewScene(device);
  RTCGeometry geometry = g->kind == SLAB_TRIANGLE ? triangles(device, g)
                         : g->kind == SLAB_SPHERE ? spheres(device, g)
                                                  : boxes(device, g);
  rtcSetSceneFlags(scene, (enum RTCSceneFlags)flags);
  rtcCommitGeometry(geometry);
  rtcAttachGeometry(scene, geometry);
  rtcReleaseGeometry(geometry);
  rtcCommitScene(scene);
  return scene;
}

/* With a device and no scenes yet; NULL where there is none, or no memory. */
static embree *with_device(uint32_t threads) {
  embree *e = calloc(1, sizeof *e);
  if (e == NULL) return NULL;
  e->threads = threads;
  e->device = embree_device(threads);
  if (e->device != NULL) return e;
  embree_close(e);
  return NULL;
}

/* Returns e; NULL where Embree failed. */
static embree *if_sound(embree *e) {
  const enum RTCError error = rtcGetDeviceError(e->device);
  if (error == RTC_ERROR_NONE) return e;
  fprintf(stderr, "bench: Embree fails with error %d\n", (int)error);
  embree_close(e);
  return NULL;
}

embree *embree_open(const scene_geometry *g, uint32_t threads, int filters) {
  const enum RTCSceneFlags flags = filters ? RTC_SCENE_FLAG_FILTER_FUNCTION_IN_ARGUMENTS : RTC_SCENE_FLAG_NONE;
  if (g->kind != SLAB_TRIANGLE && g->kind != SLAB_SPHERE && g->kind != SLAB_BOX) {
    fprintf(stderr, "bench: only triangles, spheres and boxes are measured against Embree\n");
    return NULL;
  }
  embree *e = with_device(threads);
  if (e == NULL) return NULL;
  e->fast = embree_scene(e->device, g, flags);
  e->robust = embree_scene(e->device, g, flags | RTC_SCENE_FLAG_ROBUST);
  return if_sound(e);
}

void embree_close(embree *e) {
  if (e == NULL) return;
  embree_clear(e);
  if (e->model != NULL) rtcReleaseScene(e->model);
  for (size_t i = 0; i < e->chunk_count; i++) free(e->chunks[i].hits);
  free(e->chunks);
  if (e->fast != NULL) rtcReleaseScene(e->fast);
  if (e->robust != NULL) rtcReleaseScene(e->robust);
  if (e->device != NULL) rtcReleaseDevice(e->device);
  free(e);
}

/* ---- a mesh that is placed ---- */

embree *embree_open_model(const scene_geometry *g, uint32_t threads) {
  embree *e = with_device(threads);
  if (e == NULL) return NULL;
  e->model = embree_scene(e->device, g, RTC_SCENE_FLAG_NONE);
  return if_sound(e);
}

static void set_place(RTCGeometry instance, const float *transform) {
  rtcSetGeometryTransform(instance, 0, RTC_FORMAT_FLOAT3X4_ROW_MAJOR, transform);
  rtcCommitGeometry(instance);
}

int embree_place(embree *e, const float *transforms, uint32_t n) {
  e->instances = malloc(((size_t)n + 1) * sizeof(RTCGeometry));
  if (e->instances == NULL) {
    fprintf(stderr, "bench: no memory for %u instances by Embree\n", n);
    return false;
  }
  e->count = n;
  e->fast = rtcNewScene(e->device);
  for (uint32_t i = 0; i < n; i++) {
    e->instances[i] = rtcNewGeometry(e->device, RTC_GEOMETRY_TYPE_INSTANCE);
    rtcSetGeometryInstancedScene(e->instances[i], e->model);
    set_place(e->instances[i], transforms + 12 * (size_t)i);
    rtcAttachGeometryByID(e->fast, e->instances[i], i);
  }
  rtcCommitScene(e->fast);
  return true;
}

void embree_move(embree *e, const float *transforms) {
  for (uint32_t i = 0; i < e->count; i++) set_place(e->instances[i], transforms + 12 * (size_t)i);
  rtcCommitScene(e->fast);
}

void embree_clear(embree *e) {
  if (e->instances == NULL) return;
  for (uint32_t i = 0; i < e->count; i++) rtcReleaseGeometry(e->instances[i]);
  free(e->instances);
  e->instances = NULL;
  rtcReleaseScene(e->fast);
  e->fast = NULL;
}

/* ---- a mesh that moves ---- */

struct embree_moving {
  RTCDevice device;
  RTCScene scene;
  RTCGeometry mesh;
};

embree_moving *embree_moving_open(const scene_geometry *g, uint32_t threads, int refits) {
  const enum RTCBuildQuality quality = refits ? RTC_BUILD_QUALITY_REFIT : RTC_BUILD_QUALITY_LOW;
  embree_moving *m = calloc(1, sizeof *m);
  if (m == NULL) return NULL;
  m->device = embree_device(threads);
  if (m->device == NULL) {
    free(m);
    return NULL;
  }
  m->scene = rtcNewScene(m->device);
  m->mesh = triangles(m->device, g);
  rtcSetSceneFlags(m->scene, RTC_SCENE_FLAG_DYNAMIC);
  rtcSetSceneBuildQuality(m->scene, RTC_BUILD_QUALITY_LOW);
  rtcSetGeometryBuildQuality(m->mesh, quality);
  rtcSetSharedGeometryBuffer(m->mesh, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, g->vertices, 0, 12,
                             g->vertex_count);
  rtcCommitGeometry(m->mesh);
  rtcAttachGeometry(m->scene, m->mesh);
  rtcCommitScene(m->scene);
  const enum RTCError error = rtcGetDeviceError(m->device);
  if (error == RTC_ERROR_NONE) return m;
  fprintf(stderr, "bench: Embree fails with error %d\n", (int)error);
  embree_moving_close(m);
  return NULL;
}

void embree_moving_commit(embree_moving *m) {
  rtcUpdateGeometryBuffer(m->mesh, RTC_BUFFER_TYPE_VERTEX, 0);
  rtcCommitGeometry(m->mesh);
  rtcCommitScene(m->scene);
}

void embree_moving_close(embree_moving *m) {
  if (m == NULL) return;
  rtcReleaseGeometry(m->mesh);
  rtcReleaseScene(m->scene);
  rtcReleaseDevice(m->device);
  free(m);
}

/* ---- hits that filters collect ---- */

/* How a thread casts its rays, and the results of filters for the rays that it casts: one, or a packet. Embree hands
 * the context to the filters. */
typedef struct caster {
  struct RTCRayQueryContext context; /* first, so that its address is the caster's */
  struct RTCIntersectArguments intersect;
  struct RTCOccludedArguments occluded;
  uint32_t counts[PACKET];
  hit_list lists[PACKET];
} caster;

static bool list_grow(hit_list *list) {
  const size_t space = list->space == 0 ? 64 : 2 * list->space;
  slab_hit *hits = realloc(list->hits, space * sizeof *hits);
  if (hits == NULL) return false;
  list->hits = hits;
  list->space = space;
  return true;
}

/* Words of Embree's rays and hits of N, whose accessors C does not have. */
enum { RAY_TFAR = 8, RAY_ID = 10, HIT_NG = 0, HIT_U = 3, HIT_V = 4, HIT_PRIMITIVE = 5, HIT_GEOMETRY = 6 };

static float get_float(const void *words, unsigned int word, unsigned int n, unsigned int i) {
  return ((const float *)words)[word * n + i];
}

static uint32_t get_uint(const void *words, unsigned int word, unsigned int n, unsigned int i) {
  return ((const uint32_t *)words)[word * n + i];
}

/* Both filters reject every hit, so that the ray goes on. The ids of rays are their places in the packet. */
static void count_hits(const struct RTCFilterFunctionNArguments *a) {
  caster *c = (caster *)(void *)a->context;
  for (unsigned int i = 0; i < a->N; i++) {
    c->counts[get_uint(a->ray, RAY_ID, a->N, i)] += a->valid[i] != 0;
    a->valid[i] = 0;
  }
}

/* Also counts hits for which there is no memory: then the count exceeds the list's. */
static void keep_hit(caster *c, const void *ray, const void *hit, unsigned int n, unsigned int i) {
  const uint32_t id = get_uint(ray, RAY_ID, n, i);
  hit_list *list = &c->lists[id];
  c->counts[id]++;
  if (list->count == list->space && !list_grow(list)) return;
  list->hits[list->count++] = (slab_hit){
      .t = get_float(ray, RAY_TFAR, n, i),
      .normal = {get_float(hit, HIT_NG, n, i), get_float(hit, HIT_NG + 1, n, i), get_float(hit, HIT_NG + 2, n, i)},
      .u = get_float(hit, HIT_U, n, i),
      .v = get_float(hit, HIT_V, n, i),
      .primitive = get_uint(hit, HIT_PRIMITIVE, n, i),
      .geometry = get_uint(hit, HIT_GEOMETRY, n, i)};
}

static void keep_hits(const struct RTCFilterFunctionNArguments *a) {
  caster *c = (caster *)(void *)a->context;
  for (unsigned int i = 0; i < a->N; i++) {
    if (a->valid[i] != 0) keep_hit(c, a->ray, a->hit, a->N, i);
    a->valid[i] = 0;
  }
}

static void caster_open(caster *c, embree_call call, slab_query query) {
  *c = (caster){0};
  rtcInitRayQueryContext(&c->context);
  rtcInitIntersectArguments(&c->intersect);
  rtcInitOccludedArguments(&c->occluded);
  c->intersect.flags = c->occluded.flags =
      embree_call_is_packet(call) ? RTC_RAY_QUERY_FLAG_COHERENT : RTC_RAY_QUERY_FLAG_INCOHERENT;
  if (query != SLAB_COUNT && query != SLAB_ALL) return;
  c->intersect.flags |= RTC_RAY_QUERY_FLAG_INVOKE_ARGUMENT_FILTER;
  c->occluded.flags |= RTC_RAY_QUERY_FLAG_INVOKE_ARGUMENT_FILTER;
  c->intersect.filter = c->occluded.filter = query == SLAB_COUNT ? count_hits : keep_hits;
  c->intersect.context = c->occluded.context = &c->context;
}

static void caster_close(caster *c) {
  for (size_t k = 0; k < PACKET; k++) free(c->lists[k].hits);
}

/* ---- casting ---- */

typedef struct job {
  RTCScene scene;
  embree_call call;
  slab_query query;
  const slab_ray *rays;
  size_t n;
  void *results;    /* all: offsets; the one after a ray's gets the ray's number of hits */
  hit_list *chunks; /* all: where the hits of each chunk are kept */
  slab_hit *hits;   /* all: where they go in the end */
  atomic_size_t next;
  atomic_bool no_memory;
} job;

static bool hit_is_before(const slab_hit *a, const slab_hit *b) {
  if (a->t != b->t) return a->t < b->t;
  return a->geometry != b->geometry ? a->geometry < b->geometry : a->primitive < b->primitive;
}

/* Moves the hits of a ray to those of its chunk, in order: there are few, found from near to far by and large. */
static bool hits_move(hit_list *from, hit_list *to) {
  const size_t first = to->count;
  for (size_t i = 0; i < from->count; i++) {
    if (to->count == to->space && !list_grow(to)) return false;
    size_t place = to->count++;
    for (; place > first && hit_is_before(&from->hits[i], &to->hits[place - 1]); place--)
      to->hits[place] = to->hits[place - 1];
    to->hits[place] = from->hits[i];
  }
  from->count = 0;
  return true;
}

/* Writes the hits that the filters collected for these rays. */
static void write_collected(job *j, caster *c, size_t first, size_t count) {
  for (size_t k = 0; k < count; k++) {
    if (j->query == SLAB_COUNT) {
      ((uint32_t *)j->results)[first + k] = c->counts[k];
    } else {
      ((uint64_t *)j->results)[first + k + 1] = c->counts[k];
      if (c->lists[k].count < c->counts[k] || !hits_move(&c->lists[k], &j->chunks[first / CHUNK])) j->no_memory = true;
    }
    c->counts[k] = 0;
  }
}

static struct RTCRay ray_of(const slab_ray *r) {
  return (struct RTCRay){.org_x = r->origin[0],
                         .org_y = r->origin[1],
                         .org_z = r->origin[2],
                         .tnear = r->t_min,
                         .dir_x = r->direction[0],
                         .dir_y = r->direction[1],
                         .dir_z = r->direction[2],
                         .tfar = r->t_max,
                         .mask = UINT32_MAX};
}

/* With filters rtcOccluded1: it shows the filter the same hits as rtcIntersect1, and takes up to 1.16 times less. */
static void cast_single(job *j, caster *c, size_t i) {
  struct RTCRayHit r = {.ray = ray_of(&j->rays[i]),
                        .hit = {.primID = SLAB_MISS, .geomID = SLAB_MISS, .instID = {SLAB_MISS}}};
  if (j->query != SLAB_CLOSEST) {
    rtcOccluded1(j->scene, &r.ray, &c->occluded);
    if (j->query == SLAB_ANY)
      ((uint8_t *)j->results)[i] = r.ray.tfar < 0.0f;
    else
      write_collected(j, c, i, 1);
    return;
  }
  rtcIntersect1(j->scene, &r, &c->intersect);
  const int hit = r.hit.geomID != SLAB_MISS, is_placed = r.hit.instID[0] != SLAB_MISS;
  ((slab_hit *)j->results)[i] = (slab_hit){.t = hit ? r.ray.tfar : INFINITY,
                                           .normal = {r.hit.Ng_x, r.hit.Ng_y, r.hit.Ng_z},
                                           .u = r.hit.u,
                                           .v = r.hit.v,
                                           .primitive = r.hit.primID,
                                           .geometry = is_placed ? r.hit.instID[0] : r.hit.geomID};
}

static void load_packet(const job *j, size_t first, size_t count, struct RTCRayHit16 *p, int valid[PACKET]) {
  for (size_t k = 0; k < PACKET; k++) {
    const slab_ray *r = &j->rays[first + (k < count ? k : 0)];
    valid[k] = k < count ? -1 : 0;
    p->ray.org_x[k] = r->origin[0];
    p->ray.org_y[k] = r->origin[1];
    p->ray.org_z[k] = r->origin[2];
    p->ray.tnear[k] = r->t_min;
    p->ray.dir_x[k] = r->direction[0];
    p->ray.dir_y[k] = r->direction[1];
    p->ray.dir_z[k] = r->direction[2];
    p->ray.tfar[k] = r->t_max;
    p->ray.time[k] = 0.0f;
    p->ray.mask[k] = UINT32_MAX;
    p->ray.id[k] = (unsigned int)k;
    p->ray.flags[k] = 0;
    p->hit.geomID[k] = p->hit.primID[k] = p->hit.instID[0][k] = SLAB_MISS;
  }
}

/* With filters rtcIntersect16: rtcOccluded16 gave 0.7 % of the shadow rays at kitten.obj other counts. */
static void cast_packet(job *j, caster *c, size_t first, size_t count) {
  struct RTCRayHit16 p;
  _Alignas(64) int valid[PACKET];
  load_packet(j, first, count, &p, valid);
  if (j->query == SLAB_ANY) {
    rtcOccluded16(valid, j->scene, &p.ray, &c->occluded);
    for (size_t k = 0; k < count; k++) ((uint8_t *)j->results)[first + k] = p.ray.tfar[k] < 0.0f;
    return;
  }
  rtcIntersect16(valid, j->scene, &p, &c->intersect);
  if (j->query != SLAB_CLOSEST) {
    write_collected(j, c, first, count);
    return;
  }
  for (size_t k = 0; k < count; k++)
    ((slab_hit *)j->results)[first + k] =
        (slab_hit){.t = p.hit.geomID[k] != SLAB_MISS ? p.ray.tfar[k] : INFINITY,
                   .normal = {p.hit.Ng_x[k], p.hit.Ng_y[k], p.hit.Ng_z[k]},
                   .u = p.hit.u[k],
                   .v = p.hit.v[k],
                   .primitive = p.hit.primID[k],
                   .geometry = p.hit.instID[0][k] != SLAB_MISS ? p.hit.instID[0][k] : p.hit.geomID[k]};
}

unsigned int embree_flush(void) {
  const unsigned int modes = _mm_getcsr();
  _mm_setcsr(modes | _MM_FLUSH_ZERO_MASK | 0x0040u);
  return modes;
}

static void cast_chunks(void *argument) {
  job *j = argument;
  const unsigned int modes = embree_flush();
  caster c;
  caster_open(&c, j->call, j->query);
  for (size_t first; (first = atomic_fetch_add(&j->next, CHUNK)) < j->n;) {
    const size_t end = first + CHUNK < j->n ? first + CHUNK : j->n;
    if (embree_call_is_packet(j->call))
      for (size_t i = first; i < end; i += PACKET) cast_packet(j, &c, i, end - i < PACKET ? end - i : PACKET);
    else
      for (size_t i = first; i < end; i++) cast_single(j, &c, i);
  }
  caster_close(&c);
  _mm_setcsr(modes);
}

static RTCScene scene_for(const embree *e, embree_call call) { return call >= EMBREE_ROBUST ? e->robust : e->fast; }

static job job_of(const embree *e, embree_call call, slab_query query, const slab_ray *rays, size_t n, void *results) {
  return (job){.scene = scene_for(e, call), .call = call, .query = query, .rays = rays, .n = n, .results = results};
}

static bool run_threads(const embree *e, void (*function)(void *), void *argument) {
  if (threads_run(e->threads, function, argument)) return true;
  fprintf(stderr, "bench: the system refuses Embree its %u threads\n", e->threads);
  return false;
}

static bool run(const embree *e, job *j, void (*function)(void *)) {
  j->next = 0;
  return run_threads(e, function, j);
}

int embree_cast(embree *e, embree_call call, slab_query query, const slab_ray *rays, size_t n, void *results) {
  job j = job_of(e, call, query, rays, n, results);
  return run(e, &j, cast_chunks);
}

/* ---- rays that the loop itself makes ---- */

typedef struct sky_job {
  RTCScene scene;
  embree_call call;
  const float *points, *directions;
  size_t n, m;
  uint32_t *open;
  atomic_size_t next;
} sky_job;

static uint32_t open_single(const sky_job *j, caster *c, const float *o) {
  uint32_t open = 0;
  for (size_t i = 0; i < j->m; i++) {
    const float *d = j->directions + 3 * i;
    struct RTCRay r = ray_of(&(slab_ray){{o[0], o[1], o[2]}, 0.0f, {d[0], d[1], d[2]}, INFINITY});
    rtcOccluded1(j->scene, &r, &c->occluded);
    open += r.tfar >= 0.0f;
  }
  return open;
}

static uint32_t open_packets(const sky_job *j, caster *c, const float *o) {
  struct RTCRay16 r;
  _Alignas(64) int valid[PACKET];
  uint32_t open = 0;
  memset(&r, 0, sizeof r);
  for (size_t k = 0; k < PACKET; k++) r.org_x[k] = o[0], r.org_y[k] = o[1], r.org_z[k] = o[2], r.mask[k] = UINT32_MAX;
  for (size_t i = 0; i < j->m; i += PACKET) {
    for (size_t k = 0; k < PACKET; k++) {
      const float *d = j->directions + 3 * (i + k < j->m ? i + k : i);
      valid[k] = i + k < j->m ? -1 : 0;
      r.dir_x[k] = d[0], r.dir_y[k] = d[1], r.dir_z[k] = d[2], r.tfar[k] = INFINITY;
    }
    rtcOccluded16(valid, j->scene, &r, &c->occluded);
    for (size_t k = 0; k < PACKET && i + k < j->m; k++) open += r.tfar[k] >= 0.0f;
  }
  return open;
}

static void open_points(void *argument) {
  sky_job *j = argument;
  const unsigned int modes = embree_flush();
  caster c;
  caster_open(&c, j->call, SLAB_ANY);
  for (size_t i; (i = atomic_fetch_add(&j->next, 1)) < j->n;)
    j->open[i] =
        embree_call_is_packet(j->call) ? open_packets(j, &c, j->points + 3 * i) : open_single(j, &c, j->points + 3 * i);
  caster_close(&c);
  _mm_setcsr(modes);
}

int embree_open_rays(embree *e, embree_call call, const float *points, size_t n, const float *directions, size_t m,
                     uint32_t *open) {
  sky_job j = {.scene = scene_for(e, call),
               .call = call,
               .points = points,
               .directions = directions,
               .n = n,
               .m = m,
               .open = open};
  return run_threads(e, open_points, &j);
}

/* ---- all hits, ray after ray ---- */

static bool chunks_reserve(embree *e, size_t count) {
  if (count > e->chunk_count) {
    hit_list *chunks = realloc(e->chunks, count * sizeof *chunks);
    if (chunks == NULL) return false;
    memset(chunks + e->chunk_count, 0, (count - e->chunk_count) * sizeof *chunks);
    e->chunks = chunks;
    e->chunk_count = count;
  }
  for (size_t i = 0; i < count; i++) e->chunks[i].count = 0;
  return true;
}

static void copy_chunks(void *argument) {
  job *j = argument;
  for (size_t first; (first = atomic_fetch_add(&j->next, CHUNK)) < j->n;) {
    const hit_list *chunk = &j->chunks[first / CHUNK];
    if (chunk->count > 0)
      memcpy(j->hits + ((const uint64_t *)j->results)[first], chunk->hits, chunk->count * sizeof *chunk->hits);
  }
}

int embree_all(embree *e, embree_call call, const slab_ray *rays, size_t n, uint64_t *offsets, slab_hit *hits,
               uint64_t capacity) {
  job j = job_of(e, call, SLAB_ALL, rays, n, offsets);
  j.no_memory = !chunks_reserve(e, n / CHUNK + 1);
  j.chunks = e->chunks;
  j.hits = hits;
  if (!j.no_memory && !run(e, &j, cast_chunks)) return false;
  if (j.no_memory) {
    fprintf(stderr, "bench: no memory for the hits of %zu rays by Embree\n", n);
    return false;
  }
  offsets[0] = 0;
  for (size_t i = 0; i < n; i++) offsets[i + 1] += offsets[i];
  if (offsets[n] <= capacity) return run(e, &j, copy_chunks);
  fprintf(stderr, "bench: Embree has %llu hits where %llu fit\n", (unsigned long long)offsets[n],
          (unsigned long long)capacity);
  return false;
}
