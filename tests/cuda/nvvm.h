/* nvvm's intrinsics that kernels/lanes/ptx.h calls, as a processor has them: tests/cuda/standin.c gives the number of
 * the work-item. */
#ifndef NVVM_H
#define NVVM_H

int __nvvm_read_ptx_sreg_tid_x(void);
int __nvvm_read_ptx_sreg_ntid_x(void);
int __nvvm_read_ptx_sreg_ctaid_x(void);
int __nvvm_read_ptx_sreg_nctaid_x(void);

/* Kernels with barriers run in groups of one. */
#define __syncthreads() ((void)0)
#define __nvvm_atom_add_gen_i(p, n) __atomic_fetch_add(p, n, __ATOMIC_RELAXED)
#define __nvvm_atom_max_gen_ui(p, n) (*(p) > (n) ? *(p) : (*(p) = (n)))
#define __nvvm_sqrt_rn_f(x) __builtin_sqrtf(x)

/* Whether the PTX of the kernel that runs has these lines as code. */
_Bool standin_counts(void);
#define COUNTED_TAKE(number, there, first) \
  if (standin_counts()) {                  \
    number = min(number, *(there));        \
    if ((first) >= number) return;         \
  }

#define WORK_ITEM
#define KERNEL_NAME(name) CUDA_NAME(name)

#endif
