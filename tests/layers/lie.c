/* An OpenCL layer that makes a device compute differently from what it reports ("a lie"). The layer changes the
 * source text of programs, or adds a build option. Changes to text of lanes.h affect casts too; the other changes
 * affect only the probe.
 *
 * A test in the same process sets a lie with slab_lie_arm (lie.h). A program gets one from SLAB_LIE=NAME.
 * SLAB_LIE_FILE names the file that receives the report; without it, stderr does. */
#include "lie.h"

#include "layer.h"

enum { CHANGES = 5 };

typedef struct lie {
  const char *name;
  const char *option; /* NULL: no option */
  struct {
    const char *old, *new;
  } changes[CHANGES]; /* each replaces all occurrences of the old text; the first must occur in the probe's source */
} lie;

#define QUOTIENT_BY_RECIPROCAL \
  { "((a) / (b))", "((a) * (1.0f / (b)))" }
#define ROOT_BY_RECIPROCAL                                               \
  {"lanes_sqrt(a) sqrt(a)", "lanes_sqrt(a) ((a) * (1.0f / sqrt(a)))"}, { \
    "scalar_sqrt(a) sqrt(a)", "scalar_sqrt(a) ((a) * (1.0f / sqrt(a)))"  \
  }
#define DOUBLE_AS_FLOAT                                                                     \
  {"(double)(a) / (double)(b)", "(double)((a) * (1.0f / (b)))"},                            \
      {"convert_double8(a) / convert_double8(b)", "convert_double8((a) * (1.0f / (b)))"}, { \
    "convert_double16(a) / convert_double16(b)", "convert_double16((a) * (1.0f / (b)))"     \
  }

static const lie lies[] = {
    /* lies of a driver or its options */
    {"contracts", NULL, {{"FP_CONTRACT OFF", "FP_CONTRACT ON"}}},
    {"fast math", " -cl-fast-relaxed-math", {{0}}},
    {"finite math", " -cl-finite-math-only", {{0}}},
    {"flushes", " -cl-denorms-are-zero", {{0}}},
    {"fma not fused", NULL, {{"lanes_fma(a, b, c) fma(a, b, c)", "lanes_fma(a, b, c) ((a) * (b) + (c))"}}},
    {"fma through double", NULL, {{"lanes_fma(a, b, c) fma(a, b, c)", "lanes_fma(a, b, c) lie_fma(a, b, c)"}}},
    {"quotients", NULL, {QUOTIENT_BY_RECIPROCAL}},
    {"quotients of lanes", NULL, {{"lanes_divide(a, b) ((a) / (b))", "lanes_divide(a, b) ((a) * (1.0f / (b)))"}}},
    {"quotients of scalars", NULL, {{"scalar_divide(a, b) ((a) / (b))", "scalar_divide(a, b) ((a) * (1.0f / (b)))"}}},
    {"quotients by 0", NULL, {{"((a) / (b))", "((a) / (b) * ((b) / (b)))"}}},
    {"roots", NULL, {ROOT_BY_RECIPROCAL}},
    {"quotients, double too", NULL, {QUOTIENT_BY_RECIPROCAL, DOUBLE_AS_FLOAT}},
    {"roots, double too",
     NULL,
     {ROOT_BY_RECIPROCAL,
      {"sqrt((double)(a))", "(double)((a) * (1.0f / sqrt(a)))"},
      {"(sqrt(convert_double", "(lie_root(convert_double"}}},
    {"whole numbers too", NULL, {{"((a) / (b))", "((a) * (1.0f / (b)))"}, {"m %= n", "m = 0u"}, DOUBLE_AS_FLOAT}},
    {"max keeps NaN", NULL, {{"fresh > kept ? fresh : kept", "fresh < kept ? kept : fresh"}}},
    {"min keeps NaN", NULL, {{"fresh < kept ? fresh : kept", "fresh > kept ? kept : fresh"}}},

    {"loops end", NULL, {{"i < rounds", "i < min(rounds, 65535u)"}}},

    /* lies of hardware */
    {"sums toward 0", NULL, {{"a + b, a + b)", "lie_sum(a, b), lie_sum(a, b))"}}},
    {"sums away from ties", NULL, {{"a + b, a + b)", "lie_away(a, b), lie_away(a, b))"}}},
    {"products toward 0", NULL, {{"X(PRODUCT, (a * b), (a * b))", "X(PRODUCT, lie_product(a, b), lie_product(a, b))"}}},
    {"differences as sums", NULL, {{"X(DIFFERENCE, a - b, a - b)", "X(DIFFERENCE, a - b * 0.99f, a - b * 0.99f)"}}},
    {"lanes alone", NULL, {{"X(SUM, a + b, a + b)", "X(SUM, lie_sum(a, b), a + b)"}}},
    {"scalars alone", NULL, {{"X(SUM, a + b, a + b)", "X(SUM, a + b, lie_sum(a, b))"}}},
    {"0 * inf is 0", NULL, {{"(a * b)", "(a == 0.0f || b == 0.0f ? 0.0f * a * 0.0f : a * b)"}}},
    {"contracts differences", NULL, {{"c - (a * b)", "fma(-(a), b, c)"}}},
    {"contracts two products", NULL, {{"(a * b) - (b * c)", "fma(a, b, -(b * c))"}}},
    {"reassociates", NULL, {{"a + b + c", "a + (b + c)"}}},
    {"distributes", NULL, {{"(a - b) * c", "a * c - b * c"}}},
    {"NaN is less", NULL, {{"relation(word, a < b, 0)", "relation(word, !(a >= b), 0)"}}},
    {"NaN is equal", NULL, {{"relation(word, a == b, 2)", "relation(word, !(a != b) | (a != a), 2)"}}},
    {"bytes have signs", NULL, {{"(float)(byte_of(as_uint(a)))", "(float)(char)(byte_of(as_uint(a)))"}}},
    {"shifts keep the sign", NULL, {{"as_uint(a) >> 23)", "(uint)(as_int(a) >> 23))"}}},
    {"halves round down", NULL, {{" - 127) / 2", " - 127) >> 1"}}},
    {"counts one too many", NULL, {{"popcount(~", "1u + popcount(~"}}},
    {"a lane is lost", NULL, {{"(lanes_bits(a < b))", "(lanes_bits(a < b) & ~1u)"}}},
    {"magnitudes keep the sign", NULL, {{"fabs(x)", "(x)"}}},
    {"flushes results", NULL, {{"X(DIFFERENCE, a - b, a - b)", "X(DIFFERENCE, lie_flush(a - b), lie_flush(a - b))"}}},
    {"flushes operands",
     NULL,
     {{"X(SUM, a + b, a + b)", "X(SUM, lie_flush(a) + lie_flush(b), lie_flush(a) + lie_flush(b))"}}},
    {"flushes residuals", NULL, {{"lanes_fma(a, b, c) fma(a, b, c)", "lanes_fma(a, b, c) lie_flush(fma(a, b, c))"}}},
};

