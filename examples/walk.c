/* Photons that scatter among blocks, in a kernel of one's own: the walk never leaves the device.
 *
 *   walk picture.pgm
 *
 * A work-item walks 16 photons, one after the other, from the border of a cube of side 1 until they leave it. They
 * enter evenly over the faces, spread as the cosine; scatter evenly to all sides; and are not absorbed. A free path
 * within blocks is exponential with mean 0.005; between blocks photons fly on. Sizes: 1534 blocks in a hollow ball;
 * 16384 walkers, so 262144 photons. picture.pgm: where they scatter, seen along z, 256 x 256 pixels.
 *
 * Reference (S. Blanco, R. Fournier 2003): the mean path in the cube is 4 V / S = 2/3, as if nothing scattered, for any
 * scattering. Of this the blocks have their share of V. Scatterings are as many as free paths fit in there. Each of the
 * three means lies within three standard errors of its value. */
#include <math.h>
#include <slabcast_cl.h>
#include <stdio.h>

enum { CELLS = 20, SIDE = 256, WALKERS = 16384, PHOTONS = 16 };
static const double FREE_PATH = 0.005;

typedef struct answer {
  cl_float4 sums[WALKERS]; /* path in the cube, path in blocks, scatterings */
  cl_uint picture[SIDE * SIDE];
} answer;

/* Numbers: PCG-XSH-RR 64/32 (M. O'Neill 2014), a stream to each walker. Directions: G. Marsaglia 1972. A flight is one
 * ray, from where the photon scattered last; after each block its range begins beyond that block. */
static const char SOURCE[] =
    "#include <slabcast_device.h>\n"
    "typedef struct answer { float4 sums[WALKERS]; uint picture[SIDE * SIDE]; } answer;\n"
    "float uniform_of(ulong2 *w) { /* above 0, at most 1 */\n"
    "  const uint bits = rotate((uint)((w->x >> 18 ^ w->x) >> 27), (32u - (uint)(w->x >> 59)) & 31u);\n"
    "  w->x = w->x * 6364136223846793005ul + w->y;\n"
    "  return (float)((bits >> 8) + 1u) * 0x1p-24f;\n"
    "}\n"
    "float3 direction_of(ulong2 *w) {\n"
    "  float x, y, s;\n"
    "  do x = 2.0f * uniform_of(w) - 1.0f, y = 2.0f * uniform_of(w) - 1.0f, s = x * x + y * y;\n"
    "  while (s >= 1.0f);\n"
    "  return (float3)(2.0f * x * sqrt(1.0f - s), 2.0f * y * sqrt(1.0f - s), 1.0f - 2.0f * s);\n"
    "}\n"
    "slab_ray entry_of(ulong2 *w) { /* the cosine: an even direction, and the face's normal */\n"
    "  const uint face = min((uint)(6.0f * uniform_of(w)), 5u);\n"
    "  const float side = face & 1u;\n"
    "  const float3 axis = {face >> 1 == 0, face >> 1 == 1, face >> 1 == 2};\n"
    "  const float3 at = {uniform_of(w), uniform_of(w), uniform_of(w)};\n"
    "  const float3 along = normalize(direction_of(w) + axis * (1.0f - 2.0f * side));\n"
    "  return slab_ray_of(at + axis * (side - at), 0.0f, along, INFINITY);\n"
    "}\n"
    "kernel void walks(SLAB_SCENE_PARAMETERS, global answer *to) {\n"
    "  SLAB_SCENE(scene);\n"
    "  slab_trace_options blocks = slab_trace_defaults(), cube = blocks;\n"
    "  blocks.mask = 1, cube.mask = 2;\n"
    "  const ulong id = get_global_id(0);\n"
    "  ulong2 w = {id * 0x9E3779B97F4A7C15ul, 2 * id + 1};\n"
    "  float4 sum = 0.0f;\n"
    "  for (uint i = 0; i < PHOTONS; i++) {\n"
    "    slab_ray ray = entry_of(&w);\n"
    "    float left = -MEAN * log(uniform_of(&w));\n"
    "    for (;;) {\n"
    "      const slab_interval in = slab_trace_interval_with(&scene, &ray, &blocks);\n"
    "      if (in.primitive == SLAB_MISS) break;\n"
    "      const float thick = in.leave - in.enter, t = in.enter + left;\n"
    "      sum.y += fmin(left, thick);\n"
    "      if (left > thick) { left -= thick, ray.t_min = nextafter(in.leave, INFINITY); continue; }\n"
    "      const float3 at = vload3(0, ray.origin) + t * vload3(0, ray.direction);\n"
    "      atomic_inc(&to->picture[(int)(at.y * SIDE) * SIDE + (int)(at.x * SIDE)]);\n"
    "      sum.x += t, sum.z += 1.0f;\n"
    "      ray = slab_ray_of(at, 0.0f, direction_of(&w), INFINITY), left = -MEAN * log(uniform_of(&w));\n"
    "    }\n"
    "    ray.t_min = 0.0f;\n"
    "    sum.x += slab_trace_interval_with(&scene, &ray, &cube).leave;\n"
    "  }\n"
    "  to->sums[id] = sum;\n"
    "}\n";

