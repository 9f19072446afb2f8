#!/usr/bin/env bash
# foreign_shards.sh: join refuses a shard of other inputs by its name, whether the scene, the rays or the options are
# others. It takes shards whose inputs were only written otherwise.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
slabcast rays random --builtin boxes:300 --count 1003 -o rays.npy
slabcast rays random --builtin boxes:300 --count 1003 --out text -o rays.txt
awk 'NR <= 40 { print $1, $2, $3, $1 + 0.5, $2 + 0.5, $3 + 0.5 }' rays.txt >boxes.txt
awk 'NR == 17 { $4 += 0.25 } { print }' boxes.txt >moved.txt
sed 1d boxes.txt >fewer.txt
tac boxes.txt >turned.txt
{ echo uz,uy,ux,lz,ly,lx && awk -v OFS=, '{ print $6, $5, $4, $3, $2, $1 }' boxes.txt; } >named.csv
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' >mesh.obj
sed 's/v 1 0 0/v 1 0 0.001/' mesh.obj >bent.obj
sed 's/f 1 2 3/f 1 3 2/' mesh.obj >wound.obj
echo 1 0 0 0 0 1 0 0 0 0 1 0 >place.txt
echo 1 0 0 0 0 1 0 0 0 0 1 2 >place2.txt
head -n 200 rays.txt >few.txt
awk 'NR == 101 { $5 = -$5 } { print }' few.txt >one_other.txt
slabcast rays random --builtin boxes:300 --count 1003 --seed 9 -o seed9.npy

# family CAST_OPTION...: shards 0 and 2 of three, of these options.
family() {
  usual=("$@")
  rm -f family.* alien.*
  for i in 0 2; do slabcast cast "${usual[@]}" --shard $i/3 -o family.$i.npy; done
}
# joins CAST_OPTION...: shard 1 of this cast goes with them. alien HOW CAST_OPTION...: it does not, in any position.
joins() {
  slabcast cast "$@" --shard 1/3 -o family.1.npy
  slabcast cast "${usual[@]}" -o whole.npy
  slabcast join family.[0-2].npy -o joined.npy
  expect_same whole.npy joined.npy
}
alien() {
  local how=$1
  slabcast cast "${@:2}" --shard 1/3 -o alien.npy
  rm -f bad.npy
  expect_refusal 1 "alien.npy is a shard $how than family." slabcast join alien.npy family.0.npy family.2.npy -o bad.npy
  expect_refusal 1 "alien.npy is a shard $how than family." slabcast join family.0.npy alien.npy family.2.npy -o bad.npy
  expect_refusal 1 "alien.npy is a shard $how than family." slabcast join family.2.npy family.0.npy alien.npy -o bad.npy
  expect_no bad.npy
}
of_scene="of another scene" of_rays="of other rays" of_options="of a cast with other options"

family --boxes boxes.txt --mesh mesh.obj --rays rays.npy
joins "${usual[@]}" --tree flat
joins "${usual[@]}" --layout compressed --threads 1
joins --boxes named.csv --mesh mesh.obj --rays rays.txt
joins --boxes <(cat boxes.txt) --mesh - --rays rays.npy <mesh.obj
for boxes in moved fewer turned; do alien "$of_scene" --boxes $boxes.txt --mesh mesh.obj --rays rays.npy; done
for mesh in bent wound; do alien "$of_scene" --boxes boxes.txt --mesh $mesh.obj --rays rays.npy; done
alien "$of_scene" --mesh mesh.obj --boxes boxes.txt --rays rays.npy
echo 0 0 0 0.5 >sphere.txt
alien "$of_scene" --boxes boxes.txt --mesh mesh.obj --spheres sphere.txt --rays rays.npy
alien "$of_rays" "${usual[@]:0:4}" --rays seed9.npy
for option in "--t-min 0.5" "--t-max 3" "--segments"; do
  read -ra more <<<"$option"
  if [[ $option == --segments ]]; then cut -d ' ' -f 1-3,5-7 rays.txt >six.txt && family "${usual[@]:0:4}" --rays six.txt; fi
  alien "$of_rays" "${usual[@]}" "${more[@]}"
done
for option in "--mask 2" "--cull back" "--edges closed" "--face-forward"; do
  read -ra more <<<"$option"
  alien "$of_options" "${usual[@]}" "${more[@]}"
done
family --boxes boxes.txt --rays few.txt --query all
alien "$of_rays" --boxes boxes.txt --rays one_other.txt --query all
alien "$of_options" "${usual[@]}" --max-hits 1
alien "$of_options" --boxes boxes.txt --rays few.txt --query closest
family --instances place.txt --of mesh.obj --rays few.txt --query distance
alien "$of_scene" --instances place2.txt --of mesh.obj --rays few.txt --query distance
alien "$of_scene" --instances place.txt --of bent.obj --rays few.txt --query distance
family --builtin boxes:300 --rays few.txt --query count
alien "$of_scene" --builtin boxes:301 --rays few.txt --query count
alien "$of_scene" --builtin city:300 --rays few.txt --query count
# Rays from a pipe cannot be read twice, but for a text, which is counted first.
joins --builtin boxes:300 --rays - --query count <few.txt

# Shards of before digests were noted go with all others.
for i in 0 1 2; do sed -E 's/; scene ([0-9a-f]{16}), rays ([0-9a-f]{16}), options ([0-9a-f]{16})/                                                                         /' family.$i.npy >old.$i.npy; done
cmp -s old.0.npy family.0.npy && fail "a shard has no digests"
slabcast join old.0.npy family.1.npy old.2.npy -o joined.npy
expect_same whole.npy joined.npy
