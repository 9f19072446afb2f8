#!/usr/bin/env bash
# same_bytes.sh MPIRUN SLABCAST_MPI SLOW_LAYER MAKE_NPY: any number of ranks writes the bytes of one process. That holds
# for any query, scene, options and shares of the ranks.
# shellcheck source=tests/mpi/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1

# same RANKS NAME OPTION...: of a cast to NAME.
same() {
  local ranks=$1 name=$2
  shift 2
  [[ -e one.$name ]] || expect_exit 0 slabcast cast "$@" -o "one.$name"
  expect_exit 0 on "$ranks" cast "$@" --check -o "many.$name"
  expect_stderr " rays checked, 0 mismatches"
  expect_same "one.$name" "many.$name"
  if [[ -e one.$name.offsets.npy ]]; then expect_same "one.$name.offsets.npy" "many.$name.offsets.npy"; fi
  [[ ! -e many.$name.part && ! -e many.$name.offsets.npy.part ]] || fail "a part of many.$name is left"
}

# ---- every query, on scenes of every kind, flat and in trees; 1003 rays are no multiple of anything ----
make_row "$make_npy"
flat=("${row[@]}" --builtin boxes:40) tree=("${row[@]}" --builtin soup:1500 --tree fast)
slabcast rays random "${flat[@]}" --count 1003 -o rays.npy
for query in closest distance any count all interval; do
  same 2 "$query.npy" "${flat[@]}" --rays rays.npy --query $query
  same 4 "$query.npy" "${flat[@]}" --rays rays.npy --query $query
done
same 1 closest.npy "${flat[@]}" --rays rays.npy
same 1 all.npy "${flat[@]}" --rays rays.npy --query all
same 2 tree.npy "${tree[@]}" --rays rays.npy
same 4 bvh_all.raw "${tree[@]}" --rays rays.npy --query all --points

printf 'v -4 -4 2\nv 9 -4 2\nv 0 9 2\nf 1 2 3\n' >mesh.obj
printf '1 0 0 0  0 1 0 0  0 0 1 0\n0 -2 0 3  2 0 0 0  0 0 2 1\n' >places.txt
placed=(--instances places.txt --of mesh.obj "${flat[@]}")
for query in closest all; do same 2 "placed_$query.npy" "${placed[@]}" --rays rays.npy --query $query; done

# ---- rows of every form, and every option ----
slabcast rays random "${flat[@]}" --count 501 -o rays.raw
same 2 cut.raw "${flat[@]}" --rays rays.raw --t-min 0.5 --t-max 40 --mask 21 --cull back --face-forward
same 2 points.npy "${flat[@]}" --rays rays.raw --query interval --points --shard 1/3
tr ' ' '\n' <<<"0 0.3 0.5 9 0.5 0.5 1 0.5 0 8 0.5 1" | "$make_npy" d '<f8' '(2, 6)' False >segments.npy
same 2 segments.npy "${flat[@]}" --rays segments.npy --segments --query count

# ---- masks and hits of each ray: every rank reads its part of them ----
for ((i = 0; i < 1003; i++)); do echo $((i * i % 33)); done | "$make_npy" u '<u4' '(1003,)' False >masks.npy
npy_data masks.npy >masks.raw
slabcast cast "${flat[@]}" --rays rays.npy -o after.npy
slabcast cast "${flat[@]}" --rays rays.npy --query distance -o after.raw
same 2 masks.npy "${flat[@]}" --rays rays.npy --masks masks.npy
same 4 own.npy "${flat[@]}" --rays rays.npy --masks masks.raw --after after.npy --query all
same 3 own_shard.npy "${flat[@]}" --rays rays.npy --masks masks.npy --after after.raw --query count --shard 1/2
for other in masks.npy closest.npy; do expect_other one.own.npy one.$other; done

# ---- worlds: every rank reads its part of them, and hears of rank 0 how many the scene has ----
for ((i = 0; i < 24; i++)); do echo "1 0 0 $((i % 6 * 3 - 7))  0 1 0 $((3 * (i / 6) - 5))  0 0 1 $((i % 4))"; done >many_places.txt
for ((i = 0; i < 24; i++)); do echo $((i * 5 % 8)); done >place_worlds.txt
for ((i = 0; i < 1003; i++)); do echo $((i * i % 8)); done | "$make_npy" u '<u4' '(1003,)' False >worlds.npy
npy_data worlds.npy >worlds.raw
worlds=(--instances many_places.txt --of mesh.obj --instance-worlds place_worlds.txt --builtin boxes:20 --worlds worlds.npy)
# On the processor, which compiles no kernel for them.
natively() { SLABCAST_BACKENDS=native "$@"; }
for query in closest distance any count all interval; do
  natively same 3 "worlds_$query.npy" "${worlds[@]}" --rays rays.npy --query $query
done
natively same 2 worlds_shard.npy "${worlds[@]/worlds.npy/worlds.raw}" --rays rays.npy --masks masks.npy --shard 1/2
natively slabcast cast "${worlds[@]:0:8}" --rays rays.npy -o none.npy
expect_other one.worlds_closest.npy none.npy

