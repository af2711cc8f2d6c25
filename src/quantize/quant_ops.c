/* SPDX-License-Identifier: Apache-2.0 */
/* What ops are to the quantizer. */
#include "kernel/resample.h"
#include "op/op.h"
#include "op/params.h"
#include "quantize/quantizer.h"

/* Each real of their results is one of the first operand, between two of them, or zero: results have its encoding. */
static const enum op_id movers[] = {
    OP_BatchToSpace, OP_ChannelShuffle, OP_DepthToSpace, OP_ExtractPatches, OP_Gather,         OP_GatherElements,
    OP_GatherNd,     OP_PoolMax2d,      OP_PoolMax3d,    OP_Reshape,        OP_ResizeBilinear, OP_ResizeNearestNeighbor,
    OP_SpaceToBatch, OP_SpaceToDepth,   OP_Split,        OP_StridedSlice,   OP_Tile,           OP_Transpose};

/* What is cut off by them is cut off by the integers of their results, too: the layer before them gets that encoding.
 */
static const enum op_id clamps[] = {OP_Relu, OP_Relu1, OP_Relu6, OP_ReluMinMax};

static bool is_among(const struct node *n, const enum op_id *ops, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (node_is(n, ops[i]))
            return true;
    return false;
}

bool quant_is_clamp(const struct node *n)
{
    return is_among(n, clamps, COUNT_OF(clamps));
}

bool quant_is_mover(const struct node *n)
{
    /* Cubic interpolation goes beyond the values that it is between. */
    if (node_is(n, OP_Resize))
        return node_int(n, PARAM_interpolation_mode, 0) != INTERPOLATE_CUBIC;
    return is_among(n, movers, COUNT_OF(movers));
}

static bool is_bias(const struct op *op, uint32_t input)
{
    return input == 2 && (op->layer != NO_LAYER || (op->max_inputs == 3 && (op->weights & 1 << 2)));
}

enum quant_role quant_role_of(const struct op *op, uint32_t input)
{
    if (is_bias(op, input))
        return ROLE_BIAS;
    return input < 32 && (op->weights >> input & 1) ? ROLE_WEIGHTS : ROLE_CONSTANT;
}
