#!/usr/bin/env bash
# explain.sh MAKE_NPY: explain answers what cast answers, of every kind of primitive; as text, JSON and drawings,
# unless the program draws nothing.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
make_npy=$1
row=()
make_row "$make_npy"
draws=1
if slabcast explain --boxes box.npy --ray 0,0,-1,0,0,1 -o probe.svg >/dev/null 2>said; then rm probe.svg; else draws=0; fi
((draws)) || grep -qF "without cairo" said || fail "the program does not draw: $(<said)"

# step PART NAME: the first word of that step's value in the last explanation.
step() { awk -v part="$1" -v name="$2" '/^[^ ]/ { within = $0 == part } within && index($0, "  " name "  ") == 1 { sub("  " name " *", ""); print $1 }' out; }
expect_step() { [[ $(step "$1" "$2") == "$3" ]] || fail "$2 of $1 is $(step "$1" "$2"), not $3: $(<out)"; }

# ---- what the ray hits first, and each of the others: the numbers of cast ----
expect_exit 0 slabcast explain "${row[@]}" --ray=-5,0.5,0.5,1,0,0
expect_stdout "triangle 0 of geometry 4: hit at t = 2"
slabcast cast "${row[@]}" --rays ray.txt --query all -o - --out csv | tail -n +2 >hits.csv
(($(wc -l <hits.csv) == 5)) || fail "the ray does not hit all five"
while IFS=, read -r _ t nx ny nz u v primitive geometry; do
  expect_exit 0 slabcast explain "${row[@]}" --rays ray.txt --geometry "$geometry" --primitive "$primitive"
  expect_stdout " $primitive of geometry $geometry: hit at t = $t"
  expect_step answer hit yes
  expect_step answer t "$t"
  for normal in "x $nx" "y $ny" "z $nz"; do expect_step answer "normal ${normal% *}" "${normal#* }"; done
  case $geometry in
    0 | 3) expect_step answer face "$u" ;;
    4) expect_step answer u "$u" && expect_step answer v "$v" ;;
  esac
  if ((draws)); then
    for form in svg png; do
      slabcast explain "${row[@]}" --rays ray.txt --geometry "$geometry" -o "$geometry.$form" >text
      cmp -s out text || fail "the drawing changes the text of geometry $geometry"
    done
    [[ $(head -c 8 "$geometry.png" | od -An -tx1) == " 89 50 4e 47 0d 0a 1a 0a" ]] || fail "$geometry.png is no PNG"
    grep -q '</svg>' "$geometry.svg" || fail "$geometry.svg is no whole SVG"
    (($(wc -c <"$geometry.svg") > 10000)) || fail "$geometry.svg has hardly anything in it"
  fi
done <hits.csv

# ---- the steps of a box by hand: a ray in its lower plane of y, twice as long as needed ----
expect_exit 0 slabcast explain --boxes box.npy --ray=-2,0,0.5,2,0,0
expect_stdout "hit at t = 1"
expect_step "scaled ray" exponent 1
expect_step x "near t" 2
expect_step x "far t" 3
expect_step y "near t" nan
expect_step y "far t" inf
expect_step y enter 2
expect_step box enter 2
expect_step box "is hit" yes
expect_step answer face 0
expect_stdout "0x1.8p+1" "NaN constrains nothing" "axis x decides" "the lower plane of x"
! grep -q -- '-nan' out || fail "NaN has a sign"
! grep -q ' $' out || fail "lines end with blanks"

# ---- options: culling and closed edges change the output ----
expect_exit 0 slabcast explain "${row[@]}" --ray=-5,0.5,0.5,1,0,0 --cull front --geometry 0
expect_stdout "hit at t = 6" "front faces are culled"
expect_exit 0 slabcast explain --mesh triangle.obj --ray=-5,-1.5,0.5,1,0,0 --primitive 0
half_open=$(step answer hit)
expect_stdout "the tie rule"
expect_exit 0 slabcast explain --mesh triangle.obj --ray=-5,6.5,-1.5,1,0,0 --primitive 0 --edges closed
expect_step answer hit yes
expect_stdout "within its error of 0: whole numbers decide"
echo -5 -1.5 0.5 1 0 0 >edge.txt
expect_exit 0 slabcast cast --mesh triangle.obj --rays edge.txt --query any --out text -o any.txt
[[ $(<any.txt) == "$([[ $half_open == yes ]] && echo 1 || echo 0)" ]] || fail "cast and explain differ on an edge"

# ---- JSON ----
expect_exit 0 slabcast explain --boxes box.npy --ray=-2,0,0.5,2,0,0 --json out.json
expect_stdout "hit at t = 1"
slabcast explain --boxes box.npy --ray=-2,0,0.5,2,0,0 --json - >same.json
expect_same out.json same.json
python3 - out.json <<'END' || fail "the JSON is not what is expected: $(<out.json)"
import json, sys
told = json.load(open(sys.argv[1]))
steps = {(step["part"], step["name"]): step for step in told["steps"]}
assert len(steps) == len(told["steps"])
assert told["of"] == "box 0 of geometry 0" and told["geometry"] == told["primitive"] == 0
assert told["hit"]["t"] == 1 and told["hit"]["normal"] == [-1, 0, 0] and told["interval"] == {"enter": 1, "leave": 1.5}
assert steps["y", "near t"]["value"] is None and steps["y", "near t"]["hex"] == "nan"
assert steps["x", "far t"]["value"] == 3 and steps["x", "far t"]["hex"] == "0x1.8p+1"
assert steps["box", "is hit"]["value"] is True and "hex" not in steps["box", "is hit"]
assert all(step["formula"] is not None and step["note"] is not None for step in told["steps"])
END

