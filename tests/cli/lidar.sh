#!/usr/bin/env bash
# lidar.sh [FLIP_LAYER]: a sensor's points and results are those that cast has of the same rays in a file, which the
# contract's formula makes here. Returns are single and multiple, turning or not, in slices, resumed after a kill. With
# the layer: --check notices a wrong bit.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
tool=$(dirname "${BASH_SOURCE[0]}")/lidar.py
layer=${1-}
scene=(--builtin soup:300)
beams=11

# same_points NAME QUERY_OPTIONS -- LIDAR_OPTION...: NAME.ply holds the hits of the rays in $rays. It sets $points and
# $most. npy of both is the same.
same_points() {
  local name=$1
  local -a query=()
  shift
  while [[ $1 != -- ]]; do
    query+=("$1")
    shift
  done
  slabcast cast "${scene[@]}" --rays "$rays" --points -o "$name.csv" "${query[@]}"
  slabcast cast "${scene[@]}" --rays "$rays" -o "$name.npy" "${query[@]}"
  expect_exit 0 slabcast lidar "${scene[@]}" "${@:2}" -o "$name.ply" --check
  expect_stderr " 0 mismatches (oracle: " " 0 wrong"
  if grep -q '^0 rays checked' err; then fail "nothing was checked: $name"; fi
  expect_exit 0 slabcast lidar "${scene[@]}" "${@:2}" -o "$name.again.npy"
  expect_same "$name.npy" "$name.again.npy"
  expect_exit 0 slabcast lidar "${scene[@]}" "${@:2}" -o "$name.again.csv" --points
  expect_same "$name.csv" "$name.again.csv"
  read -r points most < <(python3 -B "$tool" same "$name.ply" "$name.csv" $beams) || fail "$name.ply: other points"
}

# ---- the points of the same rays: beams of angles and of six numbers, poses that turn and that do not ----
for spin in 0 9; do
  python3 -B "$tool" tables $spin $beams 8 $spin .
  turn=()
  if ((spin > 0)); then turn=(--spin "$spin"); fi
  rays=rays.txt
  same_points "angles$spin" -- --beams beams.csv --poses poses.txt "${turn[@]}"
  ((points > 20 && most == 1)) || fail "$points points, of $most returns, show little"
  rays=six_rays.txt
  same_points "six$spin" --t-min 0.05 --t-max 0.8 -- --beams six.txt --poses poses.txt "${turn[@]}" --range 0.05,0.8
  single=$points
  same_points "returns$spin" --t-min 0.05 --t-max 0.8 --query all --max-hits 3 -- \
    --beams six.txt --poses poses.txt "${turn[@]}" --range 0.05,0.8 --returns 3
  expect_same "returns$spin.npy.offsets.npy" "returns$spin.again.npy.offsets.npy"
  ((points > single && most == 3)) || fail "$points points, of $most returns, show little beside $single"
done
lidar=(lidar "${scene[@]}" --beams six.txt --poses poses.txt --spin 9 --range "0.05,0.8")
expect_exit 0 slabcast "${lidar[@]}" -o - --out npy
expect_same six9.npy out
expect_exit 0 slabcast "${lidar[@]}" --poses - -o piped.ply <poses.txt
expect_same six9.ply piped.ply
for edges in half-open closed; do
  slabcast cast "${scene[@]}" --rays rays.txt --cull back --face-forward --edges $edges -o culled.npy
  slabcast lidar "${scene[@]}" --beams beams.csv --poses poses.txt --spin 9 --cull back --face-forward --edges $edges -o culled.again.npy
  expect_same culled.npy culled.again.npy
done
expect_other culled.npy angles9.npy

# ---- beams that lie evenly, and one column alone ----
printf 'elevation\n-20\n-15\n-10\n-5\n0\n' >even.csv
tail -n +2 even.csv >even.txt
for even in "--fan 5,-20,0" "--beams even.csv" "--beams even.txt"; do
  read -ra even <<<"$even"
  expect_exit 0 slabcast lidar "${scene[@]}" "${even[@]}" --spin 60 -o even.npy
  if [[ -e before.npy ]]; then expect_same before.npy even.npy; fi
  mv even.npy before.npy
done
printf '%s\n' "0 0 0 1 0 0" >one.txt
slabcast cast "${scene[@]}" --rays one.txt -o one.npy
slabcast lidar "${scene[@]}" --fan 1,0,50 -o fan.npy
expect_same one.npy fan.npy

# ---- slices: joined they are the whole, and record their cast; a firing may be cut in two ----
for returns in "" "--returns 2"; do
  whole=("${lidar[@]}")
  if [[ -n $returns ]]; then whole+=(--returns 2); fi
  slabcast "${whole[@]}" -o whole.npy
  slabcast "${whole[@]}" -o whole.ply
  for i in 0 1; do
    slabcast "${whole[@]}" --shard $i/2 -o shard.$i.npy
    slabcast "${whole[@]}" --shard $i/2 -o shard.$i.ply
  done
  slabcast join shard.0.npy shard.1.npy -o joined.npy
  expect_same whole.npy joined.npy
  if [[ -n $returns ]]; then expect_same whole.npy.offsets.npy joined.npy.offsets.npy; fi
  for i in 0 1; do sed '1,/^end_header$/d' shard.$i.ply; done | cmp - <(sed '1,/^end_header$/d' whole.ply) || fail "slices hold other points"
done
slabcast "${lidar[@]}" --returns 2 --range 0.06,0.8 --shard 1/2 -o other.npy
expect_refusal 1 "other.npy" slabcast join shard.0.npy other.npy -o x.npy

