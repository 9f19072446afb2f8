/* The report of a benchmark: a table, CSV and JSON files, and a comparison with an earlier run. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/formatted.h"
#include "base/plural.h"
#include "program/bench/bench.h"
#include "program/io/output.h"
#include "sets/compiler.h"

/* ---- the table -------------------------------------------------------------- */

/* For example "17.21 (16.90, 2 %)": best, median, spread of the middle half. */
static void print_rate(double work, const timing *t) {
  const timing_summary s = timing_summarise(t);
  if (t->rounds == 0)
    printf(" | %26s", "-");
  else
    printf(" | %9.3f (%8.3f, %3.0f%%)", rate_of(work, s.best), rate_of(work, s.median), 100 * s.spread);
}

static void print_head(const bench_run *run) {
  const slab_device_info *d = &run->device;
  printf("device   %s, %s, %s, %" PRIu32 " compute %s, %" PRIu32 " %s\n", d->name, d->platform, d->driver,
         d->compute_units, plural(d->compute_units, "unit", "units"), d->lane_width,
         plural(d->lane_width, "lane", "lanes"));
  printf("time     %s: best of the rounds; in brackets the median, and the spread of the middle half\n",
         run->processor_time ? "processor seconds, a compute unit's part" : "wall");
}

/* Whether some ceiling is known from the clock, too: else a column has nothing to say. */
static bool knows_clock(const bench_run *run) {
  for (int k = 0; k < CEILINGS; k++)
    if (ceiling_share(run, (ceiling_kind)k) > 0) return true;
  return false;
}

static void print_share_of_clock(const bench_run *run, ceiling_kind kind) {
  const double share = ceiling_share(run, kind);
  if (share > 0)
    printf(" | %12.1f %%\n", 100 * share);
  else
    printf(knows_clock(run) ? " | %14s\n" : "\n", "-");
  if (share > 0 && share < SHARE_LEAST)
    printf("  void: less than %.0f %% of clock x width: the machine was not quiet\n", 100 * SHARE_LEAST);
  if (share > SHARE_MOST) printf("  error: faster than clock x width\n");
}

static void print_ceilings(const bench_run *run) {
  printf("memory   buffers of %zu MiB\n", run->effort.memory >> 20);
  printf("clock    %.2f GHz, %s\n\n", 1e-9 * run->clock,
         run->device.type == SLAB_DEVICE_CPU ? "measured" : "as the driver says");
  printf("%-12s %-32s | %26s | %-5s%s\n", "ceiling", "", "best (median, spread)", "unit",
         knows_clock(run) ? " | of clock x width" : "");
  for (int k = 0; k < CEILINGS; k++) {
    if (run->ceilings[k].times.rounds == 0) continue;
    printf("%-12s %-32s", ceiling_names[k].name, ceiling_names[k].about);
    print_rate(run->ceilings[k].work * ceiling_names[k].scale, &run->ceilings[k].times);
    printf(" | %-5s", ceiling_names[k].unit);
    print_share_of_clock(run, (ceiling_kind)k);
  }
}

/* Whether kernels were timed alone: casts on the processor have none. */
static bool times_kernels(const bench_run *run) {
  for (size_t i = 0; i < run->cell_count; i++)
    if (run->cells[i].kernel.rounds > 0) return true;
  return false;
}

/* How near a call comes to its slowest stage. */
static double share_of_stage(const bench_cell *c) { return rate_of(c->stage_seconds, timing_summarise(&c->host).best); }

static void print_share(const bench_cell *c) {
  if (c->tests > 0)
    printf(" | %8.3f", 1e-9 * rate_of(c->tests, c->quickest));
  else
    printf(" | %8s", "-");
  if (c->share > 0)
    printf(" | %5.1f %%", 100 * c->share);
  else
    printf(" | %7s", "-");
}

