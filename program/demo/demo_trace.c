#include "program/demo/demo.h"

#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "program/io/errors.h"
#include "program/io/progress.h"

/* ---- rays kept for the check ---- */

void demo_proof_keep(demo_proof *proof, size_t wanted, const slab_ray *rays, size_t n, const void *results,
                     const slab_primitive_id *skip) {
  static const slab_primitive_id none = {SLAB_MISS, SLAB_MISS};
  const size_t space = PROOF_RAYS - proof->count;
  size_t kept = wanted < n ? wanted : n;
  if (kept > space) kept = space;
  for (size_t i = 0; i < kept; i++) {
    const size_t from = (size_t)(((double)i + 0.5) * (double)n / (double)kept), to = proof->count++;
    proof->rays[to] = rays[from];
    proof->skip[to] = skip ? skip[from] : none;
    if (proof->query == SLAB_CLOSEST)
      proof->hits[to] = ((const slab_hit *)results)[from];
    else
      proof->occluded[to] = ((const uint8_t *)results)[from];
  }
}

slab_status demo_proof_check(const demo_proof *proof, slab_scene *scene, uint64_t *wrong) {
  const void *results = proof->query == SLAB_CLOSEST ? (const void *)proof->hits : (const void *)proof->occluded;
  const slab_cast_options options = {.skip = proof->skip};
  slab_check_report report;
  const slab_status status =
      slab_check(scene, proof->query, proof->rays, proof->count, results, NULL, &options, &report);
  if (status != SLAB_OK) return status;
  *wrong += report.mismatches + report.oracle_wrong;
  if (report.mismatches + report.oracle_wrong > 0) complain("of the rays checked, %s", report.text);
  return SLAB_OK;
}

/* ---- tracing ---- */

enum { EDGE_SAMPLES = 4 };
enum light { LIGHT_SUN = 1, LIGHT_SKY = 2 }; /* the light that arrives */

demo_trace demo_trace_begin(const demo_scene *scene, slab_scene *cast, uint32_t width, uint32_t height,
                            demo_proof *closest, demo_proof *any) {
  closest->query = SLAB_CLOSEST;
  any->query = SLAB_ANY;
  return (demo_trace){.scene = scene,
                      .cast = cast,
                      .width = width,
                      .height = height,
                      .closest = closest,
                      .any = any,
                      .casts = {{.what = "camera", .query = SLAB_CLOSEST, .checked = 250},
                                {.what = "edges", .query = SLAB_CLOSEST, .checked = 150},
                                {.what = "mirror", .query = SLAB_CLOSEST, .checked = 200},
                                {.what = "again", .query = SLAB_CLOSEST, .checked = 50},
                                {.what = "sun", .query = SLAB_ANY, .checked = 200},
                                {.what = "sky", .query = SLAB_ANY, .checked = 150}}};
}

void demo_trace_end(demo_trace *t) {
  free(t->rays);
  free(t->hits);
  free(t->lights);
  free(t->colors);
  free(t->edges);
  for (int i = 0; i < GENERATIONS - CAST_REFERENCE; i++) free(t->parents[i]);
}

/* ---- nodes ----------------------------------------------------------------- */

static int resize(void *array, size_t count, size_t size) {
  void **place = array, *resized = realloc(*place, count * size);
  if (resized != NULL) *place = resized;
  return resized != NULL;
}

/* Adds n nodes of a generation. If the arrays are too small, they grow to twice the nodes; usually once. */
static slab_status add_generation(demo_trace *t, int generation, size_t n) {
  const size_t count = t->starts[generation] + n;
  t->starts[generation + 1] = count;
  if (count <= t->space) return SLAB_OK;
  t->space = 2 * count;
  const int space = resize(&t->rays, t->space, sizeof *t->rays) && resize(&t->hits, t->space, sizeof *t->hits) &&
                    resize(&t->lights, t->space, 1) && resize(&t->colors, t->space, sizeof *t->colors);
  return space ? SLAB_OK : SLAB_OUT_OF_MEMORY;
}

typedef int node_test(const demo_trace *, size_t node);

enum { FIND_CHUNKS = 64, NODES_A_PIECE = 4096 };

static void share(const demo_trace *t, size_t n, pool_range *work, void *argument) {
  pool_loop(t->scene->threads, n, NODES_A_PIECE, work, argument);
}

