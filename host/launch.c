/* One launch of a cast's kernel, whoever owns the buffers. */
#include "private.h"

cast_uniforms cast_uniforms_of(const slab_scene *scene, const slab_cast_options *options) {
  cast_uniforms u = {.geometries = scene->geometries, .mask = UINT32_MAX};
  if (options == NULL) return u;
  if (options->mask != 0) u.mask = options->mask;
  u.cull = (uint32_t)options->cull;
  u.face_forward = options->face_forward != 0;
  u.skip = options->skip != NULL;
  u.invalid = options->invalid != NULL;
  return u;
}

slab_status check_cull(const char *function, slab_cull cull) {
  if ((unsigned)cull <= SLAB_CULL_FRONT) return SLAB_OK;
  return fail(SLAB_INVALID_ARGUMENT, "%s: cull is %d, not a slab_cull", function, (int)cull);
}

static slab_status set_arguments(cl_kernel kernel, const slab_scene *scene, const launch *l) {
  const struct {
    size_t size;
    const void *value;
  } arguments[] = {
      {sizeof(cl_mem), l->rays == NULL ? NULL : &l->rays},
      {sizeof(cl_mem), l->results == NULL ? NULL : &l->results},
      {sizeof(cl_mem), l->offsets == NULL ? NULL : &l->offsets},
      {sizeof(cl_mem), &scene->buffers.table},
      {sizeof(cl_mem), &scene->buffers.blocks},
      {sizeof(cl_mem), l->skips == NULL ? NULL : &l->skips},
      {sizeof(cl_mem), l->invalid == NULL ? NULL : &l->invalid},
      {sizeof l->uniforms, &l->uniforms},
  };
  for (cl_uint i = 0; i < sizeof arguments / sizeof *arguments; i++) {
    cl_int code = clSetKernelArg(kernel, i, arguments[i].size, arguments[i].value);
    if (code != CL_SUCCESS) return fail_cl(code, "clSetKernelArg", "a cast");
  }
  return SLAB_OK;
}

slab_status launch_enqueue(const slab_scene *scene, slab_query query, const launch *l, cl_command_queue queue,
                           cl_uint wait_count, const cl_event *wait, cl_event *done) {
  device *d = &scene->context->device;
  cl_kernel kernel;
  const size_t local = WORK_GROUP, global = ((size_t)l->uniforms.rays + local - 1) / local * local;
  pthread_mutex_lock(&d->lock);
  slab_status status = program_find(d, PROGRAM_FLAT, query, scene->kinds, &kernel);
  if (status == SLAB_OK) status = set_arguments(kernel, scene, l);
  if (status == SLAB_OK) {
    cl_int code = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, wait_count, wait, done);
    if (code != CL_SUCCESS) status = fail_cl(code, "clEnqueueNDRangeKernel", "a cast");
  }
  pthread_mutex_unlock(&d->lock);
  return status;
}

size_t result_size(slab_query query) {
  switch (query) {
    case SLAB_DISTANCE:
      return sizeof(float);
    case SLAB_ANY:
      return sizeof(uint8_t);
    case SLAB_COUNT:
      return sizeof(uint32_t);
    case SLAB_INTERVAL:
      return sizeof(slab_interval);
    case SLAB_CLOSEST:
    case SLAB_ALL:
      break;
  }
  return sizeof(slab_hit);
}
