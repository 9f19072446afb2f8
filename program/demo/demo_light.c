#include "program/demo/demo.h"

/* ---- surfaces -------------------------------------------------------------- */

static vec3 land_normal(const demo_scene *scene, const slab_hit *hit) {
  const uint32_t *corner = scene->parts[DEMO_LAND].indices + 3 * (size_t)hit->primitive;
  const vec3 *normals = scene->land_normals;
  const vec3 n = vec_scale(normals[corner[0]], (1.0f - hit->u) - hit->v);
  return vec_unit(vec_along(vec_along(n, hit->u, normals[corner[1]]), hit->v, normals[corner[2]]));
}

/* Small waves. They weaken with distance, where they would flicker, and end where the lattice of the noise does. */
static vec3 water_normal(const demo_scene *scene, vec3 at, float distance) {
  if (distance > 1e4f) return vec(0.0f, 1.0f, 0.0f);
  const noise_value wide = noise_at(&scene->noise, 2.3f * at.x + 0.4f * at.z, 3.1f * at.z);
  const noise_value fine = noise_at(&scene->noise, 9.0f * at.x - 2.0f * at.z, 11.0f * at.z + 1.3f * at.x);
  const float strength = 0.020f / (1.0f + 0.10f * distance);
  return vec_unit(
      vec(strength * (wide.along_x + 0.5f * fine.along_x), 1.0f, strength * (wide.along_y + 0.5f * fine.along_y)));
}

static vec3 position_of(const slab_ray *ray, const slab_hit *hit) {
  float position[3];
  slab_point_at(ray, hit->t, position);
  return vec_of(position);
}

void demo_smooth(const demo_scene *scene, const slab_ray *ray, slab_hit *hit) {
  if (hit->geometry == DEMO_LAND) vec_store(land_normal(scene, hit), hit->normal);
  if (hit->geometry == DEMO_WATER) vec_store(water_normal(scene, position_of(ray, hit), hit->t), hit->normal);
}

/* ---- rays ------------------------------------------------------------------ */

static const vec3 sun_direction = {-0.70215f, 0.36310f, 0.61248f};

int demo_faces_sun(const slab_hit *hit) { return vec_dot(vec_of(hit->normal), sun_direction) > 0.0f; }

/* A spiral over the unit disc with equal area per point, ordered so that neighbouring pixels get distant points. */
static const float disc[DEMO_PATTERN][2] = {
    {0.1768f, 0.0000f},  {-0.6727f, 0.5404f}, {0.0346f, -0.3937f},  {0.9681f, -0.0232f},
    {-0.2258f, 0.2068f}, {0.5870f, 0.5409f},  {-0.6019f, -0.4273f}, {0.3415f, -0.8590f},
    {0.2845f, 0.3711f},  {-0.2621f, 0.7227f}, {-0.5223f, -0.0923f}, {-0.1430f, -0.8919f},
    {0.4958f, -0.3166f}, {0.7868f, 0.2020f},  {-0.1862f, -0.6567f}, {-0.9106f, 0.1325f},
};

/* A ray that starts off the surface: far enough to be outside, near enough not to be visible. */
static slab_ray leave(const slab_ray *ray, const slab_hit *hit, vec3 direction, float t_max) {
  slab_ray leaving = {.t_max = t_max};
  vec_store(vec_along(position_of(ray, hit), 1e-3f, vec_of(hit->normal)), leaving.origin);
  vec_store(direction, leaving.direction);
  return leaving;
}

/* Two unit vectors perpendicular to w. */
static void across(vec3 w, vec3 *u, vec3 *v) {
  const vec3 aside = fabsf(w.y) < 0.7f ? vec(0.0f, 1.0f, 0.0f) : vec(1.0f, 0.0f, 0.0f);
  *u = vec_unit(vec_cross(aside, w));
  *v = vec_cross(w, *u);
}

slab_ray demo_sun_ray(const slab_ray *ray, const slab_hit *hit, uint32_t pattern) {
  const float radius = 0.02f;
  vec3 u, v;
  across(sun_direction, &u, &v);
  const vec3 direction = vec_along(sun_direction, radius * disc[pattern][0], u);
  return leave(ray, hit, vec_along(direction, radius * disc[pattern][1], v), INFINITY);
}

/* Projects the disc onto the hemisphere, which makes the density of rays proportional to the cosine. */
slab_ray demo_sky_ray(const slab_ray *ray, const slab_hit *hit, uint32_t pattern) {
  const float x = disc[pattern][0], y = disc[pattern][1], z = sqrtf((1.0f - x * x) - y * y), reach = 2.5f;
  const vec3 n = vec_of(hit->normal);
  vec3 u, v;
  across(n, &u, &v);
  return leave(ray, hit, vec_along(vec_along(vec_scale(n, z), x, u), y, v), reach);
}

