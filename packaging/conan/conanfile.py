"""Library and headers for Conan 2. Created on Linux x86-64 by gcc; on other systems and compilers: never run."""

import os
import shutil

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, get, rmdir

required_conan_version = ">=2.0"


class Slabcast(ConanFile):
    name = "slabcast"
    version = "0.1.0"
    description = "Casts massive batches of rays on processors and OpenCL devices"
    homepage = "https://slabcast.invalid"
    license = "MIT"
    topics = ("ray-casting", "ray-tracing", "mesh", "bvh", "opencl")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": True}

    def configure(self):
        self.settings.rm_safe("compiler.cppstd")
        self.settings.rm_safe("compiler.libcxx")

    def layout(self):
        cmake_layout(self, src_folder="src")

    def validate_build(self):
        if not shutil.which("clang"):  # no package of clang is known to compile OpenCL C
            raise ConanInvalidConfiguration("clang 14 or later compiles the kernels, and is not on PATH")

    def source(self):
        archive = f"https://slabcast.invalid/v{self.version}/slabcast-{self.version}.tar.gz"
        get(self, archive, sha256="0000000000000000000000000000000000000000000000000000000000000000", strip_root=True)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in "PROGRAM", "BENCH", "TESTS":
            toolchain.cache_variables[f"SLABCAST_{part}"] = "OFF"
        toolchain.cache_variables["SLABCAST_KERNEL_COMPILER"] = shutil.which("clang")
        toolchain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_OpenCL"] = True  # the machine's, not the package's
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        for folder in "share", "lib/cmake", "lib/pkgconfig":
            rmdir(self, os.path.join(self.package_folder, folder))

    def package_info(self):
        self.cpp_info.libs = ["slabcast"]
        if not self.options.shared and self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs = ["pthread", "m", "dl"]
