/* Branches and loops. A container's graph runs straight through: branches are taken, loops are unrolled, and where a
 * branch depends on what is not known, all are computed and one is selected. */
#ifndef CONVERTERS_LOWERING_CONTROL_H
#define CONVERTERS_LOWERING_CONTROL_H

#include "converters/lowering/lower.h"

/* A result of a subgraph becomes output i: under the output's name where the subgraph made it. */
void control_give(struct lower *l, uint32_t i, const struct lower_value *value);

/* Lowers the branch that the attribute `name` holds; *results gets a value for each of its outputs, of which there are
 * as many as the node has, or more. */
odlc_status control_run(struct lower *l, const char *name, const char *prefix, const struct lower_value *values,
                        size_t count, struct lower_value **results) MUST_USE;

/* A value that must be one known element; `what` names it in the error. *out says whether it is not 0. */
odlc_status control_known(const struct lower *l, tensor_id id, const char *what, bool *out) MUST_USE;

/* What is wrong would not matter if the condition were known: says what to freeze. */
odlc_status control_blame(const struct lower *l, tensor_id condition, const char *what) MUST_USE;

/* condition ? yes : no, for output i of the node; the condition has rank 0. Both must be tensors of one type, or one
 * value. */
odlc_status control_select(struct lower *l, tensor_id condition, uint32_t i, const struct lower_value *yes,
                           const struct lower_value *no, struct lower_value *out) MUST_USE;

/* A whole node with the attributes then_branch and else_branch, which take the values. The condition has one element of
 * type bool. */
odlc_status control_if(struct lower *l, tensor_id condition, const struct lower_value *values, size_t count) MUST_USE;

#endif
