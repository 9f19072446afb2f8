# shellcheck shell=bash
# What the steps of the proof share; see tests/prove.sh.
set -euo pipefail

# scaled N: N times the scale, at least 1.
scaled() { awk -v n="$1" -v s="$PROVE_SCALE" 'BEGIN { x = int(n * s + 0.5); printf "%.0f\n", x < 1 ? 1 : x }'; }

# row FIGURE TARGET RESULT
row() { printf '%s | %s | %s\n' "$1" "$2" "$3"; }
