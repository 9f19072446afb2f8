/* Casts rays on the processor, in the caller's arrays. The threads of the pool take pieces of a chunk's rays one after
 * the other. All kernels of a piece run on one thread, while its rays and results are in the cache. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/pool.h"
#include "base/status.h"
#include "data/scene_memory.h"
#include "device/context.h"
#include "device/tuning.h"
#include "maths/primitive.h"
#include "native/learn.h"
#include "native/native.h"
#include "native/tiles.h"
#include "os/clock.h"
#include "shapes/primitive.h"
#include "work/chunk_memory.h"

/* Rays of a piece are a multiple of this: packets and attributes take as many at once, or a half or quarter of it. */
#define PIECE_UNIT 32u
/* Rays are interleaved from this number on: 16 take 0.7 of the time (kitten.obj), two are as fast alone. */
#define INTERLEAVED_LEAST 3u
_Static_assert(ATTRIBUTES_WAIT(INTERLEAVED_LEAST), "interleaved kernels alone leave all attributes of hits");
/* Lanes of the widest level. */
#define LANES_MOST 16
/* Rays of the smallest packets. */
#define LANES_LEAST 8
/* Rays of a piece in a BVH at most. The last of them have ever fewer walkers beside them. */
#define PIECE_MOST 256u
/* Rays of a piece at most where they are gathered in tiles. */
#define TILED_MOST (2 * PIECE_MOST)
/* Pieces for each thread at least, so that none waits long for the last one. */
#define PIECES_A_THREAD 8u

/* The variant for rays with masks, worlds and hits to begin after of their own. */
static const native_variant *own_variant_of(const device_scene *on, native_program program, slab_query asked) {
  const native_device *n = on->device->opened;
  const bool instances = on->scene->has_instances, triangles = on->scene->kinds == 1u << SLAB_TRIANGLE;
  const native_variant *v =
      instances && triangles ? n->of[program][PROGRAM_QUERY(asked)][KINDS_own_instanced_triangles] : NULL;
  return v != NULL ? v : n->of[program][QUERY_TOLD][instances ? KINDS_own_instances : KINDS_own];
}

/* How the pieces of a chunk are cast: by which kernels. */
typedef struct piece_plan {
  const native_variant *flat;   /* of small scenes: all primitives are tested, and the others are not used; or NULL */
  const native_variant *packet; /* NULL: no packets */
  native_wide *cast_rays;       /* rays that packets have left, or all rays */
} piece_plan;

typedef struct native_flight flight;

/* Memory that stays for later chunks, and grows. */
typedef struct kept_space {
  void *bytes;
  size_t size;
} kept_space;

static slab_status keep_space(kept_space *space, size_t size, const char *what) {
  if (size <= space->size) return SLAB_OK;
  free(space->bytes);
  space->bytes = malloc(size);
  space->size = space->bytes != NULL ? size : 0;
  return space->bytes != NULL ? SLAB_OK : fail_memory(size, what);
}

/* A chunk between its begin and its end, and the arguments of its kernels. */
struct native_flight {
  flight *next; /* of idle ones */
  const chunk *of;
  const device_scene *on;
  const native_scene *scene, *beside; /* beside: for TRAVERSAL_FLAT; NULL where nothing chooses that */
  const native_variant *flat, *compressed, *attributes; /* NULL: not used */
  const native_variant *own;                            /* of a wide BVH, where `has_own`; else NULL */
  bool has_own; /* rays have masks, worlds or hits to begin after of their own: the variants above know them */
  piece_plan plans[1 + CHUNK_SAMPLES]; /* the chunk's, and those of its samples */
  uint32_t plan_count;                 /* 0: a scene without traversals */
  const slab_ray *rays;                /* NULL: pieces of tiles make theirs, of `set` */
  set_rays set;                        /* of the chunk; where rows have an order its columns are in it */
  const far_cast *far;                 /* rays of the world, which pieces make, and whose results they put; or NULL */
  kept_space made;                     /* the chunk's rays of a set, where they are made at once */
  kept_space summed;                   /* results that are summed */
  void *results;
  size_t result_size;
  const slab_primitive_id *skips;
  const uint32_t *masks, *worlds;
  const slab_short_hit *after;
  cast_uniforms uniforms;
  chunk_memory memory;
  kept_space fallback; /* a byte for each packet */
  bool interleaved;
  bool lists; /* attributes are those of listed hits */
  bool tiled; /* pieces are those of tiles, else as many rays as uniforms.rays_each that follow each other */
  tiling tiles;
  uint32_t invalid;
  child_order order;
  recent_ratio recent[CHUNK_SAMPLES];
  atomic_uint_fast64_t sampled[CHUNK_SAMPLES][2]; /* nanoseconds: of pieces beside a sample's, and of its own */
};

double native_walkers(const device_scene *on) {
  if (!on->scene->has_bvh || on->state->beside != NULL) return 1.0;
  return (device_scene_has_traversals(on) ? (double)LISTS_MOST : 1.0) / PIECE_MOST;
}

/* ---- the kernels ---- */

