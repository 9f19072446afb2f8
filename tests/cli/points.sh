#!/usr/bin/env bash
# points.sh: results in PLY are the hits of the same results in csv, as points. Every query with a t is tried, in 2D, in
# slices, of no hit, one and many blocks. Names of geometries, with any text, are in the header.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
points=$(dirname "${BASH_SOURCE[0]}")/points.py

# same_points NAME CAST_OPTION...: NAME.ply holds the hits of NAME.csv. It sets $hits and $names.
same_points() {
  local name=$1
  shift
  expect_exit 0 slabcast cast "$@" -o "$name.ply" --json names.json
  expect_exit 0 slabcast cast "$@" --points -o "$name.csv"
  read -r hits names < <(python3 "$points" same "$name.ply" "$name.csv" names.json) || fail "$name.ply: other points: $*"
}

# ---- names ----
for seed in 1 2 3; do
  python3 "$points" mesh $seed named.gltf
  for ((i = 0; i < 52; i++)); do echo "$i.125 0.125 9 0 0 -1"; done >down.txt
  same_points named --mesh named.gltf --rays down.txt
  ((hits == 52 && names == 52)) || fail "seed $seed: $hits hits, $names names"
done
for way in "x::line" "geometry 0 wheel_left" 'geometry 4 \\u0041'; do
  [[ $way == x::* ]] || grep -aqxF "comment $way" named.ply || fail "no line \"comment $way\": $(head -c 400 named.ply)"
done
same_points distance --mesh named.gltf --rays down.txt --query distance
((hits == 52 && names == 0)) || fail "distances have no geometry, and its names"

# ---- every query, over many blocks of rows ----
scene=(--builtin city:40 --mesh named.gltf --planes plane.txt)
echo 0 0 1 -3 >plane.txt
slabcast rays random "${scene[@]}" --count 12000 --seed 4 -o rays.npy
for query in closest distance interval nearest; do
  same_points $query "${scene[@]}" --rays rays.npy --query $query
  ((hits > 5100 && hits < 12000)) || fail "$query: $hits hits show little"
done
firsts=$hits
expect_exit 0 slabcast cast "${scene[@]}" --rays rays.npy --query all -o all.ply --check --json names.json
slabcast cast "${scene[@]}" --rays rays.npy --query all --points -o all.csv
python3 "$points" same all.ply all.csv names.json >counts || fail "all.ply: other points"
read -r hits names <counts
((hits > firsts)) || fail "all: $hits hits show little"
all=$hits
expect_no all.ply.offsets.npy
slabcast cast "${scene[@]}" --rays rays.npy --points -o again.ply
expect_same closest.ply again.ply
slabcast cast "${scene[@]}" --rays rays.npy --out ply -o plain
expect_same closest.ply plain
head -c 400 interval.csv | head -n 1 | grep -q leave_z || fail "intervals without points"

# ---- no ray, no hit, one, and two dimensions ----
for ray in "" "0 0 -9 0 0 -1"; do
  echo "$ray" >rays.txt
  same_points none --mesh named.gltf --rays rays.txt
  ((hits == 0 && names == 52)) || fail "hits of none: $hits"
done
echo 0.125 0.125 9 0 0 -1 >rays.txt
same_points one --mesh named.gltf --rays rays.txt
((hits == 1)) || fail "one hit is $hits"
printf '0 0 1 1\n3 0 4 1\n' >flat.txt
printf '%s 0.5 1 0\n' -1 2 5 | sed 's/^5/-9/' >flat_rays.txt
same_points flat --boxes flat.txt --rays flat_rays.txt
((hits == 3)) || fail "in 2D $hits hits"
printf '0.125 0.125 9 0.125 0.125 -9\n0 0 5 0 0 4\n' >segments.txt
same_points segments --mesh named.gltf --rays segments.txt --segments
((hits == 1)) || fail "of segments $hits hits"

# ---- hits without a point ----
echo -inf -1 -1 inf 1 1 >beam.txt
printf '0 0 -9 0 0 1\n0 0 0 1 0 0\n' >deep.txt
expect_exit 0 slabcast cast --boxes beam.txt --rays deep.txt --t-min -inf --query interval -o deep.ply
expect_stderr "warning: deep.ply leaves out 1 hit at infinity, where PLY has no points"
grep -aqE '^element vertex 1 +$' deep.ply || fail "a point at infinity is there: $(head -c 200 deep.ply)"

# ---- slices: their rows behind each other are those of the whole ----
for i in 0 1 2; do
  slabcast cast "${scene[@]}" --rays rays.npy --query all --shard $i/3 -o shard.$i.ply
  grep -aq "^comment slabcast shard $i/3: " shard.$i.ply || fail "shard $i does not know its place"
  sed '1,/^end_header$/d' shard.$i.ply
done | cmp - <(sed '1,/^end_header$/d' all.ply) || fail "slices hold other rows"
expect_refusal 1 "shard.0.ply: not a usable npy file" slabcast join shard.?.ply -o joined.npy

# ---- the program's own reader ----
python3 "$points" faces all.ply faces.ply
expect_exit 0 slabcast info --mesh faces.ply --one-geometry
grep -qE "^triangles +$((all / 3))$" out || fail "the points are not read again: $(cat out)"
expect_refusal 1 "all.ply" slabcast info --mesh all.ply

# ---- refusals ----
for query in any count; do
  expect_exit 2 slabcast cast "${scene[@]}" --rays rays.npy --query $query -o x.ply
  expect_stderr "-o x.ply: ply holds points of hits, which --query any and count have not"
done
expect_exit 2 slabcast cast "${scene[@]}" --rays rays.npy -o - --out ply
expect_stderr "-o -: ply begins with the number of its points, which is known last: it wants a file"
expect_exit 2 slabcast rays random --count 3 -o x.ply
expect_stderr "ply files cannot be written, only npy, raw, bin, txt or csv"
expect_no x.ply
