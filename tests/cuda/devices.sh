#!/usr/bin/env bash
# Cards by CUDA as the program lists and opens them: devices.sh PROGRAM FOLDER-OF-THE-STAND-IN FOLDER-OF-SLABCAST-CUDA.
set -euo pipefail

program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# expect NAME STATUS PATTERN COMMAND...: a command's exit code and output.
expect() {
  local name=$1 want=$2 pattern=$3 status=0
  shift 3
  "$@" >"$work/out" 2>&1 || status=$?
  if ((status != want)) || ! grep -qE "$pattern" "$work/out"; then
    echo "$name: exit code $status, not $want, or no \"$pattern\" in: $(<"$work/out")" >&2
    failed=1
  fi
}

# paged STATUS TEXT COMMAND...: a command prints TEXT, and the page on GPUs has it, with the remedy.
paged() {
  expect "$2" "$1" "${2//[()]/.}" "${@:3}"
  grep -qF -- "$2" "$page" || { echo "$page does not have: $2" >&2 && failed=1; }
}

export SLABCAST_BACKENDS=cuda
page=$(dirname "${BASH_SOURCE[0]}")/../../docs/gpu.md
missing="no card of NVIDIA's by its own driver (libcuda.so.1: cannot open shared object file: No such file or directory)"
paged 4 "$missing" env LD_LIBRARY_PATH="$3" "$program" devices
export LD_LIBRARY_PATH=$2:$3
expect "two cards" 0 '^ *1 +no card' env SLAB_CUDA_CARDS=2 "$program" devices
for card in 0 1; do
  expect "card $card" 0 '^device +no card' env SLAB_CUDA_CARDS=2 "$program" verify --device $card --rays 300 --group any
done
paged 4 "NVIDIA's driver finds no card" env SLAB_CUDA_CARDS=0 "$program" devices
paged 4 'has compute capability 5.0, and the kernels need 6.0' env SLAB_CUDA_CAPABILITY=5 "$program" devices
expect "both kinds" 0 'no card' env SLABCAST_BACKENDS=native,cuda "$program" devices
paged 4 'no device matches "cuda": the list has 0 "' env SLABCAST_BACKENDS=native "$program" verify --device cuda
expect "neither" 4 'names none of native, cuda and opencl' env SLABCAST_BACKENDS=vulkan "$program" devices

# visible CHOSEN CARD...: with this in CUDA_VISIBLE_DEVICES, of four cards these are listed, in this order, or none. Card N
# has 2 + N units.
visible() {
  local chosen=$1 want="" card status=0
  shift
  for card in "$@"; do want+="$((2 + card)) "; done
  SLAB_CUDA_CARDS=4 CUDA_VISIBLE_DEVICES=$chosen "$program" devices --json >"$work/out" 2>"$work/err" || status=$?
  if [[ $(sed -nE 's/.*"compute_units": ([0-9]+).*/\1/p' "$work/out" | tr '\n' ' ') != "$want" ]]; then
    echo "CUDA_VISIBLE_DEVICES=\"$chosen\": not the cards $*, but: $(<"$work/out") $(<"$work/err")" >&2
    failed=1
  elif (($# == 0)) && { ((status != 4)) || ! grep -qF "finds no card: CUDA_VISIBLE_DEVICES is \"$chosen\"" "$work/err"; }; then
    echo "CUDA_VISIBLE_DEVICES=\"$chosen\": exit code $status, and: $(<"$work/err")" >&2
    failed=1
  fi
}
visible 0,1,2,3 0 1 2 3
visible 1 1
visible 3,0,2 3 0 2
visible GPU-02,1 2 1
visible ""
visible -1
visible 4
visible nothing
visible 2,-1,0 2
visible 1,9,0 1
visible 1,3,1,0 1 3
SLABCAST_BACKENDS=native "$program" rays random --builtin soup:3000 --count 20000 -o "$work/rays.npy"
cast() { "$program" cast --builtin soup:3000 --rays "$work/rays.npy" --out raw "$@"; }
SLABCAST_BACKENDS=native cast -o "$work/right"
# Casts on the processor and cards together give the same bytes: rays go to whichever is free.
for devices in 0 cuda cuda:0; do
  cast --device "$devices" -o "$work/hits" && cmp "$work/right" "$work/hits" || failed=1
done
SLAB_CUDA_CARDS=2 cast --device all -o "$work/hits" && cmp "$work/right" "$work/hits" || failed=1
SLAB_CUDA_CARDS=4 CUDA_VISIBLE_DEVICES=3,1 cast --device all -o "$work/hits" && cmp "$work/right" "$work/hits" || failed=1
SLABCAST_BACKENDS=native,cuda cast --device all -o "$work/hits" && cmp "$work/right" "$work/hits" || failed=1
SLAB_CUDA_CARDS=3 cast --device cuda:2,cuda:1 -o "$work/hits" && cmp "$work/right" "$work/hits" || failed=1
for n in 0 1 2; do # the number is the driver's, whose cards alone are listed here
  expect "card $n by both names" 1 "names device $n twice, by \"$n\" again" env SLAB_CUDA_CARDS=3 \
    "$program" cast --builtin soup:3000 --rays "$work/rays.npy" --device "cuda:$n,$n" --out raw -o "$work/hits"
done
for none in cuda:3 cuda: cuda:x cuda:01 CUDA:-1; do
  expect "$none" 4 "no device matches \"$none\"" env SLAB_CUDA_CARDS=3 \
    "$program" cast --builtin soup:3000 --rays "$work/rays.npy" --device "$none" --out raw -o "$work/hits"
done
paged 1 'has no kernels of SLAB_LAYOUT_WIDE by CUDA; by OpenCL it has' cast --layout wide -o "$work/hits"
expect "little memory" 1 'cuMemAlloc failed with CUDA_ERROR_OUT_OF_MEMORY|allocates at most' env SLAB_CUDA_MEMORY=200000 \
  "$program" cast --builtin soup:3000 --rays "$work/rays.npy" --out raw -o "$work/hits"
exit "$failed"
