#!/usr/bin/env bash
# Bits that flip in what is read back.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
export OPENCL_LAYERS=$PROVE_BIN/../tests/faults/libslab_flip_layer.so SLAB_FLIP_FILE=/dev/null

seen=$(SLABCAST_TEST_SEED=$PROVE_SEED "$PROVE_BIN/flips" "$(scaled 2000)" | tee >(cat >&2) |
  sed -n 's/^\([0-9]*\) bits flipped, \([0-9]*\) seen$/\2 of \1/p')
row "bits flipped in what is read back, seen by slab_check" all "$seen"
seen=$(tests/faults/flipped.sh "$(scaled 300)" "$PROVE_SEED" | tee >(cat >&2) |
  sed -n 's/^\([0-9]*\) bits flipped, \([0-9]*\) seen by --check$/\2 of \1/p')
row "the same, seen by --check" all "$seen"
