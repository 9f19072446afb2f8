#!/usr/bin/env bash
# python.sh STEP BUILD [OPTION...]: the Python package, with kernels that BUILD has compiled.
#
#   package   an sdist of this tree, a wheel of that, repaired as one puts it up: its name, what is in it, its size; and
#             the example by a bare Python with nothing but numpy, where no OpenCL is, and on the cards of the stand-in for
#             NVIDIA's driver; the sdist where no clang is
#   tests     python/tests on that wheel, beside trimesh and pyopencl; the bench of worlds without its peers; and arrays
#             and kernels on a card, on the stand-ins for NVIDIA's driver and compiler that BUILD has, at once and with
#             streams that run late and in any order
#   types     mypy --strict on the package and its examples; ruff on all that is Python there, and its format; hosted CI's
#             files against the schema of such
#   pictures  docs/examples.py on a new wheel: draws those of its arguments, else all
#   bench_python, bench_worlds_python
#             bench/python.py on a new wheel, with its options, beside Open3D, and trimesh with embreex; bench/worlds.py
#             beside MuJoCo and Warp, on frames of BUILD/bin/bench_worlds
#
# `package` comes before tests and types. Packages come from PyPI into BUILD/python; where they do not, 77 skips
# all.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
step=$1
build=$(realpath "$2")
here=$build/python
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PYTHONDONTWRITEBYTECODE=1

fail() {
  echo "python: $*" >&2
  exit 1
}

# fetched COMMAND...: of pip; skips where it fails.
fetched() {
  "$@" >"$here/log" 2>&1 && return
  tail -n 5 "$here/log" >&2
  echo "python: skipped, since this failed: $*" >&2
  exit 77
}

from_cache() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }

# fill VENV REQUIREMENTS: makes it anew where they have changed.
fill() {
  cmp -s "$2" "$1/filled" && return
  rm -rf "$1"
  fetched python3 -m venv "$1"
  fetched "$1/bin/pip" install --no-compile -r "$2"
  cp "$2" "$1/filled"
}

package() {
  local wheel
  mkdir -p "$here"
  rm -rf "$here"/{sdist,raw,dist,bare,loader,unclanged}
  fill "$here/tools" "$root/python/tests/requirements.txt"
  "$here/tools/bin/python" -m build -q --no-isolation --sdist --outdir "$here/sdist" "$root"
  "$here/tools/bin/pip" wheel -q --no-deps --no-build-isolation -w "$here/raw" "$here"/sdist/*.tar.gz \
    -C cmake.define.SLABCAST_NATIVE="$(from_cache SLABCAST_NATIVE)" \
    -C cmake.define.SLABCAST_NATIVE_OBJECTS="$build/native"
  PATH=$here/tools/bin:$PATH "$here/tools/bin/auditwheel" repair -w "$here/dist" "$here"/raw/*.whl >"$here/log" 2>&1 ||
    fail "auditwheel: $(<"$here/log")"
  wheel=$(echo "$here"/dist/*.whl)
  [[ $wheel =~ -py3-none-manylinux_2_([0-9]+)_ ]] || fail "the wheel is called $wheel"
  ((BASH_REMATCH[1] <= 34)) || fail "the wheel needs glibc 2.${BASH_REMATCH[1]}"
  "$root/tools/wheels.py" content "$wheel" || exit 1
  bare "$wheel"
  carded
  without_clang
}

# Where PATH has no clang, an sdist requires the wheel of one; where it does not get that, it fails, and makes no slow
# library.
without_clang() {
  local place program sdist asked
  mkdir "$here/unclanged"
  for place in /usr/local/bin /usr/bin; do
    for program in "$place"/*; do
      [[ $program == */*clang* ]] || ln -sf "$program" "$here/unclanged"
    done
  done
  sdist=$(echo "$here"/sdist/*.tar.gz)
  asked=$(cd "$root" && PATH=$here/unclanged PYTHONPATH=python "$here/tools/bin/python" -c '
import building
print(building.get_requires_for_build_wheel(), building.get_requires_for_build_wheel({"cmake.define.SLABCAST_NATIVE": "c11"}))')
  [[ $asked =~ ^\[.*ziglang==.*\]\ \[[^z]*\]$ ]] || fail "a build without clang asks for $asked"
  PATH=$here/unclanged "$here/tools/bin/pip" wheel --no-deps --no-build-isolation -w "$here/raw" "$sdist" >"$here/log" 2>&1 &&
    fail "a wheel was built without a compiler of vector kernels"
  grep -q 'Neither clang 14 or later' "$here/log" || fail "a build without clang says $(<"$here/log")"
}

# A user's installation of the wheel: no compiler, no paths of this machine, no OpenCL.
bare() {
  python3 -m venv "$here/bare"
  fetched "$here/bare/bin/pip" install --no-compile "$1"
  mkdir "$here/loader"
  : >"$here/loader/libOpenCL.so.1"
  : >"$here/loader/libOpenCL.so"
  (cd / && env -i LD_LIBRARY_PATH="$here/loader" "$here/bare/bin/python" -I "$root/python/examples/closest.py") |
    diff - "$root/python/examples/closest.txt" || fail "the example says something else"
  "$here/bare/bin/pip" list --format freeze | sed '/^pip=/d; /^setuptools=/d; s/=.*//' | sort >"$here/held"
  [[ $(xargs <"$here/held") == "numpy slabcast" ]] || fail "the wheel brought more than numpy: $(xargs <"$here/held")"
}

