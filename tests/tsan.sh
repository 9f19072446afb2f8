#!/usr/bin/env bash
# tsan.sh BUILD: the tests of several threads under the thread sanitizer, in a build of the preset "tsan". Fails on any
# report but those on memory that the OpenMP runtime took for its own task records: it uses them again for other
# tasks, in an order that its tool for the sanitizer (Archer) does not tell.
set -euo pipefail

build=$1
layers=$build/tests/faults
tests=(test_pool test_threads test_devices test_hosts test_cl test_enqueue test_check test_sort test_bvh test_bvh_answers)
export POCL_CACHE_DIR=$build/pocl-cache SLABCAST_TEST_WIDTH=8
archer=$(dirname "$(ldd "$build/bin/test_threads" | awk '/libomp/ { print $3 }')")/libarcher.so
[[ -e $archer ]] || {
  echo "tsan: no $archer: without it every parallel loop looks like a race" >&2
  exit 1
}
export OMP_TOOL_LIBRARIES=$archer
symbolizer=$(command -v llvm-symbolizer)
export TSAN_OPTIONS="exitcode=0 ignore_noninstrumented_modules=1 external_symbolizer_path=$symbolizer"

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Prints the reports but those on the runtime's records; fails when there are any.
judge() {
  awk -v test="$1" '
    function close_report() {
      if (is_report && is_record) ignored++
      else if (is_report) { print text; kept++ }
      text = ""; is_report = 0; is_record = 0; place = 0
    }
    /^==================$/ { close_report(); next }
    /WARNING: ThreadSanitizer/ { is_report = 1 }
    /Location is heap block/ { place = NR }
    place && NR == place + 2 && /libomp\.so/ { is_record = 1 }
    { text = text "\n" $0 }
    END {
      close_report()
      printf "tsan: %s: %d reports, and %d on the OpenMP runtime'\''s task records\n", test, kept, ignored
      exit kept > 0
    }' "$log"
}

# Several devices, and the layers that make one of them slow or fail.
run() {
  local above=()
  case $1 in
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
    "$(dirname "$0")/one_driver.sh" 2 "$build/bin/$1"
}

failed=0
for test in "${tests[@]}"; do
  if ! run "$test" >"$log" 2>&1; then
    cat "$log"
    echo "tsan: $test fails" >&2
    exit 1
  fi
  judge "$test" || failed=1
done
exit "$failed"
