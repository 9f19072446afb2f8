# shellcheck shell=bash disable=SC2034 # the scripts use the variables
# Variables and functions of the scripts beside this one, which source it. root: the checkout. work: an empty folder
# that goes with the script.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  local script=${0##*/}
  echo "${script%.sh}: $*" >&2
  exit 1
}

# quietly COMMAND...: its output, kept as $work/log, is shown where it fails.
quietly() {
  "$@" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    fail "failed: $*"
  }
}
