#!/usr/bin/env bash
# nodes.sh: files with nodes: their geometry is where they place it, in their own axes and units; hostile ones are
# rejected by name.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1

# bounds FILE LOWER UPPER TRIANGLES
bounds() {
  expect_exit 0 slabcast info --mesh "$1"
  local got
  got=$(awk '$1 == "triangles" || $1 == "lower" || $1 == "upper" { $1 = $1; print }' out)
  [[ $got == "triangles $4"$'\n'"lower $2"$'\n'"upper $3" ]] || fail "$1: $got"
}
rejected() { expect_refusal 1 "$1: rejected: $2" slabcast info --mesh "$1"; }

# gltf [MEMBER...]: a triangle of floats (0, 0, 0), (1, 0, 0), (0, 1, 0); each MEMBER takes the place of the one of its
# name.
triangle='data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA'
gltf() {
  local -A members=([asset]='{"version": "2.0"}' [scene]=0 [scenes]='[{"nodes": [0]}]' [nodes]='[{"mesh": 0}]'
    [meshes]='[{"primitives": [{"attributes": {"POSITION": 0}}]}]' [buffers]='[{"byteLength": 36, "uri": "'"$triangle"'"}]'
    [bufferViews]='[{"buffer": 0, "byteLength": 36}]'
    [accessors]='[{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 3}]')
  local member name text=
  for member; do members[${member%%:*}]=${member#*:}; done
  for name in "${!members[@]}"; do
    if [[ ${members[$name]} ]]; then text+=${text:+, }"\"$name\": ${members[$name]}"; fi
  done
  echo "{$text}"
}

# ---- places ----

# A cube of 2 mm at 4 mm.
cube='AAAAAAAAAAAAAAAAAAAAAAAAAABvEgM7AAAAAG8SAzsAAAAAAAAAAG8SAztvEgM7bxIDOwAAAAAAAAAA
bxIDOwAAAABvEgM7bxIDO28SAzsAAAAAbxIDO28SAztvEgM7AAABAAMAAAADAAIABAAGAAcABAAHAAUA
AAAEAAUAAAAFAAEAAgADAAcAAgAHAAYAAAACAAYAAAAGAAQAAQAFAAcAAQAHAAMA'
gltf 'nodes:[{"mesh": 0, "translation": [0.004, 0.004, 0.004]}]' \
  "buffers:[{\"byteLength\": 168, \"uri\": \"data:;base64,${cube//$'\n'/}\"}]" \
  'bufferViews:[{"buffer": 0, "byteLength": 96}, {"buffer": 0, "byteOffset": 96, "byteLength": 72}]' \
  'meshes:[{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}]' \
  'accessors:[{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 8}, {"bufferView": 1,
    "componentType": 5123, "type": "SCALAR", "count": 36}]' >small.gltf
bounds small.gltf "0.004 0.004 0.004" "0.006 0.006 0.006" 12
echo .005 .005 1 0 0 -1 >down.txt
expect_exit 0 slabcast cast --mesh small.gltf --rays down.txt --query distance -o hit.txt
awk '{ exit !($1 > 0.9939999 && $1 < 0.9940001) }' hit.txt || fail "the cube is not where its node moves it: $(cat hit.txt)"
for move in 0.001 0.01 100; do
  gltf "nodes:[{\"children\": [1], \"translation\": [$move, 0, 0]}, {\"mesh\": 0, \"translation\": [0, $move, 0]}]" >moved.gltf
  bounds moved.gltf "$move $move 0" "$(awk "BEGIN { print 1 + $move, 1 + $move }") 0" 1
done
gltf 'nodes:[{"mesh": 0, "rotation": [0, 0, 0.70710678118654757, 0.70710678118654757]}]' >turned.gltf
bounds turned.gltf "-1 0 0" "0 1 0" 1
gltf 'nodes:[{"mesh": 0, "matrix": [0, 2, 0, 0, -2, 0, 0, 0, 0, 0, 2, 0, 5, 6, 7, 1]}]' >matrix.gltf
bounds matrix.gltf "3 6 7" "5 8 7" 1

# Scenes: the one that is named; without one all nodes that have no parent; without nodes all meshes.
two='nodes:[{"mesh": 0, "translation": [1, 0, 0]}, {"mesh": 0, "translation": [2, 0, 0]}]'
gltf "$two" scene:1 'scenes:[{"nodes": [0]}, {"nodes": [1]}]' >second.gltf
bounds second.gltf "2 0 0" "3 1 0" 1
gltf "$two" scene: scenes: >all.gltf
slabcast info --mesh all.gltf >/dev/null || fail "a file without a scene is not read"
gltf nodes: scene: scenes: >store.gltf
bounds store.gltf "0 0 0" "1 1 0" 1

