#!/usr/bin/env bash
# several_devices.sh: run where there are two: whichever devices cast, the files are the same bytes.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
scene=(--builtin city:3000 --builtin soup:2000)
expect_exit 0 slabcast rays random "${scene[@]}" --count 50000 -o rays.npy
for query in closest all; do
  expect_exit 0 slabcast cast "${scene[@]}" --rays rays.npy --query $query -o one.npy --device 0
  for devices in all 1,0; do
    expect_exit 0 slabcast cast "${scene[@]}" --rays rays.npy --query $query -o several.npy --device "$devices"
    cmp one.npy several.npy || fail "$query: --device $devices gives another file"
    [[ $query != all ]] || cmp one.npy.offsets.npy several.npy.offsets.npy || fail "--device $devices: other offsets"
  done
done
expect_refusal 2 "--device all: these are 2 devices, of which bench measures one at a time" slabcast bench --device all
