/* In place of actions_cl.c and layers.c where tests are built without OpenCL: there is nothing of it to strike. */
#include "layers.h"
#include "world.h"

const action actions_cl[1];
const size_t action_cl_count = 0;

void world_release_opencl(world *w) { (void)w; }

layers layers_load(void) { return (layers){0}; }
