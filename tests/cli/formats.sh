#!/usr/bin/env bash
# formats.sh MAKE_NPY: the same rays in npy (float32, float64), raw and text, by files, pipes and fifos, give the same
# results. The results hold the same numbers in every format they can be written in.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
make_npy=$1
row=()
make_row "$make_npy"
scene=("${row[@]}")

slabcast rays random "${scene[@]}" --count 3000 --seed 7 -o rays.npy
slabcast rays random "${scene[@]}" --count 3000 --seed 7 -o rays.raw
slabcast rays random "${scene[@]}" --count 3000 --seed 7 --out text >rays.txt
npy_data rays.npy | cmp - rays.raw || fail "rays.npy and rays.raw hold other rays"
"$make_npy" f '<f4' '(3000, 8)' False <rays.txt >again.npy
npy_data again.npy | cmp - rays.raw || fail "rays.txt and rays.raw hold other rays"
"$make_npy" d '<f8' '(3000, 8)' False <rays.txt >wide.npy
tr ' ' ',' <rays.txt | sed '1i # ox,oy,oz,t_min,dx,dy,dz,t_max' >commas.txt

# ---- rays in ----
slabcast cast "${scene[@]}" --rays rays.npy -o hits.npy
for rays in rays.raw rays.txt again.npy wide.npy commas.txt; do
  slabcast cast "${scene[@]}" --rays "$rays" -o other.npy
  expect_same hits.npy other.npy
done
for rays in rays.npy rays.txt wide.npy; do
  slabcast cast "${scene[@]}" --rays - -o other.npy <"$rays"
  expect_same hits.npy other.npy
  # shellcheck disable=SC2002 # the test is of a pipe
  cat "$rays" | slabcast cast "${scene[@]}" --rays - -o other.npy
  expect_same hits.npy other.npy
done
# shellcheck disable=SC2002
cat rays.raw | slabcast cast "${scene[@]}" --in raw --rays - -o other.npy
expect_same hits.npy other.npy
mkfifo fifo
cat rays.npy >fifo &
slabcast cast "${scene[@]}" --rays fifo -o other.npy
expect_same hits.npy other.npy
slabcast cast "${scene[@]}" --rays <(cat rays.txt) -o other.npy
expect_same hits.npy other.npy

# csv names its columns, as rays and as primitives; files without that line, and with blanks, read the same.
slabcast rays random "${scene[@]}" --count 3000 --seed 7 -o rays.csv
expect_text 'ox,oy,oz,t_min,dx,dy,dz,t_max' <(head -n 1 rays.csv)
tail -n +2 rays.csv | tr , ' ' | cmp - rays.txt || fail "rays.csv and rays.txt hold other rays"
slabcast rays random "${scene[@]}" --count 3000 --seed 7 --out csv -o other.txt
expect_same rays.csv other.txt
tail -n +2 rays.csv >bare.csv
sed '1s/.*/# made by hand\n\n"ox", "oy" ,oz,t_min,dx,_dy,dz,t.max/' rays.csv >quoted.csv
for rays in rays.csv bare.csv quoted.csv; do
  slabcast cast "${scene[@]}" --rays "$rays" -o other.npy
  expect_same hits.npy other.npy
done
slabcast cast "${scene[@]}" --rays - --shard 1/2 -o other.npy <rays.csv
slabcast cast "${scene[@]}" --rays rays.npy --shard 1/2 -o shard.npy
expect_same shard.npy other.npy
printf 'lx,ly,lz,ux,uy,uz\n0,0,0,1,1,1\n' >box.csv
expect_exit 0 slabcast info --boxes box.csv
grep -qE '^boxes +1$' out || fail "not one box in box.csv: $(cat out)"
printf 'x,y\nz,w\n1,2,3,4\n' >twice.csv
expect_refusal 1 'twice.csv: line 1: boxes have no column "x", they have lx ly lz ux uy uz' slabcast info --boxes twice.csv
printf 'lx,ly,ux,uy\nz,w\n1,2,3,4\n' >twice.csv
expect_refusal 1 'twice.csv: line 2: "z,w" is not a number' slabcast info --boxes twice.csv
printf 'lower\n0,0,0,1,1,1\n' >word.csv
expect_refusal 1 'word.csv: line 1: "lower" is not a number' slabcast info --boxes word.csv

# Rows of six are rays from 0 to infinity.
awk '{ print $1, $2, $3, $5, $6, $7 }' rays.txt | slabcast cast "${scene[@]}" --rays - -o other.npy
expect_same hits.npy other.npy

# A number of text becomes the nearest float at once: by way of a double these three boxes would begin elsewhere.
printf '%s 0 0 9 1 1\n' 1.00000005960464477539062500001 1.0000001788139343261718749999 -8388608.5000000000000000001 >between.txt
printf '%s 0.5 0.5 1 0 0\n' 0 0 -8388612 >towards.txt
for ((i = 1; i <= 3; i++)); do
  slabcast cast --boxes <(sed -n "${i}p" between.txt) --rays <(sed -n "${i}p" towards.txt) --query distance -o - --out csv
