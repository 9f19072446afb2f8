#!/usr/bin/env bash
# Plants the faults of mutants.txt, one at a time, in a copy of the tree, and runs the tests: run.sh [NAME...]
#
#   run.sh            every fault; writes RESULTS.md; exit code 1 when one survives
#   run.sh NAME...    these, and prints their outcomes
#   run.sh --check    only that every fault can still be planted
#
# Outcomes are kept under build/mutants until sources or tests change: an interrupted run goes on where it stopped.
# Every processor has a worker, with a tree, a build and a kernel cache of its own. They take faults from one list.
#
# Nearly all time goes into building the code that a fault touches: 47 kernels of a level, and half of the library. So
# functions are called, not inlined, and little is optimised: a fault in a header of kernels/ takes 22 s of a processor
# to build, not 120. Most faults are noticed early in the one test that noticed them the last time, which runs first.
# Without any optimisation the kernels take 6 s for that. For a fault that is new here whole programs run: without
# optimisation they would take five times as long.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
table=$root/tests/mutants/mutants.txt
page=$root/tests/mutants/RESULTS.md
kept=$root/build/mutants
sources=(CMakeLists.txt CMakePresets.json .clang-format CHANGELOG.md LICENSE README.md pyproject.toml dev cmake bench docs host
  kernels program sets examples python tests tools)
program_seconds=1800 # of the processor, of a test program; one took more than 300
test_seconds=300     # of one test; the slowest took more than 120 beside other work
still_seconds=3600   # of the clock on the wall, for one that waits for ever: a busy machine is no fault that is noticed
waiting_seconds=600  # of that clock, of one test
mutant_seconds=3600  # of that clock, of one fault
# The tests of answers are those that run at every lane width; OpenCL runs at the one with the most ways to go wrong.
# The processor's own kernels, which compile in a tenth of the time, run first, at one level.
width=w16
case $(uname -m) in
  x86_64) level=x86-64-v3 ;;
  aarch64) level=armv8-a ;;
  *) level=c11 ;;
esac
# shellcheck source=tools/toolchain.sh disable=SC1091
source "$root/tools/toolchain.sh"
compiler=$CLANG # its -O0 takes half as long as gcc's
command -v "$compiler" >/dev/null || compiler=cc
called=-Dalways_inline=unused # the attribute's name becomes that of one without effect
# Of the builds of a worker: the processor's kernels are optimised a little in `build`, and not at all in `quick`. In
# `driver` there are none: a driver compiles its own. In `pretended` they are portable C, as the pretended driver's are.
place=build

say() { echo "mutants: $*" >&2; }

die() {
  say "$*"
  exit 2
}

# Ends the workers before their folders go.
leave() {
  local status=$? worker
  for worker in "${workers[@]}"; do kill -- "-$worker" 2>/dev/null || true; done
  wait
  rm -rf "$scratch"
  exit "$status"
}

# ---- the table ----

names=()
declare -A row by edits # edits: FILE, OLD, NEW, ... each ended by \1
declare -A last         # PROGRAM TEST: the test that noticed the fault in the last run

end_edit() {
  [[ -n $old ]] || return 0
  edits[$name]+=$file$'\1'$old$'\1'$new$'\1'
  old='' new=''
}

begin_mutant() {
  end_edit
  [[ -z ${edits[$1]+there} ]] || die "$1 stands in the table twice"
  name=$1 file=''
  names+=("$name")
  row[$name]='' by[$name]='' edits[$name]=''
}

read_table() {
  local line name='' file='' old='' new=''
  while IFS= read -r line; do
    case $line in
      '' | '#'*) ;;
      'mutant '*) begin_mutant "${line#mutant }" ;;
      'row    '*) row[$name]=${line#row    } ;;
      'by     '*) by[$name]=${line#by     } ;;
      'file   '*)
        end_edit
        file=${line#file   }
        ;;
      '- '*)
        [[ -z $new ]] || end_edit
        old+=${old:+$'\n'}${line#- }
        ;;
      '+ '*) new+=${new:+$'\n'}${line#+ } ;;
      *) die "$table: what is \"$line\"?" ;;
    esac
  done <"$table"
  end_edit
}

