#!/usr/bin/env bash
# Both commands of the README in a Debian 13 of its own, from a clean clone to their end. Needs root: packages are installed.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

debian_begin system
# Intel's driver, fetched by this machine: that Debian may reach no registry but its own.
drivers=$(tools/roots.sh get intel)
mkdir -p "$system/root/.cache/slabcast/roots"
cp -a "$drivers" "$system/root/.cache/slabcast/roots/intel"

# follow COMMAND: sets status and minutes.
follow() {
  status=0
  in_debian "$1" || status=$?
  minutes=$(awk -v s="$seconds" 'BEGIN { printf "%.1f min", s / 60 }')
}

follow './dev demo'
drawn='no picture'
if [[ -s $system/srv/slabcast/slabcast-demo.png ]]; then drawn=slabcast-demo.png; fi
((status == 0)) && [[ $drawn == slabcast-demo.png ]] || failed=1
row "./dev demo from a clean clone, Debian 13" "exit code 0, a picture" "exit code $status, $drawn, $minutes"
in_debian 'build/release/bin/slabcast devices' || failed=1
echo "runtime: $(sed -n 's/^     //p' "$log" | head -n 1), Debian 13"

follow './dev test'
((status == 0)) || failed=1
skipped=$(sed -n 's/^.*Test *#[0-9]*: \([a-z_0-9]*\) .*Skipped.*/\1/p' "$log" | xargs)
row "./dev test, Debian 13" "every test passes" \
  "exit code $status, $(grep -E 'tests passed' "$log" || echo 'the tests did not get to their end'), not run: ${skipped:-none}, $minutes"
finish
