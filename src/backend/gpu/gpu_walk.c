/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_walk.h"

/* Whether the walk's last axis and the next one of the shape are passed over as one by all operands. */
static bool is_one_axis(const struct gpu_walk *w, uint32_t operands, uint32_t axis, int64_t dim,
                        int64_t (*strides)[MAX_RANK])
{
    for (uint32_t k = 0; k < operands; k++)
        if (w->strides[k][w->rank - 1] != strides[k][axis] * dim)
            return false;
    return true;
}

struct gpu_walk gpu_walk_over(const struct shape *shape, uint32_t operands, int64_t (*strides)[MAX_RANK])
{
    struct gpu_walk w = {.rank = 0};
    for (uint32_t axis = 0; axis < shape->rank; axis++) {
        const int64_t dim = shape->dims[axis];
        if (dim == 1)
            continue;
        const bool joins = w.rank > 0 && is_one_axis(&w, operands, axis, dim, strides);
        const cl_int at = joins ? w.rank - 1 : w.rank++;
        w.dims[at] = joins ? w.dims[at] * (cl_int)dim : (cl_int)dim;
        for (uint32_t k = 0; k < operands; k++)
            w.strides[k][at] = (cl_int)strides[k][axis];
    }
    return w;
}

void gpu_broadcast_strides(const struct shape *operand, const struct shape *shape, int64_t strides[MAX_RANK])
{
    int64_t own[MAX_RANK];
    const uint32_t missing = shape->rank - operand->rank;
    shape_strides(operand, own);
    for (uint32_t axis = 0; axis < shape->rank; axis++)
        strides[axis] = axis < missing || operand->dims[axis - missing] == 1 ? 0 : own[axis - missing];
}

bool gpu_broadcast_is_run(const struct shape *operand, const struct shape *shape, int64_t *step, int64_t *count)
{
    enum { BEHIND, INSIDE, BEFORE } at = BEHIND;
    *step = *count = 1;
    if (operand->rank > shape->rank)
        return false;
    for (uint32_t i = 0; i < shape->rank; i++) {
        const int64_t dim = shape->dims[shape->rank - 1 - i];
        const bool kept = i < operand->rank && operand->dims[operand->rank - 1 - i] == dim;
        if (dim == 1)
            continue;
        if (kept && at == BEFORE)
            return false;
        at = kept ? INSIDE : at == INSIDE ? BEFORE : at;
        *step *= at == BEHIND ? dim : 1;
        *count *= kept ? dim : 1;
    }
    if (*count == (int64_t)shape_count(shape))
        *step = 0;
    return true;
}
