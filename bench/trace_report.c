#include "trace_report.h"

#include <math.h>
#include <string.h>
#include <time.h>

void trace_report_begin(trace_report *r, const slab_device_info *device, int processor_time, FILE *csv) {
  *r = (trace_report){.device = device, .processor_time = processor_time, .csv = csv};
  r->fast.worst = r->robust.worst = INFINITY;
  printf("device    %s, %u compute units, %s\n", device->name, device->compute_units, device->driver);
  printf("opponent  Embree 3, %u threads, denormals flushed\n", device->compute_units);
  printf("time      %s, best of the rounds\n", processor_time ? "processor seconds a thread" : "wall");
  printf(
      "Mrays/s   ours in brackets: spread of the middle half; ratios to Embree's best call and to its robust mode\n\n");
  printf("%-18s %-8s %-8s %5s | %15s | %7s %7s %7s | %6s %6s | %7s\n", "scene", "rays", "query", "hits", "ours",
         "single", "packet", "robust", "best", "robust", "differ");
  if (csv != NULL)
    fprintf(csv,
            "date,device,driver,commit,time,threads,scene,primitives,ray_set,query,rays,hit_share,ours_mrays,"
            "ours_median_mrays,ours_spread,embree_single_mrays,embree_packet_mrays,embree_robust_mrays,ratio_best,"
            "ratio_robust,differ\n");
}

static double rate(const trace_row *row, const timing *t) {
  const double best = timing_summarise(t).best;
  return best > 0.0 ? 1e-6 * (double)row->rays / best : 0.0;
}

static void total_add(trace_total *total, const trace_row *row, double ratio) {
  total->logarithms += log(ratio);
  if (ratio >= total->worst) return;
  total->worst = ratio;
  snprintf(total->worst_cell, sizeof total->worst_cell, "%s, %s, %s", row->scene, row->set, row->query);
}

/* The last part of a path, that a mesh file's row stays readable. */
static const char *short_name(const char *scene) {
  const char *slash = strrchr(scene, '/');
  return slash == NULL ? scene : slash + 1;
}

static void print_csv(const trace_report *r, const trace_row *row, double ours, const double theirs[EMBREE_CALLS],
                      double best) {
  char date[32] = "";
  const time_t now = time(NULL);
  struct tm parts;
  const timing_summary s = timing_summarise(&row->ours);
  if (gmtime_r(&now, &parts) != NULL) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &parts);
  fprintf(r->csv, "%s,\"%s\",\"%s\",%s,%s,%u,%s,%u,%s,%s,%zu,%.4f", date, r->device->name, r->device->driver,
          BENCH_COMMIT, r->processor_time ? "processor" : "wall", r->device->compute_units, short_name(row->scene),
          row->primitives, row->set, row->query, row->rays, row->hit_share);
  fprintf(r->csv, ",%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.6f\n", ours, 1e-6 * (double)row->rays / s.median,
          s.spread, theirs[EMBREE_SINGLE], theirs[EMBREE_PACKET], theirs[EMBREE_ROBUST], ours / best,
          ours / theirs[EMBREE_ROBUST], row->differ);
}

void trace_report_row(trace_report *r, const trace_row *row) {
  const double ours = rate(row, &row->ours);
  double theirs[EMBREE_CALLS];
  for (embree_call call = 0; call < EMBREE_CALLS; call++) theirs[call] = rate(row, &row->theirs[call]);
  const double best = fmax(theirs[EMBREE_SINGLE], theirs[EMBREE_PACKET]);
  r->cells++;
  total_add(&r->fast, row, ours / best);
  total_add(&r->robust, row, ours / theirs[EMBREE_ROBUST]);
  printf("%-18s %-8s %-8s %4.0f%% | %8.2f (%3.0f%%) | %7.2f ", short_name(row->scene), row->set, row->query,
         100.0 * row->hit_share, ours, 100.0 * timing_summarise(&row->ours).spread, theirs[EMBREE_SINGLE]);
  if (theirs[EMBREE_PACKET] > 0.0)
    printf("%7.2f ", theirs[EMBREE_PACKET]);
  else
    printf("%7s ", "-");
  printf("%7.2f | %6.2f %6.2f | %6.3f%%\n", theirs[EMBREE_ROBUST], ours / best, ours / theirs[EMBREE_ROBUST],
         100.0 * row->differ);
  fflush(stdout);
  if (r->csv != NULL) print_csv(r, row, ours, theirs, best);
}

static void print_total(const trace_total *total, int cells, const char *against) {
  printf("against %-24s geometric mean %.2f, worst %.2f (%s)\n", against, exp(total->logarithms / cells), total->worst,
         total->worst_cell);
}

bool trace_report_end(trace_report *r) {
  if (r->cells > 0) {
    printf("\n%d cells\n", r->cells);
    print_total(&r->fast, r->cells, "its best default call:");
    print_total(&r->robust, r->cells, "its robust mode:");
  }
  if (r->csv == NULL) return true;
  const bool bad = ferror(r->csv) != 0;
  return fclose(r->csv) == 0 && !bad;
}
