#!/usr/bin/env bash
# The long proof: runs its steps and writes tests/PROOF.md, one or more rows of a table for each.
#
#   prove.sh [--scale S] [STEP...]   these steps, else all of them; S: a share of the full size, 1 if not given
#   prove.sh --list                  the steps, and which have a result here
#   prove.sh --write                 only PROOF.md, from earlier runs
#
# A step is an executable tests/prove/STEP.sh, and its name is in `steps` below, in the order of the table. It runs
# in the root of the repository, with
#   PROVE_BIN      the folder of the built programs (build/release/bin)
#   PROVE_SCALE    the value of --scale: a step does scaled N of its work, by tests/prove/lib.sh, which it may source
#   PROVE_SEED     a number, the same for all steps of a run
#   PROVE_WORK     an empty folder that goes when it ends
#   SLABCAST       the program, POCL_CACHE_DIR a kernel cache of the proof's own
#
# It prints on stdout nothing but rows, "figure | target | result" (no line without two bars). Where it did not run on
# the default device it also prints one line "runtime: NAME". All else goes to stderr. Exit status 0: every target that
# does not depend on the scale was met. A row counts its cases; it does not say that all is fine.
#
# A step's output is kept in build/prove/STEP with date, commit, runtime, seed and duration. PROOF.md is put together
# from there; the rows of steps without a result there stay as they are in PROOF.md. A run at a smaller scale than the
# one kept is shown and not kept, so that a trial does not cost a night.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
kept=$root/build/prove
page=$root/tests/PROOF.md
steps=(edges rooms suites reference trees sets points inside verdicts mutants invalid garbage faults cuda traces plants memory flips fuzz damaged meshes
  killed oclgrind rusticl pocl7 platforms distributions consumers packages)

say() { echo "prove: $*" >&2; }

# The commit, with -dirty where files changed, but for the pages that proofs write.
commit_now() {
  local commit changes
  commit=$(git -C "$root" rev-parse --short HEAD 2>/dev/null) || { echo unknown && return; }
  changes=$(git -C "$root" status --porcelain -uno -- . ':!tests/PROOF.md' ':!tests/mutants/RESULTS.md')
  echo "$commit${changes:+-dirty}"
}

# The device that the program takes by itself: a GPU, else the first.
default_runtime() {
  "$SLABCAST" devices --json | awk -F '"' '
    $2 == "name" { name = $4 } $2 == "type" { type = $4 } $2 == "driver" { driver = $4 }
    $2 == "platform" { line = name ", " $4 " " driver; if (first == "" || (type == "GPU" && !gpu)) first = line
                       gpu = gpu || type == "GPU" }
    END { print first }'
}

# kept_value STEP NAME: the value of NAME in the head of a kept result.
kept_value() { sed -n "s/^$2: //p;/^\$/q" "$kept/$1"; }

# keep STEP STATUS SECONDS ROWS: writes the result, unless a larger one is kept; one that ended early is none.
keep() {
  local runtime
  runtime=$(sed -n 's/^runtime: //p' "$4")
  if [[ -e $kept/$1 ]] && grep -q 'the step ended early$' "$kept/$1"; then rm "$kept/$1"; fi
  if [[ -e $kept/$1 ]] && awk -v new="$PROVE_SCALE" -v old="$(kept_value "$1" scale)" 'BEGIN { exit !(new < old) }'; then
    say "$1: not kept, a run at scale $(kept_value "$1" scale) is"
    return 0
  fi
  {
    printf 'status: %s\nseconds: %s\nscale: %s\nseed: %s\n' "$2" "$3" "$PROVE_SCALE" "$PROVE_SEED"
    printf 'date: %s\ncommit: %s\nruntime: %s\n\n' "$(date -u +%F)" "$commit" "${runtime:-$(default_runtime)}"
    grep -v '^runtime: ' "$4" || true
  } >"$kept/$1.new"
  mv "$kept/$1.new" "$kept/$1"
}

