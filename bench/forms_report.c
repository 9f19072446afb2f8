#include "forms_report.h"

#include <inttypes.h>

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

static double rate(const forms_speed *s, double seconds) { return seconds > 0.0 ? 1e-9 * s->tests / seconds : 0.0; }

static double per_million(size_t count, size_t of) { return of == 0 ? 0.0 : 1e6 * (double)count / (double)of; }

/* Sums over the sets where these errors are defined. */
static forms_errors closed_errors(const forms_row *r) {
  forms_errors sum = {0};
  for (int k = 0; k < FORMS_KINDS; k++) {
    sum.leaks += r->errors[k].leaks;
    sum.doubles += r->errors[k].doubles;
    sum.closed += r->errors[k].closed;
  }
  return sum;
}

/* ---- the table ---- */

static void print_heading(FILE *out, const forms_heading *h) {
  fprintf(out, "device      %s, %u compute units, %s, %u lanes\n", h->device->name, h->device->compute_units,
          h->device->driver, h->lanes);
  fprintf(out, "speed       10^9 tests a second, %s; best of the rounds (median), then one lane wide;\n",
          h->processor_time ? "of processor time on all compute units" : "of the device's events");
  fprintf(out, "            closest hit of %zu boxes or %zu triangles in the cache, rays prepared once for %d passes\n",
          h->primitives[0], h->primitives[1], FORMS_PASSES);
  fprintf(out, "operations  add/mul, min/max, compare/select, divide of a whole test; / all before its first exit\n");
  fprintf(out,
          "errors      rays in a million (%zu a set, seed %" PRIu64
          ") with a certain hit missed, a certain miss "
          "hit; the oracle left\n            undecided of the pairs, random to shared:",
          h->rays, h->seed);
  for (int s = 0; s < 2; s++) {
    fprintf(out, s == 0 ? " boxes" : ", triangles");
    for (int k = 0; k < FORMS_KINDS; k++) fprintf(out, " %.3g%%", 100.0 * h->undecided[s][k]);
  }
  fprintf(
      out,
      "\nneither     rays in a million within a face that two boxes share, that hit none, or both: closed boxes do\n"
      "leaks       rays in a million that leave a closed mesh and hit no triangle of it, or several: doubles\n");
}

static void print_columns(FILE *out, slab_shape shape) {
  const bool box = shape == SLAB_BOX;
  fprintf(out, "\n%-21s %15s %6s %16s", box ? "boxes" : "triangles", "G tests/s", "scalar", "operations");
  for (int k = 0; k < FORMS_KINDS; k++) fprintf(out, " | %-15s", forms_kind_names[k]);
  fprintf(out, " | %s\n%-61s", box ? "shared face" : "closed mesh", "");
  for (int k = 0; k < FORMS_KINDS; k++) fprintf(out, " | %7s %7s", "missed", "hit");
  fprintf(out, " | %7s %7s\n", box ? "neither" : "leaks", box ? "both" : "doubles");
}

/* Rounded, but never to 0. */
static void print_count(FILE *out, size_t count, size_t of) {
  const double value = per_million(count, of);
  if (count > 0 && value < 1.0)
    fprintf(out, " %7s", "<1");
  else
    fprintf(out, " %7.0f", value);
}

static void print_row(FILE *out, const forms_row *r, const forms_heading *h) {
  const timing_summary wide = timing_summarise(&r->wide.time), scalar = timing_summarise(&r->scalar.time);
  const form_operations *o = &r->form->operations;
  const forms_errors closed = closed_errors(r);
  char operations[64];
  snprintf(operations, sizeof operations, "%u+%u+%u+%u/%u", o->arithmetic, o->min_max, o->compare, o->divide, o->first);
  fprintf(out, "%-21s %6.2f (%6.2f)", r->form->name, rate(&r->wide, wide.best), rate(&r->wide, wide.median));
  if (r->scalar.time.rounds > 0)
    fprintf(out, " %6.2f", rate(&r->scalar, scalar.best));
  else
    fprintf(out, " %6s", "-");
  fprintf(out, " %16s", operations);
  for (int k = 0; k < FORMS_KINDS; k++) {
    fprintf(out, " |");
    print_count(out, r->errors[k].misses, h->rays);
    print_count(out, r->errors[k].hits, h->rays);
  }
  fprintf(out, " |");
  print_count(out, closed.leaks, closed.closed);
  print_count(out, closed.doubles, closed.closed);
  fprintf(out, "\n");
}

