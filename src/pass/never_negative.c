/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/never_negative.h"

#include "kernel/resample.h"
#include "op/op.h"
#include "op/params.h"

/* Whatever they read. */
static const enum op_id never[] = {OP_ElementWiseAbs,
                                   OP_ElementWiseExp,
                                   OP_ElementWiseSoftplus,
                                   OP_ElementWiseSquareRoot,
                                   OP_HardSigmoid,
                                   OP_L2Pool2d,
                                   OP_ElementWiseSquaredDifference,
                                   OP_ReduceSumSquare,
                                   OP_Relu,
                                   OP_Relu6,
                                   OP_Sigmoid,
                                   OP_Softmax};

/* Where none of their operands is negative. */
static const enum op_id where_none_is[] = {OP_BatchToSpace,
                                           OP_Concat,
                                           OP_DepthToSpace,
                                           OP_ElementWiseAdd,
                                           OP_ElementWiseDivide,
                                           OP_ElementWiseMaximum,
                                           OP_ElementWiseMinimum,
                                           OP_ElementWiseMultiply,
                                           OP_Gather,
                                           OP_GatherElements,
                                           OP_GatherNd,
                                           OP_PoolAvg2d,
                                           OP_PoolAvg3d,
                                           OP_PoolMax2d,
                                           OP_PoolMax3d,
                                           OP_ReduceMax,
                                           OP_ReduceMean,
                                           OP_ReduceMin,
                                           OP_ReduceProd,
                                           OP_ReduceSum,
                                           OP_Reshape,
                                           OP_ResizeBilinear,
                                           OP_ResizeNearestNeighbor,
                                           OP_SpaceToDepth,
                                           OP_Split,
                                           OP_StridedSlice,
                                           OP_Tile,
                                           OP_Transpose};

static bool is_among(const struct node *n, const enum op_id *ops, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (node_is(n, ops[i]))
            return true;
    return false;
}

bool gives_no_negative(const struct graph *g, const struct node *n, const bool *known)
{
    if (is_among(n, never, COUNT_OF(never)) || (node_is(n, OP_ReluMinMax) && node_float(n, PARAM_min_value, -1) >= 0))
        return true;
    /* Some weights of cubic interpolation are negative. */
    bool resizes = node_is(n, OP_Resize) && node_int(n, PARAM_interpolation_mode, 0) != INTERPOLATE_CUBIC;
    if (!resizes && !is_among(n, where_none_is, COUNT_OF(where_none_is)))
        return false;
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct tensor *t = node_input(g, n, i);
        if (t && dtype_is_float(t->type->dtype) && !known[n->inputs[i]])
            return false;
    }
    return true;
}
