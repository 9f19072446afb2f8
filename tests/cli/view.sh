#!/usr/bin/env bash
# view.sh MAKE_NPY: the views of points: sky, sun and each other. Values have closed forms from geometry; matrices are
# made by hand. Every format, slices, parts that go on, and --check are tried.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
clouds=$(dirname "${BASH_SOURCE[0]}")/clouds.py make_npy=$1
native=0
[[ $SLABCAST_BACKENDS != native ]] || native=1

# view OPTION...: the values, one per line.
view() { slabcast view "$@" -o - --out text 2>view.err || fail "line ${BASH_LINENO[0]}: $(<view.err)"; }

# near TOLERANCE WANTED...: the lines on stdin are these numbers.
near() {
  local tolerance=$1
  shift
  paste -d' ' - <(printf '%s\n' "$@") >pairs.txt
  awk -v t="$tolerance" '{ d = $1 - $2; n += !(NF == 2 && d <= t && d >= -t) } END { exit n > 0 }' pairs.txt ||
    fail "line ${BASH_LINENO[0]}: these are further apart than $tolerance: $(<pairs.txt)"
}

# ---- the sky: a wall without end hides half; a square court as deep as half its width; a street as high as wide ----
echo -1e6 -1e6 0 0 1e6 1e6 >wall.txt
printf '0.5 0 0\n5 3 0\n100 -70 0\n' >before.txt
view --boxes wall.txt --points before.txt --sky 1000 | near 0.002 0.5 0.5 0.5
if ((native)); then
  printf '%s\n' "-9 -9 0 -2 9 2" "2 -9 0 9 9 2" "-9 -9 0 9 -2 2" "-9 2 0 9 9 2" >court.txt
  echo 0 0 0 >middle.txt
  court=$(awk 'BEGIN { s = sqrt(2); print 4 / 3.14159265358979 * atan2(1, s) / s }')
  view --boxes court.txt --points middle.txt --sky 20000 | near 0.001 "$court"
  view --boxes court.txt --points middle.txt --sky tregenza | near 0.03 "$court"
  view --boxes court.txt --points middle.txt --sky reinhart | near 0.015 "$court"

  # On the ground cos(atan(2 h / w)). On a wall, whose far end is hidden up to an angle, (1 - sin) / 2. On a roof 1; at
  # the same height but tilted by 60 degrees (1 + cos) / 2.
  printf '%s\n' "-50 -1e4 0 0 1e4 10" "10 -1e4 0 50 1e4 10" >street.txt
  cat >street.csv <<'END'
x,y,z,nx,ny,nz
5,0,0,0,0,1
5,3,0,0,0,9
0,0,5,1,0,0
10,7,0,-2,0,0
-25,0,10,0,0,1
-25,0,10,0.8660254,0,0.5
END
  street=(0.447214 0.447214 0.276393 0.146447 1 0.75)
  view --boxes street.txt --points street.csv --sky 20000 | near 0.002 "${street[@]}"
  view --boxes street.txt --points street.csv --sky reinhart | near 0.04 "${street[@]}"

  # Nothing in the way is exactly 1, by any sky, with normals and without.
  for sky in 7 1000 tregenza reinhart; do
    view --boxes street.txt --points <(echo 5 0 20) --sky $sky | near 0 1
    view --boxes street.txt --points <(echo 5 0 20 0 0 1) --sky $sky | near 0 1
  done
fi

# ---- points on surfaces do not see these: roofs, ground and slopes far from 0, and other offsets where they are given ----
on_surfaces() {
  awk -v at="$1" 'BEGIN { srand(3); for (i = 0; i < 300; i++) { x = rand(); y = rand()
    print at + 100 * x, at + 100 * y, at + 30 * x + 20 * y, -0.3, -0.2, 1 } }'
}
for at in 0 7000; do
  printf 'v %s %s %s\nv %s %s %s\nv %s %s %s\nv %s %s %s\nf 1 2 3 4\n' $at $at $at $((at + 100)) $at $((at + 30)) \
    $((at + 100)) $((at + 100)) $((at + 50)) $at $((at + 100)) $((at + 20)) >slope.obj
  on_surfaces $at >slope.txt
  view --mesh slope.obj --points slope.txt --sky 200 >slope.out
  [[ $(sort -u slope.out | wc -l) == 1 ]] || fail "points on a slope at $at hide each other: $(sort -u slope.out | head)"
