/* A cast in the middle of the caller's own OpenCL work: its context, queue, buffers and events. Link with slabcast and
 * OpenCL. */
#include <slabcast_cl.h>
#include <stdio.h>

enum { RAYS = 4 };

/* Upload, cast and download, each after the event of the one before; the host is free until it waits for the last. */
static cl_int cast(slab_scene *scene, cl_context context, cl_command_queue queue, const slab_ray *rays, float *t) {
  cl_event uploaded = NULL, done = NULL, downloaded = NULL;
  cl_int code;
  /* One buffer can hold it all: the rays at its begin, the distances behind them. */
  const size_t rays_size = RAYS * sizeof *rays, t_size = RAYS * sizeof *t;
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, rays_size + t_size, NULL, &code);
  if (!code) code = clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, rays_size, rays, 0, NULL, &uploaded);
  if (!code) {
    const slab_batch batch = {
        .query = SLAB_DISTANCE, .count = RAYS, .rays = {buffer, 0}, .results = {buffer, rays_size}};
    slab_status status = slab_enqueue(scene, &batch, queue, 1, &uploaded, &done);
    if (status) fprintf(stderr, "%s\n", slab_message());
    if (status) code = CL_INVALID_OPERATION;
  }
  if (!code) code = clEnqueueReadBuffer(queue, buffer, CL_FALSE, rays_size, t_size, t, 1, &done, &downloaded);
  /* From here on nothing needs the buffer or the scene to stay: OpenCL keeps what enqueued work uses. */
  if (buffer) clReleaseMemObject(buffer);
  if (downloaded) code = clWaitForEvents(1, &downloaded);
  if (uploaded) clReleaseEvent(uploaded);
  if (done) clReleaseEvent(done);
  if (downloaded) clReleaseEvent(downloaded);
  return code;
}

int main(void) {
  const slab_sphere balls[] = {{{0, 0, 0}, 1}, {{4, 0, -3}, 2}, {{8, 0, -8}, 3}};
  slab_ray rays[RAYS];
  float t[RAYS];
  for (int i = 0; i < RAYS; i++) rays[i] = (slab_ray){{4.0f * (float)i, 0, 9}, 0, {0, 0, -1}, INFINITY};

  /* An application that computes with OpenCL has these already. */
  cl_platform_id platform = NULL;
  cl_device_id device = NULL;
  cl_context context = NULL;
  cl_command_queue queue = NULL;
  cl_int code = clGetPlatformIDs(1, &platform, NULL);
  if (!code) code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
  if (!code) context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  if (!code) queue = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
  if (code) fprintf(stderr, "no OpenCL device, context or queue: %d\n", code);

  slab_context *slab = NULL;
  slab_scene *scene = NULL;
  slab_status status = code ? SLAB_NO_DEVICE : slab_context_create_cl(context, device, queue, NULL, &slab);
  if (!status) status = slab_scene_create(slab, &scene);
  if (!status) status = slab_scene_add_spheres(scene, balls, 3, NULL, NULL);
  if (!status) status = slab_scene_commit(scene, NULL);
  if (status && !code) fprintf(stderr, "%s\n", slab_message());

  if (!status) code = cast(scene, context, queue, rays, t);
  for (int i = 0; !status && !code && i < RAYS; i++) printf("ray %d: t = %g\n", i, (double)t[i]);

  slab_scene_destroy(scene); /* the caller's objects and the library's go in any order */
  slab_context_destroy(slab);
  if (queue) clReleaseCommandQueue(queue);
  if (context) clReleaseContext(context);
  return status || code ? 1 : 0;
}
