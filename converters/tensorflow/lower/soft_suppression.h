/* SPDX-License-Identifier: Apache-2.0 */
/* Soft suppression of boxes: those that overlap a box that was picked are not dropped, but their scores fall. */
#ifndef CONVERTERS_TENSORFLOW_LOWER_SOFT_SUPPRESSION_H
#define CONVERTERS_TENSORFLOW_LOWER_SOFT_SUPPRESSION_H

#include "converters/lowering/emit.h"

struct soft_suppression {
    tensor_id boxes, scores; /* [boxes, 4] by two corners; [boxes] */
    int64_t most;            /* that are picked */
    double score_threshold;  /* a box is picked whose score is above */
    double sigma;            /* above 0 */
};

struct soft_found {
    tensor_id boxes, scores, is_valid; /* of each pick, best first: [picks]; the ones that are valid come first */
    tensor_id count;                   /* uint32 [1]: of the valid ones */
};

/* The pick of each step is the box with the highest score, of which the first. Behind the valid picks the last one of
 * them is repeated, or box 0 with the score 0. ODLC_ERR_UNSUPPORTED: there would be too many picks, or boxes
 * may be picked whose scores are below 0. */
odlc_status emit_soft_suppression(struct emit *s, const struct soft_suppression *n, struct soft_found *out) MUST_USE;

#endif
