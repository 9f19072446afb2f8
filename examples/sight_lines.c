/* Sight lines over a terrain: where do four masts stand best, so that most of the ground sees one of them?
 *
 *   sight_lines seen.ply [SIDE [HEIGHTS]]
 *
 * HEIGHTS has SIDE x SIDE heights in metres, float32, row by row and 30 m apart; without it the terrain is made here.
 * A line goes from the top of each mast that is tried to the eyes of somebody on each place of the ground. The file
 * seen.ply is the terrain, in the colour of the first mast that a place sees. */
#include <slabcast.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIED = 8, PLACES = TRIED * TRIED, MASTS = 4 }; /* tried: the highest place of each of 8 x 8 squares */
static const float SPACING = 30, MAST = 25, EYES = 1.7f;
static const uint8_t COLORS[MASTS + 1][3] = {
    {236, 178, 82}, {72, 170, 196}, {222, 104, 92}, {146, 190, 108}, {52, 56, 70}};

/* From 0 to 1, smooth, and without a pattern. */
static float noise(float x, float y) {
  const float u = floorf(x), v = floorf(y);
  float corner[4];
  for (int i = 0; i < 4; i++) {
    uint32_t h = (uint32_t)(int)(u + (float)(i & 1)) * 0x9E3779B1u ^ (uint32_t)(int)(v + (float)(i >> 1)) * 0x85EBCA77u;
    h = (h ^ h >> 15) * 0x2C1B3C6Du;
    h = (h ^ h >> 12) * 0x297A2D39u;
    corner[i] = (float)((h ^ h >> 15) >> 8) * 0x1p-24f;
  }
  const float a = (x - u) * (x - u) * (3 - 2 * (x - u)), b = (y - v) * (y - v) * (3 - 2 * (y - v));
  return (corner[0] * (1 - a) + corner[1] * a) * (1 - b) + (corner[2] * (1 - a) + corner[3] * a) * b;
}

/* Ridges where the noise passes 0.5, and finer ones upon them. */
static float made_height(float x, float y) {
  float sum = 0, size = 900, f = 1 / 5200.0f, below = 1;
  for (int octave = 0; octave < 8; octave++) {
    const float ridge = 1 - fabsf(2 * noise(x * f + 7, y * f + 3) - 1);
    sum += size * ridge * ridge * below;
    below = fminf(1, 1.6f * ridge * ridge);
    f *= 2;
    size /= 2;
  }
  return sum;
}

/* Vertices and triangles of the terrain, its middle at the origin. 0 where HEIGHTS cannot be read. */
static int lay_out(uint32_t side, const char *heights, float *vertices, uint32_t *indices) {
  FILE *file = heights ? fopen(heights, "rb") : NULL;
  int done = !heights || file != NULL;
  for (uint32_t i = 0; done && i < side * side; i++) {
    float *v = vertices + 3 * (size_t)i;
    v[0] = ((float)(i % side) - 0.5f * (float)(side - 1)) * SPACING;
    v[1] = ((float)(i / side) - 0.5f * (float)(side - 1)) * SPACING;
    v[2] = made_height(v[0], v[1]);
    if (file) done = fread(&v[2], sizeof v[2], 1, file) == 1;
    if (i % side == side - 1 || i / side == side - 1) continue;
    const uint32_t quad[6] = {i, i + 1, i + side + 1, i, i + side + 1, i + side};
    indices = (uint32_t *)memcpy(indices, quad, sizeof quad) + 6;
  }
  if (file) fclose(file);
  return done;
}

/* The highest vertex of the square (x, y) of TRIED x TRIED. */
static uint32_t highest(const float *vertices, uint32_t side, uint32_t x, uint32_t y) {
  uint32_t best = y * side / TRIED * side + x * side / TRIED;
  for (uint32_t j = y * side / TRIED; j < (y + 1) * side / TRIED; j++)
    for (uint32_t i = x * side / TRIED; i < (x + 1) * side / TRIED; i++)
      if (vertices[3 * (j * side + i) + 2] > vertices[3 * best + 2]) best = j * side + i;
  return best;
}

