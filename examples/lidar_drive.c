/* A LiDAR drive: the points that a spinning sensor measures while its car drives down a street.
 *
 *   lidar_drive cloud.ply [FRAMES [FIRINGS]]
 *
 * A turn is a frame, of FIRINGS firings with 32 beams each. The car drives 3 m in a turn, so each firing has a pose of
 * its own. Sizes: 24 frames of 512 firings, 393216 rays, of which none is stored; frames share their memory. Each
 * point has its range, firing, beam, label (the enum below) and frame.
 *
 * Reference: at the begin of each turn the level beam ahead measures how far the car is from the house that ends the
 * street. A beam 15 degrees down measures 1.9 m / sin(15 degrees). The program exits with 0 only where each differs by
 * less than 0.1 mm. */
#include <slabcast.h>
#include <stdio.h>
#include <stdlib.h>

enum { BEAMS = 32, LEVEL = 8, DOWN = 20, LOTS = 34 }; /* LEVEL, DOWN: two of the beams */
enum { GROUND, HOUSES, CARS, POSTS, END };            /* labels, which are the ids of geometries */
static const float HEIGHT = 1.9f, ADVANCE = 3, END_AT = 100;
static const double HAND_GROUND = 1.9 / 0.25881904510252074; /* sin(15 degrees) */

/* A row of the file: 24 bytes without a gap. */
typedef struct measured {
  float at[3], range;
  uint32_t firing;
  uint8_t beam, label;
  uint16_t frame;
} measured;

/* From 0 to 1, always the same for a number. */
static float chance(uint32_t i) {
  i = (i ^ i >> 16) * 0x21F0AAADu;
  i = (i ^ i >> 15) * 0x735A2D97u;
  return (float)((i ^ i >> 15) >> 8) * 0x1p-24f;
}

/* The boxes of each label. */
typedef struct street {
  slab_box boxes[END + 1][4 * LOTS];
  uint32_t count[END + 1];
} street;

/* Adds a box from x to x + size[0], with its middle at y, from z upward. */
static void put(street *s, uint32_t label, float x, float y, float z, const float size[3]) {
  const slab_box box = {{x, y - size[1] / 2, z}, {x + size[0], y + size[1] / 2, z + size[2]}};
  s->boxes[label][s->count[label]++] = box;
}

/* On each side of the street, which runs along x: houses with a gap for a side street, parked cars, posts of lamps. */
static void lay_out(street *s) {
  static const float body[3] = {4.4f, 1.8f, 0.7f}, cabin[3] = {2.3f, 1.6f, 0.55f}, end[3] = {8, 60, 15};
  static const float post[3] = {0.2f, 0.2f, 6}, lamp[3] = {0.2f, 1.6f, 0.15f};
  *s = (street){0};
  for (uint32_t i = 0; i < LOTS; i++) {
    const float side = i % 2 ? 1 : -1, x = 10 * (float)(i / 2) - 60, front = 8 + 3 * chance(8 * i);
    const float house[3] = {10, 9, 5 + 8 * chance(8 * i + 1)};
    if (i / 2 == 9) continue;
    put(s, HOUSES, x, side * (front + 4.5f), 0, house);
    const float car = x + 3 * chance(8 * i + 3);
    if (chance(8 * i + 2) < 0.75f) {
      put(s, CARS, car, side * 4.4f, 0.25f, body);
      put(s, CARS, car + 1, side * 4.4f, 0.95f, cabin);
    }
    if (i / 2 % 2) continue;
    put(s, POSTS, x + 9, side * 6.2f, 0, post);
    put(s, POSTS, x + 9, side * 5.4f, 6, lamp);
  }
  put(s, END, END_AT, 0, 0, end);
}

/* A geometry for each label, in their order. */
static slab_status build(slab_scene *scene) {
  static const slab_plane ground = {{0, 0, 1}, 0};
  street s;
  lay_out(&s);
  slab_status status = slab_scene_add_planes(scene, &ground, 1, NULL, NULL);
  for (int label = HOUSES; !status && label <= END; label++)
    status = slab_scene_add_boxes(scene, s.boxes[label], s.count[label], NULL, NULL);
  return status ? status : slab_scene_commit(scene, NULL);
}

/* The beams from 10 degrees up to 28.75 down, in the sensor's own space. */
static slab_status make_beams(float *beams) {
  float elevation[BEAMS], azimuth[BEAMS] = {0};
  for (int i = 0; i < BEAMS; i++) elevation[i] = 10 - 1.25f * (float)i;
  return slab_beams(elevation, azimuth, BEAMS, beams);
}

