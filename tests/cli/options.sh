#!/usr/bin/env bash
# options.sh MAKE_NPY: options that change the answers: segments, 2D, ranges, masks, culling, face-forward, points; and
# those that do not: the tree, the order of the options, the summary.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
make_npy=$1
row=()
make_row "$make_npy"

# gives CSV OPTION...: the rows of a checked cast, without the names.
gives() {
  local csv=$1
  shift
  expect_exit 0 slabcast cast --out csv -o - --check "$@"
  expect_text "$csv" <(tail -n +2 out)
}
ray=("${row[@]}" --rays ray.txt)

# ---- ranges: both ends belong to them, and the option wins over the row ----
gives 5 "${ray[@]}" --query count
gives 4 "${ray[@]}" --query count --t-min 3
gives 9 "${ray[@]}" --query distance --t-min 9
gives inf "${ray[@]}" --query distance --t-max 1.5
gives 2 "${ray[@]}" --query distance --t-max 2
gives 3 "${ray[@]}" --query count --t-min 5 --t-max=12.5
echo -5 0.5 0.5 5 1 0 0 2 >empty.txt
gives inf "${row[@]}" --rays empty.txt --query distance
echo 20 0.5 0.5 0 1 0 0 5 >behind.txt
gives inf "${row[@]}" --rays behind.txt --query distance
gives -23 "${row[@]}" --rays behind.txt --query distance --t-min -inf

# ---- masks: one bit for each geometry ----
gives 5 "${ray[@]}" --query distance --mask 1
gives 9 "${ray[@]}" --query distance --mask 0x2
gives 15 "${ray[@]}" --query distance --mask 4
gives 12.5 "${ray[@]}" --query distance --mask 0x8
gives 2 "${ray[@]}" --query distance --mask 16
gives 3 "${ray[@]}" --query count --mask 0x15
gives 5 "${ray[@]}" --query count --mask 0xffffffff
gives 0 "${ray[@]}" --query any --mask 32

# ---- culling drops crossings: with the front culled a solid shows its exit ----
gives '0,5,-1,0,0,0,0,0,0
0,9,-1,0,0,0,0,0,1
0,12.5,-1,0,0,3,0,0,3' "${ray[@]}" --query all --cull back
gives '0,2,1,0,0,0.25,0.25,0,4
0,6,1,0,0,1,0,0,0
0,11,1,0,0,0,0,0,1
0,13.5,1,0,0,2,0,0,3
0,15,1,0,0,0,0,0,2' "${ray[@]}" --query all --cull front
gives '0,2,-1,0,0,0.25,0.25,0,4
0,5,-1,0,0,0,0,0,0
0,9,-1,0,0,0,0,0,1
0,12.5,-1,0,0,3,0,0,3
0,15,-1,0,0,0,0,0,2' "${ray[@]}" --query all --face-forward

# ---- points ----
gives '2,1,0,0,0.25,0.25,0,4,-3,0.5,0.5' "${ray[@]}" --points
gives '5,6,0,0,0,0.5,0.5,1,0.5,0.5' "${ray[@]}" --query interval --t-min 4 --points
gives 'inf,inf,inf,inf' "${ray[@]}" --query distance --t-max 1 --points
expect_exit 0 slabcast cast "${ray[@]}" --query interval --points -o points.npy
head -c 400 points.npy | grep -aqF "('enter_x', '<f4'), ('enter_y', '<f4'), ('enter_z', '<f4'), ('leave_x'" || fail "no fields for points"
npy_data points.npy | cmp - <(echo 2 2 0 4 -3 0.5 0.5 -3 0.5 0.5 | "$make_npy" ffuuffffff) || fail "points in npy are others"

