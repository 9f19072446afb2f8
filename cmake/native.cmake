# Compiles the kernels of kernels/variants.def for processors. Sets slab_native_sources and slab_native_objects, and for
# the program slab_ceiling_sources and slab_ceiling_objects: kernels/ceiling.cl.
#
# A level is an instruction set and its lanes. clang compiles the kernels' text as OpenCL C at the width of the
# registers. The library chooses the level when it runs. `c11` is any C compiler's: the same text at one lane, for every
# processor.
# needs.cmake has the options: the levels, and the compiler.
set(slab_processor ${CMAKE_SYSTEM_PROCESSOR})
if(APPLE AND CMAKE_OSX_ARCHITECTURES)
  set(slab_processor ${CMAKE_OSX_ARCHITECTURES})
  list(LENGTH slab_processor slab_count)
  if(slab_count GREATER 1)
    message(FATAL_ERROR "CMAKE_OSX_ARCHITECTURES has ${slab_count} processors. Build for each, and join the libraries by lipo")
  endif()
endif()
if(slab_processor MATCHES "^(x86_64|AMD64)$")
  set(slab_vector_levels x86-64-v3 x86-64-v4)
elseif(slab_processor MATCHES "^(aarch64|arm64|ARM64)$")
  set(slab_vector_levels armv8-a)
else()
  set(slab_vector_levels "")
endif()
set(slab_levels ${SLABCAST_NATIVE})
if(SLABCAST_NATIVE STREQUAL "AUTO")
  set(slab_levels c11)
  if(SLABCAST_KERNEL_COMPILER)
    list(APPEND slab_levels ${slab_vector_levels})
  endif()
elseif(NOT SLABCAST_NATIVE)
  set(slab_levels "")
endif()
foreach(level IN LISTS slab_levels)
  if(NOT level STREQUAL "c11" AND NOT level IN_LIST slab_vector_levels)
    message(FATAL_ERROR "SLABCAST_NATIVE has ${level}, which is not one of: c11 ${slab_vector_levels}")
  elseif(NOT level STREQUAL "c11" AND NOT SLABCAST_KERNEL_COMPILER)
    slab_here_named(slab_package clang)
    message(FATAL_ERROR "SLABCAST_NATIVE has ${level}, and no clang is here. ${slab_manager}'s package: ${slab_package}")
  endif()
endforeach()

# CMake's options for the C compiler that name its target machine, and the place of that machine's headers.
set(slab_c_machine "")
macro(slab_tell_c_compiler option value)
  if(CMAKE_C_COMPILE_OPTIONS_${option} AND NOT "${value}" STREQUAL "")
    list(APPEND slab_c_machine "${CMAKE_C_COMPILE_OPTIONS_${option}}${value}")
  endif()
endmacro()
slab_tell_c_compiler(TARGET "${CMAKE_C_COMPILER_TARGET}")
slab_tell_c_compiler(EXTERNAL_TOOLCHAIN "${CMAKE_C_COMPILER_EXTERNAL_TOOLCHAIN}")
slab_tell_c_compiler(SYSROOT "${CMAKE_SYSROOT}")
set(slab_machine "") # the same for the kernels' compiler, of macOS
if(APPLE AND CMAKE_OSX_ARCHITECTURES)
  list(APPEND slab_machine -arch ${CMAKE_OSX_ARCHITECTURES})
endif()
if(APPLE AND CMAKE_OSX_DEPLOYMENT_TARGET)
  list(APPEND slab_machine -mmacosx-version-min=${CMAKE_OSX_DEPLOYMENT_TARGET})
endif()
if(APPLE AND CMAKE_OSX_SYSROOT)
  list(APPEND slab_c_machine -isysroot ${CMAKE_OSX_SYSROOT})
endif()
list(APPEND slab_c_machine ${slab_machine})
separate_arguments(slab_c_command UNIX_COMMAND "${CMAKE_C_COMPILER_ARG1}")
list(PREPEND slab_c_command ${CMAKE_C_COMPILER})
separate_arguments(kernel_flags UNIX_COMMAND "${SLABCAST_KERNEL_FLAGS}")