done | grep -v t >distances
expect_text $'1.00000012\n1.00000012\n3' distances

# ---- results out ----
for out in - /dev/stdout /dev/fd/1 fifo; do
  if [[ $out == fifo ]]; then cat fifo >other.npy & fi
  slabcast cast "${scene[@]}" --rays rays.npy -o "$out" --out npy | cat >piped.npy
  if [[ $out == fifo ]]; then wait && mv other.npy piped.npy; fi
  expect_same hits.npy piped.npy
done
slabcast cast "${scene[@]}" --rays rays.txt -o - | cat >piped.npy
expect_same hits.npy piped.npy
slabcast cast "${scene[@]}" --rays rays.npy -o - >direct.npy
expect_same hits.npy direct.npy
ln -s target.npy link.npy
slabcast cast "${scene[@]}" --rays rays.npy -o other.npy
cp other.npy target.npy
slabcast cast "${scene[@]}" --rays rays.npy -o link.npy
[[ -L link.npy ]] || fail "a link is replaced instead of what it leads to"
expect_same hits.npy target.npy

# columns QUERY: the types of a result's columns, as make_npy names them.
columns() {
  case $1 in
    closest) echo ffffffuu ;;
    distance) echo f ;;
    any) echo b ;;
    count) echo u ;;
    interval) echo ffuu ;;
    nearest) echo fuu ;;
    all) echo Qffffffuu ;;
  esac
}
for query in closest distance any count interval nearest; do
  for format in npy raw csv txt; do slabcast cast "${scene[@]}" --rays rays.npy --query "$query" -o "$query.$format"; done
  npy_data "$query.npy" | cmp - "$query.raw" || fail "$query: npy and raw differ"
  tail -n +2 "$query.csv" | tr , ' ' | cmp - "$query.txt" || fail "$query: csv and text differ"
  "$make_npy" "$(columns "$query")" <"$query.txt" | cmp - "$query.raw" || fail "$query: text and raw differ"
done
expect_text "t,normal_x,normal_y,normal_z,u,v,primitive,geometry" <(head -n 1 closest.csv)
expect_text "enter,leave,primitive,geometry" <(head -n 1 interval.csv)

# Every hit: text names the ray, npy has offsets.
for format in npy raw csv txt; do slabcast cast "${scene[@]}" --rays rays.npy --query all -o "all.$format"; done
npy_data all.npy | cmp - all.raw || fail "all: npy and raw differ"
tail -n +2 all.csv | tr , ' ' | cmp - all.txt || fail "all: csv and text differ"
cut -d ' ' -f 2- all.txt | "$make_npy" ffffffuu | cmp - all.raw || fail "all: text and raw differ"
expect_same all.npy.offsets.npy all.raw.offsets.npy
awk -v rays=3000 '{ hits[$1]++ } END { for (i = 0; i < rays; i++) { print sum + 0; sum += hits[i] } print sum }' all.txt |
  "$make_npy" Q | cmp - <(npy_data all.npy.offsets.npy) || fail "all: offsets and text differ"
expect_no all.csv.offsets.npy all.txt.offsets.npy

# ---- the header that numpy reads ----
head -c 400 closest.npy | grep -aqF "{'descr': [('t', '<f4'), ('normal', '<f4', (3,)), ('u', '<f4'), ('v', '<f4'), ('primitive', '<u4'), ('geometry', '<u4')], 'fortran_order': False, 'shape': (3000,), }" ||
  fail "the header of closest is another one"
head -c 200 any.npy | grep -aqF "{'descr': '|u1', 'fortran_order': False, 'shape': (3000,), }" || fail "the header of any is another one"
head -c 200 all.npy.offsets.npy | grep -aqF "'<u8', 'fortran_order': False, 'shape': (3001,)" || fail "offsets have another header"

# ---- no rays, and a warning for float64 that float32 cannot hold ----
expect_exit 0 slabcast cast "${scene[@]}" --rays /dev/null -o none.npy
expect_stderr "warning: /dev/null holds no rays"
head -c 400 none.npy | grep -aqF "'shape': (0,)" || fail "no rays, but results"
"$make_npy" d '<f8' '(0, 8)' False </dev/null >none.in.npy
expect_exit 0 slabcast cast "${scene[@]}" --rays none.in.npy --query all -o none.npy --check
[[ $(npy_data none.npy.offsets.npy | od -An -tu8 | tr -d ' ') == 0 ]] || fail "no rays, but offsets"
echo 100000.001 0 0 -1 0 0 >far.txt
expect_exit 0 slabcast cast "${scene[@]}" --rays far.txt -o far.npy
expect_stderr "warning: far.txt: rounding to float32"
