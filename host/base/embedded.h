/* Kernel sources, generated from kernels/ by cmake/embed.cmake: strings that follow each other, as
 * clCreateProgramWithSource takes them. Includes are resolved, so that an installed library needs no files at run
 * time. */
#ifndef SLABCAST_BASE_EMBEDDED_H
#define SLABCAST_BASE_EMBEDDED_H

#define EMBEDDED(name)                        \
  extern const char *const embedded_##name[]; \
  extern const unsigned embedded_##name##_count;
EMBEDDED(flat)
EMBEDDED(wide)
EMBEDDED(compressed)
EMBEDDED(packet)
EMBEDDED(attributes)
EMBEDDED(pairs)
EMBEDDED(rays)
EMBEDDED(sums)
EMBEDDED(boundary)
EMBEDDED(points_flat)
EMBEDDED(points_wide)
EMBEDDED(points_compressed)
EMBEDDED(refit)
EMBEDDED(probe)
EMBEDDED(ceiling)
EMBEDDED(device)
EMBEDDED(cuda)
#undef EMBEDDED

/* The words that a text declares, and those that it defines, each after a blank. */
#define EMBEDDED_WORDS(name)                   \
  extern const char embedded_##name##_names[]; \
  extern const char embedded_##name##_macros[];
EMBEDDED_WORDS(flat)
EMBEDDED_WORDS(wide)
EMBEDDED_WORDS(compressed)
EMBEDDED_WORDS(cuda)
#undef EMBEDDED_WORDS

#endif
