/* Decimals of a text for the import library. Its reader is 1 to 2 units of the last place off, in 1 out of 800 plain
 * numbers and 1 out of 4 with exponents. Where it would be, the text gets another spelling of the same float, which it
 * reads rightly. */
#ifndef SLABCAST_PROGRAM_MESH_ASSIMP_DECIMALS_H
#define SLABCAST_PROGRAM_MESH_ASSIMP_DECIMALS_H

#include <stdbool.h>
#include <stddef.h>

/* The float that a text's decimal became, and the double that is nearest to the decimal. */
typedef struct assimp_decimal {
  float narrow;     /* without its sign; 0: this entry is free */
  double wide;      /* of several the first one; with keeps_all the one that is moved farthest */
  bool are_several; /* with keeps_all */
} assimp_decimal;

/* The decimals of all texts that were given; all zero: of none. */
typedef struct assimp_decimals {
  assimp_decimal *at; /* open addressing, at most half full */
  size_t count, capacity;
  bool keeps_all; /* also those that are floats: only so is it known which float had several */
} assimp_decimals;

/* A copy of the text, ended by NUL, with such spellings; the caller frees it. *out is NULL where nothing is to be
 * changed. Returns -1 if out of memory. */
int assimp_decimals_respell(assimp_decimals *, const char *text, size_t size, char **out, size_t *out_size);
/* The double of a decimal that became this float; of several the first one. Else the float itself. */
double assimp_decimals_wide(const assimp_decimals *, float narrow);
/* With keeps_all: the double of the only decimal that became this float. Where there are several it is the float, and
 * *lost the largest distance that they were moved, else 0. */
double assimp_decimals_only(const assimp_decimals *, float narrow, double *lost);
void assimp_decimals_end(assimp_decimals *);

/* The float that the library's fast_atoreal_move, of release 5.2.5, reads from this spelling of a decimal. */
float assimp_decimals_read(const char *spelling);

#endif
