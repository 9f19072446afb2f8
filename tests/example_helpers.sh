#!/bin/sh
# example_helpers.sh PROGRAM: examples/helpers.c answers what can be worked out by hand.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/expected" <<'TEXT'
wire: 0.25 of the way, at (1, 0, 4)
laser: t = 2, wall facing (-1, 0)
crate: t = 3, face 2 facing (1, 0, 0)
pixel (320, 240): the box
pixel (0, 0): nothing
TEXT
"$1" >"$work/printed"
diff -u "$work/expected" "$work/printed"
