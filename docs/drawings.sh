#!/usr/bin/env bash
# drawings.sh PROGRAM FOLDER: makes the drawings of slab.md in FOLDER. It runs the commands after "$ " in the page, in
# their order. It fails where one does not print the text below it, or where a picture of the page is missing. PROGRAM
# is a slabcast with cairo.
set -euo pipefail

program=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
page=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/slab.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "drawings: $*" >&2
  exit 1
}

slabcast() { "$program" "$@"; }

# blanks: the lines of stdin with single blanks and none at their ends.
blanks() { sed 's/[ \t][ \t]*/ /g; s/^ //; s/ $//'; }

# check: the lines of `wanted` are in `said`, in their order.
check() {
  local line at=0 found
  while IFS= read -r line; do
    [[ $line != ... ]] || continue
    found=$(tail -n "+$((at + 1))" said | grep -nxFm 1 -- "$line" | cut -d : -f 1) || true
    [[ -n $found ]] || fail "\"$command\" does not say \"$line\""
    at=$((at + found))
  done < <(blanks <wanted)
}

command='' commands=0
# shellcheck disable=SC2016 # no variables
while IFS= read -r line; do
  case $line in
    '```'* | '$ '*)
      if [[ -n $command ]]; then check; fi
      command=''
      if [[ $line == '$ '* ]]; then
        command=${line#'$ '} commands=$((commands + 1))
        eval "$command" >out || fail "\"$command\" failed"
        blanks <out >said
        : >wanted
      fi
      ;;
    *) if [[ -n $command && -n $line ]]; then printf '%s\n' "$line" >>wanted; fi ;;
  esac
done < <(sed -n '/^```console$/,/^```$/p' "$page")
((commands > 10)) || fail "the page has hardly any commands"

for picture in *.svg; do mv "$picture" "$folder"; done
while IFS= read -r picture; do
  [[ -s $folder/$picture ]] || fail "no command of the page draws $picture"
done < <(sed -nE 's/^!\[[^]]*\]\(drawings\/([^)]*)\).*/\1/p' "$page")
echo "$commands commands, $(find "$folder" -name '*.svg' | wc -l) drawings"
