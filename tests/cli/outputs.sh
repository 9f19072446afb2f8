#!/usr/bin/env bash
# outputs.sh: outputs that cannot be written to, full ones and files past a limit. The code is 1, with the name and the
# reason. Nothing is partial, and an older file stays.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
scene=(--builtin boxes:3)
slabcast rays random --count 300000 -o rays.npy
cast=(cast "${scene[@]}" --rays rays.npy)
expect_exit 0 slabcast "${cast[@]}" -o hits.npy
cp hits.npy before.npy
mkdir folder

# Each command that writes a file, up to its -o.
writers=("${cast[*]}" "${cast[*]} --query all" "rays random" "render ${scene[*]} --size 16x9" "demo --size 16x9" "join hits.npy")
for writer in "${writers[@]}"; do
  read -ra command <<<"$writer"
  expect_refusal 1 "cannot write nowhere/out: No such file or directory" slabcast "${command[@]}" -o nowhere/out
  expect_refusal 1 "cannot write folder: Is a directory" slabcast "${command[@]}" -o folder
  expect_refusal 1 "cannot write rays.npy/out: Not a directory" slabcast "${command[@]}" -o rays.npy/out
  expect_refusal 1 "cannot write $(printf 'a%.0s' {1..300})" slabcast "${command[@]}" -o "$(printf 'a%.0s' {1..300})"
done
expect_exit 1 slabcast "${cast[@]}" --check --json nowhere/summary.json
expect_stderr "cannot write nowhere/summary.json: No such file or directory"

# ---- an output that is an input, by any of its names, also where FILE.part or the offsets would be it ----
mkdir inputs
echo 0 0 0 1 1 1 >inputs/box.txt
cp inputs/box.txt inputs/picture.png
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' >inputs/mesh.obj
cp inputs/mesh.obj inputs/mesh.csv
echo 1 0 0 0 0 1 0 0 0 0 1 0 >inputs/places.txt
echo 0 0 9 0 0 -1 >inputs/ray.txt
cp inputs/ray.txt inputs/next.npy.part
cp inputs/ray.txt inputs/all.npy.offsets.npy
for ((i = 0; i < 2; i++)); do slabcast cast "${scene[@]}" --rays inputs/ray.txt --query all --shard $i/2 -o inputs/shard.$i.npy; done
echo '{}' >inputs/old.json
# Meshes that name other files: a triangle of floats (0, 0, 0), (1, 0, 0), (0, 1, 0), beside the file and in a folder.
mkdir inputs/parts
echo AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA | base64 -d >inputs/data.bin
cp inputs/data.bin "inputs/parts/a b.png"
gltf() { # gltf URI
  echo '{"asset": {"version": "2.0"}, "nodes": [{"mesh": 0}], "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
    "buffers": [{"byteLength": 36, "uri": "'"$1"'"}], "bufferViews": [{"buffer": 0, "byteLength": 36}],
    "accessors": [{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 3}]}'
}
gltf data.bin >inputs/beside.gltf
gltf parts/a%20b.png >inputs/below.gltf
printf 'LWSC\n3\n\nFirstFrame 1\nLastFrame 60\n\nLoadObjectLayer 1 mesh.obj\n' >inputs/scene.lws
ln -s data.bin inputs/soft.bin
ln -s box.txt inputs/soft.txt
ln inputs/mesh.csv inputs/hard.csv
ln -s ../inputs inputs/here
cp -a inputs kept

# spared OUTPUT COMMAND...: OUTPUT is the input that would be lost; nothing changes.
spared() {
  expect_refusal 1 "which would be lost" slabcast "${@:2}"
  expect_stderr "cannot write $1: "
  diff -r inputs kept >&2 || fail "\"${*:2}\" has changed its inputs"
}
of_box=(cast --boxes inputs/box.txt --rays inputs/ray.txt)
of_mesh=(cast --mesh inputs/mesh.csv --rays inputs/ray.txt)
for output in inputs/ray.txt inputs/box.txt inputs/soft.txt inputs/here/box.txt ./inputs//ray.txt "$PWD/inputs/ray.txt"; do
  spared "$output" "${of_box[@]}" -o "$output"
  spared "$output" "${of_box[@]}" --json "$output"
done
for output in inputs/mesh.csv inputs/hard.csv inputs/here/hard.csv; do
  spared "$output" "${of_mesh[@]}" -o "$output"
  spared "$output" rays random --mesh inputs/mesh.csv -o "$output"
  spared "$output" rays random --instances inputs/places.txt --of inputs/mesh.csv -o "$output"
done
spared inputs/places.txt cast --instances inputs/places.txt --of inputs/mesh.obj --rays inputs/ray.txt -o inputs/places.txt
for output in inputs/data.bin inputs/soft.bin inputs/here/data.bin; do
  spared "$output" cast --mesh inputs/beside.gltf --rays inputs/ray.txt -o "$output"
  spared "$output" cast --mesh inputs/beside.gltf --rays inputs/ray.txt -o hits.csv --json "$output"
  spared "$output" rays random --mesh inputs/beside.gltf -o "$output"
  spared "$output" cast --instances inputs/places.txt --of inputs/beside.gltf --rays inputs/ray.txt -o "$output"
