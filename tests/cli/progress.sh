#!/usr/bin/env bash
# progress.sh FAILING_LAYER: on a terminal a long cast shows rays, their rate, the share done and the time left. These
# never go back although --query all casts each ray twice. Until its first answers, it shows that kernels are compiled
# on a first run. Elsewhere nothing.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
failing=$1
scene=(--builtin boxes:30)
slabcast rays random "${scene[@]}" --count 3000000 -o rays.npy
mkfifo fifo

# feed: the rays, with a pause after the first batch, so that there is time for a line.
feed() {
  { head -c 40000000 rays.npy && sleep 1 && tail -c +40000001 rays.npy; } >fifo &
}

feed
command="\"$SLABCAST\" cast ${scene[*]} --rays fifo --query all -o out.npy"
script -qec "$command" /dev/null </dev/null >shown || fail "the cast failed: $(cat shown)"
tr '\r' '\n' <shown | sed 's/\x1b\[K//' | grep '^casting' >lines || fail "no progress line was shown: $(cat shown)"
grep -qvE '^casting: [0-9.]+ [kM] rays, [0-9.]+( [kMG])?/s, [0-9.]+ %, [0-9]+:[0-9]{2} left$' lines &&
  fail "a line is made otherwise: $(cat lines)"
sed 's|.*/s, \([0-9.]*\) %.*|\1|' lines >shares
sort -g shares | cmp -s - shares || fail "the share done goes back: $(cat shares)"
awk '$1 > 100 || $1 <= 0 { exit 1 }' shares || fail "a share is none: $(cat shares)"
# The last line is wiped before the summary.
tail -c 200 shown | tr '\r' '\n' | grep -q $'^\x1b\\[K3000000 rays, ' || fail "the line is not wiped: $(tail -c 200 shown)"

# NO_COLOR, unless it is empty: the same lines without escape sequences.
feed
NO_COLOR=1 script -qec "$command" /dev/null </dev/null >shown || fail "the cast failed: $(cat shown)"
grep -q $'\x1b' shown && fail "NO_COLOR: there are escape sequences: $(cat -v shown)"
tr '\r' '\n' <shown >lines
grep -q '^casting: [0-9.]* [kM] rays, ' lines || fail "NO_COLOR: no progress line was shown: $(cat -v shown)"
grep -q '^3000000 rays, ' lines || fail "NO_COLOR: the line is not wiped: $(cat -v shown)"
feed
NO_COLOR='' script -qec "$command" /dev/null </dev/null >shown || fail "the cast failed: $(cat shown)"
grep -q $'\x1b' shown || fail "an empty NO_COLOR changes something: $(cat -v shown)"

# Narrow terminals: no line wraps, and the share and the time left stay; NO_COLOR wipes no more than a row.
for narrow in "60 " "40 1" "30 "; do
  read -r columns no_color <<<"$narrow"
  feed
  NO_COLOR=$no_color script -qec "stty cols $columns; $command" /dev/null </dev/null >shown || fail "the cast failed: $(cat shown)"
  tr '\r' '\n' <shown | sed 's/\x1b\[K//' >lines
  grep -qE '^casting: .*%, [0-9]+:[0-9]{2} left *$' lines || fail "$columns columns: no progress line was shown: $(cat -v shown)"
  grep -v '^3000000 rays, ' lines | awk -v most="$columns" 'length >= most { exit 1 }' || fail "$columns columns: a line is too long: $(cat -v shown)"
done

feed
expect_exit 0 slabcast cast "${scene[@]}" --rays fifo --query all -o out.npy
[[ ! -s err ]] || fail "without a terminal it says: $(cat err)"

# ---- until the first answers ----
# A cache of its own, so that it is known what the driver has compiled before.
make_cold() {
  POCL_CACHE_DIR=$(mktemp -d -p "$work")
  export POCL_CACHE_DIR
}

# on_terminal COMMAND: its output goes to the file shown, the part that is visible in the end to the file left.
on_terminal() {
  local status=0
  script -qec "$1" /dev/null </dev/null >shown || status=$?
  sed -E 's/\r$//; s/.*\r\x1b\[K//' shown >left
  return "$status"
}

waited() { grep -qE 'waiting for "[^"]+": the first run compiles its kernels' shown; }

# It is shown, within the 80 columns that can be wiped, and nothing of it or of any control code is left.
expect_waited() {
  waited || fail "it is not told what is waited for: $(cat -v shown)"
  tr '\r' '\n' <shown | sed 's/\x1b\[K//' | grep '^waiting' | grep -q '.\{80\}' && fail "the line is too long: $(cat -v shown)"
  ! grep -qE $'waiting|casting|drawing|\x1b' left || fail "more is left than there should be: $(cat -v left)"
}

head -c 64128 rays.npy >few.rows
tail -c 64000 few.rows >few.raw
cast="\"$SLABCAST\" cast ${scene[*]} --rays few.raw --in raw --query any -o few.npy"
make_cold
on_terminal "$cast" || fail "the cast failed: $(cat shown)"
expect_waited
grep -q '^2000 rays, ' left || fail "the summary is not what is left: $(cat -v left)"
# A busy machine may take its time once, but not always.
for try in 1 2 3 4 5; do
  on_terminal "$cast" || fail "the cast failed: $(cat shown)"
  waited || break
  ((try < 5)) || fail "a first run is told of although the kernels are there: $(cat -v shown)"
done

make_cold
expect_exit 0 slabcast cast "${scene[@]}" --rays few.raw --in raw --query any -o few.npy
[[ ! -s err ]] || fail "without a terminal it says: $(cat err)"

# A cast that fails before there is any answer: its message is all that is left. The first launch is the probe's.
make_cold
OPENCL_LAYERS=${OPENCL_LAYERS:+$OPENCL_LAYERS:}$failing SLAB_FAIL=2:late:-5 SLAB_FAIL_FILE=$work/report \
  on_terminal "$cast" && fail "the cast did not fail: $(cat shown)"
grep -q ', 1 failed, ' report || fail "no launch failed: $(cat report)"
expect_waited
[[ $(grep -c . left) == 1 ]] || fail "not only the message is left: $(cat -v left)"
grep -q '^slabcast: the cast failed: .*clWaitForEvents failed' left || fail "another message is left: $(cat -v left)"

# ---- every command that casts ----
make_cold
on_terminal "\"$SLABCAST\" render ${scene[*]} --size 64x48 -o picture.png" || fail "render failed: $(cat shown)"
expect_waited

# expect_wait COMMAND: the line comes, after which nobody waits for the end.
expect_wait() {
  make_cold
  script -qefc "exec $1" /dev/null </dev/null >shown &
  local job=$!
  wait_until 120 waited
  # A session of its own, so that what it started ends as well; but for one that has come to its end meanwhile.
  pgrep -P "$job" | xargs -r -I '{}' kill -KILL -- '-{}' || true
  wait "$job" 2>/dev/null || true
}
expect_wait "\"$SLABCAST\" demo --size 8x4 -o demo.png"
expect_wait "\"$SLABCAST\" verify --rays 2000 --group closest"
expect_wait "\"$SLABCAST\" bench --quick --seconds 0 --group work"
