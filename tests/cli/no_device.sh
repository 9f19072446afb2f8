#!/usr/bin/env bash
# no_device.sh: without a device, with an unknown one, or with a kernel cache that cannot be written, code 4 and what to do.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
echo 0 0 0 1 0 0 >ray.txt
cast=(cast --builtin boxes:3 --rays ray.txt -o hits.npy)

for device in 99 nvidium cpu,nvidium 0,99; do
  expect_refusal 4 "--device $device: no device matches \"${device#*,}\"" slabcast "${cast[@]}" --device "$device"
  expect_refusal 4 "no device matches" slabcast info --builtin boxes:3 --device "$device"
  expect_refusal 4 "no device matches" slabcast render --builtin boxes:3 -o picture.png --device "$device"
  expect_refusal 4 "no device matches" slabcast rays camera --builtin boxes:3 -o rays.npy --device "$device"
  expect_refusal 4 "no device matches" slabcast demo -o picture.png --device "$device"
  expect_refusal 4 "no device matches" slabcast verify --device "$device"
  expect_refusal 4 "no device matches" slabcast bench --device "$device"
done
expect_refusal 1 "--device 0,0: the list of devices \"0,0\" names device 0 twice" slabcast "${cast[@]}" --device 0,0
expect_refusal 1 "--device 0,: the list of devices \"0,\" has an empty entry" slabcast "${cast[@]}" --device 0,
expect_no hits.npy picture.png rays.npy

# without COMMAND...: each of these ends with code 4, saying what may help.
without() {
  expect_refusal 4 "no OpenCL device" "$@" "$SLABCAST" devices
  expect_refusal 4 "no OpenCL device" "$@" "$SLABCAST" devices --json
  expect_refusal 4 "no OpenCL device" "$@" "$SLABCAST" "${cast[@]}"
  expect_refusal 4 "no OpenCL device" "$@" "$SLABCAST" demo -o picture.png
  expect_refusal 4 "no OpenCL device" "$@" "$SLABCAST" verify --json report.json
  expect_refusal 4 "no OpenCL device" "$@" "$SLABCAST" bench --json report.json
  expect_stderr "install a driver" "POCL_CACHE_DIR" "libintelocl.so stays silent without" intel-cmplr-lib-rt
  expect_no hits.npy picture.png report.json
}
mkdir empty
without env OCL_ICD_VENDORS="$work/empty/"

# PoCL alone has such a cache; as root only a place that is none cannot be written to.
if slabcast devices | grep -q 'Portable Computing Language'; then
  : >file
  without env POCL_CACHE_DIR="$work/file/cache"
fi

# Rays need no device unless a scene frames them.
expect_exit 0 env OCL_ICD_VENDORS="$work/empty/" "$SLABCAST" rays random --count 3 --out text -o -
[[ $(wc -l <out) == 3 ]] || fail "not three rays"
