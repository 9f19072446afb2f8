#!/usr/bin/env bash
# The PTX of slabcast-cuda, and the machine code that NVIDIA's assembler makes of it: gate.sh FOLDER [share | all | update].
# FOLDER: cuda/ of a build. No PTX is approximate, flushes subnormal numbers, is missing or may be contracted. An
# addition, subtraction or product without .rn may become part of an fma that the source lacks. Of the share, or of all,
# registers, bytes spilt and instructions are held against machine_code.txt: 5 % more fail. Cards before compute
# capability 7.5 need an older assembler, whose machine code nothing reads any more: they have no instructions there.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../..
folder=$1 extent=${2:-share}
table=$here/machine_code.txt
share=(flat-0-boxes compressed-0-triangles compressed-2-triangles compressed-0-all refit)
counted=(flat-0-boxes compressed-0-triangles) # also as casts have them whose number of rays a buffer holds
# shellcheck source=tools/toolchain.sh
source "$root/tools/toolchain.sh"

die() {
  echo "cuda gate: $*" >&2
  exit 1
}

mapfile -t all < <(find "$folder" -name '*.ptx' -printf '%f\n' | sed 's/\.ptx$//' | sort)
((${#all[@]} > 50)) || die "$folder has ${#all[@]} programs"
for name in "${all[@]}"; do
  text=$folder/$name.ptx
  if grep -nE '\.approx|\.ftz|^\.extern|\b(add|sub|mul|mad)(\.sat)?\.f(32|64)' "$text" | head -n 3 | grep .; then die "$name has what is above"; fi
  [[ $(grep -E '^\.(version|target)' "$text" | tr '\n' ' ') == '.version 6.0 .target sm_60 ' ]] || die "$name is not of PTX 6.0 for sm_60"
  [[ $name != flat-* && $name != compressed-* ]] || (($(grep -c '^//+' "$text") == 6)) || die "$name lacks lines of kernels/lanes/ptx.h"
done
cuda=$("$root/tools/roots.sh" get cuda) || { echo "cuda gate: no assembler can be had here" && exit 77; }
older=$("$root/tools/roots.sh" get cuda12) || { echo "cuda gate: no assembler for older cards can be had here" && exit 77; }
version() { "$1/bin/ptxas" --version | sed -n 's/.*, V//p'; }
made="# made by: $("$CLANG" --version | head -n 1), then ptxas $(version "$cuda"), for sm_60 and sm_70 $(version "$older")"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# NAME-counted: with these lines as code (host/cuda/ptx.c).
for name in "${all[@]}"; do ln -s "$(realpath "$folder")/$name.ptx" "$work"; done
for name in "${counted[@]}"; do sed 's,^//+,   ,' "$folder/$name.ptx" >"$work/$name-counted.ptx"; done

# is_unfused NAME TARGET CODE: the assembler, too, makes no fma of a product and a sum.
is_unfused() {
  "$cuda/bin/ptxas" -arch="$2" --fmad=false -o "$3" "$work/$1.ptx"
  (($("$cuda/bin/nvdisasm" -c "$3" | grep -c FFMA) == $(grep -c FFMA "$3.code"))) || die "$1 has products that are fused for $2 alone"
}

# measure NAME TARGET: a line of the table.
measure() {
  local out=$work/$1.$2 by=$cuda
  if [[ $2 =~ ^sm_(60|70)$ ]]; then by=$older; fi
  "$by/bin/ptxas" -arch="$2" -v -o "$out" "$work/$1.ptx" >"$out.said" 2>&1 || die "ptxas refuses $1 for $2: $(<"$out.said")"
  if [[ $by == "$cuda" ]]; then "$cuda/bin/nvdisasm" -c "$out"; fi >"$out.code"
  awk -v name="$1" -v target="$2" '
    FILENAME ~ /said$/ && /bytes spill stores/ { match($0, /[0-9]+ bytes spill stores/); spilt += substr($0, RSTART) + 0 }
    FILENAME ~ /said$/ && match($0, /Used [0-9]+ registers/) { n = substr($0, RSTART + 5) + 0; if (n > registers) registers = n }
    FILENAME ~ /code$/ && /^ *\/\*[0-9a-f]+\*\// { code++ }
    END { printf "%-32s %s %9d %5d %12s\n", name, target, registers, spilt, code ? code : "-" }' "$out.said" "$out.code"
  if [[ $by == "$cuda" ]]; then is_unfused "$1" "$2" "$out"; fi
  rm -f "$out"*
}

[[ $extent == share ]] && names=("${share[@]}") || names=("${all[@]}")
names+=("${counted[@]/%/-counted}")
targets=(sm_60 sm_70 sm_75 sm_80 sm_90)
[[ $extent == share ]] && targets=(sm_70 sm_80 sm_90)
for name in "${names[@]}"; do for target in "${targets[@]}"; do measure "$name" "$target"; done; done >"$work/table"
if [[ $extent == update ]]; then
  { sed -n '/^# made by/q; p' "$table" && echo "$made" && echo '# program                        target registers spilt instructions' && cat "$work/table"; } >"$work/new"
  mv "$work/new" "$table"
  exit
fi
if ! grep -qxF "$made" "$table"; then
  echo "cuda gate: ${#all[@]} programs; machine code is NOT JUDGED, the table is of other compilers than ${made#*: }"
  exit
fi
awk '
  /^#/ { next }
  FNR == NR { registers[$1, $2] = $3; spilt[$1, $2] = $4; code[$1, $2] = $5; next }
  !(($1, $2) in code) { print $1, $2, "is not in the table"; bad = 1; next }
  $3 > 1.05 * registers[$1, $2] || $4 > 1.05 * spilt[$1, $2] || $5 > 1.05 * code[$1, $2] {
    print $1, $2 ": registers, bytes spilt, instructions are", $3, $4, $5 ", in the table", registers[$1, $2], spilt[$1, $2], code[$1, $2]
    bad = 1
  }
  END { exit bad }' "$table" "$work/table" >&2 || die "machine code takes more than $(basename "$table") says"
echo "cuda gate: ${#all[@]} programs, $(wc -l <"$work/table") of them as machine code"
