/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/onnx/lower/classic.h"

#include <math.h>
#include <string.h>

#include "converters/lowering/shapes.h"

tensor_id classic_floats(struct emit *s, const struct shape *shape, const float *values)
{
    const uint64_t count = shape_count(shape);
    double *copy = arena_array(s->l->arena, double, (size_t)count);
    for (uint64_t i = 0; i < count; i++)
        copy[i] = (double)values[i];
    return emit_constant(s, DT_FLOAT32, shape, copy);
}

odlc_status classic_rows(struct emit *s, tensor_id *x)
{
    const struct shape shape = build_type(s->l->b, *x)->shape;
    if (shape.rank < 1 || shape.rank > 2)
        return lower_invalid(s->l, NULL, NULL, "an input %s is not made of rows of features",
                             shape_text(s->l->diags->arena, &shape));
    if (shape.rank == 1)
        *x = emit_reshape(s, *x, &SHAPE(1, shape.dims[0]));
    return s->status;
}

odlc_status classic_features(struct emit *s, tensor_id *x, int64_t *features)
{
    TRY(lower_need(s->l, 0, "X", x));
    TRY(classic_rows(s, x));
    *features = build_type(s->l->b, *x)->shape.dims[1];
    *x = emit_cast(s, *x, DT_FLOAT32);
    return s->status;
}

odlc_status classic_check_int(const struct lower *l, const char *attribute, int64_t value)
{
    if (value != (int32_t)value)
        return lower_unsupported(l, attribute, "the container stores 32-bit integers only",
                                 "the number %lld has more than 32 bits", (long long)value);
    return ODLC_OK;
}

odlc_status classic_numbers(const struct lower *l, const char *attribute, const struct view *view, const double **out,
                            uint32_t *count)
{
    const uint64_t all = shape_count(&view->shape);
    if (all > INT32_MAX)
        return lower_limit(l, attribute, NULL, "a list of %llu numbers", (unsigned long long)all);
    *count = (uint32_t)all;
    *out = view_load(l->arena, view, DT_FLOAT64);
    for (uint32_t i = 0; i < *count && !dtype_is_float(view->dtype); i++)
        if ((*out)[i] < INT32_MIN || (*out)[i] > INT32_MAX)
            return lower_unsupported(l, attribute, "the container stores 32-bit integers only",
                                     "the number %.0f has more than 32 bits", (*out)[i]);
    return ODLC_OK;
}

void classic_give_text(struct lower *l, uint32_t i)
{
    l->results[i] = (struct lower_value){.kind = VALUE_TEXT};
}

/* ---- scores ---- */

static odlc_status not_of_one_score(const struct lower *l)
{
    return lower_unsupported(l, "post_transform", NULL,
                             "runtimes do not agree on what a transform of one score per row is");
}

odlc_status classic_post_transform(const struct lower *l, int64_t count, enum scores_as *out)
{
    static const struct choice transforms[] = {{"NONE", SCORES_PLAIN},
                                               {"SOFTMAX", SCORES_SOFTMAX},
                                               {"LOGISTIC", SCORES_LOGISTIC},
                                               {"SOFTMAX_ZERO", SCORES_SOFTMAX_ZERO},
                                               {"PROBIT", -1}};
    int as;
    TRY(lower_choose(l, "post_transform", "NONE", transforms, COUNT_OF(transforms), &as));
    if (as < 0)
        return lower_unsupported(l, "post_transform", NULL, "the container has no op for the probit function");
    if (count == 1 && as != SCORES_PLAIN)
        return not_of_one_score(l);
    *out = (enum scores_as)as;
    return ODLC_OK;
}

/* A softmax where scores near 0 count as 0, not as e⁰: e^(v − max) or v · e^−max, divided by the sum of the row. */
static tensor_id softmax_zero(struct emit *s, tensor_id scores)
{
    const int64_t axis = 1;
    tensor_id max = emit_reduce(s, OP_ReduceMax, scores, &axis, 1, true);
    tensor_id power = emit_unary(s, OP_ElementWiseExp, emit_binary(s, OP_ElementWiseSubtract, scores, max));
    tensor_id shift = emit_unary(s, OP_ElementWiseExp, emit_unary(s, OP_ElementWiseNeg, max));
    tensor_id small = emit_binary(s, OP_ElementWiseMultiply, scores, shift);
    tensor_id size = emit_unary(s, OP_ElementWiseAbs, scores);
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    tensor_id far = emit_binary(s, OP_ElementWiseGreater, size, emit_scalar(s, size, (double)1e-7F));
    tensor_id part = emit_select(s, far, power, small);
    return emit_binary(s, OP_ElementWiseDivide, part, emit_reduce(s, OP_ReduceSum, part, &axis, 1, true));
}