/* The arguments of the kernels for a piece. Its rays are those from `first` to `end`, or at these positions in casting
 * order. */
typedef struct piece {
  size_t number; /* of the work-item that casts them */
  uint32_t first, end;
  const slab_ray *rays;
  void *results;
  const slab_primitive_id *skips;
  uint8_t *fallback;
  cast_uniforms uniforms;
} piece;

/* A piece of rays that follow each other, in the caller's arrays. */
static piece piece_of(const flight *f, size_t number) {
  const uint32_t each = f->uniforms.rays_each, first = (uint32_t)number * each, rest = f->uniforms.rays - first;
  return (piece){
      number,     first, first + (rest < each ? rest : each), f->rays, f->results, f->skips, f->fallback.bytes,
      f->uniforms};
}

static uint32_t rays_of_piece(const flight *f, size_t number) {
  if (f->tiled) {
    const tile_span span = tiling_span(&f->tiles, number);
    return tile_span_rays(&span);
  }
  const piece p = piece_of(f, number);
  return p.end - p.first;
}

/* item: of the kernel's launch. */
static void run_wide(flight *f, native_wide *kernel, size_t item, const piece *p, const cast_uniforms *uniforms) {
  kernel(item, p->rays, p->results, f->memory.offsets, f->scene->table, f->scene->blocks, p->skips, &f->invalid,
         *uniforms, f->scene->nodes, p->fallback, f->memory.sorted);
}

/* Hits whose attributes are computed at once: the rays, then the places of the hits. */
typedef struct listed {
  uint32_t of[2 * LANES_MOST], count;
} listed;

static void run_attributes_of_listed(flight *f, const piece *p, cast_uniforms *uniforms, listed *hits) {
  uniforms->rays = hits->count;
  f->attributes->kernel.attributes(0, p->rays, p->results, hits->of, f->scene->table, f->scene->blocks, p->skips, NULL,
                                   *uniforms, f->scene->nodes, p->fallback, NULL);
  hits->count = 0;
}

/* Whether a packet of so many rays (0: none) has finished ray n. */
static bool is_finished(const piece *p, uint32_t n, uint32_t packet) {
  return packet != 0 && (p->fallback[n / packet] & PACKET_LEFT) == 0;
}

/* The hits of a group of rays, as bits. */
static uint32_t hits_of_group(const piece *p, uint32_t first, uint32_t count) {
  const hit_entry *hits = (const hit_entry *)((const uint32_t *)p->results + p->uniforms.at[AT_RESULTS]) + first;
  uint32_t bits = 0;
  for (uint32_t k = 0; k < count; k++) bits |= (uint32_t)(hits[k].deferred.global_id < SLAB_INVALID) << k;
  return bits;
}

/* The attributes of a piece's hits, where `packet` is not 0 of those alone that packets of so many rays have left.
 * Where few rays of a group have hit, they wait until as many are together: of diffuse rays at kitten.obj one in twenty
 * has. */
static void run_attributes_of(flight *f, const piece *p, uint32_t packet) {
  const uint32_t lanes = f->on->device->info.lane_width;
  cast_uniforms uniforms = p->uniforms;
  uniforms.packet = 0;
  cast_uniforms few = uniforms;
  listed hits = {.count = 0};
  for (uint32_t n = p->first; n < p->end; n += lanes) {
    if (is_finished(p, n, packet)) continue;
    uint32_t bits = hits_of_group(p, n, p->end - n < lanes ? p->end - n : lanes);
    if ((uint32_t)__builtin_popcount(bits) > lanes / 2) {
      run_wide(f, f->attributes->kernel.attributes, n / lanes, p, &uniforms);
      continue;
    }
    for (; bits != 0; bits &= bits - 1) {
      const uint32_t ray = n + (uint32_t)__builtin_ctz(bits);
      hits.of[hits.count] = hits.of[lanes + hits.count] = ray;
      if (++hits.count == lanes) run_attributes_of_listed(f, p, &few, &hits);
    }
  }
  if (hits.count > 0) run_attributes_of_listed(f, p, &few, &hits);
}

static void run_attributes(void *argument, size_t number) {
  flight *f = argument;
  const piece p = piece_of(f, number);
  run_attributes_of(f, &p, 0); /* sorted rays are in no packets */
}

/* Computes the attributes of the hits that a piece has listed, while they and the blocks are in the cache. packet: as
 * in run_attributes_of. */
static void run_attributes_of_lists(flight *f, const piece *p, uint32_t packet) {
  const uint32_t lanes = f->on->device->info.lane_width;
  const hit_list *lists = f->memory.batch != NULL ? batch_lists(f->memory.batch) : NULL;
  cast_uniforms uniforms = p->uniforms;
  listed hits = {.count = 0};
  uniforms.packet = 0;
  for (uint32_t n = p->first; n < p->end; n++) {
    if (is_finished(p, n, packet)) continue;
    const uint32_t ray = f->memory.sorted != NULL ? f->memory.sorted[n] : n;
    const hit_list list = lists != NULL
                              ? lists[ray]
                              : (hit_list){f->memory.offsets[ray], f->memory.offsets[ray + 1] - f->memory.offsets[ray]};
    for (uint32_t k = 0; k < list.count && list.begin != LIST_LOST; k++) {
      hits.of[hits.count] = ray;
      hits.of[lanes + hits.count++] = list.begin + k;
      if (hits.count == lanes) run_attributes_of_listed(f, p, &uniforms, &hits);
    }
  }
  if (hits.count > 0) run_attributes_of_listed(f, p, &uniforms, &hits);
}

