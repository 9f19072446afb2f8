#include "program/io/decimal.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- few digits ------------------------------------------------------------- */

/* Digits and powers of ten up to these are exact in a double, so that one division or product of the two rounds once
 * (Clinger 1990). Where doubles are computed more widely that does not hold. */
#if FLT_EVAL_METHOD == 0
static const uint64_t most_exact = (uint64_t)1 << DBL_MANT_DIG;
#else
static const uint64_t most_exact = 0;
#endif
enum { POWER_MAX = 22 };

/* A decimal as it is written: digits * 10^power. */
typedef struct written {
  int negative;
  uint64_t digits;
  long power;
} written;

static const char *take_digits(const char *at, written *number, int behind_point) {
  for (; isdigit((unsigned char)*at) && number->digits <= most_exact; at++) {
    number->digits = 10 * number->digits + (uint64_t)(*at - '0');
    number->power -= behind_point;
  }
  return at;
}

/* A bare e behind digits belongs to no number, as for strtod. */
static const char *take_power(const char *at, written *number) {
  long power = 0;
  if (*at != 'e' && *at != 'E') return at; /* the text may end here */
  const char *digit = at + 1 + (at[1] == '-' || at[1] == '+');
  if (!isdigit((unsigned char)*digit)) return at;
  for (; isdigit((unsigned char)*digit) && power < 10000; digit++) power = 10 * power + (*digit - '0');
  number->power += at[1] == '-' ? -power : power;
  return digit;
}

/* Where the text begins with such a number: its end and *wide. NULL: it is another text, or has too many digits. */
static const char *read_few_digits(const char *text, double *wide) {
  static const double powers[POWER_MAX + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                               1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  written number = {.negative = *text == '-'};
  const char *first = text + (*text == '-' || *text == '+');
  const char *at = take_digits(first, &number, 0);
  ptrdiff_t found = at - first;
  if (*at == '.') {
    const char *point = at++;
    at = take_digits(at, &number, 1);
    found += at - point - 1;
  }
  const int more = isdigit((unsigned char)*at) || *at == '.' || *at == 'x' || *at == 'X';
  if (found == 0 || more || number.digits > most_exact) return NULL;
  at = take_power(at, &number);
  if (number.power < -POWER_MAX || number.power > POWER_MAX || isdigit((unsigned char)*at)) return NULL;
  const double digits = (double)number.digits;
  const double size = number.power < 0 ? digits / powers[-number.power] : digits * powers[number.power];
  *wide = number.negative ? -size : size;
  return at;
}

/* ---- every number ----------------------------------------------------------- */

/* Whether it lies exactly half-way between two neighbouring floats. There the digits may lie on either side. */
static int is_halfway(double wide) {
  const double size = fabs(wide);
  uint64_t bits;
  if (size < (double)FLT_MIN) { /* subnormal floats are whole numbers of 2^-149 */
    const double halves = size * 0x1p150;
    return halves == floor(halves) && (uint64_t)halves % 2 == 1;
  }
  memcpy(&bits, &size, sizeof bits);
  const int dropped = DBL_MANT_DIG - FLT_MANT_DIG;
  return (bits & (((uint64_t)1 << dropped) - 1)) == (uint64_t)1 << (dropped - 1);
}

size_t decimal_read(const char *text, decimal *out) {
  double wide = 0;
  if (isspace((unsigned char)*text)) return 0;
  const char *end = read_few_digits(text, &wide);
  if (!end) {
    char *stop = NULL;
    wide = strtod(text, &stop);
    end = stop;
  }
  if (end == text) return 0;
  *out = (decimal){wide, is_halfway(wide) ? strtof(text, NULL) : (float)wide};
  return (size_t)(end - text);
}
