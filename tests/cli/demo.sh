#!/usr/bin/env bash
# demo.sh SAME_PIXELS REFERENCE: the demo's picture is the committed one, pixel by pixel. It has more than a million
# triangles and rays, and 1,000 of the rays were checked. At a tiny size there are fewer, with the picture on stdout.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
same_pixels=$1
reference=$2

# expect_report FILE: the output of demo, and that nothing mismatched. Sets triangles, rays and checked.
expect_report() {
  local number='[0-9]+\.[0-9]+' row
  for row in 'device +.+' 'picture +.+, [0-9]+x[0-9]+, .* s after the start' 'stage +seconds +processor' \
    "(device|scene|tree|kernels|rays|shading|writing) +$number +$number.*" 'rays +query +count +seconds +Mrays/s' \
    '(camera|edges|mirror|again) +closest .*' '(sun|sky) +any .*'; do
    grep -qE "^$row\$" "$1" || fail "demo prints no row \"$row\": $(cat "$1")"
  done
  triangles=$(sed -nE 's/^scene +([0-9]+) triangles, [1-9][0-9]* boxes, [1-9][0-9]* oriented boxes, [1-9][0-9]* spheres, 1 plane$/\1/p' "$1")
  rays=$(sed -nE 's/^all +([0-9]+) .*/\1/p' "$1")
  checked=$(sed -nE 's/^([0-9]+) rays checked against the CPU reference bit by bit in .* s: 0 mismatches$/\1/p' "$1")
  [[ -n $triangles && -n $rays ]] || fail "demo does not tell what it cast: $(cat "$1")"
  [[ -n $checked ]] || fail "demo does not end with 0 mismatches: $(cat "$1")"
}

# 32 pixels: every ray is checked, but for those of pixels on edges.
expect_exit 0 slabcast demo --size 8x4 -o -
"$same_pixels" out 8x4 || fail "the picture on stdout is not one of 8x4"
expect_report err

# Without options: the picture of 1280x720 here.
expect_exit 0 slabcast demo
expect_report out
((triangles > 1000000)) || fail "a scene of only $triangles triangles"
((rays > 1500000)) || fail "only $rays rays"
((checked == 1000)) || fail "checked $checked rays, not 1000"
"$same_pixels" slabcast-demo.png "$reference" || fail "the demo's picture is not that of $reference"
