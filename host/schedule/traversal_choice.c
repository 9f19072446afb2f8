#include "schedule/traversal_choice.h"
#include "work/ray_order.h"

#include <math.h>
#include <string.h>

/* How the traversal is chosen by the order of the rays. Speeds are from bench_trace, PoCL 3.1 on Zen 4: terrain, soup,
 * hair, city, flake, two scanned meshes. On each of these scenes the order decided.
 *
 * RAYS_OF_A_POINT: packets. They are 1.6 to 4 times as fast as interleaved rays. No trials: they would cost 2 to 15 %.
 *
 * RAYS_SCATTERED: interleaved. It is 1.0 to 2.5 times as fast as packets. No trials, for the same reason.
 *
 * RAYS_DIVERGING: interleaved. It is 0.9 to 1.5 times as fast as the others. Another traversal must win by a little
 * more than the error of a trial.
 *
 * RAYS_ALIKE (shadow rays): trials decide. Packets or interleaved may be 2.5 times as fast as the other, and single
 * rays 1.2 times as fast as either. */
#define APART_MARGIN 0.95
/* Numbers of rays from which a traversal pays that may have to load its kernel first. The packet fallback is cast one
 * by one anyway. For the second, rays of earlier casts count too, where those were at least PACKETS_PAY. Where kernels
 * are ready, both pay as soon as the order of the rays can be seen: 257 rays take 0.6 to 0.8 of the time of single ones
 * (kitten.obj). */
#define READY_PAYS 65u
#define PACKETS_PAY 4096u
#define INTERLEAVED_PAYS 262144u

/* Trials use neighbouring rays. The first round casts a few rays by each candidate and drops those that are far behind.
 * The second round casts more rays by each of the rest, in the reverse order: one in TRIAL_SHARE of all rays, within
 * bounds. */
#define PROBE 4096u
#define TRIAL_MOST 8192u
#define TRIAL_SHARE 128
#define FAR_BEHIND 1.5
#define TRIALS_PAY 131072u /* least number of rays for trials */
/* A trial of the first candidate that is shorter than TRIAL_SECONDS measured mostly the launch, for example of rays
 * that hit nothing. It is less reliable. Another candidate must then win by the factor CLEARLY. */
#define TRIAL_SECONDS 1.5e-4
#define CLEARLY 0.75
/* Rays differ from place to place: half of a picture's shadow rays may be faster as packets, the other half
 * interleaved. The edge where a picture begins is not typical either. So trials start after 1/FIRST_SHARE of the rays
 * and repeat after every 1/AGAIN_SHARE of them, within bounds. Once AGREED places agree, trials become rarer: up to
 * SETTLED times the distance, and at once where all other candidates are far behind. One place alone may have been
 * disturbed. Trials take 3 to 10 % of a cast of 350,000 rays and almost nothing of the casts that follow (Zen 3). */
#define FIRST_SHARE 20
#define AGAIN_SHARE 4
#define AGAIN_LEAST 262144u
#define AGAIN_MOST 4194304u
#define AGREED 2
#define SETTLED 16

/* Where the backend mixes traversals there are no trials. Pieces of a chunk, spread over all of it, are cast by the
 * other candidates, and each is compared with the piece beside it. Trials of neighbouring rays show too little of the
 * others: 4,096 shadow rays of soup took 125 to 430 ns each in packets, depending on the place. In some processes casts
 * took 1.25 to 1.6 times the time for good (Xeon, 512 x 512 and 1024 x 1024 pixels; now 1.03 at most).
 *
 * An unknown candidate gets one in SAMPLE_NEW pieces. One that takes about as long as the best gets one in SAMPLE_NEAR,
 * a slower one gets one in SAMPLE_FAR, and one that is far behind gets one in SAMPLE_BEHIND. One beyond LOST gets that
 * only in one of LOST_CHUNKS chunks. The periods are primes, so that samples of a picture come from all of its columns.
 * A sample costs more than its rays take longer: its kernel is not in the caches, and afterwards the other is not.
 * Fewer than SAMPLE_LEAST rays show nothing. Earlier results count as much as the chunk's own sample, or as
 * SAMPLE_LEAST rays, since the next rays may be others. Chunks are short, so that the next goes by the result of the
 * one before. */
