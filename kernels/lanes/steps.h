/* The steps that a traversal reports, where kernels are compiled to count them (COUNT of kernels/lanes/lanes.h). */
#ifndef LANES_STEPS_H
#define LANES_STEPS_H

typedef enum step {
  STEP_nodes,      /* of a wide BVH; n are visited */
  STEP_blocks,     /* n blocks of a leaf are tested; with one lane a block is a primitive */
  STEP_candidates, /* triangles that the rounded edge functions leave */
  STEP_exact,      /* blocks that have any */
  STEP_visit,      /* of a compressed BVH; n is the node's index */
  STEP_pop,        /* the visit before ended, and the stack's entry n - 1 is taken */
  STEP_push,       /* the visit leaves siblings, and entry n - 1 is written */
  STEPS
} step;

/* A function of the benchmark that counts. It is called in the order of a ray's steps. */
void steps_count(step, unsigned int n);

#endif
