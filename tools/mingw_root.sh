#!/usr/bin/env bash
# mingw_root.sh FOLDER: makes FOLDER a prefix for CMake with what the program needs on Windows (x86-64): zlib, libpng and
# jansson as archives, and OpenCL's headers. zlib is Debian's own for mingw; the others are built from Debian's sources.
# -DCMAKE_TOOLCHAIN_FILE=FOLDER/toolchain.cmake builds with it. Nothing is installed, so no privilege is needed. A folder
# that is whole already is left as it is.
set -euo pipefail

die() {
  echo "mingw_root: $*" >&2
  exit 1
}

[[ $# == 1 ]] || die "usage: mingw_root.sh FOLDER"
root=$(realpath -m "$1")
target=x86_64-w64-mingw32
keys=/usr/share/keyrings/debian-archive-keyring.gpg
for need in apt-get dpkg-source cmake ninja pkg-config "$target-gcc"; do
  command -v "$need" >/dev/null || die "$need is not here. Debian's packages: dpkg-dev cmake ninja-build pkg-config gcc-mingw-w64-x86-64"
done
[[ ! -e $root/whole ]] || exit 0
rm -rf "$root"
mkdir -p "$root"/work/{lists,cache/archives}/partial
cd "$root/work"

# ---- what Debian has ----

# $DEBIAN_MIRROR, or the mirror that this machine's own packages come from.
mirror=${DEBIAN_MIRROR:-$(apt-get --print-uris update 2>/dev/null | sed -n "s|^'\(.*/debian\)/dists/.*|\1|p" | head -n 1)}
[[ -n $mirror ]] || die "no mirror of Debian is known here: set DEBIAN_MIRROR to one"
: >status
for kind in deb deb-src; do echo "$kind [signed-by=$keys] $mirror bookworm main"; done >sources
apt=(apt-get -q -o Dir::State="$PWD" -o Dir::State::status="$PWD/status" -o Dir::Cache="$PWD/cache"
  -o Dir::Etc::sourcelist="$PWD/sources" -o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferences=/dev/null
  -o Dir::Etc::preferencesparts=/dev/null -o APT::Sandbox::User=root -o Acquire::Retries=3)
"${apt[@]}" update
"${apt[@]}" download libz-mingw-w64-dev opencl-c-headers
"${apt[@]}" source jansson libpng1.6
for package in *.deb; do dpkg-deb -x "$package" .; done
mkdir "$root"/{include,lib}
cp usr/$target/include/*.h "$root/include"
cp usr/$target/lib/libz.a "$root/lib"
cp -r usr/include/CL "$root/include"

# ---- what is built ----

# pkg-config, too, is to find nothing of this machine's own.
cat >"$root/toolchain.cmake" <<END
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER $target-gcc)
set(CMAKE_RC_COMPILER $target-windres)
set(CMAKE_FIND_ROOT_PATH \${CMAKE_CURRENT_LIST_DIR} /usr/$target)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} \${CMAKE_CURRENT_LIST_DIR}/lib/pkgconfig)
END

# build FOLDER OPTION...
build() {
  cmake -S "$1" -B "$1/build" -G Ninja -Wno-dev -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$root" \
    -DCMAKE_TOOLCHAIN_FILE="$root/toolchain.cmake" "${@:2}"
  cmake --build "$1/build" --target install -j 2
}

build jansson-* -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_EXAMPLES=OFF
build libpng1.6-* -DPNG_SHARED=OFF -DPNG_TESTS=OFF
cd "$root"
rm -r work
touch whole
