/* Tests how a device computes with kernels/probe.cl, because drivers' reports are not always true. */
#include "opencl/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/probed.h"
#include "gpu/program.h"
#include "opencl/opencl.h"
#include "opencl/program.h"
#include "os/thread.h"

/* ---- the operands and the correct results ---- */

#define REAL(name, a, b, c, is)                                \
  {                                                            \
    PROBED_##name, {a, b, c}, {.real = (is)}, { .real = (is) } \
  }
#define WORD(name, a, b, c, is)                                \
  {                                                            \
    PROBED_##name, {a, b, c}, {.word = (is)}, { .word = (is) } \
  }
/* For cases where an operand, the result or a residual is subnormal. */
#define TINY(name, a, b, c, is, flushed)                            \
  {                                                                 \
    PROBED_##name, {a, b, c}, {.real = (is)}, { .real = (flushed) } \
  }

/* Bits of RELATIONS. */
enum { LESS = 1 | 2 | 8, EQUAL = 2 | 4 | 16, GREATER = 8 | 16 | 32, UNORDERED = 8 };

/* e = 2^-23 is the distance from 1 to the next float. A value e/2 above an even float is a tie and rounds down; above
 * an odd one it is a tie and rounds up. Rounding toward 0, up or down, or ties away from 0, fails one case of each
 * group. */
