#!/usr/bin/env bash
# near.sh MAKE_NPY: how far points are from surfaces: closed forms, every format, grids and their images, slices, parts
# that go on, pipes, --check, and what is refused.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
image=$(realpath "$(dirname "${BASH_SOURCE[0]}")/image.py") make_npy=$1
native=0
[[ $SLABCAST_BACKENDS != native ]] || native=1

# near OPTION...: the lines of csv.
near() { slabcast near "$@" -o - --out csv 2>near.err || fail "line ${BASH_LINENO[0]}: $(<near.err)"; }
expect_near() { near "${@:2}" | diff <(printf '%s\n' "$1") - || fail "line ${BASH_LINENO[0]}: other answers"; }

# ---- closed forms: a box from outside, at an edge, from inside; a sphere; a triangle's face, edge and vertex ----
names=distance,point_x,point_y,point_z,u,v,feature,primitive,geometry
echo 1 0 0 2 1 1 >box.txt
printf '%s\n' "-2 0.5 0.25" "0 -1 0.5" "1.75 0.5 0.5" "nan 0 0" >points.txt
expect_near "$names
3,1,0.5,0.25,0,0,0,0,0
1.41421354,1,0,0.5,0,0,1,0,0
0.25,2,0.5,0.5,1,0,0,0,0
inf,0,0,0,0,0,0,4294967294,4294967294" --boxes box.txt --points points.txt
grep -qF "warning: 1 of 4 points is invalid and finds nothing" near.err || fail "no warning: $(<near.err)"
grep -qF "the first is point 3, counted from 0" near.err || fail "another point: $(<near.err)"
echo 0 0 0 2 >sphere.txt
printf 'v 0 0 0\nv 4 0 0\nv 0 4 0\nf 1 2 3\n' >triangle.obj
expect_near $'distance\n3\n0.5\n2' --spheres sphere.txt --query distance --points \
  <(printf '%s\n' "5 0 0" "0 1.5 0" "0 0 0")
near --mesh triangle.obj --points <(printf '%s\n' "1 1 2" "2 -3 0" "-3 -4 0") | cut -d, -f1-7 >face.txt
expect_text "$(cut -d, -f1-7 <<<"$names")
2,1,1,0,0.25,0.25,0
3,2,0,0,0.5,0,1
5,0,0,0,0,0,2" face.txt

# A radius is closed; masks hide; nothing is found in an empty scene.
printf '%s\n' "-2 0.5 0.25" "-2.5 0.5 0.5" >two.txt
expect_near $'within\n1\n0' --boxes box.txt --points two.txt --query within --radius 3
expect_near $'distance\n3\ninf' --boxes box.txt --points two.txt --query distance --radius 3
expect_near $'distance\n3\n3.5' --boxes box.txt --points two.txt --query distance --radius inf
expect_near $'distance\n0.0766558647\n0.598076105' --boxes box.txt --spheres sphere.txt --points two.txt --mask 2 \
  --query distance
: >none.txt
expect_near $'distance\ninf\ninf' --boxes none.txt --points two.txt --query distance

# ---- worlds: a tile of each, one of all ----
printf 'v -1 -1 0\nv 1 -1 0\nv 0 1 0\nf 1 2 3\n' >tile.obj
printf '1 0 0 0 0 1 0 0 0 0 1 %s\n' 0 3 4 5 >tiles.txt
printf '%s\n' 0 1 2 2 >tile_worlds.txt
tiles=(--instances tiles.txt --of tile.obj --instance-worlds tile_worlds.txt)
printf '0 0 %s\n' 3 3 3 6 6 6 >above.txt
printf '%s\n' 0 1 2 0 1 2 >above_worlds.txt
"$make_npy" u '<u4' '(6,)' False <above_worlds.txt >above_worlds.npy
for worlds in above_worlds.txt above_worlds.npy; do
  expect_near $'distance\n3\n0\n1\n6\n3\n1' "${tiles[@]}" --points above.txt --worlds $worlds --query distance --check
done
expect_near $'distance\n3\n3\n3\n6\n6\n6' "${tiles[@]}" --points above.txt --query distance
near "${tiles[@]}" --points above.txt --worlds above_worlds.txt | cut -d, -f9 >ids.txt
expect_text $'geometry\n0\n1\n2\n0\n1\n3' ids.txt
# A point in the middle of a tile each, of a grid of 40 points, in slices and in parts that go on.
printf '1 0 0 0 0 1 0 0 0 0 1 %s\n' {0..19} >many.txt
seq 0 19 >many_worlds.txt
{ seq 0 19 && seq 0 19; } >grid_worlds.txt
grid=(--instances many.txt --of tile.obj --instance-worlds many_worlds.txt --worlds grid_worlds.txt)
grid+=(--grid 1x1x40 --lower "0,0,0" --upper "0,0,39")
slabcast near "${grid[@]}" -o whole.npy --query distance
slabcast near "${grid[@]}" -o - --query distance --out csv | tail -n +2 |
  diff <(for ((i = 0; i < 40; i++)); do echo $((i % 20 == 0 ? i : i < 20 ? 0 : 20)); done) - || fail "a grid's worlds"
