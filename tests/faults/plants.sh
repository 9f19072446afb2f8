#!/usr/bin/env bash
# plants.sh [NAME...]: plants the faults of the folder plants, one at a time, in a copy of the tree. It shows that the
# check for each fault goes red and prints the reason. Without any fault all of them are green.
#
#   plants.sh --check   only that every fault can still be planted
#
# A plant is a patch; the lines before it describe the fault, "check: TEST" (of ctest) and "says: TEXT" of its output.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
plants=$root/tests/faults/plants

say() { echo "plants: $*" >&2; }

die() {
  say "$*"
  exit 1
}

# what_of PLANT WORD: the rest of that line.
what_of() { sed -n "s/^$2: //p;/^---/q" "$plants/$1.patch"; }

# apply PLANT [PATCH_OPTION...]: in the copy.
apply() {
  local name=$1
  shift
  (cd "$scratch/tree" && patch -p1 -s "$@") <"$plants/$name.patch" >"$scratch/log" 2>&1
}

copy_tree() {
  mkdir "$scratch/tree"
  (cd "$root" && tar -c --exclude=tests/mutants CMakeLists.txt CMakePresets.json cmake bench host kernels program ptx sets examples tests tools dev docs .clang-format README.md) |
    tar -x -C "$scratch/tree"
  mkdir "$scratch/tree/tests/mutants"
}

build() {
  ninja -C "$scratch/build" -j "$(nproc)" sweep flips test_hosts test_probe slabcast slabcast_faulty fuzz_text \
    sweep_pretended test_pretended \
    slab_{count,fail,flip,slow,builds,pretend,lie}_layer >"$scratch/log" 2>&1
}

# check TEST: green or not; its output goes to the log.
check() {
  ctest --test-dir "$scratch/build" -R "^$1\$" --no-tests=error --output-on-failure >"$scratch/log" 2>&1 </dev/null
}

check_green() {
  local test
  build || die "the tests do not build: $(tail "$scratch/log")"
  while read -r test; do
    check "$test" || die "$test is red without a fault: $(tail -n 30 "$scratch/log")"
  done < <(for name in "${names[@]}"; do what_of "$name" check; done | sort -u)
}

# try PLANT
try() {
  local name=$1 test says
  test=$(what_of "$name" check) says=$(what_of "$name" says)
  apply "$name" || die "$name cannot be planted: $(<"$scratch/log")"
  build || die "$name does not build: $(grep -m 3 error "$scratch/log")"
  if check "$test"; then
    say "$name: $test MISSED it"
    missed=$((missed + 1))
  elif ! grep -qF -- "$says" "$scratch/log"; then
    say "$name: $test is red and does not say \"$says\": $(grep -v '^ *$' "$scratch/log" | tail -n 20)"
    missed=$((missed + 1))
  else
    say "$name: $test is red: $says"
  fi
  apply "$name" -R || die "$name cannot be taken back: $(<"$scratch/log")"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
copy_tree
mapfile -t names < <(cd "$plants" && printf '%s\n' *.patch | sed 's/\.patch$//')
if [[ ${1:-} == --check ]]; then
  for name in "${names[@]}"; do
    [[ -n $(what_of "$name" check) && -n $(what_of "$name" says) ]] || die "$name lacks a check or what it says"
    apply "$name" --dry-run || die "$name cannot be planted: $(<"$scratch/log")"
  done
  exit
fi
((!$#)) || names=("$@")
for name in "${names[@]}"; do [[ -e $plants/$name.patch ]] || die "there is no plant $name"; done
objects=$root/build/release/native # compiled once, since no fault needs them anew
[[ -d $objects ]] || objects=''
# Nothing is missed because the machine is busy, so the checks have time.
cmake -S "$scratch/tree" -B "$scratch/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSLABCAST_TESTS=ON \
  "-DSLABCAST_NATIVE_OBJECTS=$objects" -DSLABCAST_TEST_TIMEOUT=1800 -DSLABCAST_BENCH=OFF -DSLABCAST_INSTALL=OFF >"$scratch/log" 2>&1 ||
  die "cmake failed: $(tail "$scratch/log")"
missed=0
check_green
for name in "${names[@]}"; do try "$name"; done
say "${#names[@]} faults planted, $missed missed"
((missed == 0))
