#!/usr/bin/env bash
# Damaged mesh files through the importer's child process.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

status=0
result=$("$PROVE_BIN/damaged_meshes" tests/fuzz/meshes "$(scaled 100000)" "$PROVE_SEED" | tee >(cat >&2) | tail -n 1) || status=$?
[[ $result == *" 0 lost"* ]] || status=1
row "damaged OBJ, PLY, OFF, STL, glTF and GLB files through the importer's child" "1e5, read or rejected" "$result"
exit "$status"
