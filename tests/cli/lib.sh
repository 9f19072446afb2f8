# shellcheck shell=bash disable=SC2034 # the scripts use the variables
# Functions that the scripts of this folder share. Each sources it first and is then in an empty folder that goes with
# it. $SLABCAST is the program; slabcast runs it.
set -euo pipefail

# Every kind of primitive, as options and groups name it.
mapfile -t kinds < <(sed -nE 's/^  X\(SLAB_[A-Z]+, [a-z]+, ([a-z]+),.*/\1/p' \
  "$(dirname "${BASH_SOURCE[0]}")/../../kernels/shapes.def")
work=$(mktemp -d)

end() {
  jobs -p | xargs -r kill -9 2>/dev/null || true
  rm -rf "$work"
}
trap end EXIT
cd "$work"

slabcast() { "$SLABCAST" "$@"; }

fail() {
  echo "${0##*/}: line ${BASH_LINENO[-2]}: $*" >&2
  exit 1
}

# expect_exit CODE COMMAND...: its output goes to the files out and err.
expect_exit() {
  local want=$1 got=0
  shift
  "$@" >"$work/out" 2>"$work/err" || got=$?
  [[ $got == "$want" ]] || fail "\"$*\" ended with $got, not $want: $(tail -n 5 "$work/err")"
}

# expect_stderr TEXT...: the last expect_exit's command printed each of these.
expect_stderr() {
  local text
  for text in "$@"; do
    grep -qF -- "$text" "$work/err" || fail "stderr does not say \"$text\": $(cat "$work/err")"
  done
}

expect_stdout() {
  local text
  for text in "$@"; do
    grep -qF -- "$text" "$work/out" || fail "stdout does not say \"$text\": $(head -n 20 "$work/out")"
  done
}

# expect_refusal CODE TEXT COMMAND...: ends so, prints TEXT on stderr in a line or two, and nothing on stdout.
expect_refusal() {
  local code=$1 text=$2
  shift 2
  expect_exit "$code" "$@"
  expect_stderr "slabcast: " "$text"
  [[ ! -s $work/out ]] || fail "\"$*\" printed: $(head -n 3 "$work/out")"
  (($(wc -l <"$work/err") <= 3)) || fail "\"$*\" says too much: $(cat "$work/err")"
}

# expect_same A B: the same bytes.
expect_same() { cmp -- "$1" "$2" >&2 || fail "$1 and $2 differ"; }
expect_other() { if cmp -s -- "$1" "$2"; then fail "$1 and $2 do not differ"; fi; }

# expect_no FILE...: neither it nor its FILE.part is there.
expect_no() {
  local file
  for file in "$@"; do
    if [[ -e $file || -e $file.part ]]; then fail "$file or $file.part is there"; fi
  done
}

# expect_text WANTED FILE: the file's text is this.
expect_text() { diff <(printf '%s\n' "$1") "$2" >&2 || fail "$2 says something else"; }

# expect_checked CAST_OPTION...: a cast whose every answer equals the reference.
expect_checked() {
  expect_exit 0 slabcast cast --check "$@"
  expect_stderr " 0 mismatches (oracle: " " 0 wrong"
  if grep -q '^0 rays checked' "$work/err"; then fail "nothing was checked: $*"; fi
}

# wait_until SECONDS COMMAND...: until it succeeds.
wait_until() {
  local tries=$(($1 * 20))
  shift
  until "$@"; do
    ((tries-- > 0)) || fail "waited in vain for \"$*\""
    sleep 0.05
  done
}

# to_nobody default|ignore COMMAND...: its stdout is a pipe whose reader has gone away; SIGPIPE has that disposition.
to_nobody() { { sleep 0.1 && exec env "--$1-signal=PIPE" "${@:2}"; } | true; }

# npy_data FILE: the array behind the header.
npy_data() { tail -c "+$(($(od -An -tu2 -j8 -N2 "$1") + 11))" "$1"; }

# make_row MAKE_NPY: a box, a sphere, a plane, an oriented box and a triangle in a row along x, as files and as the
# options ${row[@]}: geometries 0 to 4. The ray from (-5, 0.5, 0.5) along x meets the triangle's back at t = 2, the box
# from 5 to 6 and the sphere from 9 to 11. Then it meets the oriented box from 12.5 to 13.5 and the plane's back at 15.
make_row() {
  echo 0 0 0 1 1 1 | "$1" f '<f4' '(1, 6)' False >box.npy
  echo 5 0.5 0.5 1 | "$1" f '<f4' '(1, 4)' False >sphere.npy
  echo 2 0 0 20 | "$1" d '<f8' '(1, 4)' False >plane.npy
  echo 8 0.5 0.5 0.5 0.5 0.5 0 1 0 -1 0 0 0 0 1 | "$1" f '<f4' '(1, 15)' False >obb.npy
  printf 'v -3 -1.5 -1.5\nv -3 6.5 -1.5\nv -3 -1.5 6.5\nf 1 2 3\n' >triangle.obj
  row=(--boxes box.npy --spheres sphere.npy --planes plane.npy --obbs obb.npy --mesh triangle.obj)
  echo -5 0.5 0.5 1 0 0 >ray.txt
}
