/* The rays of a source, cast batch after batch, to a result file: the next batch is read and the last one written while
 * the device casts. Memory is bounded by the batch, whatever the number of rays and of their hits. */
#ifndef SLABCAST_CLI_PIPELINE_H
#define SLABCAST_CLI_PIPELINE_H

#include "caster.h"
#include "ray_file.h"
#include "result_file.h"

/* `cast` is filled but for its buffers and receiver, the source stands at the first ray to cast; results NULL: they are
 * only counted. Returns an exit code, errors printed with how far it came. */
int batches_run(ray_source *rays, caster *cast, result_file *results);

#endif
