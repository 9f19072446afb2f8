# A frame of many worlds that move: against worlds, and parts and rays of each; and the parts of a frame.
csv = ARG1
picture = ARG2
SIZE = "1300,1000"
load system(sprintf("dirname '%s'", ARG0))."/common.gp"

# Of a number of the size, by its field after the quoted ones: the most frequent, which is that of the other pictures;
# the largest; all where the other two are the most frequent. Threads: as in the first row.
over(text) = system(sprintf("awk -F'\",' 'NR > 1 { split($NF, f, \",\"); %s }' '%s'", text, csv))
most(k) = over(sprintf("n[f[%d]]++ } END { for (v in n) if (n[v] > n[best]) best = v; print best", k)) + 0
largest(k) = over(sprintf("if (f[%d] > m) m = f[%d] } END { print m", k, k)) + 0
threads = over("if (f[7] > m) m = f[7] } END { print m") + 0
array counts[3] = [most(3), most(4), most(5)]
array names[3] = ["worlds", "parts", "rays"]
there(n) = over(sprintf("if ((%d == 1 || f[3] == %d) && (%d == 2 || f[4] == %d) && (%d == 3 || f[5] == %d)) n[f[%d]] \
  } END { for (v in n) printf \"%%s%%s\", c++ ? \", \" : \"\", v", n, counts[1], n, counts[2], n, counts[3], n + 2))

array sides[5] = ["MuJoCo", "Warp: groups", "Embree: a scene a world", "Embree: one scene", "Slabcast: worlds"]
array colours[5] = [grey, green, orange, purple, blue]
is_side(s) = column("threads") == threads && strcol("side") eq sides[s]
same(n, k) = n == k || column(names[k]) == counts[k]
along(n, s, name) = same(n, 1) && same(n, 2) && same(n, 3) && is_side(s) ? column(name) : NaN
all = largest(3)
of_all(s, name) = column("worlds") == all && same(1, 2) && same(1, 3) && is_side(s) ? column(name) : NaN

set bmargin 3.8
set multiplot layout 2, 2 title sprintf("Many worlds, all of which move: a frame, %d threads\n%s", threads, note) \
    textcolor rgb "#222222"
set ylabel "milliseconds: median (points) and best (dashes)"
set logscale xy
set format "%g"
set key top left reverse Left
array titles[3]
titles[1] = sprintf("%d parts and %d rays a world", counts[2], counts[3])
titles[2] = sprintf("%d worlds, %d rays each", counts[1], counts[3])
titles[3] = sprintf("%d worlds, %d parts each", counts[1], counts[2])
set offsets graph 0.06, graph 0.06, 0, 0
set autoscale xfix
do for [n = 1:3] {
  set xlabel names[n].(n == 1 ? "" : " of a world")
  set title titles[n] textcolor rgb "#222222"
  eval "set xtics (".there(n).")"
  plot for [s = 1:5] csv using (column(names[n])):(along(n, s, "frame_ms")) smooth unique \
         with linespoints linewidth 2 pointtype 7 pointsize 0.8 linecolor rgb colours[s] title sides[s], \
       for [s = 1:5] csv using (column(names[n])):(along(n, s, "best_ms")) smooth unique \
         with lines linewidth 1.2 dashtype 2 linecolor rgb colours[s] notitle
  set key off
}
set title sprintf("%d worlds, %d parts and %d rays each", all, counts[2], counts[3]) textcolor rgb "#222222"
unset logscale x
unset xlabel
set ylabel "milliseconds: median"
set xrange [0.5:4.5]
set xtics ("all places" 1, "all casts" 2, "the frame" 3, "one world's\nplaces" 4)
array shares[4] = ["move_ms", "cast_ms", "frame_ms", "one_ms"]
plot for [s = 1:5] for [k = 1:(s < 3 ? 3 : 4)] csv using (k + 0.12 * (s - 3)):(of_all(s, shares[k])) \
       with points pointtype 7 pointsize 1.1 linecolor rgb colours[s] notitle
unset multiplot
