/* Ambient occlusion: the share of the sky's light that reaches a ball and its floor, by a kernel of one's own.
 *
 *   occlusion picture.pgm
 *
 * One work-item per pixel traces the camera's ray, and from its end 64 more, spread as the cosine. Sizes: a mesh of a
 * ball of radius 1, 132096 triangles, and a floor of two that reaches 1000 to each side; 640 x 480 pixels.
 *
 * Reference: the floor at distance d from the ball's middle sees all but 1 / d^3 of the light, which is the ball's form
 * factor. The ball sees (1 + n.z) / 2 of it, where n is its normal. Over the pixels the mean of the open share and that
 * of this formula differ by less than 0.001. Pixel by pixel they differ by less than 0.015 on average. */
#include <math.h>
#include <slabcast_cl.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 640, HEIGHT = 480, PIXELS = WIDTH * HEIGHT };
enum { AROUND = 512, ALONG = 129, BALL = AROUND * (ALONG + 1), QUADS = AROUND * ALONG, FLOOR = 1000 };

typedef struct pixel {
  slab_ray ray;
  float share;
} pixel;

/* Point i of R2 is the fraction of i * (1 / p, 1 / p^2), p^3 = p + 1 (M. Roberts 2018); each pixel has its own begin.
 * A point of the disc gives one of the sphere, evenly (G. Marsaglia 1972), and that and the normal give the cosine. */
static const char SOURCE[] =
    "#include <slabcast_device.h>\n"
    "typedef struct pixel { slab_ray ray; float share; } pixel;\n"
    "uint2 r2(uint i) { return i * (uint2)(0xC13FA9A9u, 0x91E10DA5u); } /* fractions of 2^32 */\n"
    "kernel void open_share(SLAB_SCENE_PARAMETERS, global pixel *pixels) {\n"
    "  SLAB_SCENE(scene);\n"
    "  const uint id = get_global_id(0);\n"
    "  const slab_ray ray = pixels[id].ray;\n"
    "  const slab_trace_options options = {0, SLAB_CULL_NONE, SLAB_EDGES_HALF_OPEN, 1, {SLAB_MISS, SLAB_MISS}};\n"
    "  const slab_hit hit = slab_trace_closest_with(&scene, &ray, &options);\n"
    "  if (hit.primitive == SLAB_MISS) { pixels[id].share = 1.0f; return; }\n"
    "  const float3 normal = vload3(0, hit.normal);\n"
    "  const float3 from = vload3(0, ray.origin) + hit.t * vload3(0, ray.direction) + 1e-4f * normal;\n"
    "  const uint2 begin = r2(id * 0x9E3779B1u);\n"
    "  uint cast = 0, open = 0;\n"
    "  for (uint i = 0; cast < 64; i++) {\n"
    "    const float2 p = convert_float2((r2(i) + begin) >> 8) * 0x1p-23f - 1.0f;\n"
    "    const float s = p.x * p.x + p.y * p.y, c = 2.0f * sqrt(1.0f - fmin(s, 1.0f));\n"
    "    if (s >= 1.0f) continue; /* outside the disc */\n"
    "    const slab_ray up = slab_ray_of(from, 0.0f, normal + (float3)(c * p.x, c * p.y, 1.0f - 2.0f * s), INFINITY);\n"
    "    cast++, open += !slab_trace_any(&scene, &up);\n"
    "  }\n"
    "  pixels[id].share = (float)open / (float)cast;\n"
    "}\n";

/* The ball, its middle at height 1, and the floor. */
static void lay_out(float *vertices, uint32_t *indices) {
  const double pi = 3.14159265358979;
  for (uint32_t i = 0; i < BALL; i++, vertices += 3) {
    const double around = 2 * pi * (i % AROUND) / AROUND, along = pi * (i / AROUND) / ALONG;
    vertices[0] = (float)(sin(along) * cos(around));
    vertices[1] = (float)(sin(along) * sin(around));
    vertices[2] = (float)(1 - cos(along));
  }
  const float corners[12] = {-FLOOR, -FLOOR, 0, FLOOR, -FLOOR, 0, FLOOR, FLOOR, 0, -FLOOR, FLOOR, 0};
  memcpy(vertices, corners, sizeof corners);
  for (uint32_t i = 0; i <= QUADS; i++, indices += 6) {
    const uint32_t next = i % AROUND == AROUND - 1 ? i + 1 - AROUND : i + 1;
    const uint32_t quad[6] = {i, next + AROUND, next, i, i + AROUND, next + AROUND};
    const uint32_t floor[6] = {BALL, BALL + 1, BALL + 2, BALL, BALL + 2, BALL + 3};
    memcpy(indices, i < QUADS ? quad : floor, sizeof quad);
  }
}

