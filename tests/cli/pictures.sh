#!/usr/bin/env bash
# pictures.sh SAME_PIXELS: render draws the scene in the requested size, the same pixels every time.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
same_pixels=$1

scene=(--builtin city:60 --builtin spheres:10)
for shade in normal depth id; do
  slabcast render "${scene[@]}" --size 256x144 --shade "$shade" -o "$shade.png"
  "$same_pixels" "$shade.png" 256x144 || fail "$shade: not a picture of 256x144"
  slabcast render "${scene[@]}" --size 256x144 --shade "$shade" -o - >again.png
  expect_same "$shade.png" again.png
done
for a in normal depth id; do
  for b in normal depth id; do
    if [[ $a != "$b" ]] && "$same_pixels" "$a.png" "$b.png" 2>/dev/null; then fail "$a and $b draw the same picture"; fi
  done
done
slabcast render "${scene[@]}" --size 256x144 -o default.png
expect_same normal.png default.png
for size in 1x1 1x9 9x1 33x7; do
  slabcast render "${scene[@]}" --size "$size" -o size.png
  "$same_pixels" size.png "$size" || fail "not a picture of $size"
done

# Looking straight at a box that fills the view: one colour, that of its front, in every pixel.
printf '%s\n' '-9 -9 -1 9 9 0' >wall.txt
slabcast render --boxes wall.txt --from 0,0,5 --to 0,0,0 --size 16x9 -o wall.png
slabcast render --builtin boxes:0 --size 16x9 -o nothing.png
slabcast render --boxes wall.txt --from 0,0,5 --to 0,0,9 --size 16x9 -o away.png
"$same_pixels" nothing.png away.png || fail "looking away is not looking at nothing"
if "$same_pixels" wall.png nothing.png 2>says; then fail "a wall is drawn as nothing"; fi
grep -qF "pixel (0, 0): 128 128 255 against 26 28 33; 144 of 144 pixels differ" says || fail "the wall's pixels: $(cat says)"

# render and the rays of the same camera see the same, with the scene in view by default or from a given place.
for view in "" "--from 6,5,9 --to 0,0,0 --up 0,1,0 --fov 50"; do
  # shellcheck disable=SC2086 # several words
  {
    slabcast rays camera "${scene[@]}" $view --size 64x36 | slabcast cast "${scene[@]}" --rays - --query any -o any.txt
    slabcast render "${scene[@]}" $view --size 64x36 --shade id -o view.png
    slabcast render --builtin boxes:0 $view --size 64x36 -o nothing.png
  }
  hits=$(grep -c 1 any.txt)
  ((hits > 300)) || fail "only $hits of 2304 camera rays hit"
  if "$same_pixels" view.png nothing.png 2>says; then fail "nothing is drawn"; fi
  grep -qF "; $hits of 2304 pixels differ" says || fail "$hits rays hit, but $(cat says)"
done
