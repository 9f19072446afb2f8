# Library and headers. Read by ruby -c; by brew: never run.
class Slabcast < Formula
  desc "Casts massive batches of rays on processors and OpenCL devices"
  homepage "https://slabcast.invalid"
  url "https://slabcast.invalid/v0.1.0/slabcast-0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on "cmake" => :build
  depends_on "llvm" => :build # clang compiles the kernels for vector registers

  def install
    system "cmake", "-S", ".", "-B", "build",
           "-DSLABCAST_PROGRAM=OFF", "-DSLABCAST_BENCH=OFF", "-DSLABCAST_TESTS=OFF",
           "-DSLABCAST_KERNEL_COMPILER=#{Formula["llvm"].opt_bin}/clang", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    system ENV.cc, doc/"examples/closest.c", "-I#{include}", "-L#{lib}", "-lslabcast", "-o", "closest"
    assert_match "ray 2: nothing", shell_output("./closest")
  end
end
