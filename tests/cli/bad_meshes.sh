#!/usr/bin/env bash
# bad_meshes.sh MAKE_NPY: mesh files that are damaged, wrong or too large are rejected with the file and the reason. A
# crash of the importer ends only its child.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
echo 0 0 0 1 0 0 >ray.txt

# rejected FILE TEXT...: by cast, code 1, no result.
rejected() {
  local mesh=$1 text
  expect_refusal 1 "$mesh: " slabcast cast --mesh "$mesh" --rays ray.txt -o hits.npy
  shift
  for text in "$@"; do expect_stderr "$text"; done
  expect_no hits.npy
}

# ---- files that cannot be read ----
rejected nowhere.obj "No such file or directory"
rejected . "a folder, and a mesh is read from a file or a pipe"
mkfifo fifo.obj
: >fifo.obj &
rejected_empty() { expect_refusal 1 "$1 is empty" slabcast cast --mesh "$1" --rays ray.txt -o hits.npy; }
rejected_empty fifo.obj
rejected_empty /dev/null
: >empty.obj
rejected empty.obj "the file is empty"
echo hello >words.obj
rejected words.obj rejected
echo hello >words.xyz
rejected words.xyz rejected "No suitable reader"
head -c 5000 /dev/zero >zeros.ply
rejected zeros.ply rejected
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\n' >faceless.obj
rejected faceless.obj rejected

# ---- indices and vertices ----
triangle() { printf 'v 0 0 0\nv 1 0 %s\nv 0 1 0\nvt 0 0\nf %s\n' "$1" "$2"; }
triangle 0 "1 2 3" >good.obj
expect_exit 0 slabcast info --mesh good.obj
triangle 0 "1 2 4" >index.obj
rejected index.obj "rejected: line 5: a face names vertex 4, and there are 3"
triangle 0 "1/1 2/1 400/1" >index.obj
rejected index.obj "line 5: a face names vertex 400, and there are 3"
triangle 0 "-1 -2 -4" >index.obj
rejected index.obj "line 5: a face names vertex -4, and there are 3"
triangle 0 "0 1 2" >index.obj
rejected index.obj "line 5: a face names vertex 0, and there are 3"
for value in nan inf 1e40 1e30; do
  triangle "$value" "1 2 3" >vertex.obj
  rejected vertex.obj "face 0: vertex 1 (1, 0, " "NaN, infinite or beyond 2^60"
done
printf 'OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 9\n' >index.off
rejected index.off "rejected: face 0 names vertex 9, and there are 3"
printf 'OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2' >count.off
rejected count.off "rejected: line 6: it ends before face 1 of 2"

ply() {
  printf 'ply\nformat %s 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n' "$1"
  printf 'element face %s\nproperty list uchar int vertex_indices\n%s\n' "$2" "$3"
}
{ ply ascii 1 end_header && printf '0 0 0\n1 0 0\n0 1 0\n3 0 1 9\n'; } >index.ply
rejected index.ply "rejected: face 0 names vertex 9, and there are 3"
{ ply ascii 1 end_header && printf '0 0 0\n1 0 0\n0 1 0\n3 0 1\n'; } >short.ply
rejected short.ply "rejected: it is cut short: it ends within face 0 of 1"
{ ply ascii 4000000000 end_header && printf '0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n'; } >many.ply
rejected many.ply "rejected: it says 4000000000 of face, which the 9 bytes left cannot hold"

ply ascii 1 end_headeX >endless.ply
rejected endless.ply "rejected: its header does not end"
{ ply ascii 1 end_header && printf '0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n'; } >good.ply
tr '\n' '\r' <good.ply >mac.ply
expect_exit 0 slabcast info --mesh good.ply --mesh mac.ply

# The end of the header is another word. The test is that the commands go no further.
{ ply binary_little_endian 1 end_headerX && echo 0 0 0 1 0 0 0 1 0 | "$1" f && printf '\3' && echo 0 1 2 | "$1" u; } >crash.ply
rejected crash.ply rejected
expect_exit 1 slabcast info --mesh good.obj --mesh crash.ply --json
[[ ! -s out ]] || fail "info describes a scene with a rejected mesh"
expect_exit 1 slabcast render --mesh crash.ply -o picture.png
expect_stderr "crash.ply: rejected"
expect_exit 1 slabcast rays camera --mesh crash.ply -o rays.npy
expect_stderr "crash.ply: rejected"
expect_no picture.png rays.npy

# ---- messages of the import library that it drops, since they quote a long text of the file ----
number=$(head -c 3000 /dev/zero | tr '\0' a)
# long NAME FORMAT: the format's %s is the text.
long() {
  # shellcheck disable=SC2059 # the format is an argument
  printf "$2" "$number" >"$1"
  rejected "$1" "rejected: "
  if grep -q fixme err; then fail "$1: the import library's own excuse is printed"; fi
}
long array.dae '<COLLADA version="1.4.1"><library_geometries><geometry id="a"><mesh><source id="s"><float_array count="3" id="f">%s</float_array></source></mesh></geometry></library_geometries></COLLADA>'
long reference.dae '<?xml version="1.0"?><COLLADA version="1.4.1"><scene><instance_visual_scene url="#%s"/></scene></COLLADA>'
long name.x3d '<X3D><Scene><%s/></Scene></X3D>'

# ---- without /proc: the program is found by the path that it was started by, and pipes are read all the same ----
without_proc() { unshare -m bash -c 'mount -t tmpfs none /proc && exec "$@"' bash "$@"; }
if without_proc true 2>/dev/null; then
  cp "$(readlink -f "$SLABCAST")" here
  for program in "$SLABCAST" ./here ../"${work##*/}"/here; do
    expect_exit 0 without_proc "$program" info --mesh good.obj --mesh good.ply
    expect_exit 0 without_proc "$program" info --mesh - <good.obj
    expect_exit 0 without_proc "$program" info --mesh - <good.ply
    expect_refusal 1 "index.off: rejected: face 0 names vertex 9, and there are 3" without_proc "$program" info --mesh index.off
  done
  # Started by its name alone, from a folder of PATH.
  expect_exit 0 env PATH="$work:$PATH" bash -c 'unshare -m bash -c "mount -t tmpfs none /proc && exec here info --mesh good.obj"'
else
  echo "bad_meshes.sh: NOT TRIED: meshes without /proc, which this user may not unmount" >&2
fi
