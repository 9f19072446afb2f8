#!/usr/bin/env bash
# flipped.sh [FLIPS] [SEED]: `cast --check` ends with 3 and names a ray when a bit of a read-back is flipped, every
# time, and `view --check` and `near --check` a point. Runs under the flipping layer (OPENCL_LAYERS).
# shellcheck source=tests/cli/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh" || exit 1
flips=${1:-6} seed=${2:-20260101}
RANDOM=$seed
queries=(closest distance any count interval)
export SLAB_FLIP_FILE=$work/report
slabcast rays random --builtin boxes:40 --count 300 --seed "$((seed % 1000))" -o rays.npy

# cast CODE: of $query, that ends so.
cast() {
  rm -f report
  expect_exit "$1" slabcast cast --builtin boxes:40 --rays rays.npy --query "$query" --check -o out.npy
  grep -q '^slabcast flipping layer' report || fail "the flipping layer was not there"
}

for ((i = 0; i < flips; i++)); do
  query=${queries[i % ${#queries[@]}]}
  unset SLAB_FLIP
  cast 0
  reads=$(sed -n 's/.*: \([0-9]*\) read-backs.*/\1/p' report)
  export SLAB_FLIP=$((1 + RANDOM % reads)):$((RANDOM * 32768 + RANDOM))
  cast 3
  grep -q ' 1 flipped$' report || fail "nothing was flipped by SLAB_FLIP=$SLAB_FLIP: $(<report)"
  expect_stderr "slabcast: mismatch at ray"
done

# A matrix whose words have no bit to spare. The check's own read-backs come behind the matrix.
view=(view --builtin boxes:40 --points points.txt --to others.txt)
for ((i = 0; i < 64; i++)); do echo "$((RANDOM % 20 - 10)) $((RANDOM % 20 - 10)) $((RANDOM % 20 - 10))"; done >others.txt
head -n 5 others.txt >points.txt
unset SLAB_FLIP
expect_exit 0 slabcast "${view[@]}" -o matrix.raw
reads=$(sed -n 's/.*: \([0-9]*\) read-backs.*/\1/p' report)
expect_exit 0 slabcast "${view[@]}" --check
for ((i = 0; i < flips; i++)); do
  export SLAB_FLIP=$((1 + RANDOM % reads)):$((RANDOM * 32768 + RANDOM))
  expect_exit 3 slabcast "${view[@]}" --check -o out.raw
  grep -q ' 1 flipped$' report || fail "nothing was flipped by SLAB_FLIP=$SLAB_FLIP: $(<report)"
  expect_stderr "slabcast: mismatch at point" "5 points checked, 1 differs from its rays"
done

# Closest points, their distances, and what is within a radius.
points=(closest distance within)
for ((i = 0; i < flips; i++)); do
  near=(near --builtin boxes:40 --points others.txt --radius 5 --query "${points[i % 3]}" --check)
  unset SLAB_FLIP
  expect_exit 0 slabcast "${near[@]}"
  reads=$(sed -n 's/.*: \([0-9]*\) read-backs.*/\1/p' report)
  export SLAB_FLIP=$((1 + RANDOM % reads)):$((RANDOM * 32768 + RANDOM))
  expect_exit 3 slabcast "${near[@]}" -o out.raw
  grep -q ' 1 flipped$' report || fail "nothing was flipped by SLAB_FLIP=$SLAB_FLIP: $(<report)"
  expect_stderr "slabcast: mismatch at point"
done
echo "$((3 * flips)) bits flipped, $((3 * flips)) seen by --check"