const probe_case probe_cases[] = {
    REAL(SUM, 0x1p0f, 0x1p-24f, 0, 0x1p0f),                          /* 1 + e/2: a tie */
    REAL(SUM, 0x1.000002p0f, 0x1p-24f, 0, 0x1.000004p0f),            /* 1 + e + e/2: a tie above an odd one */
    REAL(SUM, 0x1p0f, 0x1.000002p-24f, 0, 0x1.000002p0f),            /* just above the tie */
    REAL(SUM, -0x1p0f, -0x1.000002p-24f, 0, -0x1.000002p0f),         /* the same below 0 */
    REAL(SUM, 0x1p0f, 0x1.fffffep-25f, 0, 0x1p0f),                   /* just below the tie */
    REAL(SUM, -0x1p0f, -0x1.fffffep-25f, 0, -0x1p0f),                /* the same below 0 */
    REAL(SUM, 0x1.fffffep127f, 0x1p103f, 0, INFINITY),               /* half of the last bit above the largest */
    REAL(SUM, INFINITY, -INFINITY, 0, NAN),                          /* by definition */
    TINY(SUM, 0x1p-127f, 0x1p-127f, 0, 0x1p-126f, 0),                /* subnormal operands, a normal sum */
    REAL(DIFFERENCE, 0x1.000002p0f, 0x1p-24f, 0, 0x1p0f),            /* 1 + e - e/2: a tie below an odd one */
    REAL(DIFFERENCE, 0x1p0f, 0x1p0f, 0, 0),                          /* not -0 */
    REAL(DIFFERENCE, INFINITY, INFINITY, 0, NAN),                    /* by definition */
    TINY(DIFFERENCE, 0x1.8p-126f, 0x1p-126f, 0, 0x1p-127f, 0),       /* normal operands, a subnormal difference */
    REAL(PRODUCT, 0x1.001p0f, 0x1.001p0f, 0, 0x1.002p0f),            /* 1 + 2^-11 + e/2: a tie */
    REAL(PRODUCT, 0x1.001p0f, 0x1.003p0f, 0, 0x1.004004p0f),         /* 1 + 2^-10 + 3/2 e: a tie above an odd one */
    REAL(PRODUCT, 0x1.000002p0f, 0x1.800002p0f, 0, 0x1.800006p0f),   /* 3/2 + 5/2 e + e^2: just above the tie */
    REAL(PRODUCT, -0x1.000002p0f, 0x1.800002p0f, 0, -0x1.800006p0f), /* the same below 0 */
    REAL(PRODUCT, 0x1.000002p0f, 0x1.fffffep-1f, 0, 0x1p0f),         /* 1 + e/2 - e^2/2: just below the tie */
    REAL(PRODUCT, -0x1.000002p0f, 0x1.fffffep-1f, 0, -0x1p0f),       /* the same below 0 */
    REAL(PRODUCT, 0x1p127f, -0x1p1f, 0, -INFINITY),                  /* too large */
    REAL(PRODUCT, 0x1p127f, 0x1p1f, 0, INFINITY),                    /* too large */
    REAL(PRODUCT, 0, INFINITY, 0, NAN),                              /* by definition */
    REAL(PRODUCT, -INFINITY, 0, 0, NAN),                             /* by definition */
    REAL(PRODUCT, INFINITY, -0x1p-100f, 0, -INFINITY),               /* by definition */
    TINY(PRODUCT, 0x1p-100f, 0x1p-30f, 0, 0x1p-130f, 0),             /* normal operands, a subnormal product */
    TINY(PRODUCT, 0x1p-130f, 0x1p100f, 0, 0x1p-30f, 0),              /* a subnormal operand, a normal product */

    /* The product is the tie 1 + 2^-11 + e/2 above. If the next step gets it unrounded, its rounding error appears in
     * the result. */
    REAL(PRODUCT_PLUS, 0x1.001p0f, 0x1.001p0f, -0x1.002p0f, 0), /* contracted: e/2 */
    REAL(MINUS_PRODUCT, 0x1.001p0f, 0x1.001p0f, 0x1.002p0f, 0), /* contracted: -e/2 */
    /* (1 + 2^-11) - (1 + 2^-12). Contracted, and as (a - c) * b, 2^-12 + e/2. */
    REAL(TWO_PRODUCTS, 0x1.001p0f, 0x1.001p0f, 0x1p0f, 0x1p-12f),
    REAL(THREE, 0x1p0f, 0x1p-24f, 0x1p-24f, 0x1p0f),                     /* two ties; as a + (b + c): 1 + e */
    REAL(SCALED, 0x1.000002p0f, 0x1p0f, 0x1.000002p0f, 0x1.000002p-23f), /* e * (1 + e); as a * c - b * c: e */

    REAL(FMA, 0x1.001p0f, 0x1.001p0f, -0x1.002p0f, 0x1p-24f), /* the rounding error of that product; not fused: 0 */
    REAL(FMA, 0x1p127f, 0x1p1f, -0x1p127f, 0x1p127f),         /* not fused: inf */
    /* c = 1 + e and the product is (e/2) (1 - e^2), so the exact sum is just below the tie above c, which is odd.
     * Rounding the product or the sum to double makes it a tie, which rounds up. With the negative product the exact
     * sum is just above the tie below c; through double it rounds down. */
    REAL(FMA, 0x1.000002p-12f, 0x1.fffffcp-13f, 0x1.000002p0f, 0x1.000002p0f),
    REAL(FMA, -0x1.000002p-12f, 0x1.fffffcp-13f, 0x1.000002p0f, 0x1.000002p0f),
    REAL(FMA, 0x1p-12f, 0x1p-12f, 0x1p0f, 0x1p0f), /* 1 + e/2: a tie */
    REAL(FMA, 0, INFINITY, 0x1p0f, NAN),           /* by definition */
    /* a b = 2^-120 (1 + 2^-11 + e/2), so the residual is 2^-144. */
    TINY(FMA, 0x1.001p-60f, 0x1.001p-60f, -0x1.002p-120f, 0x1p-144f, 0),

    /* A, B and Q are the 24-bit significands as integers. 2^24 A = (2 Q + 1) B - 1: the quotient is just below the
     * middle of Q and Q + 1. The third and fourth are wrong as a * (1 / b). */
    REAL(QUOTIENT, 0x1.3298b6p0f, 0x1.1a8c82p0f, 0, 0x1.15c9cp0f),
    REAL(QUOTIENT, 0x1.6f1be0p0f, 0x1.39f622p0f, 0, 0x1.2b55fp0f),
    REAL(QUOTIENT, 0x1.bfe942p0f, 0x1.7e3ecap0f, 0, 0x1.2bfa6cp0f),
    REAL(QUOTIENT, 0x1.ddd738p0f, 0x1.3435fep0f, 0, 0x1.8ce4fep0f),
    /* 2^24 A = (2 Q - 1) B + 1: the quotient is just above the middle of Q - 1 and Q. The first two are wrong as a * (1
     * / b). */
    REAL(QUOTIENT, 0x1.2b652ap0f, 0x1.06b6e6p0f, 0, 0x1.23be46p0f),
    REAL(QUOTIENT, 0x1.a35cb4p0f, 0x1.6ef736p0f, 0, 0x1.248d6ep0f),
    REAL(QUOTIENT, 0x1.d58a46p0f, 0x1.8f1852p0f, 0, 0x1.2d2fe8p0f),
    REAL(QUOTIENT, 0x1.db4f58p0f, 0x1.5d3906p0f, 0, 0x1.5c6dd6p0f),
    REAL(QUOTIENT, 0x1.21cdbp0f, -0x1.9eb2cep0f, 0, -0x1.65ccf8p-1f), /* below 1, and also wrong as a * (1 / b) */
    REAL(QUOTIENT, 0x1p127f, 0x1.8p127f, 0, 0x1.555556p-1f),          /* 2/3, though 1 / b is subnormal */
    REAL(QUOTIENT, 0x1p127f, 0x1p-1f, 0, INFINITY),                   /* too large */
    REAL(QUOTIENT, 0x1p0f, 0, 0, INFINITY),                           /* by definition, as those below */
    REAL(QUOTIENT, -0x1p0f, 0, 0, -INFINITY),
    REAL(QUOTIENT, 0, 0, 0, NAN),
    REAL(QUOTIENT, 0x1p0f, INFINITY, 0, 0),
    TINY(QUOTIENT, 0x1p-126f, 0x1p1f, 0, 0x1p-127f, 0),         /* a subnormal quotient */
    TINY(QUOTIENT, 0x1p-130f, 0x1p-120f, 0, 0x1p-10f, 0),       /* a subnormal operand */
    TINY(QUOTIENT, 0x1p-30f, 0x1p-130f, 0, 0x1p100f, INFINITY), /* the other one */

    /* The same for roots, with A = 2^23 a or 2^22 a. 2^25 A or 2^26 A = (2 Q + 1)^2 - d with d = 1, 17, 1 and 9: below
     * the middle. */
    REAL(ROOT, 0x1.000002p0f, 0, 0, 0x1p0f),
    REAL(ROOT, 0x1.618d86p0f, 0, 0, 0x1.2cd916p0f),
    REAL(ROOT, 0x1.fffffep1f, 0, 0, 0x1.fffffep0f),
    REAL(ROOT, 0x1.fffffap1f, 0, 0, 0x1.fffffcp0f),
    /* (2 Q - 1)^2 + d with d = 7, 15, 15 and 23: above the middle. */
    REAL(ROOT, 0x1.f82294p0f, 0, 0, 0x1.673f4cp0f),
    REAL(ROOT, 0x1.24b0b2p0f, 0, 0, 0x1.11bb28p0f),
    REAL(ROOT, 0x1.dd26e4p1f, 0, 0, 0x1.ee44dap0f),
    REAL(ROOT, 0x1.b5c076p1f, 0, 0, 0x1.d96c2ep0f),
    REAL(ROOT, 0, 0, 0, 0), /* by definition, as those below */
    REAL(ROOT, INFINITY, 0, 0, INFINITY),
    REAL(ROOT, -0x1p0f, 0, 0, NAN),
    TINY(ROOT, 0x1p-130f, 0, 0, 0x1p-65f, 0), /* a subnormal operand */

    REAL(MAX, 0x1p1f, 0x1.8p1f, 0x1.4p2f, 0x1.8p2f), /* 6 and 5 */
    REAL(MAX, 0x1p0f, 0x1.8p1f, 0x1.4p2f, 0x1.4p2f), /* 3 and 5 */
    REAL(MAX, 0, INFINITY, -0x1.4p2f, -0x1.4p2f),    /* NaN and -5 */
    REAL(MAX, NAN, 0x1p0f, 0x1.4p2f, 0x1.4p2f),      /* NaN and 5 */
    REAL(MAX, 0x1p0f, INFINITY, 0x1.4p2f, INFINITY),
    REAL(MAX, 0x1p0f, -INFINITY, -0x1.4p2f, -0x1.4p2f),
    REAL(MIN, 0x1p1f, 0x1.8p1f, 0x1.4p2f, 0x1.4p2f), /* 6 and 5 */
    REAL(MIN, 0x1p0f, 0x1.8p1f, 0x1.4p2f, 0x1.8p1f), /* 3 and 5 */
    REAL(MIN, 0, INFINITY, 0x1.4p2f, 0x1.4p2f),      /* NaN and 5 */
    REAL(MIN, NAN, 0x1p0f, -0x1.4p2f, -0x1.4p2f),    /* NaN and -5 */
    REAL(MIN, 0x1p0f, -INFINITY, -0x1.4p2f, -INFINITY),
    REAL(MIN, 0x1p0f, INFINITY, 0x1.4p2f, 0x1.4p2f),
    REAL(MAGNITUDE, -0x1.8p1f, 0, 0, 0x1.8p1f),
    REAL(MAGNITUDE, -INFINITY, 0, 0, INFINITY),
    REAL(CONVERTED, 0x1.fep0f, 0, 0, 255),  /* bits 16 to 23 of 0x3FFF0000 */
    REAL(CONVERTED, -0x1.02p0f, 0, 0, 129), /* of 0xBF810000 */

    WORD(RELATIONS, 0x1p0f, 0x1p1f, 0, LESS),
    WORD(RELATIONS, -INFINITY, -0x1.fffffep127f, 0, LESS),
    WORD(RELATIONS, 0x1p1f, 0x1p0f, 0, GREATER),
    WORD(RELATIONS, 0x1p0f, 0x1p0f, 0, EQUAL),
    WORD(RELATIONS, -0.0f, 0, 0, EQUAL),
    WORD(RELATIONS, NAN, 0x1p0f, 0, UNORDERED),
    WORD(RELATIONS, 0x1p0f, NAN, 0, UNORDERED),
    WORD(RELATIONS, NAN, NAN, 0, UNORDERED),
    {PROBED_RELATIONS, {0x1p-130f, 0, 0}, {.word = GREATER}, {.word = EQUAL}},
    WORD(ITSELF, 0x1p0f, 0, 0, 1),
    WORD(ITSELF, NAN, 0, 0, 0),
    WORD(LANE_BITS, 0x1p0f, 0x1p1f, 0, 1),
    WORD(LANE_BITS, 0x1p1f, 0x1p0f, 0, 0),
    WORD(LANE_BITS, NAN, 0x1p0f, 0, 0),
    WORD(SHIFTS, -0x1.cp0f, 0, 0, 0xC000017Fu), /* of 0xBFE00000: 0xC0000000 and 0x17F */
    WORD(EXPONENT, 0x1p5f, 0, 0, 2),            /* 5 / 2 */
    WORD(EXPONENT, 0x1p-3f, 0, 0, UINT32_MAX),  /* -3 / 2, toward 0 */
    WORD(LOWEST, 0x1p0f, 0, 0, 23),             /* of 0x3F800000 */
    WORD(LOWEST, 0x1.000002p0f, 0, 0, 0),
};
const size_t probe_case_count = sizeof probe_cases / sizeof *probe_cases;

