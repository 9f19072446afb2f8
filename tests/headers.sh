#!/usr/bin/env bash
# headers.sh COMPILER...: each header of the library and of its sets alone is a whole. It includes the headers that it
# uses; on one processor these may come by chance with another's intrinsics. A compiler that is not installed is
# reported and left out; the first has to be there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

flags=(-std=c11 -D_POSIX_C_SOURCE=200809L -I. -Ihost -Ihost/include -Ihost/opencl/declarations -Ikernels)
mapfile -t headers < <(find host sets kernels/data -name '*.h' ! -path '*/declarations/*' | sort)
command -v "$1" >/dev/null || { echo "headers: no $1 here" >&2 && exit 1; }
failed=0
both=$(mktemp)
trap 'rm -f "$both"' EXIT
for compiler in "$@"; do
  command -v "$compiler" >/dev/null || { echo "headers: no $compiler here, so not tried" >&2 && continue; }
  for header in "${headers[@]}"; do
    echo "#include \"$header\"" | "$compiler" "${flags[@]}" -x c -fsyntax-only - || {
      echo "headers: $compiler does not take $header alone" >&2
      failed=1
    }
  done
done

# One file may be for the host and for the device: both headers in C11, C++, OpenCL C and CUDA C++.
printf '#include <slabcast.h>\n#include <slabcast_device.h>\nslab_ray ray_of_both(slab_ray ray);\n' >"$both"
flags=(-Ihost/include -fsyntax-only -Wall -Werror)
"$1" -std=c11 "${flags[@]}" -x c "$both" || failed=1
"$1" -std=c++17 "${flags[@]}" -x c++ "$both" || failed=1
for compiler in "${@:2}"; do
  if [[ $compiler != *clang* ]] || ! command -v "$compiler" >/dev/null; then continue; fi
  "$compiler" -cl-std=CL1.2 "${flags[@]}" -x cl "$both" || failed=1
  for side in --cuda-host-only "--cuda-device-only --cuda-gpu-arch=sm_60"; do
    # shellcheck disable=SC2086 # two words
    "$compiler" -std=c++17 "${flags[@]}" -x cuda -nocudainc -nocudalib -Wno-unknown-cuda-version $side "$both" || failed=1
  done
done
exit "$failed"