/* Where the sensor is at each firing of a turn, and where it looks: it moves along x and turns about z. */
static slab_status make_poses(uint32_t frame, uint32_t firings, float *poses) {
  slab_status status = SLAB_OK;
  for (uint32_t i = 0; !status && i < firings; i++) {
    const float turns = (float)i / (float)firings, azimuth = 360 * turns, x = ADVANCE * ((float)frame + turns);
    const float pose[12] = {1, 0, 0, x, 0, 1, 0, 0, 0, 0, 1, HEIGHT};
    status = slab_spun_poses(pose, 0, &azimuth, 1, poses + 12 * (size_t)i);
  }
  return status;
}

/* The point of a hit: the pose takes it from the sensor's space, where it lies on the beam, to the scene's. */
static measured point_of(const float *pose, const float *beam, const slab_short_hit *hit) {
  measured made = {.range = hit->t, .label = (uint8_t)hit->geometry};
  for (int k = 0; k < 3; k++, pose += 4)
    made.at[k] = pose[3] + hit->t * (pose[0] * beam[3] + pose[1] * beam[4] + pose[2] * beam[5]);
  return made;
}

/* Casts a turn, and appends its points. hits: space for one per beam of each firing. */
static slab_status turn(slab_scene *scene, const slab_rays *set, uint32_t frame, slab_short_hit *hits, measured *points,
                        uint32_t *count) {
  const slab_source source = {.set = set, .n = (size_t)set->rows * BEAMS};
  slab_results results = {.memory = hits};
  const slab_status status = slab_cast(scene, SLAB_NEAREST, &source, &results, NULL);
  for (uint32_t i = 0; !status && i < set->rows * BEAMS; i++) {
    if (hits[i].geometry == SLAB_MISS) continue;
    measured *made = &points[(*count)++];
    *made = point_of(set->of_rows + 12 * (size_t)(i / BEAMS), set->of_columns + 6 * (size_t)(i % BEAMS), &hits[i]);
    made->firing = i / BEAMS, made->beam = (uint8_t)(i % BEAMS), made->frame = (uint16_t)frame;
  }
  return status;
}

/* How far two beams of a turn's first firing are from their lengths computed by hand. */
static double judge(const slab_short_hit *hits, uint32_t frame, uint32_t points) {
  const double end = (double)(END_AT - ADVANCE * (float)frame);
  const double ahead = (double)hits[LEVEL].t, below = (double)hits[DOWN].t;
  printf("frame %u: %u points; the street ends in %.4f m, by hand %.4f; the ground is at %.4f m, by hand %.4f\n", frame,
         points, ahead, end, below, HAND_GROUND);
  return fmax(fabs(ahead - end), fabs(below - HAND_GROUND));
}

static int write_ply(const char *path, const measured *points, uint32_t count) {
  FILE *file = fopen(path, "wb");
  if (!file) return 0;
  fprintf(file, "ply\nformat binary_little_endian 1.0\nelement vertex %u\n", count);
  fprintf(file, "property float x\nproperty float y\nproperty float z\nproperty float range\nproperty uint firing\n");
  fprintf(file, "property uchar beam\nproperty uchar label\nproperty ushort frame\nend_header\n");
  fwrite(points, sizeof *points, count, file);
  const int failed = ferror(file);
  return !fclose(file) && !failed;
}

int main(int argc, char **argv) {
  const uint32_t frames = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 24;
  const uint32_t firings = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 512;
  if (argc < 2 || frames < 1 || frames > 30 || firings < 1 || firings > 65536) {
    fprintf(stderr, "usage: lidar_drive cloud.ply [FRAMES, 1 to 30 [FIRINGS, 1 to 65536]]\n");
    return 2;
  }
  const size_t each = (size_t)firings * BEAMS;
  float beams[6 * BEAMS], *poses = malloc(12 * (size_t)firings * sizeof *poses);
  slab_short_hit *hits = malloc(each * sizeof *hits);
  measured *points = malloc(frames * each * sizeof *points);
  slab_context *context = NULL;
  slab_scene *scene = NULL;
  slab_status status = poses && hits && points ? slab_context_create(NULL, &context) : SLAB_OUT_OF_MEMORY;
  if (!status) status = slab_scene_create(context, &scene);
  if (!status) status = build(scene);
  if (!status) status = make_beams(beams);
  const slab_rays set = slab_rays_beams(poses, firings, beams, BEAMS);
  uint32_t count = 0;
  double worst = 0;
  for (uint32_t frame = 0; !status && frame < frames; frame++) {
    const uint32_t before = count;
    status = make_poses(frame, firings, poses);
    if (!status) status = turn(scene, &set, frame, hits, points, &count);
    if (!status) worst = fmax(worst, judge(hits, frame, count - before));
  }
  if (status) fprintf(stderr, "lidar_drive: %s: %s\n", slab_status_text(status), slab_message());
  const int done = !status && write_ply(argv[1], points, count);
  if (!status && !done) perror(argv[1]);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  free(points);
  free(hits);
  free(poses);
  return done && worst < 1e-4 ? 0 : 1;
}
