#!/usr/bin/env bash
# efficiency.sh MPIRUN SLABCAST_MPI SLOW_LAYER [REPEATS] [RAYS]: two ranks of one thread against one rank of two, in
# turns. Prints the seconds of the whole job in the process, of the time after the scene, and processor seconds, then
# the ratios of the medians. Needs $SLABCAST and two cores with nothing else to do; not a test of its own.
# shellcheck source=tests/mpi/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
repeats=${4:-5} rays=${5:-6000000}
scene=(--builtin terrain:100000)
slabcast rays random "${scene[@]}" --count "$rays" -o rays.npy

told() { sed -n "s/^ *\"$1\": \([-0-9.e]*\),\?$/\1/p" summary.json; }

# measure RANKS THREADS: appends a line to RANKS.txt.
measure() {
  export POCL_MAX_PTHREAD_COUNT=$2 OMP_NUM_THREADS=$2
  local TIMEFORMAT='%U %S'
  { time on "$1" cast "${scene[@]}" --rays rays.npy -o out.npy --json summary.json >out 2>err; } 2>time.txt
  echo "$(told total_seconds) $(told scene_seconds) $(cat time.txt)" |
    awk '{ printf "%.3f %.3f %.3f\n", $1, $1 - $2, $3 + $4 }' | tee -a "$1.txt"
}

# median RANKS COLUMN
median() { sort -g -k "$2,$2" "$1.txt" | awk -v c="$2" '{ v[NR] = $c } END { print v[int((NR + 1) / 2)] }'; }

measure 1 2 >/dev/null # builds the kernels, where the cache has none
rm 1.txt
for ((i = 0; i < repeats; i++)); do
  measure 1 2 | sed 's/^/1 rank, 2 threads:  /'
  measure 2 1 | sed 's/^/2 ranks, 1 thread:  /'
done
for column in "1 the job" "2 after the scene" "3 processor time"; do
  awk -v a="$(median 1 "${column%% *}")" -v b="$(median 2 "${column%% *}")" -v n="${column#* }" \
    'BEGIN { printf "%s: %.2f s and %.2f s, ratio %.3f\n", n, a, b, a / b }'
done
uptime
