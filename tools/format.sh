#!/usr/bin/env bash
# format.sh [--write]: C and OpenCL sources have the format of .clang-format; --write gives it to them. Exit code 77, a
# test skipped, where the distribution lacks the version whose output that is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/toolchain.sh
source tools/toolchain.sh

if ! command -v "$CLANG_FORMAT" >/dev/null && [[ " $LACKS " == *" $CLANG_FORMAT "* ]]; then
  echo "format: NOT CHECKED: this distribution has no $CLANG_FORMAT, and another version's output differs" >&2
  exit 77
fi
mode=(--dry-run --Werror)
if [[ ${1:-} == --write ]]; then mode=(-i); fi
find host kernels program sets tests bench examples \( -name '*.[ch]' -o -name '*.inc' -o -name '*.def' -o -name '*.cl' \) -exec "$CLANG_FORMAT" "${mode[@]}" {} +