/* Casts a piece in packets. Whether these have left any of its rays. */
static bool run_packets(flight *f, const native_variant *packet, const piece *p) {
  const uint32_t packets = (p->end - p->first + packet->lanes - 1) / packet->lanes;
  const uint8_t *told = p->fallback + p->first / packet->lanes;
  cast_uniforms uniforms = p->uniforms;
  uint32_t left = 0, steps = 0;
  if (packet->query == SLAB_ANY) uniforms.farthest = learn_order_farthest(&f->order);
  run_wide(f, packet->kernel.packet, p->number, p, &uniforms);
  for (uint32_t i = 0; i < packets; i++) {
    left |= told[i] & PACKET_LEFT;
    steps += PACKET_STEPS(told[i]);
  }
  if (packet->query == SLAB_ANY) learn_order(&f->order, uniforms.farthest, steps, packets);
  return left != 0;
}

/* As many rays at a time as the kernel takes. It computes attributes too. */
static void run_flat(flight *f, const native_variant *flat, const piece *p) {
  cast_uniforms uniforms = p->uniforms;
  uniforms.rays_each = PIECE_UNIT;
  for (uint32_t n = p->first; n < p->end; n += PIECE_UNIT)
    flat->kernel.flat(n / PIECE_UNIT, p->rays, p->results, f->memory.offsets, f->beside->table, f->beside->blocks,
                      p->skips, &f->invalid, uniforms);
}

static void run_plan(flight *f, const piece_plan *plan, piece *p) {
  if (plan->flat != NULL) {
    run_flat(f, plan->flat, p);
    return;
  }
  if (plan->packet == NULL) p->uniforms.packet = 0;
  const bool left = plan->packet == NULL || run_packets(f, plan->packet, p);
  if (left) run_wide(f, plan->cast_rays, p->number, p, &p->uniforms);
  const bool finished = plan->packet != NULL && (f->lists || NATIVE_PACKETS_FINISH(plan->packet->lanes));
  const uint32_t packet = finished ? p->uniforms.packet : 0;
  if (f->attributes == NULL || (finished && !left)) return;
  /* results of sorted rays are scattered over all pieces, so their attributes wait for the last of these */
  if (f->lists)
    run_attributes_of_lists(f, p, packet);
  else if (f->memory.sorted == NULL)
    run_attributes_of(f, p, packet);
}

static uint64_t thread_nanoseconds(void) { return (uint64_t)(1e9 * seconds_of_thread()); }

/* Which sample a piece counts for, as its own or as the one beside it; CHUNK_SAMPLES: none. Each sample has places of
 * its own. */
static int sample_of(const flight *f, size_t number, bool *own) {
  const chunk_sample *samples = f->of->samples;
  for (int step = 0; step < 2; step++)
    for (int i = 0; i < CHUNK_SAMPLES; i++) {
      *own = step == 0;
      if (samples[i].each != 0 && number >= (size_t)step && (number - (size_t)step) % samples[i].each == samples[i].at)
        return i;
    }
  return CHUNK_SAMPLES;
}

/* Casts a piece, and takes the time where it counts for a sample. */
static void run_planned(flight *f, size_t number, piece *p) {
  bool own;
  const int i = f->of->samples[0].each == 0 ? CHUNK_SAMPLES : sample_of(f, number, &own);
  if (i == CHUNK_SAMPLES) {
    const uint32_t samples = f->plan_count - 1, fastest = learn_recent_fastest(f->recent, samples);
    run_plan(f, &f->plans[fastest == samples ? 0 : 1 + fastest], p);
    return;
  }
  const uint64_t begun = thread_nanoseconds();
  run_plan(f, &f->plans[own ? 1 + i : 0], p);
  const uint64_t taken = thread_nanoseconds() - begun;
  atomic_fetch_add_explicit(&f->sampled[i][own], taken, memory_order_relaxed);
  learn_recent(&f->recent[i], own, taken, p->end - p->first);
}

/* A piece's own arrays, where its rays are gathered. */
typedef struct piece_arrays {
  slab_ray rays[TILED_MOST];
  double begin[TILED_MOST + 3], unit[TILED_MOST + 3]; /* of rays of the world, which are made four at a time */
  union {
    hit_entry hits[TILED_MOST];
    slab_interval intervals[TILED_MOST];
  } results;
  slab_primitive_id skips[TILED_MOST];
  uint8_t fallback[TILED_MOST / LANES_LEAST];
} piece_arrays;

