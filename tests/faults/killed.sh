#!/usr/bin/env bash
# killed.sh [ROUNDS] [SEED]: casts to a file that are killed, or interrupted, at random moments. Under the final name
# they leave nothing, the older file, or the whole. --resume, however often it is killed in turn, comes to the bytes of
# a run that nothing disturbed.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh" || exit 1
rounds=${1:-6} seed=${2:-20260101}
echo "killed.sh $rounds $seed"
RANDOM=$seed
scene=(--builtin boxes:1)
count=1400000 # a batch and a rest
slabcast rays random "${scene[@]}" --count $count --seed "$((seed % 1000))" -o rays.npy

# The ways to write a file that can be gone on with: rows of one size, hits with offsets, lines, lines with numbers,
# points with numbers.
formats=(npy raw csv npy csv txt ply raw raw)
options=("--query distance" "--query any" "--query distance" "--query all" "--query all" "--query count"
  "--query all" "--query all --points" "--query interval --points")

# cast K OUT [OPTION...]: in the background, its id in $job; a shell lets what runs there ignore SIGINT.
cast() {
  local k=$1 out=$2
  shift 2
  # shellcheck disable=SC2086 # several words
  env --default-signal=INT "$SLABCAST" cast "${scene[@]}" --rays rays.npy ${options[k]} -o "$out" "$@" 2>err >/dev/null &
  job=$!
}

# ended: its exit code, in $code.
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

# pause K: for a random share of the milliseconds that this cast takes.
pause() {
  local wait=$((RANDOM * (${spans[$1]} + 1) / 32768))
  sleep "$((wait / 1000)).$(printf %03d $((wait % 1000)))"
}

run_undisturbed() {
  cast "$1" "$2"
  ended
  [[ $code == 0 ]] || fail "the cast failed: $(cat err)"
}

has_offsets() { [[ ${options[$1]} == *all* && ${formats[$1]} =~ npy|raw ]]; }

# check_final K OUT: nothing, the older file, or the whole; offsets are beside the hits that they belong to.
check_final() {
  [[ -e $2 ]] || [[ ! -e $2.offsets.npy ]] || fail "$2.offsets.npy is there without $2"
  [[ -e $2 ]] || return 0
  cmp -s "$2" older || cmp -s "$2" "whole.$1" || fail "$2 is there, and neither the older file nor the whole"
  [[ -e $2.offsets.npy ]] || return 0
  if cmp -s "$2" older; then expect_same "$2.offsets.npy" older; else expect_same "$2.offsets.npy" "whole.$1.offsets"; fi
}

is_whole() { cmp -s "$2" "whole.$1" && { ! has_offsets "$1" || cmp -s "$2.offsets.npy" "whole.$1.offsets"; }; }

# expect_whole K OUT
expect_whole() {
  expect_same "$2" "whole.$1"
  if has_offsets "$1"; then expect_same "$2.offsets.npy" "whole.$1.offsets"; fi
}

remove() { rm -f "$1" "$1.part" "$1.offsets.npy" "$1.offsets.npy.part"; }

# has_rows K PART: the half of them, more than what is cast again.
has_rows() { [[ -e $2 ]] && (($(stat -c %s "$2") * 2 > $(stat -c %s "whole.$1"))); }

# await_rows K PART: for as long as the job runs.
await_rows() { while ! has_rows "$@" && kill -0 "$job" 2>/dev/null; do sleep 0.002; done; }

make_older() {
  cp older "$2"
  if has_offsets "$1"; then cp older "$2.offsets.npy"; fi
}

# disturb SIGNAL CODE K OUT [OPTION...]: 1 when it was too late.
disturb() {
  local signal=$1 want=$2 k=$3 out=$4
  shift 4
  cast "$k" "$out" "$@"
  if ((round < rounds)); then pause "$k"; else await_rows "$k" "$out.part"; fi
  kill "-$signal" "$job" 2>/dev/null || true
  ended
  check_final "$k" "$out"
  [[ $code == 0 || $code == "$want" ]] || fail "after $signal it ended with $code, not $want: $(cat err)"
  [[ $code == "$want" ]] || spans[k]=$((spans[k] * 9 / 10 + 1))
  [[ $code == "$want" ]]
}

# ---- the undisturbed ----

spans=()
for k in "${!options[@]}"; do
  out=whole.${formats[k]}
  run_undisturbed "$k" "$out" # builds the kernel, where the cache has none
  mv "$out" "whole.$k"
  if has_offsets "$k"; then mv "$out.offsets.npy" "whole.$k.offsets"; fi
  spans[k]=$(milliseconds run_undisturbed "$k" "$out")
  expect_whole "$k" "$out"
  remove "$out"
done
echo "an earlier result" >older

# ---- killed ----

# go_on OUT: $resume for the next cast. Where there is no part, an older file alone would be taken for what is finished.
go_on() {
  resume=()
  if [[ -e $1.part || -e $1.offsets.npy.part ]]; then resume=(--resume); fi
}

kills=0 resumed=0 rows_resumed=0
# Random moments may all be early or late, where a driver takes longer to load than this to cast. Some rows of one size
# must be resumed, or the test does not see a program that resumes at the wrong one. Further rounds wait for rows.
for ((round = 0; round < rounds || (rows_resumed == 0 && round < 5 * rounds); round++)); do
  k=$((round % ${#options[@]})) out=out.${formats[round % ${#options[@]}]}
  remove "$out"
  ((round % 3)) || make_older "$k" "$out"
  resume=()
  # A third kill at most, so that slow machines come to an end.
  while ((kills < 3 * round + 3)) && disturb KILL 137 "$k" "$out" "${resume[@]}"; do
    kills=$((kills + 1))
    if is_whole "$k" "$out"; then break; fi # killed after its last word
    if has_rows "$k" "$out.part"; then
      resumed=$((resumed + 1))
      [[ $out =~ csv|txt|ply ]] || has_offsets "$k" || rows_resumed=$((rows_resumed + 1))
    else
      spans[k]=$((spans[k] * 11 / 10 + 1)) # too early, where the machine has got busier
    fi
    go_on "$out"
  done
  if ! is_whole "$k" "$out"; then
    go_on "$out"
    cast "$k" "$out" "${resume[@]}"
    ended
    [[ $code == 0 ]] || fail "--resume fails: $(cat err)"
  fi
  expect_whole "$k" "$out"
  [[ ! -e $out.part ]] || fail "$out.part is still there"
done
((kills > 0)) || fail "no cast was killed in time"
((rows_resumed > 0)) || fail "no cast was killed with rows to go on from"

# ---- interrupted ----

interrupts=0
for ((round = 0; round < rounds; round++)); do
  k=$((round % ${#options[@]})) out=out.${formats[round % ${#options[@]}]}
  remove "$out"
  disturb INT 130 "$k" "$out" || continue
  interrupts=$((interrupts + 1))
  # Before the program listens, the signal ends it without a message, and there is nothing to report yet.
  [[ ! -e $out.part ]] || expect_stderr "slabcast: interrupted" "$out.part is kept for --resume"
  if [[ -s err ]]; then expect_stderr "slabcast: interrupted"; fi
done
((interrupts > 0)) || fail "no cast was interrupted in time"
echo "$kills killed, $resumed of them with rows to go on from, $interrupts interrupted: 0 partial files, the same bytes"