# slab_level_compiler(LEVEL): sets lanes, and the command that compiles a program of the level. -mstackrealign: else clang
# leaves the stack aligned to 16 bytes, and each vector register that it saves there is split over two cache lines.
macro(slab_level_compiler level)
  if(level STREQUAL "c11")
    set(lanes 1)
    set(optimize -Os) # 0.95 of the speed of -O2, 0.8 of the code
    separate_arguments(flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
    set(compile ${slab_c_command} ${slab_c_machine} ${flags} -x c -std=c11 -w)
  else()
    set(lanes 8)
    set(optimize -O2)
    if(level STREQUAL "x86-64-v4")
      set(lanes 16)
    endif()
    set(compile ${SLABCAST_KERNEL_COMPILER} ${slab_kernel_target} ${slab_machine} -x cl -cl-std=CL1.2 -cl-no-stdinc -cl-fp32-correctly-rounded-divide-sqrt
        -march=${level} -DSLAB_ASSEMBLY)
    if(level MATCHES "^x86-64")
      list(APPEND compile -mstackrealign)
    endif()
  endif()
  # Nothing unwinds through kernels: their tables would take 28 KB. Windows searches them for the handler of a fault.
  if(NOT WIN32)
    list(APPEND compile -fPIC -fvisibility=hidden -fno-asynchronous-unwind-tables -fno-unwind-tables)
  endif()
  list(APPEND compile ${optimize} -fno-lto -ffp-contract=off -fno-math-errno -DSLAB_NATIVE
       -include ${PROJECT_SOURCE_DIR}/kernels/lanes/prelude.h -I${PROJECT_SOURCE_DIR}/kernels
       -I${PROJECT_SOURCE_DIR}/host -I${PROJECT_SOURCE_DIR}/host/include ${kernel_flags})
endmacro()

# slab_kernels(OBJECT OPTION...): compiles a variant's program.
macro(slab_kernels made)
  add_custom_command(
    OUTPUT ${made}
    COMMAND ${compile} ${defines} ${ARGN} "-DNATIVE_NAME(kernel)=slab_${symbol}_##kernel##_${suffix}" -MD -MF ${made}.d
            -DNATIVE_CLOSED=slab_${symbol}_closed -c ${PROJECT_SOURCE_DIR}/kernels/${program}.cl -o ${made}
    DEPENDS ${PROJECT_SOURCE_DIR}/kernels/${program}.cl ${PROJECT_SOURCE_DIR}/kernels/lanes/prelude.h
    DEPFILE ${made}.d
    COMMENT "Compiling ${program}, query ${query}, ${kinds}, for ${level} ${ARGN}" VERBATIM)
endmacro()

# The macros by which the text gets the sets of primitives of variants.def.
set(slab_kinds_all "")
set(slab_kinds_triangles -DSLAB_KINDS=16)
set(slab_kinds_instances -DSLAB_INSTANCES=1)
set(slab_kinds_instanced_triangles -DSLAB_KINDS=16 -DSLAB_INSTANCES=1)
set(slab_kinds_own -DSLAB_OWN=1)
set(slab_kinds_own_instances -DSLAB_INSTANCES=1 -DSLAB_OWN=1)
set(slab_kinds_own_instanced_triangles -DSLAB_KINDS=16 -DSLAB_INSTANCES=1 -DSLAB_OWN=1)

# slab_variant(QUERY KINDS): compiles one variant for the level, of the program whose columns are set, with `own` lanes.
macro(slab_variant query kinds)
  set(suffix q${query}_${kinds})
  string(TOUPPER ${program} upper)
  set(of ${level})
  list(FIND slab_levels ${shared} earlier)
  if(earlier GREATER -1 AND earlier LESS nth)
    set(of ${shared})
  endif()
  string(MAKE_C_IDENTIFIER ${of} symbol)
  set(object ${slab_native_dir}/${of}/${program}_${suffix}.o)
  if(SLABCAST_NATIVE_OBJECTS)
    set(object ${SLABCAST_NATIVE_OBJECTS}/${of}/${program}_${suffix}.o)
  endif()
  set(asked ${query})
  if(query STREQUAL "told")
    set(asked QUERY_TOLD)
  endif()
  set(taken "") # kernels with parameters of rays' own
  if(kinds MATCHES "^own")
    set(taken own_)
  endif()
  set(defines -DLANES=${own} -DSLAB_QUERY=${asked} -DSLAB_STACK=${stack} -DSLAB_RAYS=32 -DSLAB_LOCAL_BOXES=0)
  set(walkers 1)
  set(paired 1)
  set(defer 0)
  if(lanes GREATER 1)
    set(walkers ${most_walkers})
    if(lanes GREATER 8)
      set(paired ${pairs})
    endif()
    if(deferred STREQUAL "yes")
      set(defer 1)
    endif()
  endif()
  if(kernels STREQUAL "interleaved")
    list(APPEND defines -DSLAB_INTERLEAVED_ALONE=1)
  endif()
  list(APPEND defines -DSLAB_WALKERS=${walkers} -DSLAB_RAY_PAIRS=${paired} -DSLAB_DEFERRED=${defer} ${slab_kinds_${kinds}})
  if(small STREQUAL "yes" OR (small STREQUAL "one" AND lanes EQUAL 1))
    list(APPEND defines -DSLAB_SMALL)
  endif()
  if(NOT SLABCAST_NATIVE_OBJECTS AND of STREQUAL level)
    slab_kernels(${object})
  endif()
  if(of STREQUAL level)
    list(APPEND slab_native_objects ${object})
    if(program IN_LIST slab_counted AND level STREQUAL "x86-64-v3" AND slab_benchmarks)
      set(object ${slab_native_dir}/counting/${program}_${suffix}.o)
      slab_kernels(${object} -DSLAB_COUNTS -O0) # counts are the same at each, and compiling costs most
    endif()
    list(APPEND slab_counting_objects ${object})
  endif()
  string(REPLACE "," ";" names "${kernels}")
  foreach(kernel IN LISTS names)
    set(named ${upper})
    if(kernel STREQUAL "interleaved")
      set(named INTERLEAVED)
      if(walkers EQUAL 1)
        continue()
      endif()
    endif()
    set(name slab_${symbol}_${kernel}_${suffix})
    string(APPEND declared "KERNEL_OF_${taken}${program}(${name});\n")
    string(APPEND rows "    {NATIVE_${named}, ${asked}, KINDS_${kinds}, ${own}, {.${taken}${program} = ${name}}},\n")
  endforeach()
endmacro()

# slab_closed(): compiles the level's test of closed edges, which its other programs call.
macro(slab_closed)
  set(object ${slab_native_dir}/${level}/closed.o)
  if(SLABCAST_NATIVE_OBJECTS)
    set(object ${SLABCAST_NATIVE_OBJECTS}/${level}/closed.o)
  else()
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${compile} -DLANES=8 -DSLAB_KINDS=16 -DNATIVE_CLOSED=slab_${symbol}_closed -MD -MF ${object}.d
              -c ${PROJECT_SOURCE_DIR}/kernels/closed.cl -o ${object}
      DEPENDS ${PROJECT_SOURCE_DIR}/kernels/closed.cl ${PROJECT_SOURCE_DIR}/kernels/lanes/prelude.h
      DEPFILE ${object}.d
      COMMENT "Compiling closed edges for ${level}" VERBATIM)
  endif()
  list(APPEND slab_native_objects ${object})
  list(APPEND slab_counting_objects ${object})
