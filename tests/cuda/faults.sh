#!/usr/bin/env bash
# Each call of the driver's interface fails once, with lack of memory and with another code, and from each on all fail:
# faults.sh PROGRAM FOLDER-OF-THE-STAND-IN FOLDER-OF-SLABCAST-CUDA [STEP]. The program reports it with the call's name,
# or gives the right bytes without it; it neither crashes, nor keeps a handle, nor uses a wrong context (the stand-in
# looks).
# STEP: each STEPth call alone is made to fail, from an offset that the test's seed draws; default 1.
set -euo pipefail

program=$1 step=${4:-1}
export LD_LIBRARY_PATH=$2:$3 SLABCAST_BACKENDS=cuda
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 asked=0 told=0 silent=0

# cast NAME: rays at a scene, by the environment's devices and faults.
cast() {
  local query=${1%%,*} scene=${1#*,}
  SLAB_CUDA_CALLS=$work/calls timeout 60 "$program" cast --builtin "$scene" --rays "$work/rays.npy" --query "$query" --out raw \
    -o "$work/hits" >"$work/out" 2>&1
}

# judge NAME WHAT STATUS
judge() {
  asked=$((asked + 1))
  if grep -q 'stand-in' "$work/out"; then
    echo "$1, $2: $(grep -m 1 stand-in "$work/out")" >&2
    failed=1
  elif (($3 == 0)); then
    silent=$((silent + 1))
    cmp -s "$work/hits" "$work/right" || { echo "$1, $2: other bytes" >&2 && failed=1; }
  elif (($3 == 1 || $3 == 4)) && grep -qE 'cu[A-Z]|NVIDIA|CUDA' "$work/out"; then
    told=$((told + 1))
  else
    echo "$1, $2: exit code $3: $(head -n 2 "$work/out")" >&2
    failed=1
  fi
  rm -f "$work/hits"
}

SLABCAST_BACKENDS=native "$program" rays random --builtin soup:300 --count 5000 -o "$work/rays.npy"
for name in closest,soup:300 all,boxes:20 count,city:50; do
  cast "$name" || { echo "$name fails without a fault: $(<"$work/out")" >&2 && exit 1; }
  mv "$work/hits" "$work/right"
  read -r calls _ <"$work/calls"
  for ((nth = 1 + RANDOM % step; nth <= calls; nth += step)); do
    for fault in "SLAB_CUDA_FAIL=$nth SLAB_CUDA_CODE=2" "SLAB_CUDA_FAIL=$nth SLAB_CUDA_CODE=719" "SLAB_CUDA_FROM=$nth SLAB_CUDA_CODE=719"; do
      status=0
      # shellcheck disable=SC2163,SC2086
      (export $fault && cast "$name") || status=$?
      judge "$name" "$fault" "$status"
    done
  done
done
echo "$asked faults: $told told, $silent without effect"
((asked > 30 && told > asked / 2)) || { echo "hardly any fault was told" >&2 && failed=1; }
exit "$failed"
