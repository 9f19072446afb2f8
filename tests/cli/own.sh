#!/usr/bin/env bash
# own.sh MAKE_NPY: --masks, --after and --worlds, one for each ray: of every query and form, in shards, pieces and resumed
# casts, and what is refused of such files.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
make_npy=$1
row=()
make_row "$make_npy"
native=0
# repeat N TEXT: so many lines.
repeat() { awk -v n="$1" -v text="$2" 'BEGIN { while (n-- > 0) print text }'; }
# lines_of_ray RAY QUERY RESULTS: those of one ray.
lines_of_ray() {
  if [[ $2 == all ]]; then
    awk -v ray="$1" '$1 == ray' "$3"
  else
    sed -n "$(($1 + 1))p" "$3"
  fi
}
[[ $SLABCAST_BACKENDS != native ]] || native=1

# ---- masks: each ray's answer is that of a cast with its mask alone ----
count=403
slabcast rays random "${row[@]}" --count $count -o rays.npy
bits=(1 2 21 32 4294967295) # nothing has the bit 32
for ((i = 0; i < count; i++)); do echo "${bits[i * i % 5]}"; done >masks.txt
"$make_npy" u '<u4' "($count,)" False <masks.txt >masks.npy
"$make_npy" u '<u4' "($count, 1)" False <masks.txt >column.npy
npy_data masks.npy >masks.raw
queries=(closest all)
((!native)) || queries=(closest distance any count all interval nearest)
for query in "${queries[@]}"; do
  for mask in "${bits[@]}"; do
    slabcast cast "${row[@]}" --rays rays.npy --query "$query" --mask "$mask" -o "mask.$mask.txt"
  done
  for ((i = 0; i < count; i++)); do lines_of_ray $i "$query" "mask.${bits[i * i % 5]}.txt"; done >wanted.txt
  expect_checked "${row[@]}" --rays rays.npy --query "$query" --masks masks.npy -o got.txt
  expect_same wanted.txt got.txt
  expect_other got.txt mask.4294967295.txt
done
slabcast cast "${row[@]}" --rays rays.npy --masks masks.npy -o wanted.npy
sed 's/^/"a, ""b"" #; c",/; 1i\name,Mask' masks.txt >named.csv
{ echo '# masks' && sed 's/4294967295/0xffffffff/' masks.txt; } >hexadecimal
for masks in masks.txt masks.raw column.npy named.csv hexadecimal -; do
  slabcast cast "${row[@]}" --rays rays.npy --masks "$masks" -o got.npy <masks.txt
  expect_same wanted.npy got.npy
done
slabcast cast "${row[@]}" --rays - --masks <(cat masks.npy) -o - <rays.npy | cmp - wanted.npy || fail "from stdin to stdout it is another"
repeat $count "0" >none.txt
expect_exit 0 slabcast cast "${row[@]}" --rays rays.npy --masks none.txt
expect_stderr "$count rays, 0 hit"

# ---- after: a walk is given what --query all lists, coincident faces included ----
printf 'o a, "b" # c\nv -2 -4 2\nv 9 -4 2\nv 0 9 2\nv -2 -4 3\nf 1 2 3\nf 1 2 3\nf 4 2 3\n' >twice.obj
scene=("${row[@]}" --mesh twice.obj --mesh twice.obj)
slabcast cast "${scene[@]}" --rays rays.npy --query all -o all.txt
awk '{ print $1, $2, $(NF - 1), $NF }' all.txt >wanted.txt

# walk FORM CAST_OPTION...: from a hit before all, by the results in files of this form.
{ echo t,primitive,geometry && repeat $count "-inf,4294967295,4294967295"; } >start.csv
walk() {
  local form=$1 after=start.csv step
  shift
  : >walked
  for ((step = 1; step < 20; step++)); do
    slabcast cast "${scene[@]}" --rays rays.npy --after "$after" --query nearest -o - --out text |
      awk '$1 != "inf" { print NR - 1, $0 }' >found
    cat found >>walked
    [[ -s found ]] || break
    slabcast cast "${scene[@]}" --rays rays.npy --after "$after" "$@" -o "step.$step.$form"
    after=step.$step.$form
  done
  sort -n -s -k1,1 walked | diff wanted.txt - >&2 || fail "a walk by $form $* is not what --query all lists"
}
walk npy
if ((native)); then
  for query in closest nearest; do
    for form in npy csv txt raw; do
      walk $form --query $query
      walk $form --query $query --points
    done
  done
