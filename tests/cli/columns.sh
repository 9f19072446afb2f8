#!/usr/bin/env bash
# columns.sh: where a text names its columns the names decide, in any order and in the names that people use. Missing,
# unknown and repeated columns are refused by their name. Marks of byte order are read or refused.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
seed=${SLABCAST_TEST_SEED:-20260101}
echo "columns.sh: SLABCAST_TEST_SEED=$seed"
RANDOM=$((seed % 32768))

# Each column of a kind, by its names, ours first; ~ is a blank. The part behind a : may be absent.
declare -A names=(
  [rays]="ox|origin_x|origin.x|o.x|x0|Origin~X|X|o[0] oy|origin_y|ORIGIN.Y|o.y|y0|Y oz|origin_z|origin[2]|o.z|z0
    t_min|tmin|t~near|NEAR|t.min: dx|dir_x|direction.x|Direction~X|vx dy|dir_y|direction.y|dir[1] dz|dir_z|direction.z|DZ
    t_max|tmax|t_far|Far|t~max:"
  [segments]="ax|x0|a.x|from_x|start~x ay|y0|a.y|from_y az|z0|a.z|from_z bx|x1|b.x|to_x|end~x by|y1|b.y|to_y bz|z1|b.z|to_z"
  [spheres]="cx|center_x|centre.x|x|X0 cy|center_y|centre.y|y cz|center_z|centre.z|z r|radius|Radius"
  [planes]="nx|normal_x|normal.x ny|normal_y|normal.y nz|normal_z|Normal~Z offset|Offset"
  [boxes]="lx|lower_x|min.x|xmin|x_min|x0 ly|lower_y|min.y|ymin lz|lower_z|min.z|zmin ux|upper_x|max.x|xmax|X1
    uy|upper_y|max.y|ymax uz|upper_z|max.z|zmax"
  [obbs]="cx|center_x cy|center.y cz|z hx|half_size_x|half~x hy|half_y hz|half_extent_z ux|axis0_x|axes[0][0] uy|axes_0_1
    uz|axis_x_z vx|axis1_x vy|axes[1][1] vz|axis1.z wx|axis2_x wy|axes_2_y wz|axis_z_z"
  [transforms]="m00|a00|r00 m01|M01 m02|m[0][2] m03|tx|translation_x m10|r10 m11|m_1_1 m12|a12 m13|ty m20|r20 m21|m~2~1
    m22 m23|tz|translation.z m30: m31: m32: m33:"
)

# named KIND SEED [CHANGE COLUMN]: rows of numbers on stdin, as text that names its columns: in another order, with any of
# the names, letters, quotes, blanks and separators. CHANGE: the column is absent, twice or unknown (its name has an a
# behind); and `free`: all are absent that may be.
named() {
  awk -v names="${names[$1]}" -v seed="$2" -v change="${3-}" -v changed="${4-}" '
    function pick(n) { return int(rand() * n) }
    function add(at, name) { place[++count] = at; word[count] = name }
    function dressed(name) {
      gsub(/~/, " ", name)
      if (pick(3) == 0) name = toupper(name)
      if (pick(3) == 0) name = "\"" name "\""
      return pick(4) ? name : " " name " "
    }
    function exchange(list, i, k, kept) { kept = list[i]; list[i] = list[k]; list[k] = kept }
    BEGIN {
      srand(seed)
      mark = substr(",;\t", 1 + pick(3), 1)
      columns = split(names, column, /[ \n]+/)
      for (i = 1; i <= columns; i++) {
        free = sub(/:$/, "", column[i])
        known = split(column[i], name, /\|/)
        hit = name[1] == changed
        if ((hit && change == "absent") || (free && change == "free")) continue
        add(i, name[1 + pick(known)] (hit && change == "unknown" ? "a" : ""))
        if (hit && change == "twice") add(i, name[1 + pick(known)])
      }
      for (i = count; i > 1; i--) { k = 1 + pick(i); exchange(place, i, k); exchange(word, i, k) }
      for (i = 1; i <= count; i++) printf "%s%s", dressed(word[i]), i < count ? mark : "\r\n"
    }
    { for (i = 1; i <= count; i++) printf "%s%s", $place[i], i < count ? mark : "\r\n" }'
}

