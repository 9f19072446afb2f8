#include "modes.h"

#include <fenv.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#define FLUSHES_RESULTS 0x8000u  /* FTZ */
#define FLUSHES_OPERANDS 0x0040u /* DAZ */
#define MASKS 0x0680u            /* invalid operation, division by 0, overflow: without them they trap */
#define UNDERFLOW_FLAG 0x0010u

const mode modes[] = {
    {"default", FE_TONEAREST, 0, 0},
#if defined(__x86_64__)
    {"flush to zero", FE_TONEAREST, FLUSHES_RESULTS, 0},
    {"denormals are zero", FE_TONEAREST, FLUSHES_OPERANDS, 0},
    {"both", FE_TONEAREST, FLUSHES_RESULTS | FLUSHES_OPERANDS, 0},
    {"traps", FE_TONEAREST, 0, MASKS},
#endif
    {"upward", FE_UPWARD, 0, 0},
    {"downward", FE_DOWNWARD, 0, 0},
    {"toward zero", FE_TOWARDZERO, 0, 0},
};
const size_t mode_count = sizeof modes / sizeof *modes;
const mode worst_mode = {"both, upward", FE_UPWARD, FLUSHES_RESULTS | FLUSHES_OPERANDS, 0};

/* What the thread has in its registers. */
typedef struct registers {
  int round, flags;
  unsigned mxcsr, control, status;
} registers;

static registers registers_now(void) {
  registers r = {.round = fegetround(), .flags = fetestexcept(FE_ALL_EXCEPT)};
#if defined(__x86_64__)
  uint16_t control, status;
  __asm__ volatile("fnstcw %0\n\tfnstsw %1" : "=m"(control), "=m"(status));
  r.mxcsr = _mm_getcsr();
  r.control = control;
  r.status = status & 0xFFu;
#endif
  return r;
}

void mode_set(const mode *m) {
  fesetenv(FE_DFL_ENV);
  fesetround(m->round);
  feraiseexcept(FE_UNDERFLOW);
#if defined(__x86_64__) /* where glibc raises it in the x87 half alone */
  _mm_setcsr((_mm_getcsr() | m->set | UNDERFLOW_FLAG) & ~m->clear);
#endif
}

bool mode_holds(const mode *m) {
  const registers now = registers_now();
  mode_set(m);
  const registers want = registers_now();
  return now.round == want.round && now.flags == want.flags && now.mxcsr == want.mxcsr && now.control == want.control &&
         now.status == want.status;
}

void mode_end(void) { fesetenv(FE_DFL_ENV); }
