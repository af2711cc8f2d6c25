/* SPDX-License-Identifier: Apache-2.0 */
/* Linear models of ai.onnx.ml, LinearRegressor and LinearClassifier, and SVMRegressor: scores of rows of features. */
#include <string.h>

#include "converters/lowering/emit.h"
#include "converters/lowering/shapes.h"
#include "converters/onnx/lower/classic.h"
#include "converters/onnx/lower/onnx_rows.h"

enum { LARGEST_KERNEL = 64 * 1024 * 1024 }; /* differences of rows and support vectors, one a feature */

/* ---- LinearRegressor, LinearClassifier ---- */

/* X · coefficientsᵀ + intercepts: [rows, count] in float32; count 0: as many as there are intercepts. */
static odlc_status linear_scores(struct emit *s, int64_t count, tensor_id *out)
{
    struct lower *l = s->l;
    const float *coefficients, *intercepts;
    uint32_t n_coefficients, n_intercepts;
    tensor_id x;
    TRY(lower_need(l, 0, "X", &x));
    TRY(classic_rows(s, &x));
    const int64_t features = build_type(l->b, x)->shape.dims[1];
    TRY(lower_attr_floats(l, "coefficients", &coefficients, &n_coefficients));
    TRY(lower_attr_floats(l, "intercepts", &intercepts, &n_intercepts));
    count = count ? count : features && !n_intercepts ? n_coefficients / features : n_intercepts;
    if (features < 1 || count < 1 || count > INT32_MAX || (int64_t)n_coefficients != count * features)
        return lower_invalid(l, "coefficients", NULL, "%u coefficients for %lld scores of %lld features",
                             n_coefficients, (long long)count, (long long)features);
    if (n_intercepts && n_intercepts != count)
        return lower_invalid(l, "intercepts", NULL, "%u intercepts for %lld scores", n_intercepts, (long long)count);
    x = emit_cast(s, x, DT_FLOAT32);
    *out = emit_matmul(s, x, classic_floats(s, &SHAPE(count, features), coefficients), false, true);
    if (n_intercepts)
        *out = emit_binary(s, OP_ElementWiseAdd, *out, classic_floats(s, &SHAPE(count), intercepts));
    return s->status;
}

odlc_status lower_linear_regressor(struct lower *l)
{
    struct emit s = {.l = l};
    enum scores_as as;
    int64_t targets;
    tensor_id scores;
    TRY(lower_attr_int(l, "targets", 1, &targets));
    if (targets < 1)
        return lower_invalid(l, "targets", NULL, "%lld targets", (long long)targets);
    TRY(classic_post_transform(l, targets, &as));
    TRY(linear_scores(&s, targets, &scores));
    return emit_give(&s, 0, classic_transform(&s, scores, as));
}

/* One score s of two classes: the second where s > 0; scores [1 − s, s], or of LOGISTIC [σ(−s), σ(s)]. */
static odlc_status score_of_second(struct emit *s, tensor_id score, const struct labels *labels)
{
    struct lower *l = s->l;
    const int64_t rows = build_type(l->b, score)->shape.dims[0];
    const char *transform;
    TRY(lower_attr_string(l, "post_transform", "NONE", &transform));
    if (strcmp(transform, "LOGISTIC") != 0)
        return lower_unsupported(l, "post_transform", NULL,
                                 "runtimes do not agree on what a transform of one score per row is");
    tensor_id flat = emit_reshape(s, score, &SHAPE(rows));
    TRY(s->status);
    tensor_id second = emit_binary(s, OP_ElementWiseGreater, flat, emit_scalar(s, flat, 0));
    TRY(classic_give_label_if(s, labels, second));
    tensor_id both[2] = {emit_unary(s, OP_ElementWiseNeg, score), score};
    return emit_give(s, 1, emit_unary(s, OP_Sigmoid, emit_concat(s, both, 2, 1)));
}

odlc_status lower_linear_classifier(struct lower *l)
{
    struct emit s = {.l = l};
    struct labels labels;
    enum scores_as as;
    tensor_id scores;
    TRY(classic_labels(l, "classlabels_ints", &labels));
    TRY(linear_scores(&s, 0, &scores));
    const int64_t classes = build_type(l->b, scores)->shape.dims[1];
    if (classes == 1 && labels.count == 2)
        return score_of_second(&s, scores, &labels);
    if (classes < 2 || labels.count < classes)
        return lower_invalid(l, "classlabels_ints", NULL, "%u labels for %lld classes", labels.count,
                             (long long)classes);
    TRY(classic_post_transform(l, classes, &as));
    TRY(classic_give_label_of(&s, &labels, scores));
    return emit_give(&s, 1, classic_transform(&s, scores, as));
}

/* ---- SVMRegressor: Σ coefficient · kernel(x, support vector) + rho ---- */

enum kernel_kind { BY_PRODUCT, BY_POWER, BY_DISTANCE, BY_TANH };

struct machine {
    const float *coefficients, *vectors, *params, *rho;
    uint32_t n_coefficients, n_vectors, n_params, n_rho;
    int64_t supports; /* 0: a linear model */
    int64_t features;
    int kind;
};

