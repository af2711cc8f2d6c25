/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX losses: the negative log likelihood of the target classes, of log probabilities or of scores. */
#include <string.h>

#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/lowering/emit.h"

enum loss_reduction { LOSS_NONE, LOSS_SUM, LOSS_MEAN };

/* Of x [N, C, d…], target [N, d…] and weight [C] or NO_TENSOR. */
struct loss {
    tensor_id x, target, weight;
    enum loss_reduction reduction;
    int64_t ignored_class;
    bool ignores;
};

static odlc_status loss_reduction(const struct lower *l, enum loss_reduction *out)
{
    static const char *const names[] = {[LOSS_NONE] = "none", [LOSS_SUM] = "sum", [LOSS_MEAN] = "mean"};
    const char *given;
    TRY(lower_attr_string(l, "reduction", "mean", &given));
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(given, names[i]) == 0) {
            *out = (enum loss_reduction)i;
            return ODLC_OK;
        }
    return lower_invalid(l, "reduction", "it is none, sum or mean", "unknown reduction %s", given);
}

/* The shape of the target: that of x without its classes. */
static struct shape without_classes(const struct shape *x)
{
    struct shape shape = *x;
    shape.rank--;
    memmove(shape.dims + 1, shape.dims + 2, (shape.rank - 1) * sizeof *shape.dims);
    shape.dims[shape.rank] = 0;
    return shape;
}

static odlc_status read_loss(struct lower *l, struct loss *n)
{
    TRY(lower_need(l, 0, "input", &n->x));
    TRY(lower_need(l, 1, "target", &n->target));
    n->weight = lower_in(l, 2);
    TRY(loss_reduction(l, &n->reduction));
    n->ignores = lower_has_attr(l, "ignore_index");
    TRY(lower_attr_int(l, "ignore_index", 0, &n->ignored_class));
    const struct type x = *build_type(l->b, n->x), target = *build_type(l->b, n->target);
    if (x.shape.rank < 2 || !dtype_is_float(x.dtype) || !dtype_is_int(target.dtype))
        return lower_invalid(l, NULL, NULL, "an input %s of %s and targets of %s",
                             shape_text(l->diags->arena, &x.shape), dtype_info(x.dtype)->name,
                             dtype_info(target.dtype)->name);
    struct shape expected = without_classes(&x.shape), classes = SHAPE(x.shape.dims[1]);
    if (!shape_equal(&target.shape, &expected))
        return lower_invalid(l, NULL, NULL, "the targets have the shape %s instead of %s",
                             shape_text(l->diags->arena, &target.shape), shape_text(l->diags->arena, &expected));
    if (n->weight == NO_TENSOR)
        return ODLC_OK;
    if (!shape_equal(&build_type(l->b, n->weight)->shape, &classes))
        return lower_invalid(l, NULL, NULL, "the weights have the shape %s instead of %s",
                             shape_text(l->diags->arena, &build_type(l->b, n->weight)->shape),
                             shape_text(l->diags->arena, &classes));
    return build_cast(l->b, n->weight, x.dtype, step_name(l, "weight"), &n->weight);
}

/* −x of each sample's class, in the shape of the classes. */
static tensor_id negative_of_class(struct emit *s, tensor_id x, tensor_id classes)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    struct lower *l = s->l;
    const struct shape samples = build_type(l->b, classes)->shape;
    struct shape column = build_type(l->b, x)->shape;
    column.dims[1] = 1;
    tensor_id index = emit_reshape(s, classes, &column), picked = NO_TENSOR;
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    build_op(l->b, OP_GatherElements, step_name(l, "GatherElements"));
    build_in(l->b, x);
    build_in(l->b, index);
    build_int(l->b, PARAM_axis, 1);
    s->status = build_end(l->b, step_name(l, "GatherElements"), &picked);
    return emit_unary(s, OP_ElementWiseNeg, emit_reshape(s, picked, &samples));
}

/* Over all samples, to a scalar. */
static tensor_id over_samples(struct emit *s, enum op_id op, tensor_id x)
{
    int64_t axes[MAX_RANK];
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    uint32_t rank = build_rank(s->l->b, x);
    for (uint32_t i = 0; i < rank; i++)
        axes[i] = i;
    return emit_reduce(s, op, x, axes, rank, false);
}

/* The loss of output 0. A mean is weighted; what is ignored weighs nothing. */
static odlc_status emit_loss(struct lower *l, const struct loss *n)
{
    struct emit s = {.l = l};
    tensor_id classes = n->target, ignored = NO_TENSOR, weights = NO_TENSOR;
    tensor_id zero = emit_scalar(&s, n->x, 0);
    if (n->ignores) { /* an ignored target need not be a class: the first stands in for it */
        ignored = emit_binary(&s, OP_ElementWiseEqual, classes, emit_scalar(&s, classes, (double)n->ignored_class));
        classes = emit_select(&s, ignored, emit_scalar(&s, classes, 0), classes);
    }
    tensor_id loss = negative_of_class(&s, n->x, classes);
    if (n->ignores)
        loss = emit_select(&s, ignored, zero, loss);
    if (n->weight != NO_TENSOR)
        weights = emit_gather(&s, n->weight, classes, 0);
    else if (n->ignores)
        weights = emit_scalar(&s, n->x, 1);
    if (n->ignores)
        weights = emit_select(&s, ignored, zero, weights);
    if (n->weight != NO_TENSOR)
        loss = emit_binary(&s, OP_ElementWiseMultiply, loss, weights);
    if (n->reduction == LOSS_NONE)
        return emit_give(&s, 0, loss);
    if (n->reduction == LOSS_SUM)
        return emit_give(&s, 0, over_samples(&s, OP_ReduceSum, loss));
    if (weights == NO_TENSOR)
        return emit_give(&s, 0, over_samples(&s, OP_ReduceMean, loss));
    tensor_id sum = over_samples(&s, OP_ReduceSum, loss), total = over_samples(&s, OP_ReduceSum, weights);
    return emit_end_binary(&s, OP_ElementWiseDivide, sum, total);
}

odlc_status lower_negative_log_likelihood_loss(struct lower *l)
{
    struct loss n;
    TRY(read_loss(l, &n));
    return emit_loss(l, &n);
}

odlc_status lower_softmax_cross_entropy_loss(struct lower *l)
{
    struct loss n;
    TRY(read_loss(l, &n));
    build_op(l->b, OP_LogSoftmax, step_name(l, "log_prob"));
    build_in(l->b, n.x);
    build_int(l->b, PARAM_axis, 1);
    TRY(build_end(l->b, step_name(l, "log_prob"), &n.x));
    TRY(emit_loss(l, &n));
    return l->n_out > 1 ? emit_give(&(struct emit){.l = l}, 1, n.x) : ODLC_OK;
}
