/* This comes before the texts of slabcast_device.h in CUDA C++, which are read as OpenCL C. It defines that language's
 * words and functions by CUDA's. host/gpu/trace.c forgets its macros after the texts. Names that it declares beside
 * them begin with slab_. */
#ifndef LANES_CUDA_H
#define LANES_CUDA_H

#define __OPENCL_C_VERSION__ 120
#define __asm__ asm
#define global
#define constant static const
/* Macros, since headers of the system may have types of these names, and ulong is another type there. */
#define uchar unsigned char
#define ushort unsigned short
#define uint unsigned int
#define ulong unsigned long long

SLAB_FUNCTION unsigned slab_bits(float x) { return __float_as_uint(x); }
SLAB_FUNCTION unsigned slab_bits(unsigned x) { return x; }
SLAB_FUNCTION unsigned slab_bits(int x) { return (unsigned)x; }
#define as_int(x) ((int)slab_bits(x))
#define as_uint(x) slab_bits(x)
#define as_float(x) __uint_as_float(x)

#define INT_MAX 0x7FFFFFFF
#define popcount(x) ((uint)__popc(x))
#define clz(x) ((uint)__clz((int)(x)))
#define atomic_add(p, n) atomicAdd((uint *)(p), n)
#define atomic_inc(p) atomicAdd((uint *)(p), 1u)

/* IEEE 754's, rounded to nearest, also where the compiler's options allow other quotients and roots. */
#define fma(a, b, c) __fmaf_rn(a, b, c)
#define sqrt(x) __fsqrt_rn(x)
#define fabs(x) fabsf(x)
#define fmax(a, b) fmaxf(a, b)
#define fmin(a, b) fminf(a, b)

/* Functions of the texts are the card's. */
#define static static __device__

#endif