/* ---- judging the results ---- */

static bool is_real(const probe_case *c) { return c->operation < PROBED_RELATIONS; }

static bool is_nan(uint32_t word) { return (word & 0x7FFFFFFFu) > 0x7F800000u; }

/* Any NaN equals a correct NaN, with any sign and payload. */
static bool is_right(const probe_case *c, uint32_t got) {
  return got == c->right.word || (is_real(c) && is_nan(got) && is_nan(c->right.word));
}

/* Whether the result is the flushed one. Zeros of either sign count. */
static bool is_flushed(const probe_case *c, uint32_t got) {
  if (c->flushed.word == c->right.word) return false;
  return got == c->flushed.word || (is_real(c) && c->flushed.word == 0 && got == 0x80000000u);
}

/* Findings for a group of operations: the first wrong result, of the nth case in this column, and whether any other
 * result was flushed. */
typedef struct finding {
  bool flushes, wrong;
  size_t nth;
  uint32_t column, got;
} finding;

typedef struct verdict {
  finding division, other; /* division: QUOTIENT and ROOT; other: all other operations */
  bool loops;              /* a loop of PROBED_ROUNDS rounds gave the correct value */
  uint32_t rounds;         /* rounds that the loop ran */
} verdict;

/* Every column has every case: row r has case r + k in column k. */
static size_t case_of(size_t row, uint32_t column) { return (row + column) % probe_case_count; }

