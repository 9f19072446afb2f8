#!/usr/bin/env bash
# Rays of sets answer as the same rays from an array, and sums over rows are those of their rays' results.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

verify sets "$(scaled 7000000)" # seven kinds in turn: a million rays of each
row "rays of sets against the same rays from an array, and sums over their rows against their definition" \
  "1e6 rays of each of 7 kinds, 0 differ" "$(sum_of rays) rays, $(sum_of cases) answers: $(sum_of failures) differ"
finish
