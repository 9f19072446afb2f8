#!/usr/bin/env bash
# program.sh opencl|memory SLABCAST_FAULTY [SAMPLES|all]: every command of the program, struck by faults.
#
# A fault is the Nth OpenCL call or the Nth allocation that fails. It fails alone, with all later calls of that
# function, with all that follow, or, of a kernel, while it runs. The program then ends with another exit code than 0,
# names the failed call on stderr, and leaves no file but whole ones, no OpenCL object and no memory. It runs under the
# counting and the failing layer (OPENCL_LAYERS), whose reports must be there. SAMPLES: number of faults of each mode
# and command, spread evenly. all: each one, but of verify every 3rd and of bench every 7th. These two make the same
# calls some hundred times.
#
# shellcheck source=tests/cli/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh" || exit 1
kind=$1 faulty=$2 samples=${3:-2}
faults=0 every=1
out_of_resources=-5 invalid_operation=-59

# ---- one run ----

# run COMMAND...: in the empty folder `run`; sets $code. Its stderr goes to `said`, the layers' reports to `reports`.
run() {
  rm -rf run reports
  mkdir run
  code=0
  (cd run && SLAB_COUNT_FILE=../reports SLAB_FAIL_FILE=../reports SLAB_FAIL_MEMORY_FILE=../reports \
    timeout 600 "$faulty" "$@") >printed 2>said || code=$?
}

# struck COMMAND...: the same under the fault $n of $mode.
struck() {
  if [[ $kind == opencl ]]; then
    SLAB_FAIL=$n:$mode:$error run "$@"
  else
    SLAB_FAIL_MEMORY=$n:$mode run "$@"
  fi
}

# reported WORD: the number before WORD in the fault's report, over all processes.
reported() {
  local pattern='failing layer'
  [[ $kind == opencl ]] || pattern='failing memory'
  sed -n "s/^slabcast $pattern:.* \\([0-9]*\\) $1.*/\\1/p" reports | awk '{ sum += $1 } END { print sum + 0 }'
}

complain() { fail "\"slabcast $*\", fault $n of mode $mode ($kind, first ${first:-none}): $complaint$(tail -n 3 said)"; }

# ---- what must hold ----

