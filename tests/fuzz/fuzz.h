/* Fuzz targets: each file fuzz_*.c is one. A build with SLABCAST_FUZZ runs it under libFuzzer. Every other build
 * replays the files of corpus/ through it, as a test. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Result of a target: how much of its input it read, or this. */
#define FUZZ_REFUSED (-1L)

/* The target. Any bytes may be passed. It ends the process if an invariant is broken. */
long fuzz_one(const uint8_t *data, size_t size);

/* Sets the current input, which claim_failed writes to the file that FUZZ_FINDING names. libFuzzer cannot do so,
 * because kernel compilers replace its signal handlers. */
void fuzz_input(const uint8_t *data, size_t size);

/* If `holds` is false: reports it, and ends the process. */
#define claim(holds) ((holds) ? (void)0 : claim_failed(#holds, __FILE__, __LINE__))
_Noreturn void claim_failed(const char *what, const char *file, int line);

/* The input in the form the program reads, valid until the next call of the same function: the name of a file with
 * these bytes, */
const char *fuzz_file(const uint8_t *data, size_t size);
/* or of a pipe that holds them; at most the capacity of a pipe. */
enum { FUZZ_PIPE_MAX = 65536 };
const char *fuzz_pipe(const uint8_t *data, size_t size);

/* The number of complaints. Complaints of the program's readers are counted instead of printed. */
unsigned fuzz_complaints(void);

#endif
