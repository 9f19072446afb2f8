#!/usr/bin/env bash
# Every OpenCL call that can fail, in every call of the library and every command of the program.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tests=$PROVE_BIN/../tests
export OPENCL_LAYERS=$tests/libslab_count_layer.so:$tests/faults/libslab_fail_layer.so
export SLAB_COUNT_FILE=/dev/null SLAB_FAIL_FILE=/dev/null

handled=$(tools/one_driver.sh 1 "$PROVE_BIN/sweep" opencl --all | tee >(cat >&2) | sed -n 's/^\([0-9]*\) faults of OpenCL handled$/\1/p')
row "failing OpenCL calls, library: wrong status, no message, leak, crash, or no next call" 0 "0 of $handled"
samples=all
[[ $PROVE_SCALE == 1 ]] || samples=$(scaled 50)
handled=$(tools/one_driver.sh 1 tests/faults/program.sh opencl "$PROVE_BIN/slabcast_faulty" "$samples" | tee >(cat >&2) |
  sed -n 's/^\([0-9]*\) faults of opencl handled by the program$/\1/p')
row "failing OpenCL calls, program (of verify every 3rd, of bench every 7th): wrong exit code, no message, leak, partial file" \
  0 "0 of $handled"
