# Rays per second from host to host against their number, by the memory that rays and hits lie in, under the limits of
# the kernel and of the slower way of the bus, each alone. One panel per query, for queries that differ most in the
# bytes of a result.
csv = ARG1
picture = ARG2
SIZE = "1500,600"
load system(sprintf("dirname '%s'", ARG0))."/common.gp"

array queries[3] = ["closest", "distance", "any"]
array bytes[3] = [32, 4, 1] # of a result; a ray has 32
array memories[2] = ["pinned", "ordinary"]
array titles[2] = ["slab\\_host\\_alloc", "ordinary memory"]
array colours[2] = [blue, orange]

up = 1e3 * ceiling("upload") / 32
down(q) = 1e3 * ceiling("download") / bytes[q]
of(query, memory, name) = strcol("group") eq "transfer" && strcol("query") eq query && strcol("memory") eq memory ? \
  column(name) : NaN

set multiplot layout 1, 3 title "Casts from arrays of the host to arrays of the host\n".note textcolor rgb "#222222"
set logscale xy
set xlabel "rays of a call"
set ylabel "million rays per second: best (points) and median (dashes)"
set format y "10^{%T}"
set xrange [700:*]
set key below center horizontal maxrows 2 # lines may be anywhere above
do for [q = 1:3] {
  set title sprintf("%s: 32 bytes up, %d down", queries[q], bytes[q]) textcolor rgb "#222222"
  plot for [m = 1:2] csv using "rays":(of(queries[q], memories[m], "host")) \
         with linespoints linewidth 2 pointtype 7 pointsize 0.7 linecolor rgb colours[m] title titles[m], \
       for [m = 1:2] csv using "rays":(of(queries[q], memories[m], "host_median")) \
         with lines linewidth 1.2 dashtype 2 linecolor rgb colours[m] notitle, \
       csv using "rays":(of(queries[q], "ordinary", "kernel")) \
         with lines linewidth 1 linecolor rgb green title "the kernel alone", \
       up < down(q) ? up : down(q) with lines linewidth 1 linecolor rgb grey \
         title (up < down(q) ? "upload" : "download")." alone"
  unset ylabel
}
unset multiplot
