#!/bin/sh
# two_devices.sh COMMAND...: runs it where there are two devices: PoCL shows its CPU as often as it is asked to. Its name for
# it depends on the version.
set -eu
for name in pthread cpu; do
  POCL_DEVICES="$name $name"
  export POCL_DEVICES
  if [ "$("$SLABCAST" devices --json 2>/dev/null | grep -c '"index"')" -ge 2 ]; then
    exec "$@"
  fi
done
echo "two_devices: no driver shows two devices" >&2
exit 1
