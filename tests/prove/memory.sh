#!/usr/bin/env bash
# Every allocation that can fail, in every call of the library and every command of the program. On the processor, where
# threads of the library cast, also every thread that cannot be started.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tests=$PROVE_BIN/../tests
export OPENCL_LAYERS=$tests/libslab_count_layer.so:$tests/faults/libslab_fail_layer.so
export SLAB_COUNT_FILE=/dev/null SLAB_FAIL_FILE=/dev/null

handled=$("$PROVE_BIN/sweep" memory --all | tee >(cat >&2) | sed -n 's/^\([0-9]*\) faults of memory handled$/\1/p')
row "failing allocations, library: wrong status, no message, leak, crash, or the next call fails" 0 "0 of $handled"
for kind in memory threads; do
  handled=$(SLABCAST_BACKENDS=native "$PROVE_BIN/sweep" "$kind" --all | tee >(cat >&2) |
    sed -n "s/^\([0-9]*\) faults of $kind handled\$/\1/p")
  row "failing $kind, library on the processor: the same" 0 "0 of $handled"
done
samples=all
[[ $PROVE_SCALE == 1 ]] || samples=$(scaled 50)
handled=$(tests/faults/program.sh memory "$PROVE_BIN/slabcast_faulty" "$samples" | tee >(cat >&2) |
  sed -n 's/^\([0-9]*\) faults of memory handled by the program$/\1/p')
row "failing allocations, program (every 3rd of verify's, every 7th of bench's): wrong exit code, no message, leak, partial file" \
  0 "0 of $handled"
