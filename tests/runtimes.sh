#!/usr/bin/env bash
# runtimes.sh [--rays N] [RUNTIME...]: casts at every kind of primitive, with every query, flat and through a tree, on each
# of the OpenCL runtimes pocl, oclgrind and rusticl (or those named) and compares N answers of each cast (500) with the
# mirror and the oracle. Says which it ran on; one that is not there is a failure. Kernels run as GPUs get them, one
# lane wide, on oclgrind and rusticl. Oclgrind reports errors of the API, races and uninitialised values besides.
# $SLABCAST is the program.
set -euo pipefail

rays=500
if [[ ${1:-} == --rays ]]; then
  rays=$2
  shift 2
fi
runtimes=("$@")
((${#runtimes[@]})) || runtimes=(pocl oclgrind rusticl)

# What an .icd file would name, in the order of trying; a path or what the loader finds.
libraries_of() {
  case $1 in
    pocl) echo "libpocl.so.2 libpocl.so" ;;
    oclgrind) echo "/usr/lib/oclgrind/liboclgrind-rt-icd.so /usr/local/lib/oclgrind/liboclgrind-rt-icd.so" ;;
    rusticl) echo "libRusticlOpenCL.so.1 libRusticlOpenCL.so" ;;
    *)
      echo "runtimes: $1 is none of pocl, oclgrind, rusticl" >&2
      exit 2
      ;;
  esac
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export OCL_ICD_VENDORS=$work/vendors RUSTICL_ENABLE=llvmpipe POCL_CACHE_DIR=${POCL_CACHE_DIR:-$work/pocl}
export OCLGRIND_CHECK_API=1 OCLGRIND_DATA_RACES=1 OCLGRIND_UNINITIALIZED=1 OCLGRIND_LOG=$work/oclgrind.log
mkdir -p vendors "$POCL_CACHE_DIR"

# Leaves this runtime alone to the loader; fails where it shows no device.
choose() {
  local library
  for library in $(libraries_of "$1"); do
    echo "$library" >vendors/only.icd
    if "$SLABCAST" devices >list 2>/dev/null; then
      echo "runtimes: $1:" >&2
      sed 1d list >&2
      return
    fi
  done
  echo "runtimes: no device of $1" >&2
  exit 1
}

# cast NAME OPTION...: one cast, checked.
cast() {
  local name=$1 found
  shift
  : >oclgrind.log
  if ! "$SLABCAST" cast --check "$@" -o hits.raw >said 2>&1; then
    echo "runtimes: $name: slabcast cast $*" >&2
    cat said >&2
    exit 1
  fi
  if [[ -s oclgrind.log ]]; then
    echo "runtimes: $name: slabcast cast $*" >&2
    head -n 40 oclgrind.log >&2
    exit 1
  fi
  found=$(sed -n 's/^\([0-9]*\) rays checked, 0 mismatches.*/\1/p' said)
  compared=$((compared + ${found:-0}))
  casts=$((casts + 1))
}

# Every kind alone for the closest hit, all in one scene for every query; flat and through a tree, with options.
cast_everything() {
  local name=$1 query tree kind
  local mixed=(--builtin planes:2 --builtin spheres:3 --builtin boxes:4 --builtin obbs:3 --builtin soup:8)
  "$SLABCAST" rays random "${mixed[@]}" --count "$rays" --seed 7 -o rays.npy 2>/dev/null
  special_rays >special.txt
  for tree in flat high; do
    for kind in planes:2 spheres:5 boxes:5 obbs:5 torus:60; do
      cast "$name" --builtin "$kind" --rays rays.npy --tree "$tree"
    done
    for query in closest distance any count interval; do
      cast "$name" "${mixed[@]}" --rays rays.npy --query "$query" --tree "$tree"
    done
    cast "$name" "${mixed[@]}" --rays rays.npy --tree "$tree" --cull back --face-forward --mask 0x15 --t-min 0.1
    cast "$name" "${mixed[@]}" --rays special.txt --tree "$tree"
    # Oclgrind 21.10 takes a buffer with the number of a released one for uninitialised: so the hits of a second pass.
    OCLGRIND_UNINITIALIZED='' cast "$name" "${mixed[@]}" --rays rays.npy --query all --tree "$tree"
  done
}

# Rays along axes, with ranges that end early, begin behind or hold nothing, and invalid ones; no subnormal numbers,
# which not every device keeps.
special_rays() {
  cat <<'RAYS'
0 0 -5 0 0 0 1 inf
0 0 -5 -inf 0 0 -3 inf
0.5 0.5 0.5 0 -1 0 0 inf
-2 0 0 0 1 -0 0 3
-2 0 0 0 1e30 0 0 1
-2 0 0 0 1e-30 1e-31 0 inf
-2 1 0 2 1 0 0 1
0 0 0 0 0 0 0 inf
nan 0 0 0 1 0 0 inf
0 inf 0 0 1 0 0 inf
0 0 0 0 1 inf 0 inf
0 0 0 nan 1 1 0 inf
1e18 0 0 0 -1 0 0 inf
2e18 0 0 0 -1 0 0 inf
RAYS
}

for runtime in "${runtimes[@]}"; do
  compared=0 casts=0
  choose "$runtime"
  cast_everything "$runtime"
  ((compared > 0)) || {
    echo "runtimes: $runtime: nothing was compared" >&2
    exit 1
  }
  echo "$runtime: $compared rays in $casts casts, 0 differ from the mirror"
done
