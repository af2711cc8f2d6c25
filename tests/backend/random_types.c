/* SPDX-License-Identifier: Apache-2.0 */
/* The types of a graph's reals. */
#include <math.h>

#include "ir/quant.h"
#include "op/op.h"
#include "tests/backend/random_ops.h"

/* A scale that float32 has; often a power of two, with which quotients lie half way between integers. */
static double draw_scale(struct making *m)
{
    return toss(m) ? ldexp(1, (int)draw(m, -7, -4)) : (double)(float)(0.003 + 0.05 * fabs(draw_real(m)));
}

static const struct quant *draw_encodings(struct making *m, enum dtype dtype, uint32_t count, uint32_t axis)
{
    double *scales = arena_array(m->arena, double, count), *zeros = arena_array(m->arena, double, count);
    int64_t low, high;
    integer_range(dtype, &low, &high);
    const bool wide = dtype_size(dtype) > 1, symmetric = draw(m, 0, 2) == 0;
    for (uint32_t i = 0; i < count; i++) {
        scales[i] = draw_scale(m) / (wide ? 256 : 1);
        zeros[i] = (double)(symmetric ? (low + high + 1) / 2 : draw(m, low, high));
    }
    return quant_create(m->arena, dtype, scales, zeros, count, count > 1, axis);
}

static enum dtype draw_fixed(struct making *m)
{
    static const enum dtype dtypes[] = {DT_UFXP8, DT_UFXP8, DT_SFXP8, DT_UFXP16, DT_SFXP16};
    return dtypes[draw(m, 0, COUNT_OF(dtypes) - 1)];
}

/* Integers of the type in the place of a constant's reals. */
static void quantize_constant(struct making *m, tensor_id id, enum dtype dtype, const struct quant *quant)
{
    struct tensor *t = graph_tensor(m->graph, id);
    const struct shape shape = t->type->shape;
    const uint64_t size = shape_count(&shape) * dtype_size(dtype);
    uint8_t *bytes = arena_alloc(m->arena, size);
    for (uint64_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)draw(m, 0, 255);
    const struct view view = view_of(bytes, dtype, &shape);
    graph_set_dtype(m->graph, id, dtype);
    graph_set_view(m->graph, id, &view);
    t->quant = quant;
}

/* Weights may have an encoding for each of the output's channels, and the bias is one of 32 bits. */
static void quantize_weights(struct making *m, const struct node *n)
{
    if (n->n_inputs < 2 || n->op->layer == NO_LAYER)
        return;
    const struct tensor *w = graph_tensor(m->graph, n->inputs[1]);
    const uint32_t axis = n->op->layer == LAYER_DENSE ? 0 : w->type->shape.rank - 1;
    const enum dtype dtype = draw(m, 0, 4) ? (toss(m) ? DT_UFXP8 : DT_SFXP8) : DT_SFXP16;
    quantize_constant(m, n->inputs[1], dtype,
                      draw_encodings(m, dtype, toss(m) ? 1 : (uint32_t)w->type->shape.dims[axis], axis));
    if (n->n_inputs > 2 && n->inputs[2] != NO_TENSOR) {
        const double scale = 1e-9 * (1 + fabs(draw_real(m)));
        quantize_constant(m, n->inputs[2], DT_SFXP32, quant_create(m->arena, DT_SFXP32, &scale, NULL, 1, false, 0));
    }
}

static void make_fixed(struct making *m, tensor_id id)
{
    const enum dtype dtype = draw_fixed(m);
    const struct quant *quant = draw_encodings(m, dtype, 1, 0);
    if (graph_tensor(m->graph, id)->kind == TENSOR_STATIC)
        quantize_constant(m, id, dtype, quant);
    else
        graph_set_dtype(m->graph, id, dtype);
    graph_tensor(m->graph, id)->quant = quant;
}

static bool is_among(const enum op_id *ops, size_t count, enum op_id op)
{
    for (size_t i = 0; i < count; i++)
        if (ops[i] == op)
            return true;
    return false;
}

/* Whether elements are moved alone, of whichever type they are. */
static bool moves(enum op_id op)
{
    static const enum op_id ops[] = {OP_Reshape,        OP_Transpose,    OP_ChannelShuffle,  OP_DepthToSpace,
                                     OP_SpaceToDepth,   OP_Concat,       OP_Split,           OP_Tile,
                                     OP_StridedSlice,   OP_Pad,          OP_Gather,          OP_GatherNd,
                                     OP_GatherElements, OP_ScatterNd,    OP_ScatterElements, OP_OneHot,
                                     OP_SpaceToBatch,   OP_BatchToSpace, OP_ExtractPatches};
    return is_among(ops, COUNT_OF(ops), op);
}

