/* The data of the drawings in how.md, from what the library really builds and tests: drawings.py draws it.
 *
 *   city LX LZ UX UZ              a box of a small city, seen from above
 *   node DEPTH LEAF LX LZ UX UZ   a child of a node of that city's BVH
 *   ray OX OY DX DY               a ray of a packet
 *   cells WIDTH HEIGHT LX LY UX UY  a grid of small boxes; then a row of it a line, bottom up, a digit a cell:
 *                                 0 nothing accepts it, 1 the hull does, 2 a ray does too */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bvh/bvh.h"
#include "sets/scenes.h"

/* drawn_packet.cl */
void drawn_packet(const float *rays, const float *blocks, size_t count, uint32_t *by_interval, uint32_t *by_rays);

static void print_children(const bvh *tree, uint32_t index, int depth) {
  const bvh_node *node = &tree->nodes[index];
  for (int k = 0; k < BVH_WIDTH && node->meta[k] != 0; k++) {
    const int is_leaf = !BVH_IS_INNER(node->meta[k]);
    printf("node %d %d %g %g %g %g\n", depth, is_leaf, (double)node->bounds[0][k], (double)node->bounds[2][k],
           (double)node->bounds[3][k], (double)node->bounds[5][k]);
    if (!is_leaf) print_children(tree, node->child[k], depth + 1);
  }
}

static void fill_boxes(const void *argument, const uint32_t *primitives, uint32_t count, bvh_reference *to) {
  const slab_box *boxes = argument;
  for (uint32_t i = 0; i < count; i++) {
    memcpy(to[i].lower, boxes[primitives[i]].lower, sizeof to[i].lower);
    memcpy(to[i].upper, boxes[primitives[i]].upper, sizeof to[i].upper);
    to[i].tag = 0;
  }
}

/* Leaves of one block at most, so that so small a scene has several depths. */
static int print_bvh(void) {
  const bvh_options options = {.quality = BVH_DEFAULT, .threads = 1, .leaves = {BVH_WIDTH, 1, BVH_COST_BLOCK}};
  scene_geometry city;
  bvh tree;
  if (scene_build("city", 400, 1, &city) != 0) return 0;
  const slab_box *boxes = city.shapes;
  for (uint32_t i = 0; i < city.count; i++)
    printf("city %g %g %g %g\n", (double)boxes[i].lower[0], (double)boxes[i].lower[2], (double)boxes[i].upper[0],
           (double)boxes[i].upper[2]);
  const bvh_input input = {.count = city.count, .fill = fill_boxes, .argument = boxes};
  const int built = bvh_build(&input, &options, &tree);
  if (built) {
    print_children(&tree, 0, 1);
    bvh_free(&tree);
  }
  scene_geometry_free(&city);
  return built;
}

/* ---- a packet ---- */

enum { RAYS = 8, ACROSS = 256, UP = 128, BOXES = ACROSS * UP };
static const float first[2] = {-1, -2}, side = 8.0f / ACROSS; /* of the grid of cells, in the plane z = 0 */

static void fill_block(float *block, size_t first_cell) {
  for (int k = 0; k < BVH_WIDTH; k++) {
    const size_t cell = first_cell + (size_t)k;
    const float x = first[0] + side * (float)(cell % ACROSS), y = first[1] + side * (float)(cell / ACROSS);
    const float rows[6] = {x, y, -1, x + side, y + side, 1};
    for (int row = 0; row < 6; row++) block[row * BVH_WIDTH + k] = rows[row];
  }
}

static int print_packet(void) {
  float rays[8][RAYS] = {{0}};
  float *blocks = malloc(6 * BOXES * sizeof *blocks);
  uint32_t by_interval[BOXES / BVH_WIDTH], by_rays[BOXES / BVH_WIDTH];
  if (!blocks) return 0;
  for (int i = 0; i < RAYS; i++) {
    rays[0][i] = -0.6f + 0.05f * (float)i;
    rays[1][i] = -1.4f + 0.1f * (float)i;
    rays[4][i] = 1;
    rays[5][i] = 0.06f + 0.045f * (float)i;
    rays[7][i] = 6.5f;
    printf("ray %g %g %g %g\n", (double)rays[0][i], (double)rays[1][i], (double)rays[4][i], (double)rays[5][i]);
  }
  for (size_t n = 0; n < BOXES / BVH_WIDTH; n++) fill_block(blocks + n * 6 * BVH_WIDTH, n * BVH_WIDTH);
  drawn_packet(&rays[0][0], blocks, BOXES / BVH_WIDTH, by_interval, by_rays);
  printf("cells %d %d %g %g %g %g\n", ACROSS, UP, (double)first[0], (double)first[1],
         (double)(first[0] + side * ACROSS), (double)(first[1] + side * UP));
  for (size_t cell = 0; cell < BOXES; cell++) {
    const uint32_t at = (uint32_t)(cell % BVH_WIDTH), some = by_rays[cell / BVH_WIDTH] >> at & 1;
    putchar((int)('0' + (by_interval[cell / BVH_WIDTH] >> at & 1) + some));
    if (cell % ACROSS == ACROSS - 1) putchar('\n');
  }
  free(blocks);
  return 1;
}

int main(void) {
  if (print_bvh() && print_packet()) return 0;
  fputs("out of memory\n", stderr);
  return 1;
}