/* A piece of so many rays, in arrays of its own. */
static piece piece_alone(const flight *f, uint32_t rays, piece_arrays *own) {
  piece p = {0, 0, rays, own->rays, &own->results, f->skips == NULL ? NULL : own->skips, own->fallback, f->uniforms};
  p.uniforms.rays = rays;
  p.uniforms.rays_each = (rays + PIECE_UNIT - 1) / PIECE_UNIT * PIECE_UNIT;
  return p;
}

static native_rays *rays_kernel(const device *d) {
  const native_device *opened = d->opened;
  return opened->of[NATIVE_RAYS][SLAB_CLOSEST][KINDS_all]->kernel.rays;
}

/* Rays that a piece makes: where the next run goes. */
typedef struct made_piece {
  const set_rays *set;
  native_rays *kernel;
  slab_ray *rays;
} made_piece;

static void make_run(void *user, uint32_t first, uint32_t rays) {
  made_piece *made = user;
  const set_rays *s = made->set;
  const uint64_t at = s->first + first;
  made->kernel(0, s->of_rows, s->normals, s->of_columns, made->rays, s->set, (uint32_t)(at / s->set.columns),
               (uint32_t)(at % s->set.columns), rays, rays);
  made->rays += rays;
}

static void run_tiled(flight *f, size_t number) {
  piece_arrays own;
  const tile_span span = tiling_span(&f->tiles, number);
  const uint32_t rays = tile_span_rays(&span);
  piece p = piece_alone(f, rays, &own);
  if (f->rays == NULL)
    tiles_runs(&f->tiles, &span, make_run, &(made_piece){&f->set, rays_kernel(f->on->device), own.rays});
  else
    tiles_copy(&f->tiles, &span, true, f->rays, own.rays, sizeof *own.rays);
  if (f->skips != NULL) tiles_copy(&f->tiles, &span, true, f->skips, own.skips, sizeof *own.skips);
  run_planned(f, number, &p);
  tiles_copy(&f->tiles, &span, false, &own.results, f->results, f->result_size);
}

/* Rays with masks, worlds and hits of their own are cast one by one. at: the first ray in the arrays of these. */
static void run_own(flight *f, const piece *p, size_t at) {
  const native_scene *s = f->scene;
  const uint32_t *masks = f->masks != NULL ? f->masks + at : NULL, *worlds = f->worlds != NULL ? f->worlds + at : NULL;
  const slab_short_hit *after = f->after != NULL ? f->after + at : NULL;
  if (f->flat != NULL)
    f->flat->kernel.own_flat(p->number, p->rays, p->results, f->memory.offsets, s->table, s->blocks, p->skips,
                             &f->invalid, p->uniforms, masks, after, worlds);
  else if (f->compressed != NULL)
    f->compressed->kernel.own_compressed(p->number, p->rays, p->results, f->memory.offsets, s->table, s->blocks,
                                         p->skips, &f->invalid, p->uniforms, s->nodes, masks, after, worlds);
  else
    f->own->kernel.own_wide(p->number, p->rays, p->results, f->memory.offsets, s->table, s->blocks, p->skips,
                            &f->invalid, p->uniforms, s->nodes, NULL, NULL, masks, after, worlds);
  if (f->attributes != NULL) run_attributes_of(f, p, 0);
}

/* Brute force, and a compressed BVH. */
static void run_alone(flight *f, size_t number, const slab_ray *rays, void *results, const slab_primitive_id *skips,
                      const cast_uniforms *uniforms) {
  const native_scene *s = f->scene;
  if (f->flat != NULL)
    f->flat->kernel.flat(number, rays, results, f->memory.offsets, s->table, s->blocks, skips, &f->invalid, *uniforms);
  else
    f->compressed->kernel.compressed(number, rays, results, f->memory.offsets, s->table, s->blocks, skips, &f->invalid,
                                     *uniforms, s->nodes);
}

/* A piece of rays of the world: which, and where the next run of them goes. */
typedef struct far_piece {
  const flight *of;
  piece_arrays *own;
  uint32_t at;
} far_piece;

static far_lines far_lines_at(far_piece *p) { return (far_lines){p->own->begin + p->at, p->own->unit + p->at}; }

static void make_far_run(void *user, uint32_t first, uint32_t rays) {
  far_piece *p = user;
  const far_lines lines = far_lines_at(p);
  far_rays_make(p->of->far, p->of->of->first + first, rays, p->own->rays + p->at, &lines);
  p->at += rays;
}

static void put_far_run(void *user, uint32_t first, uint32_t rays) {
  far_piece *p = user;
  const far_lines lines = far_lines_at(p);
  far_results_put(p->of->far, p->of->of->first + first, rays, &lines,
                  (const unsigned char *)&p->own->results + p->at * p->of->result_size);
  p->at += rays;
}

