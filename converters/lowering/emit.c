/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/emit.h"

#include <string.h>

#include "converters/lowering/shapes.h"
#include "op/op.h"

/* Ends the node that was started, under a name made from the operator's and `name`. */
static tensor_id end_step(struct emit *s, const char *name)
{
    tensor_id out = NO_TENSOR;
    s->status = build_end(s->l->b, name, &out);
    return s->status == ODLC_OK ? out : NO_TENSOR;
}

tensor_id emit_unary(struct emit *s, enum op_id op, tensor_id x)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const char *name = step_name(s->l, op_row(op)->name);
    build_op(s->l->b, op, name);
    build_in(s->l->b, x);
    return end_step(s, name);
}

tensor_id emit_binary(struct emit *s, enum op_id op, tensor_id x, tensor_id y)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const char *name = step_name(s->l, op_row(op)->name);
    build_op(s->l->b, op, name);
    build_in(s->l->b, x);
    build_in(s->l->b, y);
    return end_step(s, name);
}

static void start_select(struct emit *s, const char *name, tensor_id condition, tensor_id yes, tensor_id no)
{
    build_op(s->l->b, OP_ElementWiseSelect, name);
    build_in(s->l->b, condition);
    build_in(s->l->b, yes);
    build_in(s->l->b, no);
}

tensor_id emit_select(struct emit *s, tensor_id condition, tensor_id yes, tensor_id no)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const char *name = step_name(s->l, "ElementWiseSelect");
    start_select(s, name, condition, yes, no);
    return end_step(s, name);
}

tensor_id emit_reduce(struct emit *s, enum op_id op, tensor_id x, const int64_t *axes, uint32_t count, bool keep)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const char *name = step_name(s->l, op_row(op)->name);
    build_op(s->l->b, op, name);
    build_in(s->l->b, x);
    build_ints(s->l->b, PARAM_axes, axes, count);
    build_int(s->l->b, PARAM_keep_dims, keep);
    return end_step(s, name);
}

tensor_id emit_matmul(struct emit *s, tensor_id x, tensor_id y, bool transpose_x, bool transpose_y)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const char *name = step_name(s->l, "MatMul");
    build_op(s->l->b, OP_MatMul, name);
    build_in(s->l->b, x);
    build_in(s->l->b, y);
    build_int(s->l->b, PARAM_transpose_in0, transpose_x);
    build_int(s->l->b, PARAM_transpose_in1, transpose_y);
    return end_step(s, name);
}

tensor_id emit_softmax(struct emit *s, tensor_id x, uint32_t axis)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const char *name = step_name(s->l, "Softmax");
    build_op(s->l->b, OP_Softmax, name);
    build_in(s->l->b, x);
    build_int(s->l->b, PARAM_axis, axis);
    return end_step(s, name);
}

/* An op of one operand with two params, the second may be PARAM_CUSTOM: none. */
static tensor_id emit_with_params(struct emit *s, enum op_id op, tensor_id x, const enum param_id params[2],
                                  const double values[2])
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const char *name = step_name(s->l, op_row(op)->name);
    build_op(s->l->b, op, name);
    build_in(s->l->b, x);
    for (int i = 0; i < 2 && params[i]; i++)
        build_float(s->l->b, params[i], values[i]);
    return end_step(s, name);
}

tensor_id emit_elu(struct emit *s, tensor_id x, double alpha)
{
    return emit_with_params(s, OP_Elu, x, (const enum param_id[]){PARAM_alpha, PARAM_CUSTOM},
                            (const double[]){alpha, 0});
}

tensor_id emit_hard_sigmoid(struct emit *s, tensor_id x, double alpha, double beta)
{
    return emit_with_params(s, OP_HardSigmoid, x, (const enum param_id[]){PARAM_alpha, PARAM_beta},
                            (const double[]){alpha, beta});
}

tensor_id emit_clamp(struct emit *s, tensor_id x, double min, double max)
{
    return emit_with_params(s, OP_ReluMinMax, x, (const enum param_id[]){PARAM_min_value, PARAM_max_value},
                            (const double[]){min, max});
}

/* What a call that builds a whole node gave. */
static tensor_id stepped(struct emit *s, odlc_status status, tensor_id out)
{
    s->status = status;
    return status == ODLC_OK ? out : NO_TENSOR;
}

tensor_id emit_cast(struct emit *s, tensor_id x, enum dtype to)
{
    tensor_id out = NO_TENSOR;
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    odlc_status status = build_cast(s->l->b, x, to, step_name(s->l, "Cast"), &out);
    return stepped(s, status, out);
}

/* ---- shapes and positions ---- */

tensor_id emit_reshape(struct emit *s, tensor_id x, const struct shape *shape)
{
    tensor_id out = NO_TENSOR;
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    odlc_status status = build_reshape(s->l->b, x, shape, step_name(s->l, "Reshape"), &out);
    return stepped(s, status, out);
}

tensor_id emit_transpose(struct emit *s, tensor_id x, const struct perm *perm)
{
    tensor_id out = NO_TENSOR;
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    odlc_status status = build_transpose(s->l->b, x, perm, step_name(s->l, "Transpose"), &out);
    return stepped(s, status, out);
}

