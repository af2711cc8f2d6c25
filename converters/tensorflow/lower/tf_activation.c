/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow activation functions. */
#include <string.h>

#include "converters/lowering/emit.h"
#include "converters/tensorflow/lower/activation.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

static tensor_id leaky_relu(struct emit *s, const char *attribute, tensor_id x)
{
    double alpha;
    if (s->status == ODLC_OK)
        s->status = lower_attr_float(s->l, attribute, (double)0.2f, &alpha);
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    return emit_binary(s, OP_Prelu, x, emit_scalar(s, x, alpha));
}

tensor_id emit_activation(struct emit *s, const char *name, tensor_id x)
{
    static const struct {
        const char *name;
        enum op_id op;
    } same[] = {{"Relu", OP_Relu}, {"Sigmoid", OP_Sigmoid}, {"Tanh", OP_Tanh}};
    for (size_t i = 0; i < COUNT_OF(same); i++)
        if (strcmp(name, same[i].name) == 0)
            return emit_unary(s, same[i].op, x);
    if (strcmp(name, "Relu6") == 0)
        return emit_clamp(s, x, 0, 6);
    if (strcmp(name, "Elu") == 0)
        return emit_elu(s, x, 1);
    if (strcmp(name, "LeakyRelu") == 0)
        return leaky_relu(s, "leakyrelu_alpha", x);
    if (s->status == ODLC_OK)
        s->status = lower_unsupported(s->l, "fused_ops", "freeze the model without optimizing it for one machine",
                                      "%s in a fused operator is not supported", name);
    return NO_TENSOR;
}

/* Relu6 and Elu, as the row says. */
odlc_status tf_activation(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "features", &x));
    return emit_give(&s, 0, emit_activation(&s, l->variant, x));
}

odlc_status tf_leaky_relu(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "features", &x));
    return emit_give(&s, 0, leaky_relu(&s, "alpha", x));
}

/* scale · Elu(x) with the constants of the operator's definition */
odlc_status tf_selu(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "features", &x));
    tensor_id elu = emit_elu(&s, x, 1.6732632423543772848170429916717);
    return emit_end_binary(&s, OP_ElementWiseMultiply, elu, emit_scalar(&s, x, 1.0507009873554804934193349852946));
}

/* Softmax and LogSoftmax along the last axis. */
odlc_status tf_softmax(struct lower *l)
{
    tensor_id x;
    TRY(lower_need(l, 0, "logits", &x));
    const struct shape *shape = &build_type(l->b, x)->shape;
    if (shape->rank == 0)
        return lower_invalid(l, NULL, NULL, "the input is a scalar");
    if (shape_count(shape) == 0) {
        l->out[0] = x;
        return ODLC_OK;
    }
    build_op(l->b, l->op, fw_node_label(l->node));
    build_in(l->b, x);
    build_int(l->b, PARAM_axis, shape->rank - 1);
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}