#define SAMPLE_NEW 17u
#define SAMPLE_NEAR 31u
#define SAMPLE_FAR 127u
#define SAMPLE_BEHIND 509u
#define ABOUT_AS_LONG 1.15
#define LOST 2.5
#define LOST_CHUNKS 8u
#define SAMPLE_LEAST 1024.0
#define SAMPLE_WINS 0.97
#define MIXED_LEAST 4096u
#define MIXED_MOST 262144u

/* Lists in small scenes: by brute force each has other places in the space than by the BVH, so the two are not mixed.
 * Nor are there trials. The hits of each chunk of a call but the first need memory that the system has to clear. So
 * 2,048 rays took 20 times as long as in one chunk with others. Instead whole chunks take turns. Once the rays are more
 * than TURNS_PAY each candidate gets TURNS_NEW: the first call's two chunks, a short one and one that needs memory,
 * show no usual speed. Then one chunk in TURNS_NEAR is cast by another than the best, or in TURNS_FAR by one that is
 * far behind. TURNS_NEW is even and the others are odd, since the two chunks of a call may take unlike times. */
#define TURNS_PAY 16384u
#define TURNS_NEW 4.0
#define TURNS_NEAR 31u
#define TURNS_FAR 257u

/* Rays that are sorted at once. Fewer rays gain less; more take longer to cancel.
 *
 * Where interleaved rays are the fastest traversal, they wait for memory. Sorting then saves some 15 % of their time.
 * It costs 40 ns of a compute unit per ray, the scattered memory accesses that follow included. So it pays where a ray
 * takes longer than SORT_PAYS interleaved. Measured with PoCL 3.1 on Zen 5 with random rays: soup and hair of a million
 * primitives (0.7 to 1.1 us per ray) become 1.05 to 1.15 times as fast. Terrain of two million (0.3 us per ray) becomes
 * 0.9 to 1.0 times as fast. */
#define SORT_LEAST 131072u
#define SORT_MOST 1048576u
#define SORT_PAYS 5e-7

static uint32_t within(size_t x, uint32_t least, uint32_t most) {
  return x < least ? least : x > most ? most : (uint32_t)x;
}

static void try_too(traversal_choice *t, slab_traversal traversal) {
  for (uint32_t k = 0; k < t->candidates; k++)
    if (t->tried[k] == traversal) return;
  t->tried[t->candidates++] = traversal;
}

/* The initial choice for rays in this order, without earlier results. */
static traversal_choice traversal_choice_anew(rays_order order, slab_traversal together, slab_traversal apart,
                                              uint32_t first) {
  traversal_choice t = {.ordered = true, .order = order, .margin = 1.0, .until = first};
  switch (order) {
    case RAYS_OF_A_POINT:
      try_too(&t, together);
      break;
    case RAYS_ALIKE:
      try_too(&t, together);
      try_too(&t, apart);
      try_too(&t, SLAB_TRAVERSAL_SINGLE);
      break;
    case RAYS_DIVERGING:
      try_too(&t, apart);
      try_too(&t, SLAB_TRAVERSAL_SINGLE);
      try_too(&t, together);
      t.margin = APART_MARGIN;
      break;
    case RAYS_SCATTERED: /* one trial shows whether sorting may pay */
      try_too(&t, apart);
      t.sorts = apart == SLAB_TRAVERSAL_INTERLEAVED;
      t.until = 0;
      break;
  }
  t.best = t.tried[0];
  return t;
}

static bool asks_the_same(const traversal_choice *a, const traversal_choice *b) {
  return a->ordered && a->candidates == b->candidates && memcmp(a->tried, b->tried, sizeof a->tried) == 0;
}

/* In a small scene rays may test all its primitives: brute force. With AVX2 on Zen 3, up to 128 boxes, rays of a point
 * and those that are alike are 1.1 to 2.9 times as fast in packets. Others are up to 2.4 times as fast by brute force,
 * but not rays that miss the bounds, which end at the root of the BVH. With AVX-512 on Zen 4 they are up to 1.7 times
 * as fast one by one as interleaved. */