/* Pieces of rays of the world make these, and put their results: everything stays in the nearest cache. */
static void run_far(flight *f, size_t number) {
  piece_arrays own;
  const uint32_t first = (uint32_t)number * f->uniforms.rays_each;
  const tile_span span = f->tiled ? tiling_span(&f->tiles, number) : (tile_span){first, rays_of_piece(f, number), 1};
  piece p = piece_alone(f, tile_span_rays(&span), &own);
  tiles_runs(&f->tiles, &span, make_far_run, &(far_piece){f, &own, 0});
  if (f->skips != NULL) tiles_copy(&f->tiles, &span, true, f->skips, own.skips, sizeof *own.skips);
  if (f->has_own)
    run_own(f, &p, span.first);
  else if (f->flat != NULL || f->compressed != NULL)
    run_alone(f, 0, p.rays, p.results, p.skips, &p.uniforms);
  else
    run_planned(f, number, &p);
  tiles_runs(&f->tiles, &span, put_far_run, &(far_piece){f, &own, 0});
}

static void run_piece(void *argument, size_t number) {
  flight *f = argument;
  if (f->far != NULL) {
    run_far(f, number);
  } else if (f->has_own) {
    const piece p = piece_of(f, number);
    run_own(f, &p, 0);
  } else if (f->flat != NULL || f->compressed != NULL) {
    run_alone(f, number, f->rays, f->results, f->skips, &f->uniforms);
  } else if (f->tiled) {
    run_tiled(f, number);
  } else {
    piece p = piece_of(f, number);
    run_planned(f, number, &p);
  }
}

static uint32_t pieces_of(const flight *f) {
  const uint32_t each = f->uniforms.rays_each;
  return f->tiled ? tiling_pieces(&f->tiles) : (f->uniforms.rays + each - 1) / each;
}

/* threads: at most, the caller's included. */
static void run(flight *f, uint32_t threads) {
  pool_run(threads, pieces_of(f), run_piece, f);
  if (f->attributes != NULL && f->memory.sorted != NULL && !f->lists)
    pool_run(threads, pieces_of(f), run_attributes, f);
}

/* ---- before and after them ---- */

/* Rays of a piece: fewer than the most where threads would get none otherwise. */
static uint32_t rays_each(const flight *f, uint32_t rays) {
  const device_scene *on = f->on;
  const uint32_t most = f->flat == NULL ? PIECE_MOST : on->device->tuning->rays_each;
  const uint32_t fair = rays / (PIECES_A_THREAD * on->device->info.compute_units) / PIECE_UNIT * PIECE_UNIT;
  return fair < PIECE_UNIT ? PIECE_UNIT : fair < most ? fair : most;
}

static const native_variant *variant(const flight *f, native_program program, slab_query query) {
  return native_variant_of(f->on, program, query);
}

/* The variant that interleaves rays, where that is the traversal; else NULL. */
static const native_variant *interleaved_variant(const flight *f, slab_query query, slab_traversal traversal) {
  const bool wanted = traversal == SLAB_TRAVERSAL_SORTED || traversal == SLAB_TRAVERSAL_INTERLEAVED;
  return wanted && f->uniforms.rays >= INTERLEAVED_LEAST ? variant(f, NATIVE_INTERLEAVED, query) : NULL;
}

/* No packets where no kernel computes the attributes that they leave. */
static piece_plan plan_of(const flight *f, slab_query query, slab_traversal traversal) {
  if (traversal == TRAVERSAL_FLAT) return (piece_plan){.flat = variant(f, NATIVE_FLAT, query)};
  const native_variant *interleaved = interleaved_variant(f, query, traversal);
  const bool packets = traversal == SLAB_TRAVERSAL_PACKETS && ATTRIBUTES_WAIT(f->uniforms.rays);
  return (piece_plan){.packet = packets ? variant(f, NATIVE_PACKET, query) : NULL,
                      .cast_rays = (interleaved != NULL ? interleaved : variant(f, NATIVE_WIDE, query))->kernel.wide};
}

static void choose_own(flight *f, slab_query query) {
  if (!f->on->scene->has_bvh) {
    f->flat = own_variant_of(f->on, NATIVE_FLAT, query);
  } else if (!device_scene_has_traversals(f->on)) {
    f->compressed = own_variant_of(f->on, NATIVE_COMPRESSED, query);
  } else {
    f->own = own_variant_of(f->on, NATIVE_WIDE, query);
    if (f->own->query != QUERY_TOLD && ATTRIBUTES_WAIT(f->uniforms.rays))
      f->attributes = variant(f, NATIVE_ATTRIBUTES, query);
  }
}

static void choose_variants(flight *f, slab_query query) {
  const chunk *of = f->of;
  f->flat = f->compressed = f->attributes = f->own = NULL;
  f->interleaved = f->lists = false;
  f->plan_count = 0;
  if (f->has_own) {
    choose_own(f, query);
    return;
  }
  const bool all_alone = of->traversal == TRAVERSAL_FLAT && of->samples[0].each == 0;
  if (all_alone) f->scene = f->beside;
  if (all_alone || !f->on->scene->has_bvh) {
    f->flat = variant(f, NATIVE_FLAT, query);
  } else if (!device_scene_has_traversals(f->on)) {
    f->compressed = variant(f, NATIVE_COMPRESSED, query);
  } else {
    f->interleaved = interleaved_variant(f, query, of->traversal) != NULL;
    f->plans[f->plan_count++] = plan_of(f, query, of->traversal);
    for (int i = 0; i < CHUNK_SAMPLES && of->samples[i].each != 0; i++)
      f->plans[f->plan_count++] = plan_of(f, query, of->samples[i].traversal);
    f->lists = query == SLAB_ALL;
    if (f->lists ? variant(f, NATIVE_INTERLEAVED, query) != NULL : ATTRIBUTES_WAIT(f->uniforms.rays))
      f->attributes = variant(f, NATIVE_ATTRIBUTES, f->lists ? SLAB_CLOSEST : query);
  }
}

