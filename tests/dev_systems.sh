#!/usr/bin/env bash
# dev_systems.sh: the packages that ./dev requests and refuses on macOS and on Windows, by their names there, and that
# CMake reports the same names. Both systems are pretended, by `uname` and by package managers with given answers. Only
# on these systems can one see that the packages are there, and enough.
set -euo pipefail

# shellcheck source=tests/script.sh
source "$(dirname "${BASH_SOURCE[0]}")/script.sh"
unset MINGW_PACKAGE_PREFIX MINGW_PREFIX HOMEBREW_PREFIX BASH_ENV
export OCL_ICD_VENDORS=$work/none

# A machine that has nothing: PATH has only the programs that ./dev uses before it builds.
mkdir "$work/bin"
for tool in awk bash cat dirname sort; do ln -s "$(command -v "$tool")" "$work/bin/$tool"; done
# shellcheck disable=SC2016 # that script's
printf '#!/bin/sh\ncase $1 in -m) echo "$MACHINE" ;; *) echo "$SYSTEM" ;; esac\n' >"$work/bin/uname"
chmod +x "$work/bin/uname"

# has MANAGER STATUS: it installs nothing, and ends so.
has() {
  printf '#!/bin/sh\necho "%s $*"\nexit %d\n' "$1" "$2" >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}

# on SYSTEM MACHINE TEXT COMMAND...: there ./dev fails, and its last line is TEXT.
on() {
  local said
  if said=$(SYSTEM=$1 MACHINE=$2 PATH=$work/bin "$root/dev" "${@:4}" 2>&1); then fail "./dev ${*:4} did not fail on $1"; fi
  [[ ${said##*$'\n'} == "$3" ]] || fail "on $1 ./dev ${*:4} does not end with \"$3\" but says: $said"
}

msys2() { printf ' mingw-w64-ucrt-x86_64-%s' "$@"; }

mac=(Darwin arm64)
windows=(MINGW64_NT-10.0-26100 x86_64)
program=(assimp cairo cmake jansson libpng llvm ninja pkgconf)
windows_program=(assimp cairo clang cmake gcc jansson libpng ninja opencl-headers opencl-icd pkgconf)

please="please install what these"
on "${mac[@]}" "dev: $please Homebrew packages hold, then come back: ${program[*]}" demo
on "${windows[@]}" "dev: $please MSYS2 packages hold, then come back:$(msys2 "${windows_program[@]}")" demo
has brew 1
has pacman 1
for command in demo test verify install; do
  on "${mac[@]}" "brew install ${program[*]}" "$command"
  on "${windows[@]}" "pacman -S --needed --noconfirm$(msys2 "${windows_program[@]}")" "$command"
done
on "${mac[@]}" "brew install assimp cmake llvm ninja pkgconf" bench trace
on "${windows[@]}" "pacman -S --needed --noconfirm$(msys2 assimp clang cmake gcc ninja opencl-headers opencl-icd pkgconf)" \
  bench trace
has brew 0 # then Embree's headers are not there all the same, and there is no CMake
SYSTEM=Darwin MACHINE=arm64 HOMEBREW_PREFIX=$work PATH=$work/bin "$root/dev" bench trace >"$work/said" 2>&1 || true
grep -qx 'brew install embree' "$work/said" || fail "on macOS ./dev bench trace asks for no Embree: $(<"$work/said")"
has brew 1
on "${mac[@]}" "brew install gnuplot" plot
on "${windows[@]}" "pacman -S --needed --noconfirm$(msys2 gnuplot)" plot
on "${mac[@]}" "brew install python" python
on "${windows[@]}" "pacman -S --needed --noconfirm$(msys2 python)" python
MINGW_PACKAGE_PREFIX=mingw-w64-clang-aarch64 on "${windows[@]}" \
  "pacman -S --needed --noconfirm mingw-w64-clang-aarch64-gnuplot" plot

there="demo, test, verify, python, bench, plot, install and clean"
for command in card pictures asan tsan fuzz runtimes gate mutants plants prove package docs lint format "bench steps" "bench python" "bench worlds_python"; do
  # shellcheck disable=SC2086 # several words
  on "${mac[@]}" "dev: $command is for Linux; on macOS there are $there" $command
done
on MSYS_NT-10.0-26100 x86_64 "dev: on Windows this is for MSYS2's shell UCRT64, or for Git's" demo
on "${windows[@]}" "dev: lint is for Linux; on Windows there are $there" lint

# macOS brings bash 3.2.
echo "BASH_VERSION='3.2.57(1)-release'" >"$work/old"
BASH_ENV=$work/old on "${mac[@]}" \
  "dev: this bash is 3.2.57(1)-release, and 4.4 or later is needed; on macOS: brew install bash" demo

# CMake's names are the same, of all packages that it reports.
cat >"$work/names.cmake" <<'END_OF_CMAKE'
include(${ROOT}/cmake/manager.cmake)
foreach(package IN LISTS PACKAGES)
  slab_here_named(name "${package}")
  message("${package}: ${name}")
endforeach()
END_OF_CMAKE
mapfile -t packages < <(sed -nE 's/^ *slab_need\(("[^"]*"|[^ ]*) [^ ]+ ("?)([a-z0-9-]+).*/\3/p' "$root/cmake/needs.cmake")
((${#packages[@]} >= 10)) || fail "needs.cmake tells ${#packages[@]} packages"
for system in Darwin:CMAKE_HOST_APPLE MINGW64_NT:CMAKE_HOST_WIN32; do
  cmake "-D${system#*:}=ON" "-DROOT=$root" "-DPACKAGES=$(IFS=';' && echo "${packages[*]}")" -P "$work/names.cmake" 2>"$work/by_cmake" ||
    fail "$(<"$work/by_cmake")"
  for package in "${packages[@]}"; do
    echo "$package: $(SYSTEM=${system%:*} MACHINE=arm64 PATH=$work/bin bash -c '. "$0"; here_named' "$root/tools/system.sh" <<<"$package" | xargs)"
  done | diff "$work/by_cmake" - || fail "CMake and dev tell packages of ${system%:*} by different names"
done
