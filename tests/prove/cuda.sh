#!/usr/bin/env bash
# Cards by CUDA, on the stand-in for their driver (tests/cuda): calls that fail, commands in any order, and both
# sanitizers. For these it builds the parts of those presets that they need.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tools/toolchain.sh
source tools/toolchain.sh
export CLANG

release=$PROVE_BIN/..
tests=(test_interop_cuda test_updates_cuda test_contexts_cuda test_registered_cuda test_threads test_fork test_batch_all test_scene test_gaps)
status=0

# under BUILD COMMAND...: with the stand-in and slabcast-cuda of this build.
under() {
  local build=$1
  shift
  LD_LIBRARY_PATH=$build/tests/cuda/standin:$build SLABCAST_BACKENDS=cuda SLABCAST_TEST_WIDTH=1 "$@" >&2
}

# sanitized PRESET: a build of these tests by it, of its own. Kernels that are ready are taken: the cards' are not the C
# compiler's.
sanitized() {
  cmake --preset "$1" -B "build/cuda-$1" -DSLABCAST_TESTS=ON -DSLABCAST_NATIVE_OBJECTS="$(realpath "$release/native")" >&2
  cmake --build "build/cuda-$1" --target slabcast slab_cuda slab_cuda_standin "${tests[@]}" >&2
}

# strike BUILD LEAST: each nth fault, the more seldom the smaller the scale, and never more often than each LEASTth.
strike() {
  local step
  step=$(awk -v s="$PROVE_SCALE" -v least="$2" 'BEGIN { n = s < 1 ? 1 / s : 1; printf "%.0f\n", n < least ? least : n }')
  tests/cuda/faults.sh "$1/bin/slabcast" "$1/tests/cuda/standin" "$1" "$step" | tail -n 1
}

# judge FIGURE TARGET FAILED RESULT
judge() {
  (($3 == 0)) || status=1
  row "$1" "$2" "$4"
}

echo "runtime: the stand-in for NVIDIA's driver"

failed=0
faults=$(strike "$release" 1) || failed=1
judge "each call of the driver that fails, once and from then on, in three casts: a crash, other bytes, no message, a handle kept" \
  0 "$failed" "$failed of ${faults:-no faults}"

orders=$(scaled 200) failed=0
for ((i = 0; i < orders; i++)); do
  for test in test_interop_cuda test_updates_cuda test_contexts_cuda test_registered_cuda test_threads; do
    SLABCAST_TEST_SEED=$((PROVE_SEED + i)) under "$release" env SLAB_CUDA_LATE=$((7 * i + 1)) "$PROVE_BIN/$test" || failed=$((failed + 1))
  done
done
judge "orders of commands of several streams, drawn by chance, each with other scenes: tests that fail" 0 "$failed" "$failed of $((5 * orders))"

failed=0
for compiler in nvrtc12 nvrtc; do
  SLABCAST_TEST_WHOLE=70 tests/cuda/compiled.sh "$release" "$compiler" >&2 || failed=$((failed + 1))
done
SLABCAST_TEST_WHOLE=$(($(scaled 200060) + 70)) under "$release" env LD_LIBRARY_PATH="$release/tests/cuda/nvrtc:$release/tests/cuda/standin:$release" \
  "$PROVE_BIN/test_trace_cuda" || failed=$((failed + 1))
judge "kernels that trace rays, every query and kind of scene, by two versions of NVIDIA's compiler, and run by the stand-in: failed" \
  0 "$failed" "$failed of 3"

sanitized asan
failed=0
for test in "${tests[@]}"; do
  for late in 0 7; do
    ASAN_OPTIONS=detect_leaks=1 under build/cuda-asan env SLAB_CUDA_LATE=$late "build/cuda-asan/bin/$test" || failed=$((failed + 1))
  done
done
export ASAN_OPTIONS=detect_leaks=1:exitcode=99 UBSAN_OPTIONS=exitcode=99 # which is no exit code of the program
faults=$(strike build/cuda-asan 5) || failed=$((failed + 1))
judge "under the address and undefined-behaviour sanitizers, leaks included: tests that fail, and faults" 0 "$failed" \
  "$failed of $((2 * ${#tests[@]})), and of ${faults:-no faults}"

sanitized tsan
failed=0
tests/tsan.sh "$PWD/build/cuda-tsan" cuda:{test_interop_cuda,test_updates_cuda,test_contexts_cuda,test_registered_cuda,test_threads,test_batch_all} >&2 || failed=1
judge "several contexts from several threads, under the thread sanitizer: runs with a report" 0 "$failed" "$failed"
exit "$status"
