/* Tables for sets of rays: beams, poses, hemispheres, skies and suns, with the same bits everywhere. So sine and cosine
 * are our own, and all else is exact to the last rounding in double. */
#include <string.h>

#include "base/arithmetic.h"
#include "base/status.h"
#include "slabcast.h"

/* ---- angles ---- */

typedef struct turn {
  double sine, cosine;
} turn;

/* Their series at an angle of 45 degrees at most: the terms that are left out are below 1e-19. Terms of x x, from the
 * last on. */
static turn turn_of_radians(double x) {
  static const double sines[] = {1.0 / 355687428096000.0, -1.0 / 1307674368000.0, 1.0 / 6227020800.0, -1.0 / 39916800.0,
                                 1.0 / 362880.0,          -1.0 / 5040.0,          1.0 / 120.0,        -1.0 / 6.0};
  static const double cosines[] = {1.0 / 20922789888000.0, -1.0 / 87178291200.0, 1.0 / 479001600.0, -1.0 / 3628800.0,
                                   1.0 / 40320.0,          -1.0 / 720.0,         1.0 / 24.0,        -1.0 / 2.0};
  const double square = x * x;
  double sine = 0.0, cosine = 0.0;
  for (int i = 0; i < 8; i++) {
    sine = sine * square + sines[i];
    cosine = cosine * square + cosines[i];
  }
  return (turn){x + x * (sine * square), 1.0 + cosine * square};
}

/* Degrees are counted from the nearest quarter, exactly, so that those of whole quarters are exact. */
static turn turn_of(double degrees) {
  const double quarters = floor(degrees / 90.0 + 0.5);
  const turn t = turn_of_radians((degrees - 90.0 * quarters) * (3.14159265358979323846 / 180.0));
  switch ((int)(quarters - 4.0 * floor(quarters / 4.0))) {
    case 0:
      return t;
    case 1:
      return (turn){t.cosine, -t.sine};
    case 2:
      return (turn){-t.sine, -t.cosine};
    default:
      return (turn){-t.cosine, t.sine};
  }
}

static void store(double x, double y, double z, float to[3]) {
  to[0] = (float)(x + 0.0); /* no -0 */
  to[1] = (float)(y + 0.0);
  to[2] = (float)(z + 0.0);
}

static slab_status check_array(const char *function, const char *name, const void *array, size_t n) {
  return n == 0 || array != NULL ? SLAB_OK : fail(SLAB_INVALID_ARGUMENT, "%s: %s is NULL", function, name);
}

static slab_status check_angles(const char *function, const char *name, const float *degrees, size_t n) {
  const slab_status status = check_array(function, name, degrees, n);
  for (size_t i = 0; status == SLAB_OK && i < n; i++)
    if (!(fabsf(degrees[i]) <= 1e6f))
      return fail(SLAB_INVALID_ARGUMENT, "%s: %s %zu is %g degrees; up to 1e6 are allowed", function, name, i,
                  (double)degrees[i]);
  return status;
}

/* ---- sensors ---- */

slab_status slab_beams(const float *elevation, const float *azimuth, size_t n, float *beams) {
  ARITHMETIC callers = arithmetic_begin();
  slab_status status = check_angles("slab_beams", "elevation", elevation, n);
  if (status == SLAB_OK) status = check_angles("slab_beams", "azimuth", azimuth, n);
  if (status == SLAB_OK) status = check_array("slab_beams", "beams", beams, n);
  for (size_t i = 0; status == SLAB_OK && i < n; i++) {
    const turn e = turn_of((double)elevation[i]), a = turn_of((double)azimuth[i]);
    memset(beams + 6 * i, 0, 3 * sizeof *beams);
    store(e.cosine * a.cosine, e.cosine * a.sine, e.sine, beams + 6 * i + 3);
  }
  return status;
}

static void spin(const float pose[12], turn t, float to[12]) {
  for (int k = 0; k < 12; k += 4) {
    const double x = (double)pose[k], y = (double)pose[k + 1];
    to[k] = (float)(t.cosine * x + t.sine * y);
    to[k + 1] = (float)(t.cosine * y - t.sine * x);
    to[k + 2] = pose[k + 2];
    to[k + 3] = pose[k + 3];
  }
}

