#!/bin/sh
# readme.sh CLOSEST: the README's example is examples/closest.c to the letter, the program built
# from it prints what the README says it prints, and its shell lines work with $SLABCAST.
set -eu
closest=$1
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# block LANGUAGE: the text between ```LANGUAGE and ```, of the first such block
block() { awk -v open="\`\`\`$1" '$0 == "```" && inside { exit } inside { print } $0 == open { inside = 1 }' "$root/README.md"; }

block c >"$work/readme.c"
diff -u "$root/examples/closest.c" "$work/readme.c" || { echo "readme: the example is not examples/closest.c" >&2; exit 1; }
"$closest" >"$work/printed"
block text >"$work/promised"
diff -u "$work/promised" "$work/printed" || { echo "readme: the example prints something else" >&2; exit 1; }

block sh >"$work/lines"
grep -q slabcast "$work/lines" || { echo "readme: no shell lines" >&2; exit 1; }
PATH=$(dirname "$SLABCAST"):$PATH
cd "$work"
sh -e lines