# ---- segments: t is the fraction of the way ----
echo -5 0.5 0.5 11 0.5 0.5 >segment.txt
gives '0.125,1,0,0,0.25,0.25,0,4' "${row[@]}" --segments --rays segment.txt
gives 5 "${row[@]}" --segments --rays segment.txt --query count
gives '0.3125,0.375,0,0' "${row[@]}" --segments --rays segment.txt --query interval --mask 1
echo 0.25 0.5 0.5 0.75 0.5 0.5 >inside.txt
gives inf "${row[@]}" --segments --rays inside.txt --query distance
gives '0,1,0,0' "${row[@]}" --segments --rays inside.txt --query interval

# ---- 2D: boxes without an end in z, rays and segments in the plane ----
echo 1 -1 2 1 4 -1 5 1 | "$make_npy" f '<f4' '(2, 4)' False >boxes2d.npy
echo 0 0 1 0 >ray2d.txt
gives '0,1,-1,0,0,0,0,0,0
0,4,-1,0,0,0,0,1,0' --boxes boxes2d.npy --rays ray2d.txt --query all
echo 3 0 -1 0 | "$make_npy" d '<f8' '(1, 4)' False >ray2d.npy
gives '1,2,0,0' --boxes boxes2d.npy --rays ray2d.npy --query interval
echo 0 0 8 0 >segment2d.txt
gives '0.125,-1,0,0,0,0,0,0,1,0,0' --boxes boxes2d.npy --segments --rays segment2d.txt --points
echo 0 0 7 0 0 1 >upwards.txt
gives inf --boxes boxes2d.npy --rays upwards.txt --query distance

# ---- what changes nothing ----
slabcast rays random "${row[@]}" --count 2000 -o rays.npy
slabcast cast "${row[@]}" --rays rays.npy -o plain.npy
for tree in default flat fast high; do
  slabcast cast "${row[@]}" --rays rays.npy --tree "$tree" -o other.npy
  expect_same plain.npy other.npy
done
for tree in flat high; do # layouts take other room on the device, and that is all
  for layout in wide compressed; do
    slabcast cast "${row[@]}" --rays rays.npy --tree "$tree" --layout "$layout" -o other.npy --json "$layout.json"
    expect_same plain.npy other.npy
    grep '"device_bytes"' "$layout.json" >"$layout.bytes"
  done
  expect_other wide.bytes compressed.bytes
done
for option in --check "--json $work/o.json" "--device 0" "--mask 31" "--cull none" "--t-min 0" "--t-max inf" "--out=npy"; do
  # shellcheck disable=SC2086 # several words
  expect_exit 0 slabcast cast $option "${row[@]}" --rays rays.npy -o other.npy
  expect_same plain.npy other.npy
done
slabcast cast --rays=rays.npy -o other.npy "${row[@]}"
expect_same plain.npy other.npy
expect_exit 0 slabcast cast "${row[@]}" --rays rays.npy --cull front -o other.npy
expect_other plain.npy other.npy

# ---- threads of the host: so many build a tree ----
# It waits for more rays, with its scene built. tasks [NUMBER]: its threads, once their number has been the same for a second,
# and is NUMBER.
mkfifo rays.fifo
tasks() {
  local count before=0 same=0 tries=0
  while ((same < 10 && tries++ < 600)); do
    sleep 0.1
    count=$(find "/proc/$waiting/task" -mindepth 1 -maxdepth 1 | wc -l)
    if ((count == before && count == ${1:-count} && count > 1)); then ((++same)); else same=0; fi
    before=$count
  done
  echo "$before"
}
# with_threads N [NUMBER]: prints the result of tasks for a cast with --threads N.
with_threads() {
  local waiting
  "$SLABCAST" cast --builtin terrain:60000 --rays - --in raw --threads "$1" -o other.npy <rays.fifo >/dev/null &
  waiting=$!
  exec 3>rays.fifo
  head -c 3200 /dev/zero >&3
  tasks "${@:2}"
  exec 3>&-
  wait "$waiting"
}
if [[ -e /proc/self/task ]]; then
  alone=$(with_threads 1)
  for threads in 2 3; do
    seen=$(with_threads "$threads" $((alone + threads - 1)))
    ((seen == alone + threads - 1)) || fail "--threads $threads: $seen tasks, and $alone with one thread"
  done
fi
