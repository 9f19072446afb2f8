# Debian packages, by CPack: `./dev package` builds and checks them (tests/packages.sh). There is one for each component
# of the installation; files without a component go with the program. Another package, as that of another language, is
# a call of slab_package below, and a component of that name in the rules that install its files.
#   CPACK_PACKAGE_CONTACT   the packages' contact: give an address that is read to those that are published
set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
if(NOT CPACK_PACKAGE_CONTACT)
  set(CPACK_PACKAGE_CONTACT "Slabcast contributors <slabcast@users.noreply.github.com>")
endif()
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # else every package would have the same
set(CPACK_DEBIAN_PACKAGE_SOURCE slabcast)
set(CPACK_DEBIAN_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(slab_package_version ${CPACK_DEBIAN_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}) # the library, which no package has yet
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# ---- what every package has in its folder of documents ----

set(slab_package_dir ${PROJECT_BINARY_DIR}/package)
file(READ LICENSE slab_license)
string(REGEX MATCH "Copyright[^\n]*" slab_copyright "${slab_license}")
string(REGEX REPLACE "^Copyright \\(c\\) " "" slab_copyright "${slab_copyright}")
string(REGEX REPLACE "^.*Copyright[^\n]*\n+" "" slab_license "${slab_license}")
string(REGEX REPLACE "\n+$" "" slab_license "${slab_license}")
string(REPLACE "\n\n" "\n.\n" slab_license "${slab_license}")
string(REPLACE "\n" "\n " slab_license "${slab_license}")
file(CONFIGURE OUTPUT ${slab_package_dir}/copyright CONTENT [[
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Slabcast

Files: *
Copyright: @slab_copyright@
License: Expat

License: Expat
 @slab_license@
]] @ONLY)

# Dated as the commit.
execute_process(
  COMMAND git log -1 --format=%cD WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  OUTPUT_VARIABLE slab_date OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT slab_date)
  string(TIMESTAMP slab_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
endif()
file(CONFIGURE OUTPUT ${slab_package_dir}/changelog.Debian CONTENT [[
slabcast (@slab_package_version@) unstable; urgency=medium

  * Slabcast @PROJECT_VERSION@: changelog.gz beside this file says what is new.

 -- @CPACK_PACKAGE_CONTACT@  @slab_date@
]] @ONLY)
configure_file(CHANGELOG.md ${slab_package_dir}/changelog COPYONLY)
foreach(text changelog changelog.Debian)
  execute_process(COMMAND gzip -9nc ${slab_package_dir}/${text} OUTPUT_FILE ${slab_package_dir}/${text}.gz)
endforeach()

# ---- the packages ----

# slab_package(COMPONENT NAME SECTION MULTIARCH DEPENDS SUGGESTS DESCRIPTION): packages that its files call are added to
# DEPENDS; the first line of DESCRIPTION is the short one. CMake before 3.31 writes no field Multi-Arch.
macro(slab_package component name section multiarch depends suggests description)
  string(TOUPPER ${component} upper)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_PACKAGE_MULTIARCH ${multiarch})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_SUGGESTS "${suggests}")
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${description}")
  install(
    FILES ${slab_package_dir}/copyright ${slab_package_dir}/changelog.gz ${slab_package_dir}/changelog.Debian.gz
    DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${name} COMPONENT ${component} EXCLUDE_FROM_ALL)
endmacro()