/* The reflection at water never points below the surface, whatever the wave. */
slab_ray demo_mirror_ray(const slab_ray *ray, const slab_hit *hit) {
  const vec3 view = vec_unit(vec_of(ray->direction)), n = vec_of(hit->normal);
  vec3 direction = vec_along(view, -2.0f * vec_dot(view, n), n);
  if (hit->geometry == DEMO_WATER && direction.y < 0.004f) direction.y = 0.004f;
  return leave(ray, hit, vec_unit(direction), INFINITY);
}

/* ---- sky ------------------------------------------------------------------- */

static const vec3 sun_color = {4.1f, 2.95f, 1.85f};

static float power8(float x) {
  const float x2 = x > 0.0f ? x * x : 0.0f;
  return (x2 * x2) * (x2 * x2);
}

/* The sky without clouds; direction is a unit vector. */
static vec3 clear_sky(vec3 direction) {
  const vec3 horizon = {1.08f, 0.74f, 0.58f}, low = {0.80f, 0.66f, 0.72f}, middle = {0.34f, 0.50f, 0.76f};
  const vec3 zenith = {0.07f, 0.18f, 0.44f};
  const float y = direction.y > 0.0f ? direction.y : 0.0f;
  vec3 sky = vec_mix(horizon, low, y * 8.0f);
  sky = vec_mix(sky, middle, y * 4.2f - 0.25f);
  sky = vec_mix(sky, zenith, y * 1.9f - 0.45f);
  return vec_along(sky, 0.9f * power8(vec_dot(direction, sun_direction)), vec(1.0f, 0.72f, 0.42f));
}

/* Bands of thin cloud in a layer overhead. */
static float cloud(const demo_noise *noise, vec3 direction) {
  const float stretch = 1.0f / (direction.y + 0.10f);
  float x = 1.1f * direction.x * stretch + 3.0f, y = 2.6f * direction.z * stretch, sum = 0.0f, weight = 0.5f;
  for (int octave = 0; octave < 5; octave++) {
    sum += weight * noise_at(noise, x, y).value;
    weight *= 0.5f;
    const float turned = 1.7f * x - 1.1f * y;
    y = 1.1f * x + 1.7f * y;
    x = turned;
  }
  return smooth_step(0.50f, 0.86f, sum) * smooth_step(0.02f, 0.16f, direction.y);
}

static const float sun_disc = 0.99985f; /* cosine of the sun's radius, approximately */

vec3 demo_sky(const demo_scene *scene, const slab_ray *ray) {
  const vec3 direction = vec_unit(vec_of(ray->direction));
  const float toward = vec_dot(direction, sun_direction);
  vec3 sky = clear_sky(direction);
  if (direction.y > 0.02f) sky = vec_mix(sky, vec(1.18f, 0.90f, 0.80f), 0.75f * cloud(&scene->noise, direction));
  if (toward > 0.995f) sky = vec_along(sky, smooth_step(0.9975f, sun_disc, toward) * 6.0f, sun_color);
  return sky;
}

/* Fades distant colours into the sky above the horizon. */
static vec3 haze(vec3 light, vec3 view, float distance) {
  const float thick = distance / 58.0f, through = 1.0f / (1.0f + thick * thick);
  return vec_mix(clear_sky(vec_unit(vec(view.x, 0.02f, view.z))), light, through);
}

/* ---- colours --------------------------------------------------------------- */

static float hashed(uint32_t bits) {
  bits = (bits ^ bits >> 16) * 0x7FEB352Du;
  bits = (bits ^ bits >> 15) * 0x846CA68Bu;
  return (float)((bits ^ bits >> 16) >> 8) * 0x1p-24f;
}

/* Sand at the shore, woods and grass, rock on steep slopes, snow at height. */
static vec3 land_color(const demo_scene *scene, vec3 p, float altitude) {
  const float patch = noise_at(&scene->noise, 1.7f * p.x, 1.7f * p.z).value;
  const float grain = noise_at(&scene->noise, 9.0f * p.x, 9.0f * p.z).value;
  const float fine = noise_at(&scene->noise, 43.0f * p.x, 43.0f * p.z).value;
  const float varied = 0.45f * patch + 0.3f * grain + 0.25f * fine;
  const vec3 rock = vec_mix(vec(0.17f, 0.135f, 0.12f), vec(0.33f, 0.26f, 0.22f), varied);
  const vec3 green = vec_mix(vec(0.045f, 0.10f, 0.04f), vec(0.22f, 0.23f, 0.08f), varied);
  vec3 color =
      vec_mix(rock, green, smooth_step(0.66f, 0.84f, altitude) * (1.0f - smooth_step(1.4f, 3.2f, p.y + varied)));
  color = vec_mix(vec(0.55f, 0.45f, 0.32f), color, smooth_step(0.05f, 0.16f, p.y + 0.08f * grain));
  const float snow = smooth_step(2.6f, 3.6f, p.y + 1.2f * varied - 0.6f) * smooth_step(0.52f, 0.72f, altitude);
  return vec_mix(color, vec(0.86f, 0.89f, 0.94f), snow);
}

