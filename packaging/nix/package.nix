# Library and headers: pkgs.callPackage ./package.nix { }. Read by nix-instantiate --parse; builds: never run.
{
  lib,
  stdenv,
  fetchurl,
  buildPackages,
  cmake,
  ninja,
}:

stdenv.mkDerivation (finalAttrs: {
  pname = "slabcast";
  version = "0.1.0";

  src = fetchurl {
    url = "https://slabcast.invalid/v${finalAttrs.version}/slabcast-${finalAttrs.version}.tar.gz";
    sha256 = "0000000000000000000000000000000000000000000000000000000000000000";
  };

  nativeBuildInputs = [
    cmake
    ninja
  ];

  # clang compiles the kernels for vector registers; unwrapped, since the wrapper's options are for the C compiler.
  cmakeFlags = [
    (lib.cmakeBool "SLABCAST_PROGRAM" false)
    (lib.cmakeBool "SLABCAST_BENCH" false)
    (lib.cmakeBool "SLABCAST_TESTS" false)
    (lib.cmakeFeature "SLABCAST_KERNEL_COMPILER" "${buildPackages.llvmPackages.clang-unwrapped}/bin/clang")
  ];

  doInstallCheck = stdenv.buildPlatform.canExecute stdenv.hostPlatform;
  installCheckPhase = ''
    $CC $out/share/doc/slabcast/examples/closest.c -I$out/include -L$out/lib -lslabcast -Wl,-rpath,$out/lib -o closest
    ./closest
  '';

  meta = {
    description = "Casts massive batches of rays on processors and OpenCL devices";
    homepage = "https://slabcast.invalid";
    license = lib.licenses.mit;
    platforms = lib.platforms.linux ++ lib.platforms.darwin;
  };
})
