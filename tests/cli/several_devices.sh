#!/usr/bin/env bash
# several_devices.sh PRETENDING_LAYER: run where there are two: whichever devices cast, the files are the same bytes.
# One that cannot be described is counted nowhere.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
# All kinds, which share the programs of other tests.
scene=(--builtin city:3000 --builtin soup:2000 --builtin spheres:5 --builtin obbs:5 --builtin planes:1)
expect_exit 0 slabcast rays random "${scene[@]}" --count 50000 -o rays.npy
for query in closest all; do
  expect_exit 0 slabcast cast "${scene[@]}" --rays rays.npy --query $query -o one.npy --device 0
  for devices in all 1,0; do
    expect_exit 0 slabcast cast "${scene[@]}" --rays rays.npy --query $query -o several.npy --device "$devices"
    cmp one.npy several.npy || fail "$query: --device $devices gives another file"
    [[ $query != all ]] || cmp one.npy.offsets.npy several.npy.offsets.npy || fail "--device $devices: other offsets"
  done
done
awk 'BEGIN { for (i = 0; i < 50000; i++) print i % 32 }' >masks.txt
expect_exit 0 slabcast cast "${scene[@]}" --rays rays.npy -o first.npy
own=(--masks masks.txt --after first.npy)
expect_exit 0 slabcast cast "${scene[@]}" --rays rays.npy "${own[@]}" -o one.npy --device 0
expect_exit 0 slabcast cast "${scene[@]}" --rays rays.npy "${own[@]}" -o several.npy --device all
expect_same one.npy several.npy
expect_other one.npy first.npy
expect_refusal 2 "--device all: these are 2 devices, of which bench measures one at a time" slabcast bench --device all

# Devices are distinguished by their compute units.
pretend=(env OPENCL_LAYERS="$OPENCL_LAYERS:$1" SLAB_PRETEND_FILE=/dev/null)
expect_exit 0 "${pretend[@]}" SLAB_PRETEND=0.units:5,1.units:7,0.mute:-33 "$SLABCAST" devices
[[ $(grep -c ' [57] ' out) == 1 ]] || fail "not one device: $(<out)"
grep -qE '^ *0  .* 7 ' out || fail "device 0 is not the one that can be described: $(<out)"
expect_exit 0 "${pretend[@]}" SLAB_PRETEND=0.mute:-33 "$SLABCAST" cast "${scene[@]}" --rays rays.npy -o left.npy --device 0
expect_exit 0 slabcast cast "${scene[@]}" --rays rays.npy -o one.npy
cmp one.npy left.npy || fail "the device that is left gives another file"
expect_refusal 4 '", and lacks one that cannot be described' "${pretend[@]}" SLAB_PRETEND=0.mute:-33 \
  "$SLABCAST" cast "${scene[@]}" --rays rays.npy -o left.npy --device 1
expect_refusal 1 "clGetDeviceInfo failed with CL_INVALID_DEVICE (-33)" "${pretend[@]}" SLAB_PRETEND=mute:-33 \
  "$SLABCAST" devices
