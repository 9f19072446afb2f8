/* The functions of os/, by Windows: no other file of the library includes windows.h. */
#define WIN32_LEAN_AND_MEAN
#undef _WIN32_WINNT
#define _WIN32_WINNT 0x0A00 /* Windows 10 */
#include <windows.h>

/* After that. */
#include <malloc.h>
#include <math.h>
#include <process.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/clock.h"
#include "os/library.h"
#include "os/memory.h"
#include "os/process.h"
#include "os/thread.h"

/* ---- clocks ---- */

double seconds_now(void) {
  LARGE_INTEGER ticks, a_second;
  QueryPerformanceCounter(&ticks);
  QueryPerformanceFrequency(&a_second);
  return (double)ticks.QuadPart / (double)a_second.QuadPart;
}

/* Of 100 ns each. */
static double seconds_of(const FILETIME *kernel, const FILETIME *user) {
  const double high = (double)kernel->dwHighDateTime + (double)user->dwHighDateTime;
  return 1e-7 * (high * 0x1p32 + (double)kernel->dwLowDateTime + (double)user->dwLowDateTime);
}

double seconds_of_thread(void) {
  FILETIME begin, end, kernel, user;
  return GetThreadTimes(GetCurrentThread(), &begin, &end, &kernel, &user) ? seconds_of(&kernel, &user) : 0.0;
}

double seconds_of_process(void) {
  FILETIME begin, end, kernel, user;
  return GetProcessTimes(GetCurrentProcess(), &begin, &end, &kernel, &user) ? seconds_of(&kernel, &user) : 0.0;
}

static DWORD milliseconds(double seconds) { return seconds > 0.0 ? (DWORD)fmin(ceil(1e3 * seconds), 1e9) : 0; }

void os_sleep(double seconds) { Sleep(milliseconds(seconds)); }

/* ---- memory ---- */

void *os_allocate_lines(size_t bytes) { return _aligned_malloc(bytes, OS_CACHE_LINE); }
/* Large pages are only for users with a right to lock memory. */
void *os_allocate_pages(size_t page, size_t count) { return _aligned_malloc(page * count, page); }
/* _aligned_realloc keeps only the alignment that it gets. */
void *os_shrink(void *memory, size_t bytes) {
  (void)bytes;
  return memory;
}
void os_free(void *memory) { _aligned_free(memory); }

/* ---- locks ---- */

_Static_assert(sizeof(SRWLOCK) == sizeof(os_mutex), "a lock is the system's");
_Static_assert(sizeof(CONDITION_VARIABLE) == sizeof(os_condition), "a condition is the system's");
_Static_assert(sizeof(INIT_ONCE) == sizeof(os_once), "a once is the system's");

static SRWLOCK *lock_of(os_mutex *m) { return (SRWLOCK *)(void *)m; }
static CONDITION_VARIABLE *variable_of(os_condition *c) { return (CONDITION_VARIABLE *)(void *)c; }

bool os_mutex_init(os_mutex *m) {
  InitializeSRWLock(lock_of(m));
  return true;
}
void os_mutex_lock(os_mutex *m) { AcquireSRWLockExclusive(lock_of(m)); }
void os_mutex_unlock(os_mutex *m) { ReleaseSRWLockExclusive(lock_of(m)); }

void os_condition_init(os_condition *c) { InitializeConditionVariable(variable_of(c)); }
void os_condition_wait(os_condition *c, os_mutex *m) {
  SleepConditionVariableSRW(variable_of(c), lock_of(m), INFINITE, 0);
}
void os_condition_signal(os_condition *c) { WakeConditionVariable(variable_of(c)); }
void os_condition_broadcast(os_condition *c) { WakeAllConditionVariable(variable_of(c)); }

int os_condition_init_timed(os_condition *c) {
  os_condition_init(c);
  return 0;
}

bool os_condition_wait_until(os_condition *c, os_mutex *m, double end) {
  return SleepConditionVariableSRW(variable_of(c), lock_of(m), milliseconds(end - seconds_now()), 0) != 0;
}

static BOOL CALLBACK run_once(INIT_ONCE *once, void *run, void **unused) {
  void (*function)(void);
  (void)once, (void)unused;
  memcpy(&function, run, sizeof function);
  function();
  return TRUE;
}

void os_once_run(os_once *once, void (*run)(void)) {
  InitOnceExecuteOnce((INIT_ONCE *)(void *)once, run_once, (void *)&run, NULL);
}

/* ---- threads ---- */

typedef struct start {
  void *(*run)(void *);
  void *argument;
} start;

static unsigned __stdcall run_thread(void *of) {
  const start begin = *(start *)of;
  free(of);
  begin.run(begin.argument);
  return 0;
}

int os_thread_start(os_thread *t, void *(*run)(void *), void *argument) {
  unsigned id;
  start *of = malloc(sizeof *of);
  if (of == NULL) return ERROR_NOT_ENOUGH_MEMORY;
  *of = (start){run, argument};
  const uintptr_t handle = _beginthreadex(NULL, 0, run_thread, of, 0, &id);
  *t = (os_thread){(void *)handle, id};
  if (handle != 0) return 0;
  free(of);
  return ERROR_TOO_MANY_TCBS;
}

void os_thread_join(os_thread t) {
  WaitForSingleObject(t.handle, INFINITE);
  CloseHandle(t.handle);
}

