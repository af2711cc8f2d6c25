/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that find something: boxes that stay, elements that are not zero. How much is found depends on the values.
 * Where these are known, so is the result; else the result has a row for the most that there can be (op/op_find.c), and
 * a note says so. */
#ifndef CONVERTERS_LOWERING_FIND_H
#define CONVERTERS_LOWERING_FIND_H

#include "converters/lowering/lower.h"

/* Rows that are found, each a position: int32 [rows, columns]. */
struct found {
    tensor_id rows;
    tensor_id count; /* uint32 [1]: how many of the rows were found; NO_TENSOR: all, or nobody knows */
    bool exact;      /* all of them were */
};

/* Notes that the result has rows for the most that there can be, and what says how many are valid. */
void lower_note_room(const struct lower *l, const struct found *found);

struct suppression {
    tensor_id boxes, scores;               /* [batches, boxes, 4] by two corners; [batches, classes, boxes] */
    int64_t most;                          /* that each class of a batch element keeps */
    double iou_threshold, score_threshold; /* -INFINITY: no score is too low */
    bool is_padded;                        /* what is not found becomes something known: no note */
};

/* [batch, class, box] of the boxes that stay, class by class, best first. ODLC_ERR_INVALID: iou_threshold is not in
 * [0, 1]. */
odlc_status lower_suppressed(struct lower *l, const struct suppression *s, struct found *out) MUST_USE;
/* The axes' positions of the elements of input i that are not zero, in the order of the elements; a scalar counts as a
 * vector of one. ODLC_ERR_UNSUPPORTED: the input holds strings. */
odlc_status lower_nonzero(struct lower *l, uint32_t i, const char *what, struct found *out) MUST_USE;

#endif
