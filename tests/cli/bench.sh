#!/usr/bin/env bash
# bench.sh [FLIP_LAYER STRETCH_LAYER PRETENDING_LAYER]: the benchmark prints and writes what it measured and compares it
# with another run; and of memory, that nothing is transferred by a processor. With the layers, on OpenCL, it has no figures where an answer is wrong, or a ceiling slower than what
# is under it. Without, on the processor, which has no transfers and no kernels without the call.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
flip=${1-} stretch=${2-} pretend=${3-}
quick=(bench --quick --seconds 0 --processor-time)
ceilings=(add-mul min-max slab-test memory-read memory-copy launch)
rate='[0-9.]+ \( *[0-9.]+, +[0-9]+%\)'
if [[ -n $flip ]]; then
  ceilings+=(upload download)
  platform='' alone=" +$rate \\|"
else
  platform='Slabcast processor' alone='' # no kernels without the call, and no column for them
fi

# ---- a run ----
expect_exit 0 slabcast "${quick[@]}" --group scene --csv a.csv --json a.json
[[ ! -s err ]] || fail "it says on stderr: $(cat err)"
for name in "${ceilings[@]}"; do
  grep -qE "^$name .* \| +[0-9.]+ \( *[0-9.]+, +[0-9]+%\) \| (Gop|GB|k)/s" out || fail "no row of $name: $(cat out)"
  grep -q "\"name\": \"$name\"" a.json || fail "$name is not in the JSON"
  grep -q ",ceiling,$name,.*,[1-9][0-9.]*," a.csv || fail "$name is not in the CSV"
done
grep -qE "^device .*, $platform" out || fail "another device: $(head -n 1 out)"
rows=("flat boxes +1000 random +closest +10000 | [0-9.]+ | +[0-9.]+ % " "tree boxes +10000 random +closest +16384 | +- | +- "
  "tree triangles +9788 random +closest +16384 | +- | +- ")
for row in "${rows[@]}"; do
  IFS='|' read -r what tests share <<<"$row"
  grep -qE "^$what\| +$rate \|$alone +$tests\|$share\| (arithmetic|memory|launch|latency) +\| +[0-9]+ %$" out ||
    fail "no row \"$what\": $(cat out)"
done
[[ $(grep -c '"layout"' a.json) == 10 ]] || fail "not 10 casts in the JSON"
for key in device platform driver version compiler commit date time clock_hz verdict; do
  grep -qE "^  \"$key\": (\"[^\"]+\"|[0-9.e+]+)" a.json || fail "no $key in the JSON"
