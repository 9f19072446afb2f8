/* A robot's cell: what do two LiDARs see while the arm carries a crate from the belt to the pallet?
 *
 *   robot_cell cloud.ply [FRAMES [BEAMS]]
 *
 * Fence, crates and arm are instances. In each frame the arm gets new transforms, and all beams are cast again. Each
 * point of cloud.ply has a label, the surface that it lies on (0 floor, belt and pallet, 1 fence, 2 crates, 3 arm), and
 * its frame. */
#include <slabcast.h>
#include <stdio.h>
#include <stdlib.h>

enum { BARS = 14, PANELS = 10, STACKED = 14, LINKS = 4, SENSORS = 2 };
/* Geometry ids, in the order in which things are added: an instance takes as many as its model has geometries. */
enum { FLOOR, TABLES, FENCE, CRATES = FENCE + PANELS, CARRIED = CRATES + STACKED, ARM };
static const float PI = 3.14159265f, EYES[SENSORS][3] = {{-2.9f, -2.3f, 2.2f}, {2.9f, -2.3f, 2.2f}};
static const slab_plane GROUND = {{0, 0, 1}, 0};
static const slab_box PALLET_AND_BELT[] = {{{-2, -0.6f, 0}, {-0.5f, 0.6f, 0.1f}},
                                           {{1.2f, -0.4f, 0.3f}, {1.6f, 2, 0.4f}}};
/* Models: a crate, and a link of the arm, whose ball is the joint to the next one. */
static const slab_box CRATE = {{0, 0, 0}, {0.4f, 0.3f, 0.25f}}, BONE = {{-0.1f, -0.1f, 0}, {0.1f, 0.1f, 1}};
static const slab_sphere JOINT = {{0, 0, 1}, 0.17f};

/* Rows of a 3x4 matrix, as instances take them. */
typedef struct place {
  float m[12];
} place;
static const place ORIGIN = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};

/* The place with something done first, in its own axes. */
static place moved(place p, float x, float y, float z) {
  for (float *row = p.m; row < p.m + 12; row += 4) row[3] += row[0] * x + row[1] * y + row[2] * z;
  return p;
}

static place scaled(place p, float scale) {
  for (float *row = p.m; row < p.m + 12; row += 4) row[0] *= scale, row[1] *= scale, row[2] *= scale;
  return p;
}

static place turned(place p, int axis, float angle) {
  const int a = (axis + 1) % 3, b = (axis + 2) % 3;
  for (float *row = p.m; row < p.m + 12; row += 4) {
    const float old = row[a];
    row[a] = cosf(angle) * old + sinf(angle) * row[b];
    row[b] = cosf(angle) * row[b] - sinf(angle) * old;
  }
  return p;
}

/* The parts that stand still: the bars of a panel of 1.5 m by 2 m, panels around the cell, crates on pallet and
 * belt. */
static void set_up(slab_box bars[BARS], place panels[PANELS], place crates[STACKED]) {
  for (int i = 0; i < BARS; i++) {
    const float at = 1.5f * (float)i / BARS;
    bars[i] = (slab_box){{at, 0, 0}, {at + 0.015f, 0.015f, 2}};
  }
  for (int i = 0; i < PANELS; i++) {
    const place side = moved(ORIGIN, i < 7 ? -3 : 3, 1.5f * (float)((i - 4) % 3) - 2.4f, 0);
    panels[i] = i < 4 ? moved(ORIGIN, 1.5f * (float)i - 3, 2.1f, 0) : turned(side, 2, PI / 2);
  }
  for (int i = 0; i < STACKED; i++)
    crates[i] = i < 9 ? moved(ORIGIN, -1.9f + 0.45f * (float)(i % 3), -0.5f + 0.35f * (float)(i / 3), 0.1f)
                      : moved(ORIGIN, 1.2f, 0.4f * (float)(i - 9) + 0.15f, 0.4f);
}

/* The arm from time 0, at the belt, to 1, at the pallet: a foot and three links, each upon the last; and the crate. */
static void bend(float time, place arm[LINKS], place *carried) {
  const float lift = sinf(PI * time), around = -0.15f - (PI - 0.3f) * time;
  const float angles[LINKS] = {0, 0.75f - 0.25f * lift, 1.15f - 0.25f * lift, PI - 1.9f + 0.5f * lift};
  const float lengths[LINKS] = {0.55f, 0.9f, 0.8f, 0.2f};
  place at = turned(ORIGIN, 2, around);
  for (int i = 0; i < LINKS; i++) {
    at = turned(at, 1, angles[i]);
    arm[i] = scaled(at, lengths[i]);
    at = moved(at, 0, 0, lengths[i]);
  }
  *carried = moved(turned(at, 1, PI), -0.2f, -0.15f, -0.29f);
}

