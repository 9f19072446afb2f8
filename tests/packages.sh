#!/usr/bin/env bash
# packages.sh WHAT: Debian packages, which cmake/packages.cmake describes.
#
#   build FOLDER PACKAGES [CMAKE_OPTION...]   builds the packages' files in FOLDER, with Debian's flags for builds,
#                                             puts the packages into PACKAGES, and checks them
#   test BUILD                                the same of BUILD's parts, not optimised and with the kernels of BUILD
#
# Checked are: every installed file is in one package, that of its kind. The library's package is named as its SONAME,
# can be linked to, and runs nothing when it is installed. The modules of Python find it. No program has a path to its
# libraries in it. Dependencies are checked, and the findings of lintian, where it is installed. `test` also installs
# them in a Debian that has nothing, and follows README there, by shell, in C and in Python. That needs root; else it is
# reported as not tried, unless SLABCAST_BARE_ROOT=must.
set -euo pipefail

# shellcheck source=tests/script.sh
source "$(dirname "${BASH_SOURCE[0]}")/script.sh"

# build FOLDER PACKAGES [CMAKE_OPTION...]
build() {
  local folder=$1 packages=$2 compile link
  export DEB_BUILD_MAINT_OPTIONS=hardening=+all
  cd "$root" # whose name dpkg-buildflags keeps out of built files
  compile="$(dpkg-buildflags --get CFLAGS) $(dpkg-buildflags --get CPPFLAGS)"
  link=$(dpkg-buildflags --get LDFLAGS)
  rm -rf "$packages"
  quietly cmake -S . -B "$folder" -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_SKIP_INSTALL_RPATH=ON \
    -DSLABCAST_PROGRAM=ON -DSLABCAST_BENCH=OFF -DSLABCAST_TESTS=OFF \
    -DCMAKE_C_FLAGS="$compile" -DCMAKE_SHARED_LINKER_FLAGS="$link" -DCMAKE_EXE_LINKER_FLAGS="$link" "${@:3}"
  quietly cmake --build "$folder" --target slab_installed
  quietly cpack --config "$folder/CPackConfig.cmake" -B "$packages"
  rm -r "$packages/_CPack_Packages"
  check "$folder" "$packages"
}

# field NAME PACKAGE
field() { dpkg-deb -f "$(echo "$packages/$2"_*.deb)" "$1"; }

# depends PACKAGE TEXT
depends() {
  [[ ", $(field Depends "$1")," == *", $2"[,\ ]* ]] || fail "$1 does not depend on $2: $(field Depends "$1")"
}

# placed RUNTIME: files for compilers are in libslabcast-dev, files for programs in the package RUNTIME.
placed() {
  local file home
  while read -r file; do
    case $file in
      */usr/include/* | */lib/*/cmake/* | */pkgconfig/* | *.so) home=libslabcast-dev ;;
      *.so.*) home=$1 ;;
      *) continue ;;
    esac
    [[ $file == "$work/${home}_"* ]] || fail "not in $home: ${file#"$work"/}"
  done < <(find "$work"/*_*/ ! -type d)
}

