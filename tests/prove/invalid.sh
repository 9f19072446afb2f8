#!/usr/bin/env bash
# Rays that are none are answered as such, and none takes long; nor do subnormal numbers.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

verify invalid "$(scaled 10000000)"
row "NaN, infinite, zero-direction and far rays: wrong answers" "0" \
  "$(sum_of rays) rays, $(sum_of cases) answers: $(sum_of failures) wrong"
ratios=()
for class in "x time for NaN" infinite "zero direction" "subnormal direction" "subnormal origin"; do
  ratio=$(ratio_of "$class")
  ratios+=("${class#x time for } ${ratio}x,")
  awk -v r="$ratio" 'BEGIN { exit !(r > 1.2) }' && failed=1
done
all=${ratios[*]}
row "the time of these rays, and of rays with subnormal numbers, over that of normal rays" "<= 1.2x" \
  "${all%,} (for comparison, with an origin of 2^-100: $(ratio_of "tiny origin")x)"
finish
