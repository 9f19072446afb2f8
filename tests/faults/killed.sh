#!/usr/bin/env bash
# killed.sh [ROUNDS] [SEED]: casts to a file that are killed, or interrupted, at random moments leave under the final
# name nothing, what was there before, or the whole; --resume, however often it is killed in turn, comes to the bytes of
# a run that nothing disturbed.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh" || exit 1
rounds=${1:-6} seed=${2:-20260101}
echo "killed.sh $rounds $seed"
RANDOM=$seed
scene=(--builtin boxes:1)
count=2300000 # two batches and a rest
slabcast rays random "${scene[@]}" --count $count --seed "$((seed % 1000))" -o rays.npy

# The four ways to write a file that can be gone on with.
formats=(npy raw npy raw)
options=("--query distance" "--query distance" "--query interval" "--query any")

# cast K OUT [OPTION...]: in the background, its id in $job; a shell lets what runs there ignore SIGINT.
cast() {
  local k=$1 out=$2
  shift 2
  # shellcheck disable=SC2086 # several words
  env --default-signal=INT "$SLABCAST" cast "${scene[@]}" --rays rays.npy ${options[k]} -o "$out" "$@" 2>err >/dev/null &
  job=$!
}

# ended: what it ended with, in $code.
ended() {
  code=0
  wait "$job" 2>/dev/null || code=$?
}

# milliseconds COMMAND...
milliseconds() {
  local begin=${EPOCHREALTIME/[.,]/}
  "$@"
  echo $(((${EPOCHREALTIME/[.,]/} - begin) / 1000))
}

# pause: for a random share of $span milliseconds.
pause() {
  local wait=$((RANDOM * (span + 1) / 32768))
  sleep "$((wait / 1000)).$(printf %03d $((wait % 1000)))"
}

run_undisturbed() {
  cast "$1" "$2"
  ended
  [[ $code == 0 ]] || fail "the cast failed: $(cat err)"
}

# check_final K OUT: nothing, the older file, or the whole.
check_final() {
  [[ -e $2 ]] || return 0
  cmp -s "$2" older || cmp -s "$2" "whole.$1" || fail "$2 is there, and neither the older file nor the whole"
}

# disturb SIGNAL CODE K OUT [OPTION...]: 1 when it was too late.
disturb() {
  local signal=$1 want=$2 k=$3 out=$4
  shift 4
  cast "$k" "$out" "$@"
  pause
  kill "-$signal" "$job" 2>/dev/null || true
  ended
  check_final "$k" "$out"
  [[ $code == 0 || $code == "$want" ]] || fail "after $signal it ended with $code, not $want: $(cat err)"
  [[ $code == "$want" ]] || span=$((span * 9 / 10 + 1))
  [[ $code == "$want" ]]
}

# ---- the undisturbed ----

span=0
for k in "${!options[@]}"; do
  run_undisturbed "$k" "first.$k.${formats[k]}" # builds the kernel, where the cache has none
  took=$(milliseconds run_undisturbed "$k" "whole.$k.${formats[k]}")
  ((took <= span)) || span=$took
  mv "whole.$k.${formats[k]}" "whole.$k"
  expect_same "whole.$k" "first.$k.${formats[k]}"
  rm "first.$k.${formats[k]}"
done
echo "an earlier result" >older

# ---- killed ----

kills=0 resumed=0
for ((round = 0; round < rounds; round++)); do
  k=$((round % ${#options[@]})) out=out.${formats[round % ${#options[@]}]}
  rm -f "$out" "$out.part"
  ((round % 3)) || cp older "$out"
  resume=()
  # A third kill at most, so that slow machines come to an end.
  while ((kills < 3 * round + 3)) && disturb KILL 137 "$k" "$out" "${resume[@]}"; do
    kills=$((kills + 1))
    if [[ -e $out.part && $(stat -c %s "$out.part") -gt 1000 ]]; then resumed=$((resumed + 1)); fi
    resume=(--resume)
  done
  if ! cmp -s "$out" "whole.$k"; then
    cast "$k" "$out" --resume
    ended
    [[ $code == 0 ]] || fail "--resume fails: $(cat err)"
  fi
  expect_same "$out" "whole.$k"
  [[ ! -e $out.part ]] || fail "$out.part is still there"
done
((kills > 0)) || fail "no cast was killed in time"

# ---- interrupted ----

interrupts=0
for ((round = 0; round < rounds; round++)); do
  k=$((round % ${#options[@]})) out=out.${formats[round % ${#options[@]}]}
  rm -f "$out" "$out.part"
  disturb INT 130 "$k" "$out" || continue
  interrupts=$((interrupts + 1))
  # Before the program listens, the signal ends it without a word, and there is nothing to say yet.
  [[ ! -e $out.part ]] || expect_stderr "slabcast: interrupted" "$out.part is kept for --resume"
  if [[ -s err ]]; then expect_stderr "slabcast: interrupted"; fi
done
((interrupts > 0)) || fail "no cast was interrupted in time"
echo "$kills killed, $resumed of them with rows to go on from, $interrupts interrupted: 0 partial files, the same bytes"
