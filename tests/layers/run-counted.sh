#!/bin/sh
# run-counted.sh LAYER PROGRAM [ARGUMENT...]
# Runs a program under the counting layer. It fails when the program fails, when the layer was not there (the loader
# ignores a wrong path in silence), or when objects leak.
set -eu
layer=$1
shift
report=$(mktemp)
trap 'rm -f "$report"' EXIT

status=0
OPENCL_LAYERS=$layer SLAB_COUNT_FILE=$report "$@" || status=$?
if [ "$status" -ne 0 ]; then
  echo "run-counted: $1 ended with status $status" >&2
  exit "$status"
fi
if ! grep -q '^slabcast counting layer' "$report"; then
  echo "run-counted: no report of $layer: it was not loaded, or $1 never called OpenCL" >&2
  exit 1
fi
if grep -q 'UNBALANCED$' "$report"; then
  echo "run-counted: $1 does not release what it creates:" >&2
  cat "$report" >&2
  exit 1
fi
