/* Sine and cosine from additions and multiplications alone, so that they have the same bits whatever mathematical
 * library a machine has; within 1e-15. */
#ifndef SLABCAST_CLI_CIRCLE_H
#define SLABCAST_CLI_CIRCLE_H

#include <math.h>

/* The point of the unit circle at an angle in degrees. */
static inline void circle_at(double degrees, double *cosine, double *sine) {
  const double quadrants = floor(degrees / 90.0 + 0.5);
  const double x = (degrees - 90.0 * quadrants) * 0.017453292519943295; /* within +-pi/4 */
  double c = 1.0, s = 1.0;
  /* Taylor series from the innermost term outwards: cos x = 1 - x^2/2 (1 - x^2/12 (...)). */
  for (int n = 18; n >= 2; n -= 2) {
    c = 1.0 - c * (x * x) / (double)((n - 1) * n);
    s = 1.0 - s * (x * x) / (double)(n * (n + 1));
  }
  s = s * x;
  const int turn = (int)(quadrants - 4.0 * floor(quadrants / 4.0));
  *cosine = turn == 0 ? c : turn == 1 ? -s : turn == 2 ? -c : s;
  *sine = turn == 0 ? s : turn == 1 ? c : turn == 2 ? -s : -c;
}

static inline double circle_tangent(double degrees) {
  double cosine, sine;
  circle_at(degrees, &cosine, &sine);
  return sine / cosine;
}

#endif