endmacro()

# slab_ceilings(): compiles what measures the level's ceilings. At -O3, so that any compiler unrolls its chains.
macro(slab_ceilings)
  set(object ${slab_native_dir}/${level}/ceiling.o)
  set(chains 12) # as in bench_opencl.c
  if(lanes EQUAL 16)
    set(chains 24)
  endif()
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${compile} -O3 -DLANES=${lanes} -DCHAINS=${chains} "-DNATIVE_NAME(kernel)=slab_${symbol}_##kernel" -MD
            -MF ${object}.d -c ${PROJECT_SOURCE_DIR}/kernels/ceiling.cl -o ${object}
    DEPENDS ${PROJECT_SOURCE_DIR}/kernels/ceiling.cl ${PROJECT_SOURCE_DIR}/kernels/lanes/prelude.h
    DEPFILE ${object}.d
    COMMENT "Compiling the ceilings for ${level}" VERBATIM)
  list(APPEND slab_ceiling_objects ${object})
  set(row "")
  foreach(kernel add_mul min_max slab_mix memory_read memory_copy nothing)
    string(APPEND ceilings_declared "bench_work slab_${symbol}_${kernel};\n")
    string(APPEND row "slab_${symbol}_${kernel}, ")
  endforeach()
  string(APPEND ceilings "    {${lanes}, ${chains}, {${row}}},\n")