static void judge_one(verdict *v, size_t nth, uint32_t column, uint32_t got) {
  const probe_case *c = &probe_cases[nth];
  finding *f = c->operation == PROBED_QUOTIENT || c->operation == PROBED_ROOT ? &v->division : &v->other;
  if (is_right(c, got)) return;
  if (is_flushed(c, got))
    f->flushes = true;
  else if (!f->wrong)
    *f = (finding){f->flushes, true, nth, column, got};
}

static uint32_t looped(uint32_t rounds) {
  uint32_t made = 1;
  for (uint32_t i = 0; i < rounds; i++) made = PROBED_ROUND(made);
  return made;
}

static verdict judge(const uint32_t *results, uint32_t columns) {
  const uint32_t *of_loop = results + probe_case_count * PROBED_OPERATIONS * columns;
  verdict v = {.loops = of_loop[1] == looped(PROBED_ROUNDS), .rounds = of_loop[0]};
  for (size_t row = 0; row < probe_case_count; row++)
    for (uint32_t k = 0; k < columns; k++) {
      const size_t nth = case_of(row, k);
      judge_one(&v, nth, k, results[(row * PROBED_OPERATIONS + probe_cases[nth].operation) * columns + k]);
    }
  return v;
}

static const struct {
  const char *of_lanes, *of_scalars;
} operation_texts[] = {
#define TEXTS(name, of_lanes, of_scalars) {#of_lanes, #of_scalars},
    PROBED_REALS(TEXTS) PROBED_WORDS(TEXTS)
#undef TEXTS
};