# No file under a final name but the one that a run without faults gives; a part only where the message says so.
check_files() {
  local file
  for file in run/*; do
    [[ -e $file ]] || continue
    case $file in
      *.part) grep -qF "${file#run/} is kept for --resume" said || complaint+="leaves $file; " ;;
      *.json) ;; # holds times; the test of the table looks into it
      *) cmp -s "$file" "whole/${file#run/}" || complaint+="leaves $file, which is not whole; " ;;
    esac
  done
}

# The message names the failed call.
is_named() {
  case $first in
    none | clGetPlatformIDs | clGetDeviceIDs) return 0 ;;
    memory) grep -qi 'memory' said ;;
    *) [[ $mode == late ]] || grep -qF "$first" said ;;
  esac
}

check_struck() {
  local want=1
  first=$(sed -n 's/^slabcast failing layer: .* first \(.*\)/\1/p' reports)
  [[ $kind == opencl ]] || first=memory
  case $first in clGetPlatformIDs | clGetDeviceIDs) want=4 ;; esac
  complaint=''
  [[ $code == "$want" ]] || complaint+="ends with $code, not $want; "
  grep -q '^slabcast: .' said || complaint+="says nothing; "
  is_named || complaint+="does not name what failed; "
  check_files
  check_leaks
  [[ -z $complaint ]] || complain "$@"
  faults=$((faults + 1))
}

# Objects, and blocks of memory: those that a library allocated and we freed count against.
check_leaks() {
  if grep -q 'UNBALANCED$' reports; then complaint+="OpenCL objects leak: $(grep 'UNBALANCED$' reports); "; fi
  if grep -qE 'failing memory: .* [1-9][0-9]* live$' reports; then complaint+="memory leaks: $(grep 'live$' reports); "; fi
}

# ---- a command ----

# sweep MODE ERROR COMMAND...: its faults of one mode.
sweep() {
  mode=$1 error=$2
  shift 2
  local calls step before=$faults
  n=0 struck "$@"
  [[ $code == 0 ]] || fail "\"slabcast $*\" fails without a fault: $(cat said)"
  calls=$(reported calls)
  step=$every
  if [[ $samples != all ]]; then step=$(((calls + samples - 1) / samples)); fi
  ((step > 0)) || step=1
  # Where the samples begin differs from mode to mode.
  for ((n = 1 + (${#mode} + ${#1}) % step; n <= calls; n += step)); do
    struck "$@"
    if (($(reported failed) > 0)); then
      check_struck "$@"
    elif [[ $code != 0 ]] && ! grep -q ': rejected: ' said; then # the importer, a process of its own, was struck
      complaint='fails without a fault; ' complain "$@"
    fi
  done
  printf '%-9s %6d calls, %6d faults   %s\n' "$mode" "$calls" $((faults - before)) "$*"
}

# strike COMMAND...
strike() {
  unset n
  run "$@"
  [[ $code == 0 ]] || fail "\"slabcast $*\" fails: $(cat said)"
  if [[ $kind == opencl ]]; then
    grep -q '^slabcast counting layer' reports || fail "the counting layer was not there"
    grep -q '^slabcast failing layer' reports || fail "the failing layer was not there"
  else
    grep -q '^slabcast failing memory' reports || fail "$faulty has memory that cannot fail"
  fi
  rm -rf whole
  mv run whole
  if [[ $kind == opencl ]]; then
    sweep once "$out_of_resources" "$@"
    sweep entry "$invalid_operation" "$@"
    sweep all "$out_of_resources" "$@"
    sweep late "$out_of_resources" "$@"
  else
    sweep once 0 "$@"
    sweep all 0 "$@"
  fi
}

# ---- every command ----

make_scene() {
  slabcast rays random --builtin boxes:40 --count 300 -o rays.npy
  for query in distance all; do
    for shard in 0 1; do
      slabcast cast --builtin boxes:40 --rays rays.npy --query "$query" --shard $shard/2 -o $query.$shard.npy
    done
  done
  slabcast cast --builtin boxes:40 --rays rays.npy -o hits.npy
  awk 'BEGIN { print "mask"; for (i = 0; i < 300; i++) print i % 2 }' >masks.csv
  printf '%s\n' x,y,z,nx,ny,nz 0,0,0,0,0,1 9,0,0,1,0,0 0,9,1,0,0,0 >points.csv
  printf '%s\n' x,y,z 0,0,9 9,9,0 >others.csv
  printf '%s\n' azimuth,altitude 90,45 180,60 >suns.csv
  printf 'g wheel\nv -3 -1.5 -1.5\nv -3 6.5 -1.5\nv -3 -1.5 6.5\nv 0 0 0\nf 1 2 3\nf 2 3 4\n' >mesh.obj
  printf 'elevation,azimuth\n0,0\n5,90\n' >angles.csv
  printf '%s\n' '1 0 0 2 0 1 0 0 0 0 1 0' '2 0 0 0 0 2 0 0 0 0 2 3' >places.txt
}

make_scene
strike devices
strike info --builtin boxes:2000 --tree high
strike explain --builtin boxes:40 --rays ../rays.npy --geometry 0 --masks ../masks.csv --json out.json
queries=(closest any)
[[ $samples != all ]] || queries+=(distance count interval)
for query in "${queries[@]}"; do
  strike cast --builtin boxes:40 --rays ../rays.npy --query "$query" -o out.npy --check
done
strike cast --builtin boxes:2000 --rays ../rays.npy --query all -o out.npy --json summary.json
strike cast --builtin boxes:40 --rays ../rays.npy --masks ../masks.csv --after ../hits.npy --shard 1/2 -o out.npy
strike cast --mesh ../mesh.obj --rays ../rays.npy --points -o out.csv
strike cast --instances ../places.txt --of ../mesh.obj --rays ../rays.npy -o out.npy
strike view --builtin boxes:40 --points ../points.csv --sky 40 -o out.csv --check
strike view --builtin boxes:40 --points ../points.csv --to ../others.csv --shard 1/2 -o out.npy
strike near --builtin boxes:40 --grid 5x4x3 -o out.vti --check
strike inside --mesh ../mesh.obj --points ../points.csv -o out.csv --check --json summary.json
strike rays camera --builtin boxes:40 --size 16x9 -o out.npy
strike render --builtin boxes:40 --size 16x9 --shade depth -o out.png
strike demo --size 16x9 -o out.png
every=3 strike verify --group closest,garbage --rays 8 --json out.json
every=7 strike bench --quick --seconds 0 --processor-time --group batch --csv out.json --json more.json
if [[ $kind == memory ]]; then
  strike cast --mesh ../mesh.obj --rays ../rays.npy -o out.ply
  strike view --builtin boxes:40 --points ../points.csv --suns ../suns.csv -o out.ply --json summary.json
  strike near --mesh ../mesh.obj --points ../points.csv --shard 1/2 -o out.csv --json summary.json
  strike near --builtin boxes:40 --points ../others.csv --query distance -o out.ply
  strike lidar --builtin boxes:40 --beams ../angles.csv --poses ../places.txt --spin 5 --shard 1/2 -o out.ply --check
  strike lidar --builtin boxes:40 --fan 3,-5,5 --poses ../places.txt --returns 2 -o out.npy
  strike join ../distance.0.npy ../distance.1.npy -o out.npy
  strike join ../all.0.npy ../all.1.npy -o out.npy
fi
echo "$faults faults of $kind handled by the program"
