/* Generated triangles. Neighbours use the same vertex index, so that shared edges have the same bits. */
#include <math.h>
#include <stdlib.h>

#include "sets/scenes_private.h"

static uint32_t *put_triangle(uint32_t *to, uint32_t a, uint32_t b, uint32_t c) {
  to[0] = a;
  to[1] = b;
  to[2] = c;
  return to + 3;
}

/* a, b, c, d counter-clockwise seen from the front; the diagonal is from a to c. */
static uint32_t *put_square(uint32_t *to, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return put_triangle(put_triangle(to, a, b, c), a, c, d);
}

/* ---- terrain --------------------------------------------------------------- */

/* A number in [0, 1) for a grid point. */
static float grid_noise(uint64_t seed, uint32_t x, uint32_t y) {
  uint64_t state = seed ^ ((uint64_t)x << 32 | y);
  return (float)(random_splitmix(&state) >> 40) * 0x1p-24f;
}

/* Grid noise with smooth interpolation. */
static float smooth_noise(uint64_t seed, float x, float y) {
  const uint32_t i = (uint32_t)x, j = (uint32_t)y;
  const float fx = x - (float)i, fy = y - (float)j;
  const float sx = fx * fx * (3.0f - 2.0f * fx), sy = fy * fy * (3.0f - 2.0f * fy);
  const float a = grid_noise(seed, i, j), b = grid_noise(seed, i + 1, j);
  const float c = grid_noise(seed, i, j + 1), d = grid_noise(seed, i + 1, j + 1);
  const float low = a + sx * (b - a), high = c + sx * (d - c);
  return low + sy * (high - low);
}

/* x and y in [0, 1]; eight octaves, the first with four hills along each side. */
static float terrain_height(uint64_t seed, float x, float y) {
  float height = 0.0f, weight = 0.25f, frequency = 4.0f;
  for (uint64_t octave = 0; octave < 8; octave++) {
    height += weight * smooth_noise(seed + octave, x * frequency, y * frequency);
    weight *= 0.45f;
    frequency *= 2.0f;
  }
  return height;
}

#define TERRAIN_BASE (-0.25f)

/* Sizes of a terrain. The grid of n * n squares is closed by walls of n segments per side and by a floor of rings. Each
 * ring has half as many segments as the one around it, so that no triangle is much longer than wide. */
typedef struct terrain_size {
  size_t vertices, triangles;
} terrain_size;

static terrain_size terrain_measure(uint32_t n) {
  terrain_size size = {((size_t)n + 1) * (n + 1) + 4 * (size_t)n, 2 * (size_t)n * n + 8 * (size_t)n + 2};
  for (uint32_t m = n; m > 1; m = (m + 1) / 2) {
    size.vertices += 4 * (((size_t)m + 1) / 2);
    size.triangles += 4 * (m + ((size_t)m + 1) / 2);
  }
  return size;
}

/* Border of the grid: from the corner along x, z, -x, -z; vertex i of the 4n. */
static uint32_t border_vertex(uint32_t n, uint32_t i) {
  const uint32_t at = i % n, side = i / n % 4;
  const uint32_t x = side == 0 ? at : side == 1 ? n : side == 2 ? n - at : 0;
  const uint32_t z = side == 0 ? 0 : side == 1 ? at : side == 2 ? n : n - at;
  return z * (n + 1) + x;
}

/* The vertices around a square of the floor, in the same order. */
static void ring_vertices(uint32_t n, float half, float *vertex) {
  for (uint32_t i = 0; i < 4 * n; i++) {
    const float along = half * (2.0f * (float)(i % n) / (float)n - 1.0f);
    const uint32_t side = i / n;
    *vertex++ = side == 0 ? along : side == 1 ? half : side == 2 ? -along : -half;
    *vertex++ = TERRAIN_BASE;
    *vertex++ = side == 0 ? -half : side == 1 ? along : side == 2 ? half : -along;
  }
}

/* Triangulates between one side of a ring and the same side of the next one. Each step advances on the side that is
 * behind. */
static uint32_t *zip_side(uint32_t *to, const uint32_t *outer, uint32_t n, const uint32_t *inner, uint32_t m) {
  for (uint32_t i = 0, k = 0; i < n || k < m;) {
    if (k == m || (i < n && (uint64_t)(2 * i + 1) * m <= (uint64_t)(2 * k + 1) * n)) {
      to = put_triangle(to, outer[i], outer[i + 1], inner[k]);
      i++;
    } else {
      to = put_triangle(to, outer[i], inner[k + 1], inner[k]);
      k++;
    }
  }
  return to;
}

