# The test programs that need no OpenCL: those of the library on the processor's own kernels, and of its parts. With
# -DSLABCAST_TESTS=NATIVE they are all the tests; that is how other systems are tested (tests/platforms/run.sh).
slab_test(test_api api/test_api.c fixtures/counting_scene.c fixtures/refused.c NATIVE 0)
slab_test(test_scene api/test_scene.c fixtures/refused.c NATIVE 1 8 16)
slab_test(test_host_memory api/test_host_memory.c fixtures/mixed_fates.c NATIVE 0)
slab_test(test_update api/test_update.c fixtures/refused.c fixtures/expect.c NATIVE 1 8 16)
slab_test(test_instances api/test_instances.c fixtures/expect.c NATIVE 1 8 16)
slab_test(test_instances_edges api/test_instances_edges.c fixtures/expect.c NATIVE 1 8 16)
slab_test(test_batch api/test_batch.c fixtures/counting_scene.c fixtures/mixed_fates.c NATIVE 1 8 16)
slab_test(test_batch_options api/test_batch_options.c fixtures/counting_scene.c NATIVE 1 8 16)
slab_test(test_batch_all api/test_batch_all.c fixtures/counting_scene.c NATIVE 1 8 16)
slab_test(test_batch_pairs api/test_batch_pairs.c fixtures/refused.c NATIVE 0) # a lane each, at any width of the device
slab_test(test_check api/test_check.c fixtures/counting_scene.c fixtures/mixed_fates.c NATIVE 1 8 16)
slab_test(test_own geometry/test_own.c WIDTHS 8 NATIVE 1 8 16)
slab_test(test_points api/test_points.c fixtures/expect.c NATIVE 1 8 16)
slab_test(test_points_random api/test_points_random.c WIDTHS 8 NATIVE 1 8 16)
slab_test(test_winding api/test_winding.c fixtures/expect.c WIDTHS 8 NATIVE 1 8 16)
slab_test(test_winding_numbers api/test_winding_numbers.c fixtures/expect.c WIDTHS 8 NATIVE 1 8 16)
slab_test(test_worlds api/test_worlds.c fixtures/expect.c WIDTHS 8 NATIVE 1 8 16)
slab_test(test_far api/test_far.c WIDTHS 8 NATIVE 1 8 16)
slab_test(test_ray_sets api/test_ray_sets.c NATIVE 1 8 16)
slab_test(test_set_casts api/test_set_casts.c fixtures/mixed_fates.c NATIVE 1 8 16)
slab_test(test_sums api/test_sums.c fixtures/mixed_fates.c NATIVE 1 8 16)
slab_test(test_serialize api/test_serialize.c fixtures/mixed_fates.c NATIVE 0)
slab_test(test_threads api/test_threads.c fixtures/counting_scene.c fixtures/mixed_fates.c NATIVE 0)
slab_test(test_helpers api/test_helpers.c NATIVE 0)

# The pool of threads, of which the test keeps some from starting.
set(pool_sources ${PROJECT_SOURCE_DIR}/host/base/pool.c ${PROJECT_SOURCE_DIR}/host/base/processors.c ${PROJECT_SOURCE_DIR}/host/os/${slab_os}.c)
if(NOT WIN32) # it has no forks and no signals, which most of the test is about
  slab_test(test_pool api/test_pool.c fixtures/modes.c ${pool_sources} HOST_ONLY)
  target_include_directories(test_pool PRIVATE ${PROJECT_SOURCE_DIR}/host)
  target_link_options(test_pool PRIVATE -Wl,--wrap=pthread_create)
endif()

# The ways in which a caller's thread may compute; and on a device whose kernels run on that thread.
slab_test(test_arithmetic api/test_arithmetic.c fixtures/modes.c NATIVE 0)
slab_test(test_control api/test_control.c fixtures/modes.c HOST_ONLY)
if(NOT MINGW) # whose fesetenv keeps flush to zero; the library does not call it on x86-64
  slab_test(test_control_by_fenv api/test_control.c fixtures/modes.c HOST_ONLY)
  target_compile_definitions(test_control_by_fenv PRIVATE SLAB_ARITHMETIC_BY_FENV)
endif()

