/* SPDX-License-Identifier: Apache-2.0 */
/* Faults that kernels report: an int in the device's memory. */
#include "backend/gpu/gpu_step.h"

odlc_status gpu_check_faults(struct gpu *gpu)
{
    cl_int number = 0;
    const cl_int none = 0;
    if (!gpu->fault)
        return ODLC_OK;
    TRY(gpu_check(gpu, "faults are not read",
                  clEnqueueReadBuffer(gpu->queue, gpu->fault, CL_TRUE, 0, sizeof(number), &number, 0, NULL, NULL)));
    if (number == 0)
        return ODLC_OK;
    TRY(gpu_check(gpu, "faults are not forgotten",
                  clEnqueueWriteBuffer(gpu->queue, gpu->fault, CL_TRUE, 0, sizeof(none), &none, 0, NULL, NULL)));
    return diag_error(gpu->diags, ODLC_ERR_INVALID, AT(.node = gpu->watched.data[number - 1]->name), "run-index",
                      "an index lies outside of the tensor that it points into");
}

odlc_status gpu_watch(struct gpu_making *m, struct gpu_operand *fault, int *number)
{
    struct gpu *gpu = m->gpu;
    cl_int none = 0, error = CL_SUCCESS;
    if (!gpu->fault)
        gpu->fault =
            clCreateBuffer(gpu->context->handle, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(none), &none, &error);
    TRY(gpu_check(gpu, "there is no room for faults", error));
    vec_push(m->scope->arena, &gpu->watched, gpu_node(m, 0));
    *number = (int)gpu->watched.count;
    *fault = (struct gpu_operand){.place = GPU_FIXED, .buffer = gpu->fault, .dtype = DT_INT32};
    return ODLC_OK;
}
