#!/usr/bin/env bash
# card.sh BUILD FLIP_LAYER CUDA_FOLDER: a dry run of bench/card.sh on a CPU that shows itself as a GPU, and on a libcuda
# without a card. A driver that answers wrongly gets no figures. And bench_ptx on the libcuda.so.1 of CUDA_FOLDER, whose
# wrong bit it must notice.
set -euo pipefail

script=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/bench/card.sh
build=$1 flip=$2 cuda=$3
# shellcheck source=tests/cli/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/cli/lib.sh"

dry() { "$script" "$@" --dry "$build" "$work/results"; }
ptx() { SLABCAST_BACKENDS=native "$build/bin/bench_ptx" --side 32 --primitives 1200 --rounds 1 "$build/ptx"; }

# ---- without a driver of NVIDIA's: the stage is skipped ----
if ! ldconfig -p | grep -q 'libcuda\.so\.1'; then
  expect_exit 77 ptx
  expect_stderr "NVIDIA's driver is not here"
fi

# ---- Python's wheels: none of ours ----
mkdir "$work/wheels"
expect_exit 2 "$script" --wheels "$work/wheels" --dry "$build" "$work/results"
expect_stderr "there is no wheel of slabcast in $work/wheels"

# ---- a run whose minutes are too few, then the rest ----
expect_exit 75 dry --minutes 3
[[ $(grep -cE 'listing: exit code 0|(opencl|cuda)-verify: not begun|(opencl|cuda): no figures' "$work/err") == 5 ]] || fail "$(<"$work/err")"
expect_exit 0 dry
expect_stderr 'listing: done before' # no stage that was done is run again
archive=$(<"$work/out")
tar -xzf "$archive" -C "$work"
folder=$work/$(basename "$archive" .tar.gz)
for file in stages.txt listing.log {opencl,cuda}-{verify,sky,lidar}.json tuning-group.csv \
  results/{about.txt,verify.txt,verify-cuda.txt,device.csv,device.json,cuda.csv,cuda.json,kernels.csv,beside.txt}; do
  [[ -s $folder/$file ]] || fail "$file is not in the archive: $(tar -tzf "$archive")"
done
[[ $(grep -c 'exit code 0' "$folder/stages.txt") == 12 ]] || fail "not 12 stages: $(<"$folder/stages.txt")"
[[ $(grep -cE '^(commit|device|driver opencl|driver cuda|date) ' "$folder/about.txt") == 5 ]] || fail "$(<"$folder/about.txt")"
awk -F, 'END { exit NR != 1 + 4 * 3 * 4 || $NF <= 0 }' "$folder/tuning-group.csv" ||
  fail "not four groups on three scenes, four casts each: $(<"$folder/tuning-group.csv")"
grep -q ',sorted,any,default,' "$folder/trace.csv" || fail "no sorted rays: $(<"$folder/trace.csv")"

# ---- both drivers beside each other ----
cell='[0-9.]+ +[0-9.]+ +[0-9.]+'
[[ $(grep -cE "^transfer .* \| +$cell \| +$cell$" "$folder/results/beside.txt") == 12 ]] || fail "not 12 casts: $(<"$folder/results/beside.txt")"
awk -F, 'NR == 1 { next } { n[$1 "," $2]++ }
  !(($1, $2) in best) || $3 < best[$1, $2] { best[$1, $2] = $3 }
  END {
    if (n["opencl,cold"] n["cuda,cold"] n["opencl,warm"] n["cuda,warm"] != "1133") exit 1
    printf "%.3f %.3f %.2f\n", best["opencl", "cold"], best["cuda", "cold"], best["opencl", "cold"] / best["cuda", "cold"]
    printf "%.3f %.3f %.2f\n", best["opencl", "warm"], best["cuda", "warm"], best["opencl", "warm"] / best["cuda", "warm"]
  }' "$folder/results/first.csv" >wanted || fail "not one cold and three warm answers of each: $(<"$folder/results/first.csv")"
sed -n '/^first answer/,$s/^[nf].* | *\([0-9]\)/\1/p' "$folder/results/beside.txt" | tr -s ' ' | diff wanted - || fail "other first answers"
# Arrays of the host: three queries, two kinds of memory, two numbers of rays, each way's bytes and the slowest way.
for driver in device cuda; do
  [[ $(grep -cE ',transfer,.*,(ordinary|pinned),[0-9.e+-]+,[0-9.e+-]+,(upload|download|kernel),[0-9.e+-]+$' "$folder/results/$driver.csv") == 12 ]] ||
    fail "not 12 transfers: $(<"$folder/results/$driver.csv")"
  if command -v gnuplot >/dev/null; then
    [[ $(head -c 4 "$folder/results/$driver-transfer.png") == $'\x89PNG' ]] || fail "no picture of $driver"
  fi
done
# By CUDA transfers are measured, and no ceiling is another device's.
[[ $(sed -nE '/^ceiling/,/^$/s/^([a-z-]+) .* \| +[0-9.]+ \(.*/\1/p' "$folder/results/cuda.txt" | xargs) == "upload download" ]] ||
  fail "other ceilings: $(<"$folder/results/cuda.txt")"

# ---- a wrong answer: no figures of that driver; and no card by the other ----
export SLAB_CUDA_CARDS=0 OPENCL_LAYERS=$flip SLAB_FLIP=1:0 SLAB_FLIP_FILE=/dev/null
expect_exit 1 "$script" --dry "$build" "$work/wrong"
unset SLAB_CUDA_CARDS OPENCL_LAYERS SLAB_FLIP SLAB_FLIP_FILE
expect_stderr 'no device "gpu" by cuda: ' 'opencl-verify: exit code 3' 'opencl: no figures, since'
[[ -z $(find "$work/wrong" -name '*.csv' ! -name first.csv) ]] || fail "figures of wrong answers: $(find "$work/wrong")"

# ---- PTX by libclc: every query, and a wrong answer of each, in the middle ----
# The sample has that one unless there are several per ray.
export LD_LIBRARY_PATH=$cuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
expect_exit 0 ptx
[[ $(grep -c 'answers equal' "$work/out") == 28 ]] || fail "not 7 queries, 4 casts each: $(<"$work/out")"
SLAB_CUDA_FLIP=1 expect_exit 1 ptx
[[ $(grep -c ' rays: 1 of 1024 answers differ' "$work/err") == 28 ]] || fail "not 28 differences: $(<"$work/err")"
[[ $(grep 'the CPU reference refuses 1 of 64 answers, 16 rays apart' "$work/err" | grep -vc ', all, ') == 24 ]] || fail "$(<"$work/err")"