typedef struct finding {
  const demo_trace *trace;
  node_test *passes;
  size_t begin, end, chunk;
  size_t *nodes, counts[FIND_CHUNKS]; /* each chunk has its part of `nodes` */
} finding;

static void find_chunk(void *argument, size_t c) {
  finding *f = argument;
  const size_t begin = f->begin + c * f->chunk;
  for (size_t i = begin; i < begin + f->chunk && i < f->end; i++)
    if (f->passes(f->trace, i)) f->nodes[c * f->chunk + f->counts[c]++] = i;
}

/* Finds the nodes begin .. end - 1 that pass a test, in order. The caller frees *found. */
static slab_status find(const demo_trace *t, size_t begin, size_t end, node_test *passes, size_t **found,
                        size_t *count) {
  const size_t chunk = (end - begin) / FIND_CHUNKS + 1;
  size_t *nodes = *found = malloc(FIND_CHUNKS * chunk * sizeof *nodes);
  *count = 0;
  if (nodes == NULL) return SLAB_OUT_OF_MEMORY;
  finding f = {.trace = t, .passes = passes, .begin = begin, .end = end, .chunk = chunk, .nodes = nodes};
  pool_run(t->scene->threads, FIND_CHUNKS, find_chunk, &f);
  for (size_t c = 0; c < FIND_CHUNKS; c++) {
    memmove(nodes + *count, nodes + c * chunk, f.counts[c] * sizeof *nodes);
    *count += f.counts[c];
  }
  return SLAB_OK;
}

/* ---- casting --------------------------------------------------------------- */

static slab_status call(const demo_trace *t, slab_query query, const slab_ray *rays, size_t n, void *results,
                        const slab_cast_options *options) {
  return query == SLAB_CLOSEST ? slab_closest(t->cast, rays, n, results, options)
                               : slab_any(t->cast, rays, n, results, options);
}

/* skip: the surface that each ray leaves, or NULL. */
static slab_status run_cast(demo_trace *t, int number, const slab_ray *rays, size_t n, void *results,
                            const slab_primitive_id *skip) {
  demo_cast *c = &t->casts[number];
  progress line = progress_begin("casting", "rays", 0, n);
  const slab_cast_options options = {.skip = skip, .progress = progress_of_cast, .user = &line};
  const double begin = seconds_now();
  const slab_status status = call(t, c->query, rays, n, results, &options);
  c->seconds = seconds_now() - begin;
  c->rays = n;
  progress_end(&line);
  if (status == SLAB_OK)
    demo_proof_keep(c->query == SLAB_CLOSEST ? t->closest : t->any, c->checked, rays, n, results, skip);
  return status;
}

/* A loop over nodes of a trace, from `begin` on. */
typedef struct nodes_job {
  demo_trace *trace;
  size_t begin;
  const size_t *nodes;     /* those that rays leave */
  slab_ray *rays;          /* that leave them */
  slab_primitive_id *skip; /* of these rays */
  int is_sun;
} nodes_job;

static void smooth_some(void *argument, size_t first, size_t end) {
  const nodes_job *j = argument;
  for (size_t i = j->begin + first; i < j->begin + end; i++) {
    j->trace->lights[i] = 0;
    demo_smooth(j->trace->scene, &j->trace->rays[i], &j->trace->hits[i]);
  }
}

static slab_status cast_generation(demo_trace *t, int generation, const slab_primitive_id *skip) {
  const size_t begin = t->starts[generation], end = t->starts[generation + 1];
  const slab_status status = run_cast(t, generation, t->rays + begin, end - begin, t->hits + begin, skip);
  if (status != SLAB_OK) return status;
  nodes_job job = {.trace = t, .begin = begin};
  share(t, end - begin, smooth_some, &job);
  return SLAB_OK;
}

/* ---- camera rays ----------------------------------------------------------- */

static void look_at_some(void *argument, size_t first, size_t end) {
  demo_trace *t = argument;
  for (size_t i = first; i < end; i++)
    t->rays[i] =
        slab_camera_ray(&t->scene->camera, (uint32_t)(i % t->width), (uint32_t)(i / t->width), t->width, t->height);
}

static slab_status cast_camera(demo_trace *t) {
  const slab_status status = add_generation(t, CAST_CAMERA, (size_t)t->width * t->height);
  if (status != SLAB_OK) return status;
  share(t, (size_t)t->width * t->height, look_at_some, t);
  return cast_generation(t, CAST_CAMERA, NULL);
}

