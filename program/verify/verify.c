/* Helpers of the steps of slabcast verify: reports of failures, checks of answers, scenes in every layout. */
#include "program/verify/verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"

/* ---- reports of the steps -------------------------------------------------- */

void verify_append(char *text, size_t size, const char *format, ...) {
  const size_t used = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + used, size - used, format, arguments);
  va_end(arguments);
}

void verify_fail(verify_run *run, uint64_t failures, const slab_ray *ray, const char *format, ...) {
  verify_tally *t = run->tally;
  if (failures == 0) return;
  t->failures += failures;
  if (t->first[0]) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(t->first, sizeof t->first, format, arguments);
  va_end(arguments);
  if (ray)
    verify_append(t->first, sizeof t->first, "; the ray: origin %a %a %a, direction %a %a %a, t %a to %a",
                  (double)ray->origin[0], (double)ray->origin[1], (double)ray->origin[2], (double)ray->direction[0],
                  (double)ray->direction[1], (double)ray->direction[2], (double)ray->t_min, (double)ray->t_max);
  verify_append(t->first, sizeof t->first,
                "; batch %" PRIu64 "; again: slabcast verify --group %s --rays %" PRIu64 " --seed %" PRIu64, run->batch,
                run->group->name, run->share, run->seed);
  complain("verify: %s: %s", run->group->name, t->first);
}

void verify_figure_add(verify_run *run, figure_kind kind, const char *name, double value) {
  for (int i = 0; i < VERIFY_FIGURES; i++) {
    verify_figure *f = &run->tally->figures[i];
    if (f->name && strcmp(f->name, name) != 0) continue;
    const double so_far = f->value;
    *f = (verify_figure){name, kind, kind != FIGURE_RATIO ? so_far + value : value > so_far ? value : so_far};
    return;
  }
}

double verify_figure_of(const verify_tally *tally, const char *name) {
  for (int i = 0; i < VERIFY_FIGURES && tally->figures[i].name; i++)
    if (!strcmp(tally->figures[i].name, name)) return tally->figures[i].value;
  return 0;
}

int verify_status(const verify_run *run, slab_status status) {
  char what[64];
  if (status == SLAB_OK) return EXIT_DONE;
  snprintf(what, sizeof what, "verify: %s", run->group->name);
  /* If the answers cannot be allocated, slab_message() is still that of an earlier refusal. */
  if (strncmp(slab_message(), run->refusal, sizeof run->refusal - 1) != 0) return complain_status(status, what);
  complain("%s: %s", what, slab_status_text(status));
  return EXIT_FAILED;
}

int verify_check(verify_run *run, slab_scene *scene, slab_query query, const answers *a, size_t n,
                 const slab_cast_options *options, int judged) {
  slab_check_report report;
  progress_answered(&run->line);
  const slab_status status = slab_check(scene, query, run->rays, n, answers_of(a, query),
                                        query == SLAB_ALL ? a->offsets : NULL, options, &report);
  if (status != SLAB_OK) return verify_status(run, status);
  const uint64_t wrong = judged ? report.oracle_wrong : 0;
  if (query == SLAB_ALL && a->asked != a->offsets[a->n])
    verify_fail(run, 1, NULL, "all: asked for space for %llu %s, then gave %llu", (unsigned long long)a->asked,
                plural(a->asked, "hit", "hits"), (unsigned long long)a->offsets[a->n]);
  if (report.mismatches || wrong)
    verify_fail(run, report.mismatches + wrong, &run->rays[report.first], "%s: %s", answer_name(query), report.text);
  if (judged) verify_figure_add(run, FIGURE_COUNT, "judged", (double)report.oracle_rays);
  if (judged) verify_figure_add(run, FIGURE_COUNT, "undecided", (double)report.oracle_undecided);
  run->tally->cases += n;
  return EXIT_DONE;
}

/* ---- scenes, in every layout ------------------------------------------------ */

verify_layout verify_layout_at(const verify_run *run, uint64_t turn) {
  const verify_layout layout = (verify_layout)(turn % LAYOUTS);
  return verify_context(run, layout) ? layout : LAYOUT_COMPRESSED;
}

slab_context *verify_context(const verify_run *run, verify_layout layout) {
  slab_context *const contexts[LAYOUTS] = {run->context, run->wide[SLAB_TRAVERSAL_AUTO], run->compressed};
  return contexts[layout];
}

slab_status verify_scene(const verify_run *run, verify_layout layout, slab_scene **scene) {
  return slab_scene_create(verify_context(run, layout), scene);
}

slab_status verify_commit(verify_run *run, verify_layout layout, slab_tree tree, slab_scene *scene, size_t n) {
  const slab_build_options options = {.tree = layout == LAYOUT_FLAT ? SLAB_TREE_FLAT : tree};
  run->tally->met[layout] += n;
  const slab_status status = slab_scene_commit(scene, &options);
  if (status == SLAB_OK) progress_await(&run->line, run->device.name);
  return status;
}
