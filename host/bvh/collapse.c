/* Selects the nodes of the binary BVH that become wide ones: Ylitie, Karras, Laine, Efficient Incoherent Ray Traversal
 * on GPUs Through Compressed Wide BVHs (2017), section 3.
 *
 * C(n, i) is the least cost of the subtree of n as at most i children of a wide node:
 *   C(n, 1) = min(leaf(n), share(n, 8) + area * BVH_COST_NODE)
 *   C(n, i) = min(share(n, i), C(n, i - 1)),  i = 2 .. 7
 *   share(n, i) = min over k = 1 .. i - 1 of C(left, k) + C(right, i - k)
 * cost[i - 1] holds C(n, i). Choices are not stored: the code that writes the BVH recomputes them from the costs. */
#include "base/extremes.h"
#include "bvh/parts.h"

double collapse_area(const measure *m, const float lower[3], const float upper[3]) {
  double extent[3];
  for (int axis = 0; axis < 3; axis++) {
    const double least = (double)m->least[axis], most = (double)m->most[axis];
    extent[axis] =
        greater(lesser((double)upper[axis], most), least) - lesser(greater((double)lower[axis], least), most);
  }
  return extent[0] * extent[1] * (double)m->faces + (extent[0] + extent[1]) * extent[2];
}

static float scaled_area(const measure *m, const build_node *b) {
  return measured_area(m, (aabb){float4_xyz(b->lower), float4_xyz(b->upper)});
}

/* Cost of the build node as a leaf; INFINITY where it cannot be one. */
static float leaf_cost(const measure *m, const build_node *b, float area) {
  const uint32_t blocks = measured_blocks(m, b->count);
  if ((b->tag & BUILD_NODE_MIXED) || blocks > m->leaf_most) return INFINITY;
  return area * (m->leaf_cost * (float)blocks);
}

void collapse_tip(const measure *m, build_node *b) {
  const float cost = leaf_cost(m, b, scaled_area(m, b));
  b->tag |= BUILD_NODE_LEAF;
  for (int i = 0; i < BVH_WIDTH - 1; i++) b->cost[i] = cost;
}

/* share(n, roots), and how many roots the left child gets. */
static float share(const build_node children[2], int roots, int *left) {
  const float *a = children[0].cost, *b = children[1].cost;
  float least = a[0] + b[roots - 2];
  *left = 1;
  for (int k = 2; k < roots; k++) {
    const float cost = a[k - 1] + b[roots - k - 1];
    if (cost < least) {
      least = cost;
      *left = k;
    }
  }
  return least;
}

static void collapse_inner(const measure *m, build_node *b, const build_node children[2]) {
  const float area = scaled_area(m, b), as_leaf = leaf_cost(m, b, area);
  int left;
  const float as_node = share(children, BVH_WIDTH, &left) + area * BVH_COST_NODE;
  if (as_leaf <= as_node) b->tag |= BUILD_NODE_LEAF;
  b->cost[0] = as_leaf <= as_node ? as_leaf : as_node;
  for (int roots = 2; roots < BVH_WIDTH; roots++) {
    const float shared = share(children, roots, &left);
    b->cost[roots - 1] = shared < b->cost[roots - 2] ? shared : b->cost[roots - 2];
  }
}

static void collapse_share(const build_node *build_nodes, uint32_t at, int roots, uint32_t *children, int *count);

/* Represents the subtree by at most `roots` children of a wide node. */
static void collapse_roots(const build_node *build_nodes, uint32_t at, int roots, uint32_t *children, int *count) {
  const build_node *b = &build_nodes[at];
  while (roots > 1 && b->cost[roots - 2] <= b->cost[roots - 1]) roots--;
  if (roots == 1)
    children[(*count)++] = at;
  else
    collapse_share(build_nodes, at, roots, children, count);
}

static void collapse_share(const build_node *build_nodes, uint32_t at, int roots, uint32_t *children, int *count) {
  const uint32_t first = 2 * build_nodes[at].link;
  int left;
  share(&build_nodes[first], roots, &left);
  collapse_roots(build_nodes, first, left, children, count);
  collapse_roots(build_nodes, first + 1, roots - left, children, count);
}

/* Sorts children: those come first whose primitives cover most for the cost of a visit. So rays of SLAB_ANY that visit
 * them in this order soon hit something. After Nah and Manocha, SATO: Surface Area Traversal Order for Shadow Ray
 * Tracing (2014). */
static void sort_by_worth(const build_node *build_nodes, uint32_t children[BVH_WIDTH], int count) {
  float worth[BVH_WIDTH];
  for (int i = 0; i < count; i++) {
    const uint32_t child = children[i];
    const float cost = build_nodes[child].cost[0];
    const float own = cost > 0.0f ? cover_of(&build_nodes[child]) / cost : 0.0f; /* 0: it has no area */
    int k = i;
    for (; k > 0 && worth[k - 1] < own; k--) {
      worth[k] = worth[k - 1];
      children[k] = children[k - 1];
    }
    worth[k] = own;
    children[k] = child;
  }
}

int collapse_children(const build_node *build_nodes, uint32_t at, uint32_t children[BVH_WIDTH]) {
  int count = 0;
  if (build_nodes[at].tag & BUILD_NODE_LEAF)
    children[count++] = at;
  else
    collapse_share(build_nodes, at, BVH_WIDTH, children, &count);
  sort_by_worth(build_nodes, children, count);
  return count;
}

void collapse_finish(const builder *b, uint32_t at, uint32_t pair) {
  build_node *whole = &b->build_nodes[at];
  const build_node *parts = &b->build_nodes[2 * (size_t)pair];
  build_node_bound(whole, aabb_join((aabb){float4_xyz(parts[0].lower), float4_xyz(parts[0].upper)},
                                    (aabb){float4_xyz(parts[1].lower), float4_xyz(parts[1].upper)}));
  whole->link = pair;
  whole->count = parts[0].count + parts[1].count;
  const bool mixed =
      ((parts[0].tag ^ parts[1].tag) & BUILD_NODE_KIND) || ((parts[0].tag | parts[1].tag) & BUILD_NODE_MIXED);
  whole->tag = (parts[0].tag & BUILD_NODE_KIND) | (mixed ? BUILD_NODE_MIXED : 0) |
               cover_tag(cover_of(&parts[0]) + cover_of(&parts[1]));
  collapse_inner(&b->measure, whole, parts);
}