# The same where NVIDIA's driver is: the wheel has the kernels. The second card is the second card.
carded() {
  local standin=$build/tests/cuda/standin python=(env -i SLABCAST_BACKENDS=cuda SLAB_CUDA_CARDS=2)
  [[ -e $standin/libcuda.so.1 ]] || return 0
  python+=(LD_LIBRARY_PATH="$here/loader:$standin" "$here/bare/bin/python" -I)
  sed 's/Scene("cpu")/Scene("cuda:1")/' "$root/python/examples/closest.py" | (cd / && "${python[@]}" -) |
    diff - "$root/python/examples/closest.txt" || fail "on a card the example says something else"
  (cd / && "${python[@]}" -c '
import slabcast
devices = slabcast.devices()
assert [device.platform for device in devices] == ["CUDA", "CUDA"], devices
for word in ("cuda", "cuda:0", "cuda:1", "1", "gpu"):
    assert slabcast.Scene(word).device.platform == "CUDA", word
try:
    slabcast.Scene("cuda:2").commit()
except slabcast.NoDevice as error:
    assert "cuda:2" in str(error), error
else:
    raise AssertionError("there is a third card")') || fail "cards are not chosen as they are named"
}

# Skips what `package` had to skip.
has_package() {
  compgen -G "$here/dist/*.whl" >/dev/null || { echo "python: python_package made no wheel" >&2 && exit 77; }
}

install_wheel() { "$here/tools/bin/pip" install -q --no-deps --force-reinstall --no-compile "$here"/dist/*.whl; }

tests() {
  local late
  has_package
  install_wheel
  cd "$root"
  SLABCAST_PROGRAM=$build/bin/slabcast ask --durations=5
  if [[ -x $build/bin/bench_worlds ]]; then worlds_alone; fi
  [[ -e $build/tests/cuda/standin/libcuda.so.1 ]] || return 0
  for late in 0 7; do
    LD_LIBRARY_PATH=$build/tests/cuda/nvrtc:$build/tests/cuda/standin:$build SLABCAST_BACKENDS=native,cuda \
      SLAB_CUDA_CARDS=2 SLAB_CUDA_LATE=$late ask python/tests/test_card.py python/tests/test_card_program.py
  done
}

# bench/worlds.py without peers: frames as bench_worlds made them, one thread and two alike, and rows for its CSV.
worlds_alone() {
  local said
  rm -f "$here"/worlds*.csv
  "$build/bin/bench_worlds" --rounds 1 --csv "$here/worlds.csv" 9x5x7 >"$here/log" || fail "$(<"$here/log")"
  said=$("$here/tools/bin/python" bench/worlds.py "$build/bin/bench_worlds" --rounds 1 --threads 2 \
    --csv "$here/worlds_python.csv" 9x5x7 33x10x16) || fail "bench/worlds.py: $said"
  (($(grep -c '^Slabcast: Python .* 0$' <<<"$said") == 4)) || fail "bench/worlds.py: $said"
  grep -q 'warp_groups is not measured: ' <<<"$said" || fail "bench/worlds.py says nothing of what is missing: $said"
  head -qn 1 "$here/worlds.csv" "$here/worlds_python.csv" | uniq | wc -l | grep -qx 1 || fail "CSVs of worlds differ"
  [[ $(awk -F, '{ print NF }' "$here"/worlds*.csv | uniq) == 18 ]] || fail "rows of worlds lack fields"
}

# The installed package, by pytest. Where all is skipped, that is a failure.
ask() { "$here/tools/bin/python" -m pytest -q -p no:cacheprovider -o console_output_style=classic "$@"; }

types() {
  has_package
  cd "$root"
  "$here/tools/bin/mypy" --cache-dir "$here/mypy"
  "$here/tools/bin/ruff" check -q --no-cache
  "$here/tools/bin/ruff" format -q --no-cache --check
  "$here/tools/bin/check-jsonschema" --builtin-schema vendor.github-workflows .github/workflows/*.yml
}

pictures() {
  package
  install_wheel
  "$here/tools/bin/python" "$root/docs/examples.py" "$build/bin" "$@"
}

# beside NAME [OPTION...]: bench/NAME.py on a new wheel, beside what bench/NAME.txt names.
beside() {
  local opponents=$here/opponents_$1
  package
  fill "$opponents" "$root/bench/$1.txt"
  "$opponents/bin/pip" install -q --no-deps --force-reinstall "$here"/dist/*.whl
  "$opponents/bin/python" "$root/bench/$1.py" "${@:2}"
}

bench_python() { beside python "$@"; }
bench_worlds_python() { beside worlds "$build/bin/bench_worlds" "$@"; }

case $step in
  package | tests | types | pictures | bench_python | bench_worlds_python) "$step" "${@:3}" ;;
  *) fail "there is no step $step" ;;
esac