static traversal_choice choice_in_small_scene(const traversal_task *task, rays_order order, slab_traversal together) {
  traversal_choice t = {.ordered = true, .order = order, .margin = 1.0};
  const bool learns = task->flat == FLAT_BY_RESULTS, interleaves = learns && order > RAYS_OF_A_POINT;
  if (order <= RAYS_ALIKE) try_too(&t, together);
  if (interleaves && !task->flat_likely) try_too(&t, SLAB_TRAVERSAL_INTERLEAVED);
  if (learns || t.candidates == 0) try_too(&t, TRAVERSAL_FLAT);
  if (interleaves) try_too(&t, SLAB_TRAVERSAL_INTERLEAVED);
  if (interleaves && order > RAYS_ALIKE) try_too(&t, SLAB_TRAVERSAL_SINGLE);
  t.best = t.tried[0];
  return t;
}

/* The wanted traversal where it is available, else SLAB_TRAVERSAL_SINGLE. */
static slab_traversal or_single(const traversal_task *task, slab_traversal wanted) {
  return (task->traversals >> wanted & 1) != 0 ? wanted : SLAB_TRAVERSAL_SINGLE;
}

traversal_choice traversal_choice_begin(const traversal_task *task, const traversal_memory *memory) {
  const size_t n = task->n;
  traversal_choice t = {.best = task->wanted};
  if (task->wanted != SLAB_TRAVERSAL_AUTO) return t;
  t.best = task->flat != FLAT_NEVER ? TRAVERSAL_FLAT : SLAB_TRAVERSAL_SINGLE;
  if (n < (task->ready ? READY_PAYS : PACKETS_PAY)) return t;
  const rays_order order = task->rays == NULL ? task->order : rays_order_of(task->rays, n, task->lower, task->upper);
  const traversal_choice *earlier = &memory->of[task->query][order];
  const uint64_t met = earlier->met + n;
  const slab_traversal together = or_single(task, SLAB_TRAVERSAL_PACKETS);
  t = task->flat != FLAT_NEVER
          ? choice_in_small_scene(task, order, together)
          : traversal_choice_anew(order, together,
                                  met >= INTERLEAVED_PAYS || task->ready ? or_single(task, SLAB_TRAVERSAL_INTERLEAVED)
                                                                         : SLAB_TRAVERSAL_SINGLE,
                                  within(n / FIRST_SHARE, 0, AGAIN_MOST));
  if (asks_the_same(earlier, &t)) t = *earlier;
  t.met = met;
  t.unsorted = task->unsorted;
  t.turns = task->flat == FLAT_BY_RESULTS && task->query == SLAB_ALL && t.candidates > 1;
  t.mixes = task->mixes && t.candidates > 1 && !t.turns;
  t.open = !t.mixes && !t.turns && (t.candidates > 1 || (t.sorts && !t.unsorted)) && met >= TRIALS_PAY;
  t.trial_rays = within(n / TRIAL_SHARE, PROBE, TRIAL_MOST);
  t.again = within(order == RAYS_ALIKE ? n / AGAIN_SHARE : n, AGAIN_LEAST, AGAIN_MOST);
  t.sorting_pays = SORT_PAYS / task->compute_units;
  return t;
}

void traversal_choice_end(const traversal_choice *t, slab_query query, traversal_memory *memory) {
  if (t->ordered) memory->of[query][t->order] = *t;
}

bool traversal_choice_packs(const traversal_choice *t) {
  return t->best == SLAB_TRAVERSAL_PACKETS || (t->ordered && t->order <= RAYS_ALIKE);
}

static bool sorting_may_pay(const traversal_choice *t, uint32_t most) {
  if (t->unsorted) return false;
  if (t->best == SLAB_TRAVERSAL_SORTED) return true;
  return t->sorts && most >= SORT_LEAST && t->pace[SLAB_TRAVERSAL_INTERLEAVED] > t->sorting_pays;
}

/* The first round tries all candidates, the second those that are left, in reverse order. */
static slab_traversal traversal_of_step(const traversal_choice *t) {
  if (t->step < t->candidates) return t->tried[t->step];
  return t->left[t->lefts - 1 - (t->step - t->candidates)];
}

