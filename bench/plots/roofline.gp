# Roofline: operations per second against operations for each byte of memory, under the device's own limits.
csv = ARG1
picture = ARG2
SIZE = "900,620"
load system(sprintf("dirname '%s'", ARG0))."/common.gp"

memory = ceiling("memory-copy")
slab = ceiling("slab-test")
add_mul = ceiling("add-mul")
min_max = ceiling("min-max")

set title "How near to the ceilings flat casts come\n".note textcolor rgb "#222222"
set xlabel "operations for each byte that memory must move"
set ylabel "billion operations per second"
set logscale xy
set xrange [0.02:3e4]
set yrange [0.5:add_mul * 2]
set samples 400
set key bottom right
set format y "%g"

lower(a, b) = a < b ? a : b
apart = add_mul > 1.25 * slab ? 1 : 1.35 # on GPUs both ceilings are one
set label 1 sprintf("add, multiply  %.0f", add_mul) at 0.75 * add_mul / memory, apart * add_mul right textcolor rgb grey font ",10"
set label 2 sprintf("slab test  %.0f", slab) at 0.75 * slab / memory, slab right textcolor rgb "#222222" font ",10"
set label 3 sprintf("min, max  %.0f", min_max) at 0.75 * min_max / memory, min_max right textcolor rgb grey font ",10"
set label 4 sprintf("memory  %.0f GB/s", memory) at 0.3, memory * 0.3 * 1.35 rotate by 48 textcolor rgb "#222222" font ",10"

x_of(on) = on ? column("operations_per_byte") : NaN
# How many boxes, beside the points; the largest scenes' are near each other.
counted(least, most) = x_of(is("scene", "flat", "boxes") && column("primitives") > least && column("primitives") < most)
count_of(boxes) = sprintf("10^{%.0f}", log10(boxes))
plot memory * x > add_mul ? NaN : memory * x with lines linecolor rgb grey dashtype 3 notitle, \
     lower(memory * x, add_mul) with lines linecolor rgb grey dashtype 3 notitle, \
     lower(memory * x, min_max) with lines linecolor rgb grey dashtype 3 notitle, \
     lower(memory * x, slab) with lines linewidth 2.5 linecolor rgb "#222222" notitle, \
     csv using (x_of(is("scene", "flat", "boxes"))):(column("share") * slab) \
       with linespoints linewidth 1.5 pointtype 7 pointsize 1 linecolor rgb blue title "1, 10, 100 ... boxes, random rays, closest", \
     csv using (counted(0, 5e4)):(column("share") * slab):(count_of(column("primitives"))) \
       with labels offset 1, -0.9 font ",9" textcolor rgb blue notitle, \
     csv using (counted(5e4, 5e5)):(column("share") * slab):(count_of(column("primitives"))) \
       with labels offset -2.2, 0.2 font ",9" textcolor rgb blue notitle, \
     csv using (counted(5e5, 1e9)):(column("share") * slab):(count_of(column("primitives"))) \
       with labels offset -2, -0.5 font ",9" textcolor rgb blue notitle, \
     csv using (x_of(is("work", "flat", "boxes"))):(column("share") * slab) \
       with points pointtype 6 pointsize 1.4 linewidth 2 linecolor rgb blue title "boxes, closest and any", \
     csv using (x_of(is("work", "flat", "spheres"))):(column("share") * slab) \
       with points pointtype 8 pointsize 1.4 linewidth 2 linecolor rgb orange title "spheres, closest and any", \
     csv using (x_of(is("work", "flat", "triangles"))):(column("share") * slab) \
       with points pointtype 4 pointsize 1.3 linewidth 2 linecolor rgb green title "triangles, closest and any"
