#!/bin/sh
# example_kernels.sh PROGRAM: an example that traces rays in a kernel of its own exits with 0, which it does
# where its result agrees with a formula. Its picture has light and dark, and the size of its header.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$1" "$work/picture.pgm"
read -r kind width height most <"$work/picture.pgm"
header="$kind $width $height $most"
[ "$kind $most" = "P5 255" ]
[ "$(wc -c <"$work/picture.pgm")" -eq $((${#header} + 1 + width * height)) ]
tail -c $((width * height)) "$work/picture.pgm" | od -An -v -tu1 | awk '
  { for (i = 1; i <= NF; i++) { sum += $i; n++; if ($i < 80) dark++; if ($i > 240) bright++ } }
  END { exit !(dark > n / 2000 && bright > n / 1000 && sum < 0.97 * 255 * n) }'

# Without a path it prints its usage.
if "$1" >/dev/null 2>"$work/said"; then exit 1; else [ $? -eq 2 ]; fi
grep -q usage "$work/said"
