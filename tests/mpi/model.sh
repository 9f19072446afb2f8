#!/usr/bin/env bash
# model.sh MPIRUN SLABCAST_MPI SLOW_LAYER [CASE...]: compares the model of docs/scaling.md with runs on a network and a
# file system that a layer makes slow. Runs have 1, 2 and 4 ranks, each delay alone and all together. A run without
# delays gives the times outside the model: reading the scene, casting, this machine's own files. Fails where a run and
# its prediction differ by more than 15 %. Takes minutes, and needs $SLABCAST; not a test of its own.
# shellcheck source=tests/mpi/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
model=$(dirname "${BASH_SOURCE[0]}")/../../docs/scaling.py
cases=("${@:4}")
((${#cases[@]})) || cases=(share read write all)
rays=4000000 result_bytes=16
scene=(--builtin soup:40000)
# Latency in seconds, and bytes per second: delays far above a busy machine's own. The rays end where they begin.
share=0.8:2e6 read=0.8:1.6e7 write=0.8:8e6

# calc EXPRESSION: of awk.
calc() { awk "BEGIN { printf \"%.9g\", ($1) }"; }

slabcast rays random "${scene[@]}" --count $rays -o rays.npy

# told NAME: a number of the summary.
told() { sed -n "s/^ *\"$1\": \([-0-9.e]*\),\?$/\1/p" summary.json; }

# cast_on RANKS
cast_on() {
  rm -f slow.txt
  expect_exit 0 "$mpirun" -n "$1" env LD_PRELOAD="$slow_preload" SLAB_SLOW_FILE="$work/slow.txt" "$program" cast \
    "${scene[@]}" --t-max 0.001 --rays rays.npy --query interval -o out.npy --json summary.json
}

# of ORDER: latency and rate as options of the model, none where the order is empty.
delays() {
  local name=$1 order=$2
  [[ -n $order ]] || order=0:1e15
  echo "--$name-latency ${order%:*} --$name-$3 ${order#*:}"
}

failed=0
printf '| delayed | ranks | predicted | measured | ratio |\n| --- | --- | --- | --- | --- |\n'
for case in "${cases[@]}"; do
  for ranks in 1 2 4; do
    [[ $case != share || $ranks != 1 ]] || continue # one rank has nobody to share with
    unset SLAB_SLOW_SHARE SLAB_SLOW_READ SLAB_SLOW_WRITE
    cast_on $ranks
    fixed=$(calc "$(told total_seconds) - $(told seconds)")
    rate=$(calc "$rays / $ranks / $(told seconds)")
    blob=$(sed -n 's/.*SLAB_SLOW_SHARE [0-9]* calls \([0-9]*\) bytes.*/\1/p' slow.txt | head -n 1)
    [[ $case != share && $case != all ]] || export SLAB_SLOW_SHARE=$share
    [[ $case != read && $case != all ]] || export SLAB_SLOW_READ=$read
    [[ $case != write && $case != all ]] || export SLAB_SLOW_WRITE=$write
    cast_on $ranks
    # shellcheck disable=SC2046 # several words
    predicted=$("$model" predict --nodes $ranks --rays $rays --result-bytes $result_bytes --rate "$rate" --start "$fixed" \
      --start-node 0 --scene 0 --end 0 --blob "$blob" --unpack-rate 1e15 --read-link 1e15 --write-link 1e15 \
      $(delays share "${SLAB_SLOW_SHARE-}" rate) $(delays read "${SLAB_SLOW_READ-}" cap) \
      $(delays write "${SLAB_SLOW_WRITE-}" cap) | sed -n 's/^total //p')
    measured=$(told total_seconds)
    ratio=$(calc "$measured / $predicted")
    printf '| %s | %d | %.2f s | %.2f s | %.3f |\n' "$case" "$ranks" "$predicted" "$measured" "$ratio"
    (($(calc "$ratio > 0.85 && $ratio < 1.15"))) || failed=1
  done
done
((!failed)) || fail "a prediction is off by more than 15 %"
