#!/usr/bin/env bash
# What this machine's distribution does not have, OpenCL drivers above all, each in a folder of its own.
#
#   roots.sh get NAME                  makes it unless it is there, and prints its folder. NAME is one of
#     trixie     PoCL 6.0 and Mesa's rusticl 25 of Debian 13, with the libraries that they need
#     sid        PoCL of Debian unstable, likewise
#     intel      Intel's driver for CPUs, and its libraries, from PyPI
#     embree     Embree 4.4, which benchmarks are held against; FOLDER/usr is a prefix for CMake. x86-64 alone
#     harness    cmocka and the small GMP as Debian 12's sources, to compile for systems that Debian has no packages of
#     cuda       ptxas and nvdisasm, NVIDIA's compiler to machine code and back, from PyPI: FOLDER/bin
#     cuda12     ptxas of CUDA 12.8, the last that knows cards before compute capability 7.5, likewise: 40 MB
#     nvrtc      NVRTC 13, NVIDIA's compiler of CUDA C++ at run time, from PyPI: FOLDER/lib, 150 MB
#     nvrtc12    NVRTC of CUDA 12.9, likewise
#     mingw      what the program needs on Windows (x86-64): zlib, libpng and jansson as archives, and OpenCL's headers.
#                -DCMAKE_TOOLCHAIN_FILE=FOLDER/toolchain.cmake builds with it
#     arm64      Python 3, pip, musl, and what NumPy needs, of Debian 12 for aarch64: qemu-aarch64 -L FOLDER runs them
#     system     a whole Debian 13, as small as it can be; needs root, which the others do not
#     system12   likewise Debian 12
#   roots.sh enter FOLDER COMMAND...   runs it with this folder as its root, in which the checkout and the folder of
#                                      temporary files are where they are outside
#   roots.sh bare FOLDER TEXT [PLACE]  the same of a script, which bash runs in PLACE (the checkout) up to what fails, with
#                                      nothing of what is set here
#
# They lie in $SLABCAST_ROOTS (~/.cache/slabcast/roots), outside of every checkout, and are made once, again only where
# this script has changed. One appears under its name when it is whole. Packages are unpacked, not installed, and mounts
# are made in a namespace that goes with the command: so no privilege is needed, where users may make namespaces.
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
self=$checkout/tools/roots.sh
roots=${SLABCAST_ROOTS:-${XDG_CACHE_HOME:-$HOME/.cache}/slabcast/roots}
keys=/usr/share/keyrings/debian-archive-keyring.gpg

die() {
  echo "roots: $*" >&2
  exit 1
}

# ---- making them ----

# $DEBIAN_MIRROR, or the mirror of Debian that this machine's own packages come from.
mirror() {
  local own
  own=$(apt-get --print-uris update 2>/dev/null | sed -n "s|^'\(.*/debian\)/dists/.*|\1|p" | head -n 1)
  [[ -n ${DEBIAN_MIRROR:-$own} ]] || die "no mirror of Debian is known here: set DEBIAN_MIRROR to one"
  echo "${DEBIAN_MIRROR:-$own}"
}