static slab_status refuse(const device *d, const finding *f) {
  const probe_case *c = &probe_cases[f->nth];
  const probe_value got = {.word = f->got};
  char where[40] = "of scalars", values[128] = "";
  const bool in_lane = f->column < d->info.lane_width;
  if (in_lane) snprintf(where, sizeof where, "in lane %u of %u", f->column, d->info.lane_width);
  if (is_real(c)) snprintf(values, sizeof values, ": %a, not %a", (double)got.real, (double)c->right.real);
  return fail(SLAB_UNSUPPORTED,
              "device \"%s\" computes otherwise than it must, so its answers would differ: %s %s with a = %a, b = %a, "
              "c = %a gave 0x%08x, not 0x%08x%s",
              d->info.name, in_lane ? operation_texts[c->operation].of_lanes : operation_texts[c->operation].of_scalars,
              where, (double)c->operands[0], (double)c->operands[1], (double)c->operands[2], f->got, c->right.word,
              values);
}

static slab_status refuse_loops(const device *d, uint32_t rounds) {
  return fail(SLAB_UNSUPPORTED, "device \"%s\" ends a loop of %u rounds after %u, so rays would miss what they hit",
              d->info.name, PROBED_ROUNDS, rounds);
}

/* ---- running the probe ---- */

/* The objects of one run; NULL where not created yet. */
typedef struct run {
  gpu_queue *queue;
  cl_program program;
  cl_kernel kernel;
  gpu_buffer *operands, *results;
  gpu_event *done;
} run;

static void run_end(run *r, const device *d) {
  if (r->done != NULL) driver_of(d)->release_event(r->done);
  if (r->kernel != NULL) clReleaseKernel(r->kernel);
  if (r->program != NULL) clReleaseProgram(r->program);
  gpu_release_buffer(d, &r->operands);
  gpu_release_buffer(d, &r->results);
  if (r->queue != NULL && r->queue != gpu_of(d)->queue) opencl_release_queue(d, r->queue);
}

/* Creates the objects of a run. It does not use the caller's queue, which may wait for something that the caller does
 * only after this call. */
static slab_status run_begin(run *r, const device *d, float *operands, size_t operand_bytes, size_t result_bytes) {
  const gpu_driver *driver = driver_of(d);
  cl_int code;
  slab_status status = gpu_of(d)->queue_is_callers ? objects_queue(d, &r->queue) : SLAB_OK;
  if (!gpu_of(d)->queue_is_callers) r->queue = gpu_of(d)->queue;
  if (status == SLAB_OK) status = program_of_probe(d, &r->program);
  if (status != SLAB_OK) return status;
  r->kernel = clCreateKernel(r->program, "probe", &code);
  if (r->kernel == NULL) return fail_cl(code, "clCreateKernel", "the probe");
  status = driver->create(d, GPU_READ, GPU_COPY, operand_bytes, operands, "the probe", &r->operands);
  return status == SLAB_OK ? driver->create(d, GPU_WRITE, GPU_OWN, result_bytes, NULL, "the probe", &r->results)
                           : status;
}

static slab_status run_kernel(run *r, const device *d, uint32_t *results, size_t result_bytes) {
  const gpu_driver *driver = driver_of(d);
  const cl_uint rounds = PROBED_ROUNDS;
  const gpu_argument list[] = {{.buffer = r->operands}, {.buffer = r->results}, {NULL, sizeof rounds, &rounds}};
  gpu_kernel *kernel = kernel_of(r->kernel);
  slab_status status = kernel_set(driver, kernel, list, sizeof list / sizeof *list, "the probe");
  if (status == SLAB_OK)
    status = driver->launch(r->queue, kernel, probe_case_count, 1, (gpu_order){.done = &r->done}, "the probe");
  /* a kernel that fails while it runs reports it only here */
  if (status == SLAB_OK) status = driver->wait(&r->done, 1, "the probe");
  return status == SLAB_OK
             ? driver->read(r->queue, r->results, 0, results, result_bytes, true, (gpu_order){0}, "the probe")
             : status;
}

