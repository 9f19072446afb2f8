#!/bin/sh
# one_driver.sh DEVICES COMMAND...: runs it with one OpenCL driver alone, the first that shows $SLABCAST as many devices.
# Where there are several, the library passes over one that fails, which is no failure of the call then; and some leak.
# PoCL shows its CPU as often as a variable sets; the variable's values depend on the version.
set -eu
devices=$1
shift
drivers=${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OCL_ICD_VENDORS="$work"
for driver in "$drivers" "$drivers"/*.icd; do
  [ -f "$driver" ] || continue
  cp "$driver" "$work/only.icd"
  for shown in "" "pthread pthread" "cpu cpu"; do
    export POCL_DEVICES="$shown"
    [ -n "$shown" ] || unset POCL_DEVICES
    if [ "$("$SLABCAST" devices --json 2>/dev/null | grep -c '"index"')" -ge "$devices" ]; then
      status=0
      "$@" || status=$?
      exit "$status"
    fi
  done
done
echo "one_driver: no driver in $drivers shows $devices device(s)" >&2
exit 1
