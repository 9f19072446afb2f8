#!/usr/bin/env bash
# Points aimed at corners, edges and faces of closed meshes are inside or outside as by whole numbers.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

verify inside "$(scaled 100000000)"
row "winding numbers and signs of distances at corners, edges and faces, against exact integer arithmetic" \
  "1e8 points, 0 wrong" "$(sum_of rays) points, $(sum_of cases) answers: $(sum_of failures) wrong"
finish
