#!/usr/bin/env bash
# rays.sh: the sets of rays: the requested number, the same bytes for the same options, framed by the scene. They are
# also used as they are meant to be, as a pipe into cast.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
scene=(--builtin city:50)

# rows FILE: of an npy array, from its header.
rows() { head -c 200 "$1" | grep -aoE "'shape': \([0-9]+" | grep -oE '[0-9]+$'; }

for kind in "camera --size 64x36" "lidar --size 96x24" "hemisphere --count 2304" "random --count 2304"; do
  # shellcheck disable=SC2086 # several words
  {
    slabcast rays $kind -o a.npy
    slabcast rays $kind -o b.npy
    expect_same a.npy b.npy
    [[ $(rows a.npy) == 2304 ]] || fail "$kind: $(rows a.npy) rays"
    [[ $(npy_data a.npy | wc -c) == $((2304 * 32)) ]] || fail "$kind: another size than its header says"
    slabcast rays $kind --out text -o - | awk 'NF != 8 || $4 != 0 || $8 != "inf" || $5 == 0 && $6 == 0 && $7 == 0 { exit 1 }' ||
      fail "$kind: rays without range or direction"
    slabcast rays $kind "${scene[@]}" -o framed.npy
    expect_other a.npy framed.npy
  }
done
for kind in hemisphere random; do
  slabcast rays "$kind" --seed 0 -o a.npy
  slabcast rays "$kind" -o b.npy
  slabcast rays "$kind" --seed 1 -o c.npy
  expect_same a.npy b.npy
  expect_other a.npy c.npy
  [[ $(rows a.npy) == 10000 ]] || fail "$kind: $(rows a.npy) rays by default"
done

# A camera: the first ray is the upper left pixel's; --up, --fov, --from and --to turn it.
slabcast rays camera --from 0,0,5 --to 0,0,0 --fov 90 --size 2x2 --out text >view.txt
expect_text '0 0 5 0 -0.5 0.5 -1 inf
0 0 5 0 0.5 0.5 -1 inf
0 0 5 0 -0.5 -0.5 -1 inf
0 0 5 0 0.5 -0.5 -1 inf' view.txt
slabcast rays camera --from 0,0,5 --to 0,0,0 --up 0,-1,0 --fov 90 --size 2x2 --out text | sed -n 1p >view.txt
expect_text '0 0 5 0 0.5 -0.5 -1 inf' view.txt
slabcast rays lidar --from 1,2,3 --size 4x1 --out text | cut -d ' ' -f 1-3 | sort -u >view.txt
expect_text '1 2 3' view.txt
slabcast rays hemisphere --from 0,0,0 --to 0,0,9 --count 500 --out text | awk '$7 < 0 { exit 1 }' ||
  fail "hemisphere: rays go below it"

# Camera into cast: framed by the scene, most rays hit it, and all are right.
camera_into_cast() {
  slabcast rays camera "$@" --size 64x36 | slabcast cast "$@" --rays - --check --query any -o any.txt
}
for source in city:50 torus:500 spheres:50; do
  expect_exit 0 camera_into_cast --builtin "$source"
  expect_stderr "2304 rays checked, 0 mismatches"
  (($(grep -c 1 any.txt) > 100)) || fail "$source: only $(grep -c 1 any.txt) of 2304 camera rays hit"
done

# The default camera looks at the middle of a scene of any size at any place, and sees it.
#
# framed X,Y,Z SIZE SOURCE...: the middle and the size of its bounds. The ray's bits are read, as text rounds them.
framed() {
  local middle=$1 size=$2
  shift 2
  slabcast rays camera "$@" --size 1x1 --out raw | od -An -v -w32 -t u4 >view.txt
  awk -v middle="$middle" -v size="$size" '
    function real(bits) {
      return (bits >= 2 ^ 31 ? -1 : 1) * (1 + bits % 2 ^ 23 / 2 ^ 23) * 2 ^ (int(bits % 2 ^ 31 / 2 ^ 23) - 127)
    }
    {
      split(middle, m, ",")
      for (i = 1; i <= 3; i++) {
        view[i] = m[i] - real($i)
        far += view[i] ^ 2
        long += real($(4 + i)) ^ 2
      }
      for (i = 1; i <= 3; i++) off += (view[i] / sqrt(far) - real($(4 + i)) / sqrt(long)) ^ 2
      exit !(sqrt(far) > size / 2 && sqrt(far) < 9 * size && sqrt(off) < 0.1 * 0.0174533)
    }' view.txt || fail "$*: not seen in the middle: $(slabcast rays camera "$@" --size 1x1 --out text)"
  slabcast rays camera "$@" --size 64x36 | slabcast cast "$@" --rays - --query any -o any.txt
  (($(grep -c 1 any.txt) > 230)) || fail "$*: only $(grep -c 1 any.txt) of 2304 camera rays hit"
}
for globe in "0 0 0 6.4e6" "1e7 0 0 6.4e6" "1e7 1e7 1e7 6.4e6" "0 0 0 1e-6" "0 0 0 1e17"; do
  printf '%s\n' "$globe" >globe.txt
  read -r x y z radius <globe.txt
  framed "$x,$y,$z" "$radius" --spheres globe.txt
done
echo "1e6 1e6 0 1000001 1000001 1" >cube.txt
framed 1000000.5,1000000.5,0.5 1 --boxes cube.txt
echo "512345.5 5403210.5 0 512356 5403218.5 3" >house.txt
framed 512350.75,5403214.5,1.5 10 --boxes house.txt
echo "1e6 1e6 0 1000001.0625 1000001.0625 1" >cube.txt
framed 1000000.53125,1000000.53125,0.5 1 --boxes cube.txt
# Far from 0 a view one step of float long is still the view, and an eye in the middle looks as it does at 0.
slabcast rays camera --boxes cube.txt --from 1e6,1e6,0 --to 1000000.0625,1e6,0 --size 1x1 --out text >view.txt
expect_text '1000000 1000000 0 0 1 0 0 inf' view.txt
slabcast rays camera --boxes house.txt --from 512350.75,5403214.5,1.5 --size 1x1 --out text |
  cut -d ' ' -f 5-7 >view.txt
slabcast rays camera --from 0,0,0 --size 1x1 --out text | cut -d ' ' -f 5-7 >origin.txt
expect_same origin.txt view.txt

# Where no ray would be valid, nothing is made.
for kind in camera lidar hemisphere random; do
  expect_refusal 1 "no ray is valid: the eye 1.00000002e+30,0,-5 is beyond 2^60" \
    slabcast rays "$kind" --from 1e30,0,-5 -o far.npy
  expect_no far.npy
done
slabcast rays camera --from 1152921504606846976,0,0 --size 1x1 -o edge.npy
echo "0 0 0 1e18" >globe.txt
expect_refusal 1 "is beyond 2^60" slabcast rays camera --spheres globe.txt -o far.npy
expect_refusal 1 "is beyond 2^60" slabcast render --spheres globe.txt -o far.png
expect_refusal 1 "the eye 0,0,1.00000002e+30 is beyond 2^60" \
  slabcast render --spheres globe.txt --from 0,0,1e30 -o far.png
expect_no far.npy far.png
