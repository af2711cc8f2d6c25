/* SPDX-License-Identifier: Apache-2.0 */
/* Linear models of ai.onnx.ml, LinearRegressor and LinearClassifier: scores of rows of features. */
#include "converters/lowering/emit.h"
#include "converters/lowering/shapes.h"
#include "converters/onnx/lower/classic.h"
#include "converters/onnx/lower/onnx_rows.h"

/* ---- LinearRegressor, LinearClassifier ---- */

/* X · coefficientsᵀ + intercepts: [rows, count] in float32; count 0: as many as there are intercepts. */
static odlc_status linear_scores(struct emit *s, int64_t count, tensor_id *out)
{
    struct lower *l = s->l;
    const float *coefficients, *intercepts;
    uint32_t n_coefficients, n_intercepts;
    int64_t features;
    tensor_id x;
    TRY(classic_features(s, &x, &features));
    TRY(lower_attr_floats(l, "coefficients", &coefficients, &n_coefficients));
    TRY(lower_attr_floats(l, "intercepts", &intercepts, &n_intercepts));
    count = count ? count : features && !n_intercepts ? n_coefficients / features : n_intercepts;
    if (features < 1 || count < 1 || count > INT32_MAX || (int64_t)n_coefficients != count * features)
        return lower_invalid(l, "coefficients", NULL, "%u coefficients for %lld scores of %lld features",
                             n_coefficients, (long long)count, (long long)features);
    if (n_intercepts && n_intercepts != count)
        return lower_invalid(l, "intercepts", NULL, "%u intercepts for %lld scores", n_intercepts, (long long)count);
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

/* One score of two classes: the second where that is above 0. */
static odlc_status score_of_second(struct emit *s, tensor_id score, const struct labels *labels)
{
    bool logistic;
    TRY(classic_one_score(s->l, false, &logistic));
    TRY(classic_give_label_above(s, labels, score, 0));
    return classic_give_both(s, score, logistic, true);
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