/* hidden[k * n + i] becomes 1 where ground stands between the mast on vertex tops[k] and place i of n. */
static slab_status look(const slab_mesh *mesh, const uint32_t *tops, uint8_t *hidden) {
  /* Along the border, and along rows, a line may meet the ground in edges alone. */
  const slab_cast_options closed = {.edges = SLAB_EDGES_CLOSED};
  const uint32_t n = mesh->vertex_count;
  slab_ray *rays = malloc(n * sizeof *rays);
  float(*eyes)[3] = malloc(n * sizeof *eyes);
  slab_context *context = NULL;
  slab_scene *scene = NULL;
  slab_status status = rays && eyes ? slab_context_create(NULL, &context) : SLAB_OUT_OF_MEMORY;
  if (!status) status = slab_scene_create(context, &scene);
  if (!status) status = slab_scene_add_mesh(scene, mesh, NULL, NULL);
  if (!status) status = slab_scene_commit(scene, NULL);
  for (size_t i = 0; !status && i < n; i++) {
    memcpy(eyes[i], mesh->vertices + 3 * i, sizeof eyes[i]);
    eyes[i][2] += EYES;
  }
  for (size_t k = 0; !status && k < PLACES; k++) {
    const float *v = mesh->vertices + 3 * (size_t)tops[k], top[3] = {v[0], v[1], v[2] + MAST};
    status = slab_segments(top, 0, eyes[0], sizeof eyes[0], n, rays);
    if (!status) status = slab_any(scene, rays, n, hidden + k * n, &closed);
  }
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  free(rays);
  free(eyes);
  return status;
}

/* Takes the mast by which most places are seen that no mast before sees, MASTS times. first[i] becomes the first mast
 * that place i sees, MASTS where it sees none. */
static void choose(const uint8_t *hidden, const float *vertices, const uint32_t *tops, uint32_t n, uint8_t *first) {
  uint32_t in_all = 0;
  memset(first, MASTS, n);
  for (int mast = 0; mast < MASTS; mast++) {
    uint32_t best = 0, most = 0;
    for (uint32_t k = 0; k < PLACES; k++) {
      uint32_t more = 0;
      for (uint32_t i = 0; i < n; i++) more += first[i] == MASTS && !hidden[(size_t)k * n + i];
      if (more > most) best = k, most = more;
    }
    for (uint32_t i = 0; i < n; i++)
      if (first[i] == MASTS && !hidden[(size_t)best * n + i]) first[i] = (uint8_t)mast;
    in_all += most;
    const float *top = vertices + 3 * (size_t)tops[best];
    printf("mast %d at (%g, %g, %g): %.1f %% of the ground more, %.1f %% in all\n", mast + 1, (double)top[0],
           (double)top[1], (double)(top[2] + MAST), 100.0 * most / n, 100.0 * in_all / n);
  }
}

static int write_ply(const char *path, const slab_mesh *mesh, const uint8_t *first) {
  FILE *file = fopen(path, "wb");
  if (!file) return 0;
  fprintf(file, "ply\nformat binary_little_endian 1.0\nelement vertex %u\n", mesh->vertex_count);
  fprintf(file, "property float x\nproperty float y\nproperty float z\n");
  fprintf(file, "property uchar red\nproperty uchar green\nproperty uchar blue\n");
  fprintf(file, "element face %u\nproperty list uchar uint vertex_indices\nend_header\n", mesh->triangle_count);
  for (size_t i = 0; i < mesh->vertex_count; i++) {
    fwrite(mesh->vertices + 3 * i, sizeof(float), 3, file);
    fwrite(COLORS[first[i]], 1, 3, file);
  }
  for (size_t i = 0; i < mesh->triangle_count; i++) {
    fputc(3, file);
    fwrite(mesh->indices + 3 * i, sizeof(uint32_t), 3, file);
  }
  const int failed = ferror(file);
  return !fclose(file) && !failed;
}

int main(int argc, char **argv) {
  const uint32_t side = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 513;
  if (argc < 2 || side < TRIED || side > 8192) {
    fprintf(stderr, "usage: sight_lines seen.ply [SIDE, %d to 8192 [HEIGHTS]]\n", TRIED);
    return 2;
  }
  const uint32_t n = side * side, triangles = 2 * (side - 1) * (side - 1);
  float *vertices = malloc(n * 3 * sizeof *vertices);
  uint32_t *indices = malloc(triangles * 3 * sizeof *indices), tops[PLACES];
  uint8_t *hidden = malloc((size_t)PLACES * n), *first = malloc(n);
  const slab_mesh mesh = {.vertices = vertices, .vertex_count = n, .indices = indices, .triangle_count = triangles};
  const char *wrong = NULL;
  if (!vertices || !indices || !hidden || !first) {
    wrong = "out of memory";
  } else if (!lay_out(side, argc > 3 ? argv[3] : NULL, vertices, indices)) {
    wrong = "the file does not have so many heights";
  } else {
    for (uint32_t k = 0; k < PLACES; k++) tops[k] = highest(vertices, side, k % TRIED, k / TRIED);
    if (look(&mesh, tops, hidden)) wrong = slab_message();
  }
  if (!wrong) {
    choose(hidden, vertices, tops, n, first);
    if (!write_ply(argv[1], &mesh, first)) wrong = "the terrain cannot be written";
  }
  if (wrong) fprintf(stderr, "sight_lines: %s\n", wrong);
  free(first);
  free(hidden);
  free(indices);
  free(vertices);
  return wrong ? 1 : 0;
}
