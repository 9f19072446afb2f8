/* Kernel sources, generated from kernels/ by cmake/embed.cmake: strings that follow each other, as
 * clCreateProgramWithSource takes them. Includes are resolved, so that an installed library needs no files at run
 * time. */
#ifndef SLABCAST_EMBEDDED_H
#define SLABCAST_EMBEDDED_H

extern const char *const embedded_flat[],
    *const embedded_wide[], *const embedded_compressed[],
                                *const embedded_packet[], *const embedded_attributes[],
                                                              *const embedded_pairs[], *const embedded_probe[],
                                                                                           *const embedded_ceiling[];
extern const unsigned embedded_flat_count, embedded_wide_count, embedded_compressed_count, embedded_packet_count,
    embedded_attributes_count, embedded_pairs_count, embedded_probe_count, embedded_ceiling_count;

#endif
