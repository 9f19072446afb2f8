#!/usr/bin/env bash
# program.sh RUNNER... PROGRAM: the program of another system, which RUNNER starts, such as wine64, gives byte by byte what
# $SLABCAST gives here: arrays, tables, pictures, messages and exit codes, on the processor. And what differs between
# systems is right there: names outside ASCII, pipes and their ends, files beyond 4 GB, locks, interruptions, resuming.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"
runner=("$@")
export SLABCAST_BACKENDS=native WINEDEBUG=${WINEDEBUG:--all} LC_ALL=C.UTF-8
there() { "${runner[@]}" "$@"; }
mkdir here there

# both NAME ARGUMENT...: the same command on either system, each in its folder; NAME.out, .err and .code are what came.
both() {
  local name=$1 code
  shift
  code=0
  (cd here && slabcast "$@" >"$name.out" 2>"$name.err") </dev/null || code=$?
  echo "$code" >"here/$name.code"
  code=0
  (cd there && there "$@" >"$name.out" 2>"$name.err") </dev/null || code=$?
  echo "$code" >"there/$name.code"
}

# ---- the same bytes ----

both version --version
both help --help
both info info --builtin city:400
both rays rays camera --builtin city:400 --size 200x100 -o rays.npy
for query in closest distance nearest any count all interval; do
  both "cast-$query" cast --builtin city:400 --rays rays.npy --query "$query" -o "$query.npy"
  both "text-$query" cast --builtin city:400 --rays rays.npy --query "$query" -o "$query.csv"
done
both points cast --builtin city:400 --rays rays.npy --query all -o all.ply
both checked cast --builtin room:3 --rays rays.npy --check 100 -o checked.raw
both picture render --builtin city:400 --size 120x80 -o city.png
for shard in 0 1 2; do both "shard-$shard" cast --builtin city:400 --rays rays.npy --shard "$shard/3" -o "part-$shard.npy"; done
both join join part-0.npy part-1.npy part-2.npy -o joined.npy
both explain explain --builtin boxes:3 --rays rays.npy --index 7
both names cast --builtin city:400 --rays rays.npy -o 'Straße–日本😀.npy'
both again cast --builtin city:400 --rays rays.npy -o 'Straße–日本😀.npy'

# ---- the same refusals ----

both no-file cast --builtin city:400 --rays 'nicht-da-ä日.npy' -o x.npy
both a-folder cast --builtin city:400 --rays . -o x.npy
both no-folder cast --builtin city:400 --rays rays.npy -o nowhere/x.npy
both in-a-file cast --builtin city:400 --rays rays.npy -o rays.npy/x.npy
both onto-a-folder cast --builtin city:400 --rays rays.npy -o .
both no-format cast --builtin city:400 --rays rays.npy -o x.xyz
both no-option cast --builtin city:400 --rais rays.npy
both no-mesh cast --mesh nowhere.obj --rays rays.npy
both no-rays cast --builtin city:400 --rays city.png

sed -i 's/^\(built in *\)[0-9.]* s$/\1/' {here,there}/info.out # the one figure that is another each time
diff -r here there || fail "the systems differ"
compared=$(find here -type f | wc -l)

# ---- pipes ----

for form in npy csv; do
  slabcast cast --builtin city:400 --rays - --out $form -o - <here/rays.npy >here/piped.$form
  tail -c +1 here/rays.npy | there cast --builtin city:400 --rays - --out $form -o - | cat >there/piped.$form
  cmp here/piped.$form there/piped.$form || fail "through pipes comes another $form"
done
# A reader that has gone ends it without a message.
there rays camera --builtin city:400 --size 2000x1000 -o - 2>err | head -c 10 >/dev/null || true
[[ ! -s err ]] || fail "a closed pipe: $(cat err)"
# A failed cast does not wait for who still writes.
mkfifo slow
(cat here/rays.npy && exec sleep 20) >slow &
SECONDS=0
there cast --builtin city:400 --rays - --in csv -o there/x.npy <slow >/dev/null 2>err && fail "npy is no text"
((SECONDS < 15)) || fail "a failed cast waited $SECONDS s for a pipe"
kill %1 2>/dev/null || true
wait

# ---- locks, interruptions, resuming ----

# wait_for FILE: until it has bytes, for some seconds.
wait_for() {
  local tries
  for ((tries = 0; tries < 200; tries++)); do
    if [[ -s $1 ]]; then return; fi
    sleep 0.05
  done
}

# sparse ROWS FILE: rays of zeros, but for the last 100, which are those of here/rays.npy.
sparse() {
  local text="{'descr': '<f4', 'fortran_order': False, 'shape': ($1, 8), }"
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$text" >"$2"
  truncate -s $((128 + ($1 - 100) * 32)) "$2"
  tail -c 3200 here/rays.npy >>"$2"
}
sparse 30000000 many.npy
slabcast cast --builtin city:400 --rays many.npy -o whole.npy 2>/dev/null
there cast --builtin city:400 --rays many.npy -o many-there.npy 2>/dev/null &
wait_for many-there.npy.part
expect_exit 1 there cast --builtin city:400 --rays here/rays.npy -o many-there.npy
expect_stderr 'another process is writing many-there.npy.part'
wait $!
cmp whole.npy many-there.npy || fail "a cast beside another one came out differently"
rm many-there.npy
set -m # so that the job takes SIGINT
there cast --builtin city:400 --rays many.npy -o many-there.npy 2>err &
set +m
wait_for many-there.npy.part
kill -INT -- -$!
wait $! && fail "an interrupted cast ended well"
grep -q 'slabcast: interrupted' err || fail "interrupted: $(cat err)"
[[ ! -e many-there.npy ]] || fail "an interrupted cast left a whole file"
there cast --builtin city:400 --rays many.npy --resume -o many-there.npy 2>/dev/null
cmp whole.npy many-there.npy || fail "a resumed cast came out differently"
rm -f many* whole.npy

# ---- beyond 4 GB ----

sparse 140000000 large.npy
for shard in 1399998 1399999; do
  both "large-$shard" cast --builtin city:400 --rays ../large.npy --shard "$shard/1400000" -o "large-$shard.npy"
  cmp here/large-$shard.npy there/large-$shard.npy || fail "rays beyond 4 GB are others"
done
echo "$compared files are the same"
