#!/usr/bin/env bash
# headers.sh COMPILER...: each header of the library and of its sets alone is a whole: it includes what it
# uses, which on one processor may come by chance with another's intrinsics. A compiler that is not installed is told and
# left out; the first has to be.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

flags=(-std=c11 -D_POSIX_C_SOURCE=200809L -I. -Ihost -Ihost/include -Ihost/opencl/declarations -Ikernels)
mapfile -t headers < <(find host sets kernels/data -name '*.h' ! -path '*/declarations/*' | sort)
command -v "$1" >/dev/null || { echo "headers: no $1 here" >&2 && exit 1; }
failed=0
for compiler in "$@"; do
  command -v "$compiler" >/dev/null || { echo "headers: no $compiler here, so not tried" >&2 && continue; }
  for header in "${headers[@]}"; do
    echo "#include \"$header\"" | "$compiler" "${flags[@]}" -x c -fsyntax-only - || {
      echo "headers: $compiler does not take $header alone" >&2
      failed=1
    }
  done
done
exit "$failed"
