/* The entry point for libFuzzer. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_input(data, size);
  fuzz_one(data, size);
  return 0;
}
