#!/usr/bin/env bash
# rays.sh: the sets of rays: as many as asked, the same bytes for the same options, framed by the scene; and the way
# they are meant to be used, as a pipe into cast.
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