tensor_id emit_broadcast(struct emit *s, tensor_id x, const struct shape *shape)
{
    tensor_id out = NO_TENSOR;
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    odlc_status status = lower_broadcast(s->l, x, shape, step_name(s->l, "Tile"), &out);
    return stepped(s, status, out);
}

tensor_id emit_concat(struct emit *s, const tensor_id *parts, uint32_t count, uint32_t axis)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    if (count == 1)
        return parts[0];
    const char *name = step_name(s->l, "Concat");
    build_op(s->l->b, OP_Concat, name);
    for (uint32_t i = 0; i < count; i++)
        build_in(s->l->b, parts[i]);
    build_int(s->l->b, PARAM_axis, axis);
    return end_step(s, name);
}

tensor_id emit_slice(struct emit *s, tensor_id x, uint32_t axis, int64_t begin, int64_t end)
{
    tensor_id out = NO_TENSOR;
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    odlc_status status = lower_slice_axis(s->l, x, axis, begin, end, step_name(s->l, "StridedSlice"), &out);
    return stepped(s, status, out);
}

tensor_id emit_element(struct emit *s, tensor_id x, uint32_t axis, int64_t at)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    struct shape shape = build_type(s->l->b, x)->shape;
    memmove(&shape.dims[axis], &shape.dims[axis + 1], (shape.rank - axis - 1) * sizeof *shape.dims);
    shape.rank--;
    return emit_reshape(s, emit_slice(s, x, axis, at, at + 1), &shape);
}

tensor_id emit_stack(struct emit *s, const tensor_id *parts, uint32_t count, uint32_t axis)
{
    tensor_id *slices = arena_array(s->l->arena, tensor_id, count);
    for (uint32_t i = 0; i < count && s->status == ODLC_OK; i++) {
        const struct shape part = build_type(s->l->b, parts[i])->shape;
        struct shape slice = {.rank = part.rank + 1};
        if (slice.rank > MAX_RANK || axis > part.rank) {
            s->status = lower_unsupported(s->l, NULL, NULL, "an axis %u cannot be added to %s", axis,
                                          shape_text(s->l->diags->arena, &part));
            return NO_TENSOR;
        }
        for (uint32_t k = 0; k < slice.rank; k++)
            slice.dims[k] = k == axis ? 1 : part.dims[k - (k > axis)];
        slices[i] = emit_reshape(s, parts[i], &slice);
    }
    return emit_concat(s, slices, count, axis);
}

tensor_id emit_gather(struct emit *s, tensor_id x, tensor_id positions, uint32_t axis)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const char *name = step_name(s->l, "Gather");
    build_op(s->l->b, OP_Gather, name);
    build_in(s->l->b, x);
    build_in(s->l->b, positions);
    build_int(s->l->b, PARAM_axis, axis);
    return end_step(s, name);
}

/* ---- constants ---- */

tensor_id emit_constant(struct emit *s, enum dtype dtype, const struct shape *shape, const double *values)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    struct view view = view_of(values, DT_FLOAT64, shape);
    return graph_add_constant(s->l->b->graph, step_name(s->l, "constant"), dtype, &view);
}

tensor_id emit_scalar(struct emit *s, tensor_id like, double value)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    return build_const_scalar(s->l->b, step_name(s->l, "constant"), build_type(s->l->b, like)->dtype, value);
}

/* ---- the end ---- */

odlc_status emit_give(struct emit *s, uint32_t i, tensor_id x)
{
    TRY(s->status);
    struct graph *g = s->l->b->graph;
    struct tensor *t = graph_tensor(g, x);
    const char *name = lower_out_name(s->l, i);
    struct node *producer = t->producer == NO_NODE ? NULL : graph_node(g, t->producer);
    if (i < s->l->n_out)
        s->l->out[i] = x;
    if (!name || t->kind != TENSOR_NATIVE || !producer || producer->source != s->l->b->source ||
        graph_find_tensor(g, name) != NO_TENSOR)
        return ODLC_OK;
    if (strcmp(producer->name, t->name) == 0)
        graph_rename_node(g, t->producer, name);
    graph_rename_tensor(g, x, name);
    return ODLC_OK;
}

/* Ends the operator's own node, which was started under the operator's name. */
static odlc_status end_operator(struct lower *l)
{
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}

odlc_status emit_end_unary(struct emit *s, enum op_id op, tensor_id x)
{
    TRY(s->status);
    build_op(s->l->b, op, fw_node_label(s->l->node));
    build_in(s->l->b, x);
    return end_operator(s->l);
}

odlc_status emit_end_binary(struct emit *s, enum op_id op, tensor_id x, tensor_id y)
{
    TRY(s->status);
    build_op(s->l->b, op, fw_node_label(s->l->node));
    build_in(s->l->b, x);
    build_in(s->l->b, y);
    return end_operator(s->l);
}

odlc_status emit_end_select(struct emit *s, tensor_id condition, tensor_id yes, tensor_id no)
{
    TRY(s->status);
    start_select(s, fw_node_label(s->l->node), condition, yes, no);
    return end_operator(s->l);
}
