#!/usr/bin/env bash
# The library as aarch64 processors get it, cross-built and run by an emulator: each answer has the bits that this
# processor's kernels give, at eight lanes and at one.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/toolchain.sh
source tests/toolchain.sh
target=aarch64-linux-gnu
build=$PWD/build/aarch64
export SLABCAST_BACKENDS=native QEMU_LD_PREFIX=/usr/$target

cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
  -DCMAKE_C_COMPILER=$target-gcc "-DSLABCAST_KERNEL_COMPILER=$CLANG;--target=$target" -DSLABCAST_PROGRAM=OFF \
  -DSLABCAST_BENCH=OFF -DSLABCAST_TESTS=OFF -DSLABCAST_INSTALL=OFF >&2
cmake --build "$build" --target slab_lib slab_sets >&2
$target-gcc -std=c11 -O2 -ffp-contract=off -D_POSIX_C_SOURCE=200809L -Ihost/include -Ihost/scenes -Ikernels \
  tests/prove/digests.c -o "$build/digests" "$build/libslab_sets.a" -L"$build" -lslabcast -Wl,-rpath,"$build" -lm >&2

rays=$(scaled 50000) # each is cast twice: by brute force, and through a BVH
for lanes in 8 1; do
  here=$PROVE_WORK/here$lanes there=$PROVE_WORK/there$lanes
  "$PROVE_BIN/digests" "$lanes" "$rays" "$PROVE_SEED" >"$here" &
  qemu-aarch64 "$build/digests" "$lanes" "$rays" "$PROVE_SEED" >"$there"
  wait $!
  diff "$here" "$there" | head -n 20 >&2 || true
  row "answers bit-equal between armv8-a ($target, emulated) and $(uname -m), lanes: $lanes" \
    "1e5 rays of every query at each kind of primitive, 0 casts differ" \
    "$(awk '
      FNR == NR { want[FNR] = $0; next }
      { differ += $0 != want[FNR] }
      match($0, /: [0-9]+ rays,/) { casts++; answers += substr($0, RSTART + 2) }
      END { printf "%d answers in %d casts: %d differ\n", answers, casts, differ + (FNR != length(want)) }
    ' "$here" "$there")"
  cmp -s "$here" "$there" || failed=1
done
echo "runtime: armv8-a kernels, $(qemu-aarch64 --version | head -n 1)"
finish