# ---- any order, any of the names ----

slabcast rays random --count 2000 --seed "$seed" --out text >rays.txt
awk 'NR <= 30 { print $1, $2, $3, 0.1 + $5 * $5 }' rays.txt >spheres.txt
awk 'NR <= 30 { print $5, $6, $7, $1 }' rays.txt >planes.txt
awk 'NR <= 30 { print $1, $2, $3, $1 + $5 * $5, $2 + 0.2, $3 + $7 * $7 }' rays.txt >boxes.txt
awk 'NR <= 30 { print $1, $2, $3, 0.1, 0.2 + $6 * $6, 0.3, 0, 1, 0, 0, 0, 1, 1, 0, 0 }' rays.txt >obbs.txt
awk 'NR <= 30 { print 1, 0, 0, $1, 0, 0, 1, $2, 0, -1, 0, $3, 0, 0, 0, 1 }' rays.txt >transforms.txt
awk '{ print $1, $2, $3, $5, $6, $7 }' rays.txt >segments.txt
awk '{ print $1, $2, $3, 0.1, $5, $6, $7, 2 + NR % 5 }' rays.txt >ranges.txt
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' >one.obj

# scene KIND FILE: the options that take the file.
scene() {
  case $1 in
    rays | ranges) options=(--boxes boxes.txt --rays "$2") ;;
    segments) options=(--boxes boxes.txt --rays "$2" --segments) ;;
    transforms) options=(--instances "$2" --of one.obj --rays rays.txt) ;;
    *) options=("--$1" "$2" --rays rays.txt) ;;
  esac
}

options=()
for kind in rays ranges "${!names[@]}"; do
  scene "$kind" "$kind.txt"
  slabcast cast "${options[@]}" --query count -o whole.raw
  tr -d '\0' <whole.raw >hits
  [[ -s hits ]] || fail "$kind: nothing is hit"
  scene "$kind" named.csv
  for ((turn = 0; turn < 4; turn++)); do
    named "${kind/ranges/rays}" $((seed + turn)) <"$kind.txt" >named.csv
    slabcast cast "${options[@]}" --query count -o named.raw || fail "$kind: $(head -n 1 named.csv)"
    cmp -s whole.raw named.raw || fail "$kind: other answers by $(head -n 1 named.csv)"
  done
done

# Ranges and the last row of a map may be absent; so may one end of a range, and z in 2D.
for kind in rays transforms; do
  scene "$kind" "$kind.txt"
  slabcast cast "${options[@]}" --query count -o whole.raw
  named "$kind" "$seed" free <"$kind.txt" >named.csv
  scene "$kind" named.csv
  slabcast cast "${options[@]}" --query count -o named.raw
  expect_same whole.raw named.raw
done
awk '{ print $1, $2, $5, $6 }' rays.txt >flat.txt
awk '{ print $1, $2, $4, $5 }' boxes.txt >flat_boxes.txt
slabcast cast --boxes flat_boxes.txt --rays flat.txt --query count -o whole.raw
{ echo dy,oy,dx,ox && awk -v OFS=, '{ print $4, $2, $3, $1 }' flat.txt; } >flat.csv
{ echo ymax,xmin,xmax,ymin && awk -v OFS=, '{ print $4, $1, $3, $2 }' flat_boxes.txt; } >flat_boxes.csv
slabcast cast --boxes flat_boxes.csv --rays flat.csv --query count -o named.raw
expect_same whole.raw named.raw
{ echo tmax,oy,ox,dx,dy && awk -v OFS=, '{ print 1 + NR % 3, $2, $1, $3, $4 }' flat.txt; } >flat.csv
awk '{ print $1, $2, 0, 0, $3, $4, 0, 1 + NR % 3 }' flat.txt >ended.txt
slabcast cast --boxes boxes.txt --rays ended.txt --query count -o whole.raw
slabcast cast --boxes boxes.txt --rays flat.csv --query count -o named.raw
expect_same whole.raw named.raw

