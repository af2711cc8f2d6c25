/* SPDX-License-Identifier: Apache-2.0 */
/* Windows that slide over channels-last tensors, for kernels. */
#ifndef BACKEND_GPU_GPU_WINDOW_H
#define BACKEND_GPU_GPU_WINDOW_H

#include "backend/gpu/gpu_step.h"
#include "op/window.h"

/* As `window` in kernels/common.cl: the kernel's argument. */
struct gpu_window {
    cl_int in[WINDOW_AXES], out[WINDOW_AXES], filter[WINDOW_AXES], stride[WINDOW_AXES], dilation[WINDOW_AXES],
        before[WINDOW_AXES], after[WINDOW_AXES];
    cl_int channels; /* of the input */
};

struct gpu_window gpu_window_of(const struct window *w);

#endif
