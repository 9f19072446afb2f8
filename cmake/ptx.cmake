# Compiles the kernels to PTX, NVIDIA's intermediate code, and makes slabcast-cuda of them: a library of its own, which
# host/cuda/ loads where there is a card. The card's driver translates the PTX for the card at hand.
#
# A build that takes its native/ from another (SLABCAST_NATIVE_OBJECTS) takes cuda/ beside it too.
#
# needs.cmake has the option, and looks for a compiler with that target. Each program is kept as a tar.gz, made by CMake
# itself and unpacked by zlib; without zlib as it is.

# As the library looks for them (host/cuda/ptx.c). Stacks are those that the deepest scene needs (kernels/variants.def).
set(slab_ptx_options -cl-std=CL1.2 -DLANES=1 -DSLAB_FMAX -DSLAB_RAYS=4 -DSLAB_LOCAL_BOXES=128 -DSLAB_WALKERS=1 -DSLAB_RAY_PAIRS=1)
# More warps fit where a work-item has fewer registers. 80: tuning.c. Closed edges would spill 1 KB. 128: clang 15 takes
# 122, clang 22 167.
set(slab_ptx_registers_compressed 80)
set(slab_ptx_registers_flat 128)

set(slab_ptx_kinds_boxes 4)
set(slab_ptx_kinds_triangles 16)
set(slab_ptx_kinds_all 31)
set(slab_ptx_folder ${PROJECT_BINARY_DIR}/cuda)
set(slab_ptx_names "")
set(slab_ptx_files "")
file(MAKE_DIRECTORY ${slab_ptx_folder})

# slab_ptx(NAME KERNEL OPTION...): one program.
macro(slab_ptx name kernel)
  set(made ${slab_ptx_folder}/${name}.ptx)
  set(kept ${made})
  set(registers 0)
  if("${name}" MATCHES "-(boxes|triangles)$")
    set(registers ${slab_ptx_registers_${kernel}})
  endif()
  set(pack "")
  if(ZLIB_FOUND)
    set(kept ${made}.gz)
    set(pack COMMAND ${CMAKE_COMMAND} -E chdir ${slab_ptx_folder} ${CMAKE_COMMAND} -E tar czf ${name}.ptx.gz --format=gnutar
        --mtime=1970-01-01 ${name}.ptx)
  endif()
  get_filename_component(ready ${kept} NAME)
  set(ready ${SLABCAST_NATIVE_OBJECTS}/../cuda/${ready})
  if(SLABCAST_NATIVE_OBJECTS AND EXISTS ${ready})
    set(kept ${ready})
  else()
    add_custom_command(
      OUTPUT ${kept}
      COMMAND ${SLABCAST_KERNEL_COMPILER} -target nvptx64-nvidia-cuda -x cl -cl-no-stdinc
              -Xclang -target-cpu -Xclang sm_60 -nogpulib --cuda-feature=+ptx60
              -O2 -ffp-contract=off -cl-fp32-correctly-rounded-divide-sqrt ${slab_ptx_options} ${ARGN}
              -include ${PROJECT_SOURCE_DIR}/kernels/lanes/ptx.h -I${PROJECT_SOURCE_DIR}/kernels
              -I${PROJECT_SOURCE_DIR}/host/include -MD -MF ${made}.d -MT ${kept}
              -S ${PROJECT_SOURCE_DIR}/kernels/${kernel}.cl -o ${made}
      COMMAND ${CMAKE_COMMAND} -DFILE=${made} -DNAME=${name} -DREGISTERS=${registers} -P ${PROJECT_SOURCE_DIR}/cmake/ptx_text.cmake
      ${pack}
      DEPENDS ${PROJECT_SOURCE_DIR}/kernels/${kernel}.cl ${PROJECT_SOURCE_DIR}/kernels/lanes/ptx.h
              ${PROJECT_SOURCE_DIR}/cmake/ptx_text.cmake
      DEPFILE ${made}.d
      COMMENT "Compiling ${name} to PTX" VERBATIM)
  endif()
  list(APPEND slab_ptx_names ${name})
  set(slab_ptx_of_${name} ${kernel} ${ARGN}) # for tests/cuda/
  list(APPEND slab_ptx_files ${kept})
endmacro()