# Extensions: one that moves no vertex is ignored; an unknown one is refused by its name.
for name in KHR_texture_transform KHR_materials_unlit KHR_lights_punctual KHR_mesh_quantization; do
  gltf "extensionsRequired:[\"$name\"]" >extension.gltf
  bounds extension.gltf "0 0 0" "1 1 0" 1
done
for name in EXT_meshopt_compression KHR_draco_mesh_compression KHR_node_visibility ACME_moves; do
  gltf "extensionsUsed:[\"$name\"]" >extension.gltf
  bounds extension.gltf "0 0 0" "1 1 0" 1
  gltf "extensionsUsed:[\"$name\"]" "extensionsRequired:[\"$name\"]" >extension.gltf
  rejected extension.gltf "it requires the extension $name"
done

# The instances of a node, which the triangle's own corners place: rays meet the triangle once at its place, and twice
# nowhere.
gltf 'extensionsRequired:["EXT_mesh_gpu_instancing"]' 'nodes:[{"mesh": 0, "translation": [10, 0, 0], "scale": [2, 2, 2],
  "extensions": {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": 0}}}}]' >instances.gltf
printf '%s 0.25 9 0 0 -1\n' 10.25 12.25 14.25 >down.txt
echo 10.25 2.25 9 0 0 -1 >>down.txt
expect_exit 0 slabcast cast --mesh instances.gltf --rays down.txt --query count -o count.txt
expect_text $'1\n1\n0\n1' count.txt

# Bytes, and 16-bit fractions: a square of 0 to 255 is one of 0 to 1 where it is normalised.
square='buffers:[{"byteLength": 28, "uri": "data:;base64,AAAAAP8AAAAA/wAAAAD/AAAAAQACAAAAAgADAA=="}]'
views='bufferViews:[{"buffer": 0, "byteLength": 16, "byteStride": 4}, {"buffer": 0, "byteOffset": 16, "byteLength": 12}]'
primitive='meshes:[{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}]'
indices='{"bufferView": 1, "componentType": 5123, "count": 6, "type": "SCALAR"}'
for normalized in false true; do
  gltf "$square" "$views" "$primitive" 'extensionsRequired:["KHR_mesh_quantization"]' "accessors:[{\"bufferView\": 0,
    \"componentType\": 5121, \"type\": \"VEC3\", \"count\": 4, \"normalized\": $normalized}, $indices]" >quant8.gltf
  size=255
  if [[ $normalized == true ]]; then size=1; fi
  bounds quant8.gltf "0 0 0" "$size $size $size" 2
done
square='buffers:[{"byteLength": 44, "uri": "data:;base64,AAAAAAAAAAD/fwAAAAAAAAAA/38AAAAAAAAAAP9/AAAAAAEAAgAAAAIAAwA="}]'
views='bufferViews:[{"buffer": 0, "byteLength": 32, "byteStride": 8}, {"buffer": 0, "byteOffset": 32, "byteLength": 12}]'
gltf "$square" "$views" "$primitive" "accessors:[{\"bufferView\": 0, \"componentType\": 5122, \"type\": \"VEC3\",
  \"count\": 4, \"normalized\": true}, $indices]" >quant.gltf
bounds quant.gltf "0 0 0" "1 1 1" 2

# From stdin, and without an ending.
slabcast info --mesh - <quant.gltf | grep -qE "^triangles +2$" || fail "glTF is not told by its bytes"
cp quant.gltf quant
bounds quant "0 0 0" "1 1 1" 2

# ---- hostile files ----
while read -r children twice; do
  gltf "nodes:[{\"children\": [$children]}, {\"mesh\": 0, \"children\": [0]}]" >cycle.gltf
  rejected cycle.gltf "node $twice is twice in the scene, or stands in itself"
done <<<$'0 0\n1 0\n1,1 1'
{
  printf '{"asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": ['
  awk 'BEGIN { for (i = 1; i < 200000; i++) printf "{\"children\": [%d]}, ", i }'
  gltf 'nodes:{"mesh": 0, "translation": [0.5, 0, 0]}' | sed -E 's/.*"nodes": (\{[^}]*\}).*/\1/' | tr -d '\n'
  printf '], '
  gltf nodes: asset: scene: scenes: | cut -c 2-
} >deep.gltf
bounds deep.gltf "0.5 0 0" "1.5 1 0" 1

uri() { gltf "buffers:[{\"byteLength\": 36, \"uri\": \"$1\"}]"; }
mkdir -p room/below
base64 -d <<<"${triangle#*,}" >outside.bin
cp outside.bin "room/below/a b.bin"
for name in ../outside.bin below/../../outside.bin %2e%2e/outside.bin '..\\outside.bin'; do
  uri "$name" >room/leaves.gltf
  rejected room/leaves.gltf "buffer 0 names the file \"" && expect_stderr "it leaves the folder of the mesh file"
done
uri "$PWD/outside.bin" >room/absolute.gltf
rejected room/absolute.gltf "buffer 0 names the file \"/" && expect_stderr "it is no name beside the mesh file"
for name in "file://$PWD/outside.bin" http://example.org/outside.bin 'C:\\outside.bin'; do
  uri "$name" >room/address.gltf
  rejected room/address.gltf "buffer 0 names the file \"" && expect_stderr "it is an address, or has a drive"
done
uri gone.bin >room/gone.gltf
rejected room/gone.gltf "buffer 0 names the file \"gone.bin\": it cannot be read"
uri below/a%20b.bin >room/beside.gltf
bounds room/beside.gltf "0 0 0" "1 1 0" 1
expect_refusal 1 "is read alone" slabcast info --mesh - <room/beside.gltf

accessor() { gltf "accessors:[{\"componentType\": 5126, \"type\": \"VEC3\", $1}]"; }
accessor '"bufferView": 0, "count": 4' >count.gltf
rejected count.gltf "accessor 0: its 4 elements do not fit in buffer view 0"
accessor '"bufferView": 0, "count": 768614336404564651' >count.gltf
rejected count.gltf "there is no accessor 0, or its count"
accessor '"bufferView": 0, "byteOffset": 4503599627370496, "count": 3' >count.gltf
rejected count.gltf "accessor 0: its 3 elements do not fit"
accessor '"count": 4000000000' >count.gltf
rejected count.gltf "accessor 0 has 4000000000 elements without bytes"
accessor '"bufferView": 0, "count": 3, "sparse": {"count": 1, "indices": {"bufferView": 0, "byteOffset": 15,
  "componentType": 5121}, "values": {"bufferView": 0}}' >sparse.gltf