# python VERSION RUNTIME: the package of Python has all modules, is for every architecture and is known to Python; its
# modules load the library of RUNTIME. Scripts of it compile them, and remove that.
python() {
  local modules=usr/lib/python3/dist-packages script
  diff <(cd "$root/python" && ls slabcast/*.py slabcast/py.typed) \
    <(cd "$work/packed/$modules" && find slabcast -type f | LC_ALL=C sort) || fail "python3-slabcast has other modules"
  [[ $(field Architecture python3-slabcast) == all ]] || fail "python3-slabcast is not for every architecture"
  depends python3-slabcast "$2 (>= $1)"
  depends python3-slabcast python3-numpy
  for script in postinst prerm; do
    dpkg-deb -I "$packages"/python3-slabcast_*.deb $script | grep -q -- '-p python3-slabcast$' ||
      fail "python3-slabcast has no $script"
  done
  if command -v python3 >/dev/null; then
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$work/packed/$modules LD_LIBRARY_PATH=$(dirname "$library") \
      python3 - "$1" "$work/packed/$modules/slabcast" <<'END' || fail "the modules do not find the library"
import importlib, importlib.metadata, sys, types
version, path = sys.argv[1:]
assert importlib.metadata.version("slabcast") == version, importlib.metadata.version("slabcast")
package = types.ModuleType("slabcast")  # without its __init__.py, which needs NumPy; that may not be here
package.__path__ = [path]
sys.modules["slabcast"] = package
found = importlib.import_module("slabcast._library").library
assert found.slab_version().decode() == version and "/" not in found._name, found
END
  fi
}

# check FOLDER PACKAGES
check() {
  local folder=$1 packages=$2 package library soname version
  quietly env DESTDIR="$work/installed" cmake --install "$folder"
  for package in "$packages"/*.deb; do
    quietly dpkg-deb -x "$package" "$work/$(basename "$package" .deb)"
    dpkg-deb -x "$package" "$work/packed"
  done
  # Each in one package, and nothing else but what packages alone have: documents, and Python's modules and examples.
  # Debian has manuals compressed, and completions of zsh in a folder of their own.
  diff <(cd "$work/installed" && find . ! -type d | grep -v doc/slabcast/LICENSE |
    sed 's|\(/man/.*\)|\1.gz|; s|/zsh/site-functions/|/zsh/vendor-completions/|' | sort) \
    <(cd "$work" && find ./*_*/ ! -type d | sed 's|^\./[^/]*/|./|' |
      grep -v -e '/doc/[^/]*/c[a-zA-Z.]*$' -e '/python3/' -e '\.py$' | sort) ||
    fail "what is installed is not what is packed"

  library=$(find "$work/packed" -name 'libslabcast.so.*.*.*')
  soname=$(objdump -p "$library" | sed -n 's/^ *SONAME *//p')
  package=${soname/.so./}
  placed "$package"
  version=$(field Version "$package")
  [[ $version == "$("$folder"/program/slabcast --version | sed 's/.* //')"-* ]] || fail "packages of $version"
  dpkg-deb -I "$packages/$package"_*.deb shlibs | grep -qxF "libslabcast ${soname#*.so.} $package (>= $version)" ||
    fail "who links the library is not told which package it is in"
  [[ $(dpkg-deb -I "$packages/$package"_*.deb triggers) == 'activate-noawait ldconfig' ]] ||
    fail "the library is not made known when it is installed"
  for package in "$packages"/*.deb; do
    [[ $package != */python3-* ]] || continue
    if dpkg-deb -I "$package" | grep -E 'postinst|postrm|preinst|prerm'; then fail "$package runs a script"; fi
  done
  python "${version%-*}" "${soname/.so./}"
  depends libslabcast-dev "${soname/.so./} (= $version)"
  depends slabcast "${soname/.so./} (= $version)"
  depends slabcast libjansson4
  depends "${soname/.so./}" libc6
  if objdump -p "$work"/packed/usr/bin/* "$library" | grep -E 'RPATH|RUNPATH'; then
    fail "that is a path to libraries"
  fi

  local lintian='not asked: lintian is not installed'
  if command -v lintian >/dev/null; then
    lintian --allow-root --no-cfg --fail-on error "$packages"/*.deb >"$work/lintian" 2>&1 || {
      cat "$work/lintian" >&2
      fail "lintian finds errors"
    }
    lintian="no errors, $(grep -c '^W:' "$work/lintian" || true) warnings"
    cat "$work/lintian" >&2
  fi
  (cd "$packages" && ls -- *.deb)
  echo "lintian: $lintian"
}

# The Debian of this machine, in tools/roots.sh; nothing on others.
bare_name() {
  local version
  version=$(sed -n 's/^VERSION_ID="\(.*\)"/\1/p' /etc/os-release)
  case $(sed -n 's/^ID=//p' /etc/os-release)-$version in
    debian-12) echo system12 ;;
    debian-13) echo system ;;
  esac
}

# bare_root PACKAGES: README in a Debian that has nothing of ours but the packages.
bare_root() {
  local name
  name=$(bare_name)
  if ((EUID != 0)) || [[ -z $name ]] || ! command -v mmdebstrap >/dev/null; then
    [[ ${SLABCAST_BARE_ROOT-} != must ]] || fail "README in a bare root: needs root, Debian 12 or 13, and mmdebstrap"
    echo "README in a bare root: not tried"
    return
  fi
  cp -a "$("$root/tools/roots.sh" get "$name")" "$work/system"
  quietly "$root/tools/roots.sh" bare "$work/system" "
    test -z \"\$(type -P slabcast gcc python3)\"
    apt-get update -q
    apt-get install -q -y --no-install-recommends $1/{lib,python3-}slabcast*.deb $1/slabcast_*.deb gcc libc6-dev pkg-config
    tests/pages.sh shell-at /usr README.md
    tests/pages.sh python /usr/bin/python3 README.md"
  grep '^README' "$work/log"
}

# from_cache NAME: a value of BUILD's configuration.
from_cache() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }

case ${1-} in
  build) build "${@:2}" ;;
  test)
    build=$2
    command -v dpkg-buildflags >/dev/null || { echo "packages: no dpkg-buildflags here" >&2 && exit 77; }
    build "$work/made" "$work/packages" -G "$(from_cache CMAKE_GENERATOR)" \
      "-DCMAKE_C_COMPILER=$(from_cache CMAKE_C_COMPILER)" \
      -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O0 -g0 -U_FORTIFY_SOURCE" \
      "-DSLABCAST_NATIVE=$(from_cache SLABCAST_NATIVE)" "-DSLABCAST_NATIVE_OBJECTS=$build/native"
    bare_root "$work/packages"
    ;;
  *) fail "usage: packages.sh build FOLDER PACKAGES [CMAKE_OPTION...] | test BUILD" ;;
esac
