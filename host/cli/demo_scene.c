#include "demo_scene.h"

#include <stdlib.h>

#include "random.h"

/* ---- geometry -------------------------------------------------------------- */

enum { REACH = 5, KNOT_TRIANGLES = 384, KNOT_SIDES = 4 };

/* Goes round from 0 to 4 as the angle does, without its tangent. */
static float turn_of(float x, float z) {
  const float sum = fabsf(x) + fabsf(z);
  const float p = z / sum;
  return x >= 0.0f ? (z >= 0.0f ? p : 4.0f + p) : 2.0f - p;
}

/* Stairs that wind up around a court in the middle, lowest in front of the camera. */
static float column_height(float x, float z, float jitter) {
  const float distance = sqrtf(x * x + z * z);
  if (distance < 1.9f) return 0.16f + 0.12f * jitter;
  const float turn = turn_of(x - z, x + z) / 4.0f; /* starts on the diagonal at the front */
  return 0.3f + (3.9f * (turn * turn)) * (0.4f + 0.12f * distance) + 0.5f * jitter;
}

static int build_columns(demo_scene *out) {
  const float limit = (float)REACH + 0.7f;
  random_state random = random_seed(7);
  out->boxes = malloc((2 * REACH + 1) * (2 * REACH + 1) * sizeof *out->boxes + sizeof *out->boxes);
  if (out->boxes == NULL) return -1;
  out->boxes[out->box_count++] = (slab_box){{-400.0f, -1.0f, -400.0f}, {400.0f, 0.0f, 400.0f}};
  for (int j = -REACH; j <= REACH; j++)
    for (int i = -REACH; i <= REACH; i++) {
      const float x = (float)i, z = (float)j, jitter = random_float(&random);
      if (x * x + z * z > limit * limit) continue;
      const float half = 0.485f;
      out->boxes[out->box_count++] =
          (slab_box){{x - half, 0.0f, z - half}, {x + half, column_height(x, z, jitter), z + half}};
    }
  return 0;
}

/* Upright, facing the camera a little turned, over the middle. */
static void place_knot(scene_geometry *knot) {
  for (uint32_t i = 0; i < knot->vertex_count; i++) {
    float *p = knot->vertices + 3 * (size_t)i;
    const vec3 v = vec_scale(vec_of(p), 2.3f);
    vec_store(vec(0.8f * v.x + 0.6f * v.z, v.y + 3.0f, 0.8f * v.z - 0.6f * v.x), p);
  }
}

/* The knot is a bent bar with four sides: each is smooth along the bar and has sharp edges to the next. */
static int side_normals(demo_scene *out) {
  const uint32_t m = KNOT_SIDES, rings = out->knot.vertex_count / m;
  const float *vertices = out->knot.vertices;
  out->normals = malloc((size_t)out->knot.vertex_count * sizeof *out->normals);
  if (out->normals == NULL) return -1;
  for (uint32_t i = 0; i < rings; i++)
    for (uint32_t j = 0; j < m; j++) {
      const uint32_t before = (i + rings - 1) % rings, after = (i + 1) % rings, j1 = (j + 1) % m;
      const vec3 across = vec_sub(vec_of(vertices + 3 * (i * m + j1)), vec_of(vertices + 3 * (i * m + j)));
      const vec3 one = vec_sub(vec_of(vertices + 3 * (after * m + j)), vec_of(vertices + 3 * (before * m + j)));
      const vec3 other = vec_sub(vec_of(vertices + 3 * (after * m + j1)), vec_of(vertices + 3 * (before * m + j1)));
      out->normals[i * m + j] = vec_unit(vec_cross(across, vec_add(one, other)));
    }
  return 0;
}

/* By hand: the library's camera takes an angle's tangent, whose last bit is not the same everywhere. */
static slab_camera camera_for(uint32_t width, uint32_t height) {
  const vec3 from = {3.2f, 4.9f, 13.4f}, to = {0.0f, 2.45f, 0.0f};
  const float half_height = 0.31f, half_width = half_height * ((float)width / (float)height);
  const vec3 forward = vec_unit(vec_sub(to, from));
  const vec3 right = vec_unit(vec_cross(forward, vec(0.0f, 1.0f, 0.0f)));
  slab_camera camera;
  vec_store(from, camera.origin);
  vec_store(forward, camera.forward);
  vec_store(vec_scale(right, half_width), camera.right);
  vec_store(vec_scale(vec_cross(right, forward), half_height), camera.up);
  return camera;
}

int demo_scene_build(uint32_t width, uint32_t height, demo_scene *out) {
  *out = (demo_scene){.camera = camera_for(width, height)};
  if (build_columns(out) != 0 || scene_build("knot", KNOT_TRIANGLES, 1, &out->knot) != 0) return -1;
  place_knot(&out->knot);
  return side_normals(out);
}

