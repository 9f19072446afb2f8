# Throughput against the size of the batch.
csv = ARG1
picture = ARG2
SIZE = "900,560"
load system(sprintf("dirname '%s'", ARG0))."/common.gp"

set title "Throughput against the size of the batch\n".note textcolor rgb "#222222"
set xlabel "rays in a batch"
set ylabel "million rays per second"
set logscale xy
set key bottom right maxrows 2
set format y "%g"
set xrange [700:*]
set yrange [0.5:*]

x_of(on) = on ? column("rays") : NaN
flat = system(sprintf("grep ',batch,flat,' '%s' | awk -F'\",' 'NR == 1 { split($NF, f, \",\"); print f[6] }'", csv))
tree = system(sprintf("grep ',batch,tree,' '%s' | awk -F'\",' 'NR == 1 { split($NF, f, \",\"); print f[6] }'", csv))
plot csv using (x_of(is("batch", "flat", "boxes"))):(column("host")) \
       with linespoints linewidth 2 pointtype 7 linecolor rgb blue title "flat, ".flat." boxes, host to host", \
     csv using (x_of(is("batch", "flat", "boxes"))):(column("kernel")) \
       with linespoints linewidth 1.5 dashtype 2 pointtype 6 linecolor rgb blue title "the kernel alone", \
     csv using (x_of(is("batch", "tree", "triangles"))):(column("host")) \
       with linespoints linewidth 2 pointtype 5 linecolor rgb orange title "tree, ".tree." triangles, host to host", \
     csv using (x_of(is("batch", "tree", "triangles"))):(column("kernel")) \
       with linespoints linewidth 1.5 dashtype 2 pointtype 4 linecolor rgb orange title "the kernel alone"