static void print_cell(const bench_run *run, const bench_cell *c) {
  printf("%-4s %-9s %8" PRIu32 " %-7s %-8s %10" PRIu64, c->layout, c->shape, c->primitives, c->set, c->query, c->rays);
  if (c->wrong) {
    printf(" | wrong answers: the figures do not count\n");
    return;
  }
  print_rate(1e-6 * (double)c->rays, &c->host);
  if (times_kernels(run)) print_rate(1e-6 * (double)c->rays, &c->kernel);
  print_share(c);
  printf(" | %-10s | %3.0f %%\n", c->bound, 100 * c->hit_share);
  if (c->share > SHARE_MOST) printf("  %s: faster than its ceiling\n", bench_verdict_names[bench_too_fast(run)]);
}

/* "transfer" has a table of its own: bytes each way, and the slowest stage. */
static bool is_transfer(const char *group) { return !strcmp(group, "transfer"); }

static void print_bytes(double bytes, const timing *t) {
  const timing_summary s = timing_summarise(t);
  printf(" | %7.3f (%7.3f)", rate_of(1e-9 * bytes, s.best), rate_of(1e-9 * bytes, s.median));
}

static void print_transfer(const bench_run *run, const bench_cell *c) {
  printf("%-8s %-8s %10" PRIu64, c->query, bench_memory_names[c->memory], c->rays);
  if (c->wrong) {
    printf(" | wrong answers: the figures do not count\n");
    return;
  }
  print_rate(1e-6 * (double)c->rays, &c->host);
  if (bench_in_place(run))
    printf(" | %17s | %17s", "-", "-");
  else {
    print_bytes(c->ray_bytes, &c->host);
    print_bytes(c->result_bytes, &c->host);
  }
  if (c->stage_seconds > 0)
    printf(" | %10.3f | %5.1f %% | %s\n", rate_of(1e-6 * (double)c->rays, c->stage_seconds), 100 * share_of_stage(c),
           c->stage);
  else
    printf(" | %10s | %7s | -\n", "-", "-");
}

static void print_transfers_head(const bench_run *run, const bench_cell *c) {
  printf("\nCasts against the memory that rays and hits lie in: %" PRIu32 " %s, %s rays\n", c->primitives, c->shape,
         c->set);
  if (bench_in_place(run))
    puts("The device casts in the memory of the host, whatever its kind: nothing is transferred.");
  else
    puts("The ceiling is the slowest of upload, download and kernel, each alone, since all three work at once.");
  printf("%-8s %-8s %10s | %26s | %17s | %17s | %10s | %7s | %s\n", "query", "memory", "rays", "host to host, Mrays/s",
         "up, GB/s", "down, GB/s", "ceiling", "of it", "which is");
}

static void print_columns(const bench_run *run) {
  printf("%-4s %-9s %8s %-7s %-8s %10s | %26s", "", "shape", "count", "rays", "query", "rays", "host to host, Mrays/s");
  if (times_kernels(run)) printf(" | %26s", "kernel alone, Mrays/s");
  printf(" | %8s | %7s | %-10s | %5s\n", "Gtests/s", "ceiling", "bound by", "hits");
}

static void print_group(const bench_run *run, const bench_cell *first) {
  static const char *const titles[][2] = {{"work", "Workloads"},
                                          {"batch", "Throughput against the size of the batch"},
                                          {"scene", "Throughput against the size of the scene"}};
  if (is_transfer(first->group)) {
    print_transfers_head(run, first);
    return;
  }
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
    if (!strcmp(titles[i][0], first->group)) printf("\n%s\n", titles[i][1]);
  print_columns(run);
}

void bench_print(const bench_run *run) {
  print_head(run);
  print_ceilings(run);
  for (size_t i = 0; i < run->cell_count; i++) {
    const bench_cell *c = &run->cells[i];
    if (i == 0 || strcmp(c->group, c[-1].group) != 0) print_group(run, c);
    if (is_transfer(c->group))
      print_transfer(run, c);
    else
      print_cell(run, c);
  }
  if (run->cell_count == 0) return;
  puts(
      "\nA ceiling bounds a cast that would need 40 % of its time for that alone. Otherwise latency bounds it: that "
      "of\n"
      "memory, and of steps that follow each other. Of each cast a sample of answers is checked against the CPU\n"
      "reference, and the answers of all rounds against each other.");
  if (times_kernels(run)) puts("The kernel alone is slab_enqueue's. It takes rays through a tree one by one.");
}