endmacro()

set(slab_native_dir ${PROJECT_BINARY_DIR}/native)
file(MAKE_DIRECTORY ${slab_native_dir}/counting)
set(slab_native_objects "")
set(slab_counting_objects "") # the same, but for those whose steps are counted
set(slab_ceiling_objects "")
set(slab_counted wide compressed)  # programs whose steps can be counted
set(declared "")
set(tables "")
set(list "")
set(ceilings "")
set(ceilings_declared "")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/variants.def)
file(STRINGS ${PROJECT_SOURCE_DIR}/kernels/variants.def slab_programs REGEX "^[a-z]")
set(slab_columns program kernels own queries sets stack most_walkers pairs deferred small shared)
set(nth -1)
foreach(level IN LISTS slab_levels)
  file(MAKE_DIRECTORY ${slab_native_dir}/${level})
  slab_level_compiler(${level})
  math(EXPR nth "${nth} + 1")
  set(rows "")
  foreach(line IN LISTS slab_programs)
    separate_arguments(line UNIX_COMMAND "${line}")
    foreach(column value IN ZIP_LISTS slab_columns line)
      set(${column} ${value})
    endforeach()
    if(lanes EQUAL 1 AND own MATCHES "\\+")
      continue()
    endif()
    string(REPLACE "+" "" own ${own})
    if(own STREQUAL "twice")
      math(EXPR own "2 * ${lanes}")
    elseif(own STREQUAL "own" OR own GREATER lanes)
      set(own ${lanes})
    endif()
    string(REPLACE "," ";" queries "${queries}")
    string(REPLACE "," ";" sets "${sets}")
    if(level STREQUAL "c11") # scenes of triangles alone took 0.97 to 1.0 of the time there
      list(REMOVE_ITEM sets triangles)
    endif()
    foreach(query IN LISTS queries)
      foreach(kinds IN LISTS sets)
        slab_variant(${query} ${kinds})
      endforeach()
    endforeach()
  endforeach()
  string(MAKE_C_IDENTIFIER ${level} symbol)
  string(APPEND tables "static const native_variant variants_${symbol}[] = {\n${rows}    {0}};\n")
  string(PREPEND list "    {\"${level}\", ${lanes}, variants_${symbol}},\n")
  if(lanes GREATER 1)
    slab_closed()
  endif()
  slab_ceilings()
endforeach()
file(CONFIGURE OUTPUT ${slab_native_dir}/levels.c CONTENT [[
/* Written by cmake/native.cmake. */
#include "native/native.h"

@declared@
@tables@
const native_level native_levels[] = {
@list@    {0}};
]] @ONLY)
set(slab_native_sources ${slab_native_dir}/levels.c)
file(CONFIGURE OUTPUT ${slab_native_dir}/ceilings.c CONTENT [[
/* Written by cmake/native.cmake. */
#include "program/bench/bench_kernels.h"

@ceilings_declared@
const bench_level bench_levels[] = {
@ceilings@    {0}};
]] @ONLY)
set(slab_ceiling_sources ${slab_native_dir}/ceilings.c)
# So that no two libraries compile them at once.
add_custom_target(slab_native DEPENDS ${slab_native_objects})
add_custom_target(slab_native_ceilings DEPENDS ${slab_ceiling_objects})