fi

# Hits for the option --after.
slabcast cast "${scene[@]}" --rays rays.npy -o first.npy
slabcast cast "${scene[@]}" --rays rays.npy --query count -o count.txt
for query in "${queries[@]}"; do
  [[ $query != interval ]] || continue
  expect_checked "${scene[@]}" --rays rays.npy --query "$query" --after first.npy --masks masks.npy -o "both.$query.txt"
  expect_checked "${scene[@]}" --rays rays.npy --query "$query" --after first.npy -o "after.$query.txt"
done
awk 'NR > 1 && $1 == before { print } { before = $1 }' all.txt | diff - after.all.txt >&2 || fail "all after the first is not the rest of all"
if ((native)); then
  awk '{ print $1 - ($1 > 0) }' count.txt | diff - after.count.txt >&2 || fail "there is not one fewer after the first"
  awk '{ print ($1 > 1) + 0 }' count.txt | diff - after.any.txt >&2 || fail "any after the first"
fi
slabcast cast "${scene[@]}" --rays rays.npy -o - | slabcast cast "${scene[@]}" --rays rays.npy --after - --query all -o piped.txt
expect_same after.all.txt piped.txt

# t alone: hits beyond it, not those that coincide.
for form in npy txt csv raw "npy --points" "csv --points"; do
  read -r form points <<<"$form"
  slabcast cast "${scene[@]}" --rays rays.npy --query distance ${points:+"$points"} -o "t.$form"
  slabcast cast "${scene[@]}" --rays rays.npy --after "t.$form" --query all -o got.txt
  awk 'NR == 1 || $1 != ray { ray = $1; t = $2 } $2 > t { print }' all.txt | diff - got.txt >&2 || fail "beyond the t of t.$form"
done

# Every layout and tree.
layouts=("--layout compressed")
((!native)) || layouts=(--layout\ {wide,compressed}\ --tree\ {flat,fast,high})
for layout in "${layouts[@]}"; do
  read -ra chosen <<<"$layout"
  slabcast cast "${scene[@]}" --rays rays.npy --after first.npy --masks masks.npy --query all "${chosen[@]}" -o got.txt
  expect_same both.all.txt got.txt
done

# ---- worlds: each ray's answer is that of a scene without the places of other worlds ----
printf 'v -1 -1 0\nv 1 -1 0\nv 0 1 0\nv 0 0 1\nf 1 2 4\nf 2 3 4\nf 3 1 4\nf 1 3 2\n' >tent.obj
places=24
for ((i = 0; i < places; i++)); do echo "1 0 0 $((i % 7 * 3 - 5)) 0 1 0 $((i % 3 - 1)) 0 0 1 $((i % 5 - 2))"; done >places.txt
for ((i = 0; i < places; i++)); do echo $((i % 4)); done >place_worlds.txt
"$make_npy" u '<u4' "($places,)" False <place_worlds.txt >place_worlds.npy
for ((i = 0; i < count; i++)); do echo $((i * i % 7 % 4)); done >worlds.txt
"$make_npy" u '<u4' "($count,)" False <worlds.txt >worlds.npy
npy_data worlds.npy >worlds.raw
of_worlds=(--boxes box.npy --instances places.txt --of tent.obj --instance-worlds place_worlds.txt --spheres sphere.npy)
for query in "${queries[@]}"; do
  for world in 0 1 2 3; do
    paste -d ' ' place_worlds.txt places.txt | awk -v world=$world '{ if ($1 != 0 && $1 != world) $5 = 1e6; $1 = ""; print }' >alone.txt
    slabcast cast --boxes box.npy --instances alone.txt --of tent.obj --spheres sphere.npy --rays rays.npy --query "$query" -o "world.$world.txt"
  done
  for ((i = 0; i < count; i++)); do lines_of_ray $i "$query" "world.$((i * i % 7 % 4)).txt"; done >wanted.txt
  expect_checked "${of_worlds[@]}" --rays rays.npy --query "$query" --worlds worlds.npy -o got.txt
  expect_same wanted.txt got.txt
  expect_other got.txt world.0.txt
  expect_checked "${of_worlds[@]}" --rays rays.npy --query "$query" -o got.txt
  expect_same world.0.txt got.txt
