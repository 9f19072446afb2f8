# A frame of a mesh that moves, against its triangles: until casts see it, and rays after it. And instances.
csv = ARG1
picture = ARG2
SIZE = "1700,560"
load system(sprintf("dirname '%s'", ARG0))."/common.gp"

# The sizes of one mesh make the lines; its name is the most frequent one.
counted = "{ split($NF, f, \",\"); sub(/:.*/, \"\", f[3]); if (f[3] !~ /[*]/) n[f[3]]++ }"
most = "{ for (m in n) if (n[m] > n[best]) best = m; print best }"
mesh = system(sprintf("awk -F'\",' 'NR > 1 %s END %s' '%s'", counted, most, csv))
is_of(name) = substr(strcol("scene"), 1, strlen(name)) eq name
of(what, side, name) = is_of(mesh) && strcol("what") eq what && strcol("side") eq side ? column(name) : NaN
array sides[4] = ["refit", "FAST build", "Embree refit", "Embree build"]
array colours[4] = [blue, orange, green, purple]
array rays[2] = ["primary rays", "random rays"]
array afters[2] = ["after refits", "after a build like it"]

# The instances: N*MODEL, the last one.
placed = system(sprintf("awk -F'\",' '{ split($NF, f, \",\"); if (f[3] ~ /[*]/) s = f[3] } END { print s }' '%s'", csv))
at(what) = what eq "first commit" ? 1 : what eq "update and commit" ? 2 : what eq "primary rays" ? 3 : \
  what eq "random rays" ? 4 : what eq "LiDAR frame" ? 5 : NaN
array casters[3] = ["ours", "Embree", "Embree packets"]

set bmargin 3.6
set multiplot layout 1, 3 title "Scenes that move: ".mesh.", all vertices in each frame; ".placed.", all instances\n".note \
    textcolor rgb "#222222"
set logscale xy
set xlabel "triangles"
set ylabel "milliseconds: best (points) and median (dashes)"
set format y "%g"
set key top left reverse Left
set title "update and commit" textcolor rgb "#222222"
plot for [i = 1:4] csv using "triangles":(of("commit", sides[i], "best_ms")) \
       with linespoints linewidth 2 pointtype 7 pointsize 0.7 linecolor rgb colours[i] title sides[i], \
     for [i = 1:4] csv using "triangles":(of("commit", sides[i], "median_ms")) \
       with lines linewidth 1.2 dashtype 2 linecolor rgb colours[i] notitle
set title "2^{18} rays, closest hit" textcolor rgb "#222222"
plot for [r = 1:2] for [i = 1:2] csv using "triangles":(of(rays[r], afters[i], "best_ms")) \
       with linespoints linewidth 2 pointtype 7 pointsize 0.7 linecolor rgb colours[2 * r + i - 2] \
       title rays[r]." ".afters[i], \
     for [r = 1:2] for [i = 1:2] csv using "triangles":(of(rays[r], afters[i], "median_ms")) \
       with lines linewidth 1.2 dashtype 2 linecolor rgb colours[2 * r + i - 2] notitle
if (placed ne "") {
  set title placed textcolor rgb "#222222"
  set ylabel "milliseconds: best (points) and median (crosses)"
  unset logscale x
  unset xlabel
  set xrange [0.5:5.5]
  set xtics ("first\ncommit" 1, "update,\ncommit" 2, "2^{18} rays,\ncamera" 3, "2^{18} rays,\nrandom" 4, "LiDAR\nframe" 5)
  x(i) = at(strcol("what")) + 0.2 * (i - 2)
  by(i, name) = strcol("scene") eq placed && strcol("side") eq casters[i] ? column(name) : NaN
  plot for [i = 1:3] csv using (x(i)):(by(i, "best_ms")) \
         with points pointtype 7 pointsize 1 linecolor rgb colours[i] title casters[i], \
       for [i = 1:3] csv using (x(i)):(by(i, "median_ms")) \
         with points pointtype 1 pointsize 1.4 linewidth 1.5 linecolor rgb colours[i] notitle
}
unset multiplot
