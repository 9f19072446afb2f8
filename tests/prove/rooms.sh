#!/usr/bin/env bash
# The same in rooms of 1 x 1 x 1000 and 10 x 3 x 1000, where one ray in three aims at a rounded point.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

verify rooms "$(scaled 100000000)"
row "rays inside thin boxes, 1 x 1 x 1000 and 10 x 3 x 1000: rays, leaks, wrong crossing counts" "1e8, 0, 0" \
  "$(sum_of rays) rays, $(share_of "exactly zero edge functions") with an exactly zero edge function: $(sum_of leaks) leaks, $(sum_of "wrong counts") wrong"
finish
