/* An OpenCL layer that counts program builds, and holds builds until a test lets them continue. It acts as a compiler
 * that is as slow as a test needs.
 *
 * The functions that a test calls are in builds.h. SLAB_BUILDS_FILE names the file that receives the report; without
 * it, stderr does. */
#include "builds.h"

#include <pthread.h>
#include <time.h>

#include "layer.h"

enum { HELD_SECONDS = 20 }; /* avoids a deadlock where a held build waits for one that waits for it */

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  char held[64]; /* "": no build is held */
  builds_report seen;
} builds = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, "", {0, 0, 0, 0}};

static void hold(const char *options) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += HELD_SECONDS;
  int code = 0;
  builds.seen.held++;
  while (code == 0 && builds.held[0] && strstr(options, builds.held))
    code = pthread_cond_timedwait(&builds.changed, &builds.lock, &until);
  builds.seen.held--;
  builds.seen.overdue += code != 0;
}

static void count(unsigned *programs, cl_program created) {
  pthread_mutex_lock(&builds.lock);
  *programs += created != NULL;
  pthread_mutex_unlock(&builds.lock);
}

static cl_program CL_API_CALL watch_source(cl_context context, cl_uint n, const char **texts, const size_t *lengths,
                                           cl_int *status) {
  cl_program created = layer.target->clCreateProgramWithSource(context, n, texts, lengths, status);
  count(&builds.seen.sources, created);
  return created;
}

static cl_program CL_API_CALL watch_binary(cl_context context, cl_uint n, const cl_device_id *devices,
                                           const size_t *lengths, const unsigned char **binaries, cl_int *taken,
                                           cl_int *status) {
  cl_program created = layer.target->clCreateProgramWithBinary(context, n, devices, lengths, binaries, taken, status);
  count(&builds.seen.binaries, created);
  return created;
}

static cl_int CL_API_CALL watch_build(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                                      void(CL_CALLBACK *notify)(cl_program, void *), void *user) {
  pthread_mutex_lock(&builds.lock);
  hold(options ? options : "");
  pthread_mutex_unlock(&builds.lock);
  return layer.target->clBuildProgram(program, n, devices, options, notify, user);
}

/* ---- control and report ------------------------------------------------------ */

EXPORT void slab_builds_hold(const char *options) {
  pthread_mutex_lock(&builds.lock);
  snprintf(builds.held, sizeof builds.held, "%s", options ? options : "");
  pthread_cond_broadcast(&builds.changed);
  pthread_mutex_unlock(&builds.lock);
}

EXPORT void slab_builds_begin(void) {
  pthread_mutex_lock(&builds.lock);
  builds.seen = (builds_report){.held = builds.seen.held};
  pthread_mutex_unlock(&builds.lock);
}

EXPORT builds_report slab_builds_seen(void) {
  pthread_mutex_lock(&builds.lock);
  const builds_report now = builds.seen;
  pthread_mutex_unlock(&builds.lock);
  return now;
}

static void layer_hook(cl_icd_dispatch *d) {
  d->clCreateProgramWithSource = watch_source;
  d->clCreateProgramWithBinary = watch_binary;
  d->clBuildProgram = watch_build;
}

static const char *const layer_report_file = "SLAB_BUILDS_FILE";

static size_t layer_report(char *text, size_t capacity) {
  const int used = snprintf(text, capacity, "slabcast layer of builds: %u of sources and %u of binaries\n",
                            builds.seen.sources, builds.seen.binaries);
  return used > 0 && (size_t)used < capacity ? (size_t)used : capacity;
}
