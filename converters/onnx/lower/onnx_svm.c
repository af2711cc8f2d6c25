/* SPDX-License-Identifier: Apache-2.0 */
/* Support vector machines of ai.onnx.ml: SVMRegressor, SVMClassifier. */
#include "converters/lowering/emit.h"
#include "converters/lowering/shapes.h"
#include "converters/onnx/lower/classic.h"
#include "converters/onnx/lower/onnx_rows.h"

enum { LARGEST_KERNEL = 64 * 1024 * 1024 }; /* differences of rows and support vectors, one a feature */
enum { MOST_CLASSES = 1024 };               /* of a classifier, which has a score for each pair of them */

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
    TRY(lower_attr_floats(l, "coefficients", &m->coefficients, &m->n_coefficients));
    TRY(lower_attr_floats(l, "support_vectors", &m->vectors, &m->n_vectors));
    TRY(lower_attr_floats(l, "kernel_params", &m->params, &m->n_params));
    TRY(lower_attr_floats(l, "rho", &m->rho, &m->n_rho));
    if (m->kind != BY_PRODUCT && m->n_params != 3)
        return lower_invalid(l, "kernel_params", NULL, "%u numbers instead of gamma, coef0 and degree", m->n_params);
    return ODLC_OK;
}

/* Each support vector has a coefficient of each of `rows`; each score a rho. */
static odlc_status check_machine(const struct lower *l, const struct machine *m, int64_t rows, int64_t scores)
{
    if (m->n_rho != scores)
        return lower_invalid(l, "rho", NULL, "%u numbers rho for %lld scores", m->n_rho, (long long)scores);
    if (m->kind != BY_PRODUCT && m->supports == 0)
        return lower_invalid(l, "n_supports", NULL, "a kernel without support vectors");
    const int64_t terms = m->supports ? m->supports : m->features;
    if (m->features < 1 || m->n_coefficients != rows * terms || m->n_vectors != m->supports * m->features)
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

/* The attributes, and X as rows of float32. */
static odlc_status need_rows(struct emit *s, struct machine *m, tensor_id *x)
{
    TRY(read_machine(s->l, m));
    return classic_features(s, x, &m->features);
}

/* ---- SVMRegressor: Σ coefficient · kernel(x, support vector) + rho ---- */

odlc_status lower_svm_regressor(struct lower *l)
{
    struct emit s = {.l = l};
    struct machine m;
    enum scores_as as;
    int64_t one_class;
    tensor_id x;
    TRY(need_rows(&s, &m, &x));
    TRY(lower_attr_int(l, "n_supports", 0, &m.supports));
    if (m.supports < 0 || m.supports > INT32_MAX)
        return lower_invalid(l, "n_supports", NULL, "%lld support vectors", (long long)m.supports);
    TRY(check_machine(l, &m, 1, 1));
    TRY(classic_post_transform(l, 1, &as));
    TRY(lower_attr_int(l, "one_class", 0, &one_class));
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
    tensor_id one = emit_scalar(&s, x, 1);
    return emit_give(&s, 0, emit_select(&s, above, one, emit_scalar(&s, x, -1)));
}

/* ---- SVMClassifier: a score for each pair of classes, by which one of the two gets a vote ---- */

struct pairs {
    int64_t classes, count;
    double *weights; /* [supports, count]: a vector has its coefficient against the other class of each pair */
    double *votes;   /* [count, classes]: 1 for the first class, -1 for the second, of a score above 0 */
    double *before;  /* [classes]: the pairs that a class is the second of */
};

static void fill_pairs(const struct machine *m, const int64_t *sizes, const int64_t *starts, struct pairs *p)
{
    int64_t pair = 0;
    for (int64_t i = 0; i < p->classes; i++)
        for (int64_t j = i + 1; j < p->classes; j++, pair++) {
            for (int64_t k = starts[i]; k < starts[i] + sizes[i]; k++)
                p->weights[k * p->count + pair] = (double)m->coefficients[(j - 1) * m->supports + k];
            for (int64_t k = starts[j]; k < starts[j] + sizes[j]; k++)
                p->weights[k * p->count + pair] = (double)m->coefficients[i * m->supports + k];
            p->votes[pair * p->classes + i] = 1;
            p->votes[pair * p->classes + j] = -1;
            p->before[j]++;
        }
}

static odlc_status read_pairs(struct lower *l, struct machine *m, const struct labels *labels, struct pairs *p)
{
    const int64_t *sizes;
    uint32_t count;
    TRY(lower_attr_ints(l, "vectors_per_class", &sizes, &count));
    if (count < 2 || count > MOST_CLASSES || count != labels->count)
        return lower_unsupported(l, "vectors_per_class", NULL, "%u labels for support vectors of %u classes",
                                 labels->count, count);
    int64_t *starts = arena_array(l->scratch, int64_t, count);
    m->supports = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (sizes[i] < 0 || sizes[i] > INT32_MAX)
            return lower_invalid(l, "vectors_per_class", NULL, "%lld vectors of a class", (long long)sizes[i]);
        starts[i] = m->supports;
        m->supports += sizes[i];
    }
    if (m->supports < 1)
        return lower_invalid(l, "vectors_per_class", NULL, "there are no support vectors");
    p->classes = count;
    p->count = p->classes * (p->classes - 1) / 2;
    TRY(check_machine(l, m, p->classes - 1, p->count));
    TRY(lower_table(l, (uint64_t)m->supports * (uint64_t)p->count, sizeof *p->weights, &p->weights));
    TRY(lower_table(l, (uint64_t)p->classes * (uint64_t)p->count, sizeof *p->votes, &p->votes));
    TRY(lower_table(l, count, sizeof *p->before, &p->before));
    fill_pairs(m, sizes, starts, p);
    return ODLC_OK;
}

