#!/usr/bin/env bash
# Offline gate: every kernel variant compiles without a warning for NVIDIA and AMD GPUs,
# in the scalar form they get, with no GPU at hand. A missing compiler is a failure.
#   gate.sh             of kernels whose code is part of others' only the front end, which warns
#   gate.sh --all       all code
#   gate.sh --update    rewrites the table of the machine code's counts, and that of the model below
#   gate.sh --model     prints rays per second by the model, with how rays diverge (gpu_model.py); compiles nothing
#   gate.sh --ptx FOLDER   leaves NVIDIA's intermediate code of two kernels there, for bench_ptx, and ends
#
# Where clang is that of the table, bench/results/machine_code.txt, a figure 5 % above it fails: of closest and any, with
# --all of every query. NVIDIA's machine code is made from clang's PTX, not by the vendor's OpenCL compiler: a hint, no
# target. Where it cannot be made it is not judged.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tools/toolchain.sh
source "$root/tools/toolchain.sh"
results=$root/bench/results
table=$results/machine_code.txt
# count_of NAME: the number that a header gives it.
count_of() { sed -nE "s/^#define $1 ([0-9]+)$/\1/p" "$root/host/include/slabcast_types.h" "$root/kernels/data/types.h"; }
mapfile -t queries < <(seq 0 $(($(count_of PROGRAM_QUERIES) - 1)))
all=$(((1 << $(count_of SLAB_SHAPE_COUNT)) - 1)) # bit k: the scene holds slab_shape k
kinds=("$all")                                   # all, and each alone
for ((kind = 1; kind < all; kind *= 2)); do kinds+=("$kind"); done
boxes=$((1 << 2)) triangles=$((1 << 4))         # SLAB_BOX, SLAB_TRIANGLE
exact=-cl-fp32-correctly-rounded-divide-sqrt
mode=${1:-}
double=-DSLAB_DIVIDE_THROUGH_DOUBLE # for devices without the option above
integers=-DSLAB_DIVIDE_BY_INTEGERS  # for those without double as well
cut=(-DSLAB_BUFFERS=4 -DSLAB_PART_UNITS=300000000 -DSLAB_PART_NODES=4294967295) # of a scene in several buffers

common=(-x cl -cl-std=CL1.2 -Xclang -finclude-default-header -O2
  -Wall -Wextra -Wpedantic -Werror -I "$root/kernels" -I "$root/host/include"
  -DSLAB_STACK=64 -DSLAB_WALKERS=1 -DCHAINS=12)
gpu=(-DLANES=1 -DSLAB_FMAX -DSLAB_RAYS=4 -DSLAB_LOCAL_BOXES=128) # host/device/tuning.c
cpu=(-DSLAB_RAYS=32 -DSLAB_LOCAL_BOXES=0)
nvidia=(-target nvptx64--nvidiacl -Xclang -mlink-builtin-bitcode -Xclang "$LIBCLC/nvptx64--nvidiacl.bc")
# libclc has no later GPU than gfx906; its functions are bitcode, which gfx1100 takes too.
amd=(-target amdgcn-- -nogpulib -fverbose-asm -Xclang -mlink-builtin-bitcode -Xclang "$LIBCLC/gfx906-amdgcn--.bc")

die() {
  echo "gate: $*" >&2
  exit 1
}

# to_ptx OPTION...: one variant, or only its front end.
to_ptx() { "$CLANG" "${common[@]}" "${gpu[@]}" "${nvidia[@]}" "$@"; }

# limited KERNEL KINDS: PTX as NVIDIA's compiler gets it with the limit of registers that host/opencl/program.c sets.
limited() {
  local limit=''
  if [[ $1 == compressed && $(($2 & ($2 - 1))) == 0 ]]; then
    limit=$(sed -n 's/^ *\.registers = \([0-9]*\),$/\1/p' "$root/host/device/tuning.c")
  fi
  sed "${limit:+/\.entry/,/^{/s/^{/.maxnreg $limit\n{/}"
}

# write_ptx FOLDER: the PTX for bench_ptx. Its first line names the program as cmake/ptx.cmake does.
write_ptx() {
  local kernel query kinds shapes name
  mkdir -p "$1"
  while read -r kernel kinds shapes; do
    for query in "${queries[@]}"; do
      name=$1/$kernel-query$query-kinds$kinds.ptx
      to_ptx -DSLAB_QUERY="$query" -DSLAB_KINDS="$kinds" "$exact" -S -o - "$root/kernels/$kernel.cl" |
        limited "$kernel" "$kinds" | sed "1i// $kernel-$query-$shapes" >"$name.part" || die "$kernel.cl fails for nvptx64"
      mv "$name.part" "$name"
    done
  done <<END
compressed $triangles triangles
flat $boxes boxes
END
}