/* Allocates memory for the hits of a chunk, whose number is not known yet. */
static slab_status make_space(flight *f) {
  const uint32_t pieces = pieces_of(f);
  const uint32_t walks = f->flat != NULL                      ? f->uniforms.rays
                         : device_scene_has_traversals(f->on) ? pieces * LISTS_MOST
                                                              : pieces;
  const slab_status status = chunk_memory_hits(&f->memory, f->on->device, f->of, walks, &f->uniforms);
  if (status == SLAB_OK) f->results = f->memory.batch->results;
  return status;
}

/* Lists stay where they are made, so their rays are not gathered: the kernels take them in this order. */
static slab_status order_tiles(flight *f) {
  const size_t size = f->of->count * sizeof *f->memory.sorted;
  f->memory.sorted = malloc(size);
  if (f->memory.sorted == NULL) return fail_memory(size, "the order of rays");
  tiles_order(&f->tiles, f->memory.sorted);
  return SLAB_OK;
}

static void release(flight *f) { chunk_memory_free(&f->memory); }

/* The members of every flight. Each member by itself: compilers zero a whole struct slowly, which a call of one ray
 * feels. */
static void flight_begin(const cast *c, const device_scene *on, const chunk *of, flight *f) {
  f->of = of;
  f->on = on;
  f->scene = on->state->uploaded;
  f->beside = on->state->beside;
  f->far = c->far;
  f->rays = c->set != NULL || c->far != NULL ? NULL : c->rays + of->first;
  f->results = c->sums != NULL ? f->summed.bytes : c->collected == NULL ? chunk_results(c, of) : NULL;
  f->result_size = c->result_size;
  chunk_uniforms(c, of, &f->uniforms);
  f->skips = f->uniforms.skip ? c->options->skip + of->first : NULL;
  f->has_own = has_own_rays(c->options);
  f->masks = f->has_own && c->options->masks != NULL ? c->options->masks + of->first : NULL;
  f->worlds = f->has_own && c->options->worlds != NULL ? c->options->worlds + of->first : NULL;
  f->after = f->has_own && c->options->after != NULL ? c->options->after + of->first : NULL;
  f->memory = (chunk_memory){0};
  f->tiled = false;
  if (c->far != NULL) f->tiles = (tiling){0}; /* of one row, where there are no others */
  f->invalid = 0;
  learn_order_begin(&f->order);
  choose_variants(f, c->query);
}

/* Rays of a packet; 0: none of the plans has packets. */
static uint32_t rays_of_packet(const flight *f) {
  for (uint32_t i = 0; i < f->plan_count; i++)
    if (f->plans[i].packet != NULL) return f->plans[i].packet->lanes;
  return 0;
}

/* Makes the rays of a chunk of a set, as they stand. Memory stays for later chunks. */
static slab_status make_chunk(const cast *c, flight *f) {
  const set_rays some = set_part(c->set, f->of->first, f->of->count);
  const slab_status status = keep_space(&f->made, some.count * sizeof *f->rays, "rays of a set");
  if (status != SLAB_OK) return status;
  f->rays = f->made.bytes;
  return native_make_rays(f->on->device, &some, f->made.bytes);
}

/* Pieces of tiles make their rays themselves: these stay in the nearest cache. */
static slab_status begin_set(const cast *c, flight *f) {
  if (!f->tiled) return make_chunk(c, f);
  f->set = set_part(c->set, f->of->first, f->of->count);
  if (f->tiles.rows.order != NULL) f->set.of_columns = f->tiles.rows.columns;
  return SLAB_OK;
}

