#!/usr/bin/env bash
# far.sh: a scene far from 0 has the answers of the same one near 0, of every command that casts, measures or draws. Its
# places are in double. Geometry that is too far from its origin gets a warning.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
far_py=$(realpath "$(dirname "${BASH_SOURCE[0]}")/far.py")
far() { python3 "$far_py" "$@" || fail "line ${BASH_LINENO[0]}: far.py $*"; }

far make
origin=$(far origin)
IFS=, read -r x y z <<<"$origin"
scene_of() { echo --mesh "$1.obj" --spheres "$1_spheres.csv" --boxes "$1_boxes.csv" --obbs "$1_obbs.csv"; }
read -ra near <<<"$(scene_of near)"
read -ra far <<<"$(scene_of far) --origin $origin"
near+=(--planes near_planes.csv)
far+=(--planes far_planes.csv)
# away X,Y,Z: the same place far away.
away() { awk -v OFS=, -v OFMT=%.17g -v x="$x" -v y="$y" -v z="$z" -F, '{ print $1 + x, $2 + y, $3 + z }' <<<"$1"; }

# quiet COMMAND...: succeeds and prints nothing.
quiet() {
  expect_exit 0 "$@"
  [[ ! -s err ]] || fail "line ${BASH_LINENO[0]}: \"$*\" says $(<err)"
}

# ---- every query, in every format ----
for query in closest distance any count all interval nearest; do
  quiet slabcast cast "${near[@]}" --rays near_rays.csv --query $query -o near.csv
  expect_checked "${far[@]}" --rays far_rays.csv --query $query -o far.csv
  far hits near.csv far.csv
  quiet slabcast cast "${far[@]}" --rays far_rays.npy --query $query -o other.csv
  expect_same far.csv other.csv
  quiet slabcast cast "${far[@]}" --rays - --query $query -o far.txt <far_rays.csv
  expect_same <(tail -n +2 far.csv | tr , ' ') far.txt
done
for query in closest all interval; do
  places=(x y z enter_x enter_y enter_z leave_x leave_y leave_z)
  quiet slabcast cast "${near[@]}" --rays near_rays.csv --query $query --points -o near.csv
  quiet slabcast cast "${far[@]}" --rays far_rays.csv --query $query --points -o far.csv
  far hits near.csv far.csv "${places[@]}"
  quiet slabcast cast "${near[@]}" --rays near_rays.csv --query $query -o near.ply
  quiet slabcast cast "${far[@]}" --rays far_rays.csv --query $query -o far.ply
  far ply near.ply far.ply 3
done
slabcast cast "${near[@]}" --segments --rays near_segments.csv -o near.csv
expect_checked "${far[@]}" --segments --rays far_segments.csv -o far.csv
far hits near.csv far.csv
slabcast cast "${near[@]}" --t-min 3.5 --t-max 20 --rays near_rays.csv -o near.csv
slabcast cast "${far[@]}" --t-min 3.5 --t-max 20 --rays far_rays.csv -o far.csv
far hits near.csv far.csv

# Fields of npy have their types; raw has the same rows, and pipes and slices too.
slabcast cast "${far[@]}" --rays far_rays.npy -o far.npy
descr="[('t', '<f8'), ('normal', '<f4', (3,)), ('u', '<f4'), ('v', '<f4'), ('primitive', '<u4'), ('geometry', '<u4'),"
grep -aqF "$descr ('order', '<f4')]" far.npy || fail "other fields: $(head -c 300 far.npy)"
slabcast cast "${far[@]}" --rays far_rays.npy -o far.raw
expect_same <(npy_data far.npy) far.raw
(($(stat -c %s far.raw) == 600 * 40)) || fail "rows of other sizes"
slabcast cast "${far[@]}" --rays - -o - --out npy <far_rays.csv >piped.npy
expect_same far.npy piped.npy
for i in 0 1 2; do slabcast cast "${far[@]}" --rays far_rays.npy --shard $i/3 -o shard.$i.npy; done
slabcast join shard.[012].npy -o joined.npy
expect_same far.npy joined.npy
slabcast cast "${far[@]}" --rays - --shard 1/3 -o piped.npy <far_rays.csv
expect_same <(npy_data shard.1.npy) <(npy_data piped.npy)
head -c 9000 far.npy >resumed.npy.part
slabcast cast "${far[@]}" --rays far_rays.npy -o resumed.npy --resume
expect_same far.npy resumed.npy

# ---- after a hit of its own, by its order ----
slabcast cast "${near[@]}" --rays near_rays.csv -o near.npy
slabcast cast "${near[@]}" --rays near_rays.csv --after near.npy -o near.csv
slabcast cast "${far[@]}" --rays far_rays.csv -o after.csv
slabcast cast "${far[@]}" --rays far_rays.csv --query nearest --points -o after.npy
slabcast cast "${far[@]}" --rays far_rays.csv -o after.txt
for file in far.npy after.csv after.npy after.txt; do
  expect_checked "${far[@]}" --rays far_rays.csv --after $file -o far.csv
  far hits near.csv far.csv
done
slabcast cast "${far[@]}" --rays far_rays.csv --query distance -o far_t.npy
expect_refusal 1 "far_t.npy: dtype '<f8' has no t" slabcast cast "${far[@]}" --rays far_rays.csv --after far_t.npy
expect_refusal 1 "near.npy: its hits have no order" slabcast cast "${far[@]}" --rays far_rays.csv --after near.npy
expect_refusal 1 "far.npy: its hits are of rays in double" slabcast cast "${near[@]}" --rays near_rays.csv --after far.npy

