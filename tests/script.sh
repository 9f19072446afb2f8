# shellcheck shell=bash disable=SC2034 # what is set here is used there
# What scripts beside this one share, which source it: root, the checkout; work, an empty folder that goes with the
# script; and these functions.
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
