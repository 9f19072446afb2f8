#!/usr/bin/env bash
# queries.sh MAKE_NPY: every query over every kind of primitive: answers worked out by hand, and --check on random
# rays over arrays, meshes and generated scenes.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
row=()
make_row "$1"

# answers QUERY CSV [OPTION...]: what the one ray along the row gives.
answers() {
  local query=$1 csv=$2
  shift 2
  expect_exit 0 slabcast cast "${row[@]}" --rays ray.txt --query "$query" --out csv -o - --check "$@"
  expect_text "$csv" out
}

answers closest 't,normal_x,normal_y,normal_z,u,v,primitive,geometry
2,1,0,0,0.25,0.25,0,4'
answers distance 't
2'
answers any 'hit
1'
answers count 'count
5'
answers all 'ray,t,normal_x,normal_y,normal_z,u,v,primitive,geometry
0,2,1,0,0,0.25,0.25,0,4
0,5,-1,0,0,0,0,0,0
0,9,-1,0,0,0,0,0,1
0,12.5,-1,0,0,3,0,0,3
0,15,1,0,0,0,0,0,2'
answers interval 'enter,leave,primitive,geometry
2,2,0,4'
answers interval 'enter,leave,primitive,geometry
5,6,0,0' --t-min 4

# A miss, an invalid ray.
printf -- '-5 0.5 0.5 -1 1e-9 0\n0 0 0 0 0 0\nnan 0 0 1 0 0\n' >lost.txt
expect_exit 0 slabcast cast --boxes box.npy --rays lost.txt --out csv -o - --check
expect_stderr "warning: 2 of 3 rays are invalid"
expect_text 't,normal_x,normal_y,normal_z,u,v,primitive,geometry
inf,0,0,0,0,0,4294967295,4294967295
inf,0,0,0,0,0,4294967294,4294967294
inf,0,0,0,0,0,4294967294,4294967294' out
expect_exit 0 slabcast cast --boxes box.npy --rays lost.txt --query interval --out csv -o - --check
expect_text 'enter,leave,primitive,geometry
inf,-inf,4294967295,4294967295
inf,-inf,4294967294,4294967294
inf,-inf,4294967294,4294967294' out

# ---- random rays, every answer against the reference ----
slabcast rays random "${row[@]}" --count 2000 --seed 3 -o row_rays.npy
for query in closest distance any count all interval; do
  expect_checked "${row[@]}" --rays row_rays.npy --query "$query" -o "$query.npy"
done
for name in boxes city spheres flake obbs planes soup hair terrain torus knot lattice room; do
  slabcast rays random --builtin "$name:400" --count 1000 -o rays.npy
  expect_checked --builtin "$name:400" --rays rays.npy
done

# The queries agree with each other.
for query in closest distance any count interval all; do
  slabcast cast "${row[@]}" --rays row_rays.npy --query "$query" -o "$query.txt"
done
paste -d ' ' closest.txt distance.txt any.txt count.txt |
  awk '{ hit = $7 != 4294967295; if ($1 != $9 || $10 != hit || ($11 > 0) != hit) exit 1; n += hit } END { exit n < 100 }' ||
  fail "closest, distance, any and count disagree, or hardly anything is hit"
awk '!seen[$1]++ { $1 = ""; print substr($0, 2) }' all.txt | cmp - <(grep -v '^inf' closest.txt) ||
  fail "the first of all hits is not the closest"

# ---- an empty scene: every ray misses ----
for query in closest all interval; do
  expect_checked --builtin boxes:0 --rays row_rays.npy --query "$query" --out csv -o empty.csv
  tail -n +2 empty.csv | grep -vE '^(inf,0,0,0,0,0,4294967295,4294967295|inf,-inf,4294967295,4294967295)$' &&
    fail "$query: something is hit in an empty scene"
done
"$1" f '<f4' '(0, 6)' False </dev/null >nothing.npy
expect_checked --boxes nothing.npy --rays row_rays.npy -o empty.txt
[[ $(sort -u empty.txt) == 'inf 0 0 0 0 0 4294967295 4294967295' ]] || fail "something is hit in a scene of no boxes"
