#!/usr/bin/env bash
# The library on a Debian 13 of its own that has nothing of ours. It is built with a compiler, CMake and OpenCL's
# headers and loader alone, then used where OpenCL's headers are not. Needs root: packages are installed.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

debian_begin system

# inside COMMAND: sets `seen` to its exit code there.
inside() {
  local status=0
  in_debian "$1" || status=$?
  seen="exit code $status, $seconds s"
  return "$status"
}

install='apt-get install -q -y --no-install-recommends'
inside "apt-get update -q; $install gcc g++ libc6-dev cmake ninja-build pkg-config"
if inside 'cmake -S . -B build -G Ninja'; then failed=1; fi
grep -q ocl-icd-opencl-dev "$log" || failed=1
row "cmake without OpenCL, Debian 13" "says which package brings it" "$(tr -s '\n ' ' ' <"$log" | grep -o 'Slabcast needs.*-dev')"

inside "$install ocl-icd-opencl-dev"
inside 'cmake -S . -B build -G Ninja; cmake --build build; cmake --install build --prefix /opt/slabcast' || failed=1
row "configure, build and install with OpenCL alone, Debian 13" "exit code 0" \
  "$seen; $(sed -n 's/^-- It builds: /builds /p; s/^-- It leaves/leaves/p' "$log" | paste -s | sed 's/\t/; /')"

inside "$install pocl-opencl-icd; apt-get purge -q -y ocl-icd-opencl-dev 'opencl-*headers'"
inside 'if test -e /usr/include/CL/cl.h; then exit 1; fi'
inside 'CMAKE_GENERATOR=Ninja tests/consumers.sh strangers /opt/slabcast' || failed=1
row "users of that library where OpenCL's headers are not" "build and run" "$seen; $(tail -n 1 "$log")"

inside './dev install /opt/whole; /opt/whole/bin/slabcast --version; diff <(ls build/release/bin) <(echo slabcast)' || failed=1
row "./dev install there" "exit code 0, the program alone is built" \
  "$seen; installs $(sed -n 's/^dev: installing //p' "$log")"
inside './dev install; tests/pages.sh shell-at /usr/local README.md' || failed=1
row "./dev install into /usr/local there, then README by shell and in C" "exit code 0" "$seen; $(tail -n 1 "$log")"
inside './dev bench flat --boxes 64 --seconds 0.01 --rounds 1; ./dev plot' || failed=1
row "./dev bench flat and ./dev plot there" "exit code 0" "$seen; installs $(sed -n 's/^dev: installing //p' "$log")"
echo "runtime: PoCL of Debian 13"
finish
