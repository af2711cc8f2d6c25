/* TensorFlow activation functions. */
#include <string.h>

#include "converters/lowering/steps.h"
#include "converters/tensorflow/activation.h"
#include "converters/tensorflow/rows.h"

static odlc_status give_relu6(struct lower *l, tensor_id x)
{
    struct steps s = {.l = l};
    return steps_give(&s, 0, step_clamp(&s, x, 0, 6));
}

static odlc_status give_elu(struct lower *l, tensor_id x)
{
    struct steps s = {.l = l};
    return steps_give(&s, 0, step_elu(&s, x, 1));
}

static odlc_status give_leaky_relu(struct lower *l, tensor_id x, const char *attribute)
{
    struct steps s = {.l = l};
    double alpha;
    TRY(lower_attr_float(l, attribute, (double)0.2f, &alpha));
    return steps_end_binary(&s, "Prelu", x, step_scalar(&s, x, alpha));
}

odlc_status tf_relu6(struct lower *l)
{
    tensor_id x;
    TRY(lower_need(l, 0, "features", &x));
    return give_relu6(l, x);
}

odlc_status tf_elu(struct lower *l)
{
    tensor_id x;
    TRY(lower_need(l, 0, "features", &x));
    return give_elu(l, x);
}

odlc_status tf_leaky_relu(struct lower *l)
{
    tensor_id x;
    TRY(lower_need(l, 0, "features", &x));
    return give_leaky_relu(l, x, "alpha");
}

/* scale · Elu(x) with the constants of the operator's definition */
odlc_status tf_selu(struct lower *l)
{
    struct steps s = {.l = l};
    tensor_id x;
    TRY(lower_need(l, 0, "features", &x));
    tensor_id elu = step_elu(&s, x, 1.6732632423543772848170429916717);
    return steps_end_binary(&s, "ElementWiseMultiply", elu, step_scalar(&s, x, 1.0507009873554804934193349852946));
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
    build_op(l->b, l->arg, fw_node_label(l->node));
    build_in(l->b, x);
    build_int(l->b, "axis", shape->rank - 1);
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}

odlc_status give_activation(struct lower *l, const char *name, tensor_id x)
{
    static const char *const same[] = {"Relu", "Sigmoid", "Tanh"};
    for (size_t i = 0; i < COUNT_OF(same); i++)
        if (strcmp(name, same[i]) == 0)
            return steps_end_unary(&(struct steps){.l = l}, name, x);
    if (strcmp(name, "Relu6") == 0)
        return give_relu6(l, x);
    if (strcmp(name, "Elu") == 0)
        return give_elu(l, x);
    if (strcmp(name, "LeakyRelu") == 0)
        return give_leaky_relu(l, x, "leakyrelu_alpha");
    return lower_unsupported(l, "fused_ops", NULL, "the fused operator %s is not known", name);
}
