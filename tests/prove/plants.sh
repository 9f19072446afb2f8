#!/usr/bin/env bash
# The faults that are planted in library and program, to see that the checks of failing calls, flipped bits, damaged
# files and killed casts can fail.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

status=0
seen=$(tests/faults/plants.sh 2>&1 | tee >(cat >&2) |
  sed -n 's/^plants: \([0-9]*\) faults planted, \([0-9]*\) missed$/\2 of \1/p') || status=$?
[[ -n $seen ]] || exit 1
row "faults planted for the checks of failing calls, flipped bits, damaged files and killed casts, that these do not notice" 0 "$seen"
exit "$status"
