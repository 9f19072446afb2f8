#!/usr/bin/env bash
# consumers.sh WHAT BUILD|PREFIX: users of the library, and machines that have little, or another compiler.
#
#   installed BUILD    BUILD's installation is enough for strangers' projects, and its program runs
#   embedded BUILD     a project that takes this one in gets the library and nothing else; its archive defines no names but
#                      ours, and is enough for strangers once it is installed
#   bare BUILD         without any optional need the library is configured and built, and the missing ones are reported
#   clang BUILD        the library and the program build by clang 14 without a warning
#   strangers PREFIX   strangers' projects on an installation: in C, in C++ alone, by pkg-config; with no file of this
#                      repository at hand but their sources. Where OpenCL's headers are, with objects of theirs too
#
# Builds are made here without optimisation, by the compiler and the generator of BUILD. Kernels for processors are
# BUILD's, or a bare machine's: those of the C compiler.
set -euo pipefail

# shellcheck source=tests/script.sh
source "$(dirname "${BASH_SOURCE[0]}")/script.sh"

# refused TEXT COMMAND...: it fails, and prints TEXT.
refused() {
  if "${@:2}" >"$work/log" 2>&1; then fail "did not fail: ${*:2}"; fi
  tr -s '\n ' ' ' <"$work/log" | grep -qF -- "$1" || fail "\"$1\" is not said by ${*:2}: $(<"$work/log")"
}

# hide PACKAGE...: the options by which CMake does not find them.
hide() { printf -- '-DCMAKE_DISABLE_FIND_PACKAGE_%s=ON\n' "$@"; }

# from_cache NAME: a value of BUILD's configuration.
from_cache() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }

# ---- strangers ----

write_strangers() {
  cp "$root/examples/closest.c" "$root/examples/enqueue.c" "$work"
  cat >"$work/version.cpp" <<'END'
#include <slabcast.h>

#include <cstdio>

int main() {
  size_t count = 0;
  if (slab_devices(nullptr, 0, &count) != SLAB_OK) std::fprintf(stderr, "%s\n", slab_message());
  std::puts(slab_version());
  return count == 0 || slab_version_number() != SLAB_VERSION_NUMBER;
}
END
}

# by_cmake NAME LANGUAGE SOURCE TARGET PREFIX: the program of a project in that language alone, linked to slabcast::TARGET,
# on a machine without what the library was built with. Leaves it as $work/NAME/build/stranger.
by_cmake() {
  local name=$1 language=$2 hidden
  mapfile -t hidden < <(hide OpenCL Threads)
  mkdir "$work/$name"
  cat >"$work/$name/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(stranger $language)
find_package(slabcast 0.1 REQUIRED)
add_executable(stranger $work/$3)
target_link_libraries(stranger PRIVATE slabcast::$4)
END
  quietly cmake -S "$work/$name" -B "$work/$name/build" -DCMAKE_PREFIX_PATH="$5" \
    -DCMAKE_"$language"_FLAGS="$flags" "${hidden[@]}"
  quietly cmake --build "$work/$name/build"
}

# without_loader PROGRAM: where libOpenCL cannot be opened, the program starts all the same and names what is missing.
without_loader() {
  mkdir loader
  : >loader/libOpenCL.so.1
  : >loader/libOpenCL.so
  SLABCAST_BACKENDS=opencl LD_LIBRARY_PATH=$PWD/loader:${libraries%/pkgconfig} "$1" >said 2>&1 &&
    fail "it found OpenCL where there is none"
  grep -q 'no OpenCL loader (.*libOpenCL.so.1' said || fail "without a loader it says $(<said)"
}

