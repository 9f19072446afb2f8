#!/usr/bin/env bash
# tables.sh: devices, info and the summary of cast, as tables and as JSON that a parser takes.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1

# expect_json FILE KEY...: it is JSON, and holds the keys. Without python3 only the keys are looked for.
expect_json() {
  local file=$1 key
  shift
  if command -v python3 >/dev/null; then python3 -m json.tool "$file" >/dev/null || fail "$file is not JSON: $(cat "$file")"; fi
  for key in "$@"; do grep -q "\"$key\":" "$file" || fail "$file does not have \"$key\": $(cat "$file")"; done
}
expect_value() { grep -qE "\"$2\": $3,?$" "$1" || fail "$1: $2 is not $3: $(grep "\"$2\"" "$1")"; }

# ---- devices ----
expect_exit 0 slabcast devices
[[ ! -s err ]] || fail "devices says something on stderr: $(cat err)"
head -n 1 out | grep -qE '^ *# +name +type +units +MHz +memory +lanes +exact$' || fail "devices has another head"
grep -qE '^ *0  .+ (CPU|GPU|other) +[0-9]+ ' out || fail "devices lists no device 0"
table=$(grep -cE '^ *[0-9]+  .+ (CPU|GPU|other) +[0-9]+ ' out)
awk 'length > 100 { exit 1 }' out || fail "devices has lines longer than 100"
expect_exit 0 slabcast devices --json
expect_json out index name type vendor driver version platform compute_units clock_mhz memory_bytes allocation_bytes \
  lane_width denormals rounds_to_nearest exact_divide
[[ $(grep -c '"index":' out) == "$table" ]] || fail "the table has $table devices, JSON $(grep -c '"index":' out)"

# A device by its number, by a part of its name in any case, by its type.
name=$(sed -n 's/^ *"name": "\(.*\)",$/\1/p' out | sed -n 1p)
type=$(sed -n 's/^ *"type": "\(.*\)",$/\1/p' out | sed -n 1p)
for device in 0 "$name" "${name:0:5}" "${name^^}" "${type,,}"; do
  expect_exit 0 slabcast info --builtin boxes:1 --device "$device"
  expect_stdout "$name"
done

# ---- info ----
scene=(--builtin boxes:40 --builtin spheres:30 --builtin obbs:20 --builtin planes:10 --builtin soup:50)
expect_exit 0 slabcast info "${scene[@]}"
for row in 'geometries +5' 'triangles +50' 'boxes +40' 'obbs +20' 'spheres +30' 'planes +10' \
  'lower( +[-+.0-9e]+){3}' 'upper( +[-+.0-9e]+){3}' 'host +[0-9.]+ KiB' 'device +[0-9.]+ KiB' 'built in +[0-9.]+ s'; do
  grep -qE "^$row\$" out || fail "info has no row \"$row\": $(cat out)"
done
awk 'length > 80 { exit 1 }' out || fail "info has lines longer than 80"
expect_exit 0 slabcast info "${scene[@]}" --json
expect_json out device geometries "${kinds[@]}" lower upper host_bytes device_bytes tree_depth \
  sah_cost node_occupancy block_occupancy build_seconds
for value in geometries:5 triangles:50 boxes:40 obbs:20 spheres:30 planes:10; do
  expect_value out "${value%:*}" "${value#*:}"
done
expect_exit 0 slabcast info --builtin planes:3
grep -qE '^bounds +none$' out || fail "planes have bounds: $(cat out)"
expect_exit 0 slabcast info --builtin planes:3 --json
expect_value out lower null

# ---- the summary of a cast ----
printf '0 0 -9 0 0 1\n5 0 -9 0 0 1\n0 0 0 0 0 0\n' >rays.txt
printf '%s\n' '-1 -1 -1 1 1 1' '-1 -1 2 1 1 3' >box.txt
expect_exit 0 slabcast cast --boxes box.txt --rays rays.txt --query count --check --json summary.json
expect_json summary.json device query rays resumed hits invalid crossings seconds prepare_seconds rays_per_second build_seconds \
  total_seconds checked mismatches oracle_rays oracle_wrong oracle_undecided
