/* The pinhole camera. */
#include "base/arithmetic.h"
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

/* Returns the right axis. An up vector parallel to the view is replaced by z, or by y where the view is close to z. */
static vector sideways(vector forward, vector up) {
  vector right = crossed(forward, up);
  if (length_of(right) > 1e-6 * length_of(up)) return unit(right);
  vector other = fabs(forward.z) < 0.9 ? (vector){0.0, 0.0, 1.0} : (vector){0.0, 1.0, 0.0};
  return unit(crossed(forward, other));
}

ARITHMETIC_BODY static void look_at(slab_camera *camera, const float to[3], const float up[3], float fov_degrees,
                                    float aspect) {
  vector a = vector_of(camera->origin), b = vector_of(to);
  vector forward = unit((vector){b.x - a.x, b.y - a.y, b.z - a.z});
  vector right = sideways(forward, vector_of(up));
  double half_height = tan((double)fov_degrees * (3.14159265358979323846 / 360.0));
  store(forward, 1.0, camera->forward);
  store(right, half_height * (double)aspect, camera->right);
  store(crossed(right, forward), half_height, camera->up);
}

slab_camera slab_camera_look_at(const float from[3], const float to[3], const float up[3], float fov_degrees,
                                float aspect) {
  ARITHMETIC callers = arithmetic_begin();
  slab_camera camera = {{from[0], from[1], from[2]}, {0}, {0}, {0}};
  look_at(&camera, to, up, fov_degrees, aspect);
  return camera;
}

ARITHMETIC_BODY static void ray_of(slab_ray *ray, const slab_camera *camera, uint32_t x, uint32_t y, uint32_t width,
                                   uint32_t height) {
  const float sx = (2.0f * (float)x + 1.0f) / (float)width - 1.0f;
  const float sy = 1.0f - (2.0f * (float)y + 1.0f) / (float)height;
  for (int i = 0; i < 3; i++) {
    ray->origin[i] = camera->origin[i];
    ray->direction[i] = camera->forward[i] + (sx * camera->right[i] + sy * camera->up[i]);
  }
}

slab_ray slab_camera_ray(const slab_camera *camera, uint32_t x, uint32_t y, uint32_t width, uint32_t height) {
  ARITHMETIC callers = arithmetic_begin();
  slab_ray ray = {.t_max = INFINITY};
  ray_of(&ray, camera, x, y, width, height);
  return ray;
}