for i in 0 1 2; do slabcast near "${grid[@]}" --query distance --shard $i/3 -o shard.$i.npy; done
slabcast join shard.[012].npy -o joined.npy
expect_same joined.npy whole.npy
sed 's/19/18/' grid_worlds.txt >other_worlds.txt
slabcast near "${grid[@]/grid_worlds.txt/other_worlds.txt}" --query distance --shard 1/3 -o other.npy
expect_refusal 1 "other options" slabcast join shard.0.npy other.npy shard.2.npy -o bad.npy
head -c "$(($(stat -c %s whole.npy) - 60))" whole.npy >resumed.npy.part
slabcast near "${grid[@]}" --query distance -o resumed.npy --resume
expect_same whole.npy resumed.npy
expect_refusal 1 "above_worlds.txt: 6 worlds for 2 points; each point has one" slabcast near "${tiles[@]}" \
  --points <(head -n 2 above.txt) --worlds above_worlds.txt
expect_refusal 1 "above_worlds.npy: 6 worlds for 40 points; each point has one" slabcast near "${grid[@]/grid_worlds.txt/above_worlds.npy}"
expect_refusal 1 "above_worlds.txt: the world of point 2, counted from 0, is 2, and the scene has 1 world" slabcast near \
  --instances <(head -n 2 tiles.txt) --of tile.obj --instance-worlds <(head -n 2 tile_worlds.txt) --points above.txt \
  --worlds above_worlds.txt
expect_refusal 2 "--points - and --worlds - cannot both" slabcast near "${tiles[@]}" --points - --worlds -
expect_refusal 1 "cannot write above_worlds.txt: it is the input" slabcast near "${tiles[@]}" --points above.txt \
  --worlds above_worlds.txt -o above_worlds.txt

# In 2D boxes have no z, and points need none.
echo 0 0 1 1 >flat.txt
expect_near $'distance\n3\n5\n0.25' --boxes flat.txt --points <(printf '%s\n' "4 0.5" "4 5" "0.5 0.25") --query distance
expect_near $'distance\n5\n1' --boxes flat.txt --points <(printf 'name,y,x\na,5,4\nb,0.5,2\n') --query distance
expect_near $'distance\n1.41421354\n1\n1.41421354\n1\n0.5\n1\n1.41421354\n1\n1.41421354' --boxes flat.txt --grid 3x3 --margin 1 \
  --query distance

# ---- every answer is the reference's ----
expect_checked_near() {
  expect_exit 0 slabcast near --check "$@"
  expect_stderr " 0 mismatches (oracle: " " 0 wrong"
  if grep -q '^0 points checked' err; then fail "nothing was checked: $*"; fi
}
for query in closest distance within; do
  expect_checked_near --builtin knot:500 --grid 9x8x7 --margin 0.5 --query $query --radius 0.6
done
expect_checked_near --builtin city:40 --boxes flat.txt --spheres sphere.txt --grid 12x9x5 --lower -9,-9,-9 --upper 9,9,9
((native)) || exit 0

# ---- formats: the same answers in all, of points and of grids ----
knot=(--builtin knot:800)
awk 'BEGIN { srand(3); for (i = 0; i < 3000; i++) print 4 * rand() - 2, 4 * rand() - 2, 2 * rand() - 1 }' >cloud.txt
tr ' ' '\n' <cloud.txt | "$make_npy" f '<f4' '(3000, 3)' False >cloud.npy
npy_data cloud.npy >cloud.raw
for form in txt npy raw; do slabcast near "${knot[@]}" --points cloud.$form -o of_$form.npy; done
expect_same of_txt.npy of_npy.npy
expect_same of_txt.npy of_raw.npy
grep -aq "('distance', '<f4'), ('point', '<f4', (3,)), ('u', '<f4'), ('v', '<f4'), ('feature', '<u4'), ('primitive', '<u4')" \
  of_txt.npy || fail "other fields: $(head -c 300 of_txt.npy | head -n 1)"