/* The formula of the head, by the first hit of a pixel's ray: ball, floor or nothing. */
static double reference(const slab_ray *ray) {
  const double o[3] = {ray->origin[0], ray->origin[1], ray->origin[2] - 1.0};
  const double v[3] = {ray->direction[0], ray->direction[1], ray->direction[2]};
  const double a = v[0] * v[0] + v[1] * v[1] + v[2] * v[2], b = o[0] * v[0] + o[1] * v[1] + o[2] * v[2];
  const double root = b * b - a * (o[0] * o[0] + o[1] * o[1] + o[2] * o[2] - 1);
  if (root >= 0) return 0.5 * (1 + o[2] - (b + sqrt(root)) / a * v[2]);
  const double t = -(o[2] + 1) / v[2], x = o[0] + t * v[0], y = o[1] + t * v[1];
  return v[2] < 0 && fabs(x) < FLOOR && fabs(y) < FLOOR ? 1 - pow(1 + x * x + y * y, -1.5) : 1;
}

/* Writes the picture, and compares the shares with the formula. */
static int judge(const char *path, const pixel *pixels) {
  double mean = 0, wanted = 0, apart = 0;
  FILE *file = fopen(path, "wb");
  int done = file && fprintf(file, "P5 %d %d 255\n", WIDTH, HEIGHT) > 0;
  for (size_t i = 0; i < PIXELS; i++) {
    const double got = pixels[i].share, want = reference(&pixels[i].ray);
    mean += got / PIXELS, wanted += want / PIXELS, apart += fabs(got - want) / PIXELS;
    done = done && fputc((int)(255 * sqrt(got) + 0.5), file) != EOF;
  }
  if (file && fclose(file)) done = 0;
  if (!done) perror(path);
  printf("mean open share %.4f, by the formula %.4f; a pixel is off by %.4f on average\n", mean, wanted, apart);
  return done && fabs(mean - wanted) < 0.001 && apart < 0.015;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: occlusion picture.pgm\n");
    return 2;
  }
  static pixel pixels[PIXELS];
  static float vertices[3 * (BALL + 4)];
  static uint32_t indices[6 * (QUADS + 1)];
  static const float from[3] = {0, -7, 3.4f}, to[3] = {0, 0, 0.7f}, upward[3] = {0, 0, 1};
  const slab_mesh mesh = {
      .vertices = vertices, .vertex_count = BALL + 4, .indices = indices, .triangle_count = 2 * (QUADS + 1)};
  const slab_camera camera = slab_camera_look_at(from, to, upward, 35, (float)WIDTH / HEIGHT);
  for (uint32_t i = 0; i < PIXELS; i++) pixels[i].ray = slab_camera_ray(&camera, i % WIDTH, i / WIDTH, WIDTH, HEIGHT);
  lay_out(vertices, indices);

  cl_platform_id platform = NULL;
  cl_device_id device = NULL;
  cl_context context = NULL;
  cl_command_queue queue = NULL;
  cl_kernel kernel = NULL;
  /* Small groups: PoCL keeps the private memory of a whole group on the stack of a thread. */
  const size_t items = PIXELS, group = 64, size = sizeof pixels;
  cl_mem memory = NULL;
  cl_uint at = 0;
  cl_int code = clGetPlatformIDs(1, &platform, NULL);
  if (!code) code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
  if (!code) context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  if (!code) queue = clCreateCommandQueue(context, device, 0, &code);
  if (code) fprintf(stderr, "no OpenCL device, context or queue: %d\n", code);

  slab_context *slab = NULL;
  slab_scene *scene = NULL;
  slab_program *program = NULL;
  slab_status status = code ? SLAB_NO_DEVICE : slab_context_create_cl(context, device, queue, NULL, &slab);
  if (!status) status = slab_scene_create(slab, &scene);
  if (!status) status = slab_scene_add_mesh(scene, &mesh, NULL, NULL);
  if (!status) status = slab_scene_commit(scene, NULL);
  if (!status) status = slab_program_create(scene, SOURCE, NULL, 1u << SLAB_CLOSEST | 1u << SLAB_ANY, &program);
  if (!status) status = slab_program_kernel(program, "open_share", &kernel);
  if (!status) status = slab_scene_bind(scene, kernel, 0, &at);
  if (status && !code) fprintf(stderr, "occlusion: %s\n", slab_message());
  if (!status) memory = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size, pixels, &code);
  if (memory) code = clSetKernelArg(kernel, at, sizeof memory, &memory);
  if (memory && !code) code = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &group, 0, NULL, NULL);
  if (memory && !code) code = clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, size, pixels, 0, NULL, NULL);
  if (!status && code) fprintf(stderr, "occlusion: OpenCL gave %d\n", code);
  const int right = !status && !code && judge(argv[1], pixels);

  if (memory) clReleaseMemObject(memory);
  if (kernel) clReleaseKernel(kernel);
  slab_program_destroy(program);
  slab_scene_destroy(scene);
  slab_context_destroy(slab);
  if (queue) clReleaseCommandQueue(queue);
  if (context) clReleaseContext(context);
  return right ? 0 : 1;
}