done
slabcast cast "${of_worlds[@]}" --rays rays.npy --worlds worlds.npy --masks masks.npy -o wanted.npy
{ echo 'a,World' && sed 's/^/x,/' worlds.txt; } >named_worlds.csv
for worlds in worlds.txt worlds.raw named_worlds.csv -; do
  slabcast cast "${of_worlds[@]}" --rays rays.npy --worlds "$worlds" --masks masks.txt -o got.npy <worlds.txt
  expect_same wanted.npy got.npy
done
slabcast cast "${of_worlds[@]/place_worlds.txt/place_worlds.npy}" --rays rays.npy --worlds worlds.npy --masks masks.npy -o got.npy
expect_same wanted.npy got.npy

# The rest is of the program alone, and one backend shows it.
((native)) || exit 0

# Arrays with members of their own, in another order; lines of three numbers.
for ((i = 0; i < count; i++)); do echo "$i 0 7 4.5"; done | "$make_npy" Quuf \
  "[('i', '<u8'), ('geometry', '<u4'), ('primitive', '<u4'), ('t', '<f4')]" "($count,)" False >members.npy
repeat $count "4.5; 7; 0" >lines.txt
repeat $count "0 a#b 4.5 7" | sed '1i\geometry\tname\tT\tprimitive' | tr ' ' '\t' >tabs.csv
slabcast cast "${scene[@]}" --rays rays.npy --after lines.txt -o wanted.npy
for after in members.npy tabs.csv; do
  slabcast cast "${scene[@]}" --rays rays.npy --after $after -o got.npy
  expect_same wanted.npy got.npy
done

# ---- shards: each takes its part, in any form; join distinguishes those of other masks ----
own=(--masks masks.npy --after first.npy)
slabcast cast "${scene[@]}" --rays rays.npy "${own[@]}" -o whole.npy
# in_shards WORD...: a cast with these options, of which @ is the shard's number, in three shards.
in_shards() {
  for shard in 0 1 2; do slabcast cast "${scene[@]}" "${@//@/$shard}" --shard $shard/3 -o shard.$shard.npy; done
  slabcast join shard.[012].npy -o joined.npy
  expect_same whole.npy joined.npy
}
slabcast cast "${scene[@]}" --rays rays.npy -o first.txt
slabcast cast "${scene[@]}" --rays rays.npy -o first.raw
slabcast rays random "${row[@]}" --count $count --out text -o rays.txt
for shard in 0 1 2; do slabcast cast "${scene[@]}" --rays rays.npy --shard $shard/3 -o first.$shard.npy; done
in_shards --rays rays.npy "${own[@]}"
slabcast cast "${scene[@]}" --rays rays.npy --masks none.txt --after first.npy --shard 1/3 -o other.npy
expect_refusal 1 "other options" slabcast join shard.0.npy other.npy shard.2.npy -o bad.npy
slabcast cast "${scene[@]}" --rays rays.npy --masks masks.npy --after wanted.npy --shard 1/3 -o other.npy
expect_refusal 1 "other options" slabcast join shard.0.npy other.npy shard.2.npy -o bad.npy
slabcast cast "${scene[@]}" --rays rays.npy --masks masks.npy --shard 1/3 -o other.npy
expect_refusal 1 "other options" slabcast join shard.0.npy other.npy shard.2.npy -o bad.npy
in_shards --rays rays.npy --masks masks.npy --after first.@.npy
in_shards --rays rays.txt --masks masks.txt --after first.txt
in_shards --rays rays.npy --masks masks.raw --after first.raw
expect_refusal 1 "first.1.npy: the results of shard 1/3, which go with the same shard alone; join makes them whole" \
  slabcast cast "${scene[@]}" --rays rays.npy --after first.1.npy
expect_refusal 1 "first.1.npy: the results of shard 1/3" slabcast cast "${scene[@]}" --rays rays.npy --after first.1.npy --shard 0/3
for shard in 0 1 2; do
  slabcast cast "${scene[@]}" --rays rays.npy --masks <(cat masks.npy) --after - --shard $shard/3 -o shard.$shard.npy <first.txt
done
slabcast join shard.[012].npy -o joined.npy
expect_same whole.npy joined.npy

