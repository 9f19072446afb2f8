# shellcheck shell=bash
# Functions that the steps of the proof share; see tests/prove.sh.
set -euo pipefail

# scaled N: N times the scale, at least 1.
scaled() { awk -v n="$1" -v s="$PROVE_SCALE" 'BEGIN { x = int(n * s + 0.5); printf "%.0f\n", x < 1 ? 1 : x }'; }

# row FIGURE TARGET RESULT
row() { printf '%s | %s | %s\n' "$1" "$2" "$3"; }

# on_runtime RUNTIME NAME: the row of another runtime, which ends the step.
on_runtime() {
  local status=0 result
  result=$(tests/runtimes.sh --rays "$(scaled 8400)" "$1") || status=$?
  echo "runtime: $2"
  row "rays bit-equal between device and CPU reference, $2" "1e6, 0 differ" "${result:-the run failed}"
  exit "$status"
}

# ---- steps in a Debian of their own ----

# debian_begin [ROOT [FOLDER]]: ROOT of tools/roots.sh, `system` if not given, lies in $system, which is FOLDER of
# $PROVE_WORK, with a clean clone of this commit. Needs root.
debian_begin() {
  local base
  base=$(tools/roots.sh get "${1:-system}")
  system=$PROVE_WORK/${2:-system} log=$PROVE_WORK/log
  cp -a "$base" "$system"
  git clone -q . "$system/srv/slabcast"
}

# in_debian COMMAND: by a shell there, in the clone, with no variable of this environment, up to the first failure. Its
# output goes to stderr and to $log. It sets `seconds` and returns the exit code.
in_debian() {
  local begin=$SECONDS status=0
  tools/roots.sh bare "$system" "$1" /srv/slabcast 2>&1 | tee "$log" >&2 || status=$?
  # shellcheck disable=SC2034 # the caller's
  seconds=$((SECONDS - begin))
  return "$status"
}

# ---- steps that are groups of `slabcast verify` ----

# verify GROUPS RAYS [OPTION...]: its table goes to stderr, its JSON to $PROVE_WORK/verify.json. Failures make the step
# fail at its end, after its rows: `finish`.
failed=0
verify() {
  local groups=$1 rays=$2 status=0
  shift 2
  "$SLABCAST" verify --group "$groups" --rays "$rays" --seed "$PROVE_SEED" --json "$PROVE_WORK/verify.json" "$@" >&2 ||
    status=$?
  ((status == 0 || status == 3)) || exit "$status"
  ((status == 0)) || failed=1
}

# sum_of NAME: a number of the JSON, summed over the groups.
sum_of() { sed -n "s/^      *\"$1\": \([-0-9.e+]*\),*\$/\1/p" "$PROVE_WORK/verify.json" | awk '{ s += $1 } END { printf "%.0f\n", s }'; }
# ratio_of NAME: of the only group that has it.
ratio_of() { sed -n "s/^      *\"$1\": \([-0-9.e+]*\),*\$/\1/p" "$PROVE_WORK/verify.json" | awk '{ printf "%.2f\n", $1 }'; }
share_of() { awk -v a="$(sum_of "$1")" -v b="$(sum_of rays)" 'BEGIN { printf "%.1f %%\n", 100 * a / b }'; }

finish() { exit "$failed"; }
