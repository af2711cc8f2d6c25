/* SPDX-License-Identifier: Apache-2.0 */
/* No encoding of a container says the scales of blocks (docs/quantization.md), so integers in blocks are fixed-point
 * elements of the scale 1, and steps before their reader make the weights of them:
 *
 *     integers → Reshape [.., blocks, block, ..] → Dequantize → Subtract (zeros) → Multiply (scales) → Reshape
 *
 * All their operands are constants, so folding would make floats of them: it is off meanwhile. */
#include "converters/onnx/lower/onnx_blocks.h"

#include "converters/lowering/shapes.h"
#include "ir/quant.h"

bool is_storable(const struct lower *l, tensor_id x)
{
    const enum dtype dtype = build_type(l->b, x)->dtype;
    return l->packs_blocks && build_is_const(l->b, x) && quant_dtype(dtype) != DT_NONE && dtype_value_bits(dtype) <= 8;
}

void note_float_blocks(const struct lower *l, int64_t block)
{
    diag_note(l->diags, AT(.node = fw_node_label(l->node), .hint = "--block_weights packed stores the integers"),
              "dequantized-weights", "weights with a scale per block of %lld are stored as floats", (long long)block);
}

tensor_id emit_stored(struct emit *s, tensor_id integers, const char *name, double zero)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    static const double one = 1;
    struct graph *g = s->l->b->graph;
    const struct tensor *t = graph_tensor(g, integers);
    const enum dtype dtype = t->type->dtype, fixed = quant_dtype(dtype);
    struct view view = *t->view;
    if (view.dtype != dtype)
        view = view_of(view_load(s->l->arena, t->view, dtype), dtype, &t->type->shape);
    view.dtype = fixed;
    const tensor_id id = graph_add_constant(g, name, fixed, &view);
    graph_tensor(g, id)->quant = quant_create(g->arena, fixed, &one, &zero, 1, false, 0);
    return id;
}

tensor_id emit_reals(struct emit *s, tensor_id fixed)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    struct build *b = s->l->b;
    const char *name = step_name(s->l, "Dequantize");
    const struct type type = {.dtype = DT_FLOAT32, .shape = build_type(b, fixed)->shape};
    const bool unfolded = build_unfold(b, true);
    tensor_id real = NO_TENSOR;
    build_op(b, OP_Dequantize, name);
    build_in(b, fixed);
    s->status = build_end_typed(b, &name, &type, 1, &real);
    (void)build_unfold(b, unfolded);
    return real;
}

/* The axis as two: one of blocks, one of `inner` indices in each. */
static tensor_id split_axis(struct emit *s, tensor_id t, uint32_t axis, int64_t inner)
{
    if (s->status != ODLC_OK || t == NO_TENSOR)
        return t;
    const struct shape from = build_type(s->l->b, t)->shape;
    struct shape apart = {.rank = from.rank + 1};
    for (uint32_t i = 0; i < apart.rank; i++)
        apart.dims[i] = from.dims[i > axis ? i - 1 : i];
    apart.dims[axis] = from.dims[axis] / inner;
    apart.dims[axis + 1] = inner;
    return emit_reshape(s, t, &apart);
}

/* Whether all blocks are whole, so that an axis of its own can say them. */
static bool has_whole_blocks(const struct build *b, const struct stored_blocks *w)
{
    const struct shape *shape = &build_type(b, w->x)->shape;
    const uint32_t axis = w->granularity.axis;
    return w->groups == NO_TENSOR && shape->rank < MAX_RANK && build_rank(b, w->scale) == shape->rank &&
           shape->dims[axis] == build_type(b, w->scale)->shape.dims[axis] * w->granularity.block;
}

/* Scales or zero points as floats, for each index of the axis. */
static tensor_id spread(struct emit *s, const struct stored_blocks *w, tensor_id t, const struct shape *shape)
{
    if (s->status != ODLC_OK || t == NO_TENSOR)
        return t;
    t = dtype_is_float(build_type(s->l->b, t)->dtype) ? emit_cast(s, t, DT_FLOAT32)
                                                      : emit_reals(s, emit_stored(s, t, step_name(s->l, "zeros"), 0));
    if (w->groups != NO_TENSOR)
        return emit_gather(s, t, w->groups, w->granularity.axis);
    return shape ? emit_align(s, t, shape, &w->granularity) : t;
}

static tensor_id emit_steps(struct emit *s, const struct stored_blocks *w, const char *name, const struct shape *shape)
{
    tensor_id x = emit_reals(s, emit_stored(s, w->x, name, w->zero == NO_TENSOR ? w->middle : 0));
    const tensor_id zero = spread(s, w, w->zero, shape), scale = spread(s, w, w->scale, shape);
    if (zero != NO_TENSOR)
        x = emit_binary(s, OP_ElementWiseSubtract, x, zero);
    return emit_binary(s, OP_ElementWiseMultiply, x, scale);
}

tensor_id emit_stored_blocks(struct emit *s, const struct stored_blocks *w)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    struct build *b = s->l->b;
    const struct shape shape = build_type(b, w->x)->shape;
    const bool whole = has_whole_blocks(b, w);
    struct stored_blocks apart = *w;
    if (whole) {
        const uint32_t axis = w->granularity.axis;
        apart.x = split_axis(s, w->x, axis, w->granularity.block);
        apart.scale = split_axis(s, w->scale, axis, 1);
        apart.zero = split_axis(s, w->zero, axis, 1);
    }
    const bool unfolded = build_unfold(b, true);
    const char *name = tensor_wanted_name(graph_tensor(b->graph, w->x));
    tensor_id x = emit_steps(s, &apart, name, whole ? NULL : &shape);
    if (whole)
        x = emit_reshape(s, x, &shape);
    (void)build_unfold(b, unfolded);
    return x;
}
