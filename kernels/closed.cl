/* A block of triangles with closed edges, compiled ahead once for each width: it is called where a cast has such edges
 * (closed.h). So the other kernels have none of its code. */
#define STRIDE 8
#define CLOSED_HERE
#include "maths/triangle.h"

void NATIVE_CLOSED(const closed_line *line, const float *block, uint stride, uint rules, float *t, uint *hit) {
  real at;
  const mask hits = closed_hits(line, block, stride, rules, &at);
  lanes_store(at, t);
  lanes_store(lanes_as_word(as_float8(hits)), hit);
}
