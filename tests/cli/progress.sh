#!/usr/bin/env bash
# progress.sh: on a terminal a long cast shows rays, their rate, the share done and the time left, which never go back
# although --query all casts each ray twice; elsewhere nothing.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
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

feed
expect_exit 0 slabcast cast "${scene[@]}" --rays fifo --query all -o out.npy
[[ ! -s err ]] || fail "without a terminal it says: $(cat err)"