for value in query:'"count"' rays:3 invalid:1 checked:3 mismatches:0 oracle_wrong:0 resumed:0 hits:1 crossings:2; do
  expect_value summary.json "${value%%:*}" "${value#*:}"
done
for query in closest distance any all interval nearest; do
  expect_exit 0 slabcast cast --boxes box.txt --rays rays.txt --query "$query" --json -
  expect_json out device query rays hits
  expect_value out query "\"$query\""
done
expect_exit 0 slabcast cast --boxes box.txt --rays /dev/null --json -
expect_json out rays
expect_value out rays 0
expect_exit 0 slabcast cast --boxes box.txt --rays rays.txt -o - --out csv --json summary.json
expect_stdout t,normal_x
expect_json summary.json rays

# ---- the lines of a cast: without -o they are all that comes ----
echo 0 0 -9 0 0 1 >one.txt
expect_exit 0 slabcast cast --boxes box.txt --rays one.txt
[[ ! -s out ]] || fail "without -o something is printed on stdout: $(cat out)"
grep -qE '^1 ray, 1 hit on .+: answers after [0-9.]+ (us|ms|s)$' err || fail "another summary of one ray: $(cat err)"
[[ $(wc -l <err) == 1 ]] || fail "more is told than the summary: $(cat err)"
expect_exit 0 slabcast cast --boxes box.txt --rays one.txt --check
grep -qE '^1 ray checked, 0 mismatches \(' err || fail "another line of the check: $(cat err)"
# Without -o, --check and --json nothing goes into a pipe, and a warning says so.
for query in closest count all; do
  slabcast cast --boxes box.txt --rays one.txt --query $query 2>err | cat >out
  [[ ! -s out ]] || fail "without -o something goes to the pipe: $(head -c 100 out)"
  expect_stderr "warning: without -o results are only counted, and nothing goes to the pipe; -o - writes them there"
done
for options in --check "--json -" "--json summary.json" "-o -" "-o hits.csv"; do
  # shellcheck disable=SC2086 # several words
  slabcast cast --boxes box.txt --rays one.txt $options 2>err | cat >out
  grep -q 'nothing goes to the pipe' err && fail "$options: $(cat err)"
done
echo 0 0 0 0 0 0 >none.txt
expect_exit 0 slabcast cast --boxes box.txt --rays none.txt
expect_stderr "warning: 1 of 1 ray is invalid and hits nothing (" "); the first is ray 0"
expect_exit 0 slabcast cast --boxes box.txt --rays rays.txt
expect_stderr "3 rays, 1 hit on " "1 of 3 rays is invalid and hits nothing"
echo 1 2 >short.txt
expect_refusal 1 "short.txt: rows of 2 numbers" slabcast cast --boxes box.txt --rays short.txt
echo 1 >short.txt
expect_refusal 1 "short.txt: rows of 1 number; " slabcast cast --boxes box.txt --rays short.txt
printf '1 2 3 4\n1\n' >short.txt
expect_refusal 1 "short.txt: line 2 holds 1 number, the lines before it 4" slabcast cast --boxes box.txt --rays short.txt

# The rate is that of casting, without the time to the first answers: compiling, here.
slabcast rays random --boxes box.txt --count 600000 -o many.npy
POCL_CACHE_DIR=$(mktemp -d -p "$work")
export POCL_CACHE_DIR
expect_exit 0 slabcast cast --boxes box.txt --rays many.npy --json summary.json
number='[0-9.e+-]+' time='[0-9.]+ (us|ms|s)'
grep -qE "^600000 rays, [0-9]+ hit on .+: first answers after $time, the others in $time, $number Mrays/s\$" err ||
  fail "another summary: $(cat err)"
told() { sed -nE "s/^ *\"$1\": ($number),?\$/\1/p" summary.json; }
awk -v rate="$(told rays_per_second)" -v seconds="$(told seconds)" -v prepare="$(told prepare_seconds)" 'BEGIN {
  exit !(prepare > 0 && seconds > prepare && rate * seconds > 1.2 * 600000 && rate * (seconds - prepare) < 600000) }' ||
  fail "the rate is not that of casting alone: $(cat summary.json)"
