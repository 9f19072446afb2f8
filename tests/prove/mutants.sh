#!/usr/bin/env bash
# One committed fault or more per rule of the contract, each planted alone; of a small scale the first of them.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

mapfile -t names < <(sed -n 's/^mutant //p' tests/mutants/mutants.txt)
chosen=()
(($(scaled ${#names[@]}) == ${#names[@]})) || chosen=("${names[@]:0:$(scaled ${#names[@]})}")
status=0
tests/mutants/run.sh "${chosen[@]}" 2>"$PROVE_WORK/log" >&2 || status=$?
cat "$PROVE_WORK/log" >&2
killed=$(sed -nE 's/^mutants: ([0-9]+) of ([0-9]+) killed.*/\1 \2/p' "$PROVE_WORK/log")
[[ -n $killed ]] || exit 1
read -r dead all <<<"$killed"
row "planted faults, one or more per rule of the contract, that no test notices" 0 "$((all - dead)) of $all"
exit "$status"
