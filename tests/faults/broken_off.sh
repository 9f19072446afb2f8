#!/usr/bin/env bash
# broken_off.sh: casts that cannot come to their end. Causes are a device that is lost, a disk that is full, a file past
# its limit, a place that is read-only, and rays that are cut off meanwhile. Each ends with code 1, names what happened
# and how far it came. An older result stays, nothing partial looks finished, and --resume goes on to the bytes of an
# undisturbed cast. It runs under the failing layer.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh" || exit 1
count=1400000 batch=1048576 # one batch and a rest
out_of_resources=-5
scene=(--builtin boxes:1)
slabcast rays random "${scene[@]}" --count $count -o rays.npy
echo "an earlier result" >older

declare -A options=([closest]="-o closest.npy" [all]="--query all -o all.npy" [csv]="--query count -o csv.csv")
file_of() { echo "${options[$1]##* }"; }

# cast KIND [OPTION...]
cast() {
  local kind=$1
  shift
  # shellcheck disable=SC2086 # several words
  "$SLABCAST" cast "${scene[@]}" --rays rays.npy ${options[$kind]} "$@"
}

keep_whole() {
  local file
  file=$(file_of "$1")
  mv "$file" "whole.$1"
  if [[ -e $file.offsets.npy ]]; then mv "$file.offsets.npy" "whole.$1.offsets"; fi
}

# came_so_far KIND TEXT: the last cast ended with TEXT, after a batch, and what it wrote over is still there.
came_so_far() {
  local file
  file=$(file_of "$1")
  expect_stderr "$2" "$batch of $count rays were written before" "$file.part is kept for --resume"
  expect_same "$file" older
  [[ ! -e $file.offsets.npy ]] || fail "$file.offsets.npy is there"
}

# goes_on KIND: with --resume, from the part to the whole.
goes_on() {
  local file
  file=$(file_of "$1")
  expect_exit 0 cast "$1" --resume --json summary.json
  grep -qE '"resumed": [1-9]' summary.json || fail "$1 does not go on from the part: $(cat summary.json)"
  expect_same "$file" "whole.$1"
  if [[ -e whole.$1.offsets ]]; then expect_same "$file.offsets.npy" "whole.$1.offsets"; fi
  rm -f "$file" "$file.offsets.npy"
}

for kind in "${!options[@]}"; do
  cast "$kind"
  keep_whole "$kind"
done

# ---- the device ----

# calls MODE: that a cast of closest makes and that can fail so.
calls() {
  rm -f reports
  SLAB_FAIL=0:$1:$out_of_resources SLAB_FAIL_FILE=reports cast closest
  rm closest.npy
  sed -n 's/^slabcast failing layer: \([0-9]*\) calls.*/\1/p' reports
}

# lost KIND MODE: the device fails in the second batch. How many calls that takes depends on how busy the machine is: a
# fault that came too late, or too early, is tried again.
lost() {
  local file n got=0 tries=12
  file=$(file_of "$1")
  n=$(($(calls "$2") * 9 / 10))
  cp older "$file"
  until ((got == 1)) && grep -q 'rays were written before' err; do
    ((tries-- > 0)) || fail "no device was lost in the second batch: $(cat err)"
    got=0
    SLAB_FAIL=$n:$2:$out_of_resources SLAB_FAIL_FILE=reports cast "$1" 2>err || got=$?
    if ((got == 0)); then
      n=$((n * 9 / 10))
      rm -f "$file.offsets.npy"
      cp older "$file"
    elif ! grep -q 'rays were written before' err; then
      n=$((n * 8 / 7 + 1))
    fi
  done
  came_so_far "$1" "the cast failed: "
  goes_on "$1"
}
lost closest all
lost closest late

# ---- the disk ----

# The first batch fits; the driver's compiler has what it needs.
limited() { (ulimit -f $(($1 / 1024)) && shift && cast "$@"); }
cp older closest.npy
expect_exit 1 limited $((1200000 * 32)) closest
came_so_far closest "cannot write closest.npy: File too large"
goes_on closest
cp older csv.csv
expect_exit 1 limited $((1200000 * 2)) csv
came_so_far csv "cannot write csv.csv: File too large"
goes_on csv
cp older all.npy
expect_exit 1 limited "$(($(stat -c '%s' whole.all whole.all.offsets | sort -n | tail -n 1) * 9 / 10))" all
came_so_far all "cannot write all.npy"
goes_on all

# Only root may mount; elsewhere /dev/full of tests/cli/outputs.sh and the limit above take its place.
mkdir small
if mount -t tmpfs -o size=40m none small 2>/dev/null; then
  trap 'umount small; end' EXIT
  options[closest]="-o small/closest.npy"
  cp older small/closest.npy
  expect_exit 1 cast closest
  came_so_far closest "cannot write small/closest.npy: No space left on device"
  mount -o remount,ro small
  expect_exit 1 cast closest --resume
  expect_stderr "cannot write small/closest.npy: Read-only file system"
  expect_same small/closest.npy older
  mount -o remount,rw,size=80m small
  goes_on closest
  options[closest]="-o closest.npy"
else
  echo "not allowed to mount: no disk was full"
fi

# ---- the rays ----

# The rays are opened before the scene: while that is waited for, they lose their end.
mkfifo fifo
echo 0 0 0 1 1 1 >box.txt
cp rays.npy cut.npy
echo "an earlier result" >cut.out.npy
# expect_cut RAYS SIZE [OPTION...]
expect_cut() {
  "$SLABCAST" cast --boxes fifo --rays "$1" -o cut.out.npy "${@:3}" 2>err >out &
  local job=$! got=0
  exec 3>fifo # opens as soon as the scene is read
  truncate -s "$2" "$1"
  cat box.txt >&3
  exec 3>&-
  wait "$job" || got=$?
  [[ $got == 1 ]] || fail "of rays cut short it ended with $got: $(cat err)"
}
expect_cut cut.npy $(($(stat -c %s rays.npy) - 100000 * 32 - 5))
expect_stderr "cut.npy: truncated: it ends after 27 bytes of row 1299999, a row has 32" \
  "$batch of $count rays were written before" "cut.out.npy.part is kept for --resume"
expect_same cut.out.npy older
cp rays.npy cut.npy
expect_exit 0 slabcast cast --boxes box.txt --rays cut.npy -o cut.out.npy --resume --json summary.json
grep -qE '"resumed": [1-9]' summary.json || fail "it does not go on from the part: $(cat summary.json)"
expect_exit 0 slabcast cast --boxes box.txt --rays rays.npy -o whole.cut --out npy
expect_same cut.out.npy whole.cut

# Lines that were counted before are missed.
slabcast rays random "${scene[@]}" --count 20000 -o lines.txt
expect_cut lines.txt "$(head -n 15000 lines.txt | wc -c)" --shard 1/2
expect_stderr "lines.txt: truncated: it ends after 15000 of 20000 rays"
