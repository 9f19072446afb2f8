#!/usr/bin/env bash
# oclgrind.sh PROGRAM TEST...: these tests of a program on Oclgrind, which shows itself as a GPU and reports races, stray
# accesses and wrong calls; any report fails. Exit code 77, a test skipped, where it is not installed.
#
# Not uninitialised values: Oclgrind 21.10 takes all that clEnqueueCopyBufferRect has written for that.
set -euo pipefail

driver=/usr/lib/oclgrind/liboclgrind-rt-icd.so
[[ -e $driver ]] || { echo "oclgrind: it is not installed" >&2 && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/vendors"
echo "$driver" >"$work/vendors/only.icd"
export OCL_ICD_VENDORS=$work/vendors OCLGRIND_CHECK_API=1 OCLGRIND_DATA_RACES=1 OCLGRIND_LOG=$work/log

for test in "${@:2}"; do
  : >"$OCLGRIND_LOG"
  SLABCAST_TEST_ONLY=$test "$1" 2>&1 | tee "$work/said"
  grep -q 'PASSED.* 1 test' "$work/said" || { echo "oclgrind: there is no test $test" >&2 && exit 1; }
  [[ ! -s $OCLGRIND_LOG ]] || { head -n 40 "$OCLGRIND_LOG" >&2 && exit 1; }
done
