#!/usr/bin/env bash
# The sets of tests/fixtures/verdict_sets.c before the oracle, which judges every ray. The test fails itself where more is
# undecided than a set may have.
# shellcheck source=tests/prove/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

sets=45 queries=6
status=0
SLABCAST_TEST_SEED=$PROVE_SEED SLABCAST_TEST_RAYS=$(scaled $((10000000 / sets / queries + 1))) \
  "$PROVE_BIN/test_verdict" >"$PROVE_WORK/out" 2>&1 || status=$?
cat "$PROVE_WORK/out" >&2
# "NAME QUERY N rays, H % hit, undecided K (S %)": of the sets with needles or far meshes, which have caps of their own,
# and of the others.
summary=$(awk '/ rays, .* hit, undecided / {
  for (i = 2; i < NF; i++) { if ($(i + 1) == "rays,") n = $i; if ($i == "undecided") k = $(i + 1) }
  rays += n; undecided += k; share = 100 * k / n
  if ($0 ~ /needle/) { if (share > worst_needle) worst_needle = share } else if (share > worst) worst = share
} END { printf "%.0f verdicts, %.0f undecided (in the error band): at most %.4f %% of a set, of needles of aspect 1e-6, which have a limit of their own, %.1f %%", rays, undecided, worst, worst_needle }' "$PROVE_WORK/out")
wrong=$(grep -c '^\[  FAILED  \]' "$PROVE_WORK/out" || true)
row "verdicts outside the oracle's error band that disagree" "0 of 1e7, band <= 0.1 % on random sets, 0 on small dyadic ones" \
  "$summary; $wrong sets with a wrong answer or too wide a band"
exit "$status"