/* Of the next chunk where the traversals take turns. */
static slab_traversal traversal_in_turn(traversal_choice *t) {
  const uint32_t nth = t->chunks++;
  if (t->met < TURNS_PAY) return t->best;
  for (uint32_t k = 0; k < t->candidates; k++)
    if (t->weight[t->tried[k]] < TURNS_NEW) return t->tried[k];
  for (uint32_t k = 0; k < t->candidates; k++) {
    const uint32_t each = t->pace[t->tried[k]] < FAR_BEHIND * t->pace[t->best] ? TURNS_NEAR : TURNS_FAR;
    if (nth % each == k) return t->tried[k];
  }
  return t->best;
}

/* The traversal of the next chunk, of how many rays it is, and whether it is a trial. */
static slab_traversal traversal_of_next(traversal_choice *t, uint32_t most, uint32_t *count, bool *trial) {
  if (t->mixes) {
    if (*count > MIXED_MOST) *count = MIXED_MOST;
    return t->best;
  }
  if (t->turns) return traversal_in_turn(t);
  const uint32_t probe = t->candidates == 1 ? 2 * TRIAL_MOST : PROBE;
  const uint32_t rays = t->step < t->candidates ? probe : t->trial_rays;
  *trial = choice_is_trying(t) && most >= rays;
  if (*trial) {
    if (*count > rays) *count = rays;
    return traversal_of_step(t);
  }
  const bool sorting = sorting_may_pay(t, most);
  if (sorting) *count = most < SORT_MOST ? most : SORT_MOST;
  if (t->until > 0 && t->open) {
    if (*count > t->until && !sorting) *count = t->until;
    t->until -= *count < t->until ? *count : t->until;
  }
  return sorting ? SLAB_TRAVERSAL_SORTED : t->best;
}

/* After the first round: keeps the candidates that are not far behind. */
static void leave_behind(traversal_choice *t) {
  double least = INFINITY;
  for (uint32_t k = 0; k < t->candidates; k++) least = fmin(least, t->here[t->tried[k]]);
  t->lefts = 0;
  for (uint32_t k = 0; k < t->candidates; k++)
    if (t->here[t->tried[k]] <= FAR_BEHIND * least) t->left[t->lefts++] = t->tried[k];
}

/* Disturbances only lengthen what takes so long. */
static void learn_pace_of(traversal_choice *t, slab_traversal traversal, double here) {
  double *pace = &t->pace[traversal];
  *pace = *pace > 0.0 && *pace < here ? (*pace + here) / 2 : here;
}

static void learn_turn(traversal_choice *t, slab_traversal used, double pace) {
  learn_pace_of(t, used, pace);
  t->weight[used]++;
  for (uint32_t k = 0; k < t->candidates; k++)
    if (t->weight[t->tried[k]] >= TURNS_NEW && t->pace[t->tried[k]] < t->pace[t->best]) t->best = t->tried[k];
}

/* Chooses the best traversal after the trials at one place. */
static void decide(traversal_choice *t) {
  for (uint32_t k = 0; k < t->candidates; k++) {
    learn_pace_of(t, t->tried[k], t->here[t->tried[k]]);
    t->here[t->tried[k]] = 0.0;
  }
  const slab_traversal usual = t->tried[0];
  slab_traversal best = usual;
  double least = (t->pace[usual] * PROBE < TRIAL_SECONDS ? CLEARLY : t->margin) * t->pace[usual];
  for (uint32_t k = 1; k < t->candidates; k++) {
    if (t->pace[t->tried[k]] >= least) continue;
    best = t->tried[k];
    least = t->pace[best];
  }
  t->agreed = best == t->best ? t->agreed + 1 : 1;
  t->best = best;
  uint32_t patience = t->candidates > 1 && t->lefts == 1 && t->agreed >= AGREED ? SETTLED : 1;
  for (uint32_t k = AGREED; k < t->agreed && patience < SETTLED; k++) patience *= 2;
  t->until = t->again * patience;
  t->step = 0;
}

