#!/usr/bin/env bash
# divergence.sh BENCH TABLE: bench/results/divergence.txt is that of today's kernel and BVHs: a cheap scene's figures differ
# by less than 5 % from the table's. 77: the processor lacks the instructions of the kernel that counts.
set -euo pipefail
export LC_ALL=C SLABCAST_BACKENDS=native

grep -qw avx2 /proc/cpuinfo || { echo "divergence: this processor has no AVX2" >&2 && exit 77; }
"$1" --set diffuse terrain:10000 | awk '
  /^#/ { next }
  { row = $1 " " $2 " " $3 " " $4 }
  NR == FNR { known[row] = $0; next }
  !(row in known) { print "divergence: the table has no row", row; failed = 1; next }
  {
    compared++
    split(known[row], was, " ")
    for (i = 5; i <= NF; i++) {
      if ($i <= 1.05 * was[i] && $i >= 0.95 * was[i]) continue
      printf "divergence: %s: column %d is %s, in the table %s; ./dev bench divergence makes it anew\n", row, i, $i, was[i]
      failed = 1
    }
  }
  END { exit failed || compared != 4 }' "$2" -