/* Rows of windows between floors; some are lit. Returns the light that they emit, and darkens the wall. */
static float window(const slab_hit *hit, vec3 at, vec3 *wall) {
  const int face = (int)hit->u;
  const float along = face < 2 ? at.z : at.x;
  const float column = along * 46.0f, floor = at.y * 22.0f;
  const int32_t i = (int32_t)(column + 4096.0f), j = (int32_t)floor;
  const float x = column + 4096.0f - (float)i, y = floor - (float)j;
  if (y < 0.28f || y > 0.80f || x < 0.18f || x > 0.82f) return 0.0f;
  *wall = vec(0.05f, 0.07f, 0.10f);
  return hashed((uint32_t)i * 0x9E3779B1u ^ (uint32_t)j * 0x85EBCA77u ^ hit->primitive * 0xC2B2AE3Du) < 0.22f ? 1.0f
                                                                                                              : 0.0f;
}

static vec3 wall_color(uint32_t house) {
  const vec3 kinds[4] = {{0.74f, 0.68f, 0.60f}, {0.66f, 0.50f, 0.40f}, {0.55f, 0.56f, 0.58f}, {0.80f, 0.76f, 0.70f}};
  return vec_scale(kinds[house * 7 % 4], 0.8f + 0.25f * hashed(house));
}

/* A gradient from deep teal over sand to coral, and back. */
static vec3 ring_color(uint32_t block) {
  const vec3 stops[4] = {{0.015f, 0.16f, 0.24f}, {0.03f, 0.36f, 0.40f}, {0.78f, 0.50f, 0.22f}, {0.80f, 0.17f, 0.10f}};
  const float turn = (float)block / (float)DEMO_RING_BLOCKS, there = turn < 0.5f ? 2.0f * turn : 2.0f - 2.0f * turn;
  const float at = 3.0f * there;
  const int stop = at < 1.0f ? 0 : at < 2.0f ? 1 : 2;
  return vec_mix(stops[stop], stops[stop + 1], at - (float)stop);
}

/* The reflected share of light; *glow: emitted light. */
static vec3 color_of(const demo_scene *scene, const slab_hit *hit, vec3 position, vec3 *glow) {
  vec3 color = {0.05f, 0.05f, 0.05f};
  *glow = vec(0.0f, 0.0f, 0.0f);
  switch (hit->geometry) {
    case DEMO_LAND:
      return land_color(scene, position, hit->normal[1]);
    case DEMO_CITY:
      color = hit->primitive == 0 ? vec(0.36f, 0.34f, 0.32f) : wall_color(hit->primitive);
      if (hit->primitive > 0 && hit->u != 3.0f)
        *glow = vec_scale(vec(1.6f, 0.95f, 0.42f), window(hit, position, &color));
      return color;
    case DEMO_STONES:
      return vec_scale(vec(0.30f, 0.25f, 0.22f), 0.6f + 0.8f * hashed(hit->primitive));
    case DEMO_RING:
      return ring_color(hit->primitive);
    default:
      return color;
  }
}

/* ---- shading --------------------------------------------------------------- */

static float fresnel(float least, float cosine) {
  const float x = cosine < 1.0f ? (cosine > 0.0f ? 1.0f - cosine : 1.0f) : 0.0f;
  return least + (1.0f - least) * (((x * x) * (x * x)) * x);
}

static vec3 shade_polished(const slab_hit *hit, vec3 view, vec3 reflected) {
  const float cosine = -vec_dot(view, vec_of(hit->normal));
  if (hit->geometry == DEMO_WATER)
    return vec_mix(vec(0.012f, 0.075f, 0.088f), vec_scale(reflected, 0.94f), fresnel(0.02f, cosine));
  const vec3 gold = vec_mix(vec(1.0f, 0.74f, 0.36f), vec(1.0f, 1.0f, 1.0f), fresnel(0.0f, cosine));
  return vec_times(reflected, gold);
}

static vec3 shade_matt(const demo_scene *scene, const slab_hit *hit, vec3 position, float sun, float sky) {
  const vec3 from_sky = vec_mix(vec(0.26f, 0.22f, 0.20f), vec(0.36f, 0.46f, 0.68f), 0.5f + 0.5f * hit->normal[1]);
  const float facing = vec_dot(vec_of(hit->normal), sun_direction);
  vec3 glow, light = vec_scale(from_sky, sky);
  if (facing > 0.0f) light = vec_along(light, facing * sun, sun_color);
  const vec3 color = color_of(scene, hit, position, &glow);
  return vec_add(vec_times(light, color), glow);
}

vec3 demo_shade(const demo_scene *scene, const slab_ray *ray, const slab_hit *hit, float sun, float sky,
                vec3 reflected) {
  const vec3 direction = vec_of(ray->direction);
  const float length = sqrtf(vec_dot(direction, direction));
  const vec3 view = vec_scale(direction, 1.0f / length);
  const vec3 light = demo_is_polished(hit) ? shade_polished(hit, view, reflected)
                                           : shade_matt(scene, hit, position_of(ray, hit), sun, sky);
  return haze(light, view, hit->t * length);
}

/* Compresses bright light, approximates the screen's gamma by a square root, then adds contrast. */
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
