/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_window.h"

struct gpu_window gpu_window_of(const struct window *w)
{
    struct gpu_window out = {.channels = (cl_int)w->channels};
    for (int i = 0; i < WINDOW_AXES; i++) {
        out.in[i] = (cl_int)w->axis[i].in;
        out.out[i] = (cl_int)w->axis[i].out;
        out.filter[i] = (cl_int)w->axis[i].filter;
        out.stride[i] = (cl_int)w->axis[i].stride;
        out.dilation[i] = (cl_int)w->axis[i].dilation;
        out.before[i] = (cl_int)w->axis[i].pad_before;
        out.after[i] = (cl_int)w->axis[i].pad_after;
    }
    return out;
}
