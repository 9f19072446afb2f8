#include "trace_report.h"

#include <math.h>
#include <string.h>

/* ---- the head ---- */

void trace_report_begin(trace_report *r) {
  for (trace_ratio k = 0; k < RATIOS; k++) r->totals[k].worst = INFINITY;
  for (int k = 0; k < r->device_count; k++)
    printf("device %d  %s, %u compute units, %s, %s\n", k + 1, r->devices[k]->name, r->devices[k]->compute_units,
           r->devices[k]->platform, r->devices[k]->driver);
  printf(
      "against   Embree %s, %u threads, denormals flushed: by default and in its robust mode the faster of single rays "
      "and packets (p)\n",
      embree_version(), r->threads);
  printf("time      %s\n", r->processor_time ? "processor seconds a thread" : "wall");
  printf("hits      of 100 rays: for count and all those of a ray that hits more than once are more than one\n");
  printf("Mrays/s   of the fastest and of the median round; ratios of device 1 to Embree\n\n");
  printf("%-18s %-8s %-8s %5s | %15s | %16s | %16s | %13s | %13s | %7s\n", "scene", "rays", "query", "hits",
         "ours    median", "Embree    median", "robust    median", "Embree median", "robust median", "differ");
  if (r->csv != NULL)
    fprintf(r->csv,
            "date,device,driver,commit,time,threads,scene,primitives,ray_set,query,rays,hit_share,ours_mrays,"
            "ours_median_mrays,ours_spread,embree,embree_single_mrays,embree_packet_mrays,embree_median_mrays,"
            "embree_spread,robust_single_mrays,robust_packet_mrays,robust_median_mrays,ratio_best,ratio_median,"
            "ratio_robust,ratio_robust_median,differ,second_device,second_driver,second_mrays,second_median_mrays,"
            "second_spread,ratio_second,ratio_second_paired\n");
}

/* ---- a row ---- */

static trace_rates rates_of(const trace_row *row, const timing *t) {
  const timing_summary s = timing_summarise(t);
  const double rays = 1e-6 * (double)row->rays;
  return s.best > 0.0 ? (trace_rates){rays / s.best, rays / s.median, s.spread} : (trace_rates){0};
}

