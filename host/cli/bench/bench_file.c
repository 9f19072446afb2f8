/* Writes the benchmark as CSV and JSON: the figures, the device, the versions and the time. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "compiler.h"
#include "io/json_file.h"
#include "io/output.h"

static const char *time_kind(const bench_run *run) { return run->processor_time ? "processor" : "wall"; }

static const char *date_now(char text[32]) {
  const time_t now = time(NULL);
  struct tm parts;
  text[0] = '\0';
  if (gmtime_r(&now, &parts)) strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

/* ---- CSV ---- */

/* A CSV file that is written line by line. A failure is printed once; nothing is written after it. */
typedef struct table {
  output *out;
  int failed;
  char origin[512]; /* columns that are equal in every row */
} table;

static void add_line(table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
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
    add_line(t, "%s,ceiling,%s,,,,,,%.6g,%.6g,%.4f,,,,%s,,%s,,,\n", t->origin, ceiling_names[kind].name,
             rate_of(scale * c->work, s.best), rate_of(scale * c->work, s.median), s.spread, ceiling_names[kind].unit,
             figure(share, c->known > 0, ceiling_share(run, kind)));
}

static void add_cell(table *t, const bench_cell *c) {
  const timing_summary host = timing_summarise(&c->host), kernel = timing_summarise(&c->kernel);
  const double rays = 1e-6 * (double)c->rays;
  const int alone = c->kernel.rounds > 0, flat = c->tests > 0;
  char rate[32], median[32], spread[32], tests[32], share[32], intensity[32];
  if (c->wrong) return;
  add_line(t, "%s,%s,%s,%s,%" PRIu32 ",%s,%s,%" PRIu64 ",%.6g,%.6g,%.4f,%s,%s,%s,Mrays/s,%s,%s,%s,%s,%.4f\n", t->origin,
           c->group, c->layout, c->shape, c->primitives, c->set, c->query, c->rays, rate_of(rays, host.best),
           rate_of(rays, host.median), host.spread, figure(rate, alone, rate_of(rays, kernel.best)),
           figure(median, alone, rate_of(rays, kernel.median)), figure(spread, alone, kernel.spread),
           figure(tests, flat, 1e-9 * rate_of(c->tests, c->quickest)), figure(share, flat, c->share),
           figure(intensity, flat, c->intensity), c->bound, c->hit_share);
}

int bench_save_csv(const char *path, const bench_run *run) {
  char date[32];
  table t = {.out = output_open(path, OUTPUT_NEW)};
  if (!t.out) return EXIT_FAILED;
  snprintf(t.origin, sizeof t.origin, "%s,\"%s\",\"%s\",\"%s\",%s,%s", date_now(date), run->device.name,
           run->device.driver, COMPILER, SLAB_COMMIT, time_kind(run));
  add_line(&t,
           "date,device,driver,compiler,commit,time,group,layout,shape,primitives,ray_set,query,rays,host,host_median,"
           "host_spread,kernel,kernel_median,kernel_spread,unit,gtests,share,operations_per_byte,bound,hit_share\n");
  for (int k = 0; k < CEILINGS; k++) add_ceiling(&t, run, (ceiling_kind)k);
  for (size_t i = 0; i < run->cell_count; i++) add_cell(&t, &run->cells[i]);
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

static json_t *describe_cell(const bench_cell *c) {
  const double rays = 1e-6 * (double)c->rays;
  return json_pack("{s:s, s:s, s:s, s:I, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:f, s:s, s:f, s:I, s:b}", "group",
                   c->group, "layout", c->layout, "shape", c->shape, "primitives", (json_int_t)c->primitives, "ray_set",
                   c->set, "query", c->query, "rays", (json_int_t)c->rays, "host_mrays", rates(&c->host, rays),
                   "kernel_mrays", rates(&c->kernel, rays), "gtests",
                   c->tests > 0 ? json_real(1e-9 * rate_of(c->tests, c->quickest)) : json_null(), "share",
                   c->tests > 0 ? json_real(c->share) : json_null(), "operations_per_byte", c->intensity, "bound",
                   c->bound, "hit_share", c->hit_share, "checked", (json_int_t)c->checked, "wrong", c->wrong);
}

/* Appends a value. NULL if either is NULL (out of memory), which json_save reports. */
static json_t *append(json_t *array, json_t *value) {
  if (array && json_array_append_new(array, value) == 0) return array;
  json_decref(array);
  return NULL;
}

int bench_save_json(const char *path, const bench_run *run) {
  char date[32];
  json_t *ceilings = json_array(), *cells = json_array();
  for (int k = 0; k < CEILINGS; k++)
    if (run->ceilings[k].times.rounds) ceilings = append(ceilings, describe_ceiling(run, (ceiling_kind)k));
  for (size_t i = 0; i < run->cell_count; i++) cells = append(cells, describe_cell(&run->cells[i]));
  json_t *document = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:s, s:s, s:s, s:f, s:s, s:o, s:o}", "device",
                               run->device.name, "platform", run->device.platform, "driver", run->device.driver,
                               "version", run->device.version, "compute_units", (json_int_t)run->device.compute_units,
                               "lanes", (json_int_t)run->device.lane_width, "compiler", COMPILER, "commit", SLAB_COMMIT,
                               "date", date_now(date), "time", time_kind(run), "clock_hz", run->clock, "verdict",
                               bench_verdict_names[bench_verdict_of(run)], "ceilings", ceilings, "cells", cells);
  return json_save(path, document) ? EXIT_FAILED : EXIT_DONE;
}