/* rings: room for two rings of 4n + 1 indices. */
static void close_terrain(uint32_t n, float *vertex, uint32_t first, uint32_t *to, uint32_t *rings) {
  uint32_t *outer = rings, *inner = rings + 4 * (size_t)n + 1;
  float half = 1.0f;
  for (uint32_t i = 0; i <= 4 * n; i++) outer[i] = border_vertex(n, i);
  for (uint32_t segments = n, next = n;; next = (segments + 1) / 2) { /* the first iteration makes the walls */
    ring_vertices(next, half, vertex);
    for (uint32_t i = 0; i <= 4 * next; i++) inner[i] = first + (i < 4 * next ? i : 0);
    for (uint32_t side = 0; side < 4; side++)
      to = zip_side(to, outer + side * segments, segments, inner + side * next, next);
    first += 4 * next;
    vertex += 12 * (size_t)next;
    uint32_t *swap = outer;
    outer = inner;
    inner = swap;
    segments = next;
    half -= 0.25f * (2.0f / (float)((segments + 1) / 2));
    if (segments == 1) break;
  }
  put_square(to, outer[0], outer[1], outer[2], outer[3]);
}

void scene_terrain(uint32_t count, random_state *random, scene_geometry *out) {
  const uint64_t seed = (uint64_t)random_next(random) << 32;
  uint32_t n = scene_square_root(count / 2 + 1);
  while (n > 1 && terrain_measure(n).triangles > count) n--;
  if (n < 1) n = 1;
  const terrain_size size = terrain_measure(n);
  const uint32_t row = n + 1;
  float *vertex = scene_vertices(out, size.vertices);
  uint32_t *to = scene_indices(out, size.triangles), *rings = malloc(2 * (4 * (size_t)n + 1) * sizeof *rings);
  if (vertex == NULL || to == NULL || rings == NULL) {
    free(rings);
    free(out->indices);
    out->indices = NULL;
    return;
  }
  for (uint32_t j = 0; j < row; j++)
    for (uint32_t i = 0; i < row; i++) {
      const float x = (float)i / (float)n, z = (float)j / (float)n;
      *vertex++ = 2.0f * x - 1.0f;
      *vertex++ = terrain_height(seed, x, z);
      *vertex++ = 2.0f * z - 1.0f;
    }
  for (uint32_t j = 0; j < n; j++)
    for (uint32_t i = 0; i < n; i++) {
      const uint32_t a = j * row + i;
      to = put_square(to, a, a + row, a + row + 1, a + 1);
    }
  close_terrain(n, vertex, row * row, to, rings);
  free(rings);
}

/* ---- soup and hair --------------------------------------------------------- */

void scene_soup(uint32_t count, random_state *random, scene_geometry *out) {
  float *vertex = scene_vertices(out, 3 * (size_t)count);
  const float size = 1.5f / (float)(scene_cube_root(count) + 1);
  out->count = count;
  for (uint32_t i = 0; vertex && i < count; i++, vertex += 9)
    for (int k = 0; k < 3; k++) {
      const float center = random_between(random, -1.0f, 1.0f);
      for (int corner = 0; corner < 3; corner++) vertex[3 * corner + k] = center + random_between(random, -size, size);
    }
}

enum { HAIR_SEGMENTS = 8, HAIR_VERTICES = 2 * (HAIR_SEGMENTS + 1) };

/* A ribbon that leaves the unit sphere along its normal and bends; a thousandth wide, narrowing to its end. */
static void strand(random_state *random, float *vertex) {
  float normal[3], bend[3], side[3], unused[3];
  scene_random_direction(random, normal);
  scene_random_direction(random, bend);
  scene_frame(bend, side, unused);
  const float length = random_between(random, 0.2f, 0.4f);
  for (int i = 0; i <= HAIR_SEGMENTS; i++) {
    const float t = (float)i / (float)HAIR_SEGMENTS;
    const float width = 0.001f * (1.0f - 0.75f * t);
    for (int k = 0; k < 3; k++) {
      const float middle = normal[k] * (0.7f + length * t) + bend[k] * (0.6f * length * (t * t));
      vertex[6 * i + k] = middle - width * side[k];
      vertex[6 * i + 3 + k] = middle + width * side[k];
    }
  }
}

void scene_hair(uint32_t count, random_state *random, scene_geometry *out) {
  const uint32_t strands = count / (2 * HAIR_SEGMENTS) + 1;
  float *vertex = scene_vertices(out, (size_t)strands * HAIR_VERTICES);
  uint32_t *index = scene_indices(out, count);
  if (vertex == NULL || index == NULL) return;
  for (uint32_t i = 0; i < strands; i++) strand(random, vertex + (size_t)i * 3 * HAIR_VERTICES);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t at = i / (2 * HAIR_SEGMENTS) * HAIR_VERTICES + i % (2 * HAIR_SEGMENTS);
    index = i % 2 ? put_triangle(index, at + 1, at, at + 2) : put_triangle(index, at, at + 1, at + 2);
  }
}

