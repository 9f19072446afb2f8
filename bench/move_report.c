#include "move.h"
#include "sets/compiler.h"

bool move_failed(const char *what) {
  fprintf(stderr, "bench_move: %s: %s\n", what, slab_message());
  return false;
}

bool move_out_of_memory(void) {
  fprintf(stderr, "bench_move: out of memory\n");
  return false;
}

static void save(const move_bench *b, const move_row *row) {
  const timing_date date = timing_date_now();
  const timing_summary s = timing_summarise(row->times);
  if (b->csv == NULL) return;
  fprintf(b->csv, "%s,\"%s\",\"%s\",\"%s\",%s,%s,%s,%u,%s,%s,%d,%.4g,%.4g,%.4f\n", date.text, b->device.name,
          b->device.driver, COMPILER, BENCH_COMMIT, b->options.processor_time ? "processor" : "wall", row->scene,
          row->triangles, row->what, row->side, row->times->rounds, 1e3 * s.best, 1e3 * s.median, s.spread);
}

void move_print(const move_bench *b, const move_row *row) {
  const timing_summary s = timing_summarise(row->times), of = timing_summarise(row->first);
  const double rate = row->units / s.best;
  printf("  %-18s %-22s %9.3f ms %9.3f ms %8.4g %s%s/s %7.2fx %7.2fx\n", row->what, row->side, 1e3 * s.best,
         1e3 * s.median, rate < 1e6 ? rate : 1e-6 * rate, rate < 1e6 ? "" : "M", row->unit, s.best / of.best,
         s.median / of.median);
  fflush(stdout);
  save(b, row);
}
