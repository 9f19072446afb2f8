/* The part of CUDA C++ that kernels of tests and slabcast_device.h use, for a compiler of C++ for this processor. A
 * kernel becomes a function that the stand-in calls once per thread (STANDIN_KERNEL, which tests/cuda/nvrtc.c adds). */
#ifndef HOST_CUDA_H
#define HOST_CUDA_H

#define __device__
#define __global__
typedef decltype(sizeof 0) size_t;

struct float2 {
  float x, y;
};
struct float3 {
  float x, y, z;
};
struct float4 {
  float x, y, z, w;
};
struct uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
static inline float3 make_float3(float x, float y, float z) { return {x, y, z}; }

struct standin_index {
  unsigned x, y, z;
};
static __thread standin_index threadIdx, blockDim, blockIdx, gridDim;

static inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
static inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
static inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
static inline unsigned atomicAdd(unsigned *p, unsigned n) { return __atomic_fetch_add(p, n, __ATOMIC_RELAXED); }
static inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
static inline float fabsf(float x) { return __builtin_fabsf(x); }
static inline float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
static inline float fminf(float a, float b) { return __builtin_fminf(a, b); }
static inline int min(int a, int b) { return a < b ? a : b; }
static inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }

/* ---- calling a kernel with the addresses of its arguments ---- */

template <int... K>
struct standin_list {};
template <int N, int... K>
struct standin_count : standin_count<N - 1, N - 1, K...> {};
template <int... K>
struct standin_count<0, K...> {
  typedef standin_list<K...> list;
};
template <class T>
struct standin_plain {
  typedef T type;
};
template <class T>
struct standin_plain<const T> {
  typedef T type;
};

/* As standin.c has it. */
struct standin_row {
  void (*run)(const unsigned (*)[3], void **);
  int count;
  const size_t *sizes;
};

template <class... A, int... K>
static void standin_call(void (*kernel)(A...), void **arguments, standin_list<K...>) {
  kernel(*(typename standin_plain<A>::type *)arguments[K]...);
}
template <class... A>
static constexpr int standin_parameters(void (*)(A...)) {
  return sizeof...(A);
}
template <class... A>
struct standin_sizes {
  static constexpr size_t list[] = {sizeof(A)...};
};
template <class... A>
static constexpr const size_t *standin_sizes_of(void (*)(A...)) {
  return standin_sizes<A...>::list;
}
template <class... A>
static void standin_run(void (*kernel)(A...), const unsigned (*at)[3], void **arguments) {
  threadIdx = {at[0][0], at[0][1], at[0][2]};
  blockDim = {at[1][0], at[1][1], at[1][2]};
  blockIdx = {at[2][0], at[2][1], at[2][2]};
  gridDim = {at[3][0], at[3][1], at[3][2]};
  standin_call(kernel, arguments, typename standin_count<sizeof...(A)>::list());
}

#define STANDIN_KERNEL(name)                                                                                        \
  extern "C" __attribute__((visibility("default"))) const standin_row standin_##name = {                            \
      [](const unsigned(*at)[3], void **arguments) { standin_run(name, at, arguments); }, standin_parameters(name), \
      standin_sizes_of(name)};

#endif
