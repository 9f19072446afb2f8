#include "faults.h"

#include <stdatomic.h>
#include <string.h>

#include "base/status.h"
#include "pretended.h"

/* OpenCL's codes, by which a sweep says that memory is short. */
enum { ALLOCATION_FAILURE = -4, OUT_OF_RESOURCES = -5, OUT_OF_HOST_MEMORY = -6 };

static struct {
  atomic_uint nth, calls, failed, spared;
  _Atomic(const char *) first, told, only;
  fail_mode mode;
  int code;
} fault;

void pretended_arm(unsigned nth, fail_mode mode, int code) {
  fault.mode = mode;
  fault.code = code;
  fault.calls = fault.failed = fault.spared = 0;
  fault.first = fault.told = fault.only = NULL;
  fault.nth = nth;
}

void pretended_fail_call(const char *name, unsigned nth, int code) {
  pretended_arm(0, FAIL_ONCE, code);
  fault.only = name;
  fault.nth = nth;
}

fail_report pretended_disarm(void) {
  fault.nth = 0;
  return (fail_report){fault.calls, fault.failed, fault.spared, fault.told};
}

static bool strike(const char *call, bool spared) {
  const unsigned nth = fault.nth;
  const char *only = fault.only;
  if (only != NULL && strcmp(call, only) != 0) return false;
  const unsigned number = 1 + atomic_fetch_add(&fault.calls, 1);
  if (nth == 0 || number < nth) return false;
  if (number == nth) fault.first = call;
  const char *first = fault.first;
  const bool again = fault.mode == FAIL_ALL || (fault.mode == FAIL_ENTRY && first && strcmp(call, first) == 0);
  if (number > nth && !again) return false;
  atomic_fetch_add(&fault.failed, 1);
  if (spared) atomic_fetch_add(&fault.spared, 1);
  const char *none = NULL;
  if (!spared) atomic_compare_exchange_strong(&fault.told, &none, call);
  return true;
}

slab_status faults_fail(const char *call, slab_status status, const char *what) {
  return what == NULL ? status : fail(status, "%s failed for %s", call, what);
}

slab_status faults_strike(const char *call, bool spared, const char *what) {
  if (fault.mode == FAIL_LATE || !strike(call, spared)) return SLAB_OK;
  const bool memory =
      fault.code == ALLOCATION_FAILURE || fault.code == OUT_OF_RESOURCES || fault.code == OUT_OF_HOST_MEMORY;
  const slab_status status = strcmp(call, "pretended_list") == 0    ? SLAB_NO_DEVICE
                             : memory                               ? SLAB_OUT_OF_MEMORY
                             : strcmp(call, "pretended_build") == 0 ? SLAB_BUILD_FAILED
                                                                    : SLAB_DEVICE_FAILED;
  return faults_fail(call, status, what);
}

bool faults_strike_late(const char *call) { return fault.mode == FAIL_LATE && strike(call, false); }
