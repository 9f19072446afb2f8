/* Included before a kernel's text where it is compiled ahead of time for NVIDIA's cards, to PTX. It declares the types
 * of OpenCL C and defines the functions of it that the kernels call, by nvvm's intrinsics. Neither libclc nor the
 * compiler's own header of OpenCL C is needed. Any clang that has the target compiles it. */
#ifndef LANES_PTX_H
#define LANES_PTX_H

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef int int4 __attribute__((ext_vector_type(4)));
typedef uint uint2 __attribute__((ext_vector_type(2)));
typedef uint uint4 __attribute__((ext_vector_type(4)));
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define INT_MAX __INT_MAX__
#define CLK_LOCAL_MEM_FENCE 1

#define PTX static inline __attribute__((always_inline, overloadable))

#define as_int(x) __builtin_astype(x, int)
#define as_uint(x) __builtin_astype(x, uint)
#define as_ulong(x) __builtin_astype(x, ulong)
#define as_float(x) __builtin_astype(x, float)
#define as_uint4(x) __builtin_astype(x, uint4)

/* ---- work-items: launches have one dimension ---- */

PTX size_t get_local_id(uint axis) { return __nvvm_read_ptx_sreg_tid_x(); }
PTX size_t get_local_size(uint axis) { return __nvvm_read_ptx_sreg_ntid_x(); }
PTX size_t get_global_size(uint axis) {
  return (size_t)(uint)__nvvm_read_ptx_sreg_nctaid_x() * (uint)__nvvm_read_ptx_sreg_ntid_x();
}
/* In 64 bits: a launch may have 2^32 work-items. */
PTX size_t get_global_id(uint axis) {
  return (size_t)(uint)__nvvm_read_ptx_sreg_ctaid_x() * (uint)__nvvm_read_ptx_sreg_ntid_x() +
         (uint)__nvvm_read_ptx_sreg_tid_x();
}
#define barrier(what) __syncthreads()

/* ---- integers ---- */

PTX int min(int a, int b) { return a < b ? a : b; }
PTX int max(int a, int b) { return a > b ? a : b; }
PTX uint min(uint a, uint b) { return a < b ? a : b; }
PTX uint max(uint a, uint b) { return a > b ? a : b; }
PTX uint2 min(uint2 a, uint2 b) { return a < b ? a : b; }
PTX uint4 min(uint4 a, uint4 b) { return a < b ? a : b; }
#define popcount(x) ((uint)__builtin_popcount(x))
PTX uint clz(uint x) { return x == 0 ? 32u : (uint)__builtin_clz(x); }

/* Work-items count together, and order nothing by it. */
PTX uint atomic_add(volatile global uint *p, uint n) {
  return (uint)__nvvm_atom_add_gen_i((volatile global int *)p, (int)n);
}
PTX uint atomic_inc(volatile global uint *p) { return atomic_add(p, 1u); }
PTX uint atomic_max(volatile local uint *p, uint n) { return __nvvm_atom_max_gen_ui(p, n); }

/* ---- reals: IEEE 754's, rounded to nearest, subnormal numbers kept ---- */

PTX float fabs(float x) { return __builtin_fabsf(x); }
PTX float4 fabs(float4 x) { return __builtin_astype(__builtin_astype(x, int4) & INT_MAX, float4); }
PTX float fmax(float a, float b) { return __builtin_fmaxf(a, b); }
PTX float fmin(float a, float b) { return __builtin_fminf(a, b); }
PTX float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
PTX float sqrt(float x) { return __nvvm_sqrt_rn_f(x); }

/* ---- numbers of rays that a buffer holds: walk/counted.h ---- */

/* Every program has the parameters. The lines are comments in it, so that NVIDIA's assembler compiles it as if they
 * were not there (cmake/ptx_text.cmake). Where a cast needs them, host/cuda/ptx.c turns the lines into code. */
#define SLAB_COUNTED
#ifndef COUNTED_TAKE
#define COUNTED_TAKE(number, there, first)                         \
  __asm__ volatile(                                                \
      "COUNTED {.reg .pred none; .reg .u32 most; .reg .u64 end;\n" \
      "COUNTED ld.global.u32 most,[%1];\n"                         \
      "COUNTED min.u32 %0,%0,most;\n"                              \
      "COUNTED cvt.u64.u32 end,%0;\n"                              \
      "COUNTED setp.ge.u64 none,%2,end;\n"                         \
      "COUNTED @none exit;}"                                       \
      : "+r"(number)                                               \
      : "l"(there), "l"(first))
#endif

#endif