static slab_status prepare(const cast *c, const device_scene *on, const chunk *of, flight *f) {
  const slab_status summed = c->sums != NULL ? keep_space(&f->summed, of->count * c->result_size, "results") : SLAB_OK;
  if (summed != SLAB_OK) return summed;
  flight_begin(c, on, of, f);
  for (int i = 0; i < CHUNK_SAMPLES; i++) {
    f->sampled[i][false] = f->sampled[i][true] = 0;
    learn_recent_begin(&f->recent[i], of->samples[i].ratio);
  }
  f->uniforms.rays_each = rays_each(f, of->count);
  f->uniforms.packet = rays_of_packet(f);
  const bool whole = c->rows.order == NULL || (of->first % c->rows.row == 0 && of->count % c->rows.row == 0);
  const bool tiles = whole && f->plan_count > 0 && of->traversal != SLAB_TRAVERSAL_SORTED &&
                     2 * f->uniforms.rays_each <= TILED_MOST &&
                     tiling_of(&c->rows, of->count, f->uniforms.rays_each, &f->tiles);
  f->tiled = tiles && !f->lists;
  slab_status status = c->set != NULL ? begin_set(c, f) : SLAB_OK;
  if (status == SLAB_OK && f->uniforms.packet != 0)
    status = keep_space(&f->fallback, fallback_size(of->count, f->uniforms.packet), "the packets that are left");
  if (status == SLAB_OK && tiles && f->lists && f->uniforms.packet != 0) status = order_tiles(f);
  if (status == SLAB_OK && of->traversal == SLAB_TRAVERSAL_SORTED && f->interleaved)
    status = chunk_memory_sort(&f->memory, c, of, f->rays, c->scene->context->threads);
  if (status == SLAB_OK && c->offsets != NULL) status = chunk_memory_offsets(&f->memory, c, of);
  if (status == SLAB_OK && c->collected != NULL) status = make_space(f);
  if (status != SLAB_OK) release(f);
  return status;
}

/* Reports the time of the samples. */
static void tell_sampled(const flight *f, sampled_times sampled[CHUNK_SAMPLES]) {
  for (uint32_t number = 0; number < pieces_of(f); number++) {
    bool own;
    const int i = sample_of(f, number, &own);
    if (i == CHUNK_SAMPLES) continue;
    *(own ? &sampled[i].rays : &sampled[i].beside) += rays_of_piece(f, number);
  }
  for (int i = 0; i < CHUNK_SAMPLES; i++) {
    sampled[i].seconds = 1e-9 * (double)atomic_load(&f->sampled[i][true]);
    sampled[i].beside_seconds = 1e-9 * (double)atomic_load(&f->sampled[i][false]);
  }
}

static slab_status finish(const cast *c, flight *f, chunk_outcome *outcome) {
  const slab_status status =
      f->memory.batch != NULL ? chunk_look(c, f->memory.batch, c->scene->context->threads) : SLAB_OK;
  *outcome = (chunk_outcome){.invalid = f->invalid, .batch = status == SLAB_OK ? f->memory.batch : NULL};
  if (f->of->samples[0].each != 0) tell_sampled(f, outcome->sampled);
  if (status == SLAB_OK) f->memory.batch = NULL;
  release(f);
  return status;
}

/* ---- sums ---- */

enum { PARTS_A_PIECE = 4 };

typedef struct sums_job {
  native_sums *kernel;
  const flight *of;
  const row_sums *sums;
  uint32_t *to, first_part, parts;
} sums_job;

static void sum_piece(void *argument, size_t number) {
  const sums_job *job = argument;
  const flight *f = job->of;
  job->kernel(number, f->rays, f->results, job->sums->weights, &f->invalid, job->to, job->sums->told, job->first_part,
              job->parts, PARTS_A_PIECE);
}

static slab_status run_sums(const cast *c, flight *f) {
  const native_device *opened = f->on->device->opened;
  const size_t first = f->of->first;
  const slab_status status = f->invalid > 0 && f->rays == NULL ? make_chunk(c, f) : SLAB_OK; /* they are looked at */
  if (status != SLAB_OK) return status;
  sums_job job = {.kernel = opened->of[NATIVE_SUMS][SLAB_CLOSEST][KINDS_all]->kernel.sums,
                  .of = f,
                  .sums = c->sums,
                  .to = chunk_sums(c, f->of),
                  .first_part = sums_part_of_row(c->sums, first),
                  .parts = sums_parts_of(c->sums, first, f->of->count)};
  pool_run(c->scene->context->threads, (job.parts + PARTS_A_PIECE - 1) / PARTS_A_PIECE, sum_piece, &job);
  return SLAB_OK;
}

/* ---- the backend's functions ---- */

/* A flight of an earlier call, with its memory; else a new one. NULL where memory is short. */
static flight *take_flight(device *d) {
  native_device *opened = d->opened;
  os_mutex_lock(&d->lock);
  flight *f = opened->idle;
  if (f != NULL) opened->idle = f->next;
  os_mutex_unlock(&d->lock);
  if (f != NULL) return f;
  f = malloc(sizeof *f);
  if (f == NULL) return NULL;
  f->made = f->summed = f->fallback = (kept_space){0};
  return f;
}

static void give_back(device *d, flight *f) {
  native_device *opened = d->opened;
  os_mutex_lock(&d->lock);
  f->next = opened->idle;
  opened->idle = f;
  os_mutex_unlock(&d->lock);
}

void native_free_idle(native_device *opened) {
  for (flight *f = opened->idle; f != NULL; f = opened->idle) {
    opened->idle = f->next;
    free(f->made.bytes);
    free(f->summed.bytes);
    free(f->fallback.bytes);
    free(f);
  }
}

/* Kernels run when the chunk ends: by then the casting thread has nothing else to do, and takes part. */
slab_status native_begin(const cast *c, const device_scene *on, chunk *of) {
  if (c->points != NULL) return SLAB_OK;
  if (of->flight == NULL) of->flight = take_flight(on->device);
  if (of->flight == NULL) return fail_memory(sizeof(flight), "a cast");
  return prepare(c, on, of, of->flight);
}

