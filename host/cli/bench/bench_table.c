/* Prints the benchmark as a table. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "io/text.h"

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

static void print_ceilings(const bench_run *run) {
  printf("memory   buffers of %zu MiB\n", run->effort.memory >> 20);
  printf("clock    %.2f GHz, %s\n\n", 1e-9 * run->clock,
         run->device.type == SLAB_DEVICE_CPU ? "measured" : "as the driver says");
  printf("%-12s %-32s | %26s | %-5s | %15s\n", "ceiling", "", "best (median, spread)", "unit", "of clock x width");
  for (int k = 0; k < CEILINGS; k++) {
    const double share = ceiling_share(run, (ceiling_kind)k);
    printf("%-12s %-32s", ceiling_names[k].name, ceiling_names[k].about);
    print_rate(run->ceilings[k].work * ceiling_names[k].scale, &run->ceilings[k].times);
    printf(" | %-5s | ", ceiling_names[k].unit);
    if (share > 0)
      printf("%12.1f %%\n", 100 * share);
    else
      printf("%14s\n", "-");
    if (share > 0 && share < SHARE_LEAST)
      printf("  void: less than %.0f %% of clock x width: the machine was not quiet\n", 100 * SHARE_LEAST);
    if (share > SHARE_MOST) printf("  error: faster than clock x width\n");
  }
}

static void print_share(const bench_cell *c) {
  if (c->tests > 0)
    printf(" | %8.3f | %5.1f %%", 1e-9 * rate_of(c->tests, c->quickest), 100 * c->share);
  else
    printf(" | %8s | %7s", "-", "-");
}

static void print_cell(const bench_run *run, const bench_cell *c) {
  printf("%-4s %-9s %8" PRIu32 " %-7s %-8s %10" PRIu64, c->layout, c->shape, c->primitives, c->set, c->query, c->rays);
  if (c->wrong) {
    printf(" | wrong answers: the figures do not count\n");
    return;
  }
  print_rate(1e-6 * (double)c->rays, &c->host);
  print_rate(1e-6 * (double)c->rays, &c->kernel);
  print_share(c);
  printf(" | %-10s | %3.0f %%\n", c->bound, 100 * c->hit_share);
  if (c->share > SHARE_MOST) printf("  %s: faster than its ceiling\n", bench_verdict_names[bench_too_fast(run)]);
}

static void print_group(const char *group) {
  static const char *const titles[][2] = {{"work", "Workloads"},
                                          {"batch", "Throughput against the size of the batch"},
                                          {"scene", "Throughput against the size of the scene"}};
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
    if (!strcmp(titles[i][0], group)) printf("\n%s\n", titles[i][1]);
  printf("%-4s %-9s %8s %-7s %-8s %10s | %26s | %26s | %8s | %7s | %-10s | %5s\n", "", "shape", "count", "rays",
         "query", "rays", "host to host, Mrays/s", "kernel alone, Mrays/s", "Gtests/s", "ceiling", "bound by", "hits");
}

void bench_print(const bench_run *run) {
  print_head(run);
  print_ceilings(run);
  for (size_t i = 0; i < run->cell_count; i++) {
    if (i == 0 || strcmp(run->cells[i].group, run->cells[i - 1].group) != 0) print_group(run->cells[i].group);
    print_cell(run, &run->cells[i]);
  }
  if (run->cell_count == 0) return;
  fputs(
      "\nA ceiling bounds a cast where it alone asks for 40 % of the time; casts of which none does wait for memory's\n"
      "answers and for one step after the other. The kernel alone is that of slab_enqueue, which takes rays through a\n"
      "tree one by one. A sample of each cast's answers was held against the CPU reference, and those of all its "
      "rounds\n"
      "against each other.\n",
      stdout);
}
