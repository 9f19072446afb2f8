#!/bin/sh
# example_enqueue.sh PROGRAM: examples/enqueue.c answers what can be worked out by hand.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/expected" <<'TEXT'
ray 0: t = 8
ray 1: t = 10
ray 2: t = 14
ray 3: t = inf
TEXT
"$1" >"$work/printed"
diff -u "$work/expected" "$work/printed"
