/* Compares this run's figures with those of an earlier one. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "io/text.h"

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

static bool same_cell(const json_t *old, const bench_cell *c) {
  return !strcmp(text_of(old, "group"), c->group) && !strcmp(text_of(old, "layout"), c->layout) &&
         !strcmp(text_of(old, "shape"), c->shape) && !strcmp(text_of(old, "ray_set"), c->set) &&
         !strcmp(text_of(old, "query"), c->query) &&
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
      printf("%-12s %-50s", name->name, name->unit);
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
    printf("%-5s %-4s %-9s %8" PRIu32 " %-7s %-8s %10" PRIu64 "   ", c->group, c->layout, c->shape, c->primitives,
           c->set, c->query, c->rays);
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
  printf("%-63s | %10s %10s %6s | %10s %10s %6s\n", "best rates, for casts in Mrays/s", "then", "now", "ratio",
         "kernel", "now", "ratio");
  compare_ceilings(json_object_get(earlier, "ceilings"), run);
  for (size_t i = 0; i < run->cell_count; i++)
    alone += !compare_cell(json_object_get(earlier, "cells"), &run->cells[i]);
  if (alone) printf("%zu %s not measured then\n", alone, plural(alone, "cast was", "casts were"));
}