done
view --boxes wall.txt --points <(echo -5 0 1e6) --sky 100 | near 0 1
view --boxes wall.txt --points <(echo -5 0 999990) --sky 100 | near 0 0
view --boxes wall.txt --points <(echo -5 0 999990) --sky 100 --offset 20 | near 0 1

# ---- the sun: from the east, over the wall; names in any order, with others between; none below the horizon ----
cat >suns.csv <<'END'
day,hours,azimuth,altitude
June 21,1,90,30
June 21,2,270,30
"Dec 21, noon",4,180,60
Dec 21,8,0,-5
Dec 21,16,45,0
END
view --boxes wall.txt --points before.txt --suns suns.csv | near 0 5 5 5
# On the wall itself, which faces east: the sun in the south is not before it.
printf '0 0 10 1 0 0\n0 0 10 1 -0.1 0\n0.5 0 0 0 0 0\n' >facing.txt
view --boxes wall.txt --points facing.txt --suns suns.csv | near 0 1 5 5
if ((native)); then
  view --boxes wall.txt --points before.txt --suns <(printf '90 30\n270 30\n45 10\n') | near 0 2 2 2
  # A tower of 10 m hides a sun of 45 degrees from 5 m away, and not from 15 m.
  echo -1 -1 0 1 1 10 >tower.txt
  printf '%s 0 0\n' 6 16 -6 >beside.txt
  view --boxes tower.txt --points beside.txt --suns <(echo 270 45 0.25) | near 0 0 0.25 0.25
  # The same turned so that y is up: x to the east, z to the south.
  echo -1 0 -1 1 10 1 >tower_y.txt
  view --boxes tower_y.txt --points beside.txt --suns <(echo 270 45 0.25) --up y | near 0 0 0.25 0.25
  view --boxes tower_y.txt --points <(printf '0 0 6\n0 0 -6\n') --suns <(echo 0 45) --up y | near 0 0 1
  mapfile -t same < <(view --boxes tower_y.txt --points beside.txt --sky 4000 --up y)
  view --boxes tower.txt --points beside.txt --sky 4000 | near 0.002 "${same[@]}"
  # glTF calls y up: its triangle above the point is turned with the sky, or both are left.
  gltf='{"asset": {"version": "2.0"}, "buffers": [{"byteLength": 36, "uri": "data:application/octet-stream;base64,'
  gltf+=$(printf '%s\n' -9 5 -9 0 5 9 9 5 -9 | "$make_npy" f '<f4' '(3, 3)' False | { cat >corner.npy && npy_data corner.npy | base64 -w0; })
  gltf+='"}], "bufferViews": [{"buffer": 0, "byteLength": 36}], "accessors": [{"bufferView": 0, "componentType": 5126,'
  gltf+='"count": 3, "type": "VEC3", "min": [-9, 5, -9], "max": [9, 5, 9]}], "meshes": [{"primitives": [{"attributes":'
  gltf+='{"POSITION": 0}}]}], "nodes": [{"mesh": 0}], "scenes": [{"nodes": [0]}], "scene": 0}'
  echo "$gltf" >roof.gltf
  echo 0 0 0 >under.txt
  for up in "" "--up y" "--up z" "--up x"; do
    read -ra turned <<<"$up"
    view --mesh roof.gltf --points under.txt --suns <(echo 0 90) "${turned[@]}" | near 0 0
    [[ ! -s view.err || $up == "" ]] || fail "$up: $(<view.err)"
  done
  view --mesh roof.gltf --points under.txt --suns <(echo 0 90) >/dev/null
  grep -qF "note: roof.gltf: y is up, as the file says; it is turned so that z is" view.err || fail "no note: $(<view.err)"