# Shards of other worlds, and of places in other worlds.
own=(--rays rays.npy --worlds worlds.npy --after first.npy)
slabcast cast "${of_worlds[@]}" "${own[@]}" -o whole.npy
for shard in 0 1 2; do slabcast cast "${of_worlds[@]}" "${own[@]}" --shard $shard/3 -o shard.$shard.npy; done
slabcast join shard.[012].npy -o joined.npy
expect_same whole.npy joined.npy
repeat $count 1 >ones.txt
slabcast cast "${of_worlds[@]}" "${own[@]/worlds.npy/ones.txt}" --shard 1/3 -o other.npy
expect_refusal 1 "other options" slabcast join shard.0.npy other.npy shard.2.npy -o bad.npy
repeat $places 3 >threes.txt
slabcast cast "${of_worlds[@]/place_worlds.txt/threes.txt}" "${own[@]}" --shard 1/3 -o other.npy
expect_refusal 1 "other scene" slabcast join shard.0.npy other.npy shard.2.npy -o bad.npy

# ---- several batches, one of which has more hits than fit, and a cast that goes on from its part ----
for ((i = 0; i < 6; i++)); do echo "$i -1 -1 $((i + 1)) 1 1"; done >towers.txt
slabcast rays camera --from=-30,0,0 --to 0,0,0 --fov 2 --size 1100x1000 -o many.npy # 1,100,000
repeat 220000 '0\n1\n3\n2\n1' | "$make_npy" u '<u4' '(1100000,)' False >many_masks.npy
many=(--boxes towers.txt --spheres sphere.npy --rays many.npy)
slabcast cast "${many[@]}" --masks many_masks.npy -o many_first.npy
many+=(--masks many_masks.npy --after many_first.npy --query all)
slabcast cast "${many[@]}" -o whole.raw --json summary.json
(($(sed -n 's/.*"crossings": \([0-9]*\).*/\1/p' summary.json) > 2800000)) || fail "all hits fit: $(<summary.json)"
for shard in 0 1 2; do slabcast cast "${many[@]}" --shard $shard/3 -o shard.$shard.raw; done # each fits
cat shard.[012].raw | cmp - whole.raw || fail "pieces of a batch get other masks than whole batches"
head -c "$(($(stat -c %s whole.raw) * 8 / 10))" whole.raw >got.raw.part
cp whole.raw.offsets.npy got.raw.offsets.npy.part
expect_exit 0 slabcast cast "${many[@]}" -o got.raw --resume --json summary.json
(($(sed -n 's/.*"resumed": \([0-9]*\).*/\1/p' summary.json) > 500000)) || fail "it was cast anew: $(<summary.json)"
expect_same whole.raw got.raw
expect_same whole.raw.offsets.npy got.raw.offsets.npy
npy_data many_masks.npy | tail -c +5 | { cat && printf '\1\0\0\0'; } >other.raw # each ray gets the next one's
expect_exit 1 slabcast cast "${many[@]/many_masks.npy/other.raw}" -o got.raw --resume
expect_stderr "holds other results: it was made from other rays, another scene or other options"

# ---- what is refused ----

