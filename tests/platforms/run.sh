#!/usr/bin/env bash
# The library as other systems get it, cross-built and run by an emulator: its tests pass, and each answer has the bits
# that this processor's kernels give on Linux.
#
#   run.sh arm|windows share|whole
#
# `arm`: 64-bit Linux, by qemu-aarch64, at eight lanes and at one; both ways of docs/use.md, a cross gcc and clang for
# that target. `windows`: x86-64, by gcc of mingw and wine, at all widths of this processor. `share`: the tests
# that share.txt names. It is built with little optimisation, of kernels with none: no answer depends on that. `whole`:
# every test that needs no OpenCL (native.cmake); and on Windows the program (program.sh, child.c). It is a step of the
# proof: tests/prove.sh documents the variables, and the rows.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../prove/lib.sh"
# shellcheck source=tools/toolchain.sh
source tools/toolchain.sh
system=$1 extent=$2
build=${PROVE_BIN%/bin}/platforms/$system
bin=$build/bin # of all programs and DLLs
export SLABCAST_BACKENDS=native
case $system in
  arm)
    name='64-bit Arm' target=aarch64-linux-gnu lanes=(8 1)
    cc=$target-gcc
    machine=(-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64)
    emulator=(qemu-aarch64 -L "/usr/$target") digests=digests
    ;;
  windows)
    name=Windows target=x86_64-w64-mingw32 lanes=(16 8 1)
    cc=$target-gcc-win32
    machine=(-DCMAKE_SYSTEM_NAME=Windows -DCMAKE_SYSTEM_PROCESSOR=x86_64
      -DCMAKE_{EXE,SHARED}_LINKER_FLAGS=-static-libgcc) # whose DLL is not there
    emulator=(/usr/lib/wine/wine64) digests=digests.exe
    # A prefix of its own, without a desktop, a debugger and what wine would fetch.
    export WINEPREFIX=$build/wine WINEDEBUG=-all DISPLAY='' WINEDLLOVERRIDES='mscoree,mshtml,winemenubuilder.exe,winedbg.exe='
    grep -qw avx512vl /proc/cpuinfo || lanes=(8 1)
    ;;
esac
for need in "$cc" "$CLANG" "${emulator[0]}" pkg-config; do
  command -v "$need" >/dev/null || { echo "$system: $need is not installed" >&2 && exit 77; } # a test skipped
done
optimise=-O1 kernels='-O0 -Dalways_inline=unused' # called, not inlined: a fifth of the time
[[ $extent == share ]] || optimise=-O3 kernels=''

# cross FOLDER SOURCE [CMAKE_OPTION...]: configures SOURCE in $build/FOLDER.
cross() {
  cmake -S "$2" -B "$build/$1" -G Ninja "${machine[@]}" -DCMAKE_BUILD_TYPE=Release \
    "-DCMAKE_C_FLAGS_RELEASE=$optimise -DNDEBUG" "-DCMAKE_RUNTIME_OUTPUT_DIRECTORY=$bin" "${@:3}" >&2
}

# slabcast FOLDER [CMAKE_OPTION...]: the library. This machine's OpenCL is not that system's.
slabcast() {
  cross "$1" . -DCMAKE_C_FLAGS=-Werror "-DSLABCAST_KERNEL_FLAGS=$kernels" -DSLABCAST_PROGRAM=OFF -DSLABCAST_BENCH=OFF \
    -DSLABCAST_INSTALL=OFF -DSLABCAST_CUDA=OFF -DCMAKE_DISABLE_FIND_PACKAGE_OpenCL=ON "${@:2}"
}

