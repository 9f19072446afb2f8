/* Kernel sources as bytes, generated from kernels/ by cmake/embed.cmake. Includes are resolved, so that an installed
 * library needs no files at run time. */
#ifndef SLABCAST_EMBEDDED_H
#define SLABCAST_EMBEDDED_H

#include <stddef.h>

extern const char embedded_flat[], embedded_wide[], embedded_compressed[], embedded_packet[], embedded_attributes[],
    embedded_pairs[], embedded_probe[], embedded_ceiling[];
extern const size_t embedded_flat_length, embedded_wide_length, embedded_compressed_length, embedded_packet_length,
    embedded_attributes_length, embedded_pairs_length, embedded_probe_length, embedded_ceiling_length;

#endif
