#include "trace_report.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* Millions of rays a second, in the fastest round and in the median one. */
typedef struct rates {
  double best, median, spread;
} rates;

void trace_report_begin(trace_report *r, const slab_device_info *device, int processor_time, FILE *csv) {
  *r = (trace_report){.device = device, .processor_time = processor_time, .csv = csv};
  r->fast.worst = r->medians.worst = r->robust.worst = INFINITY;
  printf("device    %s, %u compute units, %s\n", device->name, device->compute_units, device->driver);
  printf(
      "opponent  Embree %s, %u threads, denormals flushed: the faster of its single rays and its packets (p), and its "
      "robust mode\n",
      embree_version(), device->compute_units);
  printf("time      %s\n", processor_time ? "processor seconds a thread" : "wall");
  printf("Mrays/s   of the fastest and of the middle round; ratios of ours to Embree's\n\n");
  printf("%-18s %-8s %-8s %5s | %15s | %16s | %15s | %6s %6s %6s | %7s\n", "scene", "rays", "query", "hits",
         "ours    median", "Embree    median", "robust   median", "best", "median", "robust", "differ");
  if (csv != NULL)
    fprintf(
        csv,
        "date,device,driver,commit,time,threads,scene,primitives,ray_set,query,rays,hit_share,ours_mrays,"
        "ours_median_mrays,ours_spread,embree_single_mrays,embree_packet_mrays,embree_robust_mrays,"
        "embree_median_mrays,embree_spread,embree_robust_median_mrays,ratio_best,ratio_median,ratio_robust,differ\n");
}

static rates rates_of(const trace_row *row, const timing *t) {
  const timing_summary s = timing_summarise(t);
  const double rays = 1e-6 * (double)row->rays;
  return s.best > 0.0 ? (rates){rays / s.best, rays / s.median, s.spread} : (rates){0};
}

static void total_add(trace_total *total, const trace_row *row, double ratio) {
  total->logarithms += log(ratio);
  if (ratio >= total->worst) return;
  total->worst = ratio;
  snprintf(total->worst_cell, sizeof total->worst_cell, "%s, %s, %s", row->scene, row->set, row->query);
}

/* The last part of a path, so that the row of a mesh file is short. */
static const char *short_name(const char *scene) {
  const char *slash = strrchr(scene, '/');
  return slash == NULL ? scene : slash + 1;
}

static void print_csv(const trace_report *r, const trace_row *row, const rates *ours, const rates theirs[EMBREE_CALLS],
                      const rates *fast) {
  char date[32] = "";
  const time_t now = time(NULL);
  struct tm parts;
  if (gmtime_r(&now, &parts) != NULL) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &parts);
  fprintf(r->csv, "%s,\"%s\",\"%s\",%s,%s,%u,%s,%u,%s,%s,%zu,%.4f", date, r->device->name, r->device->driver,
          BENCH_COMMIT, r->processor_time ? "processor" : "wall", r->device->compute_units, short_name(row->scene),
          row->primitives, row->set, row->query, row->rays, row->hit_share);
  fprintf(r->csv, ",%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.6f\n", ours->best, ours->median,
          ours->spread, theirs[EMBREE_SINGLE].best, theirs[EMBREE_PACKET].best, theirs[EMBREE_ROBUST].best,
          fast->median, fast->spread, theirs[EMBREE_ROBUST].median, ours->best / fast->best,
          ours->median / fast->median, ours->best / theirs[EMBREE_ROBUST].best, row->differ);
}

void trace_report_row(trace_report *r, const trace_row *row) {
  const rates ours = rates_of(row, &row->ours);
  rates theirs[EMBREE_CALLS];
  for (embree_call call = 0; call < EMBREE_CALLS; call++) theirs[call] = rates_of(row, &row->theirs[call]);
  const bool packets = theirs[EMBREE_PACKET].best > theirs[EMBREE_SINGLE].best;
  const rates *fast = &theirs[packets ? EMBREE_PACKET : EMBREE_SINGLE], *robust = &theirs[EMBREE_ROBUST];
  r->cells++;
  total_add(&r->fast, row, ours.best / fast->best);
  total_add(&r->medians, row, ours.median / fast->median);
  total_add(&r->robust, row, ours.best / robust->best);
  printf("%-18s %-8s %-8s %4.0f%% | %7.2f %7.2f | %7.2f %7.2f%c | %7.2f %7.2f | %6.2f %6.2f %6.2f | %6.3f%%\n",
         short_name(row->scene), row->set, row->query, 100.0 * row->hit_share, ours.best, ours.median, fast->best,
         fast->median, packets ? 'p' : ' ', robust->best, robust->median, ours.best / fast->best,
         ours.median / fast->median, ours.best / robust->best, 100.0 * row->differ);
  fflush(stdout);
  if (r->csv != NULL) print_csv(r, row, &ours, theirs, fast);
}

static void print_total(const trace_total *total, int cells, const char *against) {
  printf("against %-24s geometric mean %.2f, worst %.2f (%s)\n", against, exp(total->logarithms / cells), total->worst,
         total->worst_cell);
}

bool trace_report_end(trace_report *r) {
  if (r->cells > 0) {
    printf("\n%d cells\n", r->cells);
    print_total(&r->fast, r->cells, "its best default call:");
    print_total(&r->medians, r->cells, "its median of that call:");
    print_total(&r->robust, r->cells, "its robust mode:");
  }
  if (r->csv == NULL) return true;
  const bool bad = ferror(r->csv) != 0;
  return fclose(r->csv) == 0 && !bad;
}
