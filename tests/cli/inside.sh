#!/usr/bin/env bash
# inside.sh MAKE_NPY: which points are inside: closed forms, overlaps, every query and format, grids, --check, and what is
# refused.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
make_npy=$1

# expect_inside LINES OPTION...: the lines of csv.
expect_inside() {
  slabcast inside "${@:2}" -o - --out csv 2>inside.err | diff <(printf '%s\n' "$1") - ||
    fail "line ${BASH_LINENO[0]}: other answers: $(<inside.err)"
}

# ---- a cube of triangles that face outward, and a box within it that sticks out of its top ----
cat >cube.obj <<'END'
v 0 0 0
v 4 0 0
v 0 4 0
v 4 4 0
v 0 0 4
v 4 0 4
v 0 4 4
v 4 4 4
f 1 3 4 2
f 5 6 8 7
f 1 2 6 5
f 3 7 8 4
f 1 5 7 3
f 2 4 8 6
END
echo 1 1 3 3 3 5 >box.txt
printf '%s\n' "2 2 1" "2 2 3.5" "2 2 4.5" "2 2 9" "nan 0 0" "0.5 0.5 0.5" >points.txt
both=(--mesh cube.obj --boxes box.txt --points points.txt)
expect_inside $'inside\n1\n1\n1\n0\n0\n1' "${both[@]}"
grep -qF "warning: 1 of 6 points is invalid and finds nothing" inside.err || fail "no warning: $(<inside.err)"
expect_inside $'inside\n1\n0\n1\n0\n0\n1' "${both[@]}" --mode parity
expect_inside $'winding\n1\n2\n1\n0\n0\n1' "${both[@]}" --query winding
expect_inside $'distance\n-1\n-0.5\n-0.5\n4\ninf\n-0.5' "${both[@]}" --query distance
expect_inside $'distance\n-inf\n-0.5\n-0.5\ninf\ninf\n-0.5' "${both[@]}" --query distance --radius 0.75
expect_inside $'inside\n0\n1\n1\n0\n0\n0' "${both[@]}" --mask 2
expect_exit 0 slabcast inside "${both[@]}" --json -
expect_stderr "6 points on " ": 4 are inside; answers after "
grep -q '"inside": 4,' out || fail "no count in the summary: $(<out)"
expect_exit 0 slabcast inside "${both[@]}" --query distance
expect_stderr ": 4 are inside, distance 0.3 on average, -1 to 4; answers after "

# A cube that faces inward counts -1: inside of the union, and by parity.
sed -E 's/^f (.) (.) (.) (.)/f \4 \3 \2 \1/' cube.obj >inward.obj
expect_inside $'winding\n-1\n-1\n0\n0\n0\n-1' --mesh inward.obj --points points.txt --query winding
expect_inside $'inside\n1\n1\n0\n0\n0\n1' --mesh inward.obj --points points.txt

# ---- without its top it is open: five sixths in its middle, and fractions above the hole ----
sed '/^f 5 6 8 7/d' cube.obj >open.obj
printf '%s\n' "2 2 2" "2 2 9" "2 2 5" "nan 0 0" >open.txt
slabcast inside --mesh open.obj --points open.txt --query number -o - --out text 2>inside.err |
  awk '{want[1]=5/6; want[2]=0.04405; want[3]=0.29517; d=$1-(NR in want?want[NR]:0); if (d<0) d=-d; if (d>1e-4) exit 1} END {if (NR!=4) exit 1}' ||
  fail "other winding numbers"
expect_exit 0 slabcast inside --mesh open.obj --points open.txt --query number --check --json -
expect_stderr "4 points checked, 0 mismatches (oracle: " " 0 wrong"
{ grep -q '"query": "number"' out && grep -q '"inside": 1,' out; } || fail "no count in the summary: $(<out)"
expect_inside $'number\n1\n2\n1\n0\n0\n1' "${both[@]}" --query number
expect_refusal 1 "geometry 0 is of an instance whose model has an open mesh" \
  slabcast inside --instances <(echo 1 0 0 0 0 1 0 0 0 0 1 0) --of open.obj --points open.txt --query number

