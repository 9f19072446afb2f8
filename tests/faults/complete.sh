#!/usr/bin/env bash
# complete.sh LIBRARY FAILING_LAYER SWEEP FLIPS SLABCAST_FAULTY: nothing is left out of the sweeps. Every OpenCL
# function that the library calls can fail. Every call of the public header and every command of the program is struck,
# and without its layer no sweep passes.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh" || exit 1
library=$1 layer=$2 sweep=$3 flips=$4 faulty=$5
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
headers=$here/../../host/include

# Releases never fail: there is nothing that a caller could do about it.
if nm -D --undefined-only "$library" | grep ' cl[A-Z]'; then fail "$library is linked to OpenCL"; fi
mapfile -t called < <(sed -nE 's/^  X\(cl([A-Z][A-Za-z]*)\).*/\1/p' "$here/../../host/opencl/loader.h" | grep -v '^Release')
((${#called[@]} > 10)) || fail "the loader finds hardly any of OpenCL: ${called[*]}"
nm "$layer" >symbols
for name in "${called[@]}"; do
  grep -q " fail_$name\$" symbols || fail "$layer cannot let cl$name fail"
done

mapfile -t calls < <(sed -nE 's/^SLAB_API slab_status ?(slab_[a-z_0-9]*)\(.*/\1/p' "$headers"/slabcast*.h)
((${#calls[@]} > 15)) || fail "the headers have hardly any calls: ${calls[*]}"
for name in "${calls[@]}"; do
  grep -q "[^a-z_]$name(" "$here"/actions*.c "$here/scene.c" "$here"/../cuda/test_*.c || fail "no fault strikes $name"
done

mapfile -t commands < <(slabcast --help | sed -nE 's/^  ([a-z]+)  +[a-z].*/\1/p')
((${#commands[@]} > 5)) || fail "the program has hardly any commands: ${commands[*]}"
for name in "${commands[@]}"; do
  grep -qE "^ *(every=[0-9]+ )?strike $name( |\$)" "$here/program.sh" || fail "no fault strikes slabcast $name"
done

# The loader ignores a wrong path in silence; the checks must not.
for check in "$sweep opencl" "$sweep memory" "$flips 1" "$here/program.sh opencl $faulty 1"; do
  # shellcheck disable=SC2086 # several words
  if OPENCL_LAYERS=$layer.missing $check >out 2>&1; then fail "\"$check\" passes without its layers"; fi
  grep -qE 'layers? (is|are|was) not there' out || fail "\"$check\" does not say that its layers are missing: $(cat out)"
done
