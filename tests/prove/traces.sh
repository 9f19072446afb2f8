#!/usr/bin/env bash
# Kernels of the user's that trace rays: every query in every layout, flat, in a BVH and through instances. They run at
# one lane and at eight, a million rays of each and more. CI runs some of them. Not under Oclgrind 21.10, which runs no
# such kernel (docs/use.md).
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

status=0 rays=$(scaled 200060) # each is cast five times
rays=$((rays < 700 ? 700 : rays))
for width in 1 8; do
  SLABCAST_BACKENDS=opencl SLABCAST_TEST_WHOLE=$rays SLABCAST_TEST_WIDTH=$width SLABCAST_TEST_SEED=$PROVE_SEED \
    "$PROVE_BIN/test_trace" >"$PROVE_WORK/traces$width" 2>&1 || status=$?
  cat "$PROVE_WORK/traces$width" >&2
  row "Kernels that trace rays, $width lanes: tests that failed" "0" \
    "$(grep -c '^\[  FAILED  \] [a-z]*_' "$PROVE_WORK/traces$width" || true)"
done
exit "$status"