/* Prints findings that make a row less reliable. */
static void print_doubts(FILE *out, const forms_heading *h, const forms_row *rows, size_t count) {
  bool doubt = false;
  for (size_t i = 0; i < count; i++) {
    const form *f = rows[i].form;
    if (rows[i].differs > 0)
      fprintf(out, "%s (%s): %zu of %zu verdicts are not those of C11\n", f->name, f->source, rows[i].differs,
              h->compared[f->shape == SLAB_TRIANGLE]);
    if (rows[i].agrees < 0.999)
      fprintf(out, "%s (%s): of the timed rays %.3f%% find the t that ours finds\n", f->name, f->source,
              100.0 * rows[i].agrees);
    doubt = doubt || rows[i].differs > 0 || rows[i].agrees < 0.999;
  }
  if (!doubt)
    fprintf(out,
            "checked     the device's verdicts are those of C11 in %zu pairs of each form over boxes, %zu over "
            "triangles;\n            999 of 1,000 timed rays find the t that ours finds\n",
            h->compared[0], h->compared[1]);
}

void forms_print(FILE *out, const forms_heading *h, const forms_row *rows, size_t count) {
  print_heading(out, h);
  for (size_t i = 0; i < count; i++) {
    if (i == 0 || rows[i].form->shape != rows[i - 1].form->shape) print_columns(out, rows[i].form->shape);
    print_row(out, &rows[i], h);
  }
  fprintf(out, "\n");
  print_doubts(out, h, rows, count);
}

/* ---- CSV ---- */

static void csv_speed(FILE *out, const forms_speed *s) {
  const timing_summary t = timing_summarise(&s->time);
  if (s->time.rounds > 0)
    fprintf(out, ",%.4f,%.4f,%.4f", rate(s, t.best), rate(s, t.median), t.spread);
  else
    fprintf(out, ",,,");
}

static void csv_row(FILE *out, const forms_heading *h, const forms_row *r, const char *date) {
  const form *f = r->form;
  const forms_errors closed = closed_errors(r);
  fprintf(out, "%s,\"%s\",\"%s\",\"%s\",%s,%s,%u,%" PRIu64 ",%zu,%s,%s,\"%s\",\"%s\"", date, h->device->name,
          h->device->driver, COMPILER, BENCH_COMMIT, h->processor_time ? "processor" : "event", r->wide.lanes, h->seed,
          h->rays, f->shape == SLAB_BOX ? "box" : "triangle", f->function + sizeof "form_" - 1, f->name, f->source);
  fprintf(out, ",%u,%u,%u,%u,%u", f->operations.arithmetic, f->operations.min_max, f->operations.compare,
          f->operations.divide, f->operations.first);
  csv_speed(out, &r->wide);
  csv_speed(out, &r->scalar);
  for (int k = 0; k < FORMS_KINDS; k++)
    fprintf(out, ",%.7g,%.7g", per_million(r->errors[k].misses, h->rays), per_million(r->errors[k].hits, h->rays));
  fprintf(out, ",%.7g,%.7g\n", per_million(closed.leaks, closed.closed), per_million(closed.doubles, closed.closed));
}

void forms_csv(FILE *out, const forms_heading *h, const forms_row *rows, size_t count) {
  const timing_date date = timing_date_now();
  fprintf(out,
          "date,device,driver,compiler,commit,time,lanes,seed,rays,shape,form,name,source,arithmetic,min_max,"
          "compare,divide,first_exit,gtests,median_gtests,spread,scalar_gtests,scalar_median_gtests,"
          "scalar_spread");
  for (int k = 0; k < FORMS_KINDS; k++)
    fprintf(out, ",%s_missed_ppm,%s_hit_ppm", forms_kind_names[k], forms_kind_names[k]);
  fprintf(out, ",leaks_ppm,doubles_ppm\n");
  for (size_t i = 0; i < count; i++) csv_row(out, h, &rows[i], date.text);
}