# refuse CODE TEXT CAST_OPTION...
refuse() {
  expect_refusal "$1" "$2" slabcast cast "${row[@]}" --rays rays.npy "${@:3}" -o bad.npy
  expect_no bad.npy
}
refuse 2 "--mask BITS and --masks do not go together" --masks masks.npy --mask 3
refuse 2 "--after does not go with --query interval" --after first.npy --query interval
refuse 2 "--masks - and --after - cannot both come from stdin" --masks - --after -
expect_refusal 2 "--rays - and --masks - cannot both" slabcast cast "${row[@]}" --rays - --masks -
expect_refusal 2 "--spheres - and --after - cannot both" slabcast cast --spheres - --rays rays.npy --after -
expect_refusal 1 "cannot write masks.npy: it is the input masks.npy" slabcast cast "${row[@]}" --rays rays.npy --masks masks.npy -o masks.npy
expect_refusal 1 "cannot write first.npy: it is the input first.npy" slabcast cast "${row[@]}" --rays rays.npy --after first.npy -o first.npy
refuse 1 "cannot read nowhere.npy: No such file" --masks nowhere.npy
# The number of rows: known at once, or at the end.
head -n 7 masks.txt | "$make_npy" u '<u4' '(7,)' False >few.npy
head -n 7 masks.txt >few.txt
npy_data few.npy >few.raw
for few in few.npy few.raw; do refuse 1 "$few: 7 masks for $count rays; each ray has one" --masks $few; done
# late CODE TEXT CAST_OPTION...: reported at the end of the data, so that a part may be kept.
late() {
  expect_exit 1 slabcast cast "${row[@]}" "${@:2}" -o bad.npy
  expect_stderr "slabcast: " "$1"
  [[ ! -e bad.npy ]] || fail "a file is left"
  rm -f bad.npy.part
}
late "few.txt: 7 masks for $count rays; each ray has one" --rays rays.npy --masks few.txt
late "few.txt: 7 masks, and there are more rays; each ray has one" --rays rays.txt --masks few.txt
late "few.npy: 7 masks, and there are more rays; each ray has one" --rays rays.txt --masks few.npy
late "few.txt: 7 masks for $count rays" --rays rays.npy --masks few.txt --shard 1/2
late "standard input: 7 masks for $count rays" --rays rays.npy --masks - <few.txt
cat few.txt masks.txt >much.txt
late "much.txt: $((count + 7)) masks for $count rays; each ray has one" --rays rays.npy --masks much.txt
late "much.txt: $((count + 7)) masks for $count rays; each ray has one" --rays rays.txt --masks much.txt --shard 0/2
late "masks.npy: $count masks for 7 rays; each ray has one" --rays <(head -n 7 rays.txt) --masks masks.npy
late ": more than $count masks for $count rays; each ray has one" --rays rays.npy --masks <(yes 1)
: >none
late "none: 0 hits for $count rays" --rays rays.npy --after none
expect_exit 0 slabcast cast "${row[@]}" --rays none --masks none --after none
# Errors in their content.
{ head -n 5 masks.txt && echo -1 && tail -n +7 masks.txt; } >bad.txt
late "bad.txt: line 6: the mask -1 is not a whole number from 0 to 4294967295" --rays rays.npy --masks bad.txt
{ echo mask && head -n 5 masks.txt && echo 4294967296 && tail -n +7 masks.txt; } >bad.txt
late "bad.txt: line 7: the mask 4294967296 is not a whole number" --rays rays.npy --masks bad.txt
sed 's/^1$/one/' masks.txt >bad.txt
late "bad.txt: line" --rays rays.npy --masks bad.txt
refuse 1 "rows of 2 numbers; a mask is one" --masks <(repeat $count "1 2")
head -n $count masks.txt | "$make_npy" Q '<u8' "($count,)" False >wide.npy
refuse 1 "wide.npy: dtype '<u8' is not uint32 ('<u4'), as masks are" --masks wide.npy
refuse 1 "rays.npy: an array of 2 dimensions; a row of masks is wanted, one a ray" --masks rays.npy
refuse 1 "first.npy: dtype [('t', '<f4')" --masks first.npy
head -c 700 first.raw >cut.raw
refuse 1 "cut.raw: 700 bytes are no whole number of hits of 12 bytes" --after cut.raw
head -c 1000 masks.npy >cut.npy
refuse 1 "cut.npy: truncated: $count masks of 4 bytes are announced, 872 bytes are there" --masks cut.npy
late ": truncated: it ends before mask 218, of 4 bytes, is whole" --rays rays.npy --masks <(cat cut.npy)
late ": truncated: it ends before mask 218, of 4 bytes, is whole" --rays rays.npy --masks <(head -c 1002 masks.npy)
for ((i = 0; i < count; i++)); do ((i == 300)) && echo nan || echo 1.5; done >nan.txt
"$make_npy" f '<f4' "($count,)" False <nan.txt >nan.npy
npy_data nan.npy >nan.raw
for nan in nan.txt nan.npy nan.raw; do
  late "$nan: the t of ray 300, counted from 0, is NaN" --rays rays.npy --after $nan
  late "$nan: the t of ray 300, counted from 0, is NaN" --rays rays.npy --after $nan --shard 2/3
done
sed '1i\t,primitive' nan.txt | sed '2,$s/$/,1/' >half.csv
refuse 1 "half.csv: primitive is there without geometry" --after half.csv
refuse 1 "line 1: the column t is missing" --after <(echo primitive,geometry)
for query in any count interval; do
  slabcast cast "${row[@]}" --rays rays.npy --query $query -o $query.npy
  refuse 1 "$query.npy: " --after $query.npy
