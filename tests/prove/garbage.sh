#!/usr/bin/env bash
# Geometry of random bits, nine numbers in ten with an exponent that gets past the door, random indices, rays of random
# bits. The library takes or refuses it. Where it takes it, the device's bits are the CPU reference's. 64 rays per mesh.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

verify garbage "$(scaled 1280000)"
row "garbage meshes, each in a scene with garbage of every other kind" "20,000, no crash, no hang" \
  "$(sum_of batches) meshes, $(sum_of taken) geometries accepted, $(sum_of refused) of them refused first and then accepted with skip_invalid, $(sum_of rays) rays: $(sum_of failures) failures"
finish