done
spared "inputs/parts/a b.png" render --mesh inputs/below.gltf -o "inputs/parts/a b.png"
spared "inputs/parts/a b.png" explain --mesh inputs/below.gltf --ray 0,0,9,0,0,-1 --json "inputs/parts/a b.png"
expect_no hits.csv
expect_exit 0 slabcast cast --mesh inputs/below.gltf --rays inputs/ray.txt -o hits.raw
if [[ ${ASSIMP-yes} == yes ]]; then
  spared inputs/mesh.obj cast --mesh inputs/scene.lws --rays inputs/ray.txt -o hits.csv --json inputs/mesh.obj
fi
spared inputs/next.npy cast "${scene[@]}" --rays inputs/next.npy.part --in text -o inputs/next.npy
expect_stderr "inputs/next.npy.part is the input inputs/next.npy.part"
spared inputs/all.npy.offsets.npy cast "${scene[@]}" --rays inputs/all.npy.offsets.npy --in text --query all -o inputs/all.npy
spared inputs/picture.png render --boxes inputs/picture.png -o inputs/picture.png
spared inputs/picture.png explain --boxes inputs/picture.png --ray 0,0,9,0,0,-1 --json inputs/picture.png
spared inputs/ray.txt explain --boxes inputs/box.txt --rays inputs/ray.txt --json inputs/ray.txt
spared inputs/shard.1.npy join inputs/shard.0.npy inputs/shard.1.npy -o inputs/shard.1.npy
spared inputs/shard.1.npy.offsets.npy join inputs/shard.0.npy inputs/shard.1.npy -o inputs/shard.1.npy.offsets.npy
spared inputs/old.json bench --compare inputs/old.json --json inputs/old.json
# shellcheck disable=SC2094 # the refused case
from_file() { slabcast "${of_box[@]:0:3}" --rays - -o inputs/ray.txt <inputs/ray.txt; }
expect_refusal 1 "cannot write inputs/ray.txt: it is the input on standard input" from_file
to_file() { slabcast "${of_box[@]}" -o - --out csv >>inputs/box.txt; }
expect_refusal 1 "cannot write standard output: it is the input inputs/box.txt" to_file
diff -r inputs kept >&2 || fail "standard streams have changed the inputs"
expect_refusal 2 "-o and --json cannot both go to both.txt" slabcast "${of_box[@]}" -o both.txt --json both.txt
# Devices may be both; so may another file of a name that was an input's.
expect_exit 0 slabcast cast "${scene[@]}" --rays /dev/null -o /dev/null

# ---- full: /dev/full, named and as stdout ----
if [[ -c /dev/full ]]; then
  for writer in "${cast[*]}" "${cast[*]} --query all --out csv" "rays random" "render ${scene[*]} --size 16x9" "demo --size 16x9" "join hits.npy"; do
    read -ra command <<<"$writer"
    expect_exit 1 slabcast "${command[@]}" -o /dev/full
    expect_stderr "cannot write /dev/full: No space left on device"
  done
  expect_exit 1 slabcast "${cast[@]}" --json /dev/full
  expect_stderr "cannot write /dev/full: No space left on device"
  to_full() { slabcast "$@" >/dev/full; }
  for writer in "--help" "devices" "devices --json" "info ${scene[*]}" "info ${scene[*]} --json" "rays random" "${cast[*]} -o -" \
    "cast --help"; do
    read -ra command <<<"$writer"
    expect_exit 1 to_full "${command[@]}"
    expect_stderr "standard output: No space left on device"
  done
fi

# ---- a reader that has gone away: the end of others, by SIGPIPE and without a message, and no part is left ----
for writer in "--help" "cast --help" "devices" "devices --json" "info ${scene[*]}" "info ${scene[*]} --json" "rays random" \
  "${cast[*]} -o -" "${cast[*]} -o - --out csv" "${cast[*]} -o hits.npy --json -" "verify --rays 1 --group closest"; do
  read -ra command <<<"$writer"
  expect_exit 141 to_nobody default "$SLABCAST" "${command[@]}"
  [[ ! -s err ]] || fail "\"$writer\" to nobody says: $(cat err)"
  expect_exit 1 to_nobody ignore "$SLABCAST" "${command[@]}"
  expect_stderr "standard output: Broken pipe"
done

# ---- a limit on the size of files: the old result stays ----
# It lets the driver's compiler write its kernels, but not 300,000 rows of 32 bytes.
limited() { (ulimit -f 8000 && exec "$SLABCAST" "$@"); }
expect_refusal 1 "cannot write hits.npy: File too large" limited "${cast[@]}" -o hits.npy
expect_same hits.npy before.npy
[[ ! -e hits.npy.part ]] || fail "hits.npy.part is left"
expect_refusal 1 "cannot write new.npy: File too large" limited "${cast[@]}" -o new.npy
expect_refusal 1 "cannot write rays2.npy: File too large" limited rays random --count 300000 -o rays2.npy
expect_refusal 1 "cannot write whole.npy: File too large" limited join hits.npy -o whole.npy
expect_no new.npy rays2.npy whole.npy

# ---- where nobody may write (root may) ----
if ((EUID != 0)); then
  chmod a-w folder
  expect_refusal 1 "cannot write folder/out.npy: Permission denied" slabcast "${cast[@]}" -o folder/out.npy
fi
