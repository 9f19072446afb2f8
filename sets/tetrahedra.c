#include "sets/tetrahedra.h"

#include <math.h>
#include <string.h>

/* Corners of each face, outward where (b - a, c - a, d - a) are a right-handed system. */
static const int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};

/* ---- making --------------------------------------------------------------------- */

/* The nearest float that is a whole number of units. */
static float whole(double x) { return (float)(rint(x / (double)TETRAHEDRA_UNIT) * (double)TETRAHEDRA_UNIT); }

static float coordinate(random_state *r, tetrahedra_sort sort) {
  if (sort == TETRAHEDRA_TOUCHING) return (float)random_below(r, 5) - 2.0f;
  const double near = 2.0 * (double)random_float(r) - 1.0;
  return whole(sort == TETRAHEDRA_FAR && random_below(r, 2) == 0 ? near * 0x1p13 : near);
}

void tetrahedra_make(random_state *r, tetrahedra_sort sort, uint32_t count, tetrahedra *t) {
  t->count = count;
  for (uint32_t i = 0; i < count; i++)
    for (int v = 0; v < 4; v++)
      for (int k = 0; k < 3; k++) t->corners[i][v][k] = coordinate(r, sort);
}

/* way: which permutation of the axes, in 0..5, times which axes are turned round, in 0..7. */
static void turn(uint32_t way, float v[3]) {
  static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  const float old[3] = {v[0], v[1], v[2]};
  for (int k = 0; k < 3; k++) v[k] = (way / 6 >> k & 1) != 0 ? -old[orders[way % 6][k]] : old[orders[way % 6][k]];
}

/* Whether a way exchanges left and right. */
static bool mirrors(uint32_t way) {
  const uint32_t turned = (way / 6 & 1) + (way / 12 & 1) + (way / 24 & 1);
  return (turned + (way % 6 >= 3)) % 2 != 0;
}

void tetrahedra_turn(uint32_t way, tetrahedra *t, float *points, size_t n) {
  for (uint32_t i = 0; i < t->count; i++) {
    for (int v = 0; v < 4; v++) turn(way, t->corners[i][v]);
    if (!mirrors(way)) continue;
    float kept[3];
    memcpy(kept, t->corners[i][0], sizeof kept);
    memcpy(t->corners[i][0], t->corners[i][1], sizeof kept);
    memcpy(t->corners[i][1], kept, sizeof kept);
  }
  for (size_t i = 0; i < n; i++) turn(way, points + 3 * i);
}

slab_status tetrahedra_add(const tetrahedra *t, slab_scene *scene) {
  uint32_t indices[TETRAHEDRA_MOST * 12], n = 0;
  for (uint32_t i = 0; i < t->count; i++)
    for (int f = 0; f < 4; f++)
      for (int k = 0; k < 3; k++) indices[n++] = 4 * i + (uint32_t)faces[f][k];
  const slab_mesh mesh = {&t->corners[0][0][0], 0, 4 * t->count, indices, 4 * t->count, NULL};
  return slab_scene_add_mesh(scene, &mesh, NULL, NULL);
}

/* ---- points ----------------------------------------------------------------------- */

void tetrahedra_aim(random_state *r, const tetrahedra *t, float point[3]) {
  const float(*corner)[3] = t->corners[random_below(r, t->count)];
  const int a = (int)random_below(r, 4), b = (int)random_below(r, 4), c = (int)random_below(r, 4);
  const uint32_t halves = random_below(r, 2); /* edges' middles and the like, which may be exact */
  const double u = halves ? 0.5 * random_below(r, 3) : (double)random_float(r),
               v = halves ? 0.5 * random_below(r, 3) : (double)random_float(r);
  for (int k = 0; k < 3; k++) {
    const double p = (double)corner[a][k], q = (double)corner[b][k], s = (double)corner[c][k];
    point[k] = whole(p + u * (q - p) + v * (1.0 - u) * (s - p));
    const uint32_t move = random_below(r, 6);
    if (move > 1) continue;
    const float next = nextafterf(point[k], move == 0 ? INFINITY : -INFINITY);
    const float step = fabsf(next - point[k]) < TETRAHEDRA_UNIT ? TETRAHEDRA_UNIT : fabsf(next - point[k]);
    point[k] = point[k] + (move == 0 ? step : -step);
  }
}

/* ---- judging ------------------------------------------------------------------------ */

/* In units: below 2^38, so that a determinant is below 2^122. */
__extension__ typedef __int128 wide;

static void in_units(const float v[3], int64_t units[3]) {
  for (int k = 0; k < 3; k++) units[k] = (int64_t)((double)v[k] / (double)TETRAHEDRA_UNIT);
}

static int sign_of(wide x) { return (x > 0) - (x < 0); }

/* On which side of the plane of x, y, z the point is: 1 behind it. In the plane it is that of the point moved by (e,
 * e^2, -d), with d far above e: the derivatives along these. */
static int side_of(int64_t corner[4][3], const int face[3], const int64_t p[3], bool *on_plane) {
  const int64_t *x = corner[face[0]], *y = corner[face[1]], *z = corner[face[2]];
  wide normal[3], height = 0;
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    normal[k] = (wide)(y[i] - x[i]) * (z[j] - x[j]) - (wide)(y[j] - x[j]) * (z[i] - x[i]);
    height += normal[k] * (x[k] - p[k]);
  }
  if (height != 0) return sign_of(height);
  if (on_plane != NULL) *on_plane = true;
  if (normal[2] != 0) return sign_of(normal[2]);
  return normal[0] != 0 ? -sign_of(normal[0]) : -sign_of(normal[1]);
}

int32_t tetrahedra_winding(const tetrahedra *t, const float point[3], bool *on_plane) {
  int64_t p[3], corner[4][3];
  int32_t sum = 0;
  if (on_plane != NULL) *on_plane = false;
  in_units(point, p);
  for (uint32_t i = 0; i < t->count; i++) {
    int sides[4];
    for (int v = 0; v < 4; v++) in_units(t->corners[i][v], corner[v]);
    for (int f = 0; f < 4; f++) sides[f] = side_of(corner, faces[f], p, on_plane);
    if (sides[0] == sides[1] && sides[1] == sides[2] && sides[2] == sides[3]) sum += sides[0];
  }
  return sum;
}