# strangers PREFIX [FLAGS]: FLAGS of the compiler, which those of sanitizers have to be given to all.
strangers() {
  local prefix=$1 flags=${2-} libraries version kind=() opencl=''
  if echo '#include <CL/cl.h>' | "${CC:-cc}" -E - >/dev/null 2>&1; then opencl=' with OpenCL,'; fi
  write_strangers
  libraries=$(dirname "$(find "$prefix" -name slabcast.pc)")
  [[ -e ${libraries%/pkgconfig}/libslabcast.so ]] || kind=(--static)
  export PKG_CONFIG_LIBDIR=$libraries # nothing else is found: of the shared library, nothing else is needed
  version=$(pkg-config --modversion slabcast)
  [[ -s $prefix/share/doc/slabcast/LICENSE || -s $prefix/share/doc/libslabcast-dev/copyright ]] ||
    fail "the licence is not installed"

  by_cmake C C closest.c slabcast "$prefix"
  by_cmake CXX CXX version.cpp slabcast "$prefix"
  # shellcheck disable=SC2046,SC2086 # several words
  quietly "${CC:-cc}" $flags -o "$work/by_pkg_config" "$work/closest.c" $(pkg-config "${kind[@]}" --cflags --libs slabcast)
  if [[ $opencl ]]; then
    by_cmake cl C enqueue.c cl "$prefix"
    # shellcheck disable=SC2046,SC2086
    quietly "${CC:-cc}" $flags -o "$work/cl_by_pkg_config" "$work/enqueue.c" \
      $(pkg-config "${kind[@]}" --cflags --libs slabcast-cl)
  fi
  (
    cd "$work"
    C/build/stranger >by_cmake
    grep -q '^ray 2: nothing' by_cmake || fail "the program in C says $(<by_cmake)"
    [[ $(CXX/build/stranger) == "$version" ]] || fail "the program in C++ says another version than $version"
    LD_LIBRARY_PATH=${libraries%/pkgconfig} ./by_pkg_config | cmp by_cmake -
    [[ ! $opencl ]] || cl/build/stranger >/dev/null || fail "the program with OpenCL objects of its own failed"
    without_loader ./by_pkg_config
  )
  echo "projects in C, in C++ alone,$opencl and by pkg-config${kind[*]:+ ${kind[*]}}: built and run"
}

installed() {
  quietly cmake --install "$build" --prefix "$work/prefix"
  strangers "$work/prefix" "$(from_cache CMAKE_C_FLAGS)"
  "$work/prefix/bin/slabcast" devices
  [[ $("$work/prefix/bin/slabcast" --version) == "slabcast $(pkg-config --modversion slabcast)" ]] ||
    fail "slabcast --version says another version than slabcast.pc"
  manual "$work/prefix/bin/slabcast" "$work/prefix/share"
}

# manual PROGRAM FOLDER: the manual and the completions in the folder are what the program writes.
manual() {
  local command
  "$1" --help=man | cmp - "$2/man/man1/slabcast.1"
  "$1" --help=bash | cmp - "$2/bash-completion/completions/slabcast"
  "$1" --help=zsh | cmp - "$2/zsh/site-functions/_slabcast"
  "$1" --help=fish | cmp - "$2/fish/vendor_completions.d/slabcast.fish"
  "$1" --help | sed -n '/^Exit/q; s/^  \([a-z]*\)  *.*/\1/p' >"$work/commands"
  (($(wc -l <"$work/commands") > 5)) || fail "hardly any commands: $(<"$work/commands")"
  while read -r command; do "$1" "$command" --help=man | cmp - "$2/man/man1/slabcast-$command.1"; done <"$work/commands"
}

# ---- a project that takes this one in ----

# compiled_at LEVEL: of optimisation, for sources of ours.
compiled_at() {
  awk -v level="$1" '/"command"/ && /host.bvh.build\.c/ {
    for (i = 1; i <= NF; i++) if ($i ~ /^-O/) { found++; other += $i != level }
  } END { exit found != 1 || other }' "$made/compile_commands.json" ||
    fail "host/bvh is not compiled at $1: $(grep 'bvh.build\.c' "$made/compile_commands.json")"
}

