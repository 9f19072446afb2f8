/* The common part of every OpenCL layer here: the loader's two entry points, and a report that proves that the layer
 * was loaded.
 *
 * OPENCL_LAYERS names the layers to the loader. The loader ignores a wrong path without a message. So a user of a
 * layer must see its report or find it loaded (layers_load in tests/faults). A layer includes this file once and
 * defines layer_hook and layer_report. */
#ifndef LAYER_H
#define LAYER_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 200
#endif
#include <CL/cl_layer.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* The loader passes no user pointer to a layer, so its state is static. */
static struct {
  const cl_icd_dispatch *target;
  cl_icd_dispatch dispatch;
  pid_t process;
} layer;

/* Writes the layer's own functions into the dispatch table. */
static void layer_hook(cl_icd_dispatch *);
/* Writes the report at the end of the process. Returns its length. */
static size_t layer_report(char *text, size_t capacity);
/* The environment variable that names the file which receives the report. The report is appended, one block per
 * process, so that child processes add theirs. Without the variable, stderr receives it. */
static const char *const layer_report_file;

/* A forked child inherits a layer's state but does not own its objects. So only the process that loaded the layer
 * reports. */
__attribute__((destructor)) static void report_at_exit(void) {
  if (!layer.target || getpid() != layer.process) return;
  char text[2048];
  const size_t size = layer_report(text, sizeof text);
  const char *path = getenv(layer_report_file);
  const int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : STDERR_FILENO;
  if (file < 0 || write(file, text, size) != (ssize_t)size) perror("a layer's report");
  if (path && file >= 0) close(file);
}

EXPORT cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size, void *value, size_t *size_ret) {
  const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  if (name != CL_LAYER_API_VERSION || (value && size < sizeof version)) return CL_INVALID_VALUE;
  if (value) memcpy(value, &version, sizeof version);
  if (size_ret) *size_ret = sizeof version;
  return CL_SUCCESS;
}

EXPORT cl_int CL_API_CALL clInitLayer(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                      cl_uint *num_entries_ret, const cl_icd_dispatch **layer_dispatch_ret) {
  const cl_uint entries = sizeof layer.dispatch / sizeof(void *);
  if (!target_dispatch || !num_entries_ret || !layer_dispatch_ret || num_entries < entries) return CL_INVALID_VALUE;
  layer.target = target_dispatch;
  layer.dispatch = *target_dispatch;
  layer.process = getpid();
  layer_hook(&layer.dispatch);
  *num_entries_ret = entries;
  *layer_dispatch_ret = &layer.dispatch;
  return CL_SUCCESS;
}

#endif
