#!/usr/bin/env bash
# Every OpenCL call that can fail, in every call of the library and every command of the program.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tests=$PROVE_BIN/../tests
export OPENCL_LAYERS=$tests/libslab_count_layer.so:$tests/faults/libslab_fail_layer.so
export SLAB_COUNT_FILE=/dev/null SLAB_FAIL_FILE=/dev/null

handled=$(tools/one_driver.sh 1 "$PROVE_BIN/sweep" opencl --all | tee >(cat >&2) | sed -n 's/^\([0-9]*\) faults of OpenCL handled$/\1/p')
row "failing OpenCL calls, library: wrong status, no message, leak, crash, or the next call fails" 0 "0 of $handled"
handled=$(tools/one_driver.sh 2 "$PROVE_BIN/sweep" opencl "all devices" | tee >(cat >&2) | sed -n 's/^\([0-9]*\) faults of OpenCL handled$/\1/p')
row "the same on two devices" 0 "0 of $handled"
cut=0
for part in "commit, f" pack "slab_closest, tree"; do # scenes in several buffers
  handled=$(OPENCL_LAYERS=$tests/libslab_count_layer.so:$tests/faults/libslab_small_layer.so:$tests/faults/libslab_fail_layer.so \
    SLAB_ALLOCATION=3200 SLAB_SMALL_FILE=/dev/null tools/one_driver.sh 1 "$PROVE_BIN/sweep" opencl "$part" | tee >(cat >&2) |
    sed -n 's/^\([0-9]*\) faults of OpenCL handled$/\1/p')
  cut=$((cut + handled))
done
row "the same of scenes in several buffers" 0 "0 of $cut"
wrong=0
SLABCAST_TEST_WIDTH=1 SLABCAST_BACKENDS=opencl OPENCL_LAYERS=$tests/libslab_count_layer.so "$PROVE_BIN/test_buffers" >&2 || wrong=1
row "scenes in two to four buffers, one lane, each query and layout: runs with a wrong answer" 0 "$wrong"
pretended=0
for as in pace:0 pace:1,seed:1 is_gpu:1,pace:1,seed:2; do
  handled=$(SLABCAST_BACKENDS=opencl PRETENDED_AS=$as "$PROVE_BIN/sweep_pretended" opencl --all | tee >(cat >&2) | sed -n 's/^\([0-9]*\) faults of OpenCL handled$/\1/p')
  pretended=$((pretended + handled))
done
row "failing calls of the pretended driver (tests/pretended), as in the row of the library; commands run at once, late, and late on a GPU" 0 "0 of $pretended"
samples=all
[[ $PROVE_SCALE == 1 ]] || samples=$(scaled 50)
handled=$(tools/one_driver.sh 1 tests/faults/program.sh opencl "$PROVE_BIN/slabcast_faulty" "$samples" | tee >(cat >&2) |
  sed -n 's/^\([0-9]*\) faults of opencl handled by the program$/\1/p')
row "failing OpenCL calls, program (every 3rd of verify's calls, every 7th of bench's): wrong exit code, no message, leak, partial file" \
  0 "0 of $handled"
exit "$wrong"
