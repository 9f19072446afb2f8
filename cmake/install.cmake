# What is installed, and how others find it: CMake's find_package(slabcast) and pkg-config's slabcast.pc.
# Both name the libraries that an archive calls plainly, so that who links it needs no package of CMake's, no C compiler
# and no headers for them; who links the shared library needs none of them.

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

slab_plain(slab_plain_libraries ${OpenCL_LIBRARY} ${OpenMP_C_LIBRARIES} ${CMAKE_THREAD_LIBS_INIT} -lm)
list(REMOVE_DUPLICATES slab_plain_libraries)
foreach(library IN LISTS slab_plain_libraries)
  target_link_libraries(slab_lib PRIVATE "$<INSTALL_INTERFACE:${library}>")
endforeach()

set(slab_cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/slabcast)
install(TARGETS slab_lib EXPORT slabcast)
install(FILES host/include/slabcast.h host/include/slabcast_types.h host/include/slabcast_cl.h TYPE INCLUDE)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/slabcast)
install(EXPORT slabcast NAMESPACE slabcast:: FILE slabcast-config.cmake DESTINATION ${slab_cmake_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/slabcast-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/slabcast-config-version.cmake DESTINATION ${slab_cmake_folder})

# Relative to the file itself, so that an installation may be moved.
set(slab_pc_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH slab_pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" slab_pc_prefix "${slab_pc_prefix}")
cmake_path(APPEND slab_pc_libdir "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
cmake_path(APPEND slab_pc_includedir "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
list(JOIN slab_plain_libraries " " slab_pc_private)
configure_file(cmake/slabcast.pc.in slabcast.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/slabcast.pc DESTINATION ${slab_pc_folder})
