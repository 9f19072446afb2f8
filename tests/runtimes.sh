#!/usr/bin/env bash
# The program on other OpenCL runtimes, and that all return the same bytes.
#
#   runtimes.sh [--write] [RUNTIME...]         `slabcast verify` with 200,000 rays (Oclgrind: fewer), and casts of each
#                                              query at each kind of primitive, flat and through a BVH, in both layouts:
#                                              checked, and their bytes compared with those of the first runtime. Then
#                                              the first answer from an empty kernel cache, and the speed. Prints a
#                                              table; --write puts it into docs/runtimes.md
#   runtimes.sh --share [RUNTIME...]           a share of that, without times, for every change: fails below `floor`.
#                                              Exit code 77, which is a test skipped, where all is well on this
#                                              distribution's own runtime but others could not be fetched, unless that
#                                              is Debian 12, where changes are judged
#   runtimes.sh --fetch                        only what the share needs from elsewhere
#   runtimes.sh --rays N RUNTIME...            the casts alone, with N rays each, for the long proof: a line per runtime
#
# A runtime that is not there is a failure. This distribution's own are those that are installed; newer ones run in
# folders of their own (tools/roots.sh). Older ones cannot be used, since their C library is too old for programs built
# here: so Debian 13 has fewer rows. $SLABCAST is the program.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tools/toolchain.sh
source "$root/tools/toolchain.sh"
page=$root/docs/runtimes.md
# Rays that the share casts on each runtime, at least.
floor=100000

# RUNTIME: the name, its source (a distribution, or a folder of roots.sh), the required begin of its version, and its
# library in the order of trying.
declare -A about=(
  [pocl3]="PoCL|bookworm|3.1|libpocl.so.2"
  [pocl5]="PoCL|noble|5.|libpocl.so.2"
  [pocl6]="PoCL|trixie|6.|libpocl.so.2"
  [pocl7]="PoCL|sid|7.|libpocl.so.2"
  [intel]="Intel OpenCL for CPUs|intel|20|libintelocl.so"
  [oclgrind]="Oclgrind|bookworm|Oclgrind|/usr/lib/oclgrind/liboclgrind-rt-icd.so"
  [rusticl22]="rusticl on llvmpipe|bookworm|22.|libRusticlOpenCL.so.1"
  [rusticl25]="rusticl on llvmpipe|trixie|25.|libRusticlOpenCL.so.1"
)
# The runtimes where none is named; the others are held against the first.
case $codename in
  bookworm) usual=(pocl3 pocl6 intel oclgrind rusticl22 rusticl25) shared=(pocl3 pocl6 intel rusticl25) ;;
  noble) usual=(pocl5 pocl6 intel rusticl25) shared=(pocl5 pocl6 intel) ;;
  *) usual=(pocl6 intel rusticl25) shared=(pocl6 intel) ;;
esac
# It shows itself as a GPU, and finds races and stray accesses; where it is installed, a minute's share of a simulator.
if [[ -e /usr/lib/oclgrind/liboclgrind-rt-icd.so ]]; then shared+=(oclgrind); fi
kinds=(planes:2 spheres:5 boxes:5 obbs:5 terrain:60) # of terrain some normals have exact zeros, which may come as -0
mixed=(--builtin planes:2 --builtin spheres:3 --builtin boxes:4 --builtin obbs:3 --builtin soup:8)
queries=(closest distance any count all interval)
tiles=boxes:140 # two tiles of a GPU's local memory, the second with steps left empty
trees=(flat high)
layouts=(wide compressed)

say() { echo "runtimes: $*" >&2; }