embedded() {
  local made=$work/parent/build name
  write_strangers
  mkdir "$work/parent"
  cat >"$work/parent/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(parent CXX)
include(FetchContent)
FetchContent_Declare(slabcast SOURCE_DIR $root)
FetchContent_MakeAvailable(slabcast)
add_executable(parent $work/version.cpp)
target_link_libraries(parent PRIVATE slabcast::slabcast)
END
  quietly cmake -S "$work/parent" -B "$made" "-DSLABCAST_NATIVE_OBJECTS=$build/native"
  compiled_at -O2
  quietly cmake "-DCMAKE_C_FLAGS=-flto -O0" "$made"
  compiled_at -O0
  quietly cmake --build "$made" -j 2
  "$made/parent"
  for name in CMAKE_BUILD_TYPE:STRING=. BUILD_SHARED_LIBS CMAKE_INSTALL_LIBDIR PNG_ JANSSON_ MPI_ PKG_CONFIG; do
    if grep "^$name" "$made/CMakeCache.txt"; then fail "the parent's cache has that"; fi
  done
  name=$(find "$made" -name CMakeFiles -prune -o -type f -perm /111 -print)
  [[ $name == "$made/parent" ]] || fail "not the parent's program alone was built: $name"
  quietly cmake --install "$made" --prefix "$work/prefix"
  [[ ! -e $work/prefix ]] || fail "the parent installs something of ours unasked"

  quietly cmake -DSLABCAST_INSTALL=ON "$made"
  quietly cmake --build "$made" -j 2
  quietly cmake --install "$made" --prefix "$work/prefix"
  nm -g --defined-only "$(find "$work/prefix" -name libslabcast.a)" | awk 'NF == 3 { print $3 }' >"$work/names"
  (($(grep -c ^slab_ "$work/names") > 20)) || fail "the archive has hardly any functions: $(<"$work/names")"
  if grep -v ^slab_ "$work/names" >&2; then fail "the archive defines these global names"; fi
  strangers "$work/prefix"
}

# ---- a machine that has nothing ----

bare() {
  local made=$work/made need package option
  mapfile -t option < <(hide OpenCL PkgConfig PNG assimp MPI embree)
  quietly cmake -S "$root" -B "$made" -DCMAKE_C_FLAGS_RELEASE="-O0 -Werror" -DSLABCAST_KERNEL_COMPILER= "-DSLABCAST_NATIVE_OBJECTS=$build/native" "${option[@]}"
  while IFS='|' read -r need package; do
    grep -qE "^--   $need .* NO +.* $package" "$work/log" || fail "not told that $package brings $need: $(<"$work/log")"
  done <<'END'
OpenCL headers|ocl-icd-opencl-dev
clang 14 or later|clang
pkg-config|pkg-config
libpng|libpng-dev
jansson|libjansson-dev
cairo|libcairo2-dev
MPI|libopenmpi-dev
assimp|libassimp-dev
Embree|libembree-dev
cmocka|libcmocka-dev
GMP|libgmp-dev
OpenCL loader|ocl-icd-opencl-dev
END
  grep -q '^-- It builds: library$' "$work/log" || fail "what is built is not told: $(<"$work/log")"
  [[ $(sed -n 's/^CMAKE_BUILD_TYPE:STRING=//p' "$made/CMakeCache.txt") == Release ]] || fail "it is no release"
  quietly cmake --build "$made" -j 2
  [[ -e $made/libslabcast.so ]] || fail "no library was built"

  refused "SLABCAST_PROGRAM is ON and needs what is not here: pkg-config, libpng, jansson. Debian's \
packages: pkg-config libpng-dev libjansson-dev" cmake -DSLABCAST_PROGRAM=ON "$made"
  refused "pkg-config, cmocka, GMP, OpenCL loader, libpng, jansson, assimp. Debian's packages: pkg-config \
libcmocka-dev libgmp-dev ocl-icd-opencl-dev libpng-dev libjansson-dev libassimp-dev" \
    cmake -DSLABCAST_PROGRAM=AUTO -DSLABCAST_TESTS=ON "$made"
  refused "cmocka, GMP, BUILD_SHARED_LIBS, OpenCL loader" cmake -DBUILD_SHARED_LIBS=OFF "$made"
}

# ---- another compiler ----

# Which differs from a later clang in what it takes. Skipped where it is not installed.
clang() {
  local made=$work/made
  command -v clang-14 >/dev/null || exit 77
  CC=clang-14 quietly cmake -S "$root" -B "$made" -DSLABCAST_PROGRAM=ON -DSLABCAST_CUDA=OFF -DCMAKE_C_FLAGS_RELEASE="-O0 -Werror" \
    "-DSLABCAST_NATIVE_OBJECTS=$build/native"
  quietly cmake --build "$made" -j 2 --target slab_lib slabcast
  "$made/program/slabcast" --version
}

what=${1-}
case $what in
  installed | embedded | bare | clang)
    build=$2
    CC=$(from_cache CMAKE_C_COMPILER)
    CMAKE_GENERATOR=$(from_cache CMAKE_GENERATOR)
    export CC CMAKE_GENERATOR
    "$what"
    ;;
  strangers) strangers "$2" ;;
  *) fail "usage: consumers.sh installed|embedded|bare|clang BUILD | strangers PREFIX" ;;
esac
