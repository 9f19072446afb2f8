/* Queries of points: every one against CPU reference and oracle, the queries against each other, and a scene in one
 * layout against the same in another. */
#include "program/verify/verify.h"
#include "sets/points.h"

enum { POINTS_MOST = 2048 }; /* of a batch */

typedef struct point_batch {
  float points[3 * POINTS_MOST], radii[POINTS_MOST];
  point_answers answers, others;
  slab_point_options options;
} point_batch;

static int check_points(verify_run *run, slab_scene *scene, const point_batch *b, size_t n) {
  for (int q = 0; q < b->answers.queries; q++) {
    const slab_point_query query = (slab_point_query)q;
    const slab_point_options options = point_options_of(query, &b->options);
    slab_check_report report;
    const slab_status status =
        slab_check_points(scene, query, b->points, n, point_answers_of(&b->answers, query), &options, &report);
    if (status != SLAB_OK) return verify_status(run, status);
    if (report.mismatches || report.oracle_wrong)
      verify_fail(run, report.mismatches + report.oracle_wrong, NULL, "%s: %s", point_query_name(query), report.text);
    verify_figure_add(run, FIGURE_COUNT, "judged", (double)report.oracle_rays);
    verify_figure_add(run, FIGURE_COUNT, "undecided", (double)report.oracle_undecided);
    run->tally->cases += n;
  }
  for (size_t i = 0; i < n; i++) {
    const char *fault = point_answers_fault(&b->answers, i);
    if (fault != NULL) verify_fail(run, 1, NULL, "point %zu: %s", i, fault);
  }
  return EXIT_DONE;
}

static void compare_layouts(verify_run *run, const point_batch *b, size_t n) {
  for (int q = 0; q < b->answers.queries; q++) {
    const slab_point_query query = (slab_point_query)q;
    size_t first = 0;
    const size_t differing = point_answers_differ(&b->others, &b->answers, query, &first);
    if (differing > 0)
      verify_fail(run, differing, NULL, "%s: point %zu of %zu has another answer in another layout",
                  point_query_name(query), first, n);
    if (b->others.invalid[q] != b->answers.invalid[q])
      verify_fail(run, 1, NULL, "another layout has another number of invalid points");
    run->tally->cases += n;
  }
}

/* The same scene in the next layout. */
static int ask_again(verify_run *run, random_state *random, point_batch *b, size_t n) {
  slab_scene *scene = NULL;
  adversarial w;
  slab_status status = verify_adversarial(run, random, verify_layout_at(run, run->batch + 1), n, &w, &scene);
  if (status == SLAB_OK) status = point_answers_ask_all(&b->others, scene, b->points, n, &b->options);
  slab_scene_destroy(scene);
  return verify_status(run, status);
}

int verify_points(verify_run *run, random_state *random, size_t n) {
  static point_batch b;
  random_state again = *random;
  slab_scene *scene = NULL;
  adversarial w;
  slab_status status = verify_adversarial(run, random, verify_layout_at(run, run->batch), n, &w, &scene);
  if (status == SLAB_OK) {
    for (size_t i = 0; i < n; i++) adversarial_point(random, &w, b.points + 3 * i);
    b.options = adversarial_point_options(random, &w, n, run->masks, b.radii);
    uint64_t invalid = 0;
    b.options.invalid = &invalid;
    status = point_answers_ask_all(&b.answers, scene, b.points, n, &b.options);
    b.options.invalid = NULL;
  }
  int code = verify_status(run, status);
  if (code == EXIT_DONE) code = check_points(run, scene, &b, n);
  slab_scene_destroy(scene);
  if (code == EXIT_DONE) code = ask_again(run, &again, &b, n);
  if (code == EXIT_DONE) compare_layouts(run, &b, n);
  return code;
}
