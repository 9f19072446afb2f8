#!/usr/bin/env bash
# The first day on a card: the tests of a GPU that has not run this yet, in stages, each with its own time and log.
#
#   card.sh [--device SEL] [--minutes M] [--wheels WHEELS] [--dry] BUILD [FOLDER]
#
# BUILD: the folder that `./dev card` builds, here or carried along. card.sh needs no compiler and no network, and
# changes no setting of the card. Each driver that has the card, OpenCL and CUDA, gets the same tests: first of its
# answers, and only then of its speed. Results go to FOLDER (build/card), in a folder of their own for this commit and
# this device. At the end that folder becomes one file, FOLDER/NAME.tar.gz, to bring home. Its results/ go to
# bench/results. Stages that are done are not run again. So the same command continues a run that was cut off, or whose
# minutes were too few (then exit code 75). No stage stops the other driver's. Exit code 1: some stage failed, or there
# is no card.
# --device: a part of the card's name, which both drivers give it.
# --wheels: a folder of wheels for Python: slabcast, numpy, and packages with arrays on cards, PyTorch, CuPy or JAX,
# with all that these need. They are installed from there alone, and card_arrays.py casts their arrays.
# --dry: everything small and once, in seconds, which shows that all works and measures nothing. It needs no card: PoCL
# shows itself as a GPU, and the kernels of a libcuda run on the processor (`./dev card --dry` builds them).
set -euo pipefail

device=gpu minutes=40 wheels='' dry=''
while [[ ${1-} == --* ]]; do
  case $1 in
    --device) device=$2 && shift ;;
    --minutes) minutes=$2 && shift ;;
    --wheels) wheels=$(realpath "$2") && shift ;;
    --dry) dry=yes ;;
    *) echo "card: there is no option $1" >&2 && exit 2 ;;
  esac
  shift