fi

# ---- who sees whom ----
printf '%s\n' "0 0 0" "4 0 0" "0 4 0" >three.txt
printf '%s\n' "0 0 5" "4 0 0" "4 4 0" "nan 0 0" "0 -4 0" >five.txt
echo 1.5 -1 -1 2.5 1 1 >between.txt # between the first and the second
printf '%s\n' from,to 0,0 0,2 0,4 1,0 1,2 1,4 2,0 2,1 2,2 2,4 >pairs.want
slabcast view --boxes between.txt --points three.txt --to five.txt -o pairs.csv
expect_same pairs.want pairs.csv
slabcast view --boxes between.txt --points three.txt --to five.txt -o bits.npy
printf '\x15\x15\x17' | cmp - <(npy_data bits.npy) || fail "other bits: $(npy_data bits.npy | od -An -tx1)"
if ((native)); then
  grep -aq "('sees', '|u1', (1,))" bits.npy || fail "the array has another type"
  slabcast view --boxes between.txt --points three.txt --to five.txt -o bits.raw
  printf '\x15\x15\x17' | cmp - bits.raw || fail "raw has other bits"
  slabcast view --boxes between.txt --points three.txt --to five.txt -o - --out text | diff - <(tail -n +2 pairs.want | tr , ' ')
  # Before their surfaces alone, at either end; the box hides two more pairs.
  printf '%s\n' "0 0 0 1 0 0" "4 0 0 0 0 1" >facing.txt
  printf '%s\n' "3 3 3 -1 0 0" "3 3 3 1 0 0" "9 0 1 0 0 -1" "-9 0 1 0 0 0" >faced.txt
  slabcast view --boxes between.txt --points facing.txt --to faced.txt -o - --out text >faced.out
  expect_text $'0 0\n1 1\n1 2' faced.out
fi

# ---- every answer is that of single rays ----
city=(--builtin city:40)
awk 'BEGIN { srand(5); for (i = 0; i < 90; i++) print 6 * rand() - 3, rand(), 6 * rand() - 3 }' >near.txt
awk 'BEGIN { srand(6); for (i = 0; i < 50; i++)
  print 6 * rand() - 3, rand(), 6 * rand() - 3, rand() - 0.5, rand() - 0.5, rand() }' >walls.txt
# expect_checked_view POINTS COLUMNS OPTION...
expect_checked_view() {
  expect_exit 0 slabcast view "${city[@]}" --check "${@:3}"
  expect_stderr "$(($1 * $2)) rays checked, 0 mismatches" " 0 wrong" "$1 points checked, 0 differ"
}
expect_checked_view 90 300 --points near.txt --sky 300
expect_checked_view 50 1100 --points walls.txt --sky 1100
expect_checked_view 90 50 --points near.txt --to walls.txt
if ((native)); then
  expect_checked_view 50 145 --points walls.txt --sky tregenza -o checked.csv
  expect_checked_view 90 577 --points near.txt --sky reinhart
  expect_checked_view 50 3 --points walls.txt --suns suns.csv
fi
((native)) || exit 0

