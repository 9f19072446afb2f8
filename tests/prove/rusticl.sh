#!/usr/bin/env bash
# Every kind of primitive and every query on Mesa rusticl on llvmpipe, one lane wide as GPUs run them.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

status=0
result=$(tests/runtimes.sh --rays "$(scaled 40000)" rusticl) || status=$?
echo "runtime: Mesa rusticl on llvmpipe"
row "rays bit-equal between device and mirror, Mesa rusticl on llvmpipe" "1e6, 0 differ" "${result:-the run failed}"
exit "$status"