rejected sparse.gltf "accessor 0: a sparse element has number"
for view in '"byteOffset": 4503599627370496' '"byteLength": 37' '"byteOffset": 1'; do
  gltf "bufferViews:[{\"buffer\": 0, \"byteLength\": 36, $view}]" >view.gltf
  rejected view.gltf "buffer view 0 has bytes"
done
gltf 'bufferViews:[{"buffer": 0, "byteLength": 36, "byteStride": 13}]' >view.gltf
rejected view.gltf "accessor 0: its 3 elements do not fit"
gltf 'scenes:[{"nodes": [7]}]' >node.gltf
rejected node.gltf "it names node 7, and has 1"
gltf 'nodes:[{"mesh": 1}]' >node.gltf
rejected node.gltf "node 0 shows a mesh that the file does not have"
gltf | tr -d '}' >text.gltf
rejected text.gltf "line 1, column "
gltf 'asset:{"version": "3.0"}' >version.gltf
rejected version.gltf "it is glTF 3.0, and 2.0 is read"

# ---- Collada ----
cat >zup.dae <<'END'
<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
 <asset><created>2020-01-01T00:00:00</created><modified>2020-01-01T00:00:00</modified><unit name="meter" meter="1"/><up_axis>Z_UP</up_axis></asset>
 <library_geometries><geometry id="g"><mesh>
  <source id="p"><float_array id="pa" count="9">0 0 5 4 0 5 0 4 5</float_array><technique_common><accessor source="#pa" count="3" stride="3"><param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
  <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
  <triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles></mesh></geometry></library_geometries>
 <library_visual_scenes><visual_scene id="s"><node id="n"><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
 <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>
END
echo 1 1 9 0 0 -1 >down.txt
for axis in X_UP Y_UP Z_UP; do
  for unit in 1 0.01 0.0254; do
    sed "s/Z_UP/$axis/; s/meter=\"1\"/meter=\"$unit\"/" zup.dae >axis.dae
    bounds axis.dae "0 0 5" "4 4 5" 1
  done
done
expect_exit 0 slabcast cast --mesh zup.dae --rays down.txt --query distance -o distance.txt
expect_text 4 distance.txt
# A message of the importer's that is too long to keep is never printed.
sed "s|<instance_geometry url=\"#g\"/>|<instance_geometry url=\"$(printf 'x%.0s' {1..3000})\"/>|" zup.dae >long.dae
rejected long.dae ""
if grep -q fixme err; then fail "the importer's own complaint is printed: $(cat err)"; fi