die() {
  say "$*"
  exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ---- one runtime at a time ----

field() { cut -d '|' -f "$1" <<<"${about[$runtime]}"; }

# Libraries that the program needs besides the C library and that the folder lacks, since the program was built here.
lend_libraries() {
  local path
  mkdir -p "$own/lent"
  ldd "$SLABCAST" | awk '$3 ~ "^/" { print $3 }' | while read -r path; do
    compgen -G "$1/usr/lib/*-linux-gnu/${path##*/}" >/dev/null || [[ $path == "$root"/* ]] ||
      cp -L "$path" "$own/lent"
  done
}

# choose RUNTIME: `run` runs the program on it and nothing else; fails where it shows no device, or another version.
choose() {
  local from
  runtime=$1 inside=() libraries='' own=$work/$1
  [[ -n ${about[$runtime]-} ]] || die "$runtime is none of ${!about[*]}"
  from=$(field 2)
  if [[ $from == intel ]]; then
    libraries=$("$root/tools/roots.sh" get intel)/lib || die "$runtime cannot be fetched"
  elif [[ $from == bookworm && $codename != bookworm ]]; then
    die "$runtime is Debian 12's, whose C library is older than the one that this program is built with"
  elif [[ $from != "$codename" ]]; then
    folder=$("$root/tools/roots.sh" get "$from") || die "$runtime cannot be fetched"
    inside=("$root/tools/roots.sh" enter "$folder")
    lend_libraries "$folder"
    libraries=$own/lent
  fi
  cache=$own/cache
  if [[ $runtime == "${shared[0]}" && -n ${POCL_CACHE_DIR-} ]]; then cache=$POCL_CACHE_DIR; fi
  mkdir -p "$cache" "$own/vendors" "$own/hits"
  field 4 >"$own/vendors/only.icd"
  run devices --json >"$own/list" 2>"$own/said" || die "$runtime: no device: $(cat "$own/said")"
  version=$(sed -n 's/^ *"driver": "\(.*\)",*$/\1/p' "$own/list" | head -n 1)
  [[ $version == "$(field 3)"* ]] || die "$runtime should be $(field 3), and is $version"
}

# run ARGUMENT...: the program. Oclgrind reports errors of the API, races and uninitialised values besides.
run() {
  OCL_ICD_VENDORS=$own/vendors LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
    POCL_CACHE_DIR=$cache MESA_SHADER_CACHE_DIR=$cache RUSTICL_ENABLE=llvmpipe \
    OCLGRIND_CHECK_API=1 OCLGRIND_DATA_RACES=1 OCLGRIND_UNINITIALIZED=${uninitialized-1} OCLGRIND_LOG=$own/oclgrind.log \
    "${inside[@]}" "$SLABCAST" "$@"
}

# Oclgrind interprets each instruction, hundreds of times slower.
is_slow() { [[ $runtime == oclgrind ]]; }

# number NAME FILE: of its first line in a file of JSON.
number() { sed -n "s/^ *\"$1\": \([-+.0-9e]*\),*\$/\1/p" "$2" | head -n 1; }

# ---- what is cast ----

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

# One line a cast: its name, and its options.
list_casts() {
  local kind query tree layout common
  list_tiles
  for tree in "${trees[@]}"; do
    for layout in "${layouts[@]}"; do
      common="--tree $tree --layout $layout"
      for kind in "${kinds[@]}"; do
        for query in "${queries[@]}"; do
          echo "${kind%:*}.$query.$tree.$layout --builtin $kind --rays $own/rays.npy --query $query $common"
        done
      done
      echo "mixed.options.$tree.$layout ${mixed[*]} --rays $own/rays.npy --cull back --face-forward --mask 0x15 --t-min 0.1 $common"
      echo "mixed.special.$tree.$layout ${mixed[*]} --rays $own/special.txt $common"
    done
  done
}

# Flat boxes as on GPUs: in local memory, a part at a time. One group of work-items, since each of them meets every box
# there.
list_tiles() {
  local common="--builtin $tiles --tree flat --layout compressed"
  echo "tiles.closest $common --rays $own/tiles.npy"
  echo "tiles.any $common --rays $own/tiles.npy --query any"
  echo "tiles.special $common --rays $own/special.txt"
}

# Each kind flat and through a BVH, in one of the layouts, with one of the queries; tiles, and compressed nodes of the kind
# that they are fastest at.
list_share() {
  local i kind
  list_tiles
  for i in 0 2; do
    echo "nodes.${queries[i]} --builtin ${kinds[-1]} --rays $own/rays.npy --query ${queries[i]} --tree high --layout compressed"
  done
  for i in "${!kinds[@]}"; do
    kind=${kinds[i]}
    echo "${kind%:*}.${queries[i]}.flat --builtin $kind --rays $own/rays.npy --query ${queries[i]} --tree flat --layout ${layouts[i % 2]}"
    echo "${kind%:*}.${queries[5 - i]}.high --builtin $kind --rays $own/rays.npy --query ${queries[5 - i]} --tree high --layout ${layouts[1 - i % 2]}"
  done
}

# cast NAME OPTION...: checked; its bytes stay for the comparison.
cast() {
  local name=$1 uninitialized=1 checked
  shift
  # Oclgrind 21.10 takes a buffer with the number of a released one for uninitialised, as the hits of a second pass.
  if [[ $name == *.all.* ]]; then uninitialized=''; fi
  : >"$own/oclgrind.log"
  if ! run cast --check "$@" --out raw -o "$own/hits/$name" >"$own/said" 2>&1; then
    say "$runtime: slabcast cast $*"
    cat "$own/said" >&2
    differ=$((differ + $(sed -n 's/^.* rays checked, \([0-9]*\) mismatches.*/\1/p' "$own/said" | grep . || echo 1)))
  elif [[ -s $own/oclgrind.log ]]; then
    say "$runtime: slabcast cast $*"
    head -n 40 "$own/oclgrind.log" >&2
    differ=$((differ + 1))
  fi
  checked=$(sed -n 's/^\([0-9]*\) rays checked, 0 mismatches.*/\1/p' "$own/said")
  cast_rays=$((cast_rays + ${checked:-0}))
}

# differing NAME: how many of its casts have other bytes than those of the first runtime. Fewer rays are the first of those.
differing() {
  local runtime=$1 ours length=() others=0
  for ours in "$work/$runtime/hits"/*; do
    if is_slow && [[ $ours == *.offsets.npy ]]; then continue; fi # which begins with their number
    if is_slow; then length=(-n "$(stat -c %s "$ours")"); fi
    cmp -s "${length[@]}" "$ours" "$work/$first/hits/${ours##*/}" && continue
    say "$runtime: ${ours##*/}: other bytes than $first"
    others=$((others + 1))
  done
  echo "$others"
}

# cast_all LIST: of this runtime; a failure shows in `differ`.
cast_all() {
  local name options
  cast_rays=0
  while read -r name options; do
    # shellcheck disable=SC2086 # several words
    cast "$name" $options </dev/null
  done < <("$1")
  ((cast_rays > 0)) || die "$runtime: nothing was compared"
}

# make_rays N
make_rays() {
  run rays random "${mixed[@]}" --count "$1" --seed 7 -o "$own/rays.npy" 2>/dev/null
  run rays random --builtin "$tiles" --count 60 --seed 8 -o "$own/tiles.npy" 2>/dev/null
  special_rays >"$own/special.txt"
}

# verify OPTION...: adds to `verified` and `differ`.
verify() {
  local status=0
  run verify "$@" --json "$own/verify.json" >"$own/table" 2>"$own/said" || status=$?
  if ((status != 0)); then
    say "$runtime: slabcast verify $*"
    cat "$own/said" >&2
    ((status == 3)) || die "$runtime: slabcast verify ended with $status"
    differ=$((differ + $(number failures "$own/verify.json")))
  fi
  verified=$(number rays "$own/verify.json")
}

# ---- what is measured ----

# The middle of three: seconds from the start of the process to its end, with kernels compiled anew.
cold_seconds() {
  local round begin cache=$cache
  run rays camera --builtin city:400 --size 40x25 -o "$own/few.npy" 2>/dev/null
  for round in 1 2 3; do
    cache=$own/cold.$round
    mkdir -p "$cache"
    begin=${EPOCHREALTIME/[.,]/}
    run cast --builtin city:400 --rays "$own/few.npy" -o "$own/few.hits" --out npy 2>/dev/null
    echo $(((${EPOCHREALTIME/[.,]/} - begin) / 1000))
  done | sort -n | awk 'NR == 2 { printf "%.1f", $1 / 1000 }'
}

# Two numbers: the geometric means of the speeds by `slabcast bench`, flat scenes and BVHs, in Mrays per second.
measure_speed() {
  # Exit code 1: faster than a ceiling that was measured while the machine had other work, which is no matter here.
  run bench --quick --group scene --seconds 0.1 --json "$own/bench.json" >/dev/null 2>&1 || (($? == 1))
  awk -F '[:,] *' '
    $1 ~ "\"layout\"" { layout = $2 }
    $1 ~ "\"host_mrays\"" { inside = 1 }
    $1 ~ "\"best\"" && inside { sum[layout] += log($2); count[layout]++; inside = 0 }
    END { print exp(sum["\"flat\""] / count["\"flat\""]), exp(sum["\"tree\""] / count["\"tree\""]) }' "$own/bench.json"
}


# Every runtime once a round, so that all have the same weather; the file has: round, runtime, flat, BVH.
measure_speeds() {
  local round name
  for round in 1 2 3; do
    for name in "${chosen[@]}"; do
      choose "$name"
      if ! is_slow; then echo "$round $name $(measure_speed)" >>"$work/speeds"; fi
    done
  done
}

# ratio RUNTIME COLUMN: to the first runtime of the same round; the middle of the rounds.
ratio() {
  awk -v name="$1" -v first="$first" -v column="$2" '
    $2 == first { one[$1] = $column } $2 == name { other[$1] = $column }
    END { for (round in other) print other[round] / one[round] }' "$work/speeds" | sort -n |
    awk '{ all[NR] = $1 } END { if (NR) printf "%.2f", all[int((NR + 1) / 2)]; else printf "-" }'
}

# ---- the three uses ----

# at_once COMMAND...: with each of the chosen runtimes, as many at once as there are cores. Its finds are in
# $work/RUNTIME/found: rays of verify, rays of casts, and how many answers or casts were wrong.
at_once() {
  local name running=0
  for name in "${chosen[@]}"; do
    if ((running >= $(nproc))); then wait -n || true; fi
    (
      differ=0 verified=0 cast_rays=0
      choose "$name"
      say "$name: $version"
      "$@"
      echo "$verified $cast_rays $differ $version" >"$own/found"
    ) &
    running=$((running + 1))
  done
  wait
  for name in "${chosen[@]}"; do
    [[ -e $work/$name/found ]] || die "$name did not come to its end"
  done
}

# found NAME: sets verified, cast_rays, differ and version.
found() {
  read -r verified cast_rays differ version <"$work/$1/found"
  differ=$((differ + $(differing "$1")))
}

cast_and_verify() {
  local rays=200000 groups=()
  make_rays 2000
  # A simulator: without the groups of large scenes.
  if is_slow; then
    rays=2000 groups=(--group "closest,distance,any,count,all,interval,agreement,planes,spheres,boxes,obbs,triangles,invalid")
    make_rays 100
  fi
  cast_all list_casts
  verify --rays "$rays" "${groups[@]}"
}

# The rows, and how many answers differ in all in the file `differ`.
print_table() {
  local name verified cast_rays differ version sum=0
  echo "| runtime | version | rays of verify | rays of casts | differ | first answer, s | speed, flat | speed, BVH |"
  echo "| --- | --- | --- | --- | --- | --- | --- | --- |"
  for name in "${chosen[@]}"; do
    found "$name"
    choose "$name"
    sum=$((sum + differ))
    echo "| $(field 1) | $version | $verified | $cast_rays | $differ | $(cold_seconds) | $(ratio "$name" 3) | $(ratio "$name" 4) |"
  done
  cat "$work/refused"
  echo "$sum" >"$work/differ"
}

# Between the marks of the page.
write_page() {
  {
    sed '/^<!-- table -->$/q' "$page"
    echo
    cat "$work/printed"
    echo
    echo "Measured $(date -u +%F) at $(git -C "$root" describe --always --dirty), on $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores; speed against $first."
    echo
    sed -n '/^<!-- end of table -->$/,$p' "$page"
  } >"$page.new"
  mv "$page.new" "$page"
}

# The program's message where it refuses a runtime's device, whose answers would be wrong; else nothing.
refusal() {
  { run verify --rays 1 --group pairs 2>&1 >/dev/null || true; } | sed -n 's/^slabcast: .* device "[^"]*" //p'
}

# Leaves those out of `chosen`; a line each below the table.
leave_refused() {
  local name why left=()
  for name in "${chosen[@]}"; do
    choose "$name"
    why=$(refusal)
    if [[ -z $why ]]; then
      left+=("$name")
    else
      say "$name: $version: refused: it $why"
      printf '\nRefused: %s %s. It %s.\n' "$(field 1)" "$version" "${why%%,*}" >>"$work/refused"
    fi
  done
  chosen=("${left[@]}")
}

# survey [RUNTIME...]: exit code 1 where anything differs.
survey() {
  chosen=("$@")
  ((${#chosen[@]})) || chosen=("${usual[@]}")
  : >"$work/refused"
  leave_refused
  first=${chosen[0]}
  at_once cast_and_verify
  measure_speeds
  print_table | tee "$work/printed"
  if ((write)); then write_page; fi
  (($(<"$work/differ") == 0)) || die "$(<"$work/differ") answers differ"
}

cast_share() {
  if is_slow; then
    make_rays 50
    cast_all list_share
    return
  fi
  make_rays 5000
  cast_all list_share
  verify --group edges --rays 50000
}

# Which of them can be had here, into chosen and absent. On Debian 12 all have to be.
look_for_shared() {
  local runtime from
  chosen=() absent=()
  for runtime in "$@"; do
    from=$(field 2)
    if [[ $codename == bookworm || $from == "$codename" ]] || "$root/tools/roots.sh" get "$from" >/dev/null; then
      chosen+=("$runtime")
    else
      absent+=("$runtime")
    fi
  done
  ((${#chosen[@]})) || die "none of $* can be had"
}

share() {
  local runtime verified cast_rays differ version failed=0
  (($#)) || set -- "${shared[@]}"
  look_for_shared "$@"
  first=${chosen[0]}
  at_once cast_share
  for runtime in "${chosen[@]}"; do
    found "$runtime"
    echo "runtimes: $runtime, $version: $((verified + cast_rays)) rays, $differ differ"
    ((differ == 0)) || failed=1
    is_slow || ((verified + cast_rays >= floor)) || { say "$runtime: fewer than $floor rays" && failed=1; }
  done
  ((failed == 0 && ${#absent[@]})) || return "$failed"
  say "NOT CHECKED: ${absent[*]}, which could not be fetched"
  return 77
}

# Fetches the runtimes of the share that this distribution does not have, all at once.
fetch() {
  local runtime from
  for runtime in "${shared[@]}"; do
    from=$(field 2)
    [[ $from == "$codename" ]] || "$root/tools/roots.sh" get "$from" &
  done
  wait
}

cast_many() {
  make_rays "$1"
  cast_all list_casts
}

# prove RAYS RUNTIME...
prove() {
  local name verified cast_rays differ version failed=0
  chosen=("${@:2}") first=${2-}
  at_once cast_many "$1"
  for name in "${chosen[@]}"; do
    found "$name"
    echo "$name $version: $cast_rays rays in $(own='' list_casts | wc -l) casts, $differ differ from the CPU reference"
    ((differ == 0)) || failed=1
  done
  return "$failed"
}

write=0
case ${1-} in
  --share) share "${@:2}" ;;
  --fetch) fetch ;;
  --rays) prove "${@:2}" ;;
  --write)
    write=1
    survey "${@:2}"
    ;;
  --*) die "there is no option $1" ;;
  *) survey "$@" ;;
esac
