#!/usr/bin/env bash
# Windows and 64-bit Arm, emulated: every test that needs no OpenCL, and the bits of answers (tests/platforms/run.sh).
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
for system in arm windows; do tests/platforms/run.sh "$system" whole || failed=1; done
echo "runtime: $(qemu-aarch64 --version | head -n 1), $(/usr/lib/wine/wine64 --version)"
finish
