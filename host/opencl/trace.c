/* Builds programs of the user's kernels, which include slabcast_device.h. */
#include <stdlib.h>
#include <string.h>

#include "gpu/trace.h"
#include "opencl/opencl.h"
#include "opencl/program.h"

static const trace_language opencl_c = {
    .dialect_macros = "",
    .begin =
        "#ifdef __clang__\n#pragma clang diagnostic push\n#pragma clang diagnostic ignored "
        "\"-Wmacro-redefined\"\n#endif\n",
    .end =
        "#ifdef __clang__\n#pragma clang diagnostic pop\n#endif\n"
        "#pragma OPENCL FP_CONTRACT ON\n", /* as it is by default */
};

static slab_status program_of(const device *d, const char *text, cl_program *made) {
  cl_int code;
  *made = clCreateProgramWithSource(cl_of(d)->context, 1, &text, NULL, &code);
  return *made == NULL ? fail_cl(code, "clCreateProgramWithSource", "a kernel") : SLAB_OK;
}

/* Compiles with the header in memory, so that the lines of the text keep their numbers. */
static slab_status compile(const device *d, cl_program own, const char *header, const char *options) {
  const char *names[] = {"slabcast_device.h", "slabcast_types.h", "slabcast.h"};
  cl_program headers[3] = {NULL, NULL, NULL}; /* of the last two the device has the types alone */
  slab_status status = program_of(d, header, &headers[0]);
  for (int k = 1; k < 3 && status == SLAB_OK; k++)
    status = program_of(d, "#include \"slabcast_device.h\"\n", &headers[k]);
  if (status == SLAB_OK) {
    const cl_int code = clCompileProgram(own, 1, &cl_of(d)->id, options, 3, headers, names, NULL, NULL);
    if (code != CL_SUCCESS) status = program_fail(d, own, code, "clCompileProgram", options);
  }
  for (int k = 0; k < 3; k++)
    if (headers[k] != NULL) clReleaseProgram(headers[k]);
  return status;
}

static slab_status build(const device *d, const char *source, const char *header, const char *options,
                         cl_program *built) {
  cl_program own;
  slab_status status = program_of(d, source, &own);
  if (status != SLAB_OK) return status;
  status = compile(d, own, header, options);
  if (status == SLAB_OK) {
    cl_int code;
    *built = clLinkProgram(cl_of(d)->context, 1, &cl_of(d)->id, NULL, 1, &own, NULL, NULL, &code);
    if (code != CL_SUCCESS) status = program_fail(d, *built, code, "clLinkProgram", "no options");
    if (code != CL_SUCCESS && *built != NULL) clReleaseProgram(*built);
  }
  clReleaseProgram(own);
  return status;
}

/* Options of the two together. */
static char *joined(const char *first, const char *second) {
  static const char info[] = "-cl-kernel-arg-info ";
  char *all = malloc(strlen(first) + sizeof info + strlen(second));
  if (all != NULL) strcat(strcat(strcpy(all, first), info), second);
  return all;
}

slab_status opencl_build_traced(const device *d, const program_key *key, uint32_t queries, const char *source,
                                const char *options, gpu_program **built) {
  static const char *const refused[] = {"-cl-fast-relaxed-math",        "-cl-unsafe-math-optimizations",
                                        "-cl-finite-math-only",         "-cl-denorms-are-zero",
                                        "-cl-no-signed-zeros",          "-cl-mad-enable",
                                        "-cl-single-precision-constant"};
  char specialised[OPTIONS_SIZE];
  trace_text text;
  slab_status status = trace_check_options(options, refused, sizeof refused / sizeof *refused);
  if (status != SLAB_OK) return status;
  program_options(d, key, specialised, sizeof specialised);
  status = trace_write(&opencl_c, key, queries, specialised, &text);
  if (status != SLAB_OK) return status;
  char *all = joined(text.options, options);
  status = all == NULL ? fail_memory(strlen(options), "a program's options")
                       : build(d, source, text.header, all, (cl_program *)built);
  free(all);
  trace_forget(&text);
  return status;
}