# Explained is the answer of the cast.
slabcast cast "${far[@]}" --rays far_rays.csv -o far.csv
read -r index t < <(awk -F, 'NR > 1 && $1 != "inf" { print NR - 2, $1; exit }' far.csv)
quiet slabcast explain "${far[@]}" --rays far_rays.csv --index "$index" --json -
expect_stdout "\"t\": $t,"

# ---- points ----
for query in closest distance; do
  quiet slabcast near "${near[@]}" --points near_points.csv --query $query -o near.csv
  expect_exit 0 slabcast near "${far[@]}" --points far_points.csv --query $query -o far.csv --check
  expect_stderr " 0 mismatches" " 0 wrong"
  far hits near.csv far.csv point_x point_y point_z
done
quiet slabcast near "${far[@]}" --points far_points.npy --query distance -o other.csv
expect_same far.csv other.csv
quiet slabcast near "${near[@]}" --points near_points.csv -o near.ply
quiet slabcast near "${far[@]}" --points far_points.csv -o far.ply
far ply near.ply far.ply 3
box=(--lower "-8,-8,-8" --upper "8,8,8")
there=(--lower "$(away -8,-8,-8)" --upper "$(away 8,8,8)")
for query in inside winding distance; do
  slabcast inside "${near[@]}" --grid 5x6x7 "${box[@]}" --query $query -o near.csv
  expect_exit 0 slabcast inside "${far[@]}" --grid 5x6x7 "${there[@]}" --query $query -o far.csv --check
  expect_stderr " 0 mismatches" " 0 wrong"
  expect_same near.csv far.csv
done

# ---- views, sensors, cameras ----
for target in "--sky tregenza" "--to TARGET"; do
  read -ra at <<<"$target"
  slabcast view "${near[@]}" --points near_points.csv "${at[@]/TARGET/near_points.csv}" -o near.csv
  expect_exit 0 slabcast view "${far[@]}" --points far_points.csv "${at[@]/TARGET/far_points.csv}" -o far.csv --check
  expect_stderr " 0 mismatches"
  expect_same near.csv far.csv
done
slabcast view "${near[@]}" --points near_points.csv --sky tregenza -o near.ply
slabcast view "${far[@]}" --points far_points.csv --sky tregenza -o far.ply
far ply near.ply far.ply 3
for turn in "" "--spin 90"; do
  read -ra more <<<"$turn"
  quiet slabcast lidar "${near[@]}" --fan 16,-30,30 "${more[@]}" --poses near_poses.csv -o near.ply
  quiet slabcast lidar "${far[@]}" --fan 16,-30,30 "${more[@]}" --poses far_poses.csv -o far.ply
  far ply near.ply far.ply 3
done
expect_exit 0 slabcast lidar "${far[@]}" --fan 16,-30,30 --spin 90 --poses far_poses.csv --check
expect_stderr " 0 mismatches"
slabcast render "${near[@]}" --from 30,25,40 --to 0,1,2 --size 96x64 -o near.png
slabcast render "${far[@]}" --from "$(away 30,25,40)" --to "$(away 0,1,2)" --size 96x64 -o far.png
expect_same near.png far.png
slabcast rays camera "${near[@]}" --from 30,25,40 --to 0,1,2 --size 32x24 -o near_camera.npy
slabcast rays camera "${far[@]}" --from "$(away 30,25,40)" --to "$(away 0,1,2)" --size 32x24 -o far_camera.npy
grep -aqF "'<f8'" far_camera.npy || fail "rays of a scene far away are float"
slabcast cast "${near[@]}" --rays near_camera.npy -o near.csv
slabcast cast "${far[@]}" --rays far_camera.npy -o far.csv
far hits near.csv far.csv
expect_refusal 1 "raw rays are float32" slabcast rays camera "${far[@]}" -o far_camera.raw
quiet slabcast info "${far[@]}" --json
expect_stdout '"origin"'

# ---- without --origin ----
quiet slabcast cast "${near[@]}" --rays near_rays.csv --query nearest -o near.csv
read -ra alone <<<"$(scene_of far)"
expect_checked "${alone[@]}" --planes far_planes.csv --rays far_rays.csv --query nearest -o far.csv
far close near.csv far.csv
slabcast info "${alone[@]}" --json >far.json
grep -qF '"origin"' far.json || fail "a scene far from 0 has no origin: $(<far.json)"
slabcast info "${near[@]}" --json >near.json
if grep -qF '"origin"' near.json; then fail "a scene near 0 has an origin"; fi

# ---- geometry that is too far gets a warning, with the amount that it moves ----
expect_exit 0 slabcast cast "${alone[@]}" --rays far_rays.csv --origin 0,0,0 -o far.csv
expect_stderr "far_spheres.csv: rounding to float32 moved a number by" "far_rays.csv: rounding to float32 moved points"
head -n 1 far.csv | grep -q '^t,.*geometry$' || fail "rays at an origin of 0 are in double"
expect_exit 0 slabcast cast "${alone[@]}" --rays far_rays.csv --origin 1e9,0,0
expect_stderr "--origin 1000000000,0,0 is 9.96e+08 from the scene"
for wrong in 1,2 1,2,x nan,0,0 1e90,0,0 ""; do
  expect_refusal 2 "--origin" slabcast cast "${alone[@]}" --rays far_rays.csv --origin "$wrong"
done
