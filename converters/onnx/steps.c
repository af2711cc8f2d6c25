#include "converters/onnx/steps.h"

#include "converters/onnx/lower_shape.h"

/* Ends the node that was started, under a name made from the operator's and `name`. */
static tensor_id end_step(struct steps *s, const char *name)
{
    tensor_id out = NO_TENSOR;
    s->status = build_end(s->l->b, name, &out);
    return s->status == ODLC_OK ? out : NO_TENSOR;
}

tensor_id step_unary(struct steps *s, const char *op, tensor_id x)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const char *name = step_name(s->l, op);
    build_op(s->l->b, op, name);
    build_in(s->l->b, x);
    return end_step(s, name);
}

tensor_id step_binary(struct steps *s, const char *op, tensor_id x, tensor_id y)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const char *name = step_name(s->l, op);
    build_op(s->l->b, op, name);
    build_in(s->l->b, x);
    build_in(s->l->b, y);
    return end_step(s, name);
}

static void start_select(struct steps *s, const char *name, tensor_id condition, tensor_id yes, tensor_id no)
{
    build_op(s->l->b, "ElementWiseSelect", name);
    build_in(s->l->b, condition);
    build_in(s->l->b, yes);
    build_in(s->l->b, no);
}

tensor_id step_select(struct steps *s, tensor_id condition, tensor_id yes, tensor_id no)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const char *name = step_name(s->l, "ElementWiseSelect");
    start_select(s, name, condition, yes, no);
    return end_step(s, name);
}

tensor_id step_reduce(struct steps *s, const char *op, tensor_id x, const int64_t *axes, uint32_t count, bool keep)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const char *name = step_name(s->l, op);
    build_op(s->l->b, op, name);
    build_in(s->l->b, x);
    build_ints(s->l->b, "axes", axes, count);
    build_int(s->l->b, "keep_dims", keep);
    return end_step(s, name);
}

tensor_id step_scalar(struct steps *s, tensor_id like, double value)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    return build_const_scalar(s->l->b, step_name(s->l, "constant"), build_type(s->l->b, like)->dtype, value);
}

/* Ends the operator's own node, which was started under the operator's name. */
static odlc_status end_operator(struct lower *l)
{
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}

odlc_status steps_end_unary(struct steps *s, const char *op, tensor_id x)
{
    TRY(s->status);
    build_op(s->l->b, op, fw_node_label(s->l->node));
    build_in(s->l->b, x);
    return end_operator(s->l);
}

odlc_status steps_end_binary(struct steps *s, const char *op, tensor_id x, tensor_id y)
{
    TRY(s->status);
    build_op(s->l->b, op, fw_node_label(s->l->node));
    build_in(s->l->b, x);
    build_in(s->l->b, y);
    return end_operator(s->l);
}

odlc_status steps_end_select(struct steps *s, tensor_id condition, tensor_id yes, tensor_id no)
{
    TRY(s->status);
    start_select(s, fw_node_label(s->l->node), condition, yes, no);
    return end_operator(s->l);
}
