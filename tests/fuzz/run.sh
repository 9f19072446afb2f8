#!/usr/bin/env bash
# run.sh BUILD NAME LIMIT: fuzzes one target of a build with SLABCAST_FUZZ, from its corpus and from the finds of
# earlier runs. It prints the number of executions, and their speed. LIMIT: seconds, or executions as in 1000000x. Exit
# code 1 on a finding, which lies in BUILD/fuzz/NAME then.
#   run.sh BUILD NAME   prints only the result of the last run of this program; nothing where it was broken off
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$1 name=$2 limit=${3-}
work=$build/fuzz/$name
seeds=$root/tests/fuzz/corpus/$name
log=$work/log

# The executed bytes: instructions and constants, not the lines for debuggers and sanitizers.
fingerprint() {
  local file files=("$build/bin/fuzz_$name")
  if grep -q 'NEEDED *libslabcast' <(objdump -p "${files[0]}"); then files+=("$build/libslabcast.so"); fi
  for file in "${files[@]}"; do
    objcopy -O binary -j .text -j .rodata "$file" "$work/executed"
    sha256sum <"$work/executed"
  done
  rm "$work/executed"
}

say_outcome() {
  awk -v name="$name" '
    /^Done/ { seconds = $(NF - 1); ended = 1 }
    /number_of_executed_units/ { runs = $2 }
    /cov:/ { for (i = 1; i < NF; i++) if ($i == "cov:") edges = $(i + 1) }
    END {
      if (!ended || runs == 0) exit 1
      printf "fuzz: %-9s %9d executions, %7.0f a second, %5d edges, no finding\n", name, runs, runs / (seconds + !seconds), edges
    }' "$log"
}

if [[ -z $limit ]]; then
  if [[ -e $work/program && $(fingerprint) == "$(<"$work/program")" ]]; then say_outcome || true; fi
  exit 0
fi
case $limit in
  *x) limit=-runs=${limit%x} ;;
  *) limit=-max_total_time=$limit ;;
esac
[[ -d $seeds ]] || {
  echo "fuzz: no target $name" >&2
  exit 2
}
mkdir -p "$work/corpus"
fingerprint >"$work/program"

# Scenes are cast on the processor: there is no driver that leaks, and no kernel to wait for. Meshes that a device
# refits are the exception: their leaks are counted where the corpus is replayed.
leaks=1
export SLABCAST_BACKENDS=native POCL_CACHE_DIR=$build/pocl-cache
if [[ $name == meshes ]]; then SLABCAST_BACKENDS=opencl leaks=0; fi
# A quarantine of 8 MB holds what many executions freed; the usual 256 MB take most of the time, in page faults.
export ASAN_OPTIONS=detect_leaks=$leaks:quarantine_size_mb=8:thread_local_quarantine_size_kb=256:malloc_context_size=8
export FUZZ_FINDING=$work/finding

# A run of more than a minute counts as a hang.
if ! "$build/bin/fuzz_$name" "$limit" -timeout=60 -report_slow_units=60 -rss_limit_mb=4096 -print_final_stats=1 \
  -artifact_prefix="$work/" "$work/corpus" "$seeds" >"$log" 2>&1; then
  tail -n 40 "$log" >&2
  echo "fuzz: $name: a finding, in $work" >&2
  exit 1
fi
say_outcome
