#!/usr/bin/env bash
# Six scenes of 10,000 primitives, extremes over-represented. Wide trees, FAST, DEFAULT and HIGH, each under another
# traversal, are compared with brute force at the device's own lane width, which answers once for all. Closest for every
# ray, the other queries for every eighth (of a smaller run for every one). Compressed trees, FAST and HIGH, get half of
# either, the other lane widths an eighth.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

verify trees "$(scaled 60000000)" --lanes all
row "trees of each quality bit-equal to brute force, 6 scenes of 10,000 primitives" "1e7 rays a scene; 0 differ" \
  "$(sum_of rays) rays over the scenes, $(sum_of cases) answers compared: $(sum_of failures) differ"
row "answers among these by kernels that are not of the device's own width: of 16 lanes, 8 lanes, one lane" "-" \
  "$(sum_of "16 lanes wide"), $(sum_of "8 lanes wide") and $(sum_of "one lane wide")"
row "casts of these rays, each tree counted: at wide trees, at compressed ones" "-" "$(sum_of wide) and $(sum_of compressed)"
finish