/* Whether two neighbouring pixels show different things. On the land: whether one hill is in front of another. */
static int differ(const slab_hit *a, const slab_hit *b) {
  if (a->geometry != b->geometry) return 1;
  if (a->geometry == DEMO_LAND) return fabsf(a->t - b->t) > 0.05f * (a->t + b->t);
  if (a->geometry == DEMO_WATER || a->geometry == SLAB_MISS) return 0;
  return a->primitive != b->primitive || a->u != b->u;
}

static int is_on_edge(const demo_trace *t, size_t pixel) {
  const slab_hit *hit = &t->hits[pixel];
  const uint32_t x = (uint32_t)(pixel % t->width), y = (uint32_t)(pixel / t->width);
  return (x > 0 && differ(hit, hit - 1)) || (x + 1 < t->width && differ(hit, hit + 1)) ||
         (y > 0 && differ(hit, hit - t->width)) || (y + 1 < t->height && differ(hit, hit + t->width));
}

/* Four more samples for every pixel on an edge: points of a 4 x 4 grid in the pixel that share no row or column. */
static void look_at_edges(void *argument, size_t first, size_t end) {
  static const uint32_t places[EDGE_SAMPLES][2] = {{1, 0}, {3, 1}, {0, 2}, {2, 3}};
  demo_trace *t = argument;
  slab_ray *rays = t->rays + t->starts[CAST_EDGES];
  for (size_t k = first; k < end; k++) {
    const size_t pixel = t->edges[k / EDGE_SAMPLES];
    const uint32_t x = (uint32_t)(pixel % t->width), y = (uint32_t)(pixel / t->width);
    const uint32_t *place = places[k % EDGE_SAMPLES];
    rays[k] = slab_camera_ray(&t->scene->camera, 4 * x + place[0], 4 * y + place[1], 4 * t->width, 4 * t->height);
  }
}

static slab_status cast_edges(demo_trace *t) {
  size_t edges = 0;
  slab_status status = find(t, 0, t->starts[CAST_EDGES], is_on_edge, &t->edges, &edges);
  if (status == SLAB_OK) status = add_generation(t, CAST_EDGES, EDGE_SAMPLES * edges);
  if (status != SLAB_OK) return status;
  share(t, EDGE_SAMPLES * edges, look_at_edges, t);
  return cast_generation(t, CAST_EDGES, NULL);
}

/* ---- reflections ----------------------------------------------------------- */

static slab_primitive_id id_of(const slab_hit *hit) { return (slab_primitive_id){hit->primitive, hit->geometry}; }

static int is_mirror(const demo_trace *t, size_t node) {
  return demo_is_hit(&t->hits[node]) && demo_is_polished(&t->hits[node]);
}

static void reflect_some(void *argument, size_t first, size_t end) {
  const nodes_job *j = argument;
  const demo_trace *t = j->trace;
  for (size_t k = first; k < end; k++) {
    const size_t parent = j->nodes[k];
    j->rays[k] = demo_mirror_ray(&t->rays[parent], &t->hits[parent]);
    j->skip[k] = id_of(&t->hits[parent]);
  }
}

/* Casts the reflections of the nodes from `begin` to the start of the generation. */
static slab_status cast_reference(demo_trace *t, int generation, size_t begin) {
  const size_t end = t->starts[generation];
  size_t **parents_of_generation = &t->parents[generation - CAST_REFERENCE], n = 0;
  slab_status status = find(t, begin, end, is_mirror, parents_of_generation, &n);
  slab_primitive_id *skip = malloc(n * sizeof *skip + 1);
  if (status == SLAB_OK) status = skip ? add_generation(t, generation, n) : SLAB_OUT_OF_MEMORY;
  if (status == SLAB_OK) {
    nodes_job job = {.trace = t, .nodes = *parents_of_generation, .rays = t->rays + end, .skip = skip};
    share(t, n, reflect_some, &job);
    status = cast_generation(t, generation, skip);
  }
  free(skip);
  return status;
}

/* ---- light ----------------------------------------------------------------- */

static int takes_light(const demo_trace *t, size_t node) {
  return demo_is_hit(&t->hits[node]) && !demo_is_polished(&t->hits[node]);
}

