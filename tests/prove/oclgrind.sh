#!/usr/bin/env bash
# Every kind of primitive and every query on Oclgrind, one lane wide as GPUs run them, with its checks of the API, races and
# uninitialised values.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

status=0
result=$(tests/runtimes.sh --rays "$(scaled 40000)" oclgrind) || status=$?
echo "runtime: Oclgrind"
row "rays bit-equal between device and mirror, Oclgrind" "1e6, 0 differ" "${result:-the run failed}"
exit "$status"
