#!/usr/bin/env bash
# The cost of a ray: its steps, and by valgrind's tool callgrind its instructions and simulated branch mispredictions.
#
#   steps.sh BUILD [--rays SIDE] [--set NAME] [--ours] [SCENE...]   prints the table of bench/results/steps.txt
#   steps.sh BUILD --check TABLE    fails where the rays of one scene and set take 5 % more than the table says; 77: it
#                                   is not known, since another compiler made the table, or valgrind is not here
#
# Counts repeat whatever else the machine does. They are of one thread and of x86-64-v3, our kernels and Embree's alike,
# since valgrind knows no wider registers.
set -euo pipefail
export LC_ALL=C SLABCAST_BACKENDS=native

build=$1
shift
checked=(--set diffuse --ours terrain:10000)

skip() {
  echo "steps: $*" >&2
  exit 77
}

kernel_compiler() {
  local command
  IFS=';' read -r -a command <<<"$(sed -n 's/^SLABCAST_KERNEL_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")"
  "${command[@]}" --version | head -n 1
}

# counted OPTION...: lines SCENE SET QUERY SIDE RAYS, then `steps` and four counts, or `instructions` and two.
counted() {
  local folder dump
  folder=$(mktemp -d)
  "$build/bin/bench_steps_counts" "$@" >"$folder/steps" || return
  valgrind --quiet --tool=callgrind --instr-atstart=no --branch-sim=yes --callgrind-out-file="$folder/counts" \
    "$build/bin/bench_steps" "$@" >&2 || return
  awk '{ print $1, $2, $3, $4, $5, "steps", $6, $7, $8, $9 }' "$folder/steps"
  for dump in "$folder"/counts.*; do
    awk '/^desc: Trigger: Client Request: / { name = substr($0, 32) }
      /^totals: / { print name, "instructions", $2, $4 + $6 }' "$dump"
  done
  rm -r "$folder"
}

# rows: the table's, of lines of `counted`.
rows() {
  awk '
    { row = $1 " " $2 " " $3 }
    !(row in rays) { order[++count] = row; rays[row] = $5 }
    $6 == "steps" && $4 == "single" { for (i = 0; i < 4; i++) steps[row, i] = $(7 + i) / $5 }
    $6 == "instructions" { instructions[row, $4] = $7 / $5; missed[row, $4] = $8 / $5 }
    function cost(row, side) {
      if (!((row, side) in instructions)) return sprintf("%9s %6s", "-", "-")
      return sprintf("%9.1f %6.2f", instructions[row, side], missed[row, side])
    }
    END {
      for (k = 1; k <= count; k++) {
        row = order[k]
        split(row, name, " ")
        printf "%-14s %-8s %-8s %6d %6.2f %6.2f %6.2f %6.2f %s %s %s\n", name[1], name[2], name[3], rays[row],
          steps[row, 0], steps[row, 1], steps[row, 2], steps[row, 3],
          cost(row, "single"), cost(row, "interleaved"), cost(row, "embree")
      }
    }'
}

table() {
  local lines
  lines=$(counted "$@")
  cat <<END
# A ray's steps, instructions and simulated branch mispredictions (callgrind), on one thread, BVHs of quality HIGH.
# Kernels and Embree at AVX2, which valgrind ends at. nodes ... exact: of our rays cast one after the other; blocks have
# 8 triangles; candidates: triangles that the rounded edge functions leave; exact: blocks that have any.
# Kernels compiled by $(kernel_compiler). Made by \`./dev bench steps\`.
#
#                                                                     ours: single     interleaved      Embree 4, single
# scene        rays     query     count  nodes blocks  cand.  exact    instr.  miss.    instr.  miss.    instr.  miss.
END
  rows <<<"$lines"
}

check() {
  local lines
  [[ -x $build/bin/bench_steps_counts ]] || skip "the benchmark is not built here"
  command -v valgrind >/dev/null || skip "valgrind is not here"
  grep -qw avx2 /proc/cpuinfo || skip "this processor has no AVX2"
  grep -qF "Kernels compiled by $(kernel_compiler). " "$1" || skip "$1 is of another compiler than $(kernel_compiler)"
  lines=$(counted "${checked[@]}")
  rows <<<"$lines" | awk '
    NR == FNR { if ($1 != "#") for (i = 4; i <= 12; i++) known[$1, $2, $3, i] = $i; next }
    {
      compared++
      if ($4 != known[$1, $2, $3, 4]) { print "steps: the table has no such rays:", $0; failed = 1; next }
      for (i = 5; i <= 11; i += i < 9 ? 1 : 2) {
        before = known[$1, $2, $3, i]
        if ($i <= 1.05 * before) continue
        printf "steps: %s, %s, %s: column %d was %s and is %s, more than 5 %% above it\n", $1, $2, $3, i, before, $i
        failed = 1
      }
      print
    }
    END { exit failed || compared != 2 }' "$1" -
}

if [[ ${1-} == --check ]]; then
  check "$2"
else
  (($#)) || set -- terrain:10000 terrain:100000 soup:100000
  table "$@"
fi
