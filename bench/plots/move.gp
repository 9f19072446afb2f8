# A frame of a mesh that moves, against its triangles: until casts see it, and rays after it.
csv = ARG1
picture = ARG2
SIZE = "1200,560"
load system(sprintf("dirname '%s'", ARG0))."/common.gp"

# The sizes of one mesh make the lines; its name is the most frequent one.
counted = "{ split($NF, f, \",\"); sub(/:.*/, \"\", f[3]); n[f[3]]++ }"
most = "{ for (m in n) if (n[m] > n[best]) best = m; print best }"
mesh = system(sprintf("awk -F'\",' 'NR > 1 %s END %s' '%s'", counted, most, csv))
is_of(name) = substr(strcol("scene"), 1, strlen(name)) eq name
of(what, side, name) = is_of(mesh) && strcol("what") eq what && strcol("side") eq side ? column(name) : NaN
array sides[4] = ["refit", "FAST build", "Embree refit", "Embree build"]
array colours[4] = [blue, orange, green, purple]
array rays[2] = ["primary rays", "random rays"]
array afters[2] = ["after refits", "after a build like it"]

set multiplot layout 1, 2 title "Scenes that move: ".mesh.", all vertices in each frame\n".note textcolor rgb "#222222"
set logscale xy
set xlabel "triangles"
set ylabel "10^{-3} seconds: best (points) and median (dashes)"
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
unset multiplot
