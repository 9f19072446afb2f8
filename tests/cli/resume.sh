#!/usr/bin/env bash
# resume.sh: --resume goes on from a FILE.part of every query in every format to the bytes of a cast that nothing
# interrupted. The cut may be anywhere. A part of another cast is refused.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
# More rays than the 65,536 that are cast again and compared; some hit several boxes, some none.
count=150000
scene=(--builtin boxes:300)
slabcast rays random "${scene[@]}" --count $count -o rays.npy
cast=(cast "${scene[@]}" --rays rays.npy)
kinds=("distance npy" "any raw" "closest npy --points" "interval csv" "count txt" "all npy" "all raw --points" "all csv" "all txt")
# Points are of the program alone: one backend shows them.
if [[ $SLABCAST_BACKENDS == native ]]; then kinds+=("closest ply" "all ply" "interval ply"); fi

# cut FILE PERCENT: its first bytes, as FILE of a folder part; odd, so that rows are cut in two.
cut_off() { head -c "$(($(stat -c %s "$1") * $2 / 100 | 1))" "$1"; }

# resume PERCENT_OF_ROWS PERCENT_OF_OFFSETS: from such a part of whole.$format to the same bytes; $resumed rays were
# not cast again.
resume() {
  rm -f out.*
  cut_off "whole.$format" "$1" >"out.$format.part"
  if [[ -e whole.$format.offsets.npy ]]; then cut_off "whole.$format.offsets.npy" "$2" >"out.$format.offsets.npy.part"; fi
  expect_exit 0 slabcast "${cast[@]}" "${options[@]}" -o "out.$format" --resume --json summary.json
  expect_same "whole.$format" "out.$format"
  if [[ -e whole.$format.offsets.npy ]]; then expect_same "whole.$format.offsets.npy" "out.$format.offsets.npy"; fi
  if compgen -G 'out.*.part' >&2; then fail "a part is still there"; fi
  resumed=$(sed -n 's/.*"resumed": \([0-9]*\).*/\1/p' summary.json)
}

# refinish: with the finished out.$format alone the last rays are cast again and it stays; of another scene, rays or
# options it is refused, and stays too.
refinish() {
  local before
  before=$(stat -c %i:%y out."$format"*)
  expect_exit 0 slabcast "${cast[@]}" "${options[@]}" -o "out.$format" --resume --json summary.json
  expect_same "whole.$format" "out.$format"
  resumed=$(sed -n 's/.*"resumed": \([0-9]*\).*/\1/p' summary.json)
  ((resumed > 20000)) || fail "$kind: of a finished file $resumed rays were not cast again"
  [[ $(stat -c %i:%y out."$format"*) == "$before" ]] || fail "$kind: a finished file was written again, or has company"
  [[ $SLABCAST_BACKENDS == native ]] || return 0 # answers are the same, and drivers' kernels would be compiled
  for other in "--builtin boxes:301 --rays rays.npy" "--builtin soup:300 --rays rays.npy" "--builtin boxes:300 --rays other.npy" \
    "--builtin boxes:300 --rays rays.npy --t-max 0.5"; do
    read -ra alien <<<"$other"
    expect_refusal 1 "out.$format" slabcast cast "${alien[@]}" "${options[@]}" -o "out.$format" --resume
    expect_stderr "holds other results: it was made from other rays, another scene or other options; run without --resume"
  done
  [[ $(stat -c %i:%y out."$format"*) == "$before" ]] || fail "$kind: a refused file was written again, or has company"
}

slabcast rays random "${scene[@]}" --count $count --seed 5 -o other.npy
slabcast rays random "${scene[@]}" --count 10000 -o few.npy
for kind in "${kinds[@]}"; do
  read -r query format points <<<"$kind"
  options=(--query "$query" ${points:+"$points"})
  rm -f whole.*
  slabcast "${cast[@]}" "${options[@]}" -o "whole.$format"
  resume 90 90
  ((resumed > 20000 && resumed < 8 * count / 10)) || fail "$kind: $resumed rays were not cast again"
  resume 1 1
  ((resumed == 0)) || fail "$kind: with 1 % there, $resumed rays were not cast again"
  refinish
done

