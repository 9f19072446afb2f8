#!/usr/bin/env bash
# The library as aarch64 processors get it, cross-built and run by an emulator: each answer has the bits that this
# processor's kernels give, at eight lanes and at one. Both ways of docs/use.md: a cross gcc, and clang for that target.
# A share of the proof, which is one of the tests, is built with little optimisation: no answer depends on that.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tools/toolchain.sh
source tools/toolchain.sh
target=aarch64-linux-gnu
build=${PROVE_BIN%/bin}/aarch64
optimise=-O1
[[ $PROVE_SCALE != 1 ]] || optimise=-O3
export SLABCAST_BACKENDS=native
for need in $target-gcc "$CLANG" qemu-aarch64; do
  command -v "$need" >/dev/null || { echo "aarch64: $need is not installed" >&2 && exit 77; } # a test skipped
done

# cross COMPILER TARGET... [CMAKE_OPTION...]: builds these in $build/COMPILER.
cross() {
  cmake -S . -B "$build/$1" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS_RELEASE=$optimise -DNDEBUG" \
    -DCMAKE_C_FLAGS=-Werror -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DSLABCAST_PROGRAM=OFF \
    -DSLABCAST_BENCH=OFF -DSLABCAST_TESTS=OFF -DSLABCAST_INSTALL=OFF "${@:3}" >&2
  # shellcheck disable=SC2086 # several words
  cmake --build "$build/$1" -j 2 --target $2 >&2
}

# compare COMPILER LANES RAYS: each ray is cast twice, by brute force and through a BVH.
compare() {
  local here=$PROVE_WORK/here there=$PROVE_WORK/there
  "$PROVE_BIN/digests" "$2" "$3" "$PROVE_SEED" >"$here" &
  qemu-aarch64 -L /usr/$target -E LD_LIBRARY_PATH="$build/$1" "$build/digests" "$2" "$3" "$PROVE_SEED" >"$there"
  wait $!
  diff "$here" "$there" | head -n 20 >&2 || true
  row "answers bit-equal between armv8-a ($1 for $target, emulated) and $(uname -m), lanes: $2" \
    "$(($3 * 2)) rays of every query at each kind of primitive, 0 casts differ" \
    "$(awk '
      FNR == NR { want[FNR] = $0; next }
      { differ += $0 != want[FNR] }
      match($0, /: [0-9]+ rays,/) { casts++; answers += substr($0, RSTART + 2) }
      END { printf "%d answers in %d casts: %d differ\n", answers, casts, differ + (FNR != length(want)) }
    ' "$here" "$there")"
  cmp -s "$here" "$there" || failed=1
}

cross gcc 'slab_lib slab_sets' -DCMAKE_C_COMPILER=$target-gcc
cross clang slab_lib "-DCMAKE_C_COMPILER=$CLANG" -DCMAKE_C_COMPILER_TARGET=$target \
  "-DSLABCAST_NATIVE_OBJECTS=$build/gcc/native" # clang's in either
$target-gcc -std=c11 -O1 -ffp-contract=off -D_POSIX_C_SOURCE=200809L -I. -Ihost -Ihost/include -Ikernels \
  tests/prove/digests.c -o "$build/digests" "$build/gcc/libslab_sets.a" -L"$build/gcc" -lslabcast -lm >&2
for lanes in 8 1; do compare gcc $lanes "$(scaled 50000)"; done
compare clang 8 "$(scaled 5000)" # the same kernels
echo "runtime: armv8-a kernels, $(qemu-aarch64 --version | head -n 1)"
finish
