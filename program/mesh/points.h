/* Points with three equal floats or doubles are one. */
#ifndef SLABCAST_PROGRAM_MESH_POINTS_H
#define SLABCAST_PROGRAM_MESH_POINTS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The words of a point, which are the bits of its numbers. */
enum { POINT_OF_FLOATS = 3, POINT_OF_DOUBLES = 6 };

/* All zero but for the words: empty. */
typedef struct point_set {
  size_t words; /* of each point */
  void *at;     /* the floats or doubles of all points */
  uint32_t count;
  size_t capacity;
  uint32_t *slots; /* open addressing, at most half full: an index + 1; 0: free */
  size_t slot_count;
} point_set;

/* Finds or adds a point. Returns -1 if out of memory. */
int points_share(point_set *, const uint32_t *point, uint32_t *index);
void points_free(point_set *);

/* Of each coordinate as double and as float the one that such points have. -0 becomes 0, which is the same position. */
static inline void point_put(size_t words, uint32_t *point, const double wide[3], const float narrow[3]) {
  const double doubles[] = {wide[0] + 0.0, wide[1] + 0.0, wide[2] + 0.0};
  const float floats[] = {narrow[0] + 0.0f, narrow[1] + 0.0f, narrow[2] + 0.0f};
  if (words == POINT_OF_DOUBLES)
    memcpy(point, doubles, sizeof doubles);
  else
    memcpy(point, floats, sizeof floats);
}

/* As doubles. */
static inline void point_get(size_t words, const uint32_t *point, double p[3]) {
  float floats[3];
  if (words == POINT_OF_DOUBLES) {
    memcpy(p, point, 3 * sizeof *p);
    return;
  }
  memcpy(floats, point, sizeof floats);
  for (int k = 0; k < 3; k++) p[k] = (double)floats[k];
}

#endif
