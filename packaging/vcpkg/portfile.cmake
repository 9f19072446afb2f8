# Library and headers. Read by CMake alone; by vcpkg: never run.
vcpkg_download_distfile(archive
  URLS "https://slabcast.invalid/v${VERSION}/slabcast-${VERSION}.tar.gz"
  FILENAME "slabcast-${VERSION}.tar.gz"
  SHA512 00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000)
vcpkg_extract_source_archive(source ARCHIVE "${archive}")

# Compiles the kernels for vector registers: vcpkg looks for it, and reports which of the system's packages has it.
vcpkg_find_acquire_program(CLANG)
vcpkg_cmake_configure(
  SOURCE_PATH "${source}"
  OPTIONS
    -DSLABCAST_PROGRAM=OFF
    -DSLABCAST_BENCH=OFF
    -DSLABCAST_TESTS=OFF
    "-DSLABCAST_KERNEL_COMPILER=${CLANG}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/slabcast)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${source}/LICENSE")
