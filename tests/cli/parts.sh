#!/usr/bin/env bash
# parts.sh: groups, objects and nodes of mesh files are geometries with names. Masks go by name. A part at several
# places is an instance. --one-geometry gives the answers of one mesh. Units, axes and invalid faces are reported.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1

# holds FILE EXPRESSION: of the JSON, as Python's `d`.
holds() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not eval("(" + sys.argv[2] + ")"))' "$@"; }

# ---- groups of OBJ ----
# A grid of tiles: row y is in the group of its number, and each second tile is in an object's group of its own.
tiles() { # tiles N: triangles over the lower halves of N x N squares
  awk -v n="$1" 'BEGIN {
    for (y = 0; y < n; y++)
      for (x = 0; x < n; x++) {
        printf "v %d %d 0\nv %d %d 0\nv %d %d 0\n", x, y, x + 1, y, x, y + 1
        printf "g row %d%s\nf -3 -2 -1\n", y, x % 2 ? ", odd" : ""
      }
  }'
}
tiles 4 >tiles.obj
for y in 0 1 2 3; do for x in 0 1 2 3; do echo "$x.25 $y.25 9 0 0 -1"; done; done >down.txt
expect_exit 0 slabcast info --mesh tiles.obj --json
holds out 'd["geometries"] == 8 and d["triangles"] == 16 and d["names"][1]["name"] == "row 0, odd" and
           [(n["triangles"], n["mask"]) for n in d["names"]] == [(2, 1)] * 8' || fail "info lists other geometries"
expect_exit 0 slabcast info --mesh tiles.obj
expect_stdout 'geometry 1                 2 triangles, mask 0x1, "row 0, odd"'
expect_checked --mesh tiles.obj --rays down.txt --query nearest -o named.csv
awk -v FS=, 'BEGIN { for (i = 0; i < 16; i++) {
    y = int(i / 4); odd = i % 4 % 2
    printf "9,%d,%d,%s\n", int(i % 4 / 2), 2 * y + odd, odd ? "\"row " y ", odd\"" : "row " y } }' >wanted.csv
diff <(tail -n +2 named.csv) wanted.csv >&2 || fail "hits have other names"
[[ $(head -n 1 named.csv) == t,primitive,geometry,name ]] || fail "the column of names has no name"

# One geometry: ids count the faces of the file, and no names are given.
expect_checked --mesh tiles.obj --one-geometry --rays down.txt --query nearest -o one.csv
awk 'BEGIN { print "t,primitive,geometry"; for (i = 0; i < 16; i++) print "9," i ",0" }' >wanted.csv
expect_same one.csv wanted.csv
# Every query gives the distances of one geometry.
for query in distance any count; do
  expect_checked --mesh tiles.obj --rays down.txt --query "$query" -o parts.csv
  expect_checked --mesh tiles.obj --one-geometry --rays down.txt --query "$query" -o one.csv
  expect_same parts.csv one.csv
done
# Ids of later options follow.
expect_checked --mesh tiles.obj --mesh tiles.obj --rays down.txt --query all -o both.csv --json both.json
holds both.json '[n["geometry"] for n in d["names"]] == list(range(16)) and d["names"][15]["name"] == "row 3, odd"' ||
  fail "the summary names other geometries"

# ---- masks by name ----
expect_exit 0 slabcast cast --mesh tiles.obj --rays down.txt --mask "row 2, odd=0x10" --mask "row 1=16" --mask 16 --query any -o seen.txt
expect_text "$(printf '%s\n' 0 0 0 0 1 0 1 0 0 1 0 1 0 0 0 0)" seen.txt
expect_exit 0 slabcast cast --mesh tiles.obj --rays down.txt --mask "row 1=2" --mask 1 --query count -o seen.txt
expect_text "$(printf '%s\n' 1 1 1 1 0 1 0 1 1 1 1 1 1 1 1 1)" seen.txt
expect_refusal 1 'option --mask: no geometry is named "row 9"; named are: row 0, row 0, odd, ' \
  slabcast cast --mesh tiles.obj --rays down.txt --mask "row 9=1"
expect_refusal 1 'named are: none' slabcast cast --builtin boxes:10 --rays down.txt --mask "a=1"
for value in "row 1=0" "row 1=" 0 "=" "a=0x100000000" x; do
  expect_refusal 2 "option --mask: \"$value\" is not BITS or NAME=BITS" \
    slabcast cast --mesh tiles.obj --rays down.txt --mask "$value"
done

# ---- invalid faces ----
facet() { printf 'facet normal 0 0 1\nouter loop\nvertex %s 0 0\nvertex %s 0 0\nvertex %s 1 0\nendloop\nendfacet\n' "$@"; }
{ echo solid s && facet 0 1 0 && facet 2 nan 2 && facet 4 5 4 && echo endsolid s; } >nan.stl
for value in inf -inf 1e30; do sed "s/nan/$value/" nan.stl >"$value.stl"; done
for mesh in nan inf -inf 1e30; do
  expect_refusal 1 "is NaN, infinite or beyond 2^60" slabcast info --mesh "./$mesh.stl"
  expect_exit 0 slabcast info --mesh "./$mesh.stl" --skip-invalid
  expect_stderr "warning: ./$mesh.stl: 1 face was dropped; the first: " "is NaN, infinite or beyond 2^60"
  grep -qE '^triangles +2$' out || fail "$mesh.stl has other triangles"
