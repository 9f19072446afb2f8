#!/usr/bin/env bash
# libFuzzer on every reader of the program, and on the scene API by sequences of calls.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readers=(npy raw text handover obj polygon)
{
  cmake --preset fuzz -DSLABCAST_TESTS=ON >/dev/null
  cmake --build build/fuzz --target "${readers[@]/#/fuzz_}" fuzz_scene
} >&2

# fuzz NAME EXECUTIONS: prints how many there were; nothing where something was found, after which the others go on.
fuzz() {
  local said
  said=$(tests/fuzz/run.sh build/fuzz "$1" "$(scaled "$2")x") || true
  echo "$said" >&2
  sed -n 's/.* \([0-9]*\) executions.*/\1/p' <<<"$said"
}

status=0
for reader in "${readers[@]}"; do
  runs=$(fuzz "$reader" 10000000)
  row "fuzz executions, $reader" "1e7 without a finding" "${runs:-a finding, see build/fuzz/fuzz/$reader}"
  [[ -n $runs ]] || status=1
done
runs=$(fuzz scene 20000)
row "fuzz executions, sequences of calls on scenes" "20,000 without a finding" "${runs:-a finding, see build/fuzz/fuzz/scene}"
[[ -n $runs ]] || status=1
exit "$status"