# ---- rays of a file ----
echo -1 -1 -1 1 1 1 | "$make_npy" f '<f4' '(1, 6)' False >one.npy
printf '0 0 9 0 0 1\n0.5 0.5 -3 0 0 1\n' >two.txt
expect_exit 0 slabcast explain --boxes box.npy --rays two.txt --index 1
expect_stdout "hit at t = 3"
slabcast explain --boxes box.npy --rays - --index 1 <two.txt >piped
expect_same out piped
printf '0.5 0.5 -1 0.5 0.5 3\n' >segment.txt
expect_exit 0 slabcast explain --boxes box.npy --rays segment.txt --segments
expect_stdout "hit at t = 0.25"
expect_exit 0 slabcast explain --boxes box.npy --rays one.npy
for rays in one.npy two.txt; do
  expect_refusal 1 "there is no ray 7" slabcast explain --boxes box.npy --rays "$rays" --index 7
done
expect_refusal 1 "missing.npy" slabcast explain --boxes box.npy --rays missing.npy

# ---- what cannot be explained ----
expect_refusal 2 "hits nothing: say by --geometry and --primitive" slabcast explain --boxes box.npy --ray 9,9,9,1,0,0
expect_refusal 2 "is invalid and hits nothing" slabcast explain --boxes box.npy --ray nan,0,0,1,0,0
expect_refusal 1 "geometry is 1, the scene has 1" slabcast explain --boxes box.npy --ray 0,0,0,1,0,0 --geometry 1
expect_refusal 1 "primitive is 1, geometry 0 has 1" slabcast explain --boxes box.npy --ray 0,0,0,1,0,0 --primitive 1
expect_refusal 2 "the scene is missing" slabcast explain --ray 0,0,0,1,0,0
expect_refusal 2 "--ray or --rays is missing" slabcast explain --boxes box.npy
expect_refusal 2 "do not go together" slabcast explain --boxes box.npy --ray 0,0,0,1,0,0 --rays ray.txt
expect_refusal 2 "go with --rays" slabcast explain --boxes box.npy --ray 0,0,0,1,0,0 --index 1
for ray in 1,2,3 0,0,0,1,0,0,0 0,0,0,1,0,0,0,1,2 "0,0,0,1,0, 0" x,0,0,1,0,0 ""; do
  expect_refusal 2 "is not six or eight numbers" slabcast explain --boxes box.npy --ray="$ray"
done
for ray in nan,0,0,1,0,0 inf,0,0,1,0,0 0,0,0,0,0,0 0,0,0,1,nan,0 0,0,0,1,0,0,nan,1; do
  expect_exit 0 slabcast explain --boxes box.npy --ray "$ray" --primitive 0
  expect_stdout "the ray is invalid"
  expect_step ray "is valid" no
  expect_step answer hit no
  if ((draws)); then slabcast explain --boxes box.npy --ray "$ray" --primitive 0 -o invalid.svg >/dev/null; fi
done
expect_exit 0 slabcast explain --boxes box.npy --ray 0,0,0,1,0,0,3,2 --primitive 0
expect_step "scaled ray" "has a range" no
echo 0 0 0 -1 1 1 >inverted.txt
expect_exit 0 slabcast explain --boxes inverted.txt --ray 0,0,0,1,0,0 --primitive 0
expect_stdout "kept as never hit"

# ---- drawings: names and odd numbers ----
if ((draws)); then
  expect_refusal 2 'gif files cannot be written, only svg or png' slabcast explain --boxes box.npy --ray 0,0,0,1,0,0 -o a.gif
  expect_refusal 2 "ends in .svg or .png" slabcast explain --boxes box.npy --ray 0,0,0,1,0,0 -o -
  expect_refusal 1 "no_folder/a.svg" slabcast explain --boxes box.npy --ray 0,0,0,1,0,0 -o no_folder/a.svg
  printf '%s\n' '-inf -inf 0 inf inf 0' '0 0 0 0 0 0' '-1e30 -1e30 -1e30 1e30 1e30 1e30' '1e-40 1e-40 1e-40 2e-40 2e-40 2e-40' \
    '1 1 1 0 0 0' '0 0 0 inf 1 1' >odd.txt
  for primitive in 0 1 2 3 4 5; do
    for ray in 0.5,0.5,-9,0,0,1 0,0,0,1,1,1 1e18,1e18,1e18,-1,-1,-1 0,0,0,1e-40,0,1e-42 5,0,0,1,0,0,-inf,inf 0,0,0,1e38,1,1; do
      slabcast explain --boxes odd.txt --ray "$ray" --primitive "$primitive" -o odd.svg >/dev/null || fail "box $primitive, $ray"
      grep -q '</svg>' odd.svg || fail "no drawing of box $primitive and $ray"
      ! grep -qiE '[" ,-](nan|inf)[" ,]' odd.svg || fail "NaN in the drawing of box $primitive and $ray"
    done
  done
fi
