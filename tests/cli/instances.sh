#!/usr/bin/env bash
# instances.sh MAKE_NPY: a mesh that is in a scene many times. Answers are worked out by hand, the same from every
# form of the transforms, and the same as copies of the mesh. Impossible inputs are refused with the file, the index and
# the value.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
make_npy=$1

# A triangle around the z axis, at z = 1, and rays down at x = 0, 10, 20, from z = 9.
printf 'v -1 -1 1\nv 1 -1 1\nv 0 1 1\nf 1 2 3\n' >tile.obj
printf '%s 0 9 0 0 -1\n' 0 10 20 >rays.txt
# As it is; moved; twice as high and moved.
printf '%s\n' '1 0 0 0 0 1 0 0 0 0 1 0' '1 0 0 10 0 1 0 0 0 0 1 0.5' '1 0 0 20 0 1 0 0 0 0 2 0' >places.txt
sed 's/$/ 0 0 0 1/' places.txt >square.txt
"$make_npy" f '<f4' '(3, 3, 4)' False <places.txt >places.npy
"$make_npy" d '<f8' '(3, 4, 4)' False <square.txt >square.npy
"$make_npy" f <places.txt >places.raw

# ---- answers ----
cast() { slabcast cast "$@" --rays rays.txt --query nearest --out csv -o - --check; }
for places in places.npy square.npy places.txt square.txt places.raw; do
  expect_exit 0 cast --builtin boxes:0 --instances "$places" --of tile.obj
  expect_text 't,primitive,geometry
8,0,1
7.5,0,2
7,0,3' out
  expect_stderr " 0 mismatches"
done
# Later geometry has the later ids; a mask is of an option, whose instances share it.
expect_exit 0 cast --instances places.npy --of tile.obj --mesh tile.obj --instances=places.npy --of=tile.obj --mask 6
expect_text 't,primitive,geometry
8,0,3
7.5,0,5
7,0,6' out
expect_exit 0 cast --mesh tile.obj --instances places.npy --of tile.obj --mask 1
expect_text 't,primitive,geometry
8,0,0
inf,4294967295,4294967295
inf,4294967295,4294967295' out
# One of both files may be stdin, and there may be no transforms.
expect_exit 0 cast --instances - --of tile.obj <places.npy
[[ $(wc -l <out) == 4 ]] || fail "instances from stdin: $(<out)"
mv out same
expect_exit 0 cast --instances places.npy --of - <tile.obj
expect_same out same
"$make_npy" f '<f4' '(0, 4, 4)' False </dev/null >none.npy
expect_exit 0 cast --instances none.npy --of tile.obj --mesh tile.obj
expect_text 't,primitive,geometry
8,0,0
inf,4294967295,4294967295
inf,4294967295,4294967295' out

# Moves by whole numbers are exact: instances answer as copies, bit by bit, by every query, camera and picture.
expect_exit 0 slabcast info --mesh tile.obj --json
printf 'v %s -1 1\nv %s -1 1\nv %s 1 1\nf 1 2 3\n' 9 11 10 >copy.obj
printf '1 0 0 %s 0 1 0 0 0 0 1 0\n' 0 10 >two.txt
slabcast rays random --mesh tile.obj --mesh copy.obj --count 3000 -o random.npy
for query in closest distance any count all interval nearest; do
  for scene in "--instances two.txt --of tile.obj" "--mesh tile.obj --mesh copy.obj"; do
    # shellcheck disable=SC2086 # several words
    expect_exit 0 slabcast cast $scene --rays random.npy --query "$query" --check --json -
    grep -E '"hits"' out >"${scene:2:4}.count" || fail "$query tells no hits"
  done
  expect_same mesh.count inst.count
done
expect_exit 0 slabcast rays camera --instances two.txt --of tile.obj --size 40x30 -o camera.npy
expect_exit 0 slabcast rays camera --mesh tile.obj --mesh copy.obj --size 40x30 -o copies.npy
[[ $(npy_data camera.npy | wc -c) == $((40 * 30 * 32)) ]] || fail "the camera has other rays"
expect_exit 0 slabcast render --instances two.txt --of tile.obj --size 40x30 --from 5,0,9 --to 5,0,0 -o picture.png
expect_exit 0 slabcast render --mesh tile.obj --mesh copy.obj --size 40x30 --from 5,0,9 --to 5,0,0 -o copies.png
expect_same picture.png copies.png
expect_exit 0 slabcast info --instances two.txt --of tile.obj
expect_stdout "geometries                 2"

# ---- what cannot be ----
scene_refused() { expect_refusal 1 "$1" slabcast cast --instances "$2" --of "${3:-tile.obj}" --rays rays.txt; }
scene_refused "cannot read nowhere.npy: No such file or directory" nowhere.npy
scene_refused "nowhere.obj: " places.npy nowhere.obj
"$make_npy" f '<f4' '(3, 12)' False <places.txt >bad.npy
scene_refused "bad.npy: shape (3, 12) is neither (n, 3, 4) nor (n, 4, 4)" bad.npy
"$make_npy" f '<f4' '(3, 4, 3)' False <places.txt >bad.npy
scene_refused "bad.npy: shape (3, 4, 3) is neither (n, 3, 4) nor (n, 4, 4)" bad.npy
"$make_npy" f '<f4' '(4, 3, 4)' False <places.txt >bad.npy
scene_refused "bad.npy: truncated: shape (4, 3, 4) of '<f4' wants 4 rows of 48 bytes, 144 bytes are there" bad.npy
"$make_npy" f '<f4' '(3, 3, 4)' True <places.txt >bad.npy
scene_refused "bad.npy: the array is in Fortran order" bad.npy
"$make_npy" u '<i4' '(3, 3, 4)' False <places.txt >bad.npy
scene_refused "bad.npy: dtype '<i4' is not float32 or float64" bad.npy
sed 's/ 0 0 0 1$/ 0 0 0 2/' square.txt | tail -n 1 | cat <(head -n 2 square.txt) - | "$make_npy" d '<f8' '(3, 4, 4)' False >bad.npy
scene_refused "bad.npy: the last row of transform 2 is 0 0 0 2, not 0 0 0 1" bad.npy
cut -d ' ' -f -11 places.txt >bad.txt
scene_refused "bad.txt: rows of 11 numbers; transforms have 12 or 16" bad.txt
sed '2s/10/nan/' places.txt >bad.txt
scene_refused "bad.txt: slab_scene_add_instances: transform 1 is not finite, or moves beyond 2^60 (nan)" bad.txt
sed '3s/2 0$/0 0/' places.txt >bad.txt
scene_refused "bad.txt: slab_scene_add_instances: transform 2 is singular: its determinant (0)" bad.txt

refused() { expect_refusal 2 "$1" slabcast "${@:2}"; }
refused "option --instances a.npy wants --of FILE next" cast --instances a.npy --rays rays.txt
refused "option --instances a.npy wants --of FILE next" info --instances a.npy --mesh tile.obj --of tile.obj
refused "option --of tile.obj follows no --instances F" render --of tile.obj --instances a.npy
refused "option --of tile.obj follows no --instances F" info --instances a.npy --of tile.obj --of tile.obj
refused 'option --of: its value is empty, FILE is wanted' info --instances a.npy --of ""
refused "--instances - and --of - cannot both come from stdin" info --instances - --of -
refused "--of - and --rays - cannot both come from stdin" cast --instances a.npy --of - --rays -
