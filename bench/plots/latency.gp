# How long a call takes against the number of its rays.
csv = ARG1
picture = ARG2
SIZE = "1200,560"
load system(sprintf("dirname '%s'", ARG0))."/common.gp"

# The sides in the order of the file; a side's column of figures, of one query.
field(k) = system(sprintf("awk -F'\",' 'NR == 2 { split($NF, f, \",\"); print f[%d] }' '%s'", k, csv))
sides = system(sprintf("awk -F'\",' 'NR > 1 { split($NF, f, \",\"); if (!seen[f[8]]++) print f[8] }' '%s' | tr ' \\n' '_ '", csv))
of(side, query, name) = strcol("side") eq side && strcol("query") eq query ? column(name) : NaN
plain(word) = system(sprintf("echo '%s' | tr '_' ' '", word))
colour(i) = word(blue." ".orange." ".green." ".purple." ".grey, i)

set multiplot layout 1, 2 title \
  "Latency: what a call takes, ".field(3).", ".field(5)." rays\n".note textcolor rgb "#222222"
set logscale xy
set xlabel "rays of a call"
set ylabel "microseconds per call: best (points) and median (dashes)"
set xrange [0.8:2e6]
set format y "10^{%T}"
set key top left reverse Left
do for [query in "closest any"] {
  set title query." hit" textcolor rgb "#222222"
  plot for [i = 1:words(sides)] csv using "rays":(of(plain(word(sides, i)), query, "best_us")) \
         with linespoints linewidth 2 pointtype 7 pointsize 0.7 linecolor rgb colour(i) title plain(word(sides, i)), \
       for [i = 1:words(sides)] csv using "rays":(of(plain(word(sides, i)), query, "median_us")) \
         with lines linewidth 1.2 dashtype 2 linecolor rgb colour(i) notitle
}
unset multiplot
