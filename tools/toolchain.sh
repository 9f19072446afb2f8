# shellcheck shell=bash
# The LLVM of this machine's distribution; the one place that knows it. Sourced by dev and by the scripts that run clang, it
# exports
#   LLVM           its version: 15 on Debian 12, 18 on Ubuntu 24.04, 19 on Debian 13; elsewhere the newest that is here.
#                  Of several the one that the distribution's PoCL and Mesa are built with: their libclc excludes others.
#                  Empty where no name has a version, as on macOS and under MSYS2.
#   CLANG, CLANG_TIDY, LIBCLC   the compiler, the linter, the folder of libclc's bitcode
#   CLANG_FORMAT   the version whose format the sources have. Another version's differs, so no other is used.
#   LACKS          packages that are wanted and that this distribution does not have
# Variables that are set already stay: LLVM=19 ./dev lint takes another version.
# shellcheck disable=SC1091 # a file of the system
codename=$(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME-}")

newest_clang() {
  local version
  for version in 22 21 20 19 18 17 16 15; do
    if command -v "clang-$version" >/dev/null; then echo "$version" && break; fi
  done
}

case $codename in
  bookworm) llvm=15 lacks='' ;;
  noble) llvm=18 lacks='clang-14 clang-format-14 oclgrind' ;; # by the names of packages: not tried
  trixie) llvm=19 lacks='clang-14 clang-format-14 oclgrind' ;;
  *) llvm=$(newest_clang) lacks='clang-14 clang-format-14 oclgrind' ;;
esac
export LLVM=${LLVM:-$llvm} LACKS=${LACKS-$lacks} CLANG_FORMAT=clang-format-14
export CLANG=${CLANG:-clang${LLVM:+-$LLVM}} CLANG_TIDY=${CLANG_TIDY:-clang-tidy${LLVM:+-$LLVM}} LIBCLC=${LIBCLC:-/usr/lib/clc}