done
expect_stderr "its fields have no t; hits have t, primitive and geometry"
slabcast cast "${row[@]}" --rays rays.npy --query all -o all.csv
refuse 1 'all.csv: a column "ray", as hits of --query all have; a hit for each ray is wanted' --after all.csv
slabcast cast "${row[@]}" --rays rays.npy -o hits.ply
refuse 1 "hits.ply: points of ply leave misses out; one hit a ray is wanted" --after hits.ply
refuse 1 "rows of 4 numbers; a hit has 3 (t, primitive, geometry), 8 as closest has it (in double 9), or 1, t alone" --after <(echo 1 2 3 4)
for form in raw txt; do # as intervals
  slabcast cast "${row[@]}" --rays rays.npy --query distance --points -o t.$form
  expect_exit 1 slabcast cast "${row[@]}" --rays rays.npy --after t.$form
done
echo 5 3 | "$make_npy" fu "[('t', '<f4'), ('geometry', '<u4')]" "(1,)" False >half.npy
refuse 1 "half.npy: geometry is there without primitive" --after half.npy
echo 1 2 3 | "$make_npy" dfu "[('t', '<f8'), ('primitive', '<f4'), ('geometry', '<u4')]" "(1,)" False >types.npy
refuse 1 "types.npy: the field t is '<f8', not '<f4'" --after types.npy

# ---- what is refused of worlds ----
refuse_worlds() {
  expect_refusal 1 "$1" slabcast cast "${of_worlds[@]}" --rays rays.npy --worlds "$2" -o bad.npy
  expect_no bad.npy
}
late_worlds() {
  expect_exit 1 slabcast cast "${@:2}" -o bad.npy
  expect_stderr "slabcast: " "$1"
  rm -f bad.npy.part
}
refuse_worlds "few.npy: 7 worlds for $count rays; each ray has one" few.npy
refuse_worlds "wide.npy: dtype '<u8' is not uint32 ('<u4'), as worlds are" wide.npy
refuse_worlds "rows of 2 numbers; a world is one" <(repeat $count "1 2")
refuse_worlds "cannot read nowhere.npy: No such file" nowhere.npy
for ((i = 0; i < count; i++)); do ((i == 300)) && echo 4 || echo $((i % 4)); done >bad_worlds.txt
"$make_npy" u '<u4' "($count,)" False <bad_worlds.txt >bad_worlds.npy
for shard in "" "--shard 2/3"; do
  for bad in bad_worlds.txt bad_worlds.npy; do
    # shellcheck disable=SC2086 # two words or none
    late_worlds "$bad: the world of ray 300, counted from 0, is 4, and the scene has 3 worlds" "${of_worlds[@]}" \
      --rays rays.npy --worlds $bad $shard
  done
done
late_worlds "ones.txt: the world of ray 0, counted from 0, is 1, and the scene has 0 worlds" "${row[@]}" --rays rays.npy \
  --worlds ones.txt
late_worlds "few.txt: 7 worlds for $count rays; each ray has one" "${of_worlds[@]}" --rays rays.npy --worlds few.txt
sed 's/^1$/-1/' worlds.txt >bad.txt
late_worlds "the world -1 is not a whole number from 0 to 4294967295" "${of_worlds[@]}" --rays rays.npy --worlds bad.txt
expect_refusal 2 "--rays - and --worlds - cannot both" slabcast cast "${of_worlds[@]}" --rays - --worlds -
expect_refusal 1 "cannot write worlds.npy: it is the input worlds.npy" slabcast cast "${of_worlds[@]}" --rays rays.npy \
  --worlds worlds.npy -o worlds.npy
expect_refusal 1 "cannot write place_worlds.txt: it is the input place_worlds.txt" slabcast cast "${of_worlds[@]}" \
  --rays rays.npy -o place_worlds.txt

# Worlds of places.
placed() { expect_refusal "$1" "$2" slabcast cast --instances places.txt --of tent.obj "${@:3}" --rays rays.npy; }
placed 1 "few.txt: 7 worlds for $places places; each place has one" --instance-worlds few.txt
placed 1 "few.npy: 7 worlds for $places places; each place has one" --instance-worlds few.npy
placed 1 "worlds.txt: $count worlds for $places places; each place has one" --instance-worlds worlds.txt
for ((i = 0; i < places; i++)); do ((i == 9)) && echo 1048577 || echo $i; done >far_worlds.txt
placed 1 "far_worlds.txt: the world of place 9, counted from 0, is 1048577, and a scene has 1048576 at most" \
  --instance-worlds far_worlds.txt
