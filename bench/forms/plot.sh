#!/usr/bin/env bash
# plot.sh FORMS.CSV: draws what bench_forms measured as FORMS.svg and FORMS.png beside it. Needs gnuplot.
set -euo pipefail

csv=${1:?usage: plot.sh FORMS.CSV}
script=$(dirname "${BASH_SOURCE[0]}")/plot.gp
command -v gnuplot >/dev/null || {
  echo "plot.sh: gnuplot is not installed" >&2
  exit 1
}

table=$(mktemp)
trap 'rm -f "$table"' EXIT
# Commas within quotes stay, the others become tabs.
awk -F '"' '{ for (i = 1; i <= NF; i++) { if (i % 2) gsub(",", "\t", $i); printf "%s", $i } print "" }' "$csv" >"$table"
# Device, driver, lanes, rays and commit, from the first row.
device=$(awk -F '\t' 'NR == 2 { print $2 ", OpenCL driver " $3 ", " $7 " lanes, " $9 " rays a set, commit " $5 }' "$table")

# draw TERMINAL FONT SUFFIX SCALE
draw() {
  gnuplot -e "set terminal $1 fontscale $4 size 1640,960 background rgb 'white' font '$2,10'; set output '${csv%.csv}.$3'" \
    -e "data = '$table'; device = '$device'" "$script"
}
draw pngcairo "DejaVu Sans" png 1
draw svg "DejaVu Sans, Verdana, sans-serif" svg 1.25
