/* SPDX-License-Identifier: Apache-2.0 */
/* The equation of an Einsum, read for the operands at hand. */
#ifndef CONVERTERS_LOWERING_EQUATION_H
#define CONVERTERS_LOWERING_EQUATION_H

#include "converters/lowering/lower.h"

/* Labels are numbers: A … Z, a … z, then the axes that an ellipsis stands for, the last of which is the same in all
 * operands. So their order is the one in which an equation without a right-hand side lists its result. */
enum { EINSUM_LETTERS = 52, EINSUM_LABELS = EINSUM_LETTERS + MAX_RANK };

/* The labels of a tensor's axes. */
struct labels {
    uint32_t count;
    uint8_t at[MAX_RANK];
};

struct equation {
    struct labels *terms; /* one per input of the node */
    struct labels result; /* none twice, all found in the terms */
};

/* Reads the attribute `equation` for the node's inputs. ODLC_ERR_INVALID: the equation is none, or does not fit the
 * inputs; ODLC_ERR_UNSUPPORTED: a term or the result has more axes than a tensor may have. */
odlc_status einsum_parse(struct lower *l, struct equation *out) MUST_USE;

/* The set of the labels: bit i for label i. */
uint64_t labels_set(const struct labels *labels);
/* The labels that are in the set, in their order. */
struct labels labels_of(const struct labels *labels, uint64_t set);
/* Puts `more` behind `labels`. False, and nothing done: together they are more than MAX_RANK. */
bool labels_append(struct labels *labels, const struct labels *more) MUST_USE;
bool labels_equal(const struct labels *x, const struct labels *y);

#endif
