#!/usr/bin/env bash
# format.sh [--write]: C and OpenCL sources stand in the format of .clang-format; --write puts them so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mode=(--dry-run --Werror)
if [[ ${1:-} == --write ]]; then mode=(-i); fi
find host kernels tests bench examples \( -name '*.[ch]' -o -name '*.inc' -o -name '*.cl' \) -exec clang-format-14 "${mode[@]}" {} +
