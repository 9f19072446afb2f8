#!/usr/bin/env bash
# shards.sh: slices of a cast, joined, are the bytes of the whole, for every query and every number of slices.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
scene=(--builtin boxes:300)
slabcast rays random "${scene[@]}" --count 1003 -o rays.npy
slabcast rays random "${scene[@]}" --count 1003 --out text -o rays.txt

# cast_shards QUERY N RAYS: shard.0.npy and so on.
cast_shards() {
  shards=()
  for ((i = 0; i < $2; i++)); do
    slabcast cast "${scene[@]}" --rays "$3" --query "$1" --shard "$i/$2" -o "shard.$i.npy"
    shards+=("shard.$i.npy")
  done
}
shards=()
for query in closest any all; do
  slabcast cast "${scene[@]}" --rays rays.npy --query "$query" -o whole.npy
  cast_shards "$query" 3 rays.npy
  slabcast join "${shards[@]}" -o joined.npy
  expect_same whole.npy joined.npy
  if [[ $query == all ]]; then expect_same whole.npy.offsets.npy joined.npy.offsets.npy; else expect_no joined.npy.offsets.npy; fi
done
rm -f shard.* joined.* whole.*

slabcast cast "${scene[@]}" --rays rays.npy --query interval --points -o whole.npy
for ((i = 0; i < 2; i++)); do slabcast cast "${scene[@]}" --rays rays.txt --query interval --points --shard $i/2 -o shard.$i.npy; done
slabcast join shard.0.npy shard.1.npy -o joined.npy
expect_same whole.npy joined.npy
slabcast join shard.0.npy shard.1.npy -o - | cmp - whole.npy || fail "joined to a pipe it is something else"
slabcast join whole.npy -o joined.npy
expect_same whole.npy joined.npy

# More slices than rays: some are empty.
head -n 3 rays.txt >three.txt
slabcast cast "${scene[@]}" --rays three.txt --query count -o whole.npy
cast_shards count 5 three.txt
slabcast join "${shards[@]}" -o joined.npy
expect_same whole.npy joined.npy

# Text names the ray by its place in the whole file.
slabcast cast "${scene[@]}" --rays rays.npy --query all -o whole.txt
for ((i = 0; i < 4; i++)); do slabcast cast "${scene[@]}" --rays rays.npy --query all --shard $i/4 -o shard.$i.txt; done
cat shard.[0-3].txt | cmp - whole.txt || fail "slices of text are other lines"

# ---- what cannot be joined ----
slabcast cast "${scene[@]}" --rays three.txt --query any -o any.npy
expect_refusal 1 "any.npy: dtype '|u1' differs from that of shard.0.npy: '<u4'" slabcast join shard.0.npy any.npy -o bad.npy
expect_refusal 1 "cannot read nowhere.npy: No such file" slabcast join shard.0.npy nowhere.npy -o bad.npy
head -c 129 shard.1.npy >short.npy
expect_refusal 1 "short.npy: truncated" slabcast join shard.0.npy short.npy -o bad.npy
expect_refusal 1 "rays.npy: an array of 2 dimensions" slabcast join rays.npy -o bad.npy
expect_refusal 1 "rays.txt: not a usable npy file" slabcast join rays.txt -o bad.npy
cast_shards all 2 rays.npy
rm shard.1.npy.offsets.npy
expect_refusal 1 "shard.1.npy.offsets.npy is missing" slabcast join "${shards[@]}" -o bad.npy
cp shard.0.npy.offsets.npy shard.1.npy.offsets.npy
expect_refusal 1 "shard.1.npy.offsets.npy does not belong to its shard" slabcast join "${shards[@]}" -o bad.npy
expect_no bad.npy bad.npy.offsets.npy
