#!/usr/bin/env bash
# Two suites of others, written anew (docs/trust.md names their tests and ours), at their full size. They run natively,
# in every layout, build quality and traversal, every query.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# told TEST NAME: the sums of a test program's counts of rays by this name.
told() {
  awk -v name="$2" 'index($0, name ": ") == 1 { sub(/.*: /, ""); rays += $1; wrong += $3; seen = 1 }
    END { if (seen) printf "%.0f rays, %.0f wrong\n", rays, wrong; else print "the test ended early" }' "$PROVE_WORK/$1"
}

status=0
for test in divided shells; do
  SLABCAST_BACKENDS=native SLABCAST_TEST_RAYS=$(scaled 10000000) SLABCAST_TEST_SEED=$PROVE_SEED \
    "$PROVE_BIN/test_$test" >"$PROVE_WORK/$test" || status=$?
  cat "$PROVE_WORK/$test" >&2
done

echo "runtime: the processor's own kernels"
row "Vulkan's watertightness, 65,536 triangles: rays straight down that count other than 1" "1e7, 0" \
  "$(told divided "divided square, straight down")"
row "Vulkan's watertightness: slanting rays that do not go down once more than up" "1e6, 0" \
  "$(told divided "divided square, slanting")"
row "Vulkan's watertightness, 65,536 boxes: rays that do not count all boxes there" "1e7, 0" \
  "$(told divided "divided boxes, straight down")"
row "Embree's watertightness, spheres of triangles: rays inside that do not leave once" "1e7, 0" \
  "$(told shells "spheres of triangles, from inside")"
row "Embree's watertightness, planes of triangles: rays that count other than 1" "1e7, 0" \
  "$(told shells "planes of triangles, from a point")"
row "Embree's small triangles, invalid rays, masks and culling" "0" \
  "$(for name in "small triangles, from afar" "invalid rays beside others" "masks of geometries" \
    "masks of instances and geometries" "culling of a square"; do
    echo "${name%%,*}: $(told shells "$name")"
  done | paste -sd ';' | sed 's/;/; /g')"
exit "$status"