# run_step STEP
run_step() {
  local script=$root/tests/prove/$1.sh status=0 start=$SECONDS
  if [[ ! -x $script ]]; then
    say "$1: there is no tests/prove/$1.sh yet"
    return 1
  fi
  mkdir -p "$kept" "$scratch/$1"
  say "$1, at scale $PROVE_SCALE"
  (cd "$root" && PROVE_WORK=$scratch/$1 "$script") >"$scratch/rows" || status=$?
  if grep -qv -e '^runtime: ' -e '|.*|' "$scratch/rows"; then
    say "$1: a line is no row: $(grep -v -e '^runtime: ' -e '|.*|' "$scratch/rows" | head -n 1)"
    status=1
  fi
  if ! grep -q '|' "$scratch/rows"; then
    echo 'no figure | - | the step ended early' >>"$scratch/rows"
    status=1
  fi
  cat "$scratch/rows"
  keep "$1" "$status" $((SECONDS - start)) "$scratch/rows"
  ((status == 0)) || say "$1: FAILED (status $status)"
  return "$status"
}

# rows_of STEP: its rows for the page: kept, or as the page had them.
rows_of() {
  if [[ ! -e $kept/$1 ]]; then
    grep "^| $1 |" "$page" 2>/dev/null || true
    return 0
  fi
  local what seconds scale line
  scale=$(kept_value "$1" scale) seconds=$(kept_value "$1" seconds)
  what="$(kept_value "$1" seed) | $(kept_value "$1" runtime) | $(kept_value "$1" commit) | $(kept_value "$1" date)"
  what+=" | $(printf '%d:%02d:%02d' $((seconds / 3600)) $((seconds / 60 % 60)) $((seconds % 60)))"
  [[ $scale == 1 ]] || what+=", scale $scale"
  [[ $(kept_value "$1" status) == 0 ]] || what+=", **FAILED**"
  sed '1,/^$/d' "$kept/$1" | while IFS= read -r line; do echo "| $1 | $line | $what |"; done
}

write_page() {
  local step rows missing=()
  {
    echo "# Proof"
    echo
    echo "Results of the long test runs, one row per figure. \`./dev prove\` writes this page; \`./dev prove STEP\` repeats a step,"
    echo "which is \`tests/prove/STEP.sh\`, with the same random data (\`PROVE_SEED\`). A row is of the commit that it names, and"
    echo "stays until its step runs again. \"took\" is the time of the whole step. Short forms of the steps run with the tests."
    echo "A leak is a ray that passes through a closed mesh, or memory that a failed call does not free."
    echo
    echo "| step | figure | target | result | seed | runtime | commit | date | took |"
    echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for step in "${steps[@]}"; do
      rows=$(rows_of "$step" | grep -v 'the step ended early' || true)
      if [[ -n $rows ]]; then echo "$rows"; else missing+=("$step"); fi
    done
    ((${#missing[@]} == 0)) || printf '\nSteps without a result yet: %s.\n' "${missing[*]}"
  } >"$page.new"
  mv "$page.new" "$page"
}

list_steps() {
  local step
  for step in "${steps[@]}"; do
    if [[ -e $kept/$step ]]; then
      echo "$step: $(kept_value "$step" date), scale $(kept_value "$step" scale), status $(kept_value "$step" status)"
    elif [[ -x $root/tests/prove/$step.sh ]]; then
      echo "$step: not run here"
    else
      echo "$step: not there yet"
    fi
  done
}

usage() {
  say "usage: prove.sh [--scale S] [STEP...] | --list | --write; steps: ${steps[*]}"
  exit 2
}

export PROVE_SCALE=1 PROVE_SEED=${PROVE_SEED:-20260101} PROVE_BIN=$root/build/release/bin
export OMP_WAIT_POLICY=passive # threads that wait leave the cores to the others
export SLABCAST=$PROVE_BIN/slabcast POCL_CACHE_DIR=$root/build/release/pocl-cache
case ${1:-} in
  --list) list_steps && exit ;;
  --write) write_page && exit ;;
  --scale)
    [[ ${2:-} =~ ^[0-9]*\.?[0-9]+$ ]] || usage
    PROVE_SCALE=$2
    shift 2
    ;;
esac
chosen=("$@")
((${#chosen[@]})) || chosen=("${steps[@]}")
for step in "${chosen[@]}"; do
  [[ " ${steps[*]} " == *" $step "* ]] || usage
done

[[ -x $SLABCAST ]] || { say "there is no $SLABCAST: ./dev prove builds it" && exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
commit=$(commit_now)
failed=()
for step in "${chosen[@]}"; do run_step "$step" || failed+=("$step"); done
write_page
say "${page#"$root"/} is written"
((${#failed[@]} == 0)) || { say "failed or not there: ${failed[*]}" && exit 1; }