done
(($# == 1 || $# == 2)) || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2 && exit 2; }
build=$(realpath "$1")
all=$(realpath -m "${2:-$(dirname "${BASH_SOURCE[0]}")/../build/card}")
bin=$build/bin
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
export POCL_CACHE_DIR=${POCL_CACHE_DIR:-$build/pocl-cache}
export LD_LIBRARY_PATH=$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} # of slabcast-cuda

say() { echo "card: $*" >&2; }

# NVIDIA's driver of OpenCL, where it is here without the file that announces it to loaders. The files of other drivers
# may be there.
find_driver() {
  local library
  if grep -qs nvidia "${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}"/*.icd; then return; fi
  library=$(find -L /usr /opt -name 'libnvidia-opencl.so*' 2>/dev/null | sort | head -n 1) || true
  [[ -n $library ]] || return 0
  mkdir -p "$all/vendors"
  echo "$library" >"$all/vendors/nvidia.icd"
  export OCL_ICD_VENDORS=$all/vendors
}

# Cards that are not there.
pretend() {
  local layer=$build/tests/faults/libslab_pretend_layer.so standin=$build/tests/cuda/standin
  [[ -e $layer && -e $standin/libcuda.so.1 ]] || { say "there are no stand-ins for cards: ./dev card --dry builds them" && exit 2; }
  export OPENCL_LAYERS=${OPENCL_LAYERS:+$OPENCL_LAYERS:}$layer SLAB_PRETEND=type:gpu SLAB_PRETEND_FILE=/dev/null
  export LD_LIBRARY_PATH=$standin:$LD_LIBRARY_PATH
}

# stage NAME SECONDS COMMAND...: a log, and where the command ends well NAME.done, for which it is not run again. Fails
# where it is not done.
stage() {
  local name=$1 most=$2 begun=$SECONDS status=0
  shift 2
  if [[ -e $name.done ]]; then
    say "$name: done before"
    return
  fi
  if ((SECONDS + most > 60 * minutes)); then
    say "$name: not begun, since it may take $most s and the $minutes minutes are nearly over"
    later=yes
    return 1
  fi
  timeout "$most" "$@" >"$name.log" 2>&1 || status=$?
  echo "$name: exit code $status after $((SECONDS - begun)) s" | tee -a stages.txt >&2
  if ((status == 0)); then
    touch "$name.done"
    return
  fi
  failed=yes
  tail -n 5 "$name.log" >&2
  return 1
}

listing() {
  "$bin/slabcast" devices || true # "no device" is worth to be known
  date -u
  uname -srm
  nvidia-smi 2>/dev/null || true
  clinfo 2>/dev/null || true
}

# Seconds from a process's start to its end with the answers of 10,000 rays, from arrays of the host to arrays of the
# host (files). First the driver has compiled nothing yet, then its cache has the kernels. They must be the processor's.
first() {
  local cache=$PWD/$SLABCAST_BACKENDS-cache cast=(cast --builtin terrain:1000 --rays rays.npy --out raw) turn begun seconds
  rm -rf "$cache"
  mkdir "$cache"
  SLABCAST_BACKENDS=native "$bin/slabcast" rays random --builtin terrain:1000 --count 10000 -o rays.npy
  SLABCAST_BACKENDS=native "$bin/slabcast" "${cast[@]}" -o right
  export POCL_CACHE_DIR=$cache CUDA_CACHE_PATH=$cache LC_ALL=C
  for turn in cold warm warm warm; do
    begun=${EPOCHREALTIME/./}
    "$bin/slabcast" "${cast[@]}" --device "$device" -o hits
    seconds=$((${EPOCHREALTIME/./} - begun))
    cmp right hits
    echo "$SLABCAST_BACKENDS,$turn,$((seconds / 1000000)).$(printf %06d $((seconds % 1000000)))"
  done | tee first.part
  mv first.part "$SLABCAST_BACKENDS-first.csv"
  rm -rf "$cache" right hits
}

# Arrays on the card, of the packages whose wheels were brought.
arrays() {
  python3 -m venv arrays
  arrays/bin/pip install --quiet --no-index --find-links "$wheels" "$wheels"/*.whl
  arrays/bin/python "$here/card_arrays.py"
  rm -r arrays
}

# Rays that are made on the card, and sums that come back: a city's sky, 1,000 rays per point, and a LiDAR's turns. Then
# how far a grid's points are from a terrain, and their winding numbers: it is open. The processor does the same first.
sets() {
  local word
  awk -v n="$points" '
    function drawn() { return (seed = seed * 16807 % 2147483647) / 2147483647 } # some awks seed rand() as they like
    BEGIN { seed = 7; for (i = 0; i < n; i++) print 300 * drawn() - 150, 0.5, 300 * drawn() - 150 }' >points.txt
  "$bin/slabcast" view --builtin city:100000 --up y --points points.txt --sky 1000 --device "$device" \
    --json "$SLABCAST_BACKENDS-sky.json" ${dry:+--check}
  awk -v n="$turns" 'BEGIN { for (i = 0; i < n; i++) print 1, 0, 0, i, 0, 0, 1, 3, 0, -1, 0, 0 }' >poses.txt
  "$bin/slabcast" lidar --builtin city:100000 --fan 128,-25,15 --poses poses.txt --spin "$firings" --device "$device" \
    --json "$SLABCAST_BACKENDS-lidar.json" ${dry:+--check}
  "$bin/slabcast" near --builtin terrain:100000 --grid "$grid" --margin 1 --query distance --device "$device" \
    --json "$SLABCAST_BACKENDS-near.json" ${dry:+--check}
  "$bin/slabcast" inside --builtin terrain:100000 --grid "$grid" --margin 1 --query number --device "$device" \
    --json "$SLABCAST_BACKENDS-inside.json" ${dry:+--check}
  rm points.txt poses.txt
  if [[ $SLABCAST_BACKENDS == native ]]; then return; fi
  for word in sky lidar near inside; do
    diff <(answers "native-$word.json") <(answers "$SLABCAST_BACKENDS-$word.json") || { echo "$word: not the processor's" && return 1; }
  done
}
# The answers in a file of sets: counts and means.
answers() { grep -vE 'device|seconds|per_second' "$1"; }
export -f listing first arrays sets answers
export bin device wheels here dry

# measure DRIVER: of one whose answers are right. The other's figures stand beside those of the second.
measure() {
  local beside=()
  if [[ $1 == cuda && -e opencl-bench.done ]]; then beside=(--compare opencl-bench.json); fi
  stage "$1-sets" 90 bash -euo pipefail -c sets || true
  stage "$1-bench" 540 "$bin/slabcast" bench --device "$device" --csv "$1-bench.csv" --json "$1-bench.json" "${beside[@]}" "${bench[@]}"
}

# Kernels alone, and the numbers of host/device/tuning.c: by OpenCL, which compiles on the card.
tune() {
  local setting
  stage trace 420 "$bin/bench_tuning" --device "$device" --csv trace.csv "${kernels[@]}" || true
  for setting in rays tile group bvh-rays leaf nodes; do
    if [[ -n $dry && $setting != group ]]; then continue; fi
    stage "tuning-$setting" 150 "$bin/bench_tuning" --device "$device" --setting "$setting" --csv "tuning-$setting.csv" "${kernels[@]}" || true
  done
}

# Both drivers beside each other: rates of each cast, and seconds to the first answer.
put_beside() {
  echo "then: OpenCL, now: CUDA; a ratio above 1: CUDA is faster"
  sed -n '/^Compared with/,$p' cuda-bench.log
  printf '\n%-32s | %10s %10s %6s\n' "first answer, s; the best" OpenCL CUDA ratio
  awk -F, '!(($1, $2) in best) || $3 < best[$1, $2] { best[$1, $2] = $3 }
    END { for (i = split("cold warm", turns, " "); i; i--) {
      turn = turns[3 - i]; then = best["opencl", turn]; now = best["cuda", turn]
      printf "%-32s | %10.3f %10.3f %6.2f\n", turn == "cold" ? "nothing compiled yet" : "from the cache of the driver", then, now, then / now } }' \
    opencl-first.csv cuda-first.csv
}

# The cost of arrays of the host, by each driver.
draw() {
  local csv
  command -v gnuplot >/dev/null || { say "there is no gnuplot: at home \`./dev plot\` draws the tables" && return; }
  for csv in results/{device,cuda}.csv; do
    if grep -qs ',pinned,' "$csv"; then
      gnuplot -c "$here/plots/transfer.gp" "$csv" "${csv%.csv}-transfer.png" || say "no picture of $csv"
    fi
  done
}

# The files of a device that bench/results keeps.
collect() {
  local name from
  rm -rf results
  mkdir results
  cp about.txt results
  if [[ -e opencl-bench.done && -e cuda-bench.done ]]; then put_beside >results/beside.txt; fi
  for name in device.txt=opencl-bench.log device.csv=opencl-bench.csv device.json=opencl-bench.json kernels.csv=trace.csv \
    verify.txt=opencl-verify.log arrays.txt=arrays.log cuda.txt=cuda-bench.log cuda.csv=cuda-bench.csv cuda.json=cuda-bench.json verify-cuda.txt=cuda-verify.log; do
    from=${name#*=}
    if [[ -e ${from%.*}.done ]]; then cp "$from" "results/${name%=*}"; fi
  done
  if compgen -G '*-first.csv' >/dev/null; then { echo driver,cache,seconds && cat ./*-first.csv; } >results/first.csv; fi
  draw
}

if [[ -n $wheels ]] && ! compgen -G "$wheels/slabcast-*.whl" >/dev/null; then
  say "there is no wheel of slabcast in $wheels: ./dev wheels builds it"
  exit 2
fi
for program in slabcast bench_tuning; do
  [[ -x $bin/$program ]] || { say "there is no $bin/$program: ./dev card builds it" && exit 2; }
done
mkdir -p "$all"
if [[ -n $dry ]]; then pretend; else find_driver; fi
drivers=() about='' cards=()
for driver in opencl cuda; do
  # The commit, the device and its driver, one line each.
  if mapfile -t what < <(SLABCAST_BACKENDS=$driver "$bin/bench_tuning" --about --device "$device" 2>"$all/refused") && ((${#what[@]} == 3)); then
    drivers+=("$driver") cards+=("${what[1]}")
    about+="driver $driver ${what[2]}"$'\n'
  else
    say "no device \"$device\" by $driver: $(<"$all/refused")"
  fi
done
rm -f "$all/refused"
if [[ -z $dry && ${#cards[@]} == 2 && ${cards[0]} != "${cards[1]}" ]]; then
  say "by OpenCL it is \"${cards[0]}\", by CUDA \"${cards[1]}\": --device takes a part of a name"
  exit 2
fi
name=$(printf '%s-' "${what[0]}" "${cards[0]-no device}" | tr -cs 'A-Za-z0-9.\n' - | sed 's/^-*//; s/-*$//')
mkdir -p "$all/$name"
cd "$all/$name"
printf 'commit %s\ndevice %s\n%sdate %s\n' "${what[0]}" "${cards[0]-none}" "$about" "$(date -u +%F)" >about.txt
say "$(xargs <about.txt)"

later='' failed=''
((${#drivers[@]})) || failed=yes
verify=() bench=() kernels=()
export points=100000 turns=100 firings=1024 grid=300x300x100
if [[ -n $dry ]]; then
  points=5 turns=1 firings=40 grid=2x2x1
  verify=(--rays 500 --group closest) bench=(--quick --seconds 0 --group transfer) kernels=(--side 32 --primitives 1200 --rounds 1)
fi
stage listing 60 bash -c listing || true
right=()
for driver in "${drivers[@]}"; do
  export SLABCAST_BACKENDS=$driver
  if stage "$driver-verify" 300 "$bin/slabcast" verify --device "$device" --json "$driver-verify.json" "${verify[@]}" &&
    stage "$driver-first" 90 bash -euo pipefail -c first; then
    right+=("$driver")
  else
    say "$driver: no figures, since its answers are not known to be right"
  fi
done
if ((${#right[@]})); then SLABCAST_BACKENDS=native device=cpu stage native-sets 120 bash -euo pipefail -c sets || true; fi
for driver in "${right[@]}"; do SLABCAST_BACKENDS=$driver measure "$driver" || true; done
if [[ -n $wheels && " ${right[*]} " == *' cuda '* ]]; then SLABCAST_BACKENDS=native,cuda stage arrays 400 bash -euo pipefail -c arrays || true; fi
if [[ ${right[0]-} == opencl ]]; then SLABCAST_BACKENDS=opencl tune; fi
collect
tar -czf "$all/$name.tar.gz" -C "$all" "$name"
echo "$all/$name.tar.gz"
[[ -z $failed ]] || exit 1
[[ -z $later ]] || exit 75
