#!/usr/bin/env bash
# The first day on a card: what is asked of a GPU that has not run this yet, in stages, each with its own time and log.
#
#   card.sh [--device SEL] [--minutes M] [--dry] BUILD [FOLDER]
#
# BUILD: what `./dev card` builds, here or carried along; it needs no compiler and no network, and changes no setting of
# the card. Results go to FOLDER (build/card) in a folder of their own for this commit and this device, and at the end
# that folder becomes one file, FOLDER/NAME.tar.gz, to bring home. Stages that are done are not run again, so a run that
# was cut off, or whose minutes were too few (then exit code 75), is continued by the same command. No stage stops the
# next ones; exit code 1: some stage failed.
# --dry: everything small and once, in seconds, which shows that all works and measures nothing.
set -euo pipefail

device=gpu minutes=40 dry=''
while [[ ${1-} == --* ]]; do
  case $1 in
    --device) device=$2 && shift ;;
    --minutes) minutes=$2 && shift ;;
    --dry) dry=yes ;;
    *) echo "card: there is no option $1" >&2 && exit 2 ;;
  esac
  shift
done
(($# == 1 || $# == 2)) || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2 && exit 2; }
build=$(realpath "$1")
all=$(realpath -m "${2:-$(dirname "${BASH_SOURCE[0]}")/../build/card}")
bin=$build/bin
export POCL_CACHE_DIR=${POCL_CACHE_DIR:-$build/pocl-cache}

say() { echo "card: $*" >&2; }

# NVIDIA's driver, where it is here without the file that tells loaders of it. Those of other drivers may be there.
find_driver() {
  local library
  if grep -qs nvidia "${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}"/*.icd; then return; fi
  library=$(find -L /usr /opt -name 'libnvidia-opencl.so*' 2>/dev/null | sort | head -n 1) || true
  [[ -n $library ]] || return 0
  mkdir -p "$all/vendors"
  echo "$library" >"$all/vendors/nvidia.icd"
  export OCL_ICD_VENDORS=$all/vendors
}

# The commit, the device and its driver, a line each; of a card without OpenCL what its own tools say.
about() {
  if "$bin/bench_tuning" --about --device "$device" 2>"$all/refused"; then return; fi
  say "no device \"$device\" of OpenCL: $(<"$all/refused")"
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1 | sed 's/, /\n/' || true
}

# stage NAME SECONDS COMMAND...: a log, and where the command ends well NAME.done, for which it is not run again.
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
    return
  fi
  timeout "$most" "$@" >"$name.log" 2>&1 || status=$?
  echo "$name: exit code $status after $((SECONDS - begun)) s" | tee -a stages.txt >&2
  case $status in
    0) touch "$name.done" ;;
    77) touch "$name.done" && say "$name: skipped: $(tail -n 1 "$name.log")" ;;
    *) failed=yes && tail -n 5 "$name.log" >&2 ;;
  esac
}

listing() {
  "$bin/slabcast" devices
  date -u
  uname -srm
  nvidia-smi 2>/dev/null || true
  clinfo 2>/dev/null || true
}

# One cast: opening the device asks it what it computes (host/opencl/probe.c), and compiles the first kernels.
probe() {
  "$bin/slabcast" rays random --builtin terrain:1000 --count 10000 -o rays.npy
  "$bin/slabcast" cast --device "$device" --builtin terrain:1000 --rays rays.npy --check
}
export -f listing probe
export bin device

for program in slabcast bench_tuning bench_ptx; do
  [[ -x $bin/$program ]] || { say "there is no $bin/$program: ./dev card builds it" && exit 2; }
done
mkdir -p "$all"
find_driver
mapfile -t what < <(about)
opencl=yes
[[ -s $all/refused ]] && opencl=''
rm -f "$all/refused"
name=$(printf '%s-' "${what[0]}" "${what[1]:-no device}" | tr -cs 'A-Za-z0-9.\n' - | sed 's/^-*//; s/-*$//')
mkdir -p "$all/$name"
cd "$all/$name"
printf 'commit %s\ndevice %s\ndriver %s\ndate %s\n' "${what[0]}" "${what[1]:-none}" "${what[2]:-none}" "$(date -u +%F)" >about.txt
say "$(xargs <about.txt)"

later='' failed=''
verify=() bench=() kernels=() ptx=()
if [[ -n $dry ]]; then
  verify=(--rays 500 --group closest) bench=(--quick --seconds 0 --group batch) kernels=(--side 32 --primitives 1200 --rounds 1)
  ptx=(--side 32 --primitives 1200)
fi
stage listing 60 bash -c listing
if [[ -n $opencl ]]; then
  stage probe 90 bash -c probe
  stage verify 300 "$bin/slabcast" verify --device "$device" --json verify.json "${verify[@]}"
  stage bench 420 "$bin/slabcast" bench --device "$device" --csv bench.csv --json bench.json "${bench[@]}"
  stage trace 420 "$bin/bench_tuning" --device "$device" --csv trace.csv "${kernels[@]}"
  for setting in rays tile group bvh-rays leaf nodes; do
    if [[ -n $dry && $setting != group ]]; then continue; fi
    stage "tuning-$setting" 150 "$bin/bench_tuning" --device "$device" --setting "$setting" --csv "tuning-$setting.csv" "${kernels[@]}"
  done
fi
stage ptx 150 env SLABCAST_BACKENDS=native "$bin/bench_ptx" "${ptx[@]}" "$build/ptx"
tar -czf "$all/$name.tar.gz" -C "$all" "$name"
echo "$all/$name.tar.gz"
[[ -z $failed ]] || exit 1
[[ -z $later ]] || exit 75