/* Samples at edges use the sun and sky of pixel centres. */
static int takes_sun(const demo_trace *t, size_t node) {
  const int here = node < t->starts[CAST_EDGES] || node >= t->starts[CAST_REFERENCE];
  return here && takes_light(t, node) && demo_faces_sun(&t->hits[node]);
}

/* Which of the 16 directions a pixel uses: every 4 x 4 square of pixels has all of them. */
static uint32_t pattern_of(const demo_trace *t, size_t i) {
  if (i >= t->starts[CAST_EDGES]) return 0;
  const uint32_t pixel = (uint32_t)i;
  return pixel % t->width % 4 + 4 * (pixel / t->width % 4);
}

/* Light rays that start at nodes. */
typedef struct departure {
  size_t count, *nodes;
  slab_ray *rays;
  slab_primitive_id *skip;
  uint8_t *occluded;
} departure;

static void depart_some(void *argument, size_t first, size_t end) {
  const nodes_job *j = argument;
  const demo_trace *t = j->trace;
  for (size_t k = first; k < end; k++) {
    const size_t i = j->nodes[k];
    const uint32_t pattern = pattern_of(t, i);
    j->rays[k] =
        j->is_sun ? demo_sun_ray(&t->rays[i], &t->hits[i], pattern) : demo_sky_ray(&t->rays[i], &t->hits[i], pattern);
    j->skip[k] = id_of(&t->hits[i]);
  }
}

static slab_status depart(demo_trace *t, int number, departure *out) {
  const int sun = number == CAST_SUN;
  const size_t end = t->starts[sun ? GENERATIONS : CAST_EDGES]; /* reflections cast no sky rays */
  const slab_status status = find(t, 0, end, sun ? takes_sun : takes_light, &out->nodes, &out->count);
  if (status != SLAB_OK) return status;
  out->rays = malloc(out->count * sizeof *out->rays + 1);
  out->skip = malloc(out->count * sizeof *out->skip + 1);
  out->occluded = malloc(out->count + 1);
  if (!out->rays || !out->skip || !out->occluded) return SLAB_OUT_OF_MEMORY;
  nodes_job job = {.trace = t, .nodes = out->nodes, .rays = out->rays, .skip = out->skip, .is_sun = sun};
  share(t, out->count, depart_some, &job);
  return SLAB_OK;
}

static slab_status cast_light(demo_trace *t, int number, uint8_t light) {
  departure from = {0};
  slab_status status = depart(t, number, &from);
  if (status == SLAB_OK) status = run_cast(t, number, from.rays, from.count, from.occluded, from.skip);
  for (size_t k = 0; k < from.count && status == SLAB_OK; k++)
    if (!from.occluded[k]) t->lights[from.nodes[k]] |= light;
  free(from.nodes);
  free(from.rays);
  free(from.skip);
  free(from.occluded);
  return status;
}

slab_status demo_trace_run(demo_trace *t) {
  slab_status status = cast_camera(t);
  if (status == SLAB_OK) status = cast_edges(t);
  if (status == SLAB_OK) status = cast_reference(t, CAST_REFERENCE, 0);
  if (status == SLAB_OK) status = cast_reference(t, CAST_AGAIN, t->starts[CAST_REFERENCE]);
  if (status == SLAB_OK) status = cast_light(t, CAST_SUN, LIGHT_SUN);
  if (status == SLAB_OK) status = cast_light(t, CAST_SKY, LIGHT_SKY);
  return status;
}

/* ---- the picture ----------------------------------------------------------- */

typedef struct arrived {
  float sun, sky; /* shares of the light */
} arrived;

static int is_alike(const demo_trace *t, size_t a, size_t b) {
  const slab_hit *x = &t->hits[a], *y = &t->hits[b];
  return x->geometry == y->geometry && fabsf(x->t - y->t) < 0.03f * x->t &&
         vec_dot(vec_of(x->normal), vec_of(y->normal)) > 0.8f;
}

/* The mean over the 4 x 4 square of pixels around `pixel`, over those that show a surface like node i. If there are
 * none, the node is at the bottom of a gap and gets little light. */
