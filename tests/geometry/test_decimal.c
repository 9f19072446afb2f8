/* The reader of decimals. Its doubles and floats are compared with those of the C library. At the digits where floats
 * are decided, numbers are made so that the answer is known. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "program/io/decimal.h"

enum { TEXT_MAX = 400 };

static uint64_t bits_of_double(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static uint32_t bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static int is_same_float(float a, float b) { return bits_of_float(a) == bits_of_float(b) || (isnan(a) && isnan(b)); }
static int is_same_double(double a, double b) {
  return bits_of_double(a) == bits_of_double(b) || (isnan(a) && isnan(b));
}

/* As strtod and strtof read it, and as far. */
static void assert_reads(const char *text) {
  char *end = NULL;
  decimal got = {7, 7};
  const double wide = strtod(text, &end);
  const size_t length = decimal_read(text, &got);
  if (length != (size_t)(end - text))
    fail_msg("\"%s\": %zu bytes are read, not %zu", text, length, (size_t)(end - text));
  if (length == 0) return;
  if (!is_same_double(got.wide, wide)) fail_msg("\"%s\" is %a, not %a", text, got.wide, wide);
  const float narrow = strtof(text, NULL);
  if (!is_same_float(got.narrow, narrow)) fail_msg("\"%s\" is %a, not %a", text, (double)got.narrow, (double)narrow);
}

static void forms_are_those_of_strtod(void **state) {
  static const char *const texts[] = {
      "0",
      "-0",
      "+0",
      "0.0",
      "-0.0e5",
      "1",
      "+1",
      "-1",
      "007",
      ".5",
      "5.",
      "-.5e1",
      "1e5",
      "1E+05",
      "1e-5",
      "1e",
      "1e+",
      "1e-x",
      "1.5.2",
      "1,5",
      "1 2",
      "0x10",
      "0x1.8p3",
      "0x",
      "-0XaP2",
      "inf",
      "-inf",
      "nan",
      "-nan",
      "infinity",
      "INF",
      "NaN",
      "nan(7)",
      "1e22",
      "1e23",
      "1e-22",
      "1e-23",
      "1e308",
      "1e309",
      "-1e309",
      "4.9e-324",
      "1e-400",
      "1e400",
      "1e99999",
      "0e999999",
      "9007199254740992",
      "9007199254740993",
      "9007199254740993e22",
      "1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490179775872070963302864166"
      "9288791094655554785194040263065748867150582068190890200070838367627385484581771153176447573027006985557136695962"
      "2842914819860834936475292719074168444365510704342711559699508093042880",
      "3.4028235e38",
      "3.4028236e38",
      "1.1754944e-38",
      "1e-45",
      "7e-46",
      "0.000000000000000000000000000001",
      "123456789012345678901234567890",
      "0.30000000000000000000000000000000000004"};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) assert_reads(texts[i]);
}

static void what_is_no_number_is_not_read(void **state) {
  static const char *const texts[] = {"", " 1", "\t1", "\n", "x", "-", "+", ".", "-.", "e5", ".e5", "+-1", "--1", ",1"};
  decimal got = {7, 7};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    assert_int_equal(decimal_read(texts[i], &got), 0);
    assert_true(got.wide == 7 && got.narrow == 7);
  }
}

/* ---- half-way between two floats --------------------------------------------- */

static void assert_narrow(const char *text, float want) {
  decimal got = {0, 0};
  assert_int_equal(decimal_read(text, &got), strlen(text));
  if (!is_same_float(got.narrow, want)) fail_msg("\"%s\" is %a, not %a", text, (double)got.narrow, (double)want);
}

/* All digits of a number, without zeros at the end: "-1.25", and its power of ten: "e-07". */
static void print_all(double number, char digits[TEXT_MAX], char power[16]) {
  snprintf(digits, TEXT_MAX, "%.160e", number);
  char *mark = strchr(digits, 'e');
  snprintf(power, 16, "%s", mark);
  while (mark[-1] == '0') mark--;
  *mark = '\0';
}

