#include "demo_proof.h"

#include <string.h>

#include "cli.h"
#include "progress.h"

void demo_proof_keep(demo_proof *proof, size_t wanted, const slab_ray *rays, size_t n, const void *results,
                     const slab_primitive_id *skip) {
  static const slab_primitive_id none = {SLAB_MISS, SLAB_MISS};
  const size_t room = PROOF_RAYS - proof->count;
  size_t kept = wanted < n ? wanted : n;
  if (kept > room) kept = room;
  for (size_t i = 0; i < kept; i++) {
    const size_t from = (size_t)(((double)i + 0.5) * (double)n / (double)kept), to = proof->count++;
    proof->rays[to] = rays[from];
    proof->skip[to] = skip ? skip[from] : none;
    if (proof->query == SLAB_CLOSEST)
      proof->hits[to] = ((const slab_hit *)results)[from];
    else
      proof->occluded[to] = ((const uint8_t *)results)[from];
  }
}

slab_status demo_proof_check(const demo_proof *proof, slab_scene *scene, uint64_t *wrong) {
  const void *results = proof->query == SLAB_CLOSEST ? (const void *)proof->hits : (const void *)proof->occluded;
  const slab_cast_options options = {.skip = proof->skip};
  slab_check_report report;
  const slab_status status =
      slab_check(scene, proof->query, proof->rays, proof->count, results, NULL, &options, &report);
  if (status != SLAB_OK) return status;
  *wrong += report.mismatches + report.oracle_wrong;
  if (report.mismatches + report.oracle_wrong > 0) complain("of the rays checked, %s", report.text);
  return SLAB_OK;
}
