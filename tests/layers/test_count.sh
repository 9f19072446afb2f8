#!/bin/sh
# test_count.sh LAYER LEAK: the counting layer sees every kind of leak, and its absence is seen.
set -eu
layer=$1
leak=$2
run=$(dirname "$0")/run-counted.sh
failed=0

complain() {
  echo "test_count: $1" >&2
  failed=1
}

"$run" "$layer" "$leak" || complain "a program that releases everything is refused"
for kind in event "mapping event" "user event" kernel program sub-buffer buffer queue context; do
  if "$run" "$layer" "$leak" "$kind" 2>/dev/null; then complain "a leaked $kind goes unseen"; fi
done
if "$run" "$layer.missing" "$leak" 2>/dev/null; then complain "a missing layer goes unseen"; fi
if "$run" "$layer" false 2>/dev/null; then complain "a failing program goes unseen"; fi
exit "$failed"