slab_status slab_spun_poses(const float *pose, size_t stride, const float *azimuth, size_t n, float *poses) {
  ARITHMETIC callers = arithmetic_begin();
  slab_status status = check_array("slab_spun_poses", "pose", pose, n);
  if (status == SLAB_OK) status = check_angles("slab_spun_poses", "azimuth", azimuth, n);
  if (status == SLAB_OK) status = check_array("slab_spun_poses", "poses", poses, n);
  for (size_t i = 0; status == SLAB_OK && i < n; i++)
    spin((const float *)(const void *)((const char *)pose + i * stride), turn_of((double)azimuth[i]), poses + 12 * i);
  return status;
}

/* ---- the sky ---- */

slab_status slab_hemisphere(uint32_t n, int cosine, float *directions) {
  ARITHMETIC callers = arithmetic_begin();
  const slab_status status = check_array("slab_hemisphere", "directions", directions, n);
  for (uint32_t i = 0; status == SLAB_OK && i < n; i++) {
    const double share = ((double)i + 0.5) / (double)n,
                 square = cosine != 0 ? 1.0 - share : (1.0 - share) * (1.0 - share);
    const uint64_t golden = (uint64_t)i * 0x9E3779B97F4A7C15u; /* of a turn of 2^64: its fraction, exactly */
    const turn t = turn_of((double)(golden >> 11) * (360.0 / 9007199254740992.0));
    const double across = sqrt(1.0 - square);
    store(across * t.cosine, across * t.sine, sqrt(square), directions + 3 * (size_t)i);
  }
  return status;
}

slab_status slab_sun_directions(const float *azimuth, const float *altitude, size_t n, float *directions) {
  ARITHMETIC callers = arithmetic_begin();
  slab_status status = check_angles("slab_sun_directions", "azimuth", azimuth, n);
  if (status == SLAB_OK) status = check_angles("slab_sun_directions", "altitude", altitude, n);
  if (status == SLAB_OK) status = check_array("slab_sun_directions", "directions", directions, n);
  for (size_t i = 0; status == SLAB_OK && i < n; i++) {
    const turn north = turn_of((double)azimuth[i]), up = turn_of((double)altitude[i]);
    store(up.cosine * north.sine, up.cosine * north.cosine, up.sine, directions + 3 * i);
  }
  return status;
}

/* Patches of Tregenza's rows, of which the last has one. */
enum { SKY_ROWS = 7 };
static const uint32_t sky_rows[SKY_ROWS] = {30, 30, 24, 24, 18, 12, 6};
static const double full_turn = 6.28318530717958647693;

uint32_t slab_sky_patch_count(uint32_t parts) { return parts >= 1 && parts <= 64 ? 144 * parts * parts + 1 : 0; }

/* Rows of parts times as many patches as Tregenza's, from `low` degrees up to low + step. */
static void sky_row(uint32_t patches, double low, double step, float *directions, float *weights) {
  const turn middle = turn_of(low + 0.5 * step);
  const double angle = full_turn * (turn_of(low + step).sine - turn_of(low).sine) / (double)patches;
  for (uint32_t i = 0; i < patches; i++) {
    const turn north = turn_of(360.0 * (double)i / (double)patches);
    store(middle.cosine * north.sine, middle.cosine * north.cosine, middle.sine, directions + 3 * (size_t)i);
    if (weights != NULL) weights[i] = (float)angle;
  }
}

slab_status slab_sky_patches(uint32_t parts, float *directions, float *weights) {
  ARITHMETIC callers = arithmetic_begin();
  if (slab_sky_patch_count(parts) == 0)
    return fail(SLAB_INVALID_ARGUMENT, "slab_sky_patches: parts is %u, and 1 to 64 are allowed", parts);
  if (directions == NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_sky_patches: directions is NULL");
  const double step = 90.0 / ((double)(SKY_ROWS * parts) + 0.5);
  size_t at = 0;
  for (uint32_t row = 0; row < SKY_ROWS * parts; row++) {
    const uint32_t patches = sky_rows[row / parts] * parts;
    sky_row(patches, step * (double)row, step, directions + 3 * at, weights != NULL ? weights + at : NULL);
    at += patches;
  }
  store(0.0, 0.0, 1.0, directions + 3 * at);
  if (weights != NULL) weights[at] = (float)(full_turn * (1.0 - turn_of(90.0 - 0.5 * step).sine));
  return SLAB_OK;
}