for form in csv txt raw ply; do slabcast near "${knot[@]}" --points cloud.npy -o got.$form; done
npy_data of_npy.npy | cmp - got.raw || fail "raw is not npy without a header"
tail -n +2 got.csv | tr , ' ' | cmp - got.txt || fail "text is not csv without names"
slabcast near "${knot[@]}" --points - -o - <cloud.txt 2>err | cmp - of_txt.npy || fail "pipes have other bytes"
slabcast near "${knot[@]}" --points cloud.npy --query distance -o distance.npy
cut -d, -f1 got.csv | cmp - <(slabcast near "${knot[@]}" --points cloud.npy --query distance -o - --out csv) ||
  fail "distances alone are others"
to_nobody default "$SLABCAST" near "${knot[@]}" --grid 100x100x50 -o - --out text 2>nobody || true
[[ ! -s nobody ]] || fail "a reader who goes away is no news: $(<nobody)"

# check_image SIZE LOWER UPPER OPTION...
check_image() {
  local place=("$1" "$2" "$3") form
  shift 3
  for form in vti npy ply; do expect_exit 0 slabcast near "${knot[@]}" --grid "${place[0]//,/x}" "$@" -o grid.$form; done
  python3 "$image" grid.vti grid.npy grid.ply "${place[@]}" || fail "the image is another: $*"
}
for query in closest distance within; do
  check_image 11,7,5 -1,-2,0 1,2,3 --lower -1,-2,0 --upper 1,2,3 --query $query --radius 1.5
done
check_image 20,1,9 -3,-1,-2 1,2,0.5 --lower -3,-1,-2 --upper 1,2,0.5
check_image 60,50,40 -1,-1,-1 1,1,1 --lower -1,-1,-1 --upper 1,1,1
check_image 6,5,1 0,0,0.5 1,1,0.5 --lower 0,0,0.5 --upper 1,1,0.5
# More points than a batch has, by each way to write.
many=(--builtin knot:100 --grid 128x128x80 --query distance)
for form in npy vti txt; do slabcast near "${many[@]}" -o many.$form; done
size=$((4 * 128 * 128 * 80))
head -c -30 many.vti | tail -c $size | cmp - <(npy_data many.npy) || fail "the image of many points is another"
(($(wc -l <many.txt) == 128 * 128 * 80)) || fail "$(wc -l <many.txt) lines of many points"
slabcast near "${many[@]}" -o many.ply
[[ $(tail -c 8 many.ply | od -An -t f8 | tr -d ' ') == 1310719 ]] || fail "the last point of many has another index"
slabcast near "${many[@]}" --shard 1/2 -o - --out text | cmp - <(tail -n +$((64 * 128 * 80 + 1)) many.txt) ||
  fail "the second half is another"

# ---- shards, and parts that go on to the same bytes ----
slabcast near "${knot[@]}" --grid 60x50x40 -o whole.npy
for ((i = 0; i < 3; i++)); do slabcast near "${knot[@]}" --grid 60x50x40 --shard $i/3 -o shard.$i.npy; done
slabcast join shard.[201].npy -o joined.npy
expect_same whole.npy joined.npy
slabcast near "${knot[@]}" --grid 60x50x40 --radius 1 --shard 2/3 -o alien.npy
expect_refusal 1 "alien.npy is a shard of a cast with other options" slabcast join shard.[01].npy alien.npy -o bad.npy

