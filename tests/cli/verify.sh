#!/usr/bin/env bash
# verify.sh [FLIP_LAYER]: the conformance run passes here, reports its work, and does the same again by its seed. With
# the layer each of its groups fails, with code 3, where one bit of the answers flips. The layer is of OpenCL, which
# compiles programs for every kind alone: there one kind is tested for all of them, which differ in a row of a table.
# Worlds and far scenes take a minute's compiling more, and test_worlds and test_far have them there.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
layer=${1:-}
if [[ -n $layer ]]; then kinds=("${kinds[-1]}"); fi
groups=(closest distance any count all interval nearest agreement "${kinds[@]}" mask masks after skip cull closed first segments ranges pairs trees moving
  instances sets points inside edges rooms invalid garbage)
if [[ -z $layer ]]; then groups+=(worlds far); fi

# ---- a run ----
all=()
if [[ -n $layer ]]; then all=(--group "$(IFS=, && echo "${groups[*]}")"); fi
expect_exit 0 slabcast verify --rays 20000 "${all[@]}" --json report.json
[[ ! -s err ]] || fail "it says on stderr: $(cat err)"
cp out table
for group in "${groups[@]}"; do
  grep -qE "^$group +[0-9]+ +[0-9]+ +0 +[0-9.]+( |$)" table || fail "no row of $group without failures: $(cat table)"
  grep -q "\"name\": \"$group\"" report.json || fail "$group is not in the JSON"
done
grep -qE '^together +[0-9]+ +[0-9]+ +0 ' table || fail "no sum: $(cat table)"
[[ $(grep -c '"failures": 0' report.json) == $((${#groups[@]} + 1)) ]] || fail "failures in the JSON"
for group in closest distance any count all interval nearest agreement mask masks after skip cull closed first segments ranges trees moving sets points inside edges rooms invalid garbage; do
  grep -qE "^$group .* [1-9][0-9]* flat, [1-9][0-9]* wide, [1-9][0-9]* compressed" table || fail "$group does not meet every layout"
done
walked=$(sed -nE 's/^after .* ([0-9]+) hits walked.*/\1/p' table)
((walked >= 100)) || fail "after walked to $walked hits alone"
zeros=$(sed -nE 's/^edges .* ([0-9]+)\.[0-9] % exactly zero edge functions.*/\1/p' table)
((zeros >= 30)) || fail "of the edges only $zeros % are exact"

# ---- seeds ----
# answers FILE: the JSON without times.
answers() { grep -vE '"(seconds|x time.*|infinite|zero direction|subnormal .*|tiny origin)":' "$1"; }
again=(verify --rays 3000 --group "closest,edges,garbage")
expect_exit 0 slabcast "${again[@]}" --seed 7 --json one.json
expect_exit 0 slabcast "${again[@]}" --seed 7 --json two.json
expect_exit 0 slabcast "${again[@]}" --seed 8 --json other.json
expect_text "$(answers one.json)" <(answers two.json)
expect_other <(answers one.json) <(answers other.json)
[[ $(grep -c '"name"' one.json) == 3 ]] || fail "other groups than the three ran"

# ---- what rays have of their own ----
# Natively alone, enough rays for walks by every query: OpenCL would compile programs for each.
walks() {
  local rays=$1 asked=$2 walked
  expect_exit 0 slabcast verify --rays "$rays" --group "$asked"
  [[ ! -s err ]] || fail "of $asked it says on stderr: $(cat err)"
  walked=$(sed -nE "s/^(after|instances) .* ([0-9]+) hits walked.*/\2/p" out)
  ((walked >= 3000)) || fail "$asked walked to $walked hits alone"
}
if [[ -z $layer ]]; then
  walks 60000 masks,after
  walks 25000 instances
  expect_exit 0 slabcast verify --rays 20000 --group worlds
  expect_stdout " 0 " wide "judged"
fi

# ---- lanes ----
# Natively alone: OpenCL would compile every program of trees at two widths more, which test_bvh_answers does.
lanes() {
  local own width name others
  expect_exit 0 slabcast verify --rays 200 --group trees --lanes all --json lanes.json
  [[ ! -s err ]] || fail "with all lanes it says on stderr: $(cat err)"
  own=$(sed -n 's/^ *"lanes": \([0-9]*\),$/\1/p' lanes.json)
  for width in 1 8 16; do
    name="$width lanes wide"
    ((width > 1)) || name='one lane wide'
    others=$(sed -n "s/^ *\"$name\": \([0-9.e+]*\),*$/\1/p" lanes.json)
    if ! slabcast verify --rays 1 --group rooms --lanes "$width" >out 2>err; then
      expect_stderr "has no kernels of $width lane"
      [[ -z $others ]] || fail "$width lanes took part, which are not there"
    elif ((width == own)); then
      [[ -z $others ]] || fail "of $width lanes, the device's own, there are two: $(cat lanes.json)"
    else
      grep -qE '^[1-9]' <<<"$others" || fail "$width lanes took no part: $(cat lanes.json)"
    fi
  done
}
[[ -n $layer ]] || lanes

# ---- refusals ----
expect_refusal 2 'option --group: there is no group "edge"' slabcast verify --group rooms,edge
expect_refusal 2 'option --group: there is no group ""' slabcast verify --group rooms,
expect_refusal 2 'option --lanes: "4" is not 1, 8, 16 or all' slabcast verify --lanes 4
expect_refusal 2 'option --rays: "0" is not' slabcast verify --rays 0

# ---- every group can fail ----
[[ -n $layer ]] || exit 0
# The bit is of the first answer: of the first read-back, or of the first after those that a group casts to aim with, or
# to walk by.
flipped() {
  local group=$1 read=$2
  rm -f flips
  OPENCL_LAYERS=${OPENCL_LAYERS:+$OPENCL_LAYERS:}$layer SLAB_FLIP=$read:0 SLAB_FLIP_FILE=$work/flips \
    expect_exit 3 slabcast verify --group "$group" --rays 400 --json flipped.json
  grep -q ' 1 flipped' flips || fail "$group: the layer flipped nothing: $(cat flips)"
  expect_stderr "slabcast: verify: $group: " "again: slabcast verify --group $group --rays "
  grep -qE "^$group +[0-9]+ +[0-9]+ +[1-9]" out || fail "the table does not count the failure: $(cat out)"
  grep -q '"first_failure": ".*again: ' flipped.json || fail "the JSON does not name the failure"
}
for group in "${groups[@]}"; do
  case $group in
    after) flipped "$group" 7 ;;
    skip | ranges) flipped "$group" 3 ;;
    sets) flipped "$group" 2 ;; # the first are rays of a set
    *) flipped "$group" 1 ;;
  esac
done
