#!/usr/bin/env bash
# card.sh BUILD PRETENDING_LAYER CUDA_FOLDER: a dry run of bench/card.sh on a CPU that shows itself as a GPU, and on a
# libcuda.so.1 without a card, which bench_ptx must find, and whose wrong bit it must notice.
set -euo pipefail

script=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/bench/card.sh
build=$1 pretend=$2 cuda=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

die() {
  echo "card: $*" >&2
  exit 1
}

# expect CODE COMMAND...
expect() {
  local wanted=$1 status=0
  shift
  "$@" >"$work/out" 2>"$work/err" || status=$?
  ((status == wanted)) || die "exit code $status, not $wanted: $*: $(cat "$work/out" "$work/err")"
}

dry() { OPENCL_LAYERS=$pretend SLAB_PRETEND=type:gpu SLAB_PRETEND_FILE=$work/pretences "$script" "$@" --dry "$build" "$work/results"; }
ptx() { SLABCAST_BACKENDS=native "$build/bin/bench_ptx" --side 32 --primitives 1200 --rounds 1 "$build/ptx"; }

# ---- without a driver of NVIDIA's: the stage is skipped ----
if ! ldconfig -p | grep -q 'libcuda\.so\.1'; then
  expect 77 ptx
  grep -q "NVIDIA's driver is not here" "$work/err" || die "it does not say why: $(<"$work/err")"
fi

# ---- a run whose minutes are too few, then the rest ----
export LD_LIBRARY_PATH=$cuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
expect 75 dry --minutes 3
[[ $(grep -cE 'probe: exit code 0|verify: not begun' "$work/err") == 2 ]] || die "$(<"$work/err")"
expect 0 dry
grep -q 'probe: done before' "$work/err" || die "a stage that was done is run again: $(<"$work/err")"
archive=$(<"$work/out")
tar -xzf "$archive" -C "$work"
folder=$work/$(basename "$archive" .tar.gz)
for file in about.txt stages.txt listing.log verify.json bench.csv bench.json trace.csv tuning-group.csv ptx.log; do
  [[ -s $folder/$file ]] || die "$file is not in the archive: $(tar -tzf "$archive")"
done
[[ $(grep -c 'exit code 0' "$folder/stages.txt") == 7 ]] || die "not 7 stages: $(<"$folder/stages.txt")"
[[ $(grep -c 'answers equal' "$folder/ptx.log") == 8 ]] || die "not 8 casts: $(<"$folder/ptx.log")"
awk -F, 'END { exit NR != 1 + 4 * 3 * 4 || $NF <= 0 }' "$folder/tuning-group.csv" ||
  die "not four groups on three scenes, four casts each: $(<"$folder/tuning-group.csv")"
grep -q ',sorted,any,default,' "$folder/trace.csv" || die "no sorted rays: $(<"$folder/trace.csv")"

# ---- a wrong answer ----
SLAB_CUDA_FLIP=1 expect 1 ptx
grep -q 'compressed, closest, primary rays: 1 of 1024 answers differ' "$work/err" || die "$(<"$work/err")"