static void learn_pace(traversal_choice *t, bool trial, slab_traversal used, uint32_t rays, double seconds) {
  const double pace = seconds / rays;
  if (t->turns) learn_turn(t, used, pace);
  if (used == SLAB_TRAVERSAL_SORTED && t->sorts && pace > t->pace[SLAB_TRAVERSAL_INTERLEAVED]) t->sorts = false;
  if (!trial) return;
  double *here = &t->here[used];
  *here = *here > 0.0 && *here < pace ? *here : pace;
  t->step++;
  if (t->step == t->candidates) leave_behind(t);
  if (t->step == t->candidates + (t->lefts > 1 ? t->lefts : 0)) decide(t);
}

/* ---- samples ---- */

static bool is_known(const traversal_choice *t, slab_traversal candidate) {
  return t->weight[candidate] >= SAMPLE_LEAST;
}

static double known_ratio(const traversal_choice *t, slab_traversal candidate) {
  return is_known(t, candidate) ? t->ratio[candidate] : 1.0;
}

static uint32_t sample_each(const traversal_choice *t, slab_traversal candidate) {
  const double ratio = t->ratio[candidate];
  if (!is_known(t, candidate)) return SAMPLE_NEW;
  if (ratio >= LOST && t->chunks % LOST_CHUNKS != 0) return 0;
  return ratio < ABOUT_AS_LONG ? SAMPLE_NEAR : ratio < FAR_BEHIND ? SAMPLE_FAR : SAMPLE_BEHIND;
}

/* Other pieces in each chunk: of small chunks, which have fewer pieces than a sample's distance, some have one. */
static uint32_t sample_place(uint32_t nth_chunk, uint32_t nth_sample) {
  return ((nth_chunk * CHUNK_SAMPLES + nth_sample) * 0x9e3779b9u) >> 16; /* Knuth's multiplicative hash */
}

static void samples_of_next(traversal_choice *t, slab_traversal traversal, uint32_t count,
                            chunk_sample samples[CHUNK_SAMPLES]) {
  uint32_t n = 0;
  if (!t->mixes || count < MIXED_LEAST) return;
  for (uint32_t k = 0; k < t->candidates && n < CHUNK_SAMPLES; k++) {
    const slab_traversal candidate = t->tried[k];
    const uint32_t each = candidate == traversal ? 0 : sample_each(t, candidate);
    if (each == 0) continue;
    samples[n] = (chunk_sample){candidate, each, sample_place(t->chunks, n) % each, known_ratio(t, candidate)};
    n++;
  }
  t->chunks++;
}

/* The candidate becomes the best: ratios are those to its time from now on. */
static void becomes_best(traversal_choice *t, slab_traversal candidate) {
  const double ratio = t->ratio[candidate];
  t->ratio[t->best] = 1.0;
  t->weight[t->best] = t->weight[candidate];
  for (uint32_t k = 0; k < t->candidates; k++) t->ratio[t->tried[k]] /= ratio;
  t->best = candidate;
}

static void learn_ratios(traversal_choice *t, const chunk_sample samples[CHUNK_SAMPLES],
                         const sampled_times sampled[CHUNK_SAMPLES]) {
  slab_traversal least = t->best;
  for (int i = 0; i < CHUNK_SAMPLES; i++) {
    const sampled_times *s = &sampled[i];
    const slab_traversal k = samples[i].traversal;
    if (s->rays == 0 || s->beside == 0 || !(s->seconds > 0.0 && s->beside_seconds > 0.0)) continue;
    const double rays = (double)s->rays, ratio = s->seconds / rays / (s->beside_seconds / (double)s->beside);
    /* other rays, it seems: earlier results are not true of them */
    const bool others = t->ratio[k] >= FAR_BEHIND && ratio < SAMPLE_WINS && rays >= SAMPLE_LEAST / 2;
    const double before = others ? 0.0 : fmin(t->weight[k], fmax(rays, SAMPLE_LEAST));
    t->weight[k] = before + rays;
    t->ratio[k] = (t->ratio[k] * before + ratio * rays) / t->weight[k];
    const double best = least == t->best ? SAMPLE_WINS : t->ratio[least];
    if (is_known(t, k) && t->ratio[k] < best) least = k;
  }
  if (least != t->best) becomes_best(t, least);
}