# know FOLDER KIND SUITE: sets `apt`, a command that knows this suite alone. KIND: deb, or deb-src for the sources. For
# $architecture, where that is set.
know() {
  local state=$1 from
  command -v apt-get >/dev/null || die "Debian's packages are fetched by apt-get, which is not here"
  [[ -e $keys ]] || die "there is no $keys: the package debian-archive-keyring has it"
  from=$(mirror)
  mkdir -p "$state"/{lists,cache/archives}/partial
  : >"$state/status"
  echo "$2 [signed-by=$keys] $from $3 main" >"$state/sources"
  apt=(apt-get -q -o Dir::State="$state" -o Dir::State::status="$state/status" -o Dir::Cache="$state/cache"
    -o Dir::Etc::sourcelist="$state/sources" -o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferences=/dev/null
    -o Dir::Etc::preferencesparts=/dev/null -o APT::Sandbox::User=root -o Acquire::Retries=3
    ${architecture:+-o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture"})
  "${apt[@]}" update
}

# fetch FOLDER SUITE PACKAGE...: their archives and those of all that they depend on, into FOLDER/cache/archives.
fetch() {
  local apt
  know "$1" deb "$2"
  "${apt[@]}" install -y --no-install-recommends --download-only "${@:3}"
}

# unpack FOLDER SUITE PACKAGE...
unpack() {
  local folder=$1 place state=$1.apt
  rm -rf "$state"
  fetch "$state" "${@:2}"
  for place in bin sbin lib lib64; do
    mkdir -p "$folder/usr/$place"
    ln -s "usr/$place" "$folder/$place"
  done
  # shellcheck disable=SC2016 # $FOLDER is that shell's
  find "$state/cache/archives" -name '*.deb' -print0 |
    FOLDER=$folder xargs -0 -P "$(nproc)" -I{} sh -c 'dpkg-deb --fsys-tarfile {} |
      tar -x -C "$FOLDER" --keep-directory-symlink --no-same-owner --exclude=./usr/share/doc'
  rm -rf "$state"
}

make_trixie() { unpack "$1" trixie pocl-opencl-icd mesa-opencl-icd; }
make_sid() { unpack "$1" sid pocl-opencl-icd; }
make_arm64() { architecture=arm64 unpack "$1" bookworm python3-pip libstdc++6 musl; }

# make_debian FOLDER SUITE
make_debian() {
  ((EUID == 0)) || die "a whole Debian is for root to make"
  mmdebstrap --quiet --variant=minbase "$2" "$1" "$(mirror)"
}

make_system() { make_debian "$1" trixie; }
make_system12() { make_debian "$1" bookworm; }

# Its own list of what it needs leaves out the libraries of the compiler; without them the driver says nothing.
make_intel() {
  local wheel
  mkdir -p "$1"
  python3 -m pip download --disable-pip-version-check -q --no-deps -d "$1/wheels" \
    intel-opencl-rt==2026.2.0 intel-cmplr-lib-rt==2026.2.0 tbb==2023.0.0
  for wheel in "$1"/wheels/*.whl; do python3 -m zipfile -e "$wheel" "$1"; done
  rm -r "$1/wheels"
  mkdir "$1/lib"
  mv "$1"/*.data/data/lib/* "$1/lib"
}

# The library is of PyPI's wheel, which runs on old systems and has AVX-512; the wheel has no headers. They are
# Debian's, of the same major version and an older minor one. Embree's interface only grows within a major version. Both
# are built with instance arrays and instances one deep, which the layout of its structs depends on.
make_embree() {
  local libraries=$1/usr/lib/x86_64-linux-gnu
  [[ $(uname -m) == x86_64 ]] || die "PyPI's Embree is for x86-64: install one of version 4"
  mkdir -p "$1"
  # For one Python, whichever runs this: so that the library is the same everywhere.
  python3 -m pip download --disable-pip-version-check -q --no-deps -d "$1/wheel" --only-binary=:all: \
    --implementation cp --python-version 3.11 --platform manylinux_2_28_x86_64 embreex==4.4.0
  fetch "$1/apt" trixie libembree-dev
  dpkg-deb -x "$1"/apt/cache/archives/libembree-dev_4*.deb "$1"
  python3 -m zipfile -e "$1"/wheel/*.whl "$1/wheel"
  mv "$1"/wheel/embreex.libs/* "$libraries"
  # The name that Debian's CMake files know.
  ln -sf "$(basename "$libraries"/libembree4-*.so.4)" "$libraries/libembree4.so.4"
  rm -r "${1:?}"/{apt,wheel,usr/share}
}

# FOLDER/cmocka and FOLDER/gmp.
make_harness() {
  local apt state=$1.apt
  rm -rf "$state"
  know "$state" deb-src bookworm
  (cd "$state" && "${apt[@]}" source --download-only cmocka gmp)
  mkdir -p "$1"/{cmocka,gmp}
  tar -x -f "$state"/cmocka_*.orig.tar.xz -C "$1/cmocka" --strip-components=1 --no-same-owner
  tar -x -f "$state"/gmp_*.orig.tar.xz -C "$1/gmp" --strip-components=2 --no-same-owner --wildcards '*/mini-gmp/*'
  rm -rf "$state"
}

# take_from_pypi FOLDER PROGRAMS PACKAGE...: NVIDIA's programs, to FOLDER/bin.
take_from_pypi() {
  local wheel program
  mkdir -p "$1/bin"
  python3 -m pip download --disable-pip-version-check -q --no-deps -d "$1/wheels" "${@:3}"
  for wheel in "$1"/wheels/*.whl; do python3 -m zipfile -e "$wheel" "$1/wheels"; done
  for program in $2; do install -t "$1/bin" "$1"/wheels/nvidia/cu*/bin/"$program"; done
  rm -r "$1/wheels"
}

# take_nvrtc FOLDER PACKAGE: with the file beside it that it loads.
take_nvrtc() {
  local wheel
  mkdir -p "$1"/{lib,wheels}
  python3 -m pip download --disable-pip-version-check -q --no-deps -d "$1/wheels" "$2"
  for wheel in "$1"/wheels/*.whl; do python3 -m zipfile -e "$wheel" "$1/wheels"; done
  find "$1/wheels" -name 'libnvrtc*.so.*' ! -name '*alt*' -exec mv -t "$1/lib" {} +
  rm -r "$1/wheels"
}

make_cuda() { take_from_pypi "$1" "ptxas nvdisasm" nvidia-cuda-nvcc==13.5.37 nvidia-cuda-nvdisasm==13.5.37; }
make_cuda12() { take_from_pypi "$1" ptxas nvidia-cuda-nvcc-cu12==12.8.93; }
make_nvrtc() { take_nvrtc "$1" nvidia-cuda-nvrtc==13.5.37; }
make_nvrtc12() { take_nvrtc "$1" nvidia-cuda-nvrtc-cu12==12.9.86; }

# zlib is Debian's own for mingw; the others are built from Debian's sources. pkg-config, too, finds nothing of this
# machine's own there.
make_mingw() {
  local apt need target=x86_64-w64-mingw32 state=$1.apt
  for need in dpkg-source cmake ninja pkg-config "$target-gcc"; do
    command -v "$need" >/dev/null ||
      die "$need is not here. Debian's packages: dpkg-dev cmake ninja-build pkg-config gcc-mingw-w64-x86-64"
  done
  rm -rf "$state"
  fetch "$state/archives" bookworm libz-mingw-w64-dev opencl-c-headers
  find "$state/archives/cache" -name '*.deb' -exec dpkg-deb -x {} "$state/unpacked" \;
  know "$state/sources" deb-src bookworm
  (cd "$state/sources" && "${apt[@]}" source jansson libpng1.6)
  mkdir -p "$1"/{include,lib}
  cp "$state/unpacked/usr/$target"/include/*.h "$1/include"
  cp "$state/unpacked/usr/$target/lib/libz.a" "$1/lib"
  cp -r "$state/unpacked/usr/include/CL" "$1/include"
  cat >"$1/toolchain.cmake" <<END
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
  build_for_mingw "$1" "$state"/sources/jansson-*/ -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_EXAMPLES=OFF
  build_for_mingw "$1" "$state"/sources/libpng1.6-*/ -DPNG_SHARED=OFF -DPNG_TESTS=OFF
  sed -i "s|$1|\${pcfiledir}/../..|" "$1"/lib/pkgconfig/*.pc # it moves
  rm -r "$state" "${1:?}"/{bin,lib/libpng}                   # these name where it was
}

# build_for_mingw FOLDER SOURCES OPTION...: into FOLDER, as its toolchain.cmake says.
build_for_mingw() {
  cmake -S "$2" -B "$2/build" -G Ninja -Wno-dev -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$1" \
    -DCMAKE_TOOLCHAIN_FILE="$1/toolchain.cmake" "${@:3}"
  cmake --build "$2/build" --target install -j 2
}

recipe() { cksum <"$self"; }

# One that another process makes is waited for.
get() {
  local folder=$roots/$1
  [[ $1 =~ ^(trixie|sid|intel|embree|harness|cuda|cuda12|nvrtc|nvrtc12|mingw|arm64|system|system12)$ ]] ||
    die "there is no $1: trixie, sid, intel, embree, harness, cuda, cuda12, nvrtc, nvrtc12, mingw, arm64, system, system12"
  mkdir -p "$roots"
  (
    flock 9
    if [[ ! -e $folder/.recipe || $(<"$folder/.recipe") != "$(recipe)" ]]; then
      rm -rf "$folder" "$folder.new"
      "make_$1" "$folder.new" >&2
      recipe >"$folder.new/.recipe"
      mv "$folder.new" "$folder"
    fi
  ) 9>"$folder.lock"
  echo "$folder"
}

# ---- being in one ----

bare() {
  exec "$self" enter "$1" /usr/bin/env -i ${http_proxy+"http_proxy=$http_proxy"} HOME=/root \
    DEBIAN_FRONTEND=noninteractive PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    bash -euc "cd '${3:-$checkout}'; $2"
}

# In namespaces of its own already.
enter() {
  local folder=$1 place
  shift
  for place in /proc /sys /dev "${TMPDIR:-/tmp}" "$checkout"; do
    mkdir -p "$folder$place"
    mount --rbind "$place" "$folder$place"
  done
  exec chroot "$folder" "$@"
}

case ${1-} in
  get) get "$2" ;;
  enter)
    as=()
    if ((EUID != 0)); then as=(--user --map-root-user); fi
    exec unshare "${as[@]}" --mount "$self" within "${@:2}"
    ;;
  within) enter "${@:2}" ;;
  bare) bare "${@:2}" ;;
  *) die "usage: roots.sh get NAME | enter FOLDER COMMAND... | bare FOLDER TEXT [PLACE]" ;;
esac