# Whether a variant's code is only part of another's: it is for one kind of primitive, or for a query on a special scene
# or with special rays. These are a scene in several buffers or with instances, closed edges, and a number of rays from
# a buffer. Code for them is the same in all queries.
is_part() { [[ ($3 != 0 && $3 != "$all") || (${5-} != '' && $2 != 0) ]]; }

# Whether a variant's machine code is judged: that for scenes of every kind on a GPU, and for scenes of the kind at
# which the kernel is fastest.
is_judged() {
  [[ -n $judged && $4 == "$exact" && ($mode != '' || $2 == 0 || $2 == 2) ]] || return
  case $(basename "$1" .cl)${5-} in
    flat) [[ $3 == "$all" || $3 == "$boxes" ]] ;;
    compressed) [[ $3 == "$all" || $3 == "$triangles" ]] ;;
    wideinstances | compressedinstances) true ;;
    *) false ;;
  esac
}

# machine_code NAME SOURCE OPTION...: NAME.TARGET for machine_code.py, of code that is there already, and for a gfx1100.
machine_code() {
  local name=$1 target
  mv "$name.s" "$name.gfx906"
  "$CLANG" "${common[@]}" "${gpu[@]}" "${amd[@]}" -mcpu=gfx1100 "${@:3}" -S -o "$name.gfx1100" "$2" || die "$name fails for gfx1100"
  [[ -n $cuda ]] || return 0
  for target in sm_86 sm_90; do
    "$cuda/bin/ptxas" -arch="$target" -v -o "$name.cubin" "$name.ptx" >"$name.$target" 2>&1 ||
      die "ptxas refuses $name: $(<"$name.$target")"
    "$cuda/bin/nvdisasm" -c "$name.cubin" >>"$name.$target"
  done
}

# compile KERNEL QUERY KINDS DIVISION [cut | instances | closed | counted | own], for both makes
compile() {
  local name define=(-DSLAB_QUERY="$2" -DSLAB_KINDS="$3" "$4") ptx=() gcn=()
  name=$(basename "$1" .cl)-query$2-kinds$3
  case $4 in
    "$double") name=$name-double ;;
    "$integers") name=$name-integers ;;
  esac
  case ${5-} in
    cut) define+=("${cut[@]}") ;;
    instances) define+=(-DSLAB_INSTANCES=1) ;;
    closed) define+=(-DSLAB_CLOSED) ;;
    counted) define+=(-DSLAB_COUNTED) ;;
    own) define+=(-DSLAB_OWN=1) ;;
  esac
  name=$name${5:+-$5}
  ptx=(-S -o "$work/$name.ptx") gcn=(-S -o "$work/$name.s")
  if [[ $mode != --all ]] && is_part "$@" && ! is_judged "$@"; then ptx=(-fsyntax-only) gcn=(-fsyntax-only); fi
  to_ptx "${define[@]}" "${ptx[@]}" "$1" || die "$name fails for nvptx64"
  if [[ ${ptx[0]} == -S ]]; then
    limited "$(basename "$1" .cl)" "$3" <"$work/$name.ptx" >"$work/$name.limited"
    mv "$work/$name.limited" "$work/$name.ptx"
  fi
  "$CLANG" "${common[@]}" "${gpu[@]}" "${amd[@]}" -mcpu=gfx906 "${define[@]}" "${gcn[@]}" "$1" || die "$name fails for gfx906"
  if is_judged "$@"; then machine_code "$work/$name" "$1" "${define[@]}"; fi
}