os_thread os_thread_self(void) { return (os_thread){NULL, GetCurrentThreadId()}; }
bool os_thread_is_self(os_thread t) { return t.id == GetCurrentThreadId(); }

/* A thread takes no signals of others. */
void os_signals_block(os_signals *before) { *before = (os_signals){{0}}; }
void os_signals_restore(const os_signals *before) { (void)before; }

/* Whether this process may run on more groups of processors than its threads start in. Since Windows 11 a process
 * starts in all of them. Where someone has chosen processors for it, it stays there. */
static bool has_groups(void) {
  DWORD_PTR own, all;
  return GetActiveProcessorGroupCount() > 1 && GetProcessAffinityMask(GetCurrentProcess(), &own, &all) && own == all;
}

void os_thread_spread(uint32_t nth) {
  if (!has_groups()) return;
  const WORD groups = GetActiveProcessorGroupCount();
  nth %= GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
  for (WORD group = 0; group < groups; group++) {
    const DWORD count = GetActiveProcessorCount(group);
    const GROUP_AFFINITY place = {.Mask = count < 64 ? ((KAFFINITY)1 << count) - 1 : ~(KAFFINITY)0, .Group = group};
    if (nth < count) {
      SetThreadGroupAffinity(GetCurrentThread(), &place, NULL);
      return;
    }
    nth -= count;
  }
}

void os_library_stays(void) {
  static const char place;
  HMODULE own;
  GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, &place, &own);
}

/* ---- libraries ---- */

static _Thread_local char failure[512];

/* Its own functions alone: Windows has no list of those of all libraries. */
void *os_library_of_program(void) { return GetModuleHandleA(NULL); }

void *os_library_open(const char *name) {
  void *library = LoadLibraryExA(name, NULL, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
  if (library != NULL) return library;
  const DWORD code = GetLastError();
  const int length = snprintf(failure, sizeof failure, "%s: ", name);
  if (length < 0 || length >= (int)sizeof failure) return NULL;
  const DWORD flags = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS | FORMAT_MESSAGE_MAX_WIDTH_MASK;
  DWORD told = FormatMessageA(flags, NULL, code, 0, failure + length, (DWORD)(sizeof failure - (size_t)length), NULL);
  while (told > 0 && strchr(" .\r\n", failure[(DWORD)length + told - 1]) != NULL) failure[(DWORD)length + --told] = 0;
  if (told == 0) snprintf(failure + length, sizeof failure - (size_t)length, "error %lu", code);
  return NULL;
}

void *os_library_beside(const char *name) {
  static const char place; /* of this library, whose path is wanted */
  const DWORD flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  HMODULE own;
  wchar_t path[4096];
  if (!GetModuleHandleExA(flags, &place, &own)) return NULL;
  const DWORD length = GetModuleFileNameW(own, path, sizeof path / sizeof *path);
  if (length == 0 || length == sizeof path / sizeof *path) return NULL;
  wchar_t *end = wcsrchr(path, L'\\');
  if (end == NULL || (size_t)(end + 1 - path) + strlen(name) >= sizeof path / sizeof *path) return NULL;
  for (size_t i = 0; i <= strlen(name); i++) end[1 + i] = (wchar_t)(unsigned char)name[i];
  return LoadLibraryExW(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
}

void *os_library_symbol(void *library, const char *name) {
  const FARPROC found = GetProcAddress(library, name);
  void *address;
  memcpy(&address, &found, sizeof address);
  return address;
}

const char *os_library_failure(void) { return failure[0] != 0 ? failure : NULL; }

/* ---- the machine ---- */

static long count_bits(DWORD_PTR mask) {
  long count = 0;
  for (; mask != 0; mask &= mask - 1) count++;
  return count;
}

long os_processors(void) {
  DWORD_PTR own = 0, all = 0;
  /* Of a process whose threads are in several groups both masks are 0. */
  if (!GetProcessAffinityMask(GetCurrentProcess(), &own, &all) || own == all || own == 0)
    return (long)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
  return count_bits(own);
}

/* The hard limit of a job, which containers have: hundredths of a per cent of all processors. */
double os_quota(void) {
  JOBOBJECT_CPU_RATE_CONTROL_INFORMATION rate = {0};
  const DWORD hard = JOB_OBJECT_CPU_RATE_CONTROL_ENABLE | JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP;
  if (!QueryInformationJobObject(NULL, JobObjectCpuRateControlInformation, &rate, sizeof rate, NULL) ||
      (rate.ControlFlags & hard) != hard)
    return INFINITY;
  return 1e-4 * rate.CpuRate * GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
}

uint64_t os_memory(void) {
  MEMORYSTATUSEX memory = {.dwLength = sizeof memory};
  return GlobalMemoryStatusEx(&memory) ? memory.ullTotalPhys : 0;
}

void os_machine(char *name, size_t size) {
  SYSTEM_INFO system;
  GetNativeSystemInfo(&system);
  const WORD kind = system.wProcessorArchitecture;
  snprintf(name, size, "%s",
           kind == PROCESSOR_ARCHITECTURE_AMD64   ? "x86_64"
           : kind == PROCESSOR_ARCHITECTURE_ARM64 ? "aarch64"
                                                  : "");
}

bool os_has_file(const char *name) { return GetFileAttributesA(name) != INVALID_FILE_ATTRIBUTES; }
FILE *os_open_text(const char *name) { return fopen(name, "r"); }
