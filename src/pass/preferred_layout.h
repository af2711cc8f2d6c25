/* The orders that tensors should best be stored in, found before axes are tracked. */
#ifndef PASS_PREFERRED_LAYOUT_H
#define PASS_PREFERRED_LAYOUT_H

#include "ir/graph.h"

struct preferred_layout {
    struct perm order; /* rank 0: no matter which */
    bool spatial;      /* it is channels-last, and the axes have kept their meaning up to the op that wants it */
};

/* Per tensor: the order that the channels-last op wants which the tensor flows into; or, where an op that keeps the
 * order of axes joins it with a channels-last tensor, that order. */
const struct preferred_layout *find_preferred_layouts(struct arena *scratch, const struct graph *g);

/* Whether input i of such a node has the axes that the op's axis rule permutes. */
bool carries_axes(const struct op *op, uint32_t input);

static inline bool takes_as_stored(const struct node *n, uint32_t input)
{
    return n->forms && n->forms->in[input].as_stored;
}

static inline bool gives_as_stored(const struct node *n, uint32_t output)
{
    return n->forms && n->forms->out[output].as_stored;
}

static inline bool is_channels_last(const struct perm *perm)
{
    struct perm last = perm_channels_last(perm->rank);
    return perm->rank >= 3 && perm_equal(perm, &last);
}

#endif
