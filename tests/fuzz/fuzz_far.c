/* Sequences of calls on a scene in double. The bytes choose calls and arguments, in any order, valid or not. Each call
 * must return the status that its place in the sequence requires. Each result must equal the CPU reference's, must not
 * be wrong by the oracle, and must be that of the scene packed and unpacked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "fuzz_bytes.h"

enum { CALLS_MAX = 40, EACH_MAX = 4, RAYS = 9, VALUES_MAX = 15, HITS_MAX = 2048 };

typedef struct player {
  fuzz_bytes bytes;
  slab_context *context;
  slab_scene *model, *scene;
  slab_shape kinds[CALLS_MAX];
  uint32_t counts[CALLS_MAX], count; /* of geometries, which are not instances */
  uint32_t instances;                /* ids of these */
  double base[3];                    /* most coordinates are near it */
  bool committed, has_origin;
  long done; /* calls that returned SLAB_OK */
} player;

static slab_status said(player *p, slab_status status) { return fuzz_said(&p->done, status); }

/* Mostly beside the base; or an extreme, or any bits. */
static double read_double(player *p, int axis) {
  static const double extremes[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 0x1p58, 0x1.8p58, -0x1p60, 1e300, 0x1p-1074};
  const uint32_t choice = fuzz_byte(&p->bytes);
  double x;
  uint64_t bits = 0;
  if (choice < 200) return (axis >= 0 ? p->base[axis] : 0.0) + (double)fuzz_number(&p->bytes);
  if (choice < 230) return extremes[choice % 10];
  for (int k = 0; k < 8; k++) bits = bits << 8 | fuzz_byte(&p->bytes);
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* A shape's numbers. */
static void read_shape(player *p, slab_shape kind, double *to) {
  static const size_t sizes[] = {4, 4, 6, 15, 9};
  for (size_t k = 0; k < sizes[kind]; k++) {
    const bool is_place = kind == SLAB_BOX || kind == SLAB_TRIANGLE || (kind != SLAB_PLANE && k < 3);
    to[k] = read_double(p, is_place ? (int)(k % 3) : -1);
  }
  for (size_t k = 6; kind == SLAB_OBB && k < 15; k++) to[k] = k % 4 == 2; /* else nearly all are refused */
}

typedef struct shapes {
  double values[EACH_MAX * VALUES_MAX];
} shapes;

static shapes read_shapes(player *p, slab_shape kind, uint32_t n) {
  static const size_t sizes[] = {4, 4, 6, 15, 9};
  shapes s = {{0.0}};
  for (uint32_t i = 0; i < n; i++) read_shape(p, kind, s.values + i * sizes[kind]);
  return s;
}

static slab_mesh mesh_of(const shapes *s, uint32_t n) {
  return (slab_mesh){.vertices64 = s->values, .vertex_count = 3 * n, .triangle_count = n};
}

static slab_status add_shapes(player *p, slab_shape kind, const shapes *s, uint32_t n) {
  const slab_geometry_options options = {.skip_invalid = 1};
  const void *v = s->values;
  const slab_mesh mesh = mesh_of(s, n);
  switch (kind) {
    case SLAB_PLANE:
      return slab_scene_add_planes64(p->scene, v, n, &options, NULL);
    case SLAB_SPHERE:
      return slab_scene_add_spheres64(p->scene, v, n, &options, NULL);
    case SLAB_BOX:
      return slab_scene_add_boxes64(p->scene, v, n, &options, NULL);
    case SLAB_OBB:
      return slab_scene_add_obbs64(p->scene, v, n, &options, NULL);
    case SLAB_TRIANGLE:
      break;
  }
  return slab_scene_add_mesh(p->scene, &mesh, &options, NULL);
}

static slab_status update_shapes(player *p, uint32_t id, slab_shape kind, const shapes *s, uint32_t n) {
  const void *v = s->values;
  const slab_mesh mesh = mesh_of(s, n);
  switch (kind) {
    case SLAB_PLANE:
      return slab_scene_update_planes64(p->scene, id, v, n);
    case SLAB_SPHERE:
      return slab_scene_update_spheres64(p->scene, id, v, n);
    case SLAB_BOX:
      return slab_scene_update_boxes64(p->scene, id, v, n);
    case SLAB_OBB:
      return slab_scene_update_obbs64(p->scene, id, v, n);
    case SLAB_TRIANGLE:
      break;
  }
  return slab_scene_update_mesh(p->scene, id, &mesh);
}

static void set_origin(player *p) {
  double origin[3];
  bool fits = true;
  for (int k = 0; k < 3; k++) {
    origin[k] = read_double(p, k);
    fits = fits && fabs(origin[k]) <= 0x1p58;
  }
  const slab_status status = said(p, slab_scene_origin(p->scene, origin));
  if (!fits) claim(status == SLAB_INVALID_ARGUMENT);
  if (fits && p->has_origin) claim(status == SLAB_INVALID_STATE);
  /* waiting geometries may lie too far from it: instances alone are refused then */
  if (fits && !p->has_origin) claim(status == SLAB_OK || (p->instances > 0 && status == SLAB_INVALID_ARGUMENT));
  p->has_origin = p->has_origin || status == SLAB_OK;
}

static void set_base(player *p) {
  static const double sizes[] = {0.0, 1e5, 5403210.25, -1e7, 0x1p40};
  for (int k = 0; k < 3; k++) p->base[k] = sizes[fuzz_byte(&p->bytes) % 5];
}

static void add(player *p) {
  const slab_shape kind = (slab_shape)(fuzz_byte(&p->bytes) % SLAB_SHAPE_COUNT);
  const uint32_t n = fuzz_byte(&p->bytes) % (EACH_MAX + 1);
  const shapes s = read_shapes(p, kind, n);
  if (p->instances > 0) return; /* ids of geometries stay their indices */
  claim(said(p, add_shapes(p, kind, &s, n)) == SLAB_OK);
  p->kinds[p->count] = kind;
  p->counts[p->count++] = n;
}

static void update(player *p) {
  const uint32_t choice = fuzz_byte(&p->bytes);
  if (p->count == 0) return;
  const uint32_t id = choice % p->count, n = p->counts[id];
  const shapes s = read_shapes(p, p->kinds[id], n);
  claim(said(p, update_shapes(p, id, p->kinds[id], &s, n)) == SLAB_OK); /* refused shapes are dropped */
}

static void place(player *p) {
  const uint32_t turn = fuzz_byte(&p->bytes);
  double m[12] = {0.0};
  bool fits = true;
  for (uint32_t r = 0; r < 3; r++) {
    m[4 * r + (r + turn) % 3] = turn & 4 ? -2.0 : 1.0;
    m[4 * r + 3] = read_double(p, (int)r);
    fits = fits && fabs(m[4 * r + 3]) < 0x1p57;
  }
  const slab_status status = turn & 8 && p->instances > 0
                                 ? slab_scene_update_instances64(p->scene, p->count, m, 1)
                                 : slab_scene_add_instances64(p->scene, p->model, m, 1, NULL, NULL);
  claim(said(p, status) == SLAB_OK || !fits);
  if (status == SLAB_OK) p->instances++;
}

/* An origin is refused that instances lie too far from; then none is taken. */
static void commit(player *p) {
  const uint32_t choice = fuzz_byte(&p->bytes);
  const slab_build_options options = {.tree = (slab_tree)(choice % 4), .update = (slab_update)(choice / 4 % 3)};
  const slab_status status = said(p, slab_scene_commit(p->scene, &options));
  claim(status == SLAB_OK || (p->instances > 0 && !p->committed && status == SLAB_INVALID_ARGUMENT));
  p->committed = p->committed || status == SLAB_OK;
  p->has_origin = p->has_origin || status == SLAB_OK;
}

/* ---- casts ---- */

/* An end of a range. A number near 0 becomes 0: the oracle takes the last places of subnormal t in instances for
 * wrong. */
static double read_end(player *p) {
  const double t = read_double(p, -1);
  return fabs(t) < 0x1p-60 ? 0.0 : t;
}

static slab_ray64 read_ray(player *p) {
  slab_ray64 r;
  for (int k = 0; k < 3; k++) {
    r.origin[k] = read_double(p, k);
    r.direction[k] = read_double(p, -1);
  }
  r.t_min = read_end(p);
  r.t_max = fuzz_byte(&p->bytes) < 128 ? INFINITY : read_end(p);
  return r;
}

typedef struct told {
  uint64_t offsets[RAYS + 1];
  _Alignas(8) unsigned char bytes[HITS_MAX * sizeof(slab_hit64)];
} told;

static slab_status cast_them(slab_scene *scene, slab_query query, const slab_source *source, slab_results *results,
                             told *to) {
  memset(to, 0, sizeof *to);
  const bool lists = query == SLAB_ALL;
  *results =
      (slab_results){.memory = to->bytes, .offsets = lists ? to->offsets : NULL, .capacity = lists ? HITS_MAX : 0};
  return slab_cast(scene, query, source, results, NULL);
}

static void cast(player *p) {
  static told first, second;
  const slab_query query = (slab_query)(fuzz_byte(&p->bytes) % SLAB_QUERY_COUNT);
  const uint32_t n = fuzz_byte(&p->bytes) % (RAYS + 1);
  slab_ray64 rays[RAYS];
  slab_check_report report;
  slab_results results;
  for (uint32_t i = 0; i < n; i++) rays[i] = read_ray(p);
  const slab_source source = {.rays64 = rays, .n = n};
  const slab_status status = said(p, cast_them(p->scene, query, &source, &results, &first));
  claim(status == (p->committed ? SLAB_OK : SLAB_INVALID_STATE));
  if (status != SLAB_OK) return;
  claim(slab_check_cast(p->scene, query, &source, &results, NULL, &report) == SLAB_OK);
  claim(report.mismatches == 0);
  if (report.oracle_wrong) fprintf(stderr, "%s query %d\n", report.text, (int)query);
  claim(report.oracle_wrong == 0);
  slab_scene *copy = fuzz_copy(&p->done, p->context, p->scene);
  claim(cast_them(copy, query, &source, &results, &second) == SLAB_OK);
  claim(memcmp(&first, &second, sizeof first) == 0);
  slab_scene_destroy(copy);
}

static void ask(player *p) {
  const uint32_t n = fuzz_byte(&p->bytes) % (RAYS + 1);
  double points[3 * RAYS];
  slab_closest_point64 found[RAYS];
  slab_check_report report;
  for (uint32_t i = 0; i < 3 * n; i++) points[i] = read_double(p, (int)(i % 3));
  const slab_status status = said(p, slab_closest_points64(p->scene, points, n, found, NULL));
  claim(status == (p->committed ? SLAB_OK : SLAB_INVALID_STATE));
  if (status != SLAB_OK) return;
  claim(slab_check_points64(p->scene, SLAB_CLOSEST_POINTS, points, n, found, NULL, &report) == SLAB_OK);
  claim(report.mismatches == 0); /* the oracle is too strict with u and v of edges that are seen from very far */
}

static void play(player *p) {
  static void (*const calls[16])(player *) = {set_origin, set_base, set_base, add,    add,  add,  add,  update,
                                              update,     place,    commit,   commit, cast, cast, cast, ask};
  calls[fuzz_byte(&p->bytes) % 16](p);
}

long fuzz_one(const uint8_t *data, size_t size) {
  static const slab_box64 box = {{9e6, -1, -1}, {9e6 + 1, 1, 1}};
  player p = {.bytes = fuzz_begin(data, size), .context = fuzz_context(size > 0 ? data[0] / 16 : 0)};
  claim(slab_scene_create(p.context, &p.model) == SLAB_OK && slab_scene_create(p.context, &p.scene) == SLAB_OK);
  claim(slab_scene_add_boxes64(p.model, &box, 1, NULL, NULL) == SLAB_OK);
  claim(slab_scene_commit(p.model, NULL) == SLAB_OK);
  for (int calls = 0; p.bytes.at < p.bytes.end && calls < CALLS_MAX; calls++) play(&p);
  slab_scene_destroy(p.scene);
  slab_scene_destroy(p.model);
  return p.done;
}