# And what a caller may be compiled with.
include(CheckCCompilerFlag)
check_c_compiler_flag("-march=haswell -ffp-contract=fast" slab_contracts)
if(slab_contracts)
  slab_test(test_flags api/test_flags.c api/callers_flags.c HOST_ONLY)
  set_source_files_properties(api/callers_flags.c PROPERTIES COMPILE_OPTIONS "-O3;-march=haswell;-ffp-contract=fast")
  set_tests_properties(test_flags PROPERTIES SKIP_RETURN_CODE 77)
endif()

# Examples that solve a problem: the programs, from which docs/examples.py draws, and their answers by other formulas.
add_custom_target(slab_examples)
set(slab_example_names sight_lines picking culling robot_cell sky_view lidar_drive)
if(MINGW)
  list(REMOVE_ITEM slab_example_names culling) # its C library has no timespec_get of C11
endif()
foreach(example IN LISTS slab_example_names)
  add_executable(${example} ${PROJECT_SOURCE_DIR}/examples/${example}.c)
  target_link_libraries(${example} PRIVATE slab_flags slabcast_lib m)
  add_dependencies(slab_examples ${example})
  slab_test(example_${example} examples/test_${example}.c NATIVE 0)
endforeach()

# The oracle alone, against hand-derived cases and against exact rational arithmetic.
slab_test(test_oracle geometry/test_oracle.c HOST_ONLY)
target_include_directories(test_oracle PRIVATE ${PROJECT_SOURCE_DIR}/host)
target_link_libraries(test_oracle PRIVATE slab_internal)
slab_test(test_far_rays geometry/test_far_rays.c HOST_ONLY)
target_include_directories(test_far_rays PRIVATE ${PROJECT_SOURCE_DIR}/host)
target_link_libraries(test_far_rays PRIVATE slab_internal)
slab_test(test_oracle_exact geometry/test_oracle_exact.c HOST_ONLY)
target_include_directories(test_oracle_exact PRIVATE ${PROJECT_SOURCE_DIR}/host)
target_link_libraries(test_oracle_exact PRIVATE slab_internal PkgConfig::GMP)

# Decimals of the program's text files.
if(NOT MINGW) # whose C library does not print all digits
  slab_test(test_decimal geometry/test_decimal.c ${PROJECT_SOURCE_DIR}/program/io/decimal.c HOST_ONLY)
  target_include_directories(test_decimal PRIVATE ${PROJECT_SOURCE_DIR})
endif()

# The program's splitting of polygons.
slab_test(test_polygon geometry/test_polygon.c ${PROJECT_SOURCE_DIR}/program/mesh/polygon.c HOST_ONLY)
target_include_directories(test_polygon PRIVATE ${PROJECT_SOURCE_DIR})

# The program's own readers of mesh files.
set(mesh_reader_sources scan.c obj.c ply.c stl.c off.c lwob.c builder.c points.c polygon.c mesh_pipe.c ../io/text.c ../io/decimal.c ../os/${slab_os}.c)
list(TRANSFORM mesh_reader_sources PREPEND ${PROJECT_SOURCE_DIR}/program/mesh/)
slab_test(test_readers meshes/test_readers.c ${mesh_reader_sources} HOST_ONLY)
target_include_directories(test_readers PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/host)

# Division and roots for devices that round neither correctly: whole numbers, so the host can prove them.
slab_test(test_exact geometry/test_exact.c HOST_ONLY)

# Device answers before the oracle, and how many it leaves undecided.
slab_test(test_verdict geometry/test_verdict.c fixtures/verdict.c fixtures/verdict_sets.c fixtures/counting_scene.c WIDTHS 1 8 16 NATIVE 1 8 16)

# slab_explain of single rays, against casts of the same. OpenCL would compile a program for each of its scenes.
add_executable(test_explain geometry/test_explain.c fixtures/verdict.c fixtures/verdict_sets.c)
target_link_libraries(test_explain PRIVATE slab_harness)
slab_native_test(test_explain 1 8 16)

# The contract's geometry, row by row: every query against the others, the CPU reference, the oracle, and hands.
# OpenCL compiles the tests of boxes, edges and closed meshes at every width, and the others at the device's own.
foreach(contract box triangle_edges)
  slab_test(test_${contract} geometry/test_${contract}.c fixtures/expect.c WIDTHS 1 8 16 NATIVE 1 8 16)