set(CPACK_COMPONENTS_ALL "")
get_target_property(slab_soversion slab_lib SOVERSION)
set(slab_runtime libslabcast${slab_soversion})
set(slab_about "Slabcast casts batches of millions of rays at planes, spheres, boxes, oriented
boxes and triangles, on the processor and on any OpenCL 1.2 device. All devices
return the same bits, and a written contract says what they are.")
slab_package(library ${slab_runtime} libs same "" "opencl-icd" "massive ray batches on processors and OpenCL devices
${slab_about}
.
This package has the shared library. It needs no OpenCL: its kernels for
processors are compiled ahead of time, and OpenCL is opened where it is there.")
slab_package(development libslabcast-dev libdevel same "${slab_runtime} (= ${slab_package_version})"
  "ocl-icd-opencl-dev" "massive ray batches on processors and OpenCL devices (headers)
${slab_about}
.
This package has the headers, and the files by which pkg-config and CMake find
the library. slabcast_cl.h alone needs OpenCL's headers, of ocl-icd-opencl-dev.")
if(slab_program)
  slab_package(program slabcast science foreign "${slab_runtime} (= ${slab_package_version})" "opencl-icd"
    "massive ray batches on processors and OpenCL devices (program)
${slab_about}
.
This package has the program: it makes rays, casts rays of files at meshes and
other geometry, draws, and checks and measures devices.")
endif()
if(TARGET slabcast-mpi)
  slab_package(mpi slabcast-mpi science foreign "${slab_runtime} (= ${slab_package_version}), openmpi-bin"
    slabcast
    "massive ray batches on processors and OpenCL devices (for clusters)
${slab_about}
.
This package has slabcast-mpi, which casts the rays of a file on all ranks of
an MPI job.")
endif()

# For Debian's Python of any version: the modules alone, which load the library by its SONAME. pip lists the METADATA,
# and the modules read their version there. Without a file RECORD pip leaves the package to apt.
slab_package(python3 python3-slabcast python ""
  "python3 (>= 3.9), python3-numpy, ${slab_runtime} (>= ${PROJECT_VERSION})" python3-pyopencl
  "massive ray batches on processors and OpenCL devices (Python 3)
${slab_about}
.
This package has the Python package, which casts arrays of NumPy and stands in
for the ray interfaces of trimesh and Open3D.")
set(CPACK_DEBIAN_PYTHON3_PACKAGE_ARCHITECTURE all)
foreach(field description requires-python dependencies)
  file(STRINGS pyproject.toml slab_line REGEX "^${field} = ")
  string(REGEX REPLACE "^[^\"]*\"([^\"]*)\".*$" "\\1" slab_python_${field} "${slab_line}")
endforeach()
file(CONFIGURE OUTPUT ${slab_package_dir}/METADATA CONTENT [[
Metadata-Version: 2.1
Name: slabcast
Version: @PROJECT_VERSION@
Summary: @slab_python_description@
License: MIT
Requires-Python: @slab_python_requires-python@
Requires-Dist: @slab_python_dependencies@
]] @ONLY)
file(WRITE ${slab_package_dir}/INSTALLER "debian\n")
set(slab_python_folder lib/python3/dist-packages)
install(
  DIRECTORY python/slabcast DESTINATION ${slab_python_folder} COMPONENT python3 EXCLUDE_FROM_ALL
  FILES_MATCHING PATTERN *.py PATTERN py.typed PATTERN __pycache__ EXCLUDE)
install(
  FILES ${slab_package_dir}/METADATA ${slab_package_dir}/INSTALLER
  DESTINATION ${slab_python_folder}/slabcast-${PROJECT_VERSION}.dist-info COMPONENT python3 EXCLUDE_FROM_ALL)
install(
  DIRECTORY python/examples/ DESTINATION ${slab_example_folder} COMPONENT python3 EXCLUDE_FROM_ALL
  FILES_MATCHING PATTERN *.py PATTERN __pycache__ EXCLUDE)
# Modules are compiled where they are installed, for the Python that is there.
file(WRITE ${slab_package_dir}/postinst [[
#!/bin/sh
set -e
if command -v py3compile >/dev/null 2>&1; then
  py3compile -p python3-slabcast
fi
]])
file(WRITE ${slab_package_dir}/prerm [[
#!/bin/sh
set -e
if command -v py3clean >/dev/null 2>&1; then
  py3clean -p python3-slabcast
else
  rm -rf /usr/lib/python3/dist-packages/slabcast/__pycache__
fi
]])
set(CPACK_DEBIAN_PYTHON3_PACKAGE_CONTROL_EXTRA ${slab_package_dir}/postinst ${slab_package_dir}/prerm)

# Programs that link the library need its package of that version or a later one: within a SONAME functions only come.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
# A trigger, as Debian's policy has it. CPack would write scripts that call ldconfig too, unless some are named; those
# that are not there are left out.
file(WRITE ${slab_package_dir}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
  ${slab_package_dir}/triggers ${slab_package_dir}/none/postinst ${slab_package_dir}/none/postrm)
# Debian has manuals compressed, and its zsh looks for completions in another folder.
file(WRITE ${slab_package_dir}/debian.cmake [[
file(GLOB pages ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*/usr/share/man/man*/*.[1-9])
if(pages)
  execute_process(COMMAND gzip -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()
file(GLOB folders ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*/usr/share/zsh/site-functions)
foreach(folder IN LISTS folders)
  get_filename_component(zsh ${folder} DIRECTORY)
  file(RENAME ${folder} ${zsh}/vendor-completions)
endforeach()
]])
set(CPACK_PRE_BUILD_SCRIPTS ${slab_package_dir}/debian.cmake)
include(CPack)