# Hits and offsets that do not reach equally far, as after a loss of power; one of them alone.
options=(--query all) format=npy
rm -f whole.*
slabcast "${cast[@]}" --query all -o whole.npy
resume 80 100
((resumed > 20000)) || fail "of hits cut short $resumed rays were not cast again"
resume 100 80
((resumed > 20000)) || fail "of offsets cut short $resumed rays were not cast again"
for lost in out.npy.part out.npy.offsets.npy.part; do
  cp whole.npy out.npy.part
  cp whole.npy.offsets.npy out.npy.offsets.npy.part
  rm "$lost" out.npy
  expect_exit 0 slabcast "${cast[@]}" --query all -o out.npy --resume
  expect_same whole.npy out.npy
  expect_same whole.npy.offsets.npy out.npy.offsets.npy
done

# Of a finished pair one was not renamed, or is lost.
for lost in none out.npy.offsets.npy; do
  if [[ $lost == none ]]; then mv out.npy.offsets.npy out.npy.offsets.npy.part; else rm "$lost"; fi
  expect_exit 0 slabcast "${cast[@]}" --query all -o out.npy --resume
  expect_same whole.npy out.npy
  expect_same whole.npy.offsets.npy out.npy.offsets.npy
  if compgen -G 'out.*.part' >&2; then fail "a part is still there"; fi
done

# Lines of text, whose number is not known before they were read.
slabcast rays random "${scene[@]}" --count $count --out text -o rays.txt
slabcast cast "${scene[@]}" --rays rays.txt -o whole.npy
cut_off whole.npy 90 >out.npy.part
expect_exit 0 slabcast cast "${scene[@]}" --rays rays.txt -o out.npy --resume
expect_same whole.npy out.npy

# A slice of the rays, whose lines do not begin at 0.
slabcast "${cast[@]}" --query all --shard 1/2 -o whole.csv
cut_off whole.csv 99 >out.csv.part
expect_exit 0 slabcast "${cast[@]}" --query all --shard 1/2 -o out.csv --resume --json summary.json
expect_same whole.csv out.csv

# ---- parts of another cast ----

# other TEXT FILE CAST_OPTION...: the part of FILE is refused, and stays for the cast that it belongs to.
other() {
  local text=$1 file=$2
  shift 2
  cp "$file" before
  cp "$file" "${file%.*}.out.${file##*.}.part"
  local out=${file%.*}.out.${file##*.}
  expect_exit 1 slabcast "$@" -o "$out" --resume
  expect_stderr "$text" "$out.part is kept for --resume"
  [[ ! -e $out ]] || fail "$out is there"
  expect_same before "$out.part"
  mv "$out.part" "$out"
  expect_refusal 1 "${text/.part/}" slabcast "$@" -o "$out" --resume
  expect_same before "$out"
  expect_no "$out.offsets.npy"
  [[ ! -e $out.part ]] || fail "$out.part is there"
  rm "$out"
}
results="holds other results: it was made from other rays, another scene or other options; run without --resume"
header="holds other results: it was made by another query, with other fields or from another number of rays"
slabcast "${cast[@]}" -o closest.npy
slabcast "${cast[@]}" -o closest.raw
slabcast "${cast[@]}" -o closest.csv
slabcast "${cast[@]}" --query all -o all.csv
slabcast "${cast[@]}" --query all -o all.ply
other "$results" closest.npy cast --builtin boxes:301 --rays rays.npy
other "$results" closest.npy "${cast[@]}" --face-forward
other "$header" closest.npy "${cast[@]}" --query distance
other "$header" closest.npy "${cast[@]}" --points
other "$header" closest.npy "${cast[@]}" --shard 0/2
other "$header" closest.csv "${cast[@]}" --points
other "$results" closest.npy "${cast[@]}" --query all
other "rows, more than there are rays ($count)" closest.csv "${cast[@]}" --out raw
slabcast "${cast[@]}" --query any -o any.raw
other "$results" any.raw "${cast[@]}" --query interval
other "closest.out.raw.part holds $count rows, more than there are rays (75000)" closest.raw "${cast[@]}" --shard 1/2
other "all.out.csv.part holds hits of ray" all.csv "${cast[@]}" --query all --shard 0/15
other "$header" all.ply "${cast[@]}" --query distance
other "$header" all.ply "${cast[@]}" --query all --shard 0/15
other "$results" all.ply cast --builtin boxes:301 --rays rays.npy --query all
other "$results" all.ply "${cast[@]}"
other "all.out.ply.part holds hits of ray" all.ply cast "${scene[@]}" --query all --rays few.npy
head -n $((count / 4)) closest.csv >quarter.csv
other "quarter.out.csv.part holds 37499 rows, more than there are rays (10000)" quarter.csv "${cast[@]}" --shard 0/15
# All of it fits, but there is more than was cast.
{ cat closest.raw && echo; } >more.raw
other "$results" more.raw "${cast[@]}"
