# The picture of what bench_forms measured: a row for each formulation, its speed as a bar, its errors as coloured cells.
# plot.sh sets terminal and output, data (its CSV with tabs for commas) and device (words).
set datafile separator tab
set key autotitle columnheader
set key off
unset border
unset tics
unset colorbox
set margins 0, 0, 0, 0

columns = "random_missed_ppm random_hit_ppm corner_missed_ppm corner_hit_ppm axis_missed_ppm axis_hit_ppm "
columns = columns."shared_missed_ppm shared_hit_ppm leaks_ppm doubles_ppm"

# ---- places: x in the width of a cell, y in rows ----
is_box(s) = s eq "box"
row(i, s) = -i - (is_box(s) ? 0 : 3.4)
cell(k) = 11.3 + k + 0.28 * int(k / 2)
bar_begin = 5.6
bar_length = 4.3

# ---- numbers ----
stats data using (is_box(strcol("shape")) ? column("gtests") : NaN) name "B" nooutput
stats data using (is_box(strcol("shape")) ? NaN : column("gtests")) name "T" nooutput
stats data using (column("rays")) name "R" nooutput
speed(v, s) = bar_begin + bar_length * v / (is_box(s) ? B_max : T_max)
# Rays in a million, in a few letters.
short(v) = v == 0 ? "0" : v < 1 ? "<1" : v < 1000 ? sprintf("%.0f", v) : v < 1e6 ? sprintf("%.3gk", v / 1e3) : "all"
mix(a, b, f) = int(a + (b - a) * f + 0.5)
# From pale yellow (one in a million) to red (all).
heat(f) = 65536 * mix(255, 214, f) + 256 * mix(242, 47, f) + mix(190, 39, f)
# Both boxes of a face is what closed boxes are: neither good nor bad.
colour(v, k, s) = (k == 9 && is_box(s)) ? 0xE4E4E4 : v == 0 ? 0xCFE8CF : heat(log10(v < 1 ? 1 : v) / 6.0)
is_ours(n) = n eq "ours"
operations(a, m, c, d) = sprintf("%d | %d | %d", a, m, c).(d > 0 ? sprintf(" | %d", d) : "")

# ---- words ----
set label "Ray/box and ray/triangle tests: speed, and rays in a million that get a wrong answer" \
  at 0, 4.6 font ",17" tc rgb 0x202020
set label device at 0, 3.7 font ",10" tc rgb 0x606060
grey = 0x606060
do for [half = 0:1] {
  top = half == 0 ? 0.85 : -B_records - 2.55
  title = half == 0 ? "ray/box" : "ray/triangle"
  array places[4] = ["random", half == 0 ? "through corners" : "at vertices", "axis-parallel", \
    half == 0 ? "within shared faces" : "at shared edges"]
  meeting = half == 0 ? "shared face: hits" : "closed mesh: hits"
  none = half == 0 ? "neither" : "none: leak"
  many = half == 0 ? "both" : "two or more"
  set label title at 0, top + 0.75 font ",13" tc rgb 0x202020
  set label "+ − × | min max | compare | ÷" at bar_begin - 0.15, top right font ",8" tc rgb grey
  set label "billion tests per second (one lane wide)" at bar_begin, top font ",9" tc rgb grey
  do for [k = 0:3] {
    place = places[k + 1]
    set label place at cell(2 * k) + 0.95, top + 0.75 center font ",10" tc rgb 0x202020
    set label "missed" at cell(2 * k) + 0.475, top center font ",9" tc rgb grey
    set label "false hit" at cell(2 * k + 1) + 0.475, top center font ",9" tc rgb grey
  }
  set label meeting at cell(8) + 0.95, top + 0.75 center font ",10" tc rgb 0x202020
  set label none at cell(8) + 0.475, top center font ",9" tc rgb grey
  set label many at cell(9) + 0.475, top center font ",9" tc rgb grey
}

set label "missed: the oracle is certain of a hit, the test says none; false hit: the other way round; what is within a few \
units in the last place of a border does not count.  Grey: closed boxes share their faces by definition.\n\
A ray exactly at an edge or vertex is judged by the closed mesh alone, on the right.  Operations are those of a whole \
test: of ours most boxes take 12 | 6 | 1, most triangles 24 | 4 | 2." \
  at 0, -B_records - T_records - 4.6 font ",9" tc rgb grey

set xrange [-0.15:cell(9) + 1.1]
set yrange [-B_records - T_records - 5.6:5.4]
set style fill solid 1.0 noborder
plot data using (0):(row(column(0), strcol("shape"))):(-0.1):(cell(9) + 1.05):(row(column(0), strcol("shape")) - 0.5):\
       (row(column(0), strcol("shape")) + 0.5):(is_ours(strcol("name")) ? 0xFFF0DC : 0xFFFFFF) \
       with boxxyerror lc rgb variable, \
     data using (0):(row(column(0), strcol("shape"))):(bar_begin):(speed(column("gtests"), strcol("shape"))):\
       (row(column(0), strcol("shape")) - 0.36):(row(column(0), strcol("shape")) + 0.36):\
       (is_ours(strcol("name")) ? 0xE08A1E : 0x7FA6CC) with boxxyerror lc rgb variable, \
     for [k = 0:9] data using (0):(row(column(0), strcol("shape"))):(cell(k)):(cell(k) + 0.95):\
       (row(column(0), strcol("shape")) - 0.42):(row(column(0), strcol("shape")) + 0.42):\
       (colour(column(word(columns, k + 1)), k, strcol("shape"))) with boxxyerror lc rgb variable, \
     for [k = 0:9] data using (cell(k) + 0.475):(row(column(0), strcol("shape"))):\
       (short(column(word(columns, k + 1)))) with labels center font ",9" tc rgb 0x202020, \
     data using (0):(row(column(0), strcol("shape"))):(strcol("name")) with labels left font ",11" tc rgb 0x202020, \
     data using (2.1):(row(column(0), strcol("shape"))):(strcol("source")) with labels left font ",9" tc rgb grey, \
     data using (bar_begin - 0.15):(row(column(0), strcol("shape"))):(operations(column("arithmetic"), column("min_max"), \
       column("compare"), column("divide"))) with labels right font ",9" tc rgb 0x404040, \
     data using (speed(column("gtests"), strcol("shape")) + 0.06):(row(column(0), strcol("shape"))):\
       (sprintf("%.1f", column("gtests")).(strlen(strcol("scalar_gtests")) > 0 ? sprintf("  (%.2f)", column("scalar_gtests")) : "")) \
       with labels left font ",9" tc rgb 0x202020
