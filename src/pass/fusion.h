/* SPDX-License-Identifier: Apache-2.0 */
/* Fusion: operators in the place of the nodes that spell them out. A pass that fuses is its formulas and a function
 * that makes the operator. */
#ifndef PASS_FUSION_H
#define PASS_FUSION_H

#include "pass/occurrence.h"
#include "pass/pass.h"

/* A graph at work, and what takes the place of an occurrence. */
struct fusing {
    struct graph *g;
    struct arena *scratch;
    VEC(node_id) made; /* in execution order; the last one gives the result */
    bool changed;      /* an occurrence was replaced */
};

struct fusion {
    const char *const *formulas; /* tried in this order */
    size_t n_formulas;
    /* Puts an operator in the place of the occurrence, by fusion_replace. False, with nothing changed: it is none. */
    bool (*make)(struct fusing *f, const struct occurrence *o);
};

/* All occurrences; results before what they are computed from. */
odlc_status fusion_run(struct pass_context *c, struct graph *g, const struct fusion *f);
/* Those of each, one after the other. */
odlc_status fusions_run(struct pass_context *c, struct graph *g, const struct fusion *fusions, size_t count);

/* The number of occurrences; nothing changes. */
odlc_status fusion_count(struct pass_context *c, const struct graph *g, const struct fusion *f, size_t *count);

/* Whether what the letter stands for is of the result's type and shape, so that no step extends it. */
bool fusion_keeps_type(const struct graph *g, const struct occurrence *o, char letter);

/* Takes the steps away, and adds the node that gives the result instead; its params are the caller's to set. The node
 * has the last step's name when all steps are one operator of the model, else one that is made of the operator's name
 * and the result's. */
struct node *fusion_replace(struct fusing *f, const struct occurrence *o, enum op_id op, const tensor_id *inputs,
                            uint32_t n_inputs);
/* The same for an operator that has channels last, of a first operand and a result that have them second: Transposes,
 * for layout alone, stand before and behind the node. */
struct node *fusion_replace_channels_last(struct fusing *f, const struct occurrence *o, enum op_id op,
                                          const tensor_id *inputs, uint32_t n_inputs);
/* An operator of one operand that gives a tensor of the same type: fusion_replace with x, where fusion_keeps_type. */
struct node *fusion_of_x(struct fusing *f, const struct occurrence *o, enum op_id op);

#endif