resume() {
  local whole=$1 file=out.${1##*.}
  shift
  rm -f "$file"
  head -c "$(($(stat -c %s "$whole") * 19 / 20 | 1))" "$whole" >"$file.part"
  for state in part finished; do
    expect_exit 0 slabcast near "$@" -o "$file" --resume --json part.json
    expect_same "$whole" "$file"
    (($(sed -n 's/.*"resumed": \([0-9]*\).*/\1/p' part.json) > 100)) || fail "$file, $state: nothing is left out: $(<part.json)"
  done
  [[ ! -e $file.part ]] || fail "$file.part is still there"
  expect_exit 1 slabcast near "${@/knot:800/knot:900}" -o "$file" --resume
  expect_stderr "holds other results"
}
grid=("${knot[@]}" --grid 60x50x40)
for form in csv ply vti; do slabcast near "${grid[@]}" -o whole.$form; done
for form in npy csv ply vti; do resume whole.$form "${grid[@]}"; done
slabcast near "${grid[@]}" --query distance -o distance.vti
resume distance.vti "${grid[@]}" --query distance
cp whole.vti short.vti
truncate -s -1 short.vti
# The same box, so that the answers alone are others: the last 65,536 are compared.
box=(--grid 60x50x40 "--lower=-1,-1,-1" "--upper=1,1,1")
slabcast near "${knot[@]}" "${box[@]}" -o one.vti
expect_refusal 1 "holds other results: it was made from other rays, another scene" slabcast near --builtin knot:900 "${box[@]}" \
  -o one.vti --resume
expect_refusal 1 "holds other results" slabcast near "${grid[@]}" -o short.vti --resume
head -c 100 whole.vti >early.vti.part
expect_exit 0 slabcast near "${grid[@]}" -o early.vti --resume
expect_same early.vti whole.vti

# ---- the summary; refusals ----
expect_exit 0 slabcast near --boxes box.txt --points two.txt --json -
expect_stderr "2 points on " ": 2 find something, distance 3.25 on average, 3 to 3.5; answers after " " Mpoints/s"
expect_stdout '"query": "closest"' '"points": 2' '"found": 2' '"invalid": 0' '"mean": 3.25' '"least": 3.0' '"most": 3.5'
expect_exit 0 slabcast near --boxes box.txt --points none.txt -o empty.csv
expect_text "$names" empty.csv
expect_stderr "warning: none.txt holds no points"

refuse() {
  expect_refusal "$1" "$2" slabcast near --boxes box.txt "${@:3}"
  expect_no bad.npy bad.vti bad.ply
}
refuse 2 "the points are missing: --points or --grid"
refuse 2 "--points and --grid do not go together" --points two.txt --grid 2x2
refuse 2 "--lower, --upper and --margin go with --grid" --points two.txt --margin 1
refuse 2 "--margin widens the scene's bounds, which --lower and --upper replace" --grid 2x2 --lower 0,0,0 --upper 1,1,1 --margin 1
for grid in 0x2x2 2 2x 2x2x2x2 2x-2 2147483648x1x1 axb 2x2x; do
  refuse 2 "option --grid: \"$grid\" is not NXxNY or NXxNYxNZ, each from 1 to 2147483647" --grid $grid
done
refuse 2 "--grid 2000000000x2000000000x2000000000 has more than 18014398509481984 points" --grid 2000000000x2000000000x2000000000
refuse 2 "--grid 262144x262144x262145 has more than 18014398509481984 points" --grid 262144x262144x262145
refuse 2 "--query within wants --radius R" --points two.txt --query within
refuse 2 "--radius 0 is not above 0" --points two.txt --radius 0
refuse 2 "option --radius: \"-1\" is not a number from 0 to inf" --points two.txt --radius -1
refuse 2 "vti is an image of a grid, and points of a file are none" --points two.txt -o bad.vti
refuse 2 "vti is an image of a whole grid, which --shard divides" --grid 2x2x2 --shard 0/2 -o bad.vti
refuse 2 "vti wants a file, neither stdout nor a pipe" --grid 2x2x2 -o - --out vti
refuse 2 "ply wants a file, neither stdout nor a pipe" --grid 2x2x2 -o - --out ply
refuse 2 "--resume wants -o FILE" --grid 2x2x2 -o - --resume
refuse 2 "xyz files cannot be written, only npy, raw, bin, txt, csv, ply or vti" --grid 2x2x2 -o bad.xyz
expect_refusal 2 "the scene is missing" slabcast near --points two.txt
expect_refusal 2 "--boxes - and --points - cannot both come from stdin" slabcast near --boxes - --points -
expect_refusal 1 "cannot write two.txt: it is the input two.txt" slabcast near --boxes box.txt --points two.txt -o two.txt
refuse 1 "--grid: 2 points along x, where the box is empty; --lower and --upper give another (from 3 to 2)" --grid 2x2x2 --lower 3,0,0 -o bad.npy
refuse 1 "--grid: 4 points along y, where the box has no extent" --grid 2x4x2 --lower 0,1,0 --upper 1,1,1 -o bad.npy
expect_refusal 1 "--grid: 2 points along z, where the box has no end" slabcast near --boxes flat.txt --grid 2x2x2 -o bad.npy
expect_refusal 1 "2 points along x, where the box has no end; --lower and --upper give one" slabcast near --boxes none.txt --grid 2x2x2 -o bad.npy
refuse 1 "rows of 4 numbers; points have 3 (x y z), 2 (x y) or 6 (with normals, which are passed over)" --points <(echo 1 2 3 4)
refuse 1 "line 1: the column y is missing" --points <(printf 'x,z\n1,2\n')
refuse 1 "line 2 holds 2 numbers, the lines before it 3" --points <(printf '1 2 3\n1 2\n') -o bad.npy
