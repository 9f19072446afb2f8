/* Sums the results of a chunk's rays on a device. */
#include "gpu/gpu.h"
#include "gpu/program.h"

slab_status gpu_enqueue_sums(device *d, const row_sums *of, const summed_chunk *of_chunk, gpu_queue *queue,
                             gpu_order order, bool *first_use) {
  const call_tables *t = of_chunk->tables;
  const uint32_t first_part = sums_part_of_row(of, of_chunk->first), each = 1;
  const uint32_t parts = sums_parts_of(of, of_chunk->first, of_chunk->count);
  const gpu_argument list[] = {BUFFER_ARGUMENT(of_chunk->rays),
                               BUFFER_ARGUMENT(of_chunk->results),
                               BUFFER_ARGUMENT(t->weights),
                               BUFFER_ARGUMENT(of_chunk->invalid),
                               BUFFER_ARGUMENT(of_chunk->sums),
                               VALUE_ARGUMENT(of->told),
                               VALUE_ARGUMENT(first_part),
                               VALUE_ARGUMENT(parts),
                               VALUE_ARGUMENT(each)};
  const kernel_run run = {.key = {.source = PROGRAM_SUMS},
                          .nth = KERNEL_MAIN,
                          .arguments = list,
                          .count = sizeof list / sizeof *list,
                          .items = parts,
                          .group = WORK_GROUP,
                          .queue = queue,
                          .order = order,
                          .what = "sums"};
  return program_run(d, &run, first_use);
}
