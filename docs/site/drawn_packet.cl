/* What a packet accepts, for the drawing of it: kernels/packet.cl's own functions, on rays and boxes that
 * drawings.c gives. */
#include "packet.cl"

/* rays: the eight numbers of a ray, each LANES times. blocks: of boxes, as they lie in a BVH. Of each block's eight
 * boxes, which the hull accepts and which some ray does, as bits. */
void drawn_packet(const float *rays, const float *blocks, size_t count, uint *by_interval, uint *by_rays);

void drawn_packet(const float *rays, const float *blocks, size_t count, uint *by_interval, uint *by_rays) {
  ray_given given;
  uint alike;
  for (int i = 0; i < 3; i++) {
    given.origin[i] = vload8(0, rays + i * LANES);
    given.direction[i] = vload8(0, rays + (i + 4) * LANES);
  }
  given.t_min = vload8(0, rays + 3 * LANES);
  given.t_max = vload8(0, rays + 7 * LANES);
  packet p = {.ray = ray_scale(&given)};
  p.live = lanes_bits(p.ray.state == RAY_LIVE);
  p.limit = p.ray.t_max;
  ray_turn(&p.ray, packet_octant(&p, p.live, &alike));
  const bool agrees = alike == p.live;
  const packet_hull h = packet_hull_of(&p);
  for (size_t n = 0; n < count; n++) {
    const float *block = blocks + n * 6 * BVH_WIDTH;
    real near[3], far[3], enter;
    by_interval[n] = agrees ? eight_bits(hull_overlaps_boxes(&h, block, &enter)) : 0;
    by_rays[n] = 0;
    for (uint box = 0; box < BVH_WIDTH; box++) {
      box_planes(&p.ray, block + box, near, far);
      if ((lanes_bits(box_may_overlap(&p.ray, near, far, p.limit, &enter)) & p.live) != 0) by_rays[n] |= 1u << box;
    }
  }
}
