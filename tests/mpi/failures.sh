#!/usr/bin/env bash
# failures.sh MPIRUN SLABCAST_MPI SLOW_LAYER FLIP_LAYER: a failure, of all ranks or of one alone, is reported once, with
# rank and reason. The job ends with a code, and no file is there but an older one.
# shellcheck source=tests/mpi/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
flip_layer=$4
scene=(--builtin boxes:40)
slabcast rays random "${scene[@]}" --count 300 -o rays.npy
cast=(cast "${scene[@]}" --rays rays.npy)

# expect_failure CODE TEXT COMMAND...: and one line of the program has TEXT; further lines are mpirun's own.
expect_failure() {
  local code=$1 text=$2
  shift 2
  expect_exit "$code" "$@"
  expect_stderr "$text"
  (($(grep -c '^slabcast: ' err) == 1)) || fail "\"$*\" says it more than once: $(cat err)"
  expect_no out.npy out.npy.offsets.npy
}

# ---- refused requests ----
slabcast rays random "${scene[@]}" --count 9 --out text -o rays.txt
expect_failure 2 "rank 0 of 2: --rays wants a file" on 2 cast "${scene[@]}" --rays - -o out.npy
expect_failure 2 "rank 0 of 2: results are npy or raw" on 2 "${cast[@]}" -o out.csv
expect_failure 2 "rank 0 of 2: -o wants a file" on 2 "${cast[@]}" -o -
expect_failure 2 "rank 0 of 2: --resume is for one process" on 2 "${cast[@]}" -o out.npy --resume
expect_failure 2 "rank 0 of 2: unknown option --rais" on 2 cast "${scene[@]}" --rais rays.npy -o out.npy
expect_failure 1 "rank 0 of 2: rays.txt: lines of text" on 2 cast "${scene[@]}" --rays rays.txt -o out.npy
mkfifo own.pipe
expect_failure 2 "rank 0 of 2: --masks wants a file" on 2 "${cast[@]}" --masks - -o out.npy
expect_failure 2 "rank 0 of 2: --after wants a file" on 2 "${cast[@]}" --after own.pipe -o out.npy
echo 1 2 3 >own.txt
expect_failure 1 "rank 0 of 2: own.txt: lines of text" on 2 "${cast[@]}" --after own.txt -o out.npy
head -c 36 rays.npy >own.raw
expect_failure 1 "rank 0 of 2: own.raw: 9 masks for 300 rays" on 2 "${cast[@]}" --masks own.raw -o out.npy
# Of the batch of the last of three ranks.
slabcast cast "${scene[@]}" --rays rays.npy --query distance -o nan.raw
printf '\0\0\300\177' | dd of=nan.raw bs=4 seek=290 conv=notrunc status=none
expect_exit 1 on 3 "${cast[@]}" --after nan.raw -o out.npy
expect_stderr "rank 2 of 3: nan.raw: the t of ray 290, counted from 0, is NaN" " rays were done before"
expect_no out.npy
# Likewise of a world that the scene does not have, which rank 0 alone has read.
printf '1 0 0 0  0 1 0 0  0 0 1 0\n1 0 0 3  0 1 0 0  0 0 1 0\n' >places.txt
printf '1\n2\n' >place_worlds.txt
printf 'v -4 -4 2\nv 9 -4 2\nv 0 9 2\nf 1 2 3\n' >mesh.obj
placed=(--instances places.txt --of mesh.obj --instance-worlds place_worlds.txt)
head -c 1200 /dev/zero >worlds.raw
printf '\3' | dd of=worlds.raw bs=4 seek=290 conv=notrunc status=none
expect_failure 2 "rank 0 of 2: --worlds wants a file" on 2 cast "${placed[@]}" --rays rays.npy --worlds own.pipe -o out.npy
expect_exit 1 on 3 cast "${placed[@]}" --rays rays.npy --worlds worlds.raw -o out.npy
expect_stderr "rank 2 of 3: worlds.raw: the world of ray 290, counted from 0, is 3, and the scene has 2" " rays were done before"
expect_no out.npy
near=(near "${scene[@]}" --points points.npy)
slabcast rays random "${scene[@]}" --count 300 --out raw -o - | head -c 3600 >points.raw
expect_failure 2 "rank 0 of 2: --points wants a file" on 2 near "${scene[@]}" --points - -o out.npy
expect_failure 2 "rank 0 of 2: results are npy or raw" on 2 near "${scene[@]}" --grid 9x9x9 -o out.vti
expect_failure 2 "rank 0 of 2: --resume is for one process" on 2 "${near[@]}" -o out.npy --resume
expect_failure 2 "rank 0 of 2: --radius 0 is not above 0" on 2 "${near[@]}" -o out.npy --radius 0
expect_exit 1 on 3 near "${placed[@]}" --points points.raw --worlds worlds.raw -o out.npy
expect_stderr "rank 2 of 3: worlds.raw: the world of point 290, counted from 0, is 3, and the scene has 2"
expect_no out.npy
expect_failure 1 "rank 0 of 2: own.txt: lines of text" on 2 near "${scene[@]}" --points own.txt -o out.npy
expect_failure 1 "rank 0 of 2: cannot read nowhere.npy" on 2 near "${scene[@]}" --points nowhere.npy -o out.npy
expect_failure 1 "rank 0 of 2: cannot write nowhere/out.npy" on 2 near "${scene[@]}" --points points.raw -o nowhere/out.npy
expect_failure 1 "rank 0 of 3: cannot read nowhere.npy" on 3 cast "${scene[@]}" --rays nowhere.npy -o out.npy
expect_failure 1 "rank 0 of 2: cannot write nowhere/out.npy" on 2 "${cast[@]}" -o nowhere/out.npy
expect_failure 1 "rank 0 of 2: cannot read nowhere.npy" on 2 cast --boxes nowhere.npy --rays rays.npy -o out.npy
expect_failure 4 "rank 0 of 2: --device nothing" on 2 "${cast[@]}" --device nothing -o out.npy

