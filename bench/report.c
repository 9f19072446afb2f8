#include "report.h"

#include "sets/compiler.h"
#include "simd_baseline.h"

/* If the hand-written SIMD baseline reaches less than this share of its ceiling, the comparison with it is void. */
#define SHARE_MIN 0.70
#define SHARE_MAX 1.03
/* The ceiling assumes two vector operations per clock, which all such processors have today. */
#define PORTS 2.0
#define CEILING_MIN 0.85

typedef struct figures {
  timing_summary ours, simd_baseline;
  double our_rate, simd_baseline_rate; /* tests per second in the best rounds */
  double ratio;
  double share;                            /* share of its ceiling that the SIMD baseline reaches */
  double our_clocks, simd_baseline_clocks; /* tests in a clock of one core */
  double ceiling_clocks;                   /* operations in a clock of one core, at the ceiling */
} figures;

static double over(double a, double b) { return b > 0.0 ? a / b : 0.0; }

static figures figures_of(const report_row *r) {
  figures f = {.ours = timing_summarise(&r->ours), .simd_baseline = timing_summarise(&r->simd_baseline)};
  const double cycles = r->clock * r->threads;
  f.our_rate = over(r->tests, f.ours.best);
  f.simd_baseline_rate = over(r->tests, f.simd_baseline.best);
  f.ratio = over(f.our_rate, f.simd_baseline_rate);
  f.share = over(f.simd_baseline_rate, r->ceiling);
  f.our_clocks = over(f.our_rate, cycles);
  f.simd_baseline_clocks = over(f.simd_baseline_rate, cycles);
  f.ceiling_clocks = r->lanes == 0 ? 0.0 : over(r->ceiling / r->lanes * SIMD_BASELINE_OPERATIONS, cycles);
  return f;
}

static report_verdict verdict_of(const report_row *r, const figures *f) {
  if (r->simd_baseline.rounds == 0) return REPORT_SOUND;
  if (f->share > SHARE_MAX || f->ratio * f->share > SHARE_MAX) return REPORT_WRONG;
  return f->share < SHARE_MIN || f->ceiling_clocks < PORTS * CEILING_MIN ? REPORT_VOID : REPORT_SOUND;
}

void report_header(FILE *out, const slab_device_info *device, const char *against, int processor_time) {
  fprintf(out, "device    %s, %u compute units, %s, %u lanes\n", device->name, device->compute_units, device->driver,
          device->lane_width);
  fprintf(out, "simd_baseline  %s, %s, as many threads\n", against, COMPILER);
  fprintf(out, "time      %s, best of the rounds; in brackets the median, and the spread of the middle half\n",
          processor_time ? "processor seconds a thread" : "wall");
  fprintf(out, "G/s       primitives tested; for any, up to the block of the first hit\n\n");
  fprintf(out, "%-9s %6s %-6s %-8s %5s | %21s | %21s | %5s | %7s | %14s | %5s\n", "shape", "count", "rays", "query",
          "hits", "ours G/s", "simd_baseline G/s", "ratio", "ceiling", "tests a clock", "clock");
}

static void print_rate(FILE *out, double tests, const timing_summary *t) {
  if (t->best > 0.0)
    fprintf(out, " | %6.2f (%6.2f, %3.0f%%)", 1e-9 * tests / t->best, 1e-9 * tests / t->median, 100.0 * t->spread);
  else
    fprintf(out, " | %21s", "-");
}

report_verdict report_print(FILE *out, const report_row *r) {
  const figures f = figures_of(r);
  const report_verdict verdict = verdict_of(r, &f);
  fprintf(out, "%-9s %6u %-6s %-8s %4.0f%%", r->shape, r->primitives, r->rays, r->query, 100.0 * r->hit_share);
  print_rate(out, r->tests, &f.ours);
  print_rate(out, r->tests, &f.simd_baseline);
  if (f.ratio > 0.0)
    fprintf(out, " | %5.2f | %6.0f%% | %5.2f and %4.2f", f.ratio, 100.0 * f.share, f.our_clocks,
            f.simd_baseline_clocks);
  else
    fprintf(out, " | %5s | %7s | %5.2f         ", "-", "-", f.our_clocks);
  fprintf(out, " | %4.2f\n", 1e-9 * r->clock);
  if (verdict == REPORT_VOID && f.share < SHARE_MIN)
    fprintf(out, "  void: the SIMD baseline reached %.0f%% of the arithmetic ceiling; %.0f%% is required\n",
            100.0 * f.share, 100.0 * SHARE_MIN);
  else if (verdict == REPORT_VOID)
    fprintf(out, "  void: the arithmetic ceiling was %.2f operations per clock; %.2f is required\n", f.ceiling_clocks,
            PORTS * CEILING_MIN);
  if (verdict == REPORT_WRONG)
    fprintf(out, "  error: faster than its ceiling (simd_baseline %.0f%%, ours %.0f%%)\n", 100.0 * f.share,
            100.0 * f.share * f.ratio);
  fflush(out);
  return verdict;
}

void report_csv_header(FILE *out) {
  fprintf(out,
          "date,device,driver,compiler,commit,simd_baseline,time,threads,shape,primitives,ray_set,query,rays,hit_share,"
          "ours_gtests,ours_median_gtests,ours_spread,opponent_gtests,opponent_median_gtests,opponent_spread,ratio,"
          "opponent_share_of_ceiling,ceiling_operations_per_clock,ours_tests_per_clock,opponent_tests_per_clock,"
          "clock_ghz\n");
}

void report_csv(FILE *out, const slab_device_info *device, const char *against, int processor_time,
                const report_row *r) {
  const figures f = figures_of(r);
  const timing_date date = timing_date_now();
  fprintf(out, "%s,\"%s\",\"%s\",\"%s\",%s,%s,%s,%u,%s,%u,%s,%s,%zu,%.4f", date.text, device->name, device->driver,
          COMPILER, BENCH_COMMIT, against, processor_time ? "processor" : "wall", r->threads, r->shape, r->primitives,
          r->rays, r->query, r->ray_count, r->hit_share);
  fprintf(out, ",%.4f,%.4f,%.4f", 1e-9 * f.our_rate, 1e-9 * over(r->tests, f.ours.median), f.ours.spread);
  fprintf(out, ",%.4f,%.4f,%.4f", 1e-9 * f.simd_baseline_rate, 1e-9 * over(r->tests, f.simd_baseline.median),
          f.simd_baseline.spread);
  fprintf(out, ",%.4f,%.4f,%.4f,%.4f,%.4f,%.4f\n", f.ratio, f.share, f.ceiling_clocks, f.our_clocks,
          f.simd_baseline_clocks, 1e-9 * r->clock);
}
