# Settings that the plots share. Each plot is called with the CSV of `slabcast bench` and the picture, .svg or .png, as
# arguments, and sets csv, picture and SIZE before.
if (picture[strlen(picture) - 3:] eq ".svg") {
  set terminal svg size @SIZE dynamic enhanced font "DejaVu Sans,13" background "#ffffff"
} else {
  set terminal pngcairo size @SIZE enhanced font "DejaVu Sans,11" background "#ffffff"
}
set output picture
set datafile separator comma
set datafile columnheaders
set datafile missing NaN

# Colours that the colour-blind can distinguish (Okabe and Ito).
blue = "#0072b2"; orange = "#d55e00"; green = "#009e73"; purple = "#cc79a7"; grey = "#777777"

set border 3 linecolor rgb "#555555"
set tics nomirror textcolor rgb "#333333"
set grid xtics ytics linecolor rgb "#e4e4e4" linetype 1
set key textcolor rgb "#333333" samplen 2 spacing 1.25
set format x "10^{%T}"

# The device and the day, for the titles; a ceiling by its name.
device = system(sprintf("awk -F'\"' 'NR == 2 { print $2 }' '%s'", csv))
day = system(sprintf("awk -F, 'NR == 2 { print substr($1, 1, 10) }' '%s'", csv))
seconds = system(sprintf("awk -F'\",' 'NR == 2 { split($NF, f, \",\"); print f[2] }' '%s'", csv))
note = sprintf("{/*0.8 %s, %s, %s time}", device, day, seconds)
ceiling(name) = real(system(sprintf("grep ',ceiling,%s,' '%s' | awk -F'\",' '{ split($NF, f, \",\"); print f[10] }'", \
  name, csv)))

is(group, layout, shape) = strcol("group") eq group && strcol("layout") eq layout && strcol("shape") eq shape
