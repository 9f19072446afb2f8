#!/usr/bin/env bash
# meshes.sh: one mesh, written in every format, gives the same hits. Faces are counted in file order, in any groups and
# materials. Larger faces are split, and scenes mix any number of meshes.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1

# A tetrahedron: corners, and faces seen from outside.
corners='0 0 0
1 0 0
0 1 0
0 0 1'
faces='0 2 1
0 1 3
0 3 2
1 2 3'
lines() { while read -r line; do echo "$1 $line"; done <<<"$2"; }
corner() { sed -n "$(($1 + 1))p" <<<"$corners"; }

{
  lines v "$corners"
  awk '{ print "f", $1 + 1, $2 + 1, $3 + 1 }' <<<"$faces"
} >mesh.obj
printf 'OFF\n4 4 0\n%s\n%s\n' "$corners" "$(lines 3 "$faces")" >mesh.off
ply_header() {
  printf 'ply\nformat %s 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n' "$1"
  printf 'element face 4\nproperty list uchar int vertex_indices\nend_header\n'
}
{
  ply_header ascii
  printf '%s\n%s\n' "$corners" "$(lines 3 "$faces")"
} >mesh.ply
make_npy=$1
{
  ply_header binary_little_endian
  "$make_npy" f <<<"$corners"
  lines 3 "$faces" | "$make_npy" buuu
} >binary.ply
{
  echo "solid mesh"
  while read -r a b c; do
    printf 'facet normal 0 0 0\nouter loop\n'
    for i in "$a" "$b" "$c"; do echo "vertex $(corner "$i")"; done
    printf 'endloop\nendfacet\n'
  done <<<"$faces"
  echo "endsolid mesh"
} >mesh.stl
{
  head -c 80 /dev/zero
  echo 4 | "$make_npy" u
  while read -r a b c; do
    echo 0 0 0 "$(corner "$a")" "$(corner "$b")" "$(corner "$c")" | tr '\n' ' ' | "$make_npy" f
    printf '\0\0'
  done <<<"$faces"
} >binary.stl
# Groups, materials, texture and normal indices, comments and blanks leave the order of faces alone.
{
  echo "# a tetrahedron"
  echo "mtllib nowhere.mtl"
  lines v "$corners"
  printf 'vt 0 0\nvn 0 0 1\ng one\nusemtl red\nf 1/1/1 3/1/1 2/1/1\nusemtl blue\nf 1//1 2//1 4//1\n\n'
  printf 'g two\nusemtl red\no thing\nf -4 -1 -2\n  f 2/1 3/1 \\\n 4/1\n'
} >grouped.obj

slabcast rays random --mesh mesh.obj --count 500 -o rays.npy
expect_checked --mesh mesh.obj --rays rays.npy --query all -o hits.csv
(($(wc -l <hits.csv) > 100)) || fail "hardly anything is hit"
awk -F , 'NR > 1 && !seen[$8]++ { n++ } END { exit n != 4 }' hits.csv || fail "not all four faces are hit"
for mesh in mesh.off mesh.ply mesh.stl binary.ply binary.stl grouped.obj; do
  expect_checked --mesh "$mesh" --one-geometry --rays rays.npy --query all -o other.csv
  expect_same hits.csv other.csv
done
# From stdin, and without an ending, a mesh's format is recognised by its bytes.
for mesh in mesh.obj mesh.off mesh.ply mesh.stl binary.ply binary.stl grouped.obj; do
  expect_checked --mesh - --one-geometry --rays rays.npy --query all -o other.csv <"$mesh"
  expect_same hits.csv other.csv
  # shellcheck disable=SC2002 # the test is of a pipe
  cat "$mesh" | slabcast cast --mesh - --one-geometry --rays rays.npy --query all -o other.csv
  expect_same hits.csv other.csv
  cp "$mesh" without
  expect_checked --mesh without --one-geometry --rays rays.npy --query all -o other.csv
  expect_same hits.csv other.csv
done
# So is one from a pipe with a name, of the shell's or a FIFO.
mkfifo fifo.ply
for mesh in mesh.obj mesh.off binary.ply mesh.stl; do
  expect_checked --mesh <(cat "$mesh") --one-geometry --rays rays.npy --query all -o other.csv
  expect_same hits.csv other.csv
  cat "$mesh" >fifo.ply &
  expect_checked --mesh fifo.ply --one-geometry --rays rays.npy --query all -o other.csv
  expect_same hits.csv other.csv
done
expect_refusal 1 " is empty" slabcast info --mesh <(:)
expect_refusal 1 ": rejected: its bytes are not those of OBJ" slabcast info --mesh <(echo hello)
expect_refusal 1 "standard input is empty" slabcast info --mesh - </dev/null
expect_refusal 1 "standard input: rejected: its bytes are not those of OBJ, PLY, STL, OFF or glTF" \
  slabcast info --mesh - <rays.npy
expect_refusal 1 "standard input: rejected" slabcast info --mesh - < <(printf 'v 0 0 0\nf 1 2 3\n')

for mesh in mesh.obj binary.stl grouped.obj; do
  expect_exit 0 slabcast info --mesh "$mesh" --json
  expect_stdout '"triangles": 4'
done

# A square is two triangles, a hexagon four; a concave face is not filled.
printf 'v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nf 1 2 3 4\n' >square.obj
printf 'v 0 0 0\nv 4 0 0\nv 4 4 0\nv 2 1 0\nv 0 4 0\nf 1 2 3 4 5\n' >arrow.obj
printf '1.5 0.5 1 0 0 -1\n2 3 1 0 0 -1\n' >down.txt
expect_checked --mesh square.obj --rays down.txt --query count -o count.txt
expect_text $'1\n0' count.txt
expect_checked --mesh arrow.obj --rays down.txt --query count -o count.txt
expect_text $'1\n0' count.txt
expect_exit 0 slabcast info --mesh arrow.obj
grep -qE '^triangles +3$' out || fail "a face of five corners is not three triangles"

# Geometry ids follow the order of the options; a file may be there twice and have blanks in its name.
cp square.obj "a square.obj"
echo 0.5 0.25 9 0 0 -1 >down.txt
expect_checked --mesh mesh.obj --builtin boxes:0 --mesh "a square.obj" --mesh=square.obj --rays down.txt --query all -o all.txt
cut -d ' ' -f 2,8,9 all.txt >order.txt
expect_text '8.75 3 0
9 0 0
9 0 2
9 0 3' order.txt
