#!/usr/bin/env bash
# tsan.sh BUILD [TEST...]: the tests of several threads under the thread sanitizer, in a build of the preset "tsan", or
# these of them. Fails on any report.
set -euo pipefail

build=$1
shift
layers=$build/tests/faults
tests=(test_pool test_threads test_devices test_hosts test_cl test_enqueue test_refit_there test_check test_sort test_bvh
  test_bvh_answers)
# On the processor too, at one lane and at its own width. The kernels of one lane are the C compiler's, and
# instrumented; clang compiles the others as OpenCL C, which the sanitizer does not support.
natives=(test_threads test_update test_instances test_worlds test_check test_batch_all test_bvh_answers test_native test_unload)
# By CUDA on its stand-in (tests/cuda), whose kernels are OpenCL C as well: commands at once and in any order.
cards=(test_interop_cuda test_updates_cuda test_contexts_cuda test_registered_cuda test_threads test_batch_all)
export POCL_CACHE_DIR=$build/pocl-cache SLABCAST_BACKENDS=opencl SLABCAST_TEST_WIDTH=8
symbolizer=$(command -v llvm-symbolizer)
export TSAN_OPTIONS="exitcode=0 ignore_noninstrumented_modules=1 external_symbolizer_path=$symbolizer"

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Prints the reports; fails when there are any.
judge() {
  local reports
  reports=$(grep -c 'WARNING: ThreadSanitizer' "$log") || true
  echo "tsan: $1: $reports reports"
  [[ $reports == 0 ]] || { cat "$log" && return 1; }
}

# Several devices, and the layers that make one of them slow or fail.
run() {
  local above=() width late
  case $1 in
    native:*)
      for width in 1 0; do SLABCAST_BACKENDS=native SLABCAST_TEST_WIDTH=$width "$build/bin/${1#native:}" || return; done
      return
      ;;
    cuda:*)
      for late in 0 7 20261128; do
        LD_LIBRARY_PATH=$build/tests/cuda/standin:$build SLABCAST_BACKENDS=cuda SLABCAST_TEST_WIDTH=1 SLAB_CUDA_LATE=$late \
          "$build/bin/${1#cuda:}" || return
      done
      return
      ;;
    test_devices) above=(fail slow) ;;
    test_hosts) above=(fail slow builds pretend) ;;
    *)
      "$build/bin/$1"
      return
      ;;
  esac
  above=("${above[@]/#/$layers/libslab_}")
  above=("${above[@]/%/_layer.so}")
  OPENCL_LAYERS=$(IFS=: && echo "${above[*]}") SLABCAST=$build/bin/slabcast \
    "$(dirname "$0")/../tools/one_driver.sh" 2 "$build/bin/$1"
}

failed=0
asked=("${tests[@]}" "${natives[@]/#/native:}" "${cards[@]/#/cuda:}")
if (($#)); then asked=("$@"); fi
for test in "${asked[@]}"; do
  if ! run "$test" >"$log" 2>&1; then
    cat "$log"
    echo "tsan: $test fails" >&2
    exit 1
  fi
  judge "$test" || failed=1
done
exit "$failed"