# One line a variant: the arguments of compile.
variants() {
  local kernel query kind
  for kernel in "$root"/kernels/*.cl; do
    case $(basename "$kernel") in packet.cl | attributes.cl | closed.cl) continue ;; esac # of processors alone
    if [[ $(basename "$kernel") == ceiling.cl || $(basename "$kernel") == refit.cl ]]; then # they cast nothing
      echo "$kernel 0 0 $exact"
      continue
    fi
    echo "$kernel 5 $all $double"
    echo "$kernel 5 $all $integers"
    if [[ $(basename "$kernel") =~ ^(pairs|rays|sums|boundary|probe).cl$ ]]; then # of any query and kind
      echo "$kernel 5 $all $exact"
      continue
    fi
    if [[ $(basename "$kernel") == points_*.cl ]]; then # closest points, and winding numbers
      for query in 0 3; do
        echo "$kernel $query $all $exact cut"
        if [[ $(basename "$kernel") != points_flat.cl ]]; then echo "$kernel $query $all $exact instances"; fi
        for kind in "${kinds[@]}"; do echo "$kernel $query $kind $exact"; done
      done
      continue
    fi
    for query in "${queries[@]}"; do
      echo "$kernel $query $all $exact cut"
      echo "$kernel $query $all $exact closed"
      echo "$kernel $query $all $exact counted"
      case $(basename "$kernel") in flat.cl | wide.cl | compressed.cl) echo "$kernel $query $all $exact own" ;; esac
      case $(basename "$kernel") in wide.cl | compressed.cl) echo "$kernel $query $all $exact instances" ;; esac
      for kind in "${kinds[@]}"; do echo "$kernel $query $kind $exact"; done
    done
  done
}

# As many at once as there are cores; the first failure ends it.
compile_all() {
  local kernel query kind division whether running=0
  while read -r kernel query kind division whether; do
    if ((running >= $(nproc))); then
      wait -n || return 1
      running=$((running - 1))
    fi
    compile "$kernel" "$query" "$kind" "$division" "$whether" &
    running=$((running + 1))
  done < <(variants)
  for (( ; running > 0; running--)); do wait -n || return 1; done
}

# judge: the machine code's counts, against the table, or into it.
judge() {
  local made=("gfx: $compiler") code
  if [[ -n $cuda ]]; then made+=("sm: $compiler, then ptxas $("$cuda/bin/ptxas" --version | sed -n 's/.*, V//p')"); fi
  mapfile -t code < <(find "$work" \( -name '*.sm_*' -o -name '*.gfx*' \) | sort)
  if [[ $mode != --update ]]; then
    python3 "$root/tools/machine_code.py" --check "$table" --made-by "${made[@]}" -- "${code[@]}"
    return
  fi
  python3 "$root/tools/machine_code.py" --made-by "${made[@]}" -- "${code[@]}" >"$work/table"
  cp "$work/table" "$table"
  model >"$work/table"
  cp "$work/table" "$results/gpu_model.txt"
}

model() { python3 "$root/tools/gpu_model.py" "$table" "$results/divergence.txt"; }

# check_lanes KERNEL LANES WALKS [ABREAST [LATER]]: with the division and the buffers of the caller.
check_lanes() {
  "$CLANG" "${common[@]}" -fsyntax-only -DLANES="$2" -DSLAB_QUERY=0 -DSLAB_KINDS="$all" -USLAB_WALKERS -DSLAB_WALKERS="$3" \
    -DSLAB_RAY_PAIRS="${4-1}" -DSLAB_DEFERRED="${5-0}" "${cpu[@]}" "$division" "${buffers[@]}" "$root/kernels/$1.cl" ||
    die "$1.cl fails at $2 lanes, $3 in turns"
}

# The forms that CPU devices get: drivers do not warn.
check_wide() {
  local lanes division buffers=()
  for lanes in 8 16; do
    "$CLANG" "${common[@]}" -fsyntax-only -DLANES="$lanes" "$root/kernels/ceiling.cl" || die "ceiling.cl fails at $lanes lanes"
  done
  for division in "$exact" "$double" "$integers"; do
    for lanes in 8 16; do
      check_lanes flat "$lanes" 1
      check_lanes packet "$lanes" 1
      check_lanes attributes "$lanes" 1
      check_lanes probe "$lanes" 1
    done
    check_lanes wide 8 16
    check_lanes wide 8 16 1 1
  done
  division=$exact
  check_lanes wide 8 16 2
  buffers=("${cut[@]}")
  for lanes in 8 16; do
    check_lanes flat "$lanes" 1
    check_lanes packet "$lanes" 1
    check_lanes attributes "$lanes" 1
  done
  check_lanes wide 8 16
  check_lanes wide 8 16 2
}

command -v "$CLANG" >/dev/null || die "$CLANG is not installed"
[[ -e $LIBCLC/nvptx64--nvidiacl.bc && -e $LIBCLC/gfx906-amdgcn--.bc ]] || die "no libclc for both targets in $LIBCLC"
compgen -G "$root/kernels/*.cl" >/dev/null || die "no kernels in $root/kernels"

case $mode in
  '' | --all | --update) ;;
  --ptx) write_ptx "$2" && exit ;;
  --model) model && exit ;;
  *) die "usage: gate.sh [--all | --update | --model | --ptx FOLDER]" ;;
esac
compiler=$("$CLANG" --version | head -n 1)
judged='' cuda=''
if [[ $mode == --update ]] || grep -qxF "# gfx: $compiler" "$table"; then judged=yes; fi
if [[ -n $judged ]]; then
  cuda=$("$root/tools/roots.sh" get cuda) || cuda=''
  [[ -n $cuda || $mode != --update ]] || die "the table is of NVIDIA's code too, whose compiler cannot be had here"
  [[ -n $cuda ]] || echo "gate: NVIDIA's machine code is NOT JUDGED: its compiler cannot be had here"
else
  echo "gate: machine code is NOT JUDGED: $(basename "$table") is of another compiler than $compiler"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
check_wide
compile_all || { wait; die "not every kernel variant compiles"; }
echo "gate: $(variants | wc -l) variants compile for nvptx64 and for gfx906, code of $(find "$work" -name '*.ptx' | wc -l)"
[[ -z $judged ]] || judge || die "machine code takes more than $table says"
