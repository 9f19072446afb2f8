#!/usr/bin/env bash
# Closest points have the bits of the CPU reference, in every layout, and the oracle finds none wrong.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

verify points "$(scaled 10000000)"
row "closest points against CPU reference and oracle, and each scene in two layouts" \
  "1e7 points, 0 differ, 0 wrong" "$(sum_of rays) points, $(sum_of cases) answers: $(sum_of failures) differ or are wrong"
finish
