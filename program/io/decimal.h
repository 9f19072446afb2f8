/* The reader of decimals: of numbers in arrays and meshes that are text. */
#ifndef SLABCAST_PROGRAM_IO_DECIMAL_H
#define SLABCAST_PROGRAM_IO_DECIMAL_H

#include <stddef.h>

/* The double and the float that are nearest to the digits, ties to even. `narrow` is not always (float)wide: that
 * rounds twice. */
typedef struct decimal {
  double wide;
  float narrow;
} decimal;

/* Reads the number at the start of a text that ends with NUL, in the forms of strtod: decimal, hexadecimal, inf, nan.
 * Returns how many bytes it has. 0: there is no number, and *out is unchanged; blanks begin none. */
size_t decimal_read(const char *text, decimal *out);

#endif
