#!/usr/bin/env bash
# Six scenes of 10,000 primitives, extremes over-represented: FAST, DEFAULT and HIGH against brute force in every query.
# The lane widths share the rays; one lane, which takes several times as long for each, gets a tenth.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

rays_of=([1]=6000000 [8]=27000000 [16]=27000000)
for lanes in "${!rays_of[@]}"; do
  verify trees "$(scaled "${rays_of[lanes]}")" --lanes "$lanes"
  row "trees of each quality bit-equal to brute force, 6 scenes of 10,000 primitives; lanes: $lanes" \
    "1e7 rays a scene over widths 1, 8, 16; 0 differ" \
    "$(sum_of rays) rays over the scenes, $(sum_of cases) answers compared: $(sum_of failures) differ"
done
finish