/* For each width. It precedes all changed text. lie_sum and lie_product round toward 0 and lie_away rounds ties away
 * from 0; they use the error of the correctly rounded result. */
static const char prelude[] =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "#ifdef cl_khr_fp64\n"
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "#define LIE_DOUBLE(F, D, to_d, to_f) \\\n"
    "  LIE F lie_fma(F a, F b, F c) { return to_f(to_d(a) * to_d(b) + to_d(c)); } \\\n"
    "  LIE D lie_root(D a) { return to_d(to_f(a) * (1.0f / sqrt(to_f(a)))); }\n"
    "#else\n"
    "#define LIE_DOUBLE(F, D, to_d, to_f)\n"
    "#endif\n"
    "#define LIE static __attribute__((overloadable, unused))\n"
    "#define LIES(F, U, f, u) \\\n"
    "  LIE F lie_flush(F x) { return fabs(x) < 0x1p-126f ? (F)(0.0f) : x; } \\\n"
    "  LIE F lie_error(F a, F b, F s) { const F v = s - a; return (a - (s - v)) + (b - v); } \\\n"
    "  LIE F lie_sum(F a, F b) { \\\n"
    "    const F s = a + b; return lie_error(a, b, s) * s < 0.0f ? f(u(s) - 1u) : s; } \\\n"
    "  LIE F lie_away(F a, F b) { \\\n"
    "    const F s = a + b, e = lie_error(a, b, s); \\\n"
    "    return e * s > 0.0f && e + e == f(u(s) + 1u) - s ? f(u(s) + 1u) : s; } \\\n"
    "  LIE F lie_product(F a, F b) { \\\n"
    "    const F p = a * b; return fma(a, b, -p) * p < 0.0f ? f(u(p) - 1u) : p; }\n"
    "LIES(float, uint, as_float, as_uint)\n"
    "LIES(float8, uint8, as_float8, as_uint8)\n"
    "LIES(float16, uint16, as_float16, as_uint16)\n"
    "LIE_DOUBLE(float, double, convert_double, convert_float)\n"
    "LIE_DOUBLE(float8, double8, convert_double8, convert_float8)\n"
    "LIE_DOUBLE(float16, double16, convert_double16, convert_float16)\n";