static bool has_ints(enum op_id op)
{
    static const enum op_id ops[] = {OP_Conv2d,
                                     OP_MatMul,
                                     OP_ElementWiseAdd,
                                     OP_ElementWiseSubtract,
                                     OP_ElementWiseMultiply,
                                     OP_ElementWiseFloorDiv,
                                     OP_ElementWiseFmod,
                                     OP_ElementWiseMod,
                                     OP_Argmax,
                                     OP_Argmin,
                                     OP_CumulativeSum,
                                     OP_Col2Im,
                                     OP_TopK};
    return is_among(ops, COUNT_OF(ops), op) || moves(op);
}

/* Fixed-point elements without an encoding stand for no numbers: they are moved as they are. */
static enum dtype draw_moved(struct making *m)
{
    static const enum dtype dtypes[] = {DT_BOOL,  DT_INT4,    DT_INT8,   DT_INT16,  DT_INT32,  DT_INT64,
                                        DT_UINT4, DT_UINT8,   DT_UINT16, DT_UINT32, DT_UINT64, DT_BFLOAT16,
                                        DT_SFXP4, DT_FLOAT64, DT_UFXP16, DT_SFXP32};
    return dtypes[draw(m, 0, COUNT_OF(dtypes) - 1)];
}

/* Small whole numbers in the place of a constant's reals. */
static void draw_constant(struct making *m, tensor_id id, enum dtype dtype, int64_t most)
{
    const struct shape shape = graph_tensor(m->graph, id)->type->shape;
    const uint64_t count = shape_count(&shape);
    double *wholes = arena_array(m->arena, double, count);
    void *elements = arena_calloc(m->arena, count, dtype_size(dtype));
    for (uint64_t i = 0; i < count; i++)
        wholes[i] = (double)draw(m, -most, most);
    convert_elements(elements, dtype, wholes, DT_FLOAT64, count);
    const struct view view = view_of(elements, dtype, &shape);
    graph_set_view(m->graph, id, &view);
}

/* Weights have eight bits but for one in eight, biases more. */
static void make_ints(struct making *m)
{
    struct graph *g = m->graph;
    const struct node *n = graph_node(g, g->order.data[0]);
    const enum dtype dtype = moves(n->op->id) ? draw_moved(m) : DT_INT32;
    for (tensor_id id = 0; id < g->tensors.count; id++) {
        if (graph_tensor(g, id)->type->dtype != DT_FLOAT32)
            continue;
        graph_set_dtype(g, id, dtype);
        if (graph_tensor(g, id)->kind == TENSOR_STATIC)
            draw_constant(m, id, dtype, n->n_inputs > 2 && id == n->inputs[2] ? 1 << 30 : draw(m, 0, 7) ? 127 : 300);
    }
}

static void make_real(struct making *m, tensor_id id)
{
    graph_set_dtype(m->graph, id, DT_FLOAT32);
    graph_tensor(m->graph, id)->quant = NULL;
}

void make_types(struct making *m, enum reals reals)
{
    struct graph *g = m->graph;
    const struct node *first = graph_node(g, g->order.data[0]);
    const enum op_id op = first->op->id;
    if (op == OP_Dequantize || op == OP_Convert)
        make_fixed(m, first->inputs[0]);
    if (op == OP_Quantize || op == OP_Convert)
        make_fixed(m, first->outputs[0]);
    if (op == OP_Quantize && reals == REALS_FIXED)
        make_fixed(m, first->inputs[0]);
    if (op == OP_Convert && reals != REALS_FIXED)
        make_real(m, toss(m) ? first->inputs[0] : first->outputs[0]);
    if (op == OP_Quantize || op == OP_Dequantize || op == OP_Convert)
        return;
    if (reals == REALS_INTS) {
        if (g->order.count == 1 && has_ints(first->op->id))
            make_ints(m);
        return;
    }
    for (size_t i = 0; reals == REALS_FIXED && i < g->order.count; i++)
        quantize_weights(m, graph_node(g, g->order.data[i]));
    for (tensor_id id = 0; id < g->tensors.count; id++) {
        const struct tensor *t = graph_tensor(g, id);
        if (t->type->dtype != DT_FLOAT32 || reals == REALS_FLOAT32)
            continue;
        if (reals == REALS_FIXED)
            make_fixed(m, id);
        else
            graph_set_dtype(g, id, DT_FLOAT16);
    }
}