# ---- refusals ----
printf '1 0 0 0 0 1 0 0 0 0 1\n' >eleven.txt
printf '1 2 3\n' >three.txt
printf 'elevation,tilt\n1,2\n' >tilt.csv
printf '1\nnan\n' >nan.txt
: >empty.txt
refused() { expect_refusal "$1" "$2" slabcast lidar "${scene[@]}" "${@:3}"; }
refused 2 "the beams are missing: --beams or --fan"
expect_refusal 2 "the scene is missing" slabcast lidar --fan 3,0,1
refused 2 "--beams and --fan do not go together" --beams six.txt --fan 3,0,1
refused 2 "--beams - and --poses - cannot both come from stdin" --beams - --poses -
for fan in 0,1,2 1.5,1,2 65537,1,2 3,1 3,1,inf 3,nan,1 3,1,2,3 x; do
  refused 2 "option --fan: \"$fan\" is not N,LOW,HIGH: a whole number from 1 to 65536 and two elevations" --fan "$fan"
done
refused 1 "--fan: slab_beams: elevation 1 is 5e+06 degrees; up to 1e6 are allowed" --fan 3,1,1e7
for range in 3,2 3 3,nan nan,3 1,2,3 x; do
  refused 2 "option --range: \"$range\" is not two numbers MIN,MAX, the first not above the second" --fan 3,0,1 --range "$range"
done
refused 2 'option --spin: "0" is not a whole number from 1 to 16777216' --fan 3,0,1 --spin 0
refused 2 'option --returns: "0" is not a whole number from 1' --fan 3,0,1 --returns 0
refused 1 "eleven.txt: rows of 11 numbers; transforms have 12 or 16" --fan 3,0,1 --poses eleven.txt
refused 1 "three.txt: rows of 3 numbers; beams have 1 (elevation), 2 (elevation, azimuth) or 6 (origin, direction)" --beams three.txt
refused 1 'tilt.csv: line 1: beams have no column "tilt", they have elevation azimuth' --beams tilt.csv
refused 1 "nan.txt: slab_beams: elevation 1 is nan degrees" --beams nan.txt
refused 1 "empty.txt holds no beams" --beams empty.txt
refused 1 "empty.txt holds no poses" --fan 3,0,1 --poses empty.txt
refused 1 "cannot read missing.txt: No such file" --beams missing.txt
for ((i = 0; i < 300; i++)); do echo 1 0 0 0 0 1 0 0 0 0 1 0; done >many.txt
refused 1 "300 poses with a turn of 16777216 firings each are more than 4294967295 firings" --fan 3,0,1 --poses many.txt --spin 16777216
refused 2 "--returns writes two files: -o - works with --out csv or text" --fan 3,0,1 --returns 2 -o - --out npy
refused 2 "-o -: ply begins with the number of its points" --fan 3,0,1 -o - --out ply
for input in six.txt poses.txt; do
  refused 1 "cannot write $input: it is the input $input" --beams six.txt --poses poses.txt -o $input
done

# ---- poses that make no rays ----
printf '%s\n' "nan 0 0 0 0 1 0 0 0 0 1 0" "1 0 0 0 0 1 0 0 0 0 1 0" >nan_pose.txt
expect_exit 0 slabcast lidar "${scene[@]}" --fan 2,-5,5 --poses nan_pose.txt -o nan.ply
expect_stderr "2 of 4 rays are invalid and hit nothing (NaN: 2, infinite: 0" "the first is ray 0"

if [[ -n $layer ]]; then
  OPENCL_LAYERS=${OPENCL_LAYERS:+$OPENCL_LAYERS:}$layer SLAB_FLIP=1:0 SLAB_FLIP_FILE=$work/flips \
    expect_exit 3 slabcast "${lidar[@]}" --check -o flipped.ply
  grep -q ' 1 flipped' flips || fail "the layer flipped nothing: $(cat flips)"
  expect_stderr "slabcast: mismatch at ray " " 1 mismatch ("
fi

# ---- killed: from the part to the same bytes, over batches that end within a turn. Answers are the same on every
# backend, and one shows it. ----
[[ $SLABCAST_BACKENDS == native ]] || exit 0
has_bytes() { [[ -e $1 && $(stat -c %s "$1") -ge $2 ]]; }
long=(lidar --builtin boxes:60 --fan "7,-60,60" --poses poses.txt --spin 40009)
for kind in "ply --returns 2" "npy"; do
  read -ra kind <<<"$kind"
  slabcast "${long[@]}" "${kind[@]:1}" -o "whole.${kind[0]}"
  "$SLABCAST" "${long[@]}" "${kind[@]:1}" --check -o "killed.${kind[0]}" 2>/dev/null &
  job=$! code=0
  wait_until 30 has_bytes "killed.${kind[0]}.part" 4000000
  kill -KILL $job
  wait $job 2>/dev/null || code=$?
  [[ $code == 137 ]] || fail "the cast was over before it was killed, with $code"
  expect_exit 0 slabcast "${long[@]}" "${kind[@]:1}" -o "killed.${kind[0]}" --resume --json summary.json
  expect_same "whole.${kind[0]}" "killed.${kind[0]}"
  grep -qE '"resumed": [1-9]' summary.json || fail "it did not go on from the part: $(cat summary.json)"
done
expect_refusal 1 "killed.npy" slabcast "${long[@]}" --range 0,0.5 -o killed.npy --resume