done
[[ $(grep -c '"checked": [1-9]' a.json) == 10 && $(grep -c '"wrong": false' a.json) == 10 ]] || fail "casts are not checked"
[[ $(grep -vc '"' a.csv) == 1 && $(wc -l <a.csv) == $((${#ceilings[@]} + 11)) ]] ||
  fail "the CSV has not a head, ${#ceilings[@]} ceilings and 10 casts"
[[ $(sed 's/"[^"]*"//g; s/[^,]//g' a.csv | sort -u | wc -l) == 1 ]] || fail "rows of the CSV differ in length"

# ---- the kinds of memory, where nothing is transferred ----
expect_exit 0 slabcast "${quick[@]}" --group transfer --csv t.csv
expect_stdout "in the memory of the host, whatever its kind: nothing is transferred."
for query in closest distance any; do
  for rays in 1000 10000; do
    grep -qE "^$query +ordinary +$rays \| +$rate \| +- \| +- \| +([0-9.]+ \| +[0-9.]+ % \| kernel|- \| +- \| -)$" out ||
      fail "no $query of $rays rays: $(cat out)"
  done
done
[[ $(grep -c ',transfer,.*,ordinary,,,' t.csv) == 6 && $(grep -c ,pinned, t.csv) == 0 ]] || fail "not 6 casts: $(cat t.csv)"

# ---- to a reader that has gone away ----
expect_exit 141 to_nobody default "$SLABCAST" "${quick[@]}" --group scene
[[ ! -s err ]] || fail "to nobody it says on stderr: $(cat err)"

# ---- against another run, of before memory was reported ----
sed '/"memory": "ordinary",/d' a.json >old.json
[[ $(($(wc -l <a.json) - $(wc -l <old.json))) == 10 ]] || fail "the JSON does not tell each cast's memory: $(cat a.json)"
expect_exit 0 slabcast "${quick[@]}" --group scene,batch --compare old.json
expect_stdout "Compared with 20" "6 casts were not measured then"
ratio=' \| +[0-9.]+ +[0-9.]+ +[0-9.]+'
[[ $(grep -cE "^scene +(flat|tree) .*$ratio${flip:+$ratio\$}" out) == 10 ]] || fail "not 10 ratios: $(cat out)"
for name in "${ceilings[@]}"; do
  grep -qE "^$name +[A-Za-z]+/s +\| +[0-9.]+ +[0-9.]+ +[0-9.]+$" out || fail "no ratio of $name: $(cat out)"
done
echo '{"cells": 3}' >other.json
head -c 300 a.json >torn.json
expect_refusal 1 'cannot compare with other.json: it is no JSON of' slabcast bench --compare other.json
expect_refusal 1 'cannot compare with torn.json: line ' slabcast bench --compare torn.json
expect_refusal 1 'cannot compare with none.json: ' slabcast bench --compare none.json

[[ -n $flip ]] || exit 0

# ---- wrong answers ----
# The reads before casts: four downloads.
flipped() {
  OPENCL_LAYERS=${OPENCL_LAYERS:+$OPENCL_LAYERS:}$flip SLAB_FLIP=$1:0 SLAB_FLIP_FILE=$work/flips \
    expect_exit 3 slabcast "${quick[@]}" --group batch --csv b.csv --json b.json
  grep -q ' 1 flipped' flips || fail "the layer flipped nothing: $(cat flips)"
  rm flips
}
flipped 4
expect_stderr "bench: memory: word 0 went to the device as 0x1 and came back as 0x0"
expect_no b.csv b.json
flipped 5
expect_stderr "bench: flat distance of 1000 boxes, random rays in ordinary memory: the check: "
expect_stdout "wrong answers: the figures do not count"
[[ $(grep -c '"wrong": true' b.json) == 1 && $(grep -c ',batch,' b.csv) == 5 ]] || fail "it is not marked: $(cat b.csv)"
grep -q '"verdict": "wrong"' b.json || fail "no such verdict"
flipped 6
expect_stderr "the second warm-up: other answers than"

# ---- a GPU that allows small groups: the kinds of memory, and the slowest way of each ----
on_gpu() {
  OPENCL_LAYERS=${OPENCL_LAYERS:+$OPENCL_LAYERS:}$pretend SLAB_PRETEND=0.type:gpu,kernel-group:100 SLAB_PRETEND_FILE=$work/pretences \
    "$SLABCAST" bench --quick --seconds 0 --group transfer "$@"
}
expect_exit 0 on_gpu --csv g.csv --json g.json
grep -q 'groups of 1 to 64; .* refused: 0$' pretences || fail "$(cat pretences)"
both='[0-9.]+ \( *[0-9.]+\)'
for memory in ordinary pinned; do
  [[ $(grep -cE "^(closest|distance|any) +$memory +10*00 \| +$rate \| +$both \| +$both \| +[0-9.]+ \| +[0-9.]+ % \| (upload|download|kernel)$" out) == 6 ]] ||
    fail "not 6 casts in $memory memory: $(cat out)"
done
# Bytes each way are those of a ray and a result, and the ceiling is the slowest measured part.
awk -F'",' 'function about(a, b) { return a > 0.999 * b && a < 1.001 * b }
  NR == 1 { next }
  { split($NF, f, ",") }
  f[3] == "ceiling" { rate[f[4]] = f[10]; next }
  {
    down = f[8] == "closest" ? 32 : f[8] == "distance" ? 4 : 1
    least = f[13]; way = "kernel"
    if (1e3 * rate["upload"] / 32 < least) { least = 1e3 * rate["upload"] / 32; way = "upload" }
    if (1e3 * rate["download"] / down < least) { least = 1e3 * rate["download"] / down; way = "download" }
    if (!about(f[23], 32e-3 * f[10]) || !about(f[24], 1e-3 * down * f[10]) || f[25] != way || !about(f[26], least)) exit 1
    n++
  }
  END { exit n != 12 }' g.csv || fail "other bytes or another ceiling: $(cat g.csv)"
# Four reads each: of the second cast, in pinned memory, the one that is timed.
OPENCL_LAYERS=${OPENCL_LAYERS:+$OPENCL_LAYERS:}$flip SLAB_FLIP=11:0 SLAB_FLIP_FILE=$work/flips expect_exit 3 on_gpu --compare g.json
expect_stderr "bench: tree closest of 9788 triangles, random rays in pinned memory: a timed round: other answers"
[[ $(grep -cE "^transfer tree .* (ordinary|pinned) .*$ratio$ratio$" out) == 11 ]] || fail "not 11 ratios: $(cat out)"

# ---- ceilings that are none ----
stretched() {
  OPENCL_LAYERS=${OPENCL_LAYERS:+$OPENCL_LAYERS:}$stretch SLAB_STRETCH=$2 SLAB_STRETCH_FILE=$work/stretches \
    expect_exit "$1" slabcast bench --quick --seconds 0.001 --processor-time --group batch --json c.json
  grep -qE ' [1-9][0-9]* launches stretched' stretches || fail "the layer stretched nothing"
}
stretched 1 slab_mix:16
expect_stderr "bench: faster than a ceiling allows"
expect_stdout "error: faster than its ceiling"
grep -q '"verdict": "error"' c.json || fail "no such verdict"
if grep -q '"name": "add-mul".*"clock_x_width": [0-9]' <(tr -d '\n' <a.json); then
  stretched 0 add_mul:4
  expect_stdout "void: less than 85 % of clock x width"
  grep -q '"verdict": "void"' c.json || fail "no such verdict"
fi
