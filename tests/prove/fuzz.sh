#!/usr/bin/env bash
# libFuzzer on every reader of the program, and on the scene API by sequences of calls. A run that was broken off goes
# on where it stopped. A target that has executed as much already, and was not changed, is not run again.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

targets=(tests/fuzz/corpus/*)
targets=("${targets[@]##*/}")
declare -A calls=([scene]=scenes [instances]='scenes that stand in each other' [worlds]='a scene with worlds'
  [far]='a scene in double' [meshes]='meshes that a device refits') # of others, readers, an execution is a file
{
  cmake --preset fuzz -DSLABCAST_TESTS=ON >/dev/null
  cmake --build build/fuzz --target "${targets[@]/#/fuzz_}"
} >&2

executions_of() { sed -n 's/.* \([0-9]*\) executions.*/\1/p' <<<"$1"; }

# fuzz NAME EXECUTIONS: prints how many there were; nothing where something was found, after which the others go on.
fuzz() {
  local said wanted runs
  wanted=$(scaled "$2")
  said=$(tests/fuzz/run.sh build/fuzz "$1")
  runs=$(executions_of "$said")
  ((${runs:-0} >= wanted)) || said=$(tests/fuzz/run.sh build/fuzz "$1" "${wanted}x") || true
  echo "$said" >&2
  executions_of "$said"
}

status=0
for target in "${targets[@]}"; do
  wanted=10000000
  asked="fuzz executions, $target" claim='1e7 without a finding'
  if [[ -n ${calls[$target]-} ]]; then
    wanted=20000
    asked="fuzz executions, sequences of calls on ${calls[$target]}" claim='20,000 without a finding'
  fi
  runs=$(fuzz "$target" "$wanted")
  row "$asked" "$claim" "${runs:-a finding, see build/fuzz/fuzz/$target}"
  [[ -n $runs ]] || status=1
done
exit "$status"
