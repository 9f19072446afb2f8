#!/bin/sh
# install.sh CMAKE BUILD: what is installed is enough for a stranger's CMake project,
# and the installed program runs with no file of this repository at hand.
set -eu
cmake=$1
build=$2
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/prefix" >"$work/log" || { cat "$work/log" >&2; exit 1; }
mkdir "$work/project"
cp "$root/examples/closest.c" "$work/project"
cat >"$work/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(stranger C)
find_package(slabcast 0.1 REQUIRED)
add_executable(closest closest.c)
target_link_libraries(closest PRIVATE slabcast::slabcast)
END
flags=$(sed -n 's/^CMAKE_C_FLAGS:STRING=//p' "$build/CMakeCache.txt")
{
  "$cmake" -S "$work/project" -B "$work/made" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_FLAGS="$flags" &&
    "$cmake" --build "$work/made"
} >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
cd "$work"
"$work/made/closest"
"$work/prefix/bin/slabcast" devices