tensor_id classic_transform(struct emit *s, tensor_id scores, enum scores_as as)
{
    switch (as) {
    case SCORES_SOFTMAX:
        return emit_softmax(s, scores, 1);
    case SCORES_LOGISTIC:
        return emit_unary(s, OP_Sigmoid, scores);
    case SCORES_SOFTMAX_ZERO:
        return softmax_zero(s, scores);
    default:
        return scores;
    }
}

/* ---- labels ---- */

odlc_status classic_labels(const struct lower *l, const char *ints, struct labels *out)
{
    const char *const *text;
    uint32_t n_text;
    TRY(lower_attr_ints(l, ints, &out->ints, &out->count));
    TRY(lower_attr_strings(l, "classlabels_strings", &text, &n_text));
    if ((out->count != 0) == (n_text != 0))
        return lower_invalid(l, ints, NULL, "the labels are not given as integers, or as strings");
    for (uint32_t i = 0; i < out->count; i++)
        TRY(classic_check_int(l, ints, out->ints[i]));
    if (n_text) {
        out->ints = NULL;
        out->count = n_text;
    }
    return ODLC_OK;
}

static tensor_id highest(struct emit *s, tensor_id scores)
{
    tensor_id out = NO_TENSOR;
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const char *name = step_name(s->l, "Argmax");
    build_op(s->l->b, OP_Argmax, name);
    build_in(s->l->b, scores);
    build_int(s->l->b, PARAM_axis, 1);
    build_int(s->l->b, PARAM_keep_dims, 0);
    s->status = build_end(s->l->b, name, &out);
    return out;
}

odlc_status classic_give_label_of(struct emit *s, const struct labels *labels, tensor_id scores)
{
    if (!labels->ints) {
        classic_give_text(s->l, 0);
        return s->status;
    }
    tensor_id list =
        build_const_ints(s->l->b, step_name(s->l, "labels"), DT_INT64, &SHAPE((int64_t)labels->count), labels->ints);
    return emit_give(s, 0, emit_gather(s, list, highest(s, scores), 0));
}

/* ---- two classes with one score ---- */

odlc_status classic_one_score(const struct lower *l, bool takes_none, bool *logistic)
{
    const char *transform;
    TRY(lower_attr_string(l, "post_transform", "NONE", &transform));
    *logistic = strcmp(transform, "LOGISTIC") == 0;
    return *logistic || (takes_none && strcmp(transform, "NONE") == 0) ? ODLC_OK : not_of_one_score(l);
}

odlc_status classic_give_label_above(struct emit *s, const struct labels *labels, tensor_id score, double least)
{
    const int64_t rows = build_type(s->l->b, score)->shape.dims[0];
    tensor_id flat = emit_reshape(s, score, &SHAPE(rows));
    TRY(s->status);
    tensor_id second = emit_binary(s, OP_ElementWiseGreater, flat, emit_scalar(s, flat, least));
    if (!labels->ints) {
        classic_give_text(s->l, 0);
        return s->status;
    }
    tensor_id label[2];
    for (int i = 0; i < 2; i++)
        label[i] =
            build_const_ints(s->l->b, step_name(s->l, i ? "second" : "first"), DT_INT64, &SHAPE(1), &labels->ints[i]);
    return emit_give(s, 0, emit_select(s, second, label[1], label[0]));
}

odlc_status classic_give_both(struct emit *s, tensor_id score, bool logistic, bool margin)
{
    tensor_id both[2] = {NO_TENSOR, score};
    both[0] = logistic || margin ? emit_unary(s, OP_ElementWiseNeg, score)
                                 : emit_binary(s, OP_ElementWiseSubtract, emit_scalar(s, score, 1), score);
    tensor_id scores = emit_concat(s, both, 2, 1);
    return emit_give(s, 1, logistic ? emit_unary(s, OP_Sigmoid, scores) : scores);
}