# From a pipe, in shards, and with lines before the names: comments, empty lines, names in a comment.
named rays "$seed" <ranges.txt | sed '1s/^/# by hand\n\n/' >named.csv
slabcast cast --boxes boxes.txt --rays ranges.txt --shard 1/3 -o whole.raw
slabcast cast --boxes boxes.txt --rays - --shard 1/3 -o named.raw <named.csv
expect_same whole.raw named.raw
{ echo '# dz dy dx oz oy ox' && awk '{ print $7, $6, $5, $3, $2, $1 }' rays.txt; } >named.txt
slabcast cast --boxes boxes.txt --rays rays.txt -o whole.raw
slabcast cast --boxes boxes.txt --rays named.txt -o named.raw
expect_same whole.raw named.raw

# ---- refusals ----

for kind in "${!names[@]}"; do
  mapfile -t own < <(tr -s ' \n' '\n' <<<"${names[$kind]}" | grep -v : | cut -d '|' -f 1)
  scene "$kind" named.csv
  for ((turn = 0; turn < 3; turn++)); do
    one=${own[RANDOM % ${#own[@]}]}
    named "$kind" $((seed + turn)) absent "$one" <"$kind.txt" >named.csv
    expect_refusal 1 "named.csv: line 1: the column $one is missing" slabcast cast "${options[@]}"
    named "$kind" $((seed + turn)) twice "$one" <"$kind.txt" >named.csv
    expect_refusal 1 "named.csv: line 1: the column $one is there twice" slabcast cast "${options[@]}"
    named "$kind" $((seed + turn)) unknown "$one" <"$kind.txt" >named.csv
    expect_refusal 1 " have no column \"" slabcast cast "${options[@]}"
    expect_stderr "named.csv: line 1: " "they have ${own[0]} ${own[1]} "
  done
done
scene rays bad.csv
# refused LINES TEXT: as rays.
refused() {
  printf '%s\n' "$1" >bad.csv
  expect_refusal 1 "bad.csv: $2" slabcast cast "${options[@]}"
}
refused $'ox,oy,oz,dx,dy,dz,mask\n1,2,3,4,5,6,7' 'line 1: rays have no column "mask"'
refused $'ox,oy,oz,dx,dy,dz\n1,2,3,4,5,6\n1,2,3,4,5' 'line 3 holds 5 numbers, the names of columns are 6'
refused $'ox,oy,oz,dx,dy,dz\n1,2,3,4,5,6,7,8' 'line 2 holds 8 numbers, the names of columns are 6'
refused $'ox,oy,oz,dx,dy\n1,2,3,4,5' 'line 1: the column dz is missing'
refused $'ox;oy;oz;dx;dy;dz\n1,5;2;3;4;5;6' 'line 2 has both , and ; between its numbers'
refused $'nx,ny,nz,d\n1,2,3,4' 'line 1: rays have no column "nx"'
printf 'nx,ny,nz,d\n1,2,3,4\n' >bad.csv # whose sign is not known
expect_refusal 1 'bad.csv: line 1: planes have no column "d", they have nx ny nz offset' slabcast info --planes bad.csv

refused $'ox [m],oy [mm],oz [m],dx,dy,dz\n1,2,3,4,5,6' 'line 1: the column oy is in another unit'
refused $'ox [s],oy [s],oz [s],dx,dy,dz\n1,2,3,4,5,6' 'line 1: rays have no column "ox [s]"'
refused $'ox,oy,oz,dx,dy,dz\n1,2,3,4,,6' 'line 2: a number is missing before a ","'
refused $'1;2;3;4;5;6;' 'line 1: a number is missing behind a ";"'
refused $'"1","2","3","4","5",6"' 'line 1: "6"" is not a number'
refused $'ox,oy,oz,dx,dy,dz\r1,2,3,4,5,6\r' 'line 1 has a carriage return within'
refused $'1 2 1 0\r1 2 1 0' 'line 1 has a carriage return within' # and not one ray of eight numbers
# Decimals with commas, in each number or in one, and not rays of other numbers.
for words in "1,5 2,5 1,0 0,5" "1,5 2 1 0" "1 2 3 4 5 6,5" $'1\t2\t1\t0,5' "-1,5 2 3 4 5 6 # a ray"; do
  refused "$words" 'line 1 has blanks and commas between its numbers; a decimal has a point'
done

# ---- what spreadsheets and others write ----

ways=('0 0 9 0.5 0 -1' '0,0,9,0.5,0,-1' '0, 0, 9, 0.5, 0, -1' '0 0 9, 0.5 0 -1' '0,0,9 0.5,0,-1' '"0","0","9","0.5","0","-1"'
  $'sep=;\n0;0;9;0.5;0;-1' $'sep=,\r\nox [m],oy [m],oz [m],dx,dy,dz\r\n0,0,9,0.5,0,-1\r' $'0 0 9 0.5 0 -1\r\r'
  $'"Origin X (mm)","Origin Y (mm)","Origin Z (mm)","Dir X","Dir Y","Dir Z"\n"0","0","9",0.5,0,-1'
  $'dx\tdy\tdz\tox [ft]\toy [ft]\toz [ft]\n0.5\t0\t-1\t0\t0\t9' $'ox (in);oy (in);oz (in);dx;dy;dz;t_max (in)\n0;0;9;0.5;0;-1;inf')
echo -9 -9 0 9 9 5 >box.txt
for way in "${ways[@]}"; do
  printf '%s\n' "$way" >way.csv
  expect_exit 0 slabcast cast --boxes box.txt --rays way.csv --query distance -o way.txt
  expect_text 4 way.txt
done

# Results are no rays, of any query.
for query in closest distance any count all interval nearest; do
  for points in "" --points; do
    [[ -n $points && $query =~ ^(any|count)$ ]] && continue
    slabcast cast --boxes boxes.txt --rays rays.txt --query "$query" ${points:+"$points"} -o bad.csv
    first=$(head -n 1 bad.csv)
    if [[ $first == *,* ]]; then
      expect_refusal 1 "bad.csv: line 1: rays have no column \"${first%%,*}\"" slabcast cast "${options[@]}"
    else
      expect_refusal 1 "bad.csv: line 1: \"$first\" is not a number" slabcast cast "${options[@]}"
    fi
  done
done

# ---- marks of byte order ----

printf 'ox,oy,oz,dx,dy,dz\r\n1,1,9,0,0,-1\r\n\r\n2;2;9;0;0;-1\r\n' >plain.csv
echo 0 0 0 5 5 5 >box.txt
slabcast cast --boxes box.txt --rays plain.csv --query distance -o - --out csv >distances
expect_text $'t\n4\n4' distances
for text in plain.csv rays.txt boxes.txt; do
  { printf '\xef\xbb\xbf' && cat "$text"; } >"marked.${text##*.}"
  if [[ $text == boxes.txt ]]; then files=(--boxes marked.txt --rays rays.txt); else files=(--boxes boxes.txt --rays "marked.${text##*.}"); fi
  if [[ $text == boxes.txt ]]; then plain=(--boxes boxes.txt --rays rays.txt); else plain=(--boxes boxes.txt --rays "$text"); fi
  slabcast cast "${plain[@]}" -o whole.raw
  slabcast cast "${files[@]}" -o named.raw
  expect_same whole.raw named.raw
done
for encoding in UTF-16LE UTF-16BE UTF-32LE; do
  { printf '\xef\xbb\xbf' && cat plain.csv; } | iconv -f UTF-8 -t $encoding >bad.csv
  expect_refusal 1 "bad.csv: the text is in UTF-16 or UTF-32" slabcast cast "${options[@]}"
  expect_stderr "iconv -f UTF-16 -t UTF-8"
done
# Packed files: of text, of arrays, of nothing; archives as numpy.savez writes them.
slabcast rays random --count 3 -o packed.npy
for file in plain.csv packed.npy rays.txt /dev/null; do
  gzip -c <"$file" >bad.csv
  expect_refusal 1 "bad.csv: it is packed by gzip; a pipe unpacks it" slabcast cast "${options[@]}"
  expect_refusal 1 "bad.csv: rejected: it is packed by gzip; a pipe unpacks it" slabcast info --mesh bad.csv
done
python3 -m zipfile -c bad.npz packed.npy
expect_refusal 1 "bad.npz: it is an archive, as .zip and .npz are" slabcast cast --boxes boxes.txt --rays bad.npz -o hits.npy
iconv -f UTF-8 -t UTF-16LE plain.csv >bad.csv
expect_refusal 1 "bad.csv: line 1 holds a NUL byte" slabcast cast "${options[@]}"
