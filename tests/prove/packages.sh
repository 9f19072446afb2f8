#!/usr/bin/env bash
# The Dockerfile in a Debian 12 and a Debian 13: its first stage builds the packages in one that has nothing, its second
# installs them in another. There the program casts, README is followed, and strangers' programs are built and run,
# without any OpenCL driver; then the packages are purged. Needs root: packages are installed.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# stage N: the RUN lines of the Dockerfile's Nth stage, as a script.
stage() {
  awk -v n="$1" '
    /^FROM / { stage++ }
    sub(/^RUN /, "") { run = 1 }
    run && stage == n
    !/\\$/ { run = 0 }' Dockerfile
}

# inside TARGET FIGURE COMMAND [DETAIL]: the row of the command's result; DETAIL is a pattern whose last line in the
# output is shown.
inside() {
  local status=0 detail
  in_debian "$3" || status=$?
  ((status == 0)) || failed=1
  detail=$(grep -E "${4:-^$}" "$log" | tail -n 1 || true)
  row "$2, Debian $debian" "$1" "exit code $status, $seconds s${detail:+; $detail}"
}

# No driver, and nothing of ours but the packages; the loader is there, since `slabcast bench` links it.
cast='test ! -e /etc/OpenCL/vendors; mkdir /srv/trial; cd /srv/trial; slabcast --version; slabcast devices
  slabcast demo
  slabcast rays camera --builtin city:400 --size 160x120 -o rays.npy
  slabcast cast --builtin city:400 --rays rays.npy -o hits.npy --check'
ranks='cd /srv/trial
  mpirun --allow-run-as-root --map-by :OVERSUBSCRIBE -n 2 \
    slabcast-mpi cast --builtin city:400 --rays rays.npy -o ranks.npy
  cmp hits.npy ranks.npy && echo "the same bytes"'
# Compiled when it was installed, and known as installed.
python='python3 python/examples/closest.py | diff - python/examples/closest.txt
  python3 -c "import importlib.metadata; print(importlib.metadata.version(\"slabcast\"))"
  ls /usr/lib/python3/dist-packages/slabcast/__pycache__/_scene.*.pyc'
install='apt-get install -q -y --no-install-recommends'

for debian in 12 13; do
  name=system
  if ((debian == 12)); then name=system12; fi
  debian_begin "$name" "build$debian"
  inside "exit code 0, no errors of lintian" "./dev package in a minimal Debian" "$(stage 1)" '^lintian: '
  packages=$system/srv/slabcast/build/packages

  debian_begin "$name" "trial$debian"
  [[ ! -e $packages ]] || cp -r "$packages" "$system/srv/packages"
  inside "exit code 0" "the packages installed in another minimal Debian" "$(stage 2)" '^Setting up slabcast'
  inside "exit code 0, no answer differs" "slabcast demo, rays, cast --check there, no OpenCL driver" "$cast" 'check'
  [[ ! -e $packages ]] || cp -r "$packages" "$system/srv/packages"
  inside "exit code 0" "all packages installed" "apt-get update -q; $install /srv/packages/*.deb" '^Setting up slabcast'
  inside "the bytes of slabcast" "slabcast-mpi on two ranks" "$ranks" '^the same'
  inside "a result each" "README by shell, C and Python" "
    $install gcc libc6-dev pkg-config python3
    tests/pages.sh shell-at /usr README.md; tests/pages.sh python /usr/bin/python3 README.md" '^README'
  inside "build and run" "programs in C and C++, by pkg-config and find_package" "
    $install gcc g++ libc6-dev cmake ninja-build pkg-config
    CMAKE_GENERATOR=Ninja tests/consumers.sh strangers /usr" '^projects in '
  inside "the same lines" "Python's example by Debian's own Python" "$python"
  inside "nothing is left" "the packages purged" "apt-get purge -q -y '.*slabcast.*'
    find /usr /etc /var/lib/dpkg -name '*slabcast*' | tee left
    test ! -s left"
done
echo "runtime: the library's own kernels"
finish