# ---- skew instances; their distances are refused ----
echo "1 1 0 0 0 1 0 0 0 0 2 10" >skew.txt
expect_inside $'inside\n1\n0' --instances skew.txt --of cube.obj --points <(printf '%s\n' "3 2 12" "0.5 1 12")
expect_refusal 1 "geometry 0 is in an instance that is not rigid" \
  slabcast inside --instances skew.txt --of cube.obj --points points.txt --query distance

# ---- every answer is the reference's; formats hold the same ----
for query in inside winding distance number; do
  expect_exit 0 slabcast inside --builtin knot:500 --grid 9x8x7 --margin 0.5 --query $query --check
  expect_stderr "504 points checked, 0 mismatches (oracle: " " 0 wrong"
  scene=(--builtin knot:500 --grid 9x8x7 --margin 0.5 --query "$query")
  for layout in wide compressed; do
    slabcast inside "${scene[@]}" --layout $layout -o $query.$layout.npy
    expect_same $query.wide.npy $query.$layout.npy
  done
  slabcast inside "${scene[@]}" -o $query.vti
  slabcast inside "${scene[@]}" -o $query.ply
  for i in 0 1 2; do slabcast inside "${scene[@]}" --shard $i/3 -o shard.$i.npy; done
  slabcast join shard.[012].npy -o joined.npy
  expect_same joined.npy $query.wide.npy
done
expect_in() { grep -aq "$2" "$1" || fail "$1 has no $2"; } # expect_in FILE PATTERN
expect_in inside.wide.npy "descr.*|u1"
expect_in winding.wide.npy "descr.*<i4"
expect_in distance.wide.npy "descr.*<f4"
expect_in number.wide.npy "descr.*<f4"
expect_in number.vti 'type="Float32" Name="number"'
expect_in inside.vti 'type="UInt8" Name="inside"'
expect_in winding.vti 'type="Int32" Name="winding"'
expect_in inside.ply "^property uchar inside"
expect_in winding.ply "^property int winding"
"$make_npy" f '<f4' '(2, 3)' False <<<"2 2 1 2 2 9" >points.npy
expect_inside $'inside\n1\n0' --mesh cube.obj --points points.npy

# ---- worlds: a cube of each ----
printf '1 0 0 %s 0 1 0 0 0 0 1 0\n' 0 100 200 >places.txt
printf '%s\n' 0 1 2 >place_worlds.txt
for x in 2 102 202; do for world in 0 1 2; do echo "$x 2 1 $world"; done; done >asked.txt
cut -d ' ' -f1-3 asked.txt >asked_points.txt
cut -d ' ' -f4 asked.txt >asked_worlds.txt
placed=(--instances places.txt --of cube.obj --instance-worlds place_worlds.txt --points asked_points.txt)
expect_inside $'inside\n1\n1\n1\n0\n1\n0\n0\n0\n1' "${placed[@]}" --worlds asked_worlds.txt --check
expect_inside $'inside\n1\n1\n1\n0\n0\n0\n0\n0\n0' "${placed[@]}"
expect_inside $'winding\n1\n1\n1\n0\n1\n0\n0\n0\n1' "${placed[@]}" --query winding --worlds asked_worlds.txt --check

# ---- refusals ----
expect_exit 2 slabcast inside --mesh cube.obj
expect_stderr "the points are missing: --points or --grid"
expect_exit 2 slabcast inside "${both[@]}" --radius 1
expect_stderr "--radius goes with --query distance"
expect_exit 2 slabcast inside "${both[@]}" --query winding --mode parity
expect_stderr "--mode goes with --query inside"
expect_exit 2 slabcast inside "${both[@]}" --query closest
expect_exit 2 slabcast near "${both[@]}" --mode parity
