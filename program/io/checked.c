#include "program/io/checked.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/plural.h"
#include "program/io/errors.h"

void check_tally_add(check_tally *tally, const slab_check_report *report, const char *noun, uint64_t first) {
  if ((report->mismatches || report->oracle_wrong) && !check_tally_is_bad(tally))
    complain("mismatch at %s %" PRIu64 ": %s", noun, first + report->first, report->text);
  tally->checked += report->rays;
  tally->mismatches += report->mismatches;
  tally->oracle_rays += report->oracle_rays;
  tally->oracle_wrong += report->oracle_wrong;
  tally->oracle_undecided += report->oracle_undecided;
}

void check_tally_tell(const check_tally *tally, const char *one, const char *several) {
  fprintf(stderr, "%" PRIu64 " %s checked, %" PRIu64 " %s", tally->checked, plural(tally->checked, one, several),
          tally->mismatches, plural(tally->mismatches, "mismatch", "mismatches"));
  fprintf(stderr, " (oracle: %" PRIu64 " judged, %" PRIu64 " wrong, %" PRIu64 " too close to call)\n",
          tally->oracle_rays, tally->oracle_wrong, tally->oracle_undecided);
}

void check_tally_put(const check_tally *tally, const char *judged, json_t *summary) {
  json_object_update_missing_new(
      summary, json_pack("{s:I, s:I, s:I, s:I, s:I}", "checked", (json_int_t)tally->checked, "mismatches",
                         (json_int_t)tally->mismatches, judged, (json_int_t)tally->oracle_rays, "oracle_wrong",
                         (json_int_t)tally->oracle_wrong, "oracle_undecided", (json_int_t)tally->oracle_undecided));
}
