#!/usr/bin/env bash
# embed.sh: cmake/embed.cmake leaves no #include in a kernel's text, which is compiled where no file is.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
  echo "embed: $*" >&2
  failed=1
}

# embed TEXT
embed() {
  printf '%s\n' "$1" >"$work/text.cl"
  cmake -DNAME=text "-DSOURCE=$work/text.cl" "-DOUTPUT=$work/text.c" "-DINCLUDES=$root/kernels,$root/host/include" \
    -P "$root/cmake/embed.cmake" >"$work/said" 2>&1
}

embed '#include "maths/slab.h"' || fail "a header of a room is not found: $(<"$work/said")"
grep -q 'slab_overlaps' "$work/text.c" || fail "a header's text is not there"
grep -q '#line 1 \\"maths/slab.h\\"' "$work/text.c" || fail "messages would not point at maths/slab.h"
if grep '# *include "' "$work/text.c" | grep -v '^#include "base/embedded.h"$'; then fail "an #include was left"; fi

while IFS= read -r line; do
  ! embed "$line" || fail "taken: $line"
  tr -s '\n ' ' ' <"$work/said" | grep -qE 'would stay|not found' || fail "no word of $line: $(<"$work/said")"
done <<'END'
 #include "maths/slab.h"
# include "maths/slab.h"
#include <maths/slab.h>
#include "maths/Slab.h"
#include "../kernels/maths/slab.h"
#include "maths/nowhere.h"
#include SOME_HEADER
END

# A header is in one place. Without this check the other branch lacked it, on the device alone.
branches=$'#if SOME\n#include "maths/slab.h"\n#else\n#include "maths/slab.h"\n#endif'
! embed "$branches" || fail "a header is placed in one of two branches that include it"
tr -s '\n ' ' ' <"$work/said" | grep -q 'maths/slab.h was placed under "#if SOME" alone' || fail "no word of it: $(<"$work/said")"
embed $'#include "maths/slab.h"\n'"$branches" || fail "a header that comes before the branches is refused"
exit "$failed"