# The last run's outcomes, of its page.
read_last() {
  local name outcome
  while read -r name outcome; do last[$name]=$outcome; done < <(
    sed -nE 's/^\| ([a-z_0-9]+) \|.*\| killed by ((native:)?test_[a-z_0-9]+): ([a-z_0-9]+)(, [^|]*)? \|$/\1 \2 \4/p' "$page"
  )
}

# replace_once FILE OLD NEW: in $text, the file's text; exact, and there once, so that the table cannot rot.
replace_once() {
  [[ $text == *"$2"* ]] || die "$name: not found in $1: $2"
  local before=${text%%"$2"*}
  local rest=${text:${#before}+${#2}}
  [[ $rest != *"$2"* ]] || die "$name: more than once in $1: $2"
  text=$before$3$rest
}

# plant NAME TREE
plant() {
  local name=$1 tree=$2 file old new text
  while IFS= read -r -d $'\1' file && IFS= read -r -d $'\1' old && IFS= read -r -d $'\1' new; do
    text=$(<"$tree/$file")
    replace_once "$file" "$old" "$new"
    printf '%s\n' "$text" >"$tree/$file"
  done <<<"${edits[$name]}"
}

# unplant NAME TREE
unplant() {
  local file old new
  while IFS= read -r -d $'\1' file && IFS= read -r -d $'\1' old && IFS= read -r -d $'\1' new; do
    mkdir -p "$(dirname "$2/$file")"
    cp "$originals/$file" "$2/$file"
  done <<<"${edits[$1]}"
}

# Without a file: copies of them would take ten times as long.
check_table() {
  local name file old new text
  local -A whole=() planted=()
  for name in "${names[@]}"; do
    [[ -n ${row[$name]} && -n ${by[$name]} && -n ${edits[$name]} ]] || die "$name lacks a row, a test or a fault"
    planted=()
    while IFS= read -r -d $'\1' file && IFS= read -r -d $'\1' old && IFS= read -r -d $'\1' new; do
      [[ -n ${whole[$file]+there} ]] || whole[$file]=$(<"$root/$file")
      text=${planted[$file]-${whole[$file]}}
      replace_once "$file" "$old" "$new"
      planted[$file]=$text
    done <<<"${edits[$name]}"
  done
}

# ---- building and testing ----

# copy_sources FOLDER
copy_sources() {
  mkdir -p "$1"
  (cd "$root" && tar -c "${sources[@]}") | tar -x -C "$1"
}

# configure WORKER
configure() {
  local kernels levels
  copy_sources "$scratch/$1/tree"
  for place in driver pretended quick build; do
    kernels=-O1 levels=$level
    [[ $place == build ]] || kernels=-O0
    [[ $place != driver ]] || levels=OFF
    [[ $place != pretended ]] || levels=c11
    CC=$compiler cmake -S "$scratch/$1/tree" -B "$scratch/$1/$place" -G Ninja "-DSLABCAST_NATIVE=$levels" \
      "-DSLABCAST_TEST_TIMEOUT=$still_seconds" -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_C_FLAGS_DEBUG=-O0 $called" \
      "-DSLABCAST_KERNEL_FLAGS=$kernels $called" -DSLABCAST_TESTS=ON -DSLABCAST_BENCH=OFF -DSLABCAST_CUDA=OFF -DCMAKE_LINK_DEPENDS_NO_SHARED=ON >"$scratch/$1/log" 2>&1 || die "cmake failed: $(tail "$scratch/$1/log")"
    ln -s ../pocl-cache "$scratch/$1/$place/pocl-cache"
  done
}

# take_kernels WORKER: those that the tests had built before; but for what comes and goes there meanwhile.
take_kernels() {
  mkdir "$scratch/$1/pocl-cache"
  cp -r "$root/build/release/pocl-cache" "$scratch/$1/" 2>/dev/null || true
}

# build WORKER TARGET
build() { ninja -C "$scratch/$1/$place" "$2" >"$scratch/$1/log" 2>&1; }

# build_for WORKER PROGRAM: all that it needs to run.
build_for() {
  local target=${2#native:}
  if [[ $place == pretended ]]; then
    build "$1" test_pretended && build "$1" sweep_pretended
  elif runs_alone "$target"; then
    build "$1" "$target"
  else
    build "$1" tests/all && build "$1" slabcast # by which some get the devices of a driver
  fi
}

# runs_alone PROGRAM: one that does not run at every lane width may need layers or a runtime, which CTest gives it.
runs_alone() { [[ " ${tests[*]} " == *" $1 "* || -n ${native[$1]+there} ]]; }

# place_of ASKED: the build that has this program.
place_of() { if [[ ${1% *} == *_pretended ]]; then echo pretended; else echo build; fi; }

# ask WORKER PROGRAM [TEST]: runs all its tests, or one; stopped at the first failure. native:PROGRAM runs on the
# processor's own kernels; others on OpenCL's.
ask() {
  local folder=$scratch/$1 program=${2#native:} backend=opencl width=${width#w} seconds=$program_seconds still=$still_seconds asked
  [[ -z ${3-} ]] || still=$waiting_seconds
  if ! runs_alone "$program"; then
    asked=(ctest --test-dir "$folder/$place" -R "^$program(_w[0-9]+)?\$")
    [[ $("${asked[@]}" -N) != *'Total Tests: 0'* ]] || die "there is no test $program"
    SLABCAST_TEST_ONLY=${3-} timeout "$still" "${asked[@]}" --output-on-failure >"$folder/log" 2>&1 </dev/null
    return
  fi
  [[ $program == "$2" ]] || backend=native width=0
  [[ -z ${3-} ]] || seconds=$test_seconds
  # shellcheck disable=SC2016 # awk's own $0
  (
    ulimit -t "$seconds"
    SLABCAST_BACKENDS=$backend SLABCAST_TEST_WIDTH=$width SLABCAST_TEST_ONLY=${3-} POCL_CACHE_DIR=$folder/pocl-cache \
      timeout --foreground "$still" stdbuf -oL "$folder/$place/tests/$program" 2>&1 </dev/null
  ) | awk '{ print } /^\[  FAILED  \]/ { exit 1 }' >"$folder/log"
}

# noticed STATUS LOG: the failed test of a log, and how it ended with this status.
noticed() {
  local failed running
  running=$(sed -nE 's/^\[ RUN      \] ([a-z_0-9]+)$/\1, /p' "$2" | tail -n 1)
  failed=$(sed -nE '/^\[  FAILED  \] ([a-z_0-9]+)$/ { s//\1/p; q; }' "$2")
  case $1 in
    124) failed="${running}stood still" ;;
    137 | 152) failed="${running}ran for too long" ;;
  esac
  echo "${failed:-${running}died with status $1}"
}

# natively ASKED...: those that run on the processor's own kernels, by that name.
natively() {
  local asked
  for asked in "$@"; do [[ -z ${native[${asked% *}]+there} ]] || echo "native:$asked"; done
}

# try WORKER NAME: prints the fault's outcome. The test that noticed it the last time runs first, alone: most of the
# time of a program's tests on OpenCL goes into compiling kernels that others of them use.
try() {
  local worker=$1 name=$2 asked test status began=$SECONDS
  local log=$scratch/$worker/log before=${last[$name]-}
  # shellcheck disable=SC2046,SC2086 # words
  for asked in "$before" $(natively ${by[$name]}) ${by[$name]} $(natively "${tests[@]}") "${tests[@]}"; do
    [[ -n $asked ]] || continue
    place=$(place_of "$asked")
    if [[ ${edits[$name]} == kernels/* && $place == build ]]; then
      if [[ $asked == *"$before" && -n $before ]]; then place=quick; fi
      if [[ $asked != native:* ]] && runs_alone "${asked% *}"; then place=driver; fi
    fi
    if ((SECONDS - began > mutant_seconds)); then
      echo "SURVIVED $mutant_seconds s of tests"
      return
    fi
    test=${asked% *}
    if ! build_for "$worker" "$test"; then
      echo "BROKEN: $(grep -m 1 error "$log")"
      return
    fi
    status=0
    # shellcheck disable=SC2086 # a program, or a program and a test
    ask "$worker" $asked || status=$?
    ((status)) || continue
    # Of a fault in the host it may be what the fault does: an option that a compiler refuses.
    if [[ ${edits[$name]} == kernels/* ]] && grep -q 'clBuildProgram failed' "$log"; then
      echo "BROKEN: $(grep -m 1 -A 3 'clBuildProgram failed' "$log" | tr '\n' ' ')"
    else
      echo "killed by $test: $(noticed "$status" "$log")"
    fi
    return
  done
  echo SURVIVED
}

# try_fault WORKER NAME
try_fault() {
  local worker=$1 name=$2 outcome began=$SECONDS
  plant "$name" "$scratch/$worker/tree"
  outcome=$(try "$worker" "$name")
  cp "$scratch/$worker/log" "$results/$name.log"
  unplant "$name" "$scratch/$worker/tree"
  echo "$outcome" >"$results/$name.part"
  mv "$results/$name.part" "$results/$name"
  say "$name: $outcome ($((SECONDS - began)) s)"
}

# noticer NAME: the test that noticed the fault: "PROGRAM TEST", or "PROGRAM" where the outcome has no more.
noticer() { sed -nE 's/^killed by ([a-z_:0-9]+): ([a-z_0-9]+)(,.*)?$/\1 \2/p; t; s/^killed by ([a-z_:0-9]+): .*/\1/p' "$results/$1"; }

# check_noticer WORKER NOTICER: without a fault it passes. Else it would seem to notice all of them, and is forgotten.
check_noticer() {
  local worker=$1 name status=0
  place=$(place_of "$2")
  build_for "$worker" "${2% *}" || die "the tests do not build: $(tail "$scratch/$worker/log")"
  # shellcheck disable=SC2086 # a program, or a program and a test
  ask "$worker" $2 || status=$?
  if ((status == 0)); then
    touch "$results/passes/$2"
    return
  fi
  for name in "${chosen[@]}"; do
    if [[ $(noticer "$name") == "$2" ]]; then rm "$results/$name"; fi
  done
  die "$2 fails without a fault: $(noticed "$status" "$scratch/$worker/log")"
}

# work WORKER FUNCTION ITEM...: those that no other worker has taken.
work() {
  local worker=$1 function=$2 item
  shift 2
  if [[ ! -e $scratch/$worker ]]; then
    configure "$worker"
    take_kernels "$worker"
  fi
  for item in "$@"; do
    if mkdir "$scratch/taken/$item" 2>/dev/null; then "$function" "$worker" "$item"; fi
  done
}

# share FUNCTION ITEM...: among as many workers as there are processors.
share() {
  local worker
  workers=()
  for ((worker = 0; worker < $(nproc) && worker < $# - 1; worker++)); do
    set -m # a process group each, which ends as one
    work "$worker" "$@" &
    set +m
    workers+=($!)
  done
  for worker in "${workers[@]}"; do wait "$worker" || die "a worker failed: $?"; done
}

# ---- the run ----

# Changes with all that an outcome depends on, but for the faults themselves. No test that runs here reads documents.
fingerprint() {
  (cd "$scratch/0/tree" && find . -type f ! -path './tests/mutants/*' ! -path './program/*' ! -path './docs/*' ! -path './bench/*' ! -name '*.md' -print0 | sort -z | xargs -0 sha256sum | sha256sum) |
    cut -c 1-16
}

# The chosen faults without an outcome so far, by file: code that the last one touched is built anyway.
list_left() {
  local name
  for name in "${chosen[@]}"; do
    [[ -e $results/$name && $(<"$results/$name.fault") == "${edits[$name]}" ]] || echo "${edits[$name]%%$'\1'*} $name"
    printf '%s\n' "${edits[$name]}" >"$results/$name.fault"
  done | sort -s -k 1,1 | cut -d ' ' -f 2
}

# The tests that noticed the chosen faults, and that have not run without a fault so far.
list_noticers() {
  local name asked
  for name in "${chosen[@]}"; do noticer "$name"; done | sort -u | while read -r asked; do
    [[ -e $results/passes/$asked ]] || echo "$asked"
  done
}

run_left() {
  local left noticers
  mapfile -t left < <(list_left)
  say "${#chosen[@]} faults, ${#left[@]} of them to be tried"
  share try_fault "${left[@]}"
  mapfile -t noticers < <(list_noticers)
  say "${#noticers[@]} tests noticed them; each is asked without a fault"
  share check_noticer "${noticers[@]}"
}

# The commit, and whether anything else than what proofs write differs from it.
describe() {
  local changes
  changes=$(git -C "$root" status --porcelain -uno -- . ':!tests/PROOF.md' ':!tests/mutants/RESULTS.md')
  echo "commit $(git -C "$root" rev-parse --short=12 HEAD)${changes:+ with uncommitted changes}"
}

write_results() {
  local name killed=0
  for name in "${names[@]}"; do [[ $(<"$results/$name") == killed* ]] && killed=$((killed + 1)); done
  echo "# Mutants"
  echo
  echo "Written by \`./dev mutants\`: each fault of mutants.txt, planted alone, and the first test that notices it."
  echo
  echo "${#names[@]} faults, $killed killed, $((${#names[@]} - killed)) survived, all of one run, of $commit."
  echo
  echo "| fault | row of the contract | outcome |"
  echo "| --- | --- | --- |"
  for name in "${names[@]}"; do echo "| $name | ${row[$name]//|/\\|} | $(<"$results/$name") |"; done
}

scratch=$(mktemp -d)
originals=$root
workers=()
trap 'leave' EXIT
trap 'say interrupted; exit 130' INT TERM HUP
read_table
check_table
[[ ${1:-} == --check ]] && exit 0
[[ ! -e $page ]] || read_last
chosen=("$@")
(($#)) || chosen=("${names[@]}")
for name in "${chosen[@]}"; do [[ -n ${edits[$name]+there} ]] || die "no fault is called $name"; done

commit=$(describe)
configure 0
take_kernels 0
originals=$scratch/original
copy_sources "$originals"
# test_raised tests the processor's kernels as they are optimised: here, and with OpenCL's, it fails without a fault.
mapfile -t tests < <(ctest --test-dir "$scratch/0/build" -N | sed -nE "s/.* (test_[a-z_]+)_$width\$/\\1/p" |
  sed 's/_native$//' | grep -vx test_raised | sort -u)
declare -A native=()
while read -r name; do native[$name]=there; done < <(ctest --test-dir "$scratch/0/build" -N | sed -nE 's/.* (test_[a-z_]+)_native(_w8)?$/\1/p')
results=$kept/$(fingerprint)
mkdir -p "$results/passes" "$scratch/taken"
find "$kept" -mindepth 1 -maxdepth 1 ! -path "$results" -exec rm -rf {} +
run_left
bad=0
for name in "${chosen[@]}"; do
  [[ $(<"$results/$name") == killed* ]] && continue
  bad=$((bad + 1))
  say "$name: $(<"$results/$name")"
done
(($#)) || write_results >"$page"
say "$((${#chosen[@]} - bad)) of ${#chosen[@]} killed, in $SECONDS s"
((bad == 0))
