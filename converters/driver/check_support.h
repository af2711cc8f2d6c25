/* SPDX-License-Identifier: Apache-2.0 */
/* The survey of a model: every node against what can be converted, before anything is, so that one run names all that
 * is missing. */
#ifndef CONVERTERS_DRIVER_CHECK_SUPPORT_H
#define CONVERTERS_DRIVER_CHECK_SUPPORT_H

#include "converters/driver/input.h"
#include "udo/udo.h"

/* A node for the reports. */
struct op_note {
    const char *node; /* its name */
    uint32_t op;      /* the index of its operator in the model's list */
    bool refused;     /* the operator is known, but this node cannot be converted */
};

/* What the survey finds. */
struct support {
    struct odlc_op_report *ops;          /* per operator of the model, without a node */
    VEC(struct op_note) notes;           /* of all nodes that were looked at, those in subgraphs included */
    VEC(const struct fw_node *) missing; /* the nodes that nothing can convert */
};

/* Decides what converts each operator (claimed_by and row of struct fw_op) and fills `out`. ODLC_ERR_UNSUPPORTED, with
 * an error for each operator that is neither native nor claimed; those of branches, which may not be taken, are none.
 * ODLC_ERR_INVALID: a node is not as the definition of its operator says (check_signature.h). */
odlc_status check_support(const struct context *c, struct input *in, const struct udo_set *udos,
                          struct support *out) MUST_USE;

/* Notes which nodes their lowering refused. */
void note_refusals(const struct input *in, struct support *support);

/* ODLC_ERR_UNSUPPORTED, with the error for one node that nothing converts. */
odlc_status report_missing_op(const struct context *c, const struct input *in, const struct fw_node *n) MUST_USE;

#endif