static struct {
  const lie *lie;
  int device;
  unsigned probes, planted;
} order = {.device = -1};

static int is_probe(const char *text) { return strstr(text, "kernel void probe(") != NULL; }

static unsigned occurrences(const char *text, const char *part) {
  unsigned n = 0;
  for (; (text = strstr(text, part)); text += strlen(part)) n++;
  return n;
}

/* Returns malloc'ed text. Frees `text`. */
static char *changed(char *text, const char *old, const char *new) {
  char *to = malloc(strlen(text) + 1 + occurrences(text, old) * strlen(new)), *end = to;
  if (!to) abort();
  const char *from = text;
  for (const char *next; (next = strstr(from, old)); from = next + strlen(old))
    end += sprintf(end, "%.*s%s", (int)(next - from), from, new);
  strcpy(end, from);
  free(text);
  return to;
}

/* Returns malloc'ed text. */
static char *joined(cl_uint n, const char **texts, const size_t *lengths) {
  size_t size = 0;
  char *all = calloc(1, 1);
  for (cl_uint i = 0; all && i < n; i++) {
    const size_t more = lengths && lengths[i] ? lengths[i] : strlen(texts[i]);
    all = realloc(all, size + more + 1);
    if (all) memcpy(all + size, texts[i], more);
    size += more;
    if (all) all[size] = 0;
  }
  if (!all) abort();
  return all;
}

/* Whether the context's device is one that lies. */
static int lies_in(cl_context context) {
  cl_device_id id = NULL, ids[8];
  cl_platform_id platform = NULL;
  cl_uint n = 0;
  if (!order.lie || order.device < 0) return order.lie != NULL;
  layer.target->clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof id, &id, NULL);
  layer.target->clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
  layer.target->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 8, ids, &n);
  return (cl_uint)order.device < n && ids[order.device] == id;
}

static cl_program CL_API_CALL create_lying(cl_context context, cl_uint n, const char **texts, const size_t *lengths,
                                           cl_int *status) {
  char *text = joined(n, texts, lengths);
  const int probe = is_probe(text), lying = lies_in(context);
  order.probes += (unsigned)probe;
  if (lying && order.lie->changes[0].old) {
    order.planted += probe && strstr(text, order.lie->changes[0].old);
    for (int i = 0; i < CHANGES && order.lie->changes[i].old; i++)
      text = changed(text, order.lie->changes[i].old, order.lie->changes[i].new);
    char *whole = malloc(sizeof prelude + strlen(text));
    if (!whole) abort();
    sprintf(whole, "%s%s", prelude, text);
    free(text);
    text = whole;
  }
  const char *only = text;
  cl_program program = layer.target->clCreateProgramWithSource(context, 1, &only, NULL, status);
  free(text);
  return program;
}

static cl_int CL_API_CALL build_lying(cl_program program, cl_uint n, const cl_device_id *ids, const char *options,
                                      void(CL_CALLBACK *notify)(cl_program, void *), void *user) {
  cl_context context = NULL;
  char text[1024];
  layer.target->clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof(cl_context), &context, NULL);
  const char *added = lies_in(context) && order.lie->option ? order.lie->option : "";
  snprintf(text, sizeof text, "%s%s", options ? options : "", added);
  order.planted += *added != 0;
  return layer.target->clBuildProgram(program, n, ids, text, notify, user);
}

/* ---- control and report ------------------------------------------------------ */

EXPORT int slab_lie_arm(const char *name, int device) {
  order.lie = NULL;
  order.device = device;
  order.probes = order.planted = 0;
  for (size_t i = 0; name && !order.lie && i < sizeof lies / sizeof *lies; i++)
    if (!strcmp(lies[i].name, name)) order.lie = &lies[i];
  return !name || order.lie;
}

EXPORT lie_report slab_lie_told(void) { return (lie_report){order.probes, order.planted}; }

static void layer_hook(cl_icd_dispatch *d) {
  const char *name = getenv("SLAB_LIE");
  if (!slab_lie_arm(name, -1)) {
    fprintf(stderr, "lying layer: SLAB_LIE=%s is no lie\n", name);
    abort();
  }
  d->clCreateProgramWithSource = create_lying;
  d->clBuildProgram = build_lying;
}

static const char *const layer_report_file = "SLAB_LIE_FILE";

static size_t layer_report(char *text, size_t capacity) {
  const int used =
      snprintf(text, capacity, "slabcast lying layer: %u probes, %u of them lied\n", order.probes, order.planted);
  return used > 0 && (size_t)used < capacity ? (size_t)used : capacity;
}
