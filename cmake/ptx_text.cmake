# Shortens a program's PTX: no comments, empty lines and blanks, which are a fifth of it, and short names. Its first
# line names the program. REGISTERS: most of a work-item; 0: no limit.
#   cmake -DFILE=x.ptx -DNAME=x -DREGISTERS=80 -P ptx_text.cmake
cmake_minimum_required(VERSION 3.22)
file(READ ${FILE} text)
string(REGEX REPLACE "(^|\n)[ \t]*//[^\n]*" "\\1" text "${text}")
string(REGEX REPLACE "[ \t]*//[^\n]*" "" text "${text}")
string(REGEX REPLACE "\n[ \t]+" "\n" text "${text}")
string(REPLACE "\nCOUNTED " "\n//+" text "${text}") # comments that host/cuda/ptx.c can make code of
string(REGEX REPLACE "[ \t]+" " " text "${text}")
string(REGEX REPLACE ", " "," text "${text}")
string(REGEX REPLACE "\n\n+" "\n" text "${text}")
string(REGEX REPLACE "\\$L__BB([0-9]+)_" "$\\1_" text "${text}") # labels
string(REGEX REPLACE "[a-z_]+_param_([0-9])" "p\\1" text "${text}")
string(REPLACE "__local_depot" "stack" text "${text}")
string(REPLACE "%rd" "%d" text "${text}")
string(REPLACE "%rs" "%h" text "${text}")
if(REGISTERS)
  string(REGEX REPLACE "(\\.entry[^{]*\n)\\{" "\\1.maxnreg ${REGISTERS}\n{" text "${text}")
endif()
file(WRITE ${FILE} "// ${NAME}\n${text}")
