/* The pinhole camera. */
#include "slabcast.h"

typedef struct vector {
  double x, y, z;
} vector;

static vector vector_of(const float v[3]) { return (vector){v[0], v[1], v[2]}; }

static vector crossed(vector a, vector b) {
  return (vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static double length_of(vector v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

static vector unit(vector v) {
  double length = length_of(v);
  return length > 0.0 ? (vector){v.x / length, v.y / length, v.z / length} : (vector){0.0, 0.0, 0.0};
}

static void store(vector v, double scale, float out[3]) {
  out[0] = (float)(v.x * scale);
  out[1] = (float)(v.y * scale);
  out[2] = (float)(v.z * scale);
}

/* An up that runs along the view is replaced by the axis farthest from it. */
static vector sideways(vector forward, vector up) {
  vector right = crossed(forward, up);
  if (length_of(right) > 1e-6 * length_of(up)) return unit(right);
  vector other = fabs(forward.z) < 0.9 ? (vector){0.0, 0.0, 1.0} : (vector){0.0, 1.0, 0.0};
  return unit(crossed(forward, other));
}

slab_camera slab_camera_look_at(const float from[3], const float to[3], const float up[3], float fov_degrees,
                                float aspect) {
  slab_camera camera = {{from[0], from[1], from[2]}, {0}, {0}, {0}};
  vector a = vector_of(from), b = vector_of(to);
  vector forward = unit((vector){b.x - a.x, b.y - a.y, b.z - a.z});
  vector right = sideways(forward, vector_of(up));
  double half_height = tan((double)fov_degrees * (3.14159265358979323846 / 360.0));
  store(forward, 1.0, camera.forward);
  store(right, half_height * (double)aspect, camera.right);
  store(crossed(right, forward), half_height, camera.up);
  return camera;
}