/* ---- a chunk ---- */

static uint32_t whole_bands(const chunk_plan *plan, uint32_t rays) {
  if (rays >= plan->remaining || plan->band == 0 || rays < plan->band) return rays;
  return rays - (uint32_t)(rays % plan->band);
}

chunk_choice traversal_choice_next(traversal_choice *t, const chunk_plan *plan) {
  chunk_choice c = {.count = plan->count};
  c.traversal = traversal_of_next(t, plan->most, &c.count, &c.trial);
  c.count = whole_bands(plan, c.count);
  samples_of_next(t, c.traversal, c.count, c.samples);
  return c;
}

void traversal_choice_learn(traversal_choice *t, const chunk_choice *c, uint32_t rays, double seconds,
                            const sampled_times sampled[CHUNK_SAMPLES]) {
  learn_pace(t, c->trial, c->traversal, rays, seconds);
  learn_ratios(t, c->samples, sampled);
}

/* ---- few rays ---- */

/* Calls of few rays are too short for chunks and samples. Now and then FEW_STREAK calls in a row are cast by the way
 * that would not be chosen, then as many by the other. All but the first FEW_WARM of each are timed: a kernel whose
 * code is not in the caches takes up to twice as long, and one whose branches are not learned 1.1 times. A streak
 * begins by chance, since calls on several scenes may come in turns. It begins at one call in FEW_NEW until FEW_KNOWN
 * calls of each were timed, at some places of a picture, then in FEW_NEAR, and in FEW_FAR where the other way is far
 * behind. Other calls write to no place that threads share: they would wait for each other longer than a ray takes. */
#define FEW_STREAK 64u
#define FEW_WARM 32u
#define FEW_NEW 512u
#define FEW_NEAR 4096u
#define FEW_FAR 65536u
#define FEW_KNOWN 256u     /* the mean's weight, too, against a call's 1 */
#define FEW_DISTURBED 4.0f /* a call counts as this many times the mean at most */

static float few_mean(const few_time *t) { return atomic_load_explicit(&t->mean, memory_order_relaxed); }
static uint32_t few_calls(const few_time *t) { return atomic_load_explicit(&t->calls, memory_order_relaxed); }

static uint32_t few_each(const few_choice *f) {
  if (few_calls(&f->tree) < FEW_KNOWN || few_calls(&f->flat) < FEW_KNOWN) return FEW_NEW;
  const float tree = few_mean(&f->tree), flat = few_mean(&f->flat), behind = (float)FAR_BEHIND;
  return flat > behind * tree || tree > behind * flat ? FEW_FAR : FEW_NEAR;
}

few_turn few_choice_next(few_choice *f, bool likely) {
  static _Thread_local uint32_t random;
  const float tree = few_mean(&f->tree), flat = few_mean(&f->flat);
  const bool is_flat = tree == flat ? likely : flat < tree;
  uint32_t left = atomic_load_explicit(&f->streak, memory_order_relaxed);
  if (left == 0) {
    random = random * 1664525u + 1013904223u; /* Numerical Recipes, ranqd1 */
    const uint32_t chance = random >> 16;
    if (chance % FEW_NEW != 0 || chance % few_each(f) != 0) return (few_turn){is_flat, false};
    left = 2 * FEW_STREAK;
  }
  atomic_store_explicit(&f->streak, left - 1, memory_order_relaxed);
  const uint32_t at = 2 * FEW_STREAK - left;
  return (few_turn){at < FEW_STREAK ? !is_flat : is_flat, at % FEW_STREAK >= FEW_WARM};
}

void few_choice_learn(few_choice *f, bool flat, double seconds) {
  few_time *t = flat ? &f->flat : &f->tree;
  const float mean = few_mean(t), most = FEW_DISTURBED * mean, now = (float)seconds;
  const uint32_t calls = few_calls(t);
  const float counted = calls > 0 && now > most ? most : now;
  atomic_store_explicit(&t->mean, mean + (counted - mean) / (float)(calls + 1), memory_order_relaxed);
  atomic_store_explicit(&t->calls, calls < FEW_KNOWN ? calls + 1 : calls, memory_order_relaxed);
}