foreach(query RANGE 5)
  foreach(kinds boxes triangles all)
    set(of -DSLAB_QUERY=${query} -DSLAB_KINDS=${slab_ptx_kinds_${kinds}})
    foreach(edges "" -closed)
      if(kinds STREQUAL "boxes" AND edges)
        continue() # they have none
      endif()
      set(asked ${of})
      if(edges)
        list(APPEND asked -DSLAB_CLOSED)
      endif()
      if(NOT kinds STREQUAL "triangles") # scenes of few primitives have no BVH: those of many kinds, or local boxes
        slab_ptx(flat-${query}-${kinds}${edges} flat ${asked} -DSLAB_STACK=48)
      endif()
      slab_ptx(compressed-${query}-${kinds}${edges} compressed ${asked} -DSLAB_STACK=48)
      if(kinds STREQUAL "all")
        slab_ptx(compressed-${query}-instances${edges} compressed ${asked} -DSLAB_STACK=240 -DSLAB_INSTANCES=1)
      endif()
    endforeach()
  endforeach()
endforeach()
# Of rays with masks and hits to begin after of their own: each answers every query, for both edges.
set(own -DSLAB_QUERY=QUERY_TOLD -DSLAB_KINDS=${slab_ptx_kinds_all} -DSLAB_OWN=1)
slab_ptx(flat-own flat ${own} -DSLAB_STACK=48)
slab_ptx(compressed-own compressed ${own} -DSLAB_STACK=48)
slab_ptx(compressed-own-instances compressed ${own} -DSLAB_STACK=240 -DSLAB_INSTANCES=1)
slab_ptx(pairs pairs -DSLAB_QUERY=5 -DSLAB_KINDS=31 -DSLAB_STACK=48)
slab_ptx(rays rays -DSLAB_QUERY=0 -DSLAB_KINDS=31 -DSLAB_STACK=48)
slab_ptx(sums sums -DSLAB_QUERY=0 -DSLAB_KINDS=31 -DSLAB_STACK=48)
slab_ptx(boundary boundary -DSLAB_QUERY=0 -DSLAB_KINDS=31 -DSLAB_STACK=48)
foreach(query 0 3)
  set(of -DSLAB_QUERY=${query} -DSLAB_KINDS=${slab_ptx_kinds_all})
  slab_ptx(points-${query}-flat-all points_flat ${of} -DSLAB_STACK=48)
  slab_ptx(points-${query}-compressed-all points_compressed ${of} -DSLAB_STACK=48)
  slab_ptx(points-${query}-compressed-instances points_compressed ${of} -DSLAB_STACK=240 -DSLAB_INSTANCES=1)
endforeach()
slab_ptx(refit refit -DSLAB_QUERY=0 -DSLAB_KINDS=16 -DSLAB_STACK=48)

# A table of them: sorted, with the bytes taken from the files by the assembler.
set(rows "")
set(blocks "")
foreach(name file IN ZIP_LISTS slab_ptx_names slab_ptx_files)
  string(MAKE_C_IDENTIFIER ${name} symbol)
  string(APPEND blocks "BLOCK(${symbol}, \"${file}\")\n")
  string(APPEND rows "  {\"${name}\", ptx_${symbol}, ptx_${symbol}_end},\n")
endforeach()
file(WRITE ${slab_ptx_folder}/table.inc.new "${blocks}static const program programs[] = {\n${rows}};\n")
file(COPY_FILE ${slab_ptx_folder}/table.inc.new ${slab_ptx_folder}/table.inc ONLY_IF_DIFFERENT)

add_library(slab_cuda MODULE ptx/programs.c) # nobody links it; it has one name, with the version
set_property(SOURCE ptx/programs.c APPEND PROPERTY OBJECT_DEPENDS "${slab_ptx_files};${slab_ptx_folder}/table.inc")
target_include_directories(slab_cuda PRIVATE ${PROJECT_SOURCE_DIR}/host ${PROJECT_SOURCE_DIR}/host/include ${slab_ptx_folder})
target_link_libraries(slab_cuda PRIVATE slab_flags)
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT MSVC)
  target_link_options(slab_cuda PRIVATE -s) # the names of its blocks
endif()
if(ZLIB_FOUND)
  target_compile_definitions(slab_cuda PRIVATE SLABCAST_ZLIB)
  target_link_libraries(slab_cuda PRIVATE ZLIB::ZLIB)
endif()
set_target_properties(slab_cuda PROPERTIES OUTPUT_NAME slabcast-cuda C_VISIBILITY_PRESET hidden
  LIBRARY_OUTPUT_DIRECTORY $<TARGET_FILE_DIR:slab_lib> RUNTIME_OUTPUT_DIRECTORY $<TARGET_FILE_DIR:slab_lib>)
if(WIN32)
  set_target_properties(slab_cuda PROPERTIES PREFIX "")
else()
  set_target_properties(slab_cuda PROPERTIES SUFFIX .so.${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  # Debian requires it for libraries.
  target_link_options(slab_cuda PRIVATE LINKER:-soname,libslabcast-cuda.so.${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endif()
