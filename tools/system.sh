# shellcheck shell=bash disable=SC2034 # dev uses the variables
# The system that ./dev runs on. Sourced by it, this sets
#   system     Linux, also for all systems like it; macOS; or Windows: MSYS2, or the shell that Git brings
#   manager    the package manager whose names are reported: Debian, Homebrew or MSYS2
#   usr        the folder where its packages have include, lib and bin
case $(uname -s) in
  Darwin)
    system=macOS manager=Homebrew usr=${HOMEBREW_PREFIX:-/usr/local}
    if [[ ! ${HOMEBREW_PREFIX-} && $(uname -m) == arm64 ]]; then usr=/opt/homebrew; fi
    ;;
  MINGW*) system=Windows manager=MSYS2 usr=${MINGW_PREFIX:-/ucrt64} ;;
  MSYS* | CYGWIN*) # its compilers make programs for itself
    echo "dev: on Windows this is for MSYS2's shell UCRT64, or for Git's" >&2
    exit 1
    ;;
  *) system=Linux manager=Debian usr=/usr ;;
esac

# Debian's names of packages to the manager's, both one per line: cmake/needs.txt.
here_named() {
  local prefix=''
  if [[ $system == Linux ]]; then cat && return; fi
  if [[ $system == Windows ]]; then prefix=${MINGW_PACKAGE_PREFIX:-mingw-w64-ucrt-x86_64}-; fi
  awk -v manager="$manager" -v prefix="$prefix" '
    FNR == NR && /^# Debian / { for (i = 3; i <= NF; i++) if ($i == manager) column = i - 1 }
    FNR == NR { if (!/^#/) names[$1] = $column; next }
    { sub(/-[0-9]*$/, "") } # the version of LLVM
    !($0 in names) { print "dev: cmake/needs.txt lacks " $0 > "/dev/stderr"; exit 1 }
    names[$0] != "-" { n = split(names[$0], each, ","); for (i = 1; i <= n; i++) print prefix each[i] }
  ' "$(dirname "${BASH_SOURCE[0]}")/../cmake/needs.txt" - | sort -u
}

# The level that this processor can run, of those that kernels are compiled for.
native_level() {
  local flags
  flags=$({ cat /proc/cpuinfo || sysctl -n machdep.cpu.leaf7_features; } 2>/dev/null) || true
  case $(uname -m) in
    x86_64)
      case ${flags,,} in
        *avx512vl*) echo x86-64-v4 ;;
        *avx2*) echo x86-64-v3 ;;
        *) echo c11 ;;
      esac
      ;;
    aarch64 | arm64) echo armv8-a ;;
    *) echo c11 ;;
  esac
}
