# Library and headers. Read by Python alone; by spack: never run.
from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage


class Slabcast(CMakePackage):
    """Casts massive batches of rays on processors and OpenCL devices."""

    homepage = "https://slabcast.invalid"
    url = "https://slabcast.invalid/v0.1.0/slabcast-0.1.0.tar.gz"

    license("MIT")

    version("0.1.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    variant("shared", default=True, description="Build the library shared")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("llvm@14: +clang", type="build")  # clang compiles the kernels for vector registers

    def cmake_args(self):
        return [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define("SLABCAST_PROGRAM", False),
            self.define("SLABCAST_BENCH", False),
            self.define("SLABCAST_TESTS", False),
            self.define("SLABCAST_KERNEL_COMPILER", self.spec["llvm"].prefix.bin.clang),
        ]
