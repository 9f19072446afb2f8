#!/usr/bin/env bash
# Casts to a file that are killed or interrupted at random moments.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

said=$(tests/faults/killed.sh "$(scaled 200)" "$PROVE_SEED" | tee >(cat >&2) | tail -n 1)
[[ $said =~ ^([0-9]+)\ killed,\ ([0-9]+)\ of\ them\ .*,\ ([0-9]+)\ interrupted ]]
row "casts killed at random moments: partial files under the final name, other bytes after --resume" 0 \
  "0 of ${BASH_REMATCH[1]}; ${BASH_REMATCH[2]} had rows from which --resume went on"
row "casts interrupted at random moments: no message, wrong exit code" 0 "0 of ${BASH_REMATCH[3]}"