done
{ tiles 1 && echo f 1 2 9; } >index.obj
expect_exit 0 slabcast info --mesh index.obj --skip-invalid
expect_stderr "1 face was dropped; the first: line 6: a face names vertex 9, and there are 3"
expect_refusal 1 "no triangle is left" slabcast info --mesh <(sed 1d index.obj) --skip-invalid
printf '0 0 0 1\n0 0 0 nan\n' >spheres.txt
expect_exit 1 slabcast info --spheres spheres.txt
expect_exit 0 slabcast info --spheres spheres.txt --skip-invalid
expect_stderr "warning: spheres.txt: 1 of 2 rows was dropped"

# ---- places, units and axes ----
# scene UP UNIT PLACES...: a triangle, and its place in each of these nodes.
scene() {
  printf '<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset>'
  printf '<unit meter="%s"/><up_axis>%s</up_axis></asset><library_geometries><geometry id="g"><mesh>' "$2" "$1"
  printf '<source id="p"><float_array id="a" count="9">0 0 0 1 0 0 0 1 0</float_array><technique_common>'
  printf '<accessor source="#a" count="3" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>'
  printf '<param name="Z" type="float"/></accessor></technique_common></source><vertices id="v">'
  printf '<input semantic="POSITION" source="#p"/></vertices><triangles count="1">'
  printf '<input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles></mesh></geometry>'
  printf '</library_geometries><library_visual_scenes><visual_scene id="s">'
  local i=0 place
  for place in "${@:3}"; do
    printf '<node id="n%d" name="n%d"><matrix>%s 0 0 0 1</matrix><instance_geometry url="#g"/></node>' "$i" "$i" "$place"
    i=$((i + 1))
  done
  printf '</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>\n'
}
if [[ ${ASSIMP-yes} == yes ]]; then
  scene Y_UP 1 "1 0 0 0 0 1 0 0 0 0 1 0" "1 0 0 2 0 1 0 0 0 0 1 3" "1 0 0 4 0 1 0 0 0 0 -1 0" "2 0 0 6 0 2 0 0 0 0 2 1" >places.dae
  printf '%s 0.25 9 0 0 -1\n' 0.25 2.25 4.25 6.25 >down.txt
  # The third is mirrored: it is a triangle of its own, behind the instances, and its front is below.
  expect_checked --mesh places.dae --rays down.txt --query closest -o hits.csv
  expect_text 't,normal_z,primitive,geometry,name
9,1,0,0,n0
6,1,0,1,n1
9,-1,0,3,n2
8,1,0,2,n3' <(cut -d , -f 1,4,7- hits.csv)
  expect_checked --mesh places.dae --one-geometry --rays down.txt --query nearest -o one.csv
  expect_text 't,primitive,geometry
9,0,0
6,1,0
9,2,0
8,3,0' one.csv
  expect_exit 0 slabcast info --mesh places.dae --json
  holds out 'd["geometries"] == 4 and [n["name"] for n in d["names"]] == ["n0", "n1", "n3", "n2"]' || fail "info has other places"

  for unit in 0.01 0.0254 1000; do
    scene Z_UP "$unit" "1 0 0 0 0 1 0 0 0 0 1 0" >turned.dae
    expect_exit 0 slabcast info --mesh turned.dae --json
    expect_stderr "note: turned.dae: z is up, as the file says" "note: turned.dae: its unit is $unit m, as the file says"
    holds out 'd["upper"] == [1, 1, 0]' || fail "turned.dae has coordinates that are not its own"
    expect_exit 0 slabcast info --mesh turned.dae --json --up y --unit m
    [[ ! -s err ]] || fail "what was asked for is told"
    holds out "abs(d['upper'][0] / $unit - 1) < 1e-6 and d['upper'][1] == 0 and abs(d['lower'][2] / $unit + 1) < 1e-6" ||
      fail "turned.dae is turned or scaled in another way"
  done
fi
expect_exit 0 slabcast info --mesh tiles.obj --up z --unit mm
expect_stderr "warning: --up: tiles.obj names no axis" "warning: --unit: tiles.obj names no unit"
for value in "" w Y yy; do
  expect_refusal 2 "option --up: \"$value\" is not x, y or z" slabcast info --mesh tiles.obj --up "$value"
done
for value in "" yard 0 -1 nan inf; do
  expect_refusal 2 "option --unit: \"$value\" is none of mm, cm, m, km, in, ft" slabcast info --mesh tiles.obj --unit "$value"
done
for value in 0 -1 a 86401; do
  expect_refusal 2 "option --import-seconds: \"$value\" is not a whole number" slabcast info --mesh tiles.obj --import-seconds "$value"
done
