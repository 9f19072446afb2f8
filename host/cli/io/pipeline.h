/* Casts the rays of a source batch by batch into a result file. The next batch is read and the last one written while
 * the device casts. Memory is bounded by the batch size, whatever the number of rays and hits. */
#ifndef SLABCAST_CLI_PIPELINE_H
#define SLABCAST_CLI_PIPELINE_H

#include "caster.h"
#include "ray_file.h"
#include "result_file.h"

/* Runs all batches. `cast` must be set except for its buffers and receiver. The source must be at the first ray to
 * cast. results NULL: results are only counted. Returns an exit code with errors and the progress made printed. */
int batches_run(ray_source *rays, caster *cast, result_file *results);

#endif
