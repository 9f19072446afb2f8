/* Splitting polygons whose corners may be any floats of a file. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "program/mesh/polygon.h"

enum { CORNERS_MAX = 48 };

/* Wherever the corners are, the result must be a triangulation: every side of the polygon is a side of one triangle.
 * Every other side is shared by two triangles that traverse it in opposite directions. */
static void is_triangulation(const uint32_t *triangles, size_t n) {
  static int sides[CORNERS_MAX][CORNERS_MAX];
  memset(sides, 0, sizeof sides);
  for (size_t i = 0; i < n; i++) {
    sides[i][(i + 1) % n]--;
    sides[(i + 1) % n][i]++;
  }
  for (const uint32_t *t = triangles; t < triangles + 3 * (n - 2); t += 3)
    for (int k = 0; k < 3; k++) {
      const uint32_t a = t[k], b = t[(k + 1) % 3];
      claim(a < n && b < n && a != b);
      sides[a][b]++;
      sides[b][a]--;
    }
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < n; k++) claim(sides[i][k] == 0);
}

long fuzz_one(const uint8_t *data, size_t size) {
  const size_t n = size / (3 * sizeof(float));
  if (n < 3 || n > CORNERS_MAX) return FUZZ_REFUSED;
  float *points = malloc(n * 3 * sizeof *points);
  uint32_t *triangles = malloc((n - 2) * 3 * sizeof *triangles);
  claim(points != NULL && triangles != NULL);
  memcpy(points, data, n * 3 * sizeof *points);
  claim(polygon_split(points, n, triangles) == 0);
  is_triangulation(triangles, n);
  free(points);
  free(triangles);
  return (long)n - 2;
}