# Compiles what the tests are linked to into $build/needs.
build_needs() {
  local sources needs=$build/needs
  sources=$(tools/roots.sh get harness) || { echo "$system: the sources of cmocka are not there" >&2 && exit 77; }
  # Its messages have %zu, which only the printf of mingw's own library has.
  cross cmocka "$sources/cmocka" "-DCMAKE_C_COMPILER=$cc" -DCMAKE_C_FLAGS=-D__USE_MINGW_ANSI_STDIO=1 \
    -DWITH_EXAMPLES=OFF "-DCMAKE_INSTALL_PREFIX=$needs" -DCMAKE_INSTALL_LIBDIR=lib "-DCMAKE_INSTALL_BINDIR=$bin"
  cmake --build "$build/cmocka" --target install >&2
  mkdir -p "$needs/include"
  cp "$sources"/gmp/*.h "$needs/include"
  printf '#include "mini-%s.h"\n' gmp mpq >"$needs/include/gmp.h"
  printf '#include "mini-%s.c"\n' gmp mpq | "$cc" -O2 -x c -I "$sources/gmp" -c - -o "$build/gmp.o"
  ar rc "$needs/lib/libgmp.a" "$build/gmp.o"
  printf '%s\n' 'Name: gmp' 'Description: the small one' 'Version: 6.2.1' "Cflags: -I$needs/include" \
    "Libs: -L$needs/lib -lgmp" >"$needs/lib/pkgconfig/gmp.pc"
}

# Builds and runs the tests.
run_tests() {
  local names=() targets=(all) only=() told log=$PROVE_WORK/log tally=$build/tests/Testing/tally
  if [[ $extent == share ]]; then
    mapfile -t names < <(awk -v on="$system" '!/^#/ && NF && ($2 == "" || $2 == on) { print $1 }' tests/platforms/share.txt)
    ((${#names[@]} > 10)) || { echo "share.txt names hardly any tests of $system" >&2 && exit 1; }
    mapfile -t targets < <(printf '%s\n' digests "${names[@]}" | sed 's/_native.*//; s/^faults_.*/sweep/' | sort -u)
    only=(-R "^($(IFS='|' && echo "${names[*]}"))\$")
  elif [[ $system == arm ]]; then
    only=(-E '^test_pool$') # QEMU 7.2 aborts where the forked child of a process with threads starts one
  fi
  cmake --build "$build/tests" -j 2 --target "${targets[@]}" >&2
  rm -f "$tally"
  ctest --test-dir "$build/tests" -j 2 --output-on-failure --no-tests=error "${only[@]}" >"$log" || failed=1
  cat "$log" >&2
  told=$(awk -v named="${#names[@]}" '
    FILENAME ~ /tally$/ { answers += $3; next }
    /^ *[0-9]+\/[0-9]+ Test/ { ran++; skipped += /\*\*\*Skipped/; passed += / Passed / }
    END {
      printf "%d of %d passed, %d skipped for their width; %d answers compared\n", passed, ran, skipped, answers
      exit answers == 0 || (named > 0 && ran != named)
    }' "$tally" "$log") || { echo "$system: not all tests of share.txt are there" >&2 && failed=1; }
  row "tests of $name, emulated" "0 fail" "$told"
}

# compare LIBRARY LANES RAYS: LIBRARY is the folder of $build that has it. Each ray is cast twice, by brute force and
# through a BVH.
compare() {
  local here=$PROVE_WORK/here there=$PROVE_WORK/there
  "$PROVE_BIN/digests" "$2" "$3" "$PROVE_SEED" >"$here" &
  LD_LIBRARY_PATH=$build/$1 "${emulator[@]}" "$bin/$digests" "$2" "$3" "$PROVE_SEED" | tr -d '\r' >"$there"
  wait $!
  diff "$here" "$there" | head -n 20 >&2 || true
  row "answers bit-equal between $name (${built[$1]}, emulated) and Linux on $(uname -m), lanes: $2" \
    "$(($3 * 2)) rays of every query at each kind of primitive, 0 casts differ" \
    "$(awk '
      FNR == NR { want[FNR] = $0; next }
      { differ += $0 != want[FNR] }
      match($0, /: [0-9]+ rays,/) { casts++; answers += substr($0, RSTART + 2) }
      END { printf "%d answers in %d casts: %d differ\n", answers, casts, differ + (FNR != length(want)) }
    ' "$here" "$there")"
  cmp -s "$here" "$there" || failed=1
}

# Builds the program, and holds it against this system's, byte by byte.
compare_program() {
  local needs options=(-std=c11 -O1 -D_POSIX_C_SOURCE=200809L -D__USE_MINGW_ANSI_STDIO=1 -I. -Ihost -Ihost/include)
  needs=$(tools/roots.sh get mingw)
  cmake -S . -B "$build/program" -G Ninja "-DCMAKE_TOOLCHAIN_FILE=$needs/toolchain.cmake" -DCMAKE_BUILD_TYPE=Release \
    "-DCMAKE_RUNTIME_OUTPUT_DIRECTORY=$bin" "-DSLABCAST_NATIVE_OBJECTS=$build/tests/native" -DSLABCAST_PROGRAM=ON \
    -DSLABCAST_BENCH=OFF -DSLABCAST_TESTS=OFF -DSLABCAST_INSTALL=OFF -DSLABCAST_CUDA=OFF >&2
  cmake --build "$build/program" -j 2 --target slabcast >&2
  row "what the program of $name gives, emulated, as Linux's does" "no file differs" \
    "$(tests/platforms/program.sh "${emulator[@]}" "$bin/slabcast.exe" | tail -n 1)" || failed=1
  "$cc" "${options[@]}" tests/platforms/child.c program/os/windows.c host/os/windows.c -static-libgcc -o "$bin/child.exe"
  "${emulator[@]}" "$bin/child.exe" no-memory >&2 || failed=1 # which Wine does not limit
}

# Makes wine's folders, which take 0.7 GB, for as long as this runs. So long its server stays, too: else it ends with its
# last client, and who connects meanwhile fails.
begin_wine() {
  trap '/usr/lib/wine/wineserver64 -k || true; rm -rf "$WINEPREFIX"' EXIT
  mkdir -p "$WINEPREFIX"
  /usr/lib/wine/wineserver64 -p
  "${emulator[@]}" wineboot -i >&2
}

declare -A built=([tests]="$cc" [clang]="clang for $target")
build_needs
[[ $system != windows ]] || begin_wine
PKG_CONFIG_LIBDIR=$build/needs/lib/pkgconfig slabcast tests "-DCMAKE_C_COMPILER=$cc" -DSLABCAST_TESTS=NATIVE \
  -DSLABCAST_TEST_TIMEOUT=7200 "-DCMAKE_CROSSCOMPILING_EMULATOR=$(IFS=';' && echo "${emulator[*]}")"
run_tests
for width in "${lanes[@]}"; do compare tests "$width" "$(scaled 50000)"; done
if [[ $system-$extent == windows-whole ]]; then compare_program; fi
if [[ $system == arm ]]; then
  slabcast clang "-DCMAKE_C_COMPILER=$CLANG" "-DCMAKE_C_COMPILER_TARGET=$target" -DSLABCAST_TESTS=OFF \
    "-DSLABCAST_NATIVE_OBJECTS=$build/tests/native" # clang's in either
  cmake --build "$build/clang" -j 2 --target slab_lib >&2
  compare clang 8 "$(scaled 5000)"
fi
finish