static odlc_status read_machine(const struct lower *l, struct machine *m)
{
    static const struct choice kinds[] = {
        {"LINEAR", BY_PRODUCT}, {"POLY", BY_POWER}, {"RBF", BY_DISTANCE}, {"SIGMOID", BY_TANH}};
    TRY(lower_choose(l, "kernel_type", "LINEAR", kinds, COUNT_OF(kinds), &m->kind));
    TRY(lower_attr_int(l, "n_supports", 0, &m->supports));
    TRY(lower_attr_floats(l, "coefficients", &m->coefficients, &m->n_coefficients));
    TRY(lower_attr_floats(l, "support_vectors", &m->vectors, &m->n_vectors));
    TRY(lower_attr_floats(l, "kernel_params", &m->params, &m->n_params));
    TRY(lower_attr_floats(l, "rho", &m->rho, &m->n_rho));
    if (m->n_rho != 1)
        return lower_invalid(l, "rho", NULL, "rho is not one number");
    if (m->kind != BY_PRODUCT && m->n_params != 3)
        return lower_invalid(l, "kernel_params", NULL, "%u numbers instead of gamma, coef0 and degree", m->n_params);
    if (m->supports < 0 || m->supports > INT32_MAX)
        return lower_invalid(l, "n_supports", NULL, "%lld support vectors", (long long)m->supports);
    if (m->kind != BY_PRODUCT && m->supports == 0)
        return lower_invalid(l, "n_supports", NULL, "a kernel without support vectors");
    const int64_t terms = m->supports ? m->supports : m->features;
    if (m->features < 1 || m->n_coefficients != terms || m->n_vectors != m->supports * m->features)
        return lower_invalid(l, "coefficients", NULL,
                             "%u coefficients and %u numbers of support vectors for %lld vectors of %lld features",
                             m->n_coefficients, m->n_vectors, (long long)m->supports, (long long)m->features);
    return ODLC_OK;
}

/* e^(−gamma · |x − v|²) for each row x and each vector v. */
static tensor_id by_distance(struct emit *s, const struct machine *m, tensor_id x)
{
    const int64_t rows = build_type(s->l->b, x)->shape.dims[0], axis = 2;
    if (rows > LARGEST_KERNEL / m->features / m->supports)
        s->status = lower_unsupported(s->l, "n_supports", NULL,
                                      "%lld rows and %lld support vectors of %lld features: more than %d differences",
                                      (long long)rows, (long long)m->supports, (long long)m->features, LARGEST_KERNEL);
    x = emit_reshape(s, x, &SHAPE(rows, 1, m->features));
    x = emit_binary(s, OP_ElementWiseSubtract, x, classic_floats(s, &SHAPE(m->supports, m->features), m->vectors));
    x = emit_reduce(s, OP_ReduceSum, emit_binary(s, OP_ElementWiseMultiply, x, x), &axis, 1, false);
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    return emit_unary(s, OP_ElementWiseExp,
                      emit_binary(s, OP_ElementWiseMultiply, x, emit_scalar(s, x, -(double)m->params[0])));
}

/* The kernel of each row with each support vector: [rows, supports]. */
static tensor_id kernel_of(struct emit *s, const struct machine *m, tensor_id x)
{
    if (m->kind == BY_DISTANCE)
        return by_distance(s, m, x);
    x = emit_matmul(s, x, classic_floats(s, &SHAPE(m->supports, m->features), m->vectors), false, true);
    if (m->kind == BY_PRODUCT || s->status != ODLC_OK)
        return x;
    x = emit_binary(s, OP_ElementWiseMultiply, x, emit_scalar(s, x, (double)m->params[0]));
    if (s->status == ODLC_OK)
        x = emit_binary(s, OP_ElementWiseAdd, x, emit_scalar(s, x, (double)m->params[1]));
    if (m->kind == BY_TANH || s->status != ODLC_OK)
        return emit_unary(s, OP_Tanh, x);
    return emit_binary(s, OP_ElementWisePower, x, emit_scalar(s, x, (double)m->params[2]));
}

odlc_status lower_svm_regressor(struct lower *l)
{
    struct emit s = {.l = l};
    struct machine m;
    enum scores_as as;
    int64_t one_class;
    tensor_id x;
    TRY(lower_need(l, 0, "X", &x));
    TRY(classic_rows(&s, &x));
    m.features = build_type(l->b, x)->shape.dims[1];
    TRY(read_machine(l, &m));
    TRY(classic_post_transform(l, 1, &as));
    TRY(lower_attr_int(l, "one_class", 0, &one_class));
    x = emit_cast(&s, x, DT_FLOAT32);
    if (m.supports)
        x = kernel_of(&s, &m, x);
    tensor_id weights = classic_floats(&s, &SHAPE(1, (int64_t)m.n_coefficients), m.coefficients);
    x = emit_matmul(&s, x, weights, false, true);
    TRY(s.status);
    x = emit_binary(&s, OP_ElementWiseAdd, x, emit_scalar(&s, x, (double)m.rho[0]));
    TRY(s.status);
    if (!one_class)
        return emit_give(&s, 0, x);
    tensor_id above = emit_binary(&s, OP_ElementWiseGreater, x, emit_scalar(&s, x, 0));
    tensor_id signs[2] = {emit_scalar(&s, x, 1), emit_scalar(&s, x, -1)};
    return emit_give(&s, 0, emit_select(&s, above, signs[0], signs[1]));
}
