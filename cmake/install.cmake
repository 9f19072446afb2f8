# Installed files, and how others find them: CMake's find_package(slabcast) and pkg-config's slabcast.pc.
# Both name the libraries that an archive calls plainly. So programs that link it need no package of CMake's, no C
# compiler and no headers for them. Programs that link the shared library need none of them.

# slab_plain(RESULT LIBRARY...): -lNAME where linkers look by themselves, else the path.
function(slab_plain result)
  set(plain "")
  foreach(library IN LISTS ARGN)
    get_filename_component(folder "${library}" DIRECTORY)
    if(library MATCHES "\\.framework$")
      get_filename_component(name "${library}" NAME_WE)
      list(APPEND plain "-framework ${name}")
    elseif(folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES AND library MATCHES "/lib([^/]*)\\.(so|a|dylib|tbd)$")
      list(APPEND plain "-l${CMAKE_MATCH_1}")
    else()
      list(APPEND plain "${library}")
    endif()
  endforeach()
  set(${result} "${plain}" PARENT_SCOPE)
endfunction()

slab_plain(slab_plain_libraries ${CMAKE_THREAD_LIBS_INIT} -lm)
list(TRANSFORM CMAKE_DL_LIBS PREPEND -l OUTPUT_VARIABLE slab_plain_dl)
list(PREPEND slab_plain_libraries ${slab_plain_dl})
list(REMOVE_DUPLICATES slab_plain_libraries)
foreach(library IN LISTS slab_plain_libraries)
  target_link_libraries(slab_lib PRIVATE "$<INSTALL_INTERFACE:${library}>")
endforeach()

if(TARGET slab_cl)
  slab_plain(slab_plain_opencl ${OpenCL_LIBRARY})
  target_link_libraries(slab_cl INTERFACE "$<INSTALL_INTERFACE:${slab_plain_opencl}>")
  if(NOT OpenCL_INCLUDE_DIR IN_LIST CMAKE_C_IMPLICIT_INCLUDE_DIRECTORIES)
    target_include_directories(slab_cl INTERFACE $<INSTALL_INTERFACE:${OpenCL_INCLUDE_DIR}>)
  endif()
  install(TARGETS slab_cl EXPORT slabcast)
endif()

set(slab_cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/slabcast)
install(
  TARGETS slab_lib EXPORT slabcast
  LIBRARY COMPONENT library NAMELINK_COMPONENT development
  ARCHIVE COMPONENT development)
if(TARGET slab_cuda)
  set(slab_beside ${CMAKE_INSTALL_LIBDIR}) # the folder of the library
  if(WIN32)
    set(slab_beside ${CMAKE_INSTALL_BINDIR})
  endif()
  install(TARGETS slab_cuda LIBRARY DESTINATION ${slab_beside} COMPONENT library)
endif()
install(
  FILES host/include/slabcast.h host/include/slabcast_types.h host/include/slabcast_device.h
        host/include/slabcast_cl.h host/include/slabcast_cuda.h
  TYPE INCLUDE COMPONENT development)
set(slab_example_folder ${CMAKE_INSTALL_DATAROOTDIR}/doc/slabcast/examples)
set(slab_examples closest enqueue helpers lidar_drive sight_lines picking culling robot_cell occlusion sky_view walk)
list(TRANSFORM slab_examples REPLACE "(.+)" "examples/\\1.c")
install(FILES ${slab_examples} DESTINATION ${slab_example_folder} COMPONENT development)
# Of no package: those have a copyright file.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/slabcast COMPONENT license)
install(
  EXPORT slabcast NAMESPACE slabcast:: FILE slabcast-config.cmake
  DESTINATION ${slab_cmake_folder} COMPONENT development)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/slabcast-config-version.cmake COMPATIBILITY SameMinorVersion)
install(
  FILES ${PROJECT_BINARY_DIR}/slabcast-config-version.cmake
  DESTINATION ${slab_cmake_folder} COMPONENT development)

# The manuals and completions that the programs write (program/CMakeLists.txt).
foreach(folder IN LISTS slab_manuals)
  set(component program)
  if(folder MATCHES "-mpi$")
    set(component mpi)
  endif()
  install(DIRECTORY ${folder}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT ${component})
  install(
    DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_DATAROOTDIR} COMPONENT ${component}
    PATTERN man EXCLUDE)
endforeach()

# Relative to the file itself, so that an installation may be moved.
set(slab_pc_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH slab_pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" slab_pc_prefix "${slab_pc_prefix}")
cmake_path(APPEND slab_pc_libdir "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
cmake_path(APPEND slab_pc_includedir "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
list(JOIN slab_plain_libraries " " slab_pc_private)
configure_file(cmake/slabcast.pc.in slabcast.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/slabcast.pc DESTINATION ${slab_pc_folder} COMPONENT development)
if(TARGET slab_cl)
  configure_file(cmake/slabcast-cl.pc.in slabcast-cl.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/slabcast-cl.pc DESTINATION ${slab_pc_folder} COMPONENT development)
endif()