/* ---- files ------------------------------------------------------------------ */

static const char *time_kind(const bench_run *run) { return run->processor_time ? "processor" : "wall"; }

/* ---- CSV ---- */

/* A CSV file that is written line by line. A failure is printed once; nothing is written after it. */
typedef struct table {
  output *out;
  int failed;
  char origin[512]; /* columns that are equal in every row */
} table;

static void add_line(table *t, const char *format, ...) FORMATTED(2, 3);
static void add_line(table *t, const char *format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (!t->failed) t->failed = output_write(t->out, line, strlen(line));
}

/* A figure as text; empty if it is not known. */
static const char *figure(char text[32], int known, double value) {
  snprintf(text, 32, "%.6g", value);
  return known ? text : "";
}

static void add_ceiling(table *t, const bench_run *run, ceiling_kind kind) {
  const bench_ceiling *c = &run->ceilings[kind];
  const timing_summary s = timing_summarise(&c->times);
  const double scale = ceiling_names[kind].scale;
  char share[32];
  if (c->times.rounds > 0)
    add_line(t, "%s,ceiling,%s,,,,,,%.6g,%.6g,%.4f,,,,%s,,%s,,,,,,,,\n", t->origin, ceiling_names[kind].name,
             rate_of(scale * c->work, s.best), rate_of(scale * c->work, s.median), s.spread, ceiling_names[kind].unit,
             figure(share, c->known > 0, ceiling_share(run, kind)));
}

static void add_cell(table *t, const bench_run *run, const bench_cell *c) {
  const timing_summary host = timing_summarise(&c->host), kernel = timing_summarise(&c->kernel);
  const double rays = 1e-6 * (double)c->rays;
  const int alone = c->kernel.rounds > 0, flat = c->tests > 0;
  const bool copies = !bench_in_place(run);
  char rate[32], median[32], spread[32], tests[32], share[32], intensity[32], up[32], down[32], stage[32];
  if (c->wrong) return;
  add_line(
      t, "%s,%s,%s,%s,%" PRIu32 ",%s,%s,%" PRIu64 ",%.6g,%.6g,%.4f,%s,%s,%s,Mrays/s,%s,%s,%s,%s,%.4f,%s,%s,%s,%s,%s\n",
      t->origin, c->group, c->layout, c->shape, c->primitives, c->set, c->query, c->rays, rate_of(rays, host.best),
      rate_of(rays, host.median), host.spread, figure(rate, alone, rate_of(rays, kernel.best)),
      figure(median, alone, rate_of(rays, kernel.median)), figure(spread, alone, kernel.spread),
      figure(tests, flat, 1e-9 * rate_of(c->tests, c->quickest)), figure(share, c->share > 0, c->share),
      figure(intensity, flat, c->intensity), c->bound, c->hit_share, bench_memory_names[c->memory],
      figure(up, copies, 1e-9 * rate_of(c->ray_bytes, host.best)),
      figure(down, copies, 1e-9 * rate_of(c->result_bytes, host.best)), c->stage,
      figure(stage, c->stage_seconds > 0, rate_of(rays, c->stage_seconds)));
}

int bench_save_csv(const char *path, const bench_run *run) {
  table t = {.out = output_open(path, OUTPUT_NEW)};
  if (!t.out) return EXIT_FAILED;
  snprintf(t.origin, sizeof t.origin, "%s,\"%s\",\"%s\",\"%s\",%s,%s", timing_date_now().text, run->device.name,
           run->device.driver, COMPILER, SLAB_COMMIT, time_kind(run));
  add_line(
      &t,
      "date,device,driver,compiler,commit,time,group,layout,shape,primitives,ray_set,query,rays,host,host_median,"
      "host_spread,kernel,kernel_median,kernel_spread,unit,gtests,share,operations_per_byte,bound,hit_share,memory,"
      "up,down,way,way_alone\n");
  for (int k = 0; k < CEILINGS; k++) add_ceiling(&t, run, (ceiling_kind)k);
  for (size_t i = 0; i < run->cell_count; i++) add_cell(&t, run, &run->cells[i]);
  if (!t.failed) return output_commit(t.out) ? EXIT_FAILED : EXIT_DONE;
  output_discard(t.out);
  return EXIT_FAILED;
}

