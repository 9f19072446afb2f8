#!/usr/bin/env bash
# card.sh BUILD PRETENDING_LAYER CUDA_FOLDER: a dry run of bench/card.sh on a CPU that shows itself as a GPU, and on a
# libcuda.so.1 without a card, which bench_ptx must find, and whose wrong bit it must notice.
set -euo pipefail

script=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/bench/card.sh
build=$1 pretend=$2 cuda=$3
# shellcheck source=tests/cli/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/cli/lib.sh"

dry() { OPENCL_LAYERS=$pretend SLAB_PRETEND=type:gpu SLAB_PRETEND_FILE=$work/pretences "$script" "$@" --dry "$build" "$work/results"; }
ptx() { SLABCAST_BACKENDS=native "$build/bin/bench_ptx" --side 32 --primitives 1200 --rounds 1 "$build/ptx"; }

# ---- without a driver of NVIDIA's: the stage is skipped ----
if ! ldconfig -p | grep -q 'libcuda\.so\.1'; then
  expect_exit 77 ptx
  expect_stderr "NVIDIA's driver is not here"
fi

# ---- a run whose minutes are too few, then the rest ----
export LD_LIBRARY_PATH=$cuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
expect_exit 75 dry --minutes 3
[[ $(grep -cE 'probe: exit code 0|verify: not begun' "$work/err") == 2 ]] || fail "$(<"$work/err")"
expect_exit 0 dry
expect_stderr 'probe: done before' # no stage that was done is run again
archive=$(<"$work/out")
tar -xzf "$archive" -C "$work"
folder=$work/$(basename "$archive" .tar.gz)
for file in about.txt stages.txt listing.log verify.json bench.csv bench.json trace.csv tuning-group.csv ptx.log; do
  [[ -s $folder/$file ]] || fail "$file is not in the archive: $(tar -tzf "$archive")"
done
[[ $(grep -c 'exit code 0' "$folder/stages.txt") == 7 ]] || fail "not 7 stages: $(<"$folder/stages.txt")"
[[ $(grep -c 'answers equal' "$folder/ptx.log") == 28 ]] || fail "not 7 queries, 4 casts each: $(<"$folder/ptx.log")"
awk -F, 'END { exit NR != 1 + 4 * 3 * 4 || $NF <= 0 }' "$folder/tuning-group.csv" ||
  fail "not four groups on three scenes, four casts each: $(<"$folder/tuning-group.csv")"
grep -q ',sorted,any,default,' "$folder/trace.csv" || fail "no sorted rays: $(<"$folder/trace.csv")"

# ---- a wrong answer of each query, in the middle, which is among the sample unless there are several a ray ----
SLAB_CUDA_FLIP=1 expect_exit 1 ptx
[[ $(grep -c ' rays: 1 of 1024 answers differ' "$work/err") == 28 ]] || fail "not 28 differences: $(<"$work/err")"
[[ $(grep 'the CPU reference refuses 1 of 64 answers, 16 rays apart' "$work/err" | grep -vc ', all, ') == 24 ]] || fail "$(<"$work/err")"
