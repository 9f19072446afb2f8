#!/usr/bin/env bash
# interrupted.sh: a cast that is killed or interrupted leaves nothing under the final name, and --resume goes on from
# FILE.part to the same bytes.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
# Two batches of a cast and a rest; the first stays for --resume.
count=1500000 first=1100000
scene=(--builtin boxes:1)
slabcast rays random "${scene[@]}" --count "$count" -o rays.npy
slabcast cast "${scene[@]}" --rays rays.npy --query distance -o whole.npy
mkfifo fifo

has_bytes() { [[ -e $1 && $(stat -c %s "$1") -ge $2 ]]; }

# start RESULT QUERY: a cast that has read $feed bytes of its rays and waits for more; its id is $job. A shell lets what
# runs in the background ignore SIGINT.
start() {
  local result=$1 query=$2
  { head -c "$feed" rays.npy && exec sleep 60; } >fifo &
  writer=$!
  env --default-signal=INT "$SLABCAST" cast "${scene[@]}" --rays fifo --query "$query" -o "$result" >/dev/null 2>err &
  job=$!
}

# stop SIGNAL CODE: the cast ends with CODE.
stop() {
  local got=0
  kill "-$1" "$job"
  wait "$job" 2>/dev/null || got=$?
  kill "$writer" 2>/dev/null || true
  wait "$writer" 2>/dev/null || true
  [[ $got == "$2" ]] || fail "after $1 it ended with $got, not $2: $(cat err)"
}

# ---- killed: no message, the part stays, nothing looks finished ----
feed=$((first * 32))
start killed.npy distance
wait_until 30 has_bytes killed.npy.part 4000000
stop KILL 137
[[ ! -e killed.npy ]] || fail "killed.npy is there although the cast was killed"
expect_exit 0 slabcast cast "${scene[@]}" --rays rays.npy --query distance -o killed.npy --resume --json summary.json
expect_same whole.npy killed.npy
grep -qE '"resumed": [1-9]' summary.json || fail "it did not go on from the part: $(cat summary.json)"
[[ ! -e killed.npy.part ]] || fail "the part is still there"

# ---- interrupted after some batches: the part is kept, and the message says so ----
start kept.npy distance
wait_until 30 has_bytes kept.npy.part $((1048576 * 4))
sleep 0.5 # all of the first batch is there, and nothing is written any more
stop INT 130
expect_stderr "slabcast: interrupted" "kept.npy.part is kept for --resume"
[[ ! -e kept.npy ]] || fail "kept.npy is there although the cast was interrupted"
# A row cut in two is cast again.
truncate -s -3 kept.npy.part
expect_exit 0 slabcast cast "${scene[@]}" --rays rays.npy --query distance -o kept.npy --resume
expect_same whole.npy kept.npy

# ---- interrupted while the first batch is being written, which is when the part comes to be kept: the message agrees
# with the file. Its stderr is a pipe with space for the first line alone, so that there is time between the file's
# fate and the message. ----
is_begun() { [[ -e $1 && $(stat -c %s "$1") -gt 1000 ]]; }
mkfifo says
for ((kill = 0; kill < 10; kill++)); do
  exec 7<>says
  head -c $((65536 - 23)) /dev/zero >&7
  rm -f race.npy.part err
  ln -s says err
  start race.npy closest
  until is_begun race.npy.part; do kill -0 "$job" || fail "the cast ended"; done
  (sleep 0.2; timeout 0.5 cat <&7 | tr -d '\0' >said) &
  reader=$!
  stop TERM 143
  wait "$reader" || true # which waits for more
  exec 7>&-
  rm err
  mv said err
  expect_stderr "slabcast: interrupted"
  [[ ! -e race.npy ]] || fail "race.npy is there although the cast was interrupted"
  if grep -qF "race.npy.part is kept for --resume" err; then
    [[ -e race.npy.part ]] || fail "kill $kill: race.npy.part is said to be kept, and is not there"
  else
    expect_stderr "race.npy.part was removed: nothing is written"
    [[ ! -e race.npy.part ]] || fail "kill $kill: race.npy.part is said to be removed, and is there"
  fi
done
rm -f race.npy.part

# ---- interrupted before anything is worth keeping ----
feed=32000
for signal in INT:130 TERM:143 HUP:129; do
  start early.npy closest
  wait_until 30 has_bytes early.npy.part 1
  stop "${signal%:*}" "${signal#*:}"
  expect_stderr "slabcast: interrupted" "early.npy.part was removed: nothing is written"
  expect_no early.npy
done

# Both files of --query all go, or stay.
start early.npy all
wait_until 30 test -e early.npy.offsets.npy.part
stop INT 130
expect_no early.npy early.npy.offsets.npy
feed=$((first * 32))
start kept.npy all
wait_until 30 has_bytes kept.npy.offsets.npy.part $((1048576 * 8))
sleep 0.5
stop INT 130
expect_stderr "kept.npy.part is kept for --resume" "kept.npy.offsets.npy.part is kept for --resume"
rm kept.npy.part kept.npy.offsets.npy.part
feed=32000

# An older result stays until the new one is whole.
cp whole.npy older.npy
start older.npy distance
wait_until 30 test -e older.npy.part
stop TERM 143
expect_same whole.npy older.npy
[[ ! -e older.npy.part ]] || fail "older.npy.part is still there"

# ---- two jobs on one output; --resume with nothing there ----
start twice.npy distance
wait_until 30 test -e twice.npy.part
expect_refusal 1 "twice.npy: another process is writing" slabcast cast "${scene[@]}" --rays rays.npy --query distance -o twice.npy
stop TERM 143
expect_exit 0 slabcast cast "${scene[@]}" --rays rays.npy --query distance -o new.npy --resume
expect_same whole.npy new.npy

# ---- a cast that fails does not wait for the writer of its rays ----
{ cat rays.npy && exec sleep 60; } >fifo &
writer=$!
limited() { (ulimit -f 6000 && exec timeout 30 "$SLABCAST" "$@"); }
expect_exit 1 limited cast "${scene[@]}" --rays - --in raw --query closest -o limited.raw <fifo
expect_stderr "cannot write limited.raw: File too large"
kill "$writer"
