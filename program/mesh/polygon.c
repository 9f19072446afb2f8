/* Ear clipping, in the coordinate plane in which the polygon's projection is largest. */

#include <math.h>
#include <stdlib.h>

#include "program/mesh/polygon.h"

typedef struct corner {
  double x, y; /* projected; counter-clockwise */
  uint32_t previous, next;
} corner;

/* Newell's normal, which is also correct for concave and nearly planar polygons. */
static void polygon_normal(const float *points, size_t n, double normal[3]) {
  normal[0] = normal[1] = normal[2] = 0;
  for (size_t i = 0; i < n; i++) {
    const float *a = points + 3 * i, *b = points + 3 * ((i + 1) % n);
    for (int k = 0; k < 3; k++) {
      const int y = (k + 1) % 3, z = (k + 2) % 3;
      normal[k] += ((double)a[y] - (double)b[y]) * ((double)a[z] + (double)b[z]);
    }
  }
}

static void project(const float *points, size_t n, corner *corners) {
  double normal[3];
  int axis = 0;
  polygon_normal(points, n, normal);
  for (int k = 1; k < 3; k++)
    if (fabs(normal[k]) > fabs(normal[axis])) axis = k;
  const double sign = normal[axis] < 0 ? -1 : 1;
  for (size_t i = 0; i < n; i++) {
    corners[i].x = (double)points[3 * i + (size_t)(axis + 1) % 3];
    corners[i].y = (double)points[3 * i + (size_t)(axis + 2) % 3] * sign;
    corners[i].previous = (uint32_t)((i + n - 1) % n);
    corners[i].next = (uint32_t)((i + 1) % n);
  }
}

/* Twice the signed area of a, b, c. */
static double area(const corner *a, const corner *b, const corner *c) {
  return (b->x - a->x) * (c->y - a->y) - (b->y - a->y) * (c->x - a->x);
}

static int same_place(const corner *a, const corner *b) { return a->x == b->x && a->y == b->y; }

/* Whether corner i can be cut off: it is convex, and no other corner is in or on the triangle. */
static int is_ear(const corner *corners, uint32_t i) {
  const corner *b = &corners[i], *a = &corners[b->previous], *c = &corners[b->next];
  if (!(area(a, b, c) > 0)) return 0; /* true for NaN too */
  for (const corner *p = &corners[c->next]; p != a; p = &corners[p->next]) {
    if (same_place(p, a) || same_place(p, b) || same_place(p, c)) continue;
    if (area(a, b, p) >= 0 && area(b, c, p) >= 0 && area(c, a, p) >= 0) return 0;
  }
  return 1;
}

static void clip_ears(corner *corners, size_t n, uint32_t *out) {
  uint32_t i = 1; /* starts at 1, so that a convex polygon becomes the fan around corner 0 */
  size_t refused = 0;
  for (size_t left = n; left >= 3;) {
    corner *here = &corners[i];
    if (left > 3 && refused < left && !is_ear(corners, i)) {
      refused++;
    } else { /* if no corner is an ear (self-crossing, no area), any corner is cut */
      *out++ = here->previous;
      *out++ = i;
      *out++ = here->next;
      corners[here->previous].next = here->next;
      corners[here->next].previous = here->previous;
      refused = 0;
      left--;
    }
    i = here->next;
  }
}

int polygon_split(const float *points, size_t n, uint32_t *triangles) {
  corner *corners = malloc(n * sizeof *corners);
  if (corners == NULL) return -1;
  project(points, n, corners);
  clip_ears(corners, n, triangles);
  free(corners);
  return 0;
}