/* Blocks of different sizes in those cells of the cube that are in a hollow ball, whose layers are shifted. Adds their
 * volume. */
static uint32_t build(slab_box *blocks, double *volume) {
  uint32_t n = 0, random = 1; /* an LCG */
  for (int i = 0; i < CELLS * CELLS * CELLS; i++) {
    const int cell[3] = {i % CELLS, i / CELLS % CELLS, i / CELLS / CELLS};
    double far = 0, of = 1;
    slab_box *const block = &blocks[n];
    for (int k = 0; k < 3; k++) {
      const float begin = ((float)cell[k] + (k < 2 ? 0.38f * (float)(cell[2] % 3) : 0)) / CELLS;
      const float chance = (float)((random = random * 1664525 + 1013904223) >> 8) * 0x1p-24f;
      block->lower[k] = begin + (0.05f + 0.3f * chance) / CELLS;
      block->upper[k] = begin + (0.65f + 0.3f * chance * chance) / CELLS;
      of *= (double)block->upper[k] - (double)block->lower[k];
      far += pow((double)begin + 0.5 / CELLS - 0.5, 2);
    }
    if (far < 0.44 * 0.44 && far > 0.34 * 0.34) n++, *volume += of;
  }
  return n;
}

/* Whether the mean of component k, to a photon, lies within three standard errors. */
static int holds(const char *what, const cl_float4 *sums, int k, double want) {
  double mean = 0, square = 0;
  for (int i = 0; i < WALKERS; i++) {
    const double own = (double)sums[i].s[k] / PHOTONS;
    mean += own / WALKERS, square += own * own / WALKERS;
  }
  const double error = sqrt((square - mean * mean) / (WALKERS - 1));
  printf("%s: %.5f, by theory %.5f: %+.2f standard errors\n", what, mean, want, (mean - want) / error);
  return fabs(mean - want) <= 3 * error;
}

static int draw(const char *path, const cl_uint *picture, double brightest) {
  FILE *file = fopen(path, "wb");
  int done = file && fprintf(file, "P5 %d %d 255\n", SIDE, SIDE) > 0;
  for (int i = 0; done && i < SIDE * SIDE; i++) done = fputc((int)fmin(255, 255 * picture[i] / brightest), file) != EOF;
  if (file && fclose(file)) done = 0;
  if (!done) perror(path);
  return done;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: walk picture.pgm\n");
    return 2;
  }
  static slab_box blocks[CELLS * CELLS * CELLS];
  static answer got;
  const slab_box cube = {{0, 0, 0}, {1, 1, 1}};
  const slab_geometry_options first = {.mask = 1}, second = {.mask = 2};
  double volume = 0;
  const uint32_t count = build(blocks, &volume);
  char options[96];
  snprintf(options, sizeof options, "-DSIDE=%d -DWALKERS=%d -DPHOTONS=%d -DMEAN=%gf", SIDE, WALKERS, PHOTONS,
           FREE_PATH);
  cl_platform_id platform = NULL;
  cl_device_id device = NULL;
  cl_context context = NULL;
  cl_command_queue queue = NULL;
  cl_kernel kernel = NULL;
  /* Small groups: PoCL keeps the private memory of a whole group on the stack of a thread. */
  const size_t items = WALKERS, group = 64, size = sizeof got;
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
  if (!status) status = slab_scene_add_boxes(scene, blocks, count, &first, NULL);
  if (!status) status = slab_scene_add_boxes(scene, &cube, 1, &second, NULL);
  if (!status) status = slab_scene_commit(scene, NULL);
  if (!status) status = slab_program_create(scene, SOURCE, options, 1u << SLAB_INTERVAL, &program);
  if (!status) status = slab_program_kernel(program, "walks", &kernel);
  if (!status) status = slab_scene_bind(scene, kernel, 0, &at);
  if (status && !code) fprintf(stderr, "walk: %s\n", slab_message());
  if (!status) memory = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size, &got, &code);
  if (memory) code = clSetKernelArg(kernel, at, sizeof memory, &memory);
  if (memory && !code) code = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &group, 0, NULL, NULL);
  if (memory && !code) code = clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, size, &got, 0, NULL, NULL);
  if (!status && code) fprintf(stderr, "walk: OpenCL gave %d\n", code);
  const double paths = 2 / 3.0 * volume, all = paths / FREE_PATH;
  const int right = !status && !code && draw(argv[1], got.picture, 5 * all * WALKERS * PHOTONS / (SIDE * SIDE)) &&
                    holds("path in the cube", got.sums, 0, 2 / 3.0) && holds("path in blocks", got.sums, 1, paths) &&
                    holds("scatterings", got.sums, 2, all);
  if (memory) clReleaseMemObject(memory);
  if (kernel) clReleaseKernel(kernel);
  slab_program_destroy(program);
  slab_scene_destroy(scene);
  slab_context_destroy(slab);
  if (queue) clReleaseCommandQueue(queue);
  if (context) clReleaseContext(context);
  return right ? 0 : 1;
}