void demo_scene_free(demo_scene *scene) {
  free(scene->boxes);
  free(scene->normals);
  scene_geometry_free(&scene->knot);
  *scene = (demo_scene){0};
}

/* ---- surfaces -------------------------------------------------------------- */

static const vec3 ground_color = {0.34f, 0.33f, 0.34f};

/* From deep teal at the ground to sand at the top of the stairs. */
static vec3 column_color(const slab_box *box, uint32_t number) {
  const vec3 stops[4] = {{0.015f, 0.09f, 0.19f}, {0.02f, 0.30f, 0.36f}, {0.72f, 0.43f, 0.17f}, {0.76f, 0.18f, 0.12f}};
  const float at = box->upper[1] * (3.0f / 4.4f);
  const int stop = at < 1.0f ? 0 : at < 2.0f ? 1 : 2;
  const vec3 color = vec_mix(stops[stop], stops[stop + 1], at - (float)stop);
  return vec_scale(color, 0.92f + 0.02f * (float)(number * 7 % 9));
}

uint32_t demo_knot_side(uint32_t primitive) { return primitive / 2 % KNOT_SIDES; }

/* Two triangles make a square from ring i to the next: a b c and a c d, with a and b on ring i. */
static vec3 knot_normal(const demo_scene *scene, const slab_hit *hit) {
  const uint32_t square = hit->primitive / 2, next = (square + KNOT_SIDES) % scene->knot.vertex_count;
  const float along = hit->primitive % 2 ? hit->u + hit->v : hit->v;
  return vec_unit(vec_mix(scene->normals[square], scene->normals[next], along));
}

demo_surface demo_surface_at(const demo_scene *scene, const slab_ray *ray, const slab_hit *hit) {
  demo_surface s = {.id = {hit->primitive, hit->geometry}};
  float position[3];
  const vec3 direction = vec_of(ray->direction);
  const float length = sqrtf(vec_dot(direction, direction));
  slab_point_at(ray, hit->t, position);
  s.position = vec_of(position);
  s.view = vec_scale(direction, 1.0f / length);
  s.distance = hit->t * length;
  s.facet = s.normal = vec_of(hit->normal);
  if (hit->geometry == DEMO_KNOT) {
    s.normal = knot_normal(scene, hit);
    s.color = vec(0.95f, 0.60f, 0.25f);
    s.part = UINT32_MAX - demo_knot_side(hit->primitive);
  } else {
    s.color = hit->primitive == 0 ? ground_color : column_color(&scene->boxes[hit->primitive], hit->primitive);
    s.part = hit->primitive * 6 + (uint32_t)hit->u;
  }
  return s;
}

/* ---- light ----------------------------------------------------------------- */

static const vec3 sun_direction = {-0.7427f, 0.5199f, 0.4221f};
static const vec3 sun_color = {3.6f, 2.75f, 1.85f};

/* A spiral over the unit disc with equal area to each, in an order that spreads neighbours. */
static const float disc[DEMO_PATTERN][2] = {
    {0.1768f, 0.0000f},  {-0.6727f, 0.5404f}, {0.0346f, -0.3937f},  {0.9681f, -0.0232f},
    {-0.2258f, 0.2068f}, {0.5870f, 0.5409f},  {-0.6019f, -0.4273f}, {0.3415f, -0.8590f},
    {0.2845f, 0.3711f},  {-0.2621f, 0.7227f}, {-0.5223f, -0.0923f}, {-0.1430f, -0.8919f},
    {0.4958f, -0.3166f}, {0.7868f, 0.2020f},  {-0.1862f, -0.6567f}, {-0.9106f, 0.1325f},
};

/* Off the surface far enough to be outside of it, near enough not to show. */
static slab_ray leave(const demo_surface *surface, vec3 direction, float t_max) {
  slab_ray ray = {.t_max = t_max};
  vec_store(vec_along(surface->position, 1e-3f, surface->facet), ray.origin);
  vec_store(direction, ray.direction);
  return ray;
}

slab_ray demo_sun_ray(const demo_surface *surface, uint32_t pattern) {
  const float radius = 0.045f;
  const vec3 side = vec_unit(vec_cross(sun_direction, vec(0.0f, 1.0f, 0.0f)));
  const vec3 up = vec_cross(side, sun_direction);
  vec3 direction = vec_along(sun_direction, radius * disc[pattern][0], side);
  direction = vec_along(direction, radius * disc[pattern][1], up);
  return leave(surface, direction, INFINITY);
}

