#!/usr/bin/env bash
# demo.sh SAME_PIXELS REFERENCE: the demo's picture is the committed one, pixel by pixel, and each of its rays was
# checked; at a small size likewise, twice the same.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
same_pixels=$1
reference=$2

# expect_table ROWS_AT_LEAST: what demo prints, and that nothing mismatched.
expect_table() {
  for row in 'device +.+' 'scene +[0-9]+ boxes, [0-9]+ triangles' 'picture +.+' 'camera +closest .* 0' 'mirror +closest .* 0' \
    'sun +any .* 0' 'sky +any .* 0' 'all .* 0'; do
    grep -qE "^$row\$" out || fail "demo prints no row \"$row\": $(cat out)"
  done
  rays=$(sed -n 's/^\([0-9]*\) rays, each checked against the CPU reference bit by bit: 0 mismatches$/\1/p' out)
  [[ -n $rays ]] || fail "demo does not end with 0 mismatches: $(cat out)"
  ((rays >= $1)) || fail "demo checked $rays rays, fewer than $1"
}

expect_exit 0 slabcast demo --size 256x144 -o small.png
expect_table 36864
"$same_pixels" small.png 256x144 || fail "not a picture of 256x144"
expect_exit 0 slabcast demo --size 256x144 -o -
"$same_pixels" out small.png || fail "the demo does not draw the same picture twice"
grep -q ': 0 mismatches$' err || fail "with the picture on stdout the table is not on stderr"

# Without options: a picture of 1280x720 here, and more than a million rays.
expect_exit 0 slabcast demo
expect_table 1000000
"$same_pixels" slabcast-demo.png "$reference" || fail "the demo's picture is not that of $reference"