/* A float, the next one away from zero, and the decimal half-way: that, a little more and a little less of it. */
static void assert_decided(float inner) {
  char digits[TEXT_MAX], power[16], text[TEXT_MAX + 64];
  const float outer = nextafterf(inner, signbit(inner) ? -INFINITY : INFINITY);
  const double most = isinf(outer) ? copysign(0x1p128, (double)outer) : (double)outer;
  print_all(0.5 * (double)inner + 0.5 * most, digits, power);
  snprintf(text, sizeof text, "%s%s", digits, power);
  assert_narrow(text, bits_of_float(inner) % 2 == 0 ? inner : outer);
  snprintf(text, sizeof text, "%s%s1%s", digits, strchr(digits, '.') ? "0000" : ".", power);
  assert_narrow(text, outer);
  digits[strlen(digits) - 1]--; /* the last digit is not 0 */
  snprintf(text, sizeof text, "%s%s%s", digits, strchr(digits, '.') ? "99999" : ".99999", power);
  assert_narrow(text, inner);
}

static void digits_decide_between_floats(void **state) {
  static const uint32_t ends[] = {0,          1,          2,          0x3fffff,  0x400000,   0x7ffffe,
                                  0x7fffff,   0x800000,   0x800001,   0xffffff,  0x3f7fffff, 0x3f800000,
                                  0x3f800001, 0x4b7fffff, 0x7f7ffffe, 0x7f7fffff};
  random_state random = harness_seeded("digits_decide_between_floats");
  (void)state;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    assert_decided(float_of(ends[i]));
    assert_decided(float_of(ends[i] | 0x80000000u));
  }
  for (int i = 0; i < 20000; i++) {
    const float inner = float_of(random_next(&random));
    if (isfinite(inner)) assert_decided(inner);
  }
}

/* ---- a million --------------------------------------------------------------- */

/* Numbers that were printed with enough digits are read again. */
static void printed_numbers_come_back(void **state) {
  random_state random = harness_seeded("printed_numbers_come_back");
  char text[TEXT_MAX];
  (void)state;
  for (int i = 0; i < 200000; i++) {
    const uint64_t bits = random_bits(&random);
    const float narrow = float_of((uint32_t)bits);
    double wide;
    decimal got = {0, 0};
    memcpy(&wide, &bits, sizeof wide);
    if (!isfinite(wide) || !isfinite(narrow)) continue;
    snprintf(text, sizeof text, "%.9g", (double)narrow);
    assert_narrow(text, narrow);
    snprintf(text, sizeof text, "%.17g", wide);
    assert_int_equal(decimal_read(text, &got), strlen(text));
    if (!is_same_double(got.wide, wide)) fail_msg("\"%s\" is %a, not %a", text, got.wide, wide);
  }
}

/* Digits with or without a point among them and a power, as in meshes and beyond. */
static void make_decimal(random_state *random, char text[TEXT_MAX]) {
  const uint32_t digits = 1 + random_below(random, random_below(random, 4) ? 17 : 40);
  const uint32_t point = random_below(random, digits + 2);
  size_t at = 0;
  if (random_below(random, 2)) text[at++] = "-+"[random_below(random, 2)];
  for (uint32_t i = 0; i < digits; i++) {
    if (i == point) text[at++] = '.';
    text[at++] = (char)('0' + random_below(random, 10));
  }
  text[at] = '\0';
  if (random_below(random, 3) == 0)
    snprintf(text + at, TEXT_MAX - at, "%c%d", "eE"[random_below(random, 2)],
             (int)random_below(random, 60) - 30 + (random_below(random, 8) ? 0 : (int)random_below(random, 700) - 350));
}

static void a_million_is_read_as_by_the_library(void **state) {
  random_state random = harness_seeded("a_million_is_read_as_by_the_library");
  char text[TEXT_MAX];
  (void)state;
  for (int i = 0; i < 1000000; i++) {
    make_decimal(&random, text);
    assert_reads(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forms_are_those_of_strtod),           cmocka_unit_test(what_is_no_number_is_not_read),
      cmocka_unit_test(digits_decide_between_floats),        cmocka_unit_test(printed_numbers_come_back),
      cmocka_unit_test(a_million_is_read_as_by_the_library),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