/* ---- JSON ---- */

/* The rates of a set of rounds; null if there are none. */
static json_t *rates(const timing *t, double work) {
  const timing_summary s = timing_summarise(t);
  if (t->rounds == 0) return json_null();
  return json_pack("{s:f, s:f, s:f, s:i}", "best", rate_of(work, s.best), "median", rate_of(work, s.median), "spread",
                   s.spread, "rounds", t->rounds);
}

static json_t *describe_ceiling(const bench_run *run, ceiling_kind kind) {
  const bench_ceiling *c = &run->ceilings[kind];
  return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "name", ceiling_names[kind].name, "about",
                   ceiling_names[kind].about, "unit", ceiling_names[kind].unit, "rate",
                   rates(&c->times, ceiling_names[kind].scale * c->work), "clock_x_width",
                   c->known > 0 ? json_real(ceiling_names[kind].scale * c->known) : json_null(), "share",
                   c->known > 0 ? json_real(ceiling_share(run, kind)) : json_null());
}

static json_t *describe_cell(const bench_run *run, const bench_cell *c) {
  const double rays = 1e-6 * (double)c->rays;
  const bool copies = !bench_in_place(run);
  return json_pack(
      "{s:s, s:s, s:s, s:I, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:f, s:s, s:f, s:I, s:b, s:s, s:o, s:o, "
      "s:s, s:o}",
      "group", c->group, "layout", c->layout, "shape", c->shape, "primitives", (json_int_t)c->primitives, "ray_set",
      c->set, "query", c->query, "rays", (json_int_t)c->rays, "host_mrays", rates(&c->host, rays), "kernel_mrays",
      rates(&c->kernel, rays), "gtests", c->tests > 0 ? json_real(1e-9 * rate_of(c->tests, c->quickest)) : json_null(),
      "share", c->share > 0 ? json_real(c->share) : json_null(), "operations_per_byte", c->intensity, "bound", c->bound,
      "hit_share", c->hit_share, "checked", (json_int_t)c->checked, "wrong", c->wrong, "memory",
      bench_memory_names[c->memory], "up_gbytes", copies ? rates(&c->host, 1e-9 * c->ray_bytes) : json_null(),
      "down_gbytes", copies ? rates(&c->host, 1e-9 * c->result_bytes) : json_null(), "way", c->stage, "way_mrays",
      c->stage_seconds > 0 ? json_real(rate_of(rays, c->stage_seconds)) : json_null());
}

/* Appends a value. NULL if either is NULL (out of memory), which json_save reports. */
static json_t *append(json_t *array, json_t *value) {
  if (array && json_array_append_new(array, value) == 0) return array;
  json_decref(array);
  return NULL;
}

int bench_save_json(const char *path, const bench_run *run) {
  json_t *ceilings = json_array(), *cells = json_array();
  for (int k = 0; k < CEILINGS; k++)
    if (run->ceilings[k].times.rounds) ceilings = append(ceilings, describe_ceiling(run, (ceiling_kind)k));
  for (size_t i = 0; i < run->cell_count; i++) cells = append(cells, describe_cell(run, &run->cells[i]));
  json_t *document = json_pack(
      "{s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:s, s:s, s:s, s:f, s:s, s:o, s:o}", "device", run->device.name, "platform",
      run->device.platform, "driver", run->device.driver, "version", run->device.version, "compute_units",
      (json_int_t)run->device.compute_units, "lanes", (json_int_t)run->device.lane_width, "compiler", COMPILER,
      "commit", SLAB_COMMIT, "date", timing_date_now().text, "time", time_kind(run), "clock_hz", run->clock, "verdict",
      bench_verdict_names[bench_verdict_of(run)], "ceilings", ceilings, "cells", cells);
  return json_save(path, document) ? EXIT_FAILED : EXIT_DONE;
}

/* ---- comparison ------------------------------------------------------------- */

