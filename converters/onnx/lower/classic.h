/* SPDX-License-Identifier: Apache-2.0 */
/* What the operators of classical machine learning (ai.onnx.ml) share. */
#ifndef CONVERTERS_ONNX_LOWER_CLASSIC_H
#define CONVERTERS_ONNX_LOWER_CLASSIC_H

#include "converters/lowering/emit.h"

/* A float32 constant; the values are copied. */
tensor_id classic_floats(struct emit *s, const struct shape *shape, const float *values);
/* [features] as [1, features]; [rows, features] as it is. ODLC_ERR_INVALID: another rank. */
odlc_status classic_rows(struct emit *s, tensor_id *x) MUST_USE;
/* The input X as such rows, in float32. */
odlc_status classic_features(struct emit *s, tensor_id *x, int64_t *features) MUST_USE;
/* ODLC_ERR_UNSUPPORTED for a number that the container's integers of 32 bits do not hold. */
odlc_status classic_check_int(const struct lower *l, const char *attribute, int64_t value) MUST_USE;
/* The numbers of an attribute, in the graph's arena. ODLC_ERR_UNSUPPORTED as above. */
odlc_status classic_numbers(const struct lower *l, const char *attribute, const struct view *view, const double **out,
                            uint32_t *count) MUST_USE;
/* Output i is text that depends on the model's inputs, which nothing in a container can hold. */
void classic_give_text(struct lower *l, uint32_t i);

/* ---- scores and labels ---- */

enum scores_as { SCORES_PLAIN, SCORES_SOFTMAX, SCORES_LOGISTIC, SCORES_SOFTMAX_ZERO };

/* The attribute post_transform, for `count` scores per row. ODLC_ERR_UNSUPPORTED: PROBIT, or a transform of one score.
 */
odlc_status classic_post_transform(const struct lower *l, int64_t count, enum scores_as *out) MUST_USE;
/* Scores [rows, classes] transformed. */
tensor_id classic_transform(struct emit *s, tensor_id scores, enum scores_as as);

/* The labels of a classifier: integers, or text. */
struct labels {
    const int64_t *ints; /* NULL: text */
    uint32_t count;
};
/* The attributes `ints` and classlabels_strings. */
odlc_status classic_labels(const struct lower *l, const char *ints, struct labels *out) MUST_USE;
/* Output 0: of each row of scores [rows, classes] the label of the highest score, the first of equals. */
odlc_status classic_give_label_of(struct emit *s, const struct labels *labels, tensor_id scores) MUST_USE;

/* ---- two classes with one score s per row, [rows, 1]: that of the second ---- */

/* The attribute post_transform: LOGISTIC, or with `takes_none` NONE, too. ODLC_ERR_UNSUPPORTED: another. */
odlc_status classic_one_score(const struct lower *l, bool takes_none, bool *logistic) MUST_USE;
/* Output 0: the second of two labels where the score is greater than `least`, else the first. */
odlc_status classic_give_label_above(struct emit *s, const struct labels *labels, tensor_id score,
                                     double least) MUST_USE;
/* Output 1: [σ(−s), σ(s)] where `logistic`; else [−s, s] of a margin, [1 − s, s] of a probability. */
odlc_status classic_give_both(struct emit *s, tensor_id score, bool logistic, bool margin) MUST_USE;

#endif
