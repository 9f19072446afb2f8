#!/usr/bin/env bash
# bad_arrays.sh MAKE_NPY: arrays that do not fit their purpose are refused with the file, the place and the value, as
# rays and as primitives. No result appears.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
make_npy=$1
echo 0 0 0 1 0 0 >ray.txt
echo 1 2 3 4 5 6 7 8 9 10 11 12 >numbers

# npy FILE [TYPES DESCR SHAPE ORDER]
npy() { "$make_npy" "${2:-f}" "${3:-<f4}" "${4:-(2, 6)}" "${5:-False}" <numbers >"$1"; }

# refused TEXT CAST_OPTION...: with code 1, and nothing under the final name.
refused() {
  local text=$1
  shift
  expect_refusal 1 "$text" slabcast cast "$@" -o hits.npy --query all
  expect_no hits.npy hits.npy.offsets.npy
}
as_rays() { refused "$2" --builtin boxes:3 --rays "$1"; }
as_boxes() { refused "$2" --boxes "$1" --rays ray.txt; }
as_both() {
  as_rays "$@"
  as_boxes "$@"
}

npy good.npy
expect_exit 0 slabcast cast --boxes good.npy --rays good.npy --check

# ---- npy ----
as_both nowhere.npy "cannot read nowhere.npy: No such file or directory"
as_both . "cannot read .: Is a directory"
head -c -1 good.npy >short.npy
as_both short.npy "short.npy: truncated: shape (2, 6) of '<f4' wants 2 rows of 24 bytes, 47 bytes are there"
head -c 128 good.npy >empty.npy
as_both empty.npy "empty.npy: truncated: shape (2, 6)"
for size in 6 9 11 40 127; do
  head -c "$size" good.npy >cut.npy
  as_both cut.npy "cut.npy: not a usable npy file: it ends within the header"
done
: >nothing.npy
as_both nothing.npy "nothing.npy: not a usable npy file: it does not begin with \\x93NUMPY"
npy shape.npy f '<f4' '(12,)'
as_both shape.npy "shape.npy: shape (12,) is not two-dimensional"
npy shape.npy f '<f4' '(1, 2, 6)'
as_both shape.npy "shape.npy: shape (1, 2, 6) is not two-dimensional"
npy shape.npy f '<f4' '()'
as_both shape.npy "shape.npy: shape () is not two-dimensional"
npy shape.npy f '<f4' '(0, 17)'
as_both shape.npy "shape.npy: shape (0, 17) has 17 columns"
npy shape.npy f '<f4' '(4, 3)'
as_rays shape.npy "shape.npy: rows of 3 numbers; rays have 8 (ox oy oz t_min dx dy dz t_max), 6 (origin, direction) or 4 (in 2D)"
as_boxes shape.npy "shape.npy: rows of 3 numbers, 4 to 6 are wanted"
npy shape.npy f '<f4' '(2, 5)'
as_boxes shape.npy "shape.npy: 5 columns; boxes have 6, or 4 in 2D"
npy shape.npy f '<f4' '(1, 8)'
refused "shape.npy: rows of 8 numbers; segments have 6 (two points) or 4 (in 2D)" --builtin boxes:3 --rays shape.npy --segments
npy shape.npy f '<f4' '(9000000000000000000, 6)'
as_both shape.npy "shape.npy: "
npy shape.npy f '<f4' '(2, -6)'
as_both shape.npy "shape.npy: the npy header cannot be read: its shape is not understood"
npy type.npy u '<i4'
as_both type.npy "type.npy: dtype '<i4' is not float32 or float64"
npy type.npy f '<f2'
as_both type.npy "type.npy: dtype '<f2' is not float32 or float64"
npy type.npy f '|O'
as_both type.npy "type.npy: the npy header cannot be read: its descr is not understood"
npy type.npy F '>f4'
as_both type.npy "type.npy: dtype '>f4' is big-endian"
npy order.npy f '<f4' '(2, 6)' True
as_both order.npy "order.npy: the array is in Fortran order"
npy order.npy f '<f4' '(2, 6)' Maybe
as_both order.npy "order.npy: the npy header cannot be read: fortran_order is neither True nor False"
printf '\x93NUMPY\x04\x00' | cat - <(tail -c +9 good.npy) >version.npy
as_both version.npy "version.npy: npy version 4.0 is not known"
head -c 4000 /dev/zero | tr '\0' '\377' >ff.npy
as_both ff.npy "ff.npy: not a usable npy file"

# From a pipe the end is only seen when it comes; results so far are not taken for the whole.
head_of_rays() { head -c -1 good.npy | slabcast cast --builtin boxes:3 --rays - -o hits.npy; }
expect_refusal 1 "standard input: truncated: it ends after 23 bytes of row 1, a row has 24" head_of_rays
expect_no hits.npy

# ---- raw ----
head -c 33 /dev/zero >odd.raw
as_rays odd.raw "odd.raw: truncated: 33 bytes are not a multiple of a row's 32"
# shellcheck disable=SC2002 # the test is of a pipe
odd_pipe() { cat odd.raw | slabcast cast --builtin boxes:3 --rays - --in raw -o hits.npy; }
expect_refusal 1 "standard input: truncated: it ends after 1 byte of row 1, a row has 32" odd_pipe
expect_no hits.npy
cp good.npy good.dat
refused "good.dat: line 1" --builtin boxes:3 --rays good.dat --in text
refused "ray.txt: not a usable npy file" --builtin boxes:3 --rays ray.txt --in npy

# ---- text ----
printf '# rays\n0 0 0 1 0 0\n\n0 0 zero 1 0 0\n' >word.txt
as_both word.txt 'word.txt: line 4: "zero" is not a number'
printf '0 0 0 1 0 0\n0 0 0 1 0\n' >ragged.txt
as_both ragged.txt 'ragged.txt: line 2 holds 5 numbers, the lines before it 6'
printf '0 0 0 1 0 0,\n' >comma.txt
as_both comma.txt 'comma.txt: line 1: a number is missing behind a ","'
printf '1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n' >long.txt
as_both long.txt 'long.txt: line 1 holds more than 16 numbers'
printf '0 0 0\0 1 0 0\n' >nul.txt
as_both nul.txt 'nul.txt: line 1 holds a NUL byte'
head -c 300000 /dev/zero | tr '\0' '1' >wide.txt
as_both wide.txt 'wide.txt: line 1 is longer than'

# ---- primitives that a scene refuses: by index, with the value ----
# shape OPTION TEXT: the file's second row is refused.
shape() { refused "$2" "$1" shapes.txt --rays ray.txt; }
printf '0 0 0 1\n0 0 0 -2\n' >shapes.txt
shape --spheres "sphere 1"
expect_stderr shapes.txt -2
printf '0 0 0 1\n0 nan 0 2\n' >shapes.txt
shape --spheres "sphere 1"
expect_stderr nan
printf '1 0 0 0\n0 0 0 2\n' >shapes.txt
shape --planes "plane 1"
printf '1 0 0 0\n0 0 inf 2\n' >shapes.txt
shape --planes "plane 1"
expect_stderr inf
printf '0 0 0 1 1 1 1 0 0 0 1 0 0 0 1\n0 0 0 1 1 1 2 0 0 0 1 0 0 0 1\n' >shapes.txt
shape --obbs " 1"
expect_stderr shapes.txt
# Inverted and NaN boxes are no error; they are never hit.
printf '1 1 1 0 0 0\nnan 0 0 1 1 1\n' >shapes.txt
expect_exit 0 slabcast cast --boxes shapes.txt --rays ray.txt --query any --out text -o - --check
expect_text 0 out
