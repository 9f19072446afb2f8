#!/usr/bin/env bash
# slabcast_device.h in CUDA C++, by NVIDIA's own compiler: compiled.sh BUILD [ROOT...]. ROOT: its version, as
# tools/roots.sh names it; for the newest card that both are of. SLABCAST_TEST_WHOLE: every query of every kind of scene,
# not a share. Nothing here runs that machine code: the stand-in keeps it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$1
shift
if (($# == 0)); then set -- nvrtc; fi

for root in "$@"; do
  folder=$("$here/../../tools/roots.sh" get "$root") || { echo "compiled: no $root can be had here" && exit 77; }
  LD_LIBRARY_PATH=$folder/lib:$build/tests/cuda/standin:$build SLAB_CUDA_CAPABILITY=9 \
    SLABCAST_BACKENDS=cuda SLABCAST_TEST_WIDTH=1 "$build/bin/test_trace_cuda" compiled
done