/* The cell with the arm at time 0. models: of panels, crates and links, which the caller destroys. */
static slab_status build(slab_context *context, slab_scene *models[3], slab_scene *scene) {
  slab_box bars[BARS];
  place panels[PANELS], crates[STACKED], arm[LINKS], carried;
  set_up(bars, panels, crates);
  bend(0, arm, &carried);
  const slab_box *boxes[3] = {bars, &CRATE, &BONE};
  slab_status status = SLAB_OK;
  for (int i = 0; !status && i < 3; i++) {
    status = slab_scene_create(context, &models[i]);
    if (!status) status = slab_scene_add_boxes(models[i], boxes[i], i == 0 ? BARS : 1, NULL, NULL);
  }
  if (!status) status = slab_scene_add_spheres(models[2], &JOINT, 1, NULL, NULL);
  for (int i = 0; !status && i < 3; i++) status = slab_scene_commit(models[i], NULL);
  if (!status) status = slab_scene_add_planes(scene, &GROUND, 1, NULL, NULL);
  if (!status) status = slab_scene_add_boxes(scene, PALLET_AND_BELT, 2, NULL, NULL);
  if (!status) status = slab_scene_add_instances(scene, models[0], panels[0].m, PANELS, NULL, NULL);
  if (!status) status = slab_scene_add_instances(scene, models[1], crates[0].m, STACKED, NULL, NULL);
  if (!status) status = slab_scene_add_instances(scene, models[1], carried.m, 1, NULL, NULL);
  if (!status) status = slab_scene_add_instances(scene, models[2], arm[0].m, LINKS, NULL, NULL);
  return status;
}

/* Beam `i` of a sensor, a quarter of a turn into the cell, from 5 to 75 degrees down: all end on the floor at last. */
static slab_ray beam(uint32_t sensor, uint32_t i, uint32_t beams) {
  const float *eye = EYES[sensor], down = PI / 180 * (5 + 70 * (float)(i % beams) / (float)beams);
  const float around = PI / 2 * ((float)sensor + (float)(i / beams) / (float)(8 * beams));
  const float along[3] = {cosf(around) * cosf(down), sinf(around) * cosf(down), -sinf(down)};
  return (slab_ray){{eye[0], eye[1], eye[2]}, 0, {along[0], along[1], along[2]}, INFINITY};
}

/* Moves the arm, casts all beams, and appends their points to the file. */
static slab_status sweep(slab_scene *scene, float time, const slab_ray *rays, slab_short_hit *hits, uint32_t n,
                         uint8_t frame, FILE *file) {
  place arm[LINKS], carried;
  uint32_t points[4] = {0};
  bend(time, arm, &carried);
  slab_status status = slab_scene_update_instances(scene, CARRIED, carried.m, 1);
  if (!status) status = slab_scene_update_instances(scene, ARM, arm[0].m, LINKS);
  if (!status) status = slab_scene_commit(scene, NULL);
  if (!status) status = slab_nearest(scene, rays, n, hits, NULL);
  for (uint32_t i = 0; !status && i < n; i++) {
    const uint32_t g = hits[i].geometry;
    const uint8_t label = (uint8_t)((g >= FENCE) + (g >= CRATES) + (g >= ARM));
    float point[3];
    slab_point_at(&rays[i], hits[i].t, point);
    fwrite(point, sizeof point, 1, file);
    fwrite((uint8_t[]){label, frame}, 2, 1, file);
    points[label]++;
  }
  if (!status)
    printf("frame %u: %u points on the fence, %u on crates, %u on the arm\n", frame, points[1], points[2], points[3]);
  return status;
}

int main(int argc, char **argv) {
  const uint32_t frames = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 7;
  const uint32_t beams = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 128, each = 8 * beams * beams,
                 n = SENSORS * each;
  if (argc < 2 || frames < 2 || frames > 255 || beams < 1 || beams > 1024) {
    fprintf(stderr, "usage: robot_cell cloud.ply [FRAMES, 2 to 255 [BEAMS, 1 to 1024]]\n");
    return 2;
  }
  slab_ray *rays = malloc(n * sizeof *rays);
  slab_short_hit *hits = malloc(n * sizeof *hits);
  slab_context *context = NULL;
  slab_scene *models[3] = {NULL}, *scene = NULL;
  FILE *file = fopen(argv[1], "wb");
  if (file) fprintf(file, "ply\nformat binary_little_endian 1.0\nelement vertex %u\nproperty float x\n", frames * n);
  if (file)
    fprintf(file, "property float y\nproperty float z\nproperty uchar label\nproperty uchar frame\nend_header\n");

  slab_status status = rays && hits ? SLAB_OK : SLAB_OUT_OF_MEMORY;
  for (uint32_t i = 0; !status && i < n; i++) rays[i] = beam(i / each, i % each, beams);
  if (!status) status = slab_context_create(NULL, &context);
  if (!status) status = slab_scene_create(context, &scene);
  if (!status) status = build(context, models, scene);
  for (uint32_t i = 0; file && !status && i < frames; i++)
    status = sweep(scene, (float)i / (float)(frames - 1), rays, hits, n, (uint8_t)i, file);
  if (status) fprintf(stderr, "robot_cell: %s: %s\n", slab_status_text(status), slab_message());

  int done = file && !ferror(file);
  if (file && fclose(file)) done = 0;
  if (!done) perror(argv[1]);
  for (int i = 0; i < 3; i++) slab_scene_destroy(models[i]);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  free(hits);
  free(rays);
  return done && !status ? 0 : 1;
}