endforeach()
slab_test(test_watertight geometry/test_watertight.c fixtures/expect.c WIDTHS 1 8 16 NATIVE 8 16)
slab_test(test_closed geometry/test_closed.c fixtures/expect.c WIDTHS 1 8 NATIVE 1 8 16)
# Two suites of others, written anew: natively in every layout, build quality and traversal, on OpenCL flat.
foreach(suite divided shells)
  slab_test(test_${suite} geometry/test_${suite}.c fixtures/ways.c WIDTHS 8 NATIVE 1 8 16)
endforeach()
foreach(contract box_bounds sphere plane obb triangle random)
  slab_test(test_${contract} geometry/test_${contract}.c fixtures/expect.c NATIVE 1 8 16)
endforeach()
foreach(contract rays options)
  slab_test(test_${contract} geometry/test_${contract}.c fixtures/unit_shapes.c fixtures/expect.c NATIVE 1 8 16)
endforeach()

# Tests for mutants that survived before.
slab_test(test_gaps geometry/test_gaps.c fixtures/expect.c NATIVE 1 8 16)

# The one invariant: no tree can change an answer. Trees are met 8 lanes wide at width 16, so 8 would add nothing. Nor
# can a traversal: packets hold 8 rays or 16, and there is no choice at width 1.
slab_test(test_bvh_answers bvh/test_bvh_answers.c WIDTHS 1 16 NATIVE 1 8 16)
slab_test(test_traversals bvh/test_traversals.c WIDTHS 16 NATIVE 8 16)
slab_test(test_sort bvh/test_sort.c ${PROJECT_SOURCE_DIR}/host/work/ray_order.c ${PROJECT_SOURCE_DIR}/host/base/radix.c ${pool_sources} HOST_ONLY)
slab_test(test_tiles bvh/test_tiles.c ${PROJECT_SOURCE_DIR}/host/native/tiles.c HOST_ONLY)
slab_test(test_learn bvh/test_learn.c ${PROJECT_SOURCE_DIR}/host/native/learn.c HOST_ONLY)
slab_test(test_traversal_choice bvh/test_traversal_choice.c ${PROJECT_SOURCE_DIR}/host/schedule/traversal_choice.c ${PROJECT_SOURCE_DIR}/host/work/ray_order.c
  ${PROJECT_SOURCE_DIR}/host/base/radix.c ${pool_sources} HOST_ONLY)
slab_test(test_collect api/test_collect.c ${PROJECT_SOURCE_DIR}/host/work/hit_batch.c ${PROJECT_SOURCE_DIR}/host/bvh/memory.c ${pool_sources}
  HOST_ONLY)
foreach(test test_sort test_tiles test_learn test_traversal_choice test_collect)
  target_include_directories(${test} PRIVATE ${PROJECT_SOURCE_DIR}/host)
endforeach()

slab_test(test_occluder bvh/test_occluder.c HOST_ONLY)
slab_test(test_quantised bvh/test_quantised.c ${PROJECT_SOURCE_DIR}/host/bvh/compressed.c ${PROJECT_SOURCE_DIR}/host/device/tuning.c ${pool_sources} HOST_ONLY)
target_include_directories(test_quantised PRIVATE ${PROJECT_SOURCE_DIR}/host)

# The replay of its rays in the warps of GPUs, which the benchmark of divergence counts with.
slab_test(test_warp bvh/test_warp.c ${PROJECT_SOURCE_DIR}/bench/warp.c HOST_ONLY)
target_include_directories(test_warp PRIVATE ${PROJECT_SOURCE_DIR}/bench ${PROJECT_SOURCE_DIR}/host)

# How far off distances of triangles are, by the oracle's true ones.
add_executable(test_points_error geometry/test_points_error.c fixtures/harness.c)
target_include_directories(test_points_error PRIVATE fixtures ${PROJECT_SOURCE_DIR}/host ${PROJECT_SOURCE_DIR}/kernels)
target_link_libraries(test_points_error PRIVATE slab_flags slab_sets slab_internal PkgConfig::CMOCKA ${CMAKE_DL_LIBS} m)
slab_native_test(test_points_error 8)

foreach(test test_stack test_blocks)
  add_executable(${test} bvh/${test}.c fixtures/harness.c)
  target_include_directories(${test} PRIVATE fixtures ${PROJECT_SOURCE_DIR}/host)
  target_link_libraries(${test} PRIVATE slab_flags slab_sets slab_internal PkgConfig::CMOCKA ${CMAKE_DL_LIBS} m)
  slab_register(${test} BACKEND native COMMAND ${test})
endforeach()

