#include "caller.h"

#include <string.h>

caller caller_begin(void) {
  caller c = {0};
  assert_cu(cuInit(0));
  assert_cu(cuDevicePrimaryCtxRetain(&c.context, 0));
  assert_cu(cuCtxPushCurrent(c.context));
  assert_cu(cuStreamCreate(&c.stream, CU_STREAM_NON_BLOCKING));
  assert_ok(slab_context_create_cuda(c.context, c.stream, NULL, &c.slab));
  return c;
}

void caller_end(const caller *c) {
  CUcontext own;
  slab_context_destroy(c->slab);
  assert_cu(cuStreamDestroy(c->stream));
  assert_cu(cuCtxPopCurrent(&own));
  assert_ptr_equal(own, c->context);
  assert_cu(cuDevicePrimaryCtxRelease(0));
}

CUdeviceptr caller_upload(const caller *c, const void *bytes, size_t size) {
  CUdeviceptr at;
  assert_cu(cuMemAlloc(&at, size));
  if (bytes != NULL) {
    assert_cu(cuMemcpyHtoDAsync(at, bytes, size, c->stream));
    assert_cu(cuStreamSynchronize(c->stream));
  }
  return at;
}

unsigned caller_strike(slab_status (*job)(void *user), void *user, unsigned *told) {
  unsigned later = 0;
  *told = 0;
  for (bool reached = true; reached;) {
    later++;
    const bool memory = later % 2 == 0;
    standin_fail(later, memory ? CUDA_ERROR_OUT_OF_MEMORY : 719);
    const slab_status status = job(user);
    reached = standin_fail(0, CUDA_SUCCESS) != 0;
    *told += status != SLAB_OK;
    if (status != SLAB_OK) {
      assert_true(strlen(slab_message()) > 0);
      assert_true((status == SLAB_OUT_OF_MEMORY) == memory);
      assert_true(memory || status == SLAB_DEVICE_FAILED || status == SLAB_BUILD_FAILED);
    }
    if (!reached) assert_ok(status);
  }
  return later - 1;
}
