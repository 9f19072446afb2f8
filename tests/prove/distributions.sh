#!/usr/bin/env bash
# Both commands of the README in a Debian 13 of its own, from a clean clone to their end. Needs root: packages are installed.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

base=$(tests/roots.sh get system)
system=$PROVE_WORK/system
log=$PROVE_WORK/log
cp -a "$base" "$system"
git clone -q . "$system/srv/slabcast"
# Intel's driver, fetched by this machine: that Debian may reach no registry but its own.
drivers=$(tests/roots.sh get intel)
mkdir -p "$system/root/.cache/slabcast/roots"
cp -a "$drivers" "$system/root/.cache/slabcast/roots/intel"

# inside COMMAND: by the shell of that Debian, in its clone, with nothing of what is set here.
inside() {
  tests/roots.sh enter "$system" /usr/bin/env -i ${http_proxy+"http_proxy=$http_proxy"} HOME=/root \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin bash -c "cd /srv/slabcast && $1"
}

# follow COMMAND: its log goes to stderr and to $log; sets status and minutes.
follow() {
  local begin=$SECONDS
  status=0
  inside "$1" 2>&1 | tee "$log" >&2 || status=$?
  minutes=$(awk -v s=$((SECONDS - begin)) 'BEGIN { printf "%.1f min", s / 60 }')
}

follow './dev demo'
drawn='no picture'
if [[ -s $system/srv/slabcast/slabcast-demo.png ]]; then drawn=slabcast-demo.png; fi
((status == 0)) && [[ $drawn == slabcast-demo.png ]] || failed=1
echo "runtime: $(inside 'build/release/bin/slabcast devices' | sed -n 's/^     //p' | head -n 1), Debian 13"
row "./dev demo from a clean clone, Debian 13" "exit code 0, a picture" "exit code $status, $drawn, $minutes"

follow './dev test'
((status == 0)) || failed=1
skipped=$(sed -n 's/^.*Test *#[0-9]*: \([a-z_0-9]*\) .*Skipped.*/\1/p' "$log" | xargs)
row "./dev test, Debian 13" "every test passes" \
  "exit code $status, $(grep -E 'tests passed' "$log" || echo 'the tests did not get to their end'), not run: ${skipped:-none}, $minutes"
finish