json_t *bench_load(const char *path) {
  json_error_t error;
  json_t *earlier = json_load_file(path, 0, &error);
  if (earlier && json_is_array(json_object_get(earlier, "ceilings")) &&
      json_is_array(json_object_get(earlier, "cells")))
    return earlier;
  if (earlier)
    complain("cannot compare with %s: it is no JSON of `slabcast bench`", path);
  else
    complain("cannot compare with %s: line %d: %s", path, error.line, error.text);
  json_decref(earlier);
  return NULL;
}

static const char *text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static double best_of(const json_t *object, const char *key) {
  return json_number_value(json_object_get(json_object_get(object, key), "best"));
}

/* Earlier files do not name the memory, and have only the ordinary one. */
static const char *memory_of(const json_t *old) {
  return json_object_get(old, "memory") ? text_of(old, "memory") : bench_memory_names[MEMORY_ORDINARY];
}

static bool same_cell(const json_t *old, const bench_cell *c) {
  return !strcmp(text_of(old, "group"), c->group) && !strcmp(text_of(old, "layout"), c->layout) &&
         !strcmp(text_of(old, "shape"), c->shape) && !strcmp(text_of(old, "ray_set"), c->set) &&
         !strcmp(text_of(old, "query"), c->query) && !strcmp(memory_of(old), bench_memory_names[c->memory]) &&
         json_integer_value(json_object_get(old, "primitives")) == (json_int_t)c->primitives &&
         json_integer_value(json_object_get(old, "rays")) == (json_int_t)c->rays &&
         !json_is_true(json_object_get(old, "wrong"));
}

static void print_ratio(double then, double now) {
  if (then > 0 && now > 0)
    printf(" | %10.3f %10.3f %6.2f", then, now, now / then);
  else
    printf(" | %10s %10s %6s", "-", "-", "-");
}

static void compare_ceilings(const json_t *ceilings, const bench_run *run) {
  for (int k = 0; k < CEILINGS; k++) {
    const ceiling_name *name = &ceiling_names[k];
    for (size_t i = 0; i < json_array_size(ceilings); i++) {
      const json_t *old = json_array_get(ceilings, i);
      if (strcmp(text_of(old, "name"), name->name) != 0) continue;
      printf("%-12s %-59s", name->name, name->unit);
      print_ratio(best_of(old, "rate"), name->scale * ceiling_best(run, (ceiling_kind)k));
      putchar('\n');
    }
  }
}

/* Compares the cell if the earlier run measured it too. */
static bool compare_cell(const json_t *cells, const bench_cell *c) {
  const double rays = 1e-6 * (double)c->rays;
  for (size_t i = 0; !c->wrong && i < json_array_size(cells); i++) {
    const json_t *old = json_array_get(cells, i);
    if (!same_cell(old, c)) continue;
    printf("%-8s %-4s %-9s %8" PRIu32 " %-7s %-8s %-8s %10" PRIu64 "   ", c->group, c->layout, c->shape, c->primitives,
           c->set, c->query, bench_memory_names[c->memory], c->rays);
    print_ratio(best_of(old, "host_mrays"), rate_of(rays, timing_summarise(&c->host).best));
    print_ratio(best_of(old, "kernel_mrays"), rate_of(rays, timing_summarise(&c->kernel).best));
    putchar('\n');
    return true;
  }
  return false;
}

void bench_compare(const json_t *earlier, const bench_run *run) {
  size_t alone = 0;
  printf("\nCompared with %s, %s, commit %s, %s time\n", text_of(earlier, "date"), text_of(earlier, "device"),
         text_of(earlier, "commit"), text_of(earlier, "time"));
  printf("%-72s | %10s %10s %6s | %10s %10s %6s\n", "best rates, for casts in Mrays/s", "then", "now", "ratio",
         "kernel", "now", "ratio");
  compare_ceilings(json_object_get(earlier, "ceilings"), run);
  for (size_t i = 0; i < run->cell_count; i++)
    alone += !compare_cell(json_object_get(earlier, "cells"), &run->cells[i]);
  if (alone) printf("%zu %s not measured then\n", alone, plural(alone, "cast was", "casts were"));
}