# ---- formats ----
slabcast rays random "${city[@]}" --count 5000 --seed 2 -o rays.npy
"$SLABCAST" cast "${city[@]}" --rays rays.npy --points -o hits.csv
expect_exit 0 slabcast view "${city[@]}" --points hits.csv --suns suns.csv --up y -o hits.hours.csv
[[ $(grep -c nan hits.hours.csv) == $(grep -c '^inf' hits.csv) ]] || fail "hits of a cast are no points with normals"
{ echo nx,name,ny,nz,x,y,z && awk -F, 'NR > 1 && $1 != "inf" { print $2 ",a " NR "," $3 "," $4 "," $9 "," $10 "," $11 }' hits.csv; } >hit.csv
count=$(($(wc -l <hit.csv) - 1))
((count > 1000)) || fail "$count points show little"
sed -i '500s/.*/0,b,0,1,nan,5,5/; 700s/.*/inf,c,0,1,5,5,5/' hit.csv
sky=("${city[@]}" --points hit.csv --sky 500 --up y)
expect_exit 0 slabcast view "${sky[@]}" -o sky.csv --json sky.json
expect_stderr "warning: 2 of $count points are invalid and see nothing" "the first is point 498, counted from 0"
[[ $(head -n 1 sky.csv) == sky && $(grep -c nan sky.csv) == 2 ]] || fail "other lines: $(head -n 3 sky.csv)"
for format in npy raw txt ply; do expect_exit 0 slabcast view "${sky[@]}" -o sky.$format; done
tail -n +2 sky.csv | cmp - sky.txt || fail "text is not csv without names"
npy_data sky.npy | cmp - sky.raw || fail "raw is not npy without a header"
python3 "$clouds" sky.ply hit.csv sky.csv sky.json || fail "the cloud has other points"
slabcast view "${sky[@]}" -o - 2>err | cmp - sky.npy || fail "a pipe gets other bytes"
slabcast view "${city[@]}" --points - --sky 500 --up y -o - <hit.csv 2>err | cmp - sky.npy || fail "from a pipe other bytes come"

