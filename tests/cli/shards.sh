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

# Slices in raw are put together by cat, in csv less the names.
slabcast cast "${scene[@]}" --rays rays.npy -o whole.raw
slabcast cast "${scene[@]}" --rays rays.npy --query all -o whole.csv
for ((i = 0; i < 3; i++)); do
  slabcast cast "${scene[@]}" --rays rays.npy --shard $i/3 -o shard.$i.raw
  slabcast cast "${scene[@]}" --rays rays.npy --query all --shard $i/3 -o shard.$i.csv
done
cat shard.[0-2].raw | cmp - whole.raw || fail "slices of raw are other bytes"
{ cat shard.0.csv && tail -qn +2 shard.[12].csv; } | cmp - whole.csv || fail "slices of csv are other lines"

# Text names the ray by its place in the whole file.
slabcast cast "${scene[@]}" --rays rays.npy --query all -o whole.txt
for ((i = 0; i < 4; i++)); do slabcast cast "${scene[@]}" --rays rays.npy --query all --shard $i/4 -o shard.$i.txt; done
cat shard.[0-3].txt | cmp - whole.txt || fail "slices of text are other lines"

# ---- what cannot be joined ----
slabcast cast "${scene[@]}" --rays three.txt --query any -o any.npy
expect_refusal 1 "any.npy: dtype '|u1' differs from that of shard.0.npy: '<u4'" slabcast join shard.0.npy any.npy -o bad.npy
expect_refusal 1 "cannot read nowhere.npy: No such file" slabcast join shard.0.npy nowhere.npy -o bad.npy
head -c -1 shard.4.npy >short.npy
expect_refusal 1 "short.npy: truncated" slabcast join shard.0.npy short.npy -o bad.npy
expect_refusal 1 "rays.npy: an array of 2 dimensions" slabcast join rays.npy -o bad.npy
expect_refusal 1 "rays.txt: not a usable npy file" slabcast join rays.txt -o bad.npy
cast_shards all 2 rays.npy
rm shard.1.npy.offsets.npy
expect_refusal 1 "shard.1.npy.offsets.npy is missing" slabcast join "${shards[@]}" -o bad.npy
cp shard.0.npy.offsets.npy shard.1.npy.offsets.npy
expect_refusal 1 "shard.1.npy.offsets.npy does not belong to its shard" slabcast join "${shards[@]}" -o bad.npy
expect_no bad.npy bad.npy.offsets.npy

# ---- shards record their place: any order will do, and none may be missing, twice there or of another cast ----
slabcast cast "${scene[@]}" --rays rays.npy --query all -o whole.npy
cast_shards all 12 rays.npy
slabcast join shard.*.npy -o joined.npy 2>err && fail "offsets are joined as if they were shards"
slabcast join shard.1.npy shard.1[01].npy shard.[02-9].npy -o joined.npy
expect_same whole.npy joined.npy
expect_same whole.npy.offsets.npy joined.npy.offsets.npy
slabcast join "${shards[@]}" -o moved.npy
expect_same whole.npy moved.npy
cast_shards any 4 rays.npy
rm ./*.offsets.npy
expect_refusal 1 "shard 2 of 4 (counted from 0) is missing" slabcast join shard.3.npy shard.1.npy shard.0.npy -o bad.npy
expect_refusal 1 "shard 3 of 4 (counted from 0) is missing" slabcast join shard.[012].npy -o bad.npy
expect_refusal 1 "shard 0 of 4 (counted from 0) is missing" slabcast join shard.[123].npy -o bad.npy
cp shard.2.npy again.npy
expect_refusal 1 "shard.2.npy and again.npy are the same shard, 2 of 4" slabcast join shard.[0-3].npy again.npy -o bad.npy
slabcast cast "${scene[@]}" --rays rays.npy --query any --shard 3/5 -o alien.npy
expect_refusal 1 "alien.npy is a shard of another cast, one of 5 of 1003 rays; shard.0.npy is one of 4 of 1003 rays" \
  slabcast join shard.[012].npy alien.npy -o bad.npy
slabcast cast "${scene[@]}" --rays three.txt --query any --shard 3/4 -o alien.npy
expect_refusal 1 "alien.npy is a shard of another cast, one of 4 of 3 rays; shard.0.npy is one of 4 of 1003 rays" \
  slabcast join shard.[012].npy alien.npy -o bad.npy
slabcast cast "${scene[@]}" --rays three.txt --query any -o whole.npy
expect_refusal 1 "whole.npy is no shard, shard.0.npy is shard 0 of 4" slabcast join shard.[0-3].npy whole.npy -o bad.npy
expect_refusal 1 "whole.npy is no shard, shard.1.npy is shard 1 of 4" slabcast join whole.npy shard.1.npy -o bad.npy
cast_shards all 2 rays.npy
slabcast cast "${scene[@]}" --rays rays.npy --query all --shard 0/3 -o alien.npy
mv alien.npy.offsets.npy shard.0.npy.offsets.npy
expect_refusal 1 "shard.0.npy.offsets.npy does not belong to its shard: the offsets are of another slice" \
  slabcast join "${shards[@]}" -o bad.npy
# A label that does not go with the rows: the third of three rays, made the second and third.
cast_shards any 3 three.txt
rm ./*.offsets.npy
sed -i 's|shard 2/3: 1 rays from 2 on|shard 2/3: 2 rays from 1 on|' shard.2.npy
expect_refusal 1 "shard.2.npy holds the results of 1 ray, its label says 2" slabcast join "${shards[@]}" -o bad.npy
expect_no bad.npy bad.npy.offsets.npy
