/* The table of the backend. */
#include "opencl/opencl.h"

#include "device/backend.h"

const backend opencl_backend = {
    .list = opencl_list,
    .open = opencl_open,
    .close = opencl_close,
    .upload = opencl_upload,
    .release = opencl_release,
    .fetch = opencl_fetch,
    .refit = opencl_refit,
    .traversals = opencl_traversals,
    .begin = opencl_begin,
    .end = opencl_end,
    .abandon = opencl_abandon,
    .settle = opencl_settle,
    .pairs = opencl_pairs,
};