# The values go with their points, in each format.
awk -F, 'NR > 1 { print $5, $6, $7, $1, $3, $4 }' hit.csv | sed 's/nan/0/; s/inf/1/' >hit.txt
slabcast view "${city[@]}" --points hit.txt --sky 64 -o want.npy
tr ' ' '\n' <hit.txt | "$make_npy" f '<f4' "($count, 6)" False >hit.npy
slabcast view "${city[@]}" --points hit.npy --sky 64 -o got.npy
expect_same want.npy got.npy
cut -d' ' -f1-3 hit.txt >bare.txt
tr ' ' '\n' <bare.txt | "$make_npy" f '<f4' "($count, 3)" False >bare.npy
npy_data bare.npy >bare.raw
for points in bare.txt bare.npy bare.raw; do slabcast view "${city[@]}" --points $points --sky 64 -o ${points##*.}.npy; done
expect_same txt.npy npy.npy
expect_same txt.npy raw.npy

# ---- shards and parts that go on ----
cat bare.txt bare.txt bare.txt >more.txt
sees=("${city[@]}" --points more.txt --to near.txt --up y)
slabcast view "${sees[@]}" -o sees.npy 2>err
for ((i = 0; i < 3; i++)); do
  slabcast view "${sky[@]}" --shard $i/3 -o shard.$i.npy 2>err
  slabcast view "${sees[@]}" --shard $i/3 -o part.$i.npy 2>err
done
slabcast join shard.[201].npy -o joined.npy
expect_same sky.npy joined.npy
slabcast join part.[201].npy -o joined.npy
expect_same sees.npy joined.npy
slabcast view "${city[@]}" --points hit.csv --sky 65 --shard 2/3 -o alien.npy 2>err
expect_refusal 1 "alien.npy is a shard of a cast with other options" slabcast join shard.[01].npy alien.npy -o bad.npy

# resume FILE OPTION...: from three fifths of FILE to the same bytes, and finished it stays.
resume() {
  local whole=$1 file=out.${1##*.}
  shift
  rm -f "$file"
  head -c "$(($(stat -c %s "$whole") * 3 / 5 | 1))" "$whole" >"$file.part"
  for state in part finished; do
    expect_exit 0 slabcast view "$@" -o "$file" --resume --json part.json
    expect_same "$whole" "$file"
    (($(sed -n 's/.*"resumed": \([0-9]*\).*/\1/p' part.json) > 100)) || fail "$file, $state: all was cast again: $(<part.json)"
  done
  [[ ! -e $file.part ]] || fail "$file.part is still there"
  expect_exit 1 slabcast view "${@/city:40/city:41}" -o "$file" --resume
  expect_stderr "holds other results"
}
for format in npy csv ply; do resume sky.$format "${sky[@]}"; done
resume sees.npy "${sees[@]}"
awk 'BEGIN { srand(7); for (i = 0; i < 900; i++) print 6 * rand() - 3, 9 * rand() - 1, 6 * rand() - 3 }' >air.txt
sees=("${city[@]}" --points air.txt --to air.txt)
slabcast view "${sees[@]}" -o sees.txt 2>err
(($(stat -c %s sees.txt) > 3000000)) || fail "few pairs"
resume sees.txt "${sees[@]}"

# ---- the summary; refusals ----
expect_exit 0 slabcast view "${city[@]}" --points bare.txt --sky 64
expect_stderr "$count points, 64 rays each on " ": sky 0." " on average, 0" "; answers after " " Mrays/s"
expect_exit 0 slabcast view --boxes between.txt --points three.txt --to five.txt
expect_stderr "3 points, 5 others each on " ": 10 pairs see each other (66.7 %)"
: >none
expect_exit 0 slabcast view --boxes between.txt --points none --sky 4 -o empty.csv
expect_text sky empty.csv
expect_stderr "warning: none holds no points"

# refuse CODE TEXT OPTION...
refuse() {
  expect_refusal "$1" "$2" slabcast view --boxes between.txt "${@:3}" -o bad.npy
  expect_no bad.npy
}
refuse 2 "--points is missing" --sky 4
refuse 2 "one of --sky, --suns and --to is wanted" --points three.txt
refuse 2 "only one of --sky, --suns and --to is wanted" --points three.txt --sky 4 --to three.txt
for sky in 0 16777217 4.5 perez; do refuse 2 "option --sky: \"$sky\" is not tregenza, reinhart or a whole number" --points three.txt --sky $sky; done
refuse 2 "option --offset: \"-1\" is not a number from 0 to" --points three.txt --sky 4 --offset -1
refuse 2 "--points - and --to - cannot both come from stdin" --points - --to -
expect_refusal 2 "the scene is missing" slabcast view --points three.txt --sky 4
expect_refusal 2 "ply has a value for each point, and --to has a row" slabcast view --boxes between.txt --points three.txt --to five.txt -o bad.ply
expect_refusal 2 "--resume wants -o FILE" slabcast view --boxes between.txt --points three.txt --sky 4 --resume -o -
expect_refusal 1 "cannot write three.txt: it is the input three.txt" slabcast view --boxes between.txt --points three.txt --sky 4 -o three.txt
refuse 1 "rows of 4 numbers; points have 3 (x y z) or 6 (with nx ny nz, their normals)" --points <(echo 1 2 3 4) --sky 4
refuse 1 "rows of 5 numbers; points have 3" --points three.txt --to <(echo 1 2 3 4 5)
refuse 1 "line 1: the column nz is missing" --points <(printf 'x,y,z,nx,ny\n1,2,3,4,5\n') --sky 4
refuse 1 "none holds no points" --points three.txt --to none
refuse 1 "none of 2 suns is above the horizon" --points three.txt --suns <(printf '1 -2\n3 0\n')
refuse 1 "sun 1, counted from 0, has the hours -1" --points three.txt --suns <(printf '1 2 1\n3 4 -1\n')
refuse 1 "sun 0, counted from 0, has the altitude 91" --points three.txt --suns <(echo 1 91)
refuse 1 "sun 0, counted from 0, has the azimuth nan" --points three.txt --suns <(echo nan 1)
refuse 1 "line 1: the column altitude is missing" --points three.txt --suns <(printf 'azimuth,hours\n1,2\n')