placed 1 "the world 1.5 is not a whole number" --instance-worlds <(repeat $places 1.5)
placed 2 "the places of --instances places.txt have worlds already" --instance-worlds threes.txt --instance-worlds threes.txt
placed 2 "option --instance-worlds threes.txt follows no --instances" --mesh tent.obj --instance-worlds threes.txt
expect_refusal 2 "option --instance-worlds threes.txt follows no --instances" slabcast cast --instance-worlds threes.txt \
  --rays rays.npy
expect_refusal 2 "--instances - and --instance-worlds - cannot both" slabcast cast --instances - --of tent.obj \
  --instance-worlds - --rays rays.npy
expect_exit 0 slabcast cast --instances places.txt --instance-worlds - --of tent.obj --rays rays.npy --worlds worlds.npy \
  <place_worlds.txt
: >none
expect_exit 0 slabcast cast --instances none --of tent.obj --instance-worlds none --rays none --worlds none

# ---- explain: the ray's own row, or the one of a ray by itself ----
index=$(awk 'NR > 1 && $1 != "inf" { print NR - 1; exit }' <(slabcast cast "${scene[@]}" --rays rays.npy --after first.npy -o - --out text))
read -r t primitive geometry < <(slabcast cast "${scene[@]}" --rays rays.npy --after first.npy --query nearest -o - --out text | sed -n "$((index + 1))p")
expect_exit 0 slabcast explain "${scene[@]}" --rays rays.npy --index "$index" --after first.npy
expect_stdout " $primitive of geometry $geometry: hit at t = $t"
expect_exit 0 slabcast explain "${row[@]}" --ray=-5,0.5,0.5,1,0,0 --geometry 0 --after <(echo 5 0 0)
expect_stdout "it does not come after the hit that the ray begins after"
expect_exit 0 slabcast explain "${row[@]}" --ray=-5,0.5,0.5,1,0,0 --after <(echo 5 0 0)
expect_stdout "sphere 0 of geometry 1: hit at t = 9"
expect_exit 0 slabcast explain "${row[@]}" --ray=-5,0.5,0.5,1,0,0 --masks <(echo 4)
expect_stdout "plane 0 of geometry 2: hit at t = 15"
expect_refusal 1 "masks.npy: $count masks for 1 ray; each ray has one" slabcast explain "${row[@]}" --ray=-5,0.5,0.5,1,0,0 --masks masks.npy
expect_refusal 1 "few.npy: 7 masks for $count rays" slabcast explain "${row[@]}" --rays rays.npy --masks few.npy
expect_refusal 1 "nan.txt: the t of ray 300, counted from 0, is NaN" slabcast explain "${row[@]}" --rays rays.npy --index 300 --after nan.txt
expect_refusal 2 "--rays - and --after - cannot both" slabcast explain "${row[@]}" --rays - --after -
expect_refusal 1 "cannot write masks.npy: it is the input" slabcast explain "${row[@]}" --rays rays.npy --masks masks.npy --json masks.npy
slabcast cast "${of_worlds[@]}" --rays rays.npy --worlds worlds.npy --query nearest -o nearest.txt
index=$(awk '$1 == 2 && $2 != "inf" && $4 != 0 { print NR - 1; exit }' <(paste -d ' ' worlds.txt nearest.txt))
read -r t primitive geometry < <(sed -n "$((index + 1))p" nearest.txt)
expect_exit 0 slabcast explain "${of_worlds[@]}" --rays rays.npy --index "$index" --worlds worlds.npy
expect_stdout " $primitive of geometry $geometry: hit at t = $t"
expect_exit 0 slabcast explain "${of_worlds[@]}" --ray=-5,0.5,0.5,1,0,0 --worlds <(echo 1) --geometry 4
expect_stdout "in another world"
expect_refusal 1 ": the world of ray 0, counted from 0, is 4, and the scene has 3 worlds" slabcast explain "${of_worlds[@]}" \
  --ray=-5,0.5,0.5,1,0,0 --worlds <(echo 4)
expect_refusal 1 "bad_worlds.npy: the world of ray 300, counted from 0, is 4, and the scene has 3 worlds" slabcast explain \
  "${of_worlds[@]}" --rays rays.npy --index 300 --worlds bad_worlds.npy
expect_refusal 2 "--masks - and --worlds - cannot both" slabcast explain "${row[@]}" --rays rays.npy --masks - --worlds -
