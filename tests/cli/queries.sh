#!/usr/bin/env bash
# queries.sh MAKE_NPY: every query over every kind of primitive: answers worked out by hand, and --check on random
# rays over arrays, meshes and generated scenes.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
row=()
make_row "$1"

# answers QUERY CSV [OPTION...]: the result of the one ray along the row.
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
answers nearest 't,primitive,geometry
2,0,4'
answers all 'ray,t,normal_x,normal_y,normal_z,u,v,primitive,geometry
0,2,1,0,0,0.25,0.25,0,4
0,5,-1,0,0,0,0,0,0
0,9,-1,0,0,0,0,0,1' --max-hits 3

# A miss, an invalid ray.
printf -- '-5 0.5 0.5 -1 1e-9 0\n0 0 0 0 0 0\nnan 0 0 1 0 0\n' >lost.txt
expect_exit 0 slabcast cast --boxes box.npy --rays lost.txt --out csv -o - --check
expect_stderr "warning: 2 of 3 rays are invalid and hit nothing (NaN: 1, infinite: 0, zero direction: 1, origin beyond 2^60: 0); \
the first is ray 1, counted from 0"
expect_text 't,normal_x,normal_y,normal_z,u,v,primitive,geometry
inf,0,0,0,0,0,4294967295,4294967295
inf,0,0,0,0,0,4294967294,4294967294
inf,0,0,0,0,0,4294967294,4294967294' out
expect_exit 0 slabcast cast --boxes box.npy --rays lost.txt --query interval --out csv -o - --check
expect_text 'enter,leave,primitive,geometry
inf,-inf,4294967295,4294967295
inf,-inf,4294967294,4294967294
inf,-inf,4294967294,4294967294' out

# Every reason that a ray is invalid for, in each place: 2^60 itself is none, nor is an infinite end.
{
  printf -- '-5 %s 0 1 0 0\n' 0 1152921504606846976 1152921504606846977 -1.2e18
  for value in nan inf; do printf -- '-5 0 0 1 0 %s\n%s 0 0 1 0 0\n' $value $value; done
  echo 0 nan 0 0 0 0
  echo 2e18 0 0 0 -0 0
} >invalid.txt
sed 's/^\([^ ]* [^ ]* [^ ]*\) \(.*\)/\1 0 \2 inf/' invalid.txt >eight.txt
printf '0 0 0 %s 1 0 0 %s\n' nan 1 0 nan -inf inf >>eight.txt
for query in closest any all; do
  expect_exit 0 slabcast cast --boxes box.npy --rays invalid.txt --query $query --check
  expect_stderr "warning: 7 of 10 rays are invalid and hit nothing (NaN: 3, infinite: 2, zero direction: 1, origin beyond 2^60: 1); \
the first is ray 3, counted from 0"
  expect_exit 0 slabcast cast --boxes box.npy --rays eight.txt --query $query --check --shard 1/2
  expect_stderr "warning: 6 of 7 rays are invalid and hit nothing (NaN: 3, infinite: 2, zero direction: 1, origin beyond 2^60: 0); \
the first is ray 6, counted from 0"
done

# ---- random rays, every answer against the reference ----
slabcast rays random "${row[@]}" --count 2000 --seed 3 -o row_rays.npy
for query in closest distance any count all interval nearest; do
  expect_checked "${row[@]}" --rays row_rays.npy --query "$query" -o "$query.npy"
done
expect_checked "${row[@]}" --rays row_rays.npy --query all --max-hits 2 --edges closed -o first.npy
for name in boxes city spheres flake obbs planes soup hair terrain torus knot lattice room; do
  slabcast rays random --builtin "$name:400" --count 1000 -o rays.npy
  expect_checked --builtin "$name:400" --rays rays.npy
done

# The queries agree with each other.
for query in closest distance any count interval all nearest; do
  slabcast cast "${row[@]}" --rays row_rays.npy --query "$query" -o "$query.txt"
done
paste -d ' ' closest.txt distance.txt any.txt count.txt |
  awk '{ hit = $7 != 4294967295; if ($1 != $9 || $10 != hit || ($11 > 0) != hit) exit 1; n += hit } END { exit n < 100 }' ||
  fail "closest, distance, any and count disagree, or hardly anything is hit"
cut -d ' ' -f 1,7,8 closest.txt | cmp - nearest.txt || fail "nearest is no part of closest"
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
