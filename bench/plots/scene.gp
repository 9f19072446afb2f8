# Throughput and cost against the size of the scene.
csv = ARG1
picture = ARG2
SIZE = "1200,560"
load system(sprintf("dirname '%s'", ARG0))."/common.gp"

x_of(on) = on ? column("primitives") : NaN

set multiplot layout 1, 2 title "What the size of a scene costs: random rays, closest hit\n".note textcolor rgb "#222222"
set logscale x
set xlabel "primitives"
set xrange [0.7:*]
set key bottom left reverse Left

set logscale y
set title "throughput" textcolor rgb "#222222"
set ylabel "million rays per second"
set format y "10^{%T}"
plot csv using (x_of(is("scene", "flat", "boxes"))):(column("host")) \
       with linespoints linewidth 2 pointtype 7 linecolor rgb blue title "boxes, flat", \
     csv using (x_of(is("scene", "tree", "boxes"))):(column("host")) \
       with linespoints linewidth 2 pointtype 6 linecolor rgb blue title "boxes, tree", \
     csv using (x_of(is("scene", "tree", "triangles"))):(column("host")) \
       with linespoints linewidth 2 pointtype 5 linecolor rgb orange title "triangles, tree"

unset logscale y
set title "cost of a ray through a tree: a straight line is logarithmic" textcolor rgb "#222222"
set ylabel "nanoseconds per ray"
set format y "%g"
set xrange [70:*]
set yrange [0:*]
set key left center reverse Left
plot csv using (x_of(is("scene", "tree", "boxes"))):(1e3 / column("host")) \
       with linespoints linewidth 2 pointtype 6 linecolor rgb blue title "boxes, tree", \
     csv using (x_of(is("scene", "tree", "triangles"))):(1e3 / column("host")) \
       with linespoints linewidth 2 pointtype 5 linecolor rgb orange title "triangles, tree", \
     csv using (x_of(is("scene", "tree", "boxes"))):(1e3 / column("kernel")) \
       with linespoints dashtype 2 pointtype 6 linecolor rgb blue title "the kernel alone", \
     csv using (x_of(is("scene", "tree", "triangles"))):(1e3 / column("kernel")) \
       with linespoints dashtype 2 pointtype 5 linecolor rgb orange title "the kernel alone"
unset multiplot
