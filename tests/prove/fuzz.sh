#!/usr/bin/env bash
# libFuzzer on every reader of the program, and on the scene API by sequences of calls. A run that was broken off goes
# on where it stopped. A target that has executed as much already, and was not changed, is not run again.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readers=(npy raw text own handover readers gltf facts polygon)
{
  cmake --preset fuzz -DSLABCAST_TESTS=ON >/dev/null
  cmake --build build/fuzz --target "${readers[@]/#/fuzz_}" fuzz_{scene,instances,worlds,meshes}
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
for reader in "${readers[@]}"; do
  runs=$(fuzz "$reader" 10000000)
  row "fuzz executions, $reader" "1e7 without a finding" "${runs:-a finding, see build/fuzz/fuzz/$reader}"
  [[ -n $runs ]] || status=1
done
for calls in scene instances worlds far meshes; do
  about=scenes
  if [[ $calls == instances ]]; then about="scenes that stand in each other"; fi
  if [[ $calls == worlds ]]; then about="a scene with worlds"; fi
  if [[ $calls == far ]]; then about="a scene in double"; fi
  if [[ $calls == meshes ]]; then about="meshes that a device refits"; fi
  runs=$(fuzz "$calls" 20000)
  row "fuzz executions, sequences of calls on $about" "20,000 without a finding" "${runs:-a finding, see build/fuzz/fuzz/$calls}"
  [[ -n $runs ]] || status=1
done
exit "$status"
