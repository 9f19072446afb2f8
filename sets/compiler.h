/* The name of the compiler that compiled this, for the reports of benchmarks. */
#ifndef SLABCAST_SETS_COMPILER_H
#define SLABCAST_SETS_COMPILER_H

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

#endif