slab_status native_end(const cast *c, const device_scene *on, chunk *of, chunk_outcome *outcome) {
  if (c->points != NULL) return native_cast_points(c, on, of, outcome);
  run(of->flight, on->scene->context->threads);
  const slab_status status = c->sums != NULL ? run_sums(c, of->flight) : SLAB_OK;
  if (status == SLAB_OK) return finish(c, of->flight, outcome);
  release(of->flight);
  return status;
}

void native_abandon(const device_scene *on, chunk *of) {
  (void)on;
  if (of->flight != NULL) release(of->flight); /* points have none */
}

slab_status native_settle(const device_scene *on, chunk *of) {
  if (of->flight != NULL) give_back(on->device, of->flight);
  of->flight = NULL;
  return SLAB_OK;
}

/* Single rays are 1.0 to 1.6 times as fast as interleaved ones in so small a scene, in calls of 4 to 64 rays. In 256
 * boxes they are 0.9 to 1.6 times as fast, in 20,000 triangles 0.7 to 1.1 times (Zen 4). */
static slab_traversal traversal_of_few(const device_scene *on, bool flat) {
  if (flat) return TRAVERSAL_FLAT;
  const bool alone = on->state->beside != NULL && is_flat_likely(on->scene);
  return alone ? SLAB_TRAVERSAL_SINGLE : SLAB_TRAVERSAL_INTERLEAVED;
}

/* In one piece, but for brute force. */
slab_status native_few(const cast *c, const device_scene *on, bool flat, chunk_outcome *outcome) {
  const chunk all = {.count = (uint32_t)c->n, .traversal = traversal_of_few(on, flat)};
  flight f;
  f.fallback = (kept_space){0}; /* few rays are in no packets */
  flight_begin(c, on, &all, &f);
  const slab_status status = c->offsets != NULL ? chunk_memory_offsets(&f.memory, c, &all) : SLAB_OK;
  if (status != SLAB_OK) return status;
  f.uniforms.rays_each = f.flat != NULL ? rays_each(&f, all.count) : all.count;
  run(&f, 1);
  if (f.memory.offsets != NULL) chunk_memory_free(&f.memory);
  *outcome = (chunk_outcome){.invalid = f.invalid};
  return SLAB_OK;
}

/* ---- rays of a set ---- */

enum { MADE_A_PIECE = 4096 };

typedef struct make_job {
  native_rays *kernel;
  set_rays of; /* MADE_AT_ONCE at most */
  slab_ray *rays;
} make_job;

static void make_piece(void *argument, size_t number) {
  const make_job *job = argument;
  const set_rays *of = &job->of;
  job->kernel(number, of->of_rows, of->normals, of->of_columns, job->rays, of->set, set_row_of(of), set_column_of(of),
              (uint32_t)of->count, MADE_A_PIECE);
}

slab_status native_make_rays(device *d, const set_rays *of, slab_ray *rays) {
  make_job job = {.kernel = rays_kernel(d)};
  for (size_t done = 0; done < of->count; done += job.of.count) {
    const size_t rest = of->count - done;
    job.of = set_part(of, done, rest < MADE_AT_ONCE ? rest : MADE_AT_ONCE);
    job.rays = rays + done;
    pool_run(d->info.compute_units, (job.of.count + MADE_A_PIECE - 1) / MADE_A_PIECE, make_piece, &job);
  }
  return SLAB_OK;
}

/* ---- pairs ---- */

enum { PAIRS_A_PIECE = 256 };

typedef struct pairs_job {
  native_pairs *kernel;
  slab_shape kind;
  const slab_ray *rays;
  const float *shapes;
  size_t n;
  slab_interval *intervals;
} pairs_job;

static void run_pairs(void *argument, size_t number) {
  const pairs_job *job = argument;
  const size_t first = number * PAIRS_A_PIECE, floats = primitive_floats(job->kind);
  const uint32_t count = job->n - first < PAIRS_A_PIECE ? (uint32_t)(job->n - first) : PAIRS_A_PIECE;
  float shapes[PAIRS_A_PIECE * FLOATS_MOST];
  primitives_prepare(job->kind, job->shapes + first * floats, count, shapes);
  for (uint32_t i = 0; i < count; i++)
    job->kernel(i, job->rays + first, shapes, job->intervals + first, (uint32_t)job->kind, count, (uint32_t)first);
}

slab_status native_cast_pairs(device *d, slab_shape kind, const slab_ray *rays, const float *shapes, size_t n,
                              slab_interval *intervals) {
  const native_device *opened = d->opened;
  pairs_job job = {opened->of[NATIVE_PAIRS][SLAB_INTERVAL][KINDS_all]->kernel.pairs, kind, rays, shapes, n, intervals};
  pool_run(d->info.compute_units, (n + PAIRS_A_PIECE - 1) / PAIRS_A_PIECE, run_pairs, &job);
  return SLAB_OK;
}