/* ---- lattice and room ------------------------------------------------------ */

typedef struct cubes {
  uint32_t size;    /* cubes along a side */
  uint8_t *solid;   /* size^3 */
  uint32_t *vertex; /* (size + 1)^3: index + 1 of the vertex here, 0 for none */
} cubes;

static int is_solid(const cubes *c, int64_t x, int64_t y, int64_t z) {
  const int64_t n = c->size;
  if (x < 0 || y < 0 || z < 0 || x >= n || y >= n || z >= n) return 0;
  return c->solid[(z * n + y) * n + x];
}

static uint32_t lattice_vertex(const cubes *c, const uint32_t at[3], scene_geometry *out) {
  const size_t n = c->size + 1;
  uint32_t *slot = &c->vertex[((size_t)at[2] * n + at[1]) * n + at[0]];
  if (*slot == 0) {
    for (int k = 0; k < 3; k++)
      out->vertices[3 * (size_t)out->vertex_count + (size_t)k] = (float)at[k] - (float)(c->size / 2);
    *slot = ++out->vertex_count;
  }
  return *slot - 1;
}

/* Writes the face of a cube on side 0 .. 5 = -x, +x, ... */
static uint32_t *lattice_square(const cubes *c, const uint32_t cube[3], int side, int turned, uint32_t *to,
                                scene_geometry *out) {
  static const uint32_t corners[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  const int axis = side / 2, up = side % 2;
  uint32_t v[4];
  for (int i = 0; i < 4; i++) {
    const uint32_t *corner = corners[up ? i : 3 - i]; /* counter-clockwise from outside */
    uint32_t at[3] = {cube[0], cube[1], cube[2]};
    at[axis] += (uint32_t)up;
    at[(axis + 1) % 3] += corner[0];
    at[(axis + 2) % 3] += corner[1];
    v[i] = lattice_vertex(c, at, out);
  }
  return turned ? put_square(to, v[1], v[2], v[3], v[0]) : put_square(to, v[0], v[1], v[2], v[3]);
}

/* Writes every square between a solid cube and an empty one. Only counts them if `to` is NULL. */
static size_t lattice_surface(const cubes *c, random_state *random, uint32_t *to, scene_geometry *out) {
  size_t squares = 0;
  for (uint32_t z = 0; z < c->size; z++)
    for (uint32_t y = 0; y < c->size; y++)
      for (uint32_t x = 0; x < c->size; x++) {
        const uint32_t cube[3] = {x, y, z};
        for (int side = 0; side < 6 && is_solid(c, x, y, z); side++) {
          int64_t beside[3] = {x, y, z};
          beside[side / 2] += side % 2 ? 1 : -1;
          if (is_solid(c, beside[0], beside[1], beside[2])) continue;
          squares++;
          if (to) to = lattice_square(c, cube, side, random_next(random) & 1, to, out);
        }
      }
  return squares;
}

/* Fills half of n^3 cubes at random: about 3nnn + 3nn triangles. Where two cubes share only an edge, four triangles
 * share it. The surface is closed all the same. */
void scene_lattice(uint32_t count, random_state *random, scene_geometry *out) {
  uint32_t n = 1;
  while (3 * (uint64_t)(n + 1) * (n + 1) * (n + 2) <= count) n++;
  const size_t cells = (size_t)n * n * n, corners = (size_t)(n + 1) * (n + 1) * (n + 1);
  cubes c = {n, malloc(cells), calloc(corners, sizeof(uint32_t))};
  if (c.solid && c.vertex && scene_vertices(out, corners)) {
    for (size_t i = 0; i < cells; i++) c.solid[i] = i == 0 || random_next(random) % 2;
    out->vertex_count = 0;
    uint32_t *to = scene_indices(out, 2 * lattice_surface(&c, NULL, NULL, NULL));
    if (to) lattice_surface(&c, random, to, out);
  }
  free(c.solid);
  free(c.vertex);
}

/* A room that is 1000 times longer than wide. Rays along its length hit needle-shaped triangles at a grazing angle.
 * Inexact error bounds would let such rays through. */
void scene_room(uint32_t count, random_state *random, scene_geometry *out) {
  static const uint32_t sides[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                       {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  float *vertex = scene_vertices(out, 8);
  uint32_t *to = scene_indices(out, 12);
  (void)count, (void)random;
  if (vertex == NULL || to == NULL) return;
  for (uint32_t i = 0; i < 8; i++, vertex += 3) {
    vertex[0] = i & 1 ? 1.0f : 0.0f;
    vertex[1] = i & 2 ? 1.0f : 0.0f;
    vertex[2] = i & 4 ? 1000.0f : 0.0f;
  }
  for (int i = 0; i < 6; i++) to = put_square(to, sides[i][0], sides[i][1], sides[i][2], sides[i][3]);
}

/* ---- torus and knot -------------------------------------------------------- */

/* Step i of n around the unit circle. Does not use sine and cosine, whose last bits vary between machines. Within each
 * quarter t approximates the tangent of half the angle. The point is on the circle for every t. */
static void circle(uint32_t i, uint32_t n, double *c, double *s) {
  const double turn = 4.0 * (double)i / (double)n;
  const int quarter = (int)turn;
  const double f = turn - quarter;
  const double t = f * (0.7854 + 0.2146 * (f * f));
  const double x = (1.0 - t * t) / (1.0 + t * t), y = 2.0 * t / (1.0 + t * t);
  *c = quarter == 0 ? x : quarter == 1 ? -y : quarter == 2 ? -x : y;
  *s = quarter == 0 ? y : quarter == 1 ? x : quarter == 2 ? -y : -x;
}

/* A point of a closed tube's centre line, with two unit vectors across it. */
typedef struct tube_point {
  double center[3], across[2][3];
} tube_point;

static tube_point torus_point(double c, double s) {
  const tube_point p = {{0.7 * c, 0.0, 0.7 * s}, {{c, 0.0, s}, {0.0, 1.0, 0.0}}};
  return p;
}

/* The curve (cos 2a (r + q cos 3a), sin 2a (r + q cos 3a), q sin 3a) lies on a torus. The torus's normal is a direction
 * across the curve that is the same again after one round. */
static tube_point knot_point(double c, double s) {
  const double r = 0.55, q = 0.25;
  const double c2 = c * c - s * s, s2 = 2.0 * (s * c);
  const double c3 = c * (4.0 * (c * c) - 3.0), s3 = s * (3.0 - 4.0 * (s * s));
  const double out = r + q * c3;
  const double along[3] = {-3.0 * (q * s3) * c2 - 2.0 * (out * s2), -3.0 * (q * s3) * s2 + 2.0 * (out * c2),
                           3.0 * (q * c3)};
  const double speed = sqrt((along[0] * along[0] + along[1] * along[1]) + along[2] * along[2]);
  tube_point p = {{out * c2, out * s2, q * s3}, {{c3 * c2, c3 * s2, s3}, {0}}};
  const double *n = p.across[0];
  for (int k = 0; k < 3; k++) {
    const int y = (k + 1) % 3, z = (k + 2) % 3;
    p.across[1][k] = (along[y] * n[z] - along[z] * n[y]) / speed;
  }
  return p;
}

/* Builds n rings of m vertices each. */
static void build_tube(uint32_t n, uint32_t m, double radius, tube_point (*point)(double, double),
                       scene_geometry *out) {
  float *vertex = scene_vertices(out, (size_t)n * m);
  uint32_t *to = scene_indices(out, 2 * (size_t)n * m);
  if (vertex == NULL || to == NULL) return;
  for (uint32_t i = 0; i < n; i++) {
    double c, s;
    circle(i, n, &c, &s);
    const tube_point p = point(c, s);
    for (uint32_t j = 0; j < m; j++) {
      circle(j, m, &c, &s);
      for (int k = 0; k < 3; k++)
        *vertex++ = (float)(p.center[k] + radius * (c * p.across[0][k] + s * p.across[1][k])) + 0.0f;
    }
  }
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = 0; j < m; j++) {
      const uint32_t i1 = (i + 1) % n, j1 = (j + 1) % m;
      to = put_square(to, i * m + j, i * m + j1, i1 * m + j1, i1 * m + j);
    }
}

static uint32_t at_least(uint32_t value, uint32_t least) { return value > least ? value : least; }

void scene_torus(uint32_t count, random_state *random, scene_geometry *out) {
  const uint32_t m = at_least(scene_square_root(count / 4), 3);
  (void)random;
  build_tube(at_least(count / (2 * m), 6), m, 0.3, torus_point, out);
}

void scene_knot(uint32_t count, random_state *random, scene_geometry *out) {
  const uint32_t m = at_least(scene_square_root(count / 24), 3);
  (void)random;
  build_tube(at_least(count / (2 * m), 36), m, 0.17, knot_point, out);
}