static arrived gather(const demo_trace *t, size_t i, size_t pixel) {
  const int64_t width = t->width, height = t->height;
  const int64_t x0 = (int64_t)pixel % width - 1, y0 = (int64_t)pixel / width - 1;
  uint32_t sun = 0, sky = 0, count = 0;
  for (int64_t y = y0 > 0 ? y0 : 0; y < y0 + 4 && y < height; y++)
    for (int64_t x = x0 > 0 ? x0 : 0; x < x0 + 4 && x < width; x++) {
      const size_t k = (size_t)(y * width + x);
      if (!is_alike(t, k, i)) continue;
      sun += (t->lights[k] & LIGHT_SUN) != 0;
      sky += (t->lights[k] & LIGHT_SKY) != 0;
      count++;
    }
  if (count == 0) return (arrived){0.0f, 0.2f};
  return (arrived){(float)sun / (float)count, (float)sky / (float)count};
}

static arrived light_of(const demo_trace *t, size_t i) {
  if (demo_is_polished(&t->hits[i])) return (arrived){0.0f, 0.0f};
  if (i >= t->starts[CAST_REFERENCE]) return (arrived){t->lights[i] & LIGHT_SUN ? 1.0f : 0.0f, 0.75f};
  const size_t edges = t->starts[CAST_EDGES];
  return gather(t, i, i < edges ? i : t->edges[(i - edges) / EDGE_SAMPLES]);
}

/* Polished nodes already hold the colour of their reflection. */
static void shade_some(void *argument, size_t first, size_t end) {
  const nodes_job *j = argument;
  demo_trace *t = j->trace;
  const size_t begin = j->begin, *parents = j->nodes;
  for (size_t i = begin + first; i < begin + end; i++) {
    if (!demo_is_hit(&t->hits[i])) {
      t->colors[i] = demo_sky(t->scene, &t->rays[i]);
    } else {
      const arrived light = light_of(t, i);
      const vec3 reflected = demo_is_polished(&t->hits[i]) ? t->colors[i] : vec(0.0f, 0.0f, 0.0f);
      t->colors[i] = demo_shade(t->scene, &t->rays[i], &t->hits[i], light.sun, light.sky, reflected);
    }
    if (parents != NULL) t->colors[parents[i - begin]] = t->colors[i];
  }
}

/* Colours of a generation's nodes. */
static void shade_generation(demo_trace *t, int generation) {
  const size_t begin = t->starts[generation], end = t->starts[generation + 1];
  nodes_job job = {.trace = t,
                   .begin = begin,
                   .nodes = generation < CAST_REFERENCE ? NULL : t->parents[generation - CAST_REFERENCE]};
  share(t, end - begin, shade_some, &job);
}

/* Mirrors of the last generation show the sky. */
static void begin_colors(demo_trace *t) {
  for (size_t i = t->starts[CAST_AGAIN]; i < t->starts[CAST_AGAIN + 1]; i++) {
    if (!demo_is_hit(&t->hits[i]) || !demo_is_polished(&t->hits[i])) continue;
    const slab_ray ray = demo_mirror_ray(&t->rays[i], &t->hits[i]);
    t->colors[i] = demo_sky(t->scene, &ray);
  }
}

/* A pixel on an edge gets the mean of its samples. */
static void mix_some(void *argument, size_t first, size_t end) {
  demo_trace *t = argument;
  for (size_t k = first; k < end; k++) {
    vec3 sum = t->colors[t->edges[k]];
    for (size_t i = 0; i < EDGE_SAMPLES; i++)
      sum = vec_add(sum, t->colors[t->starts[CAST_EDGES] + EDGE_SAMPLES * k + i]);
    t->colors[t->edges[k]] = vec_scale(sum, 1.0f / (EDGE_SAMPLES + 1));
  }
}

typedef struct development {
  const vec3 *colors;
  uint8_t *pixels;
} development;

static void develop_some(void *argument, size_t first, size_t end) {
  const development *d = argument;
  for (size_t i = first; i < end; i++) demo_develop(d->colors[i], d->pixels + 3 * i);
}

void demo_trace_paint(demo_trace *t, uint8_t *pixels) {
  const size_t edges = (t->starts[CAST_REFERENCE] - t->starts[CAST_EDGES]) / EDGE_SAMPLES;
  begin_colors(t);
  for (int generation = CAST_AGAIN; generation >= CAST_CAMERA; generation--) shade_generation(t, generation);
  share(t, edges, mix_some, t);
  development d = {t->colors, pixels};
  share(t, t->starts[CAST_EDGES], develop_some, &d);
}
