/* Boxes of which a few move in each frame, and rays that pick boxes. Measured is the cost of a frame where all boxes
 * are handed in, and where only the moved ones are. Each moves within its own size, or jumps anywhere. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "move.h"
#include "sets/random.h"

enum { MOVED_MOST = 100, BOXES_LEAST = MOVED_MOST };

static const char boxes_prefix[] = "boxes:";

typedef struct boxes {
  const move_bench *shared;
  const char *name;
  uint32_t count, moved[MOVED_MOST];
  slab_box *list;
  slab_scene *scenes[2]; /* by all, by ranges */
  random_state random;
} boxes;

bool move_is_boxes(const char *scene) { return strncmp(scene, boxes_prefix, sizeof boxes_prefix - 1) == 0; }

static void place(boxes *b, slab_box *box) {
  for (int k = 0; k < 3; k++) {
    const float at = random_between(&b->random, 0, 100), half = random_between(&b->random, 0.1f, 0.5f);
    box->lower[k] = at - half;
    box->upper[k] = at + half;
  }
}

static void shift(boxes *b, slab_box *box) {
  for (int k = 0; k < 3; k++) {
    const float by = random_between(&b->random, -0.5f, 0.5f);
    box->lower[k] += by;
    box->upper[k] += by;
  }
}

static bool boxes_open(boxes *b) {
  b->list = malloc(b->count * sizeof *b->list);
  if (b->list == NULL) return move_out_of_memory();
  for (uint32_t i = 0; i < b->count; i++) place(b, &b->list[i]);
  for (int i = 0; i < 2; i++)
    if (slab_scene_create(b->shared->context, &b->scenes[i]) != SLAB_OK ||
        slab_scene_add_boxes(b->scenes[i], b->list, b->count, NULL, NULL) != SLAB_OK ||
        slab_scene_commit(b->scenes[i], NULL) != SLAB_OK)
      return move_failed(b->name);
  return true;
}

/* One side's frame. */
static bool commit(const boxes *b, bool ranges, uint32_t moved) {
  slab_scene *scene = b->scenes[ranges];
  slab_status status = ranges ? SLAB_OK : slab_scene_update_boxes(scene, 0, b->list, b->count);
  for (uint32_t i = 0; ranges && i < moved && status == SLAB_OK; i++)
    status = slab_scene_update_some_boxes(scene, 0, b->moved[i], &b->list[b->moved[i]], 1);
  if (status == SLAB_OK) status = slab_scene_commit(scene, NULL);
  return status == SLAB_OK || move_failed(b->name);
}

/* Both sides are picked at by the same ray, and have to answer alike. */
static bool pick(boxes *b) {
  slab_ray ray = {{-10, 0, 0}, 0, {1, 0, 0}, INFINITY};
  slab_hit hits[2];
  for (int k = 1; k < 3; k++) ray.origin[k] = random_between(&b->random, 0, 100);
  for (int i = 0; i < 2; i++)
    if (slab_closest(b->scenes[i], &ray, 1, &hits[i], NULL) != SLAB_OK) return move_failed("closest");
  if (memcmp(&hits[0], &hits[1], sizeof hits[0]) == 0) return true;
  fprintf(stderr, "bench_move: %s: hits differ\n", b->name);
  return false;
}

/* round -1 and below warm up: two snapshots are made. */
static bool run_frames(boxes *b, uint32_t moved, bool jumps) {
  timing times[2] = {{.rounds = 0}};
  for (int round = -3; round < b->shared->options.rounds; round++) {
    for (uint32_t i = 0; i < moved; i++) {
      b->moved[i] = random_below(&b->random, b->count);
      if (jumps)
        place(b, &b->list[b->moved[i]]);
      else
        shift(b, &b->list[b->moved[i]]);
    }
    for (int k = 0; k < 2; k++) {
      const int side = (k + round + 4) % 2;
      const double begin = timing_now(b->shared->options.processor_time);
      if (!commit(b, side, moved)) return false;
      if (round >= 0) times[side].seconds[times[side].rounds++] = timing_now(b->shared->options.processor_time) - begin;
    }
    if (!pick(b)) return false;
  }
  char what[32];
  snprintf(what, sizeof what, "%u %s", moved, jumps ? "jump" : "move");
  for (int side = 1; side >= 0; side--)
    move_print(b->shared,
               &(move_row){b->name, b->count, what, side ? "ranges" : "all", &times[side], &times[1], 1, "frames"});
  return true;
}

bool move_boxes(const move_bench *shared, const char *scene) {
  boxes b = {.shared = shared, .name = scene, .random = random_seed(MOVE_SEED)};
  b.count = (uint32_t)strtoul(scene + sizeof boxes_prefix - 1, NULL, 10);
  if (b.count < BOXES_LEAST) {
    fprintf(stderr, "bench_move: %s: at least %d boxes\n", scene, BOXES_LEAST);
    return false;
  }
  bool done = boxes_open(&b);
  if (done) printf("%s\n", scene);
  for (int jumps = 0; jumps < 2; jumps++)
    for (uint32_t moved = 1; moved <= MOVED_MOST && done; moved *= 10) done = run_frames(&b, moved, jumps);
  for (int i = 0; i < 2; i++) slab_scene_destroy(b.scenes[i]);
  free(b.list);
  return done;
}