static double median_ratio(const timing *ours, const timing *other) {
  timing ratios = {.rounds = ours->rounds};
  for (int i = 0; i < ours->rounds; i++) ratios.seconds[i] = other->seconds[i] / ours->seconds[i];
  return timing_summarise(&ratios).median;
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

static void csv_begin(const trace_report *r, const trace_row *row) {
  const timing_date date = timing_date_now();
  fprintf(r->csv, "%s,\"%s\",\"%s\",%s,%s,%u,%s,%u,%s,%s,%zu,%.4f", date.text, r->devices[0]->name,
          r->devices[0]->driver, BENCH_COMMIT, r->processor_time ? "processor" : "wall", r->threads,
          short_name(row->scene), row->primitives, row->set, row->query, row->rays, row->hits);
}

static void csv_pair(const trace_report *r, const trace_pair *p) {
  const trace_rates *second = &p->ours[1];
  if (r->device_count < TRACE_DEVICES)
    fprintf(r->csv, ",,,,,,,\n");
  else
    fprintf(r->csv, ",\"%s\",\"%s\",%.4f,%.4f,%.4f,%.4f,%.4f\n", r->devices[1]->name, r->devices[1]->driver,
            second->best, second->median, second->spread, p->best, p->paired);
}

static trace_pair pair_of(const trace_report *r, const trace_row *row) {
  trace_pair p = {.scene = row->scene, .set = row->set, .query = row->query, .ours = {rates_of(row, &row->ours[0])}};
  if (r->device_count < TRACE_DEVICES) return p;
  p.ours[1] = rates_of(row, &row->ours[1]);
  p.best = p.ours[0].best / p.ours[1].best;
  p.paired = median_ratio(&row->ours[0], &row->ours[1]);
  return p;
}

void trace_report_row(trace_report *r, const trace_row *row) {
  const trace_pair pair = pair_of(r, row);
  const trace_rates *ours = &pair.ours[0];
  trace_rates theirs[EMBREE_CALLS];
  for (embree_call call = 0; call < EMBREE_CALLS; call++) theirs[call] = rates_of(row, &row->theirs[call]);
  const bool packets = theirs[EMBREE_PACKET].best > theirs[EMBREE_SINGLE].best;
  const bool robust_packets = theirs[EMBREE_ROBUST_PACKET].best > theirs[EMBREE_ROBUST].best;
  const trace_rates *fast = &theirs[packets ? EMBREE_PACKET : EMBREE_SINGLE];
  const trace_rates *robust = &theirs[robust_packets ? EMBREE_ROBUST_PACKET : EMBREE_ROBUST];
  const double ratios[RATIOS] = {ours->best / fast->best,
                                 ours->median / fast->median,
                                 ours->best / robust->best,
                                 ours->median / robust->median,
                                 pair.best,
                                 pair.paired};
  for (trace_ratio k = 0; k < (r->device_count < TRACE_DEVICES ? RATIO_DEVICES : RATIOS); k++)
    total_add(&r->totals[k], row, ratios[k]);
  r->pairs[r->cells++] = pair;
  printf(
      "%-18s %-8s %-8s %4.0f%% | %7.2f %7.2f | %7.2f %7.2f%c | %7.2f %7.2f%c | %6.2f %6.2f | %6.2f %6.2f | %6.3f%%\n",
      short_name(row->scene), row->set, row->query, 100.0 * row->hits, ours->best, ours->median, fast->best,
      fast->median, packets ? 'p' : ' ', robust->best, robust->median, robust_packets ? 'p' : ' ', ratios[0], ratios[1],
      ratios[2], ratios[3], 100.0 * row->differ);
  fflush(stdout);
  if (r->csv == NULL) return;
  csv_begin(r, row);
  fprintf(r->csv, ",%.4f,%.4f,%.4f,%s,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.6f", ours->best,
          ours->median, ours->spread, embree_version(), theirs[EMBREE_SINGLE].best, theirs[EMBREE_PACKET].best,
          fast->median, fast->spread, theirs[EMBREE_ROBUST].best, theirs[EMBREE_ROBUST_PACKET].best, robust->median,
          ratios[0], ratios[1], ratios[2], ratios[3], row->differ);
  csv_pair(r, &pair);
}

/* ---- the end ---- */

static void print_total(const trace_report *r, trace_ratio ratio, const char *against) {
  const trace_total *total = &r->totals[ratio];
  printf("%-40s geometric mean %.2f, least %.2f (%s)\n", against, exp(total->logarithms / r->cells), total->worst,
         total->worst_cell);
}

static void print_pairs(const trace_report *r) {
  printf(
      "\nMrays/s of devices 1 and 2, and the ratio of 1 to 2: of the fastest rounds, and the median of each "
      "round's\n\n");
  printf("%-18s %-8s %-8s | %15s | %15s | %6s %6s\n", "scene", "rays", "query", "1    median", "2    median", "best",
         "paired");
  for (int i = 0; i < r->cells; i++) {
    const trace_pair *p = &r->pairs[i];
    printf("%-18s %-8s %-8s | %7.2f %7.2f | %7.2f %7.2f | %6.2f %6.2f\n", short_name(p->scene), p->set, p->query,
           p->ours[0].best, p->ours[0].median, p->ours[1].best, p->ours[1].median, p->best, p->paired);
  }
  printf("\n");
  print_total(r, RATIO_DEVICES, "1 against 2, fastest rounds:");
  print_total(r, RATIO_DEVICES_PAIRED, "1 against 2, median of paired rounds:");
}

void trace_report_end(trace_report *r) {
  if (r->cells > 0) {
    printf("\n%d cells\n", r->cells);
    print_total(r, RATIO_DEFAULT, "against Embree, fastest rounds:");
    print_total(r, RATIO_DEFAULT_MEDIAN, "against Embree, medians:");
    print_total(r, RATIO_ROBUST, "against its robust mode, fastest rounds:");
    print_total(r, RATIO_ROBUST_MEDIAN, "against its robust mode, medians:");
    if (r->device_count == TRACE_DEVICES) print_pairs(r);
  }
}
