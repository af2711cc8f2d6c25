/* SPDX-License-Identifier: Apache-2.0 */
/* What a library tells of a node's outputs where neither the definition nor the model does: how udo_build asks. Who
 * calls libraries (package/inference.h) stands in udo_set.told_by. */
#ifndef UDO_TOLD_H
#define UDO_TOLD_H

#include "udo/udo.h"

#define UDO_TYPE_UNTOLD 0x7FFFFFFFu /* a data_type that was not told */

struct udo_question {
    struct arena *scratch;
    const struct udo_def *def;
    struct graph *graph;
    const struct node *node;      /* with its inputs and params, not yet in the graph; its outputs are NO_TENSOR */
    const char *const *out_names; /* per output; "" for one without a name in the model */
    const bool *absent;           /* per output */
    bool shapes, types;           /* what is asked; one of them is */
};

/* An output as a library left it, in the definition's own layout. Nothing is checked. */
struct udo_told {
    uint32_t rank, dims[MAX_RANK]; /* of more than MAX_RANK the first ones */
    uint32_t data_type;            /* the container's code */
};

struct udo_answer {
    const char *shapes_by, *types_by; /* path of the library that answered; NULL: none, or it was not asked */
    const struct udo_told *outputs;   /* one per output; the library's rank and dims, and its data_type */
};

struct udo_oracle {
    void *user;
    /* Any other status than ODLC_OK has been said, at the library. */
    odlc_status (*ask)(void *user, const struct udo_question *question, struct udo_answer *answer);
    const char *libraries; /* "a.so, b.so" */
};

#endif