# ---- far from 0: every rank has the origin of rank 0's scene, and rays in double ----
for ((i = 0; i < 60; i++)); do
  x=$((4000000 + i * 7 % 23)).1 y=$((-3000000 - i * 5 % 19)).3 z=$((i % 13)).7
  echo "$x $y $z 0.75"
done >far.txt
natively slabcast rays random --spheres far.txt --count 1003 -o far_rays.npy
for query in closest distance any count all interval nearest; do
  natively same 3 "far_$query.npy" --spheres far.txt --rays far_rays.npy --query $query
done
natively same 2 far_points.raw --spheres far.txt --rays far_rays.npy --query all --points
natively same 2 far_after.npy --spheres far.txt --rays far_rays.npy --after one.far_closest.npy --shard 1/2
expect_refusal 1 "its hits have no order" natively slabcast cast --spheres far.txt --rays far_rays.npy --after after.npy

# ---- points: of files and grids, every query, more of them than two ranks take at once ----
# same_near RANKS NAME OPTION...: of $command to NAME.
command=near
same_near() {
  local ranks=$1 name=$2
  shift 2
  expect_exit 0 slabcast $command "$@" -o "one.$name" --json one.json
  expect_exit 0 on "$ranks" $command "$@" --check -o "many.$name" --json many.json
  expect_stderr " points checked, 0 mismatches"
  expect_same "one.$name" "many.$name"
  for told in points found inside invalid least most; do
    [[ $(grep "\"$told\":" one.json) == "$(grep "\"$told\":" many.json)" ]] || fail "$told: $(cat one.json many.json)"
  done
  [[ ! -e many.$name.part ]] || fail "a part of many.$name is left"
}
awk 'BEGIN { srand(5); for (i = 0; i < 3009; i++) print i == 2900 ? "nan" : 9 * rand() - 4 }' |
  "$make_npy" f '<f4' '(1003, 3)' False >points.npy
npy_data points.npy >points.raw
for query in closest distance; do same_near 3 near_$query.npy "${flat[@]}" --points points.npy --query $query; done
grep -q '"invalid": 1,' many.json || fail "one of the points is NaN: $(cat many.json)"
same_near 2 within.raw "${tree[@]}" --points points.raw --query within --radius 0.4 --mask 21
same_near 2 near_shard.npy "${placed[@]}" --points points.npy --shard 1/3 --radius 2
expect_other one.near_shard.npy one.near_closest.npy
natively same_near 3 near_far.npy --spheres far.txt --grid 9x8x7 --margin 1
natively same_near 3 near_worlds.npy "${worlds[@]}" --points points.npy
same_near 4 two.npy "${flat[@]}" --grid 2x1x1
same_near 1 field.npy "${tree[@]}" --grid 30x20x10 --margin 0.5
command=inside
same_near 3 inside.npy "${flat[@]}" --points points.npy
same_near 2 winding.raw "${tree[@]}" --points points.raw --query winding --mask 21
same_near 2 signed.npy "${tree[@]}" --grid 9x8x7 --margin 1 --query distance --radius 2
grep -q '"inside": [1-9]' many.json || fail "no point is inside: $(cat many.json)"
natively same_near 3 winding_worlds.npy "${worlds[@]}" --points points.npy --query winding
slabcast near --builtin boxes:1 --grid 130x130x130 --query distance -o one.npy
expect_exit 0 on 2 near --builtin boxes:1 --grid 130x130x130 --query distance -o many.npy
expect_same one.npy many.npy
: >none.raw
expect_exit 0 on 2 near "${flat[@]}" --points none.raw -o many.npy
expect_exit 0 slabcast near "${flat[@]}" --points none.raw -o one.npy
expect_same one.npy many.npy

# ---- fewer rays than ranks, none at all ----
head -c 96 rays.raw >three.raw
same 4 three.npy "${flat[@]}" --rays three.raw --query all
: >none.raw
for query in closest all; do
  expect_exit 0 slabcast cast "${flat[@]}" --rays none.raw --query $query -o one.npy
  expect_exit 0 on 2 cast "${flat[@]}" --rays none.raw --query $query -o many.npy
  expect_same one.npy many.npy
done
expect_same one.npy.offsets.npy many.npy.offsets.npy

# ---- several rounds of batches: more rays than two ranks take at once ----
slabcast rays random --builtin boxes:1 --count 2200000 -o many_rays.npy
awk 'BEGIN { for (i = 0; i < 2200000; i++) print i % 2 }' | "$make_npy" u '<u4' '(2200000,)' False >many_masks.npy
for query in any all; do
  own=()
  if [[ $query == all ]]; then own=(--masks many_masks.npy); fi
  slabcast cast --builtin boxes:1 --rays many_rays.npy --query $query "${own[@]}" -o one.npy
  expect_exit 0 on 2 cast --builtin boxes:1 --rays many_rays.npy --query $query "${own[@]}" -o many.npy --json many.json
  expect_same one.npy many.npy
done
expect_same one.npy.offsets.npy many.npy.offsets.npy
for text in '"ranks": 2' '"rays": 2200000'; do grep -q "$text" many.json || fail "no $text in $(cat many.json)"; done

# ---- results that are only counted ----
expect_exit 0 on 2 cast "${flat[@]}" --rays rays.npy --json -
expect_stdout '"rays": 1003' '"ranks": 2'
