/* SPDX-License-Identifier: Apache-2.0 */
/* Branches and loops. A container's graph runs straight through: branches are taken, loops are unrolled, and where a
 * branch depends on what is not known, all are computed and one is selected. */
#ifndef CONVERTERS_LOWERING_CONTROL_H
#define CONVERTERS_LOWERING_CONTROL_H

#include "converters/lowering/lower.h"

/* A result of a subgraph becomes output i: under the output's name where the subgraph made it. */
void control_give(struct lower *l, uint32_t i, const struct lower_value *value);

/* Lowers the branch that the attribute `name` holds; *results gets a value for each output of the branch.
 * ODLC_ERR_INVALID: the branch has fewer outputs than the node; else the statuses of lower_subgraph. */
odlc_status control_run(struct lower *l, const char *name, const char *prefix, const struct lower_value *values,
                        size_t count, struct lower_value **results) MUST_USE;

/* Whether a value of one element, which `what` names in the error, is not 0. ODLC_ERR_INVALID: the value has several
 * elements; ODLC_ERR_UNSUPPORTED: it is not known. */
odlc_status control_known(const struct lower *l, tensor_id id, const char *what, bool *out) MUST_USE;

/* The error for what would not matter if the condition were known: the hint says what to freeze. Gives
 * ODLC_ERR_UNSUPPORTED. */
odlc_status control_blame(const struct lower *l, tensor_id condition, const char *what) MUST_USE;

/* condition ? yes : no, for output i of the node; the condition has rank 0. ODLC_ERR_UNSUPPORTED unless both are
 * tensors of one type, or one value. */
odlc_status control_select(struct lower *l, tensor_id condition, uint32_t i, const struct lower_value *yes,
                           const struct lower_value *no, struct lower_value *out) MUST_USE;

/* A whole node with the attributes then_branch and else_branch, which take the values. The condition has one element of
 * type bool. */
odlc_status control_if(struct lower *l, tensor_id condition, const struct lower_value *values, size_t count) MUST_USE;

#endif