# ---- what fails on one rank alone ----
expect_failure 4 "rank 1 of 2: --device nothing" on 2 "${cast[@]}" --device cpu,nothing -o out.npy
special 1 "export OPENCL_LAYERS=$flip_layer SLAB_FLIP=1:12345 SLAB_FLIP_FILE=report"
expect_exit 3 on_special 3 "${cast[@]}" --query any --check
expect_stderr "rank 1 of 3: mismatch at ray 1"
expect_exit 3 on_special 3 near "${scene[@]}" --points points.raw --query distance --check
expect_stderr "rank 1 of 3: mismatch at point 1"

# It lets MPI and the driver write files of their own, but not the last of 900,000 rows of 32 bytes.
slabcast rays random "${scene[@]}" --count 900000 -o large.npy
limit='ulimit -f 12000'
export OMPI_MCA_btl_sm_segment_size=4194304 # of Open MPI 5, whose 16 MiB are a file as well
for rank in 0 1; do
  special $rank "$limit"
  expect_exit 1 on_special 2 cast "${scene[@]}" --rays large.npy -o out.npy
  expect_stderr "rank $rank of 2: cannot write out.npy: File too large" " rays were done before"
  expect_no out.npy
done
special 1 'ulimit -f 6500' # less than the offsets take
echo before >out.npy
expect_exit 1 on_special 2 cast "${scene[@]}" --rays large.npy --query all -o out.npy
expect_stderr "rank 1 of 2: cannot write out.npy: File too large"
[[ $(cat out.npy) == before ]] || fail "the older file is gone"
rm out.npy
expect_no out.npy out.npy.offsets.npy

# ---- killed and interrupted, while all wait for a slow file system ----
export SLAB_SLOW_READ=60:1e9
special any "export LD_PRELOAD=$slow_preload"
has_parts() { [[ -e out.npy.part ]]; }
for who in 0 1 mpirun; do
  rm -f pid.*
  "$mpirun" -n 2 ./special.sh "$program" "${cast[@]}" -o out.npy >out 2>err &
  job=$!
  wait_until 60 has_parts
  code=0
  if [[ $who == mpirun ]]; then kill -TERM "$job"; else kill -KILL "$(cat "pid.$who")"; fi
  wait "$job" || code=$?
  ((code != 0)) || fail "a job whose $who was killed ended well"
  [[ $who == mpirun ]] || tr '\n' ' ' <err | grep -qE "rank $who .*signal 9" || fail "nobody says that rank $who was killed: $(cat err)"
  [[ ! -e out.npy ]] || fail "out.npy is there"
  # The rank that made the part removes it, unless it was killed itself.
  no_part() { [[ ! -e out.npy.part ]]; }
  if [[ $who == 0 ]]; then rm out.npy.part; else wait_until 20 no_part; fi
done
