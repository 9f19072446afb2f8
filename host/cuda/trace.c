/* Builds programs of the user's kernels, which include slabcast_device.h. */
#include <stdio.h>
#include <stdlib.h>

#include "base/embedded.h"
#include "cuda/cuda.h"
#include "cuda/nvrtc.h"
#include "gpu/trace.h"

/* That a function is not used is no fault of the user's. */
static const char begin[] =
    "#ifdef __CUDACC_RTC__\n#pragma nv_diagnostic push\n#pragma nv_diag_suppress 47,161,177\n#endif\n",
                  end[] = "#ifdef __CUDACC_RTC__\n#pragma nv_diagnostic pop\n#endif\n";

static slab_status build(const device *d, const char *source, const char *options, const trace_text *text,
                         gpu_program **built) {
  static const char other[] = "#include \"slabcast_device.h\"\n"; /* of these the device has the types alone */
  const char *const texts[] = {text->header, other, other}, *const names[] = {"slabcast_device.h", "slabcast_types.h",
                                                                              "slabcast.h"};
  const nvrtc_source given = {source, options, 3, texts, names};
  char *image;
  slab_status status = nvrtc_compile(&given, &d->info, &image);
  if (status != SLAB_OK) return status;
  status = cuda_load_program(d, image, built);
  free(image);
  return status;
}

slab_status cuda_build_traced(const device *d, const program_key *key, uint32_t queries, const char *source,
                              const char *options, gpu_program **built) {
  static const char *const refused[] = {"fast_math", "fmad=true", "ftz=true", "prec-div=false", "prec-sqrt=false"};
  const trace_language cuda_cpp = {embedded_cuda, embedded_cuda_count, embedded_cuda_macros, begin, end};
  char specialised[512];
  trace_text text;
  slab_status status = trace_check_options(options, refused, sizeof refused / sizeof *refused);
  if (status != SLAB_OK) return status;
  snprintf(specialised, sizeof specialised,
           "-DLANES=1 -DSLAB_FMAX -DSLAB_QUERY=%d -DSLAB_KINDS=%u -DSLAB_STACK=%u -DSLAB_RAYS=1 -DSLAB_LOCAL_BOXES=0 "
           "-DSLAB_WALKERS=1 -DSLAB_RAY_PAIRS=1 -DSLAB_DEFERRED=0 -DSLAB_INSTANCES=%d",
           (int)key->query, key->kinds, key->stack, key->instances);
  status = trace_write(&cuda_cpp, key, queries, specialised, &text);
  if (status != SLAB_OK) return status;
  status = build(d, source, options, &text, built);
  trace_forget(&text);
  return status;
}