/* A disc lifted onto the half-sphere: as many rays as light from there counts. */
slab_ray demo_sky_ray(const demo_surface *surface, uint32_t pattern) {
  const float x = disc[pattern][0], y = disc[pattern][1], z = sqrtf((1.0f - x * x) - y * y);
  const vec3 n = surface->facet;
  const vec3 axis = fabsf(n.y) < 0.7f ? vec(0.0f, 1.0f, 0.0f) : vec(1.0f, 0.0f, 0.0f);
  const vec3 u = vec_unit(vec_cross(axis, n)), v = vec_cross(n, u);
  return leave(surface, vec_along(vec_along(vec_scale(n, z), x, u), y, v), 5.0f);
}

slab_ray demo_mirror_ray(const demo_surface *surface) {
  const vec3 n = surface->normal;
  vec3 direction = vec_along(surface->view, -2.0f * vec_dot(surface->view, n), n);
  const float rising = vec_dot(direction, surface->facet);
  if (rising < 0.02f) direction = vec_along(direction, 0.02f - rising, surface->facet); /* smoothed below the facet */
  return leave(surface, vec_unit(direction), INFINITY);
}

vec3 demo_sky_color(vec3 direction) {
  const vec3 horizon = {1.05f, 0.70f, 0.46f}, middle = {0.40f, 0.55f, 0.78f}, zenith = {0.10f, 0.22f, 0.50f};
  const float y = direction.y > 0.0f ? direction.y : 0.0f;
  const vec3 sky = vec_mix(vec_mix(horizon, middle, y * 5.0f), zenith, y * 1.8f - 0.2f);
  const float near_sun = vec_dot(direction, sun_direction);
  const float n2 = near_sun > 0.0f ? near_sun * near_sun : 0.0f, n8 = (n2 * n2) * (n2 * n2);
  return vec_along(sky, 0.5f * n8, vec(1.0f, 0.7f, 0.4f));
}

int demo_faces_sun(const demo_surface *surface) { return vec_dot(surface->normal, sun_direction) > 0.0f; }

static float power5(float x) { return ((x * x) * (x * x)) * x; }

/* The ground fades into the horizon, so that its end does not show. */
static vec3 haze(const demo_surface *surface, vec3 light) {
  const float far = (surface->distance - 14.0f) / 130.0f, near = 1.0f - (far > 0.0f ? far : 0.0f);
  const vec3 horizon = demo_sky_color(vec_unit(vec(surface->view.x, 0.0f, surface->view.z)));
  return vec_mix(light, horizon, near > 0.0f ? 1.0f - near * near : 1.0f);
}

/* The sun itself in a polished surface. */
static float glint(const demo_surface *surface) {
  const slab_ray mirror = demo_mirror_ray(surface);
  const float near_sun = vec_dot(vec_of(mirror.direction), sun_direction);
  const float x = near_sun > 0.0f ? near_sun * near_sun : 0.0f, x4 = (x * x) * (x * x), x16 = (x4 * x4) * (x4 * x4);
  return x16;
}

vec3 demo_shade(const demo_surface *surface, float sun, float sky, const vec3 *reflected) {
  const vec3 sky_light = vec_mix(vec(0.22f, 0.17f, 0.15f), vec(0.30f, 0.42f, 0.66f), 0.5f + 0.5f * surface->normal.y);
  const float facing = vec_dot(surface->normal, sun_direction);
  vec3 light = vec_scale(sky_light, sky);
  if (facing > 0.0f) light = vec_along(light, facing * sun, sun_color);
  light = vec_times(light, surface->color);
  if (reflected != NULL) {
    const float grazing = 1.0f + vec_dot(surface->view, surface->normal);
    const float fresnel = power5(grazing > 0.0f ? grazing : 0.0f);
    const vec3 tint = vec_mix(surface->color, vec(1.0f, 1.0f, 1.0f), fresnel);
    light = vec_add(vec_scale(light, 0.45f), vec_scale(vec_times(*reflected, tint), 0.75f * (0.4f + 0.6f * sky)));
    light = vec_along(light, 0.7f * sun * glint(surface), sun_color);
  }
  return haze(surface, light);
}

/* Bright light is compressed; the square root stands for the screen's gamma; then some contrast. */
static uint8_t develop_one(float light) {
  const float toned = light * (1.0f + light * 0.12f) / (1.0f + light * 0.75f);
  const float value = sqrtf(toned < 1.0f ? toned : 1.0f);
  const float steep = value * value * (3.0f - 2.0f * value);
  return (uint8_t)((0.45f * value + 0.55f * steep) * 255.0f + 0.5f);
}

void demo_develop(vec3 light, uint8_t pixel[3]) {
  pixel[0] = develop_one(light.x);
  pixel[1] = develop_one(light.y);
  pixel[2] = develop_one(light.z);
}
