#!/usr/bin/env bash
# outputs.sh: places that cannot be written to, full ones and files past a limit: code 1, the name and the reason, nothing
# partial, and what was there before stays.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" || exit 1
scene=(--builtin boxes:3)
slabcast rays random --count 300000 -o rays.npy
cast=(cast "${scene[@]}" --rays rays.npy)
expect_exit 0 slabcast "${cast[@]}" -o hits.npy
cp hits.npy before.npy
mkdir folder

# Each command that writes a file, up to its -o.
writers=("${cast[*]}" "${cast[*]} --query all" "rays random" "render ${scene[*]} --size 16x9" "demo --size 16x9" "join hits.npy")
for writer in "${writers[@]}"; do
  read -ra command <<<"$writer"
  expect_refusal 1 "cannot write nowhere/out: No such file or directory" slabcast "${command[@]}" -o nowhere/out
  expect_refusal 1 "cannot write folder: Is a directory" slabcast "${command[@]}" -o folder
  expect_refusal 1 "cannot write rays.npy/out: Not a directory" slabcast "${command[@]}" -o rays.npy/out
  expect_refusal 1 "cannot write $(printf 'a%.0s' {1..300})" slabcast "${command[@]}" -o "$(printf 'a%.0s' {1..300})"
done
expect_exit 1 slabcast "${cast[@]}" --check --json nowhere/summary.json
expect_stderr "cannot write nowhere/summary.json: No such file or directory"

# ---- full: /dev/full, named and as stdout ----
if [[ -c /dev/full ]]; then
  for writer in "${cast[*]}" "${cast[*]} --query all --out csv" "rays random" "render ${scene[*]} --size 16x9" "demo --size 16x9" "join hits.npy"; do
    read -ra command <<<"$writer"
    expect_exit 1 slabcast "${command[@]}" -o /dev/full
    expect_stderr "cannot write /dev/full: No space left on device"
  done
  expect_exit 1 slabcast "${cast[@]}" --json /dev/full
  expect_stderr "cannot write /dev/full: No space left on device"
  to_full() { slabcast "$@" >/dev/full; }
  for writer in "--help" "devices" "devices --json" "info ${scene[*]}" "info ${scene[*]} --json" "rays random" "${cast[*]} -o -" \
    "cast --help"; do
    read -ra command <<<"$writer"
    expect_exit 1 to_full "${command[@]}"
    expect_stderr "standard output: No space left on device"
  done
fi

# ---- a reader that has gone away: the end of others, by SIGPIPE and without a word, and no part is left ----
for writer in "--help" "cast --help" "devices" "devices --json" "info ${scene[*]}" "info ${scene[*]} --json" "rays random" \
  "${cast[*]} -o -" "${cast[*]} -o - --out csv" "${cast[*]} -o hits.npy --json -" "verify --rays 1 --group closest"; do
  read -ra command <<<"$writer"
  expect_exit 141 to_nobody default "$SLABCAST" "${command[@]}"
  [[ ! -s err ]] || fail "\"$writer\" to nobody says: $(cat err)"
  expect_exit 1 to_nobody ignore "$SLABCAST" "${command[@]}"
  expect_stderr "standard output: Broken pipe"
done

# ---- a limit on the size of files: the old result stays ----
# It lets the driver's compiler write its kernels, but not 300,000 rows of 32 bytes.
limited() { (ulimit -f 8000 && exec "$SLABCAST" "$@"); }
expect_refusal 1 "cannot write hits.npy: File too large" limited "${cast[@]}" -o hits.npy
expect_same hits.npy before.npy
[[ ! -e hits.npy.part ]] || fail "hits.npy.part is left"
expect_refusal 1 "cannot write new.npy: File too large" limited "${cast[@]}" -o new.npy
expect_refusal 1 "cannot write rays2.npy: File too large" limited rays random --count 300000 -o rays2.npy
expect_refusal 1 "cannot write whole.npy: File too large" limited join hits.npy -o whole.npy
expect_no new.npy rays2.npy whole.npy

# ---- where nobody may write (root may) ----
if ((EUID != 0)); then
  chmod a-w folder
  expect_refusal 1 "cannot write folder/out.npy: Permission denied" slabcast "${cast[@]}" -o folder/out.npy
fi
