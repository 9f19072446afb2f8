/* Fuzz targets: each file fuzz_*.c is one. A build with SLABCAST_FUZZ gives it to libFuzzer; every other build replays
 * the files of corpus/ through it, as a test. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* What a target made of its input: how much it read, or this. */
#define FUZZ_REFUSED (-1L)

/* The target: any bytes may be given. It ends the process where something holds that must not. */
long fuzz_one(const uint8_t *data, size_t size);

/* The input at hand, which claim_failed leaves in the file that FUZZ_FINDING names. A fuzzer would do so by itself,
 * were its handlers of signals not lost to compilers of kernels. */
void fuzz_input(const uint8_t *data, size_t size);

/* Ends the process, and says what did not hold, unless it holds. */
#define claim(holds) ((holds) ? (void)0 : claim_failed(#holds, __FILE__, __LINE__))
_Noreturn void claim_failed(const char *what, const char *file, int line);

/* The input as the program meets it, until the next of the same kind: the name of a file with these bytes, */
const char *fuzz_file(const uint8_t *data, size_t size);
/* or of a pipe that holds them; at most what a pipe takes. */
enum { FUZZ_PIPE_MAX = 65536 };
const char *fuzz_pipe(const uint8_t *data, size_t size);

/* Complaints, as the program's readers print them, are counted here instead. */
unsigned fuzz_complaints(void);

#endif