static void fill_operands(float *operands, uint32_t columns) {
  for (size_t row = 0; row < probe_case_count; row++)
    for (uint32_t i = 0; i < 3; i++)
      for (uint32_t k = 0; k < columns; k++) *operands++ = probe_cases[case_of(row, k)].operands[i];
}

static slab_status ask(const device *d, verdict *v) {
  const uint32_t columns = d->info.lane_width + 1;
  const size_t cells = probe_case_count * columns, operand_bytes = cells * 3 * sizeof(float),
               result_bytes = (cells * PROBED_OPERATIONS + 2) * sizeof(uint32_t);
  unsigned char *space = malloc(operand_bytes + result_bytes);
  if (space == NULL) return fail_memory(operand_bytes + result_bytes, "the probe");
  float *operands = (float *)(void *)space;
  uint32_t *results = (uint32_t *)(void *)(space + operand_bytes);
  run r = {0};
  fill_operands(operands, columns);
  slab_status status = run_begin(&r, d, operands, operand_bytes, result_bytes);
  if (status == SLAB_OK) status = run_kernel(&r, d, results, result_bytes);
  run_end(&r, d);
  if (status == SLAB_OK) *v = judge(results, columns);
  free(space);
  return status;
}

/* ---- results, kept for each device of the process ---- */

/* The parameters in which programs of the probe differ. */
typedef struct question {
  cl_device_id id;
  uint32_t lanes;
  bool exact_divide, has_double;
} question;

enum { REMEMBERED = 64 };

/* Kept results. A device computes the same in every context. With more than REMEMBERED entries the oldest is replaced,
 * and its device tested again. */
static struct {
  os_mutex lock;
  size_t count;
  question questions[REMEMBERED];
  verdict verdicts[REMEMBERED];
} memory = {.lock = OS_MUTEX};

static bool same_question(const question *a, const question *b) {
  return a->id == b->id && a->lanes == b->lanes && a->exact_divide == b->exact_divide && a->has_double == b->has_double;
}

/* Returns a kept result, or tests the device. A sub-device is tested each time: after it is destroyed another one can
 * have its id. A test that failed to run is not kept. */
static slab_status ask_or_remember(const device *d, verdict *v) {
  const question q = {cl_of(d)->id, d->info.lane_width, d->info.exact_divide != 0, cl_of(d)->has_double};
  if (cl_of(d)->is_part) return ask(d, v);
  for (size_t i = 0; i < memory.count && i < REMEMBERED; i++)
    if (same_question(&memory.questions[i], &q)) {
      *v = memory.verdicts[i];
      return SLAB_OK;
    }
  const slab_status status = ask(d, v);
  if (status != SLAB_OK) return status;
  const size_t at = memory.count++ % REMEMBERED;
  memory.questions[at] = q;
  memory.verdicts[at] = *v;
  return SLAB_OK;
}

/* Applies the verdict to the device. *again: the device uses another kind of division from now on, which must be
 * tested. */
static slab_status heed(device *d, const verdict *v, bool *again) {
  *again = false;
  if (v->other.flushes || (v->division.flushes && !v->division.wrong)) d->info.denormals = 0;
  if (!v->loops) return refuse_loops(d, v->rounds);
  if (v->other.wrong) return refuse(d, &v->other);
  if (!v->division.wrong) return SLAB_OK;
  if (!d->info.exact_divide && !cl_of(d)->has_double) return refuse(d, &v->division);
  if (d->info.exact_divide)
    d->info.exact_divide = 0;
  else
    cl_of(d)->has_double = false;
  *again = true;
  return SLAB_OK;
}

slab_status probe_device(device *d) {
  slab_status status;
  bool again;
  os_mutex_lock(&memory.lock);
  do {
    verdict v;
    status = ask_or_remember(d, &v);
    again = false;
    if (status == SLAB_OK) status = heed(d, &v, &again);
  } while (status == SLAB_OK && again);
  os_mutex_unlock(&memory.lock);
  return status;
}

void probe_forget(void) {
  os_mutex_lock(&memory.lock);
  memory.count = 0;
  os_mutex_unlock(&memory.lock);
}