/* The votes of each row: [rows, classes]. */
static tensor_id count_votes(struct emit *s, const struct pairs *p, tensor_id scores)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    tensor_id first = emit_binary(s, OP_ElementWiseGreater, scores, emit_scalar(s, scores, 0));
    tensor_id table = emit_constant(s, DT_FLOAT32, &SHAPE(p->count, p->classes), p->votes);
    tensor_id votes = emit_matmul(s, emit_cast(s, first, DT_FLOAT32), table, false, false);
    return emit_binary(s, OP_ElementWiseAdd, votes, emit_constant(s, DT_FLOAT32, &SHAPE(p->classes), p->before));
}

/* Of two classes the one score s becomes [−s, s], or of LOGISTIC [σ(−s), σ(s)]. */
static odlc_status give_scores(struct emit *s, const struct machine *m, const struct pairs *p, tensor_id scores)
{
    enum scores_as as;
    bool negative = false, logistic;
    if (p->classes > 2) {
        TRY(classic_post_transform(s->l, p->count, &as));
        return emit_give(s, 1, classic_transform(s, scores, as));
    }
    for (uint32_t i = 0; i < m->n_coefficients; i++)
        negative |= m->coefficients[i] < 0;
    TRY(classic_one_score(s->l, negative, &logistic));
    return classic_give_both(s, scores, logistic, true);
}

odlc_status lower_svm_classifier(struct lower *l)
{
    struct emit s = {.l = l};
    struct machine m;
    struct labels labels;
    struct pairs p;
    tensor_id x;
    TRY(classic_labels(l, "classlabels_ints", &labels));
    TRY(need_rows(&s, &m, &x));
    if (lower_has_attr(l, "prob_a"))
        return lower_unsupported(l, "prob_a", NULL,
                                 "probabilities of classes are found in a loop until they change little");
    TRY(read_pairs(l, &m, &labels, &p));
    tensor_id scores = kernel_of(&s, &m, x);
    tensor_id weights = emit_constant(&s, DT_FLOAT32, &SHAPE(m.supports, p.count), p.weights);
    scores = emit_matmul(&s, scores, weights, false, false);
    scores = emit_binary(&s, OP_ElementWiseAdd, scores, classic_floats(&s, &SHAPE(p.count), m.rho));
    TRY(classic_give_label_of(&s, &labels, count_votes(&s, &p, scores)));
    return give_scores(&s, &m, &p, scores);
}