# Functions that are compiled a second time, for x86-64 processors with fma.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_executable(test_per_processor bvh/test_per_processor.c fixtures/harness.c)
  target_include_directories(test_per_processor PRIVATE fixtures ${PROJECT_SOURCE_DIR}/host)
  target_link_libraries(test_per_processor PRIVATE slab_flags slab_sets slab_internal PkgConfig::CMOCKA ${CMAKE_DL_LIBS} m)
  slab_native_test(test_per_processor 0)
endif()

# The default build of few primitives.
add_executable(test_small bvh/test_small.c fixtures/harness.c)
target_include_directories(test_small PRIVATE fixtures ${PROJECT_SOURCE_DIR}/host)
target_link_libraries(test_small PRIVATE slab_flags slab_sets slab_internal PkgConfig::CMOCKA ${CMAKE_DL_LIBS} m)
slab_native_test(test_small 1 8 16)
if(slab_all_tests)
  slab_register(test_small COMMAND test_small)
endif()

# Primitives that a BVH leaves out.
add_executable(test_collapsed bvh/test_collapsed.c fixtures/ways.c fixtures/filled.c fixtures/harness.c)
target_include_directories(test_collapsed PRIVATE fixtures ${PROJECT_SOURCE_DIR}/host)
target_link_libraries(test_collapsed PRIVATE slab_flags slab_sets slab_internal PkgConfig::CMOCKA ${CMAKE_DL_LIBS} m)
slab_native_test(test_collapsed 1 8 16)

# Ranges of primitives that change.
add_executable(test_moves bvh/test_moves.c fixtures/harness.c)
target_include_directories(test_moves PRIVATE fixtures ${PROJECT_SOURCE_DIR}/host)
target_link_libraries(test_moves PRIVATE slab_flags slab_sets slab_internal PkgConfig::CMOCKA ${CMAKE_DL_LIBS} m)
slab_native_test(test_moves 8)

# Instances that are rigid but for a scale.
add_executable(test_scale geometry/test_scale.c fixtures/harness.c)
target_include_directories(test_scale PRIVATE fixtures ${PROJECT_SOURCE_DIR}/host)
target_link_libraries(test_scale PRIVATE slab_flags slab_sets slab_internal PkgConfig::CMOCKA ${CMAKE_DL_LIBS} m)
slab_native_test(test_scale 0)

# Contents of both BVHs.
add_executable(test_both bvh/test_both.c fixtures/harness.c)
target_include_directories(test_both PRIVATE fixtures ${PROJECT_SOURCE_DIR}/host)
target_link_libraries(test_both PRIVATE slab_flags slab_sets slab_internal PkgConfig::CMOCKA ${CMAKE_DL_LIBS} m)
slab_native_test(test_both 8)
if(slab_all_tests)
  slab_register(test_both COMMAND test_both)
endif()

slab_test(test_scene_memory bvh/test_scene_memory.c HOST_ONLY)

# The tree builder alone: its sources are compiled in, since the library hides them.
set(bvh_sources build references curve split collapse reinsert wide memory ../base/radix ../base/pool ../base/processors ../os/${slab_os})
list(TRANSFORM bvh_sources PREPEND ${PROJECT_SOURCE_DIR}/host/bvh/)
list(TRANSFORM bvh_sources APPEND .c)
slab_test(test_bvh bvh/test_bvh.c bvh/bvh_inspect.c ${bvh_sources} HOST_ONLY)
target_include_directories(test_bvh PRIVATE ${PROJECT_SOURCE_DIR}/host)

# Which floating-point flags a call raises before they are taken back, from within. MXCSR is x86's.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_executable(test_raised api/test_raised.c fixtures/harness.c)
  target_include_directories(test_raised PRIVATE fixtures)
  target_link_libraries(test_raised PRIVATE slab_flags slab_sets slab_internal PkgConfig::CMOCKA ${CMAKE_DL_LIBS} m)
  slab_native_test(test_raised 8 16)
endif()

# Of the long proof: the answers that another processor must give.
add_executable(digests prove/digests.c)
target_link_libraries(digests PRIVATE slab_flags slab_sets slabcast_lib m)


add_subdirectory(faults)

# gpu/ with no driver. Other processors are emulated, and would run the same for minutes.
if("c11" IN_LIST slab_levels AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT CMAKE_CROSSCOMPILING)
  add_subdirectory(pretended)
endif()
