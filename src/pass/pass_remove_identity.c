/* Drops nodes that give back what they take: a Cast to the same dtype, a Reshape to the same shape, a Transpose that
 * moves nothing, a Concat of one input. They come from models and from other passes (a Cast between int64 and int32
 * after narrow_types, a Reshape between rank 0 and one element of rank 1 after promote_scalars). */
#include "op/op.h"
#include "op/params.h"
#include "pass/alias.h"

pass_fn pass_remove_identity;

static bool gives_back_its_input(const struct graph *g, const struct node *n)
{
    const struct tensor *in = node_input(g, n, 0), *out = node_output(g, n, 0);
    if (!n->op || !n->op->may_copy || n->n_inputs != 1 || in->type->dtype != out->type->dtype ||
        !shape_equal(&in->type->shape, &out->type->shape))
        return false;
    if (!node_is(n, OP_Transpose))
        return true;
    struct perm perm = node_perm(n);
    return perm_is_identity(&perm);
}

odlc_status pass_remove_identity(struct pass_context *c, struct graph *g)
{
    struct aliases aliases = aliases_start(c->scratch, g);
    for (size_t i = 0; i < g->order.count; i++) {
        node_id id = g->order.data[i];
        const struct node *n = graph_node(g, id);
        aliases_apply(&aliases, id);
        if (gives_back_its_input(g, n) && aliases_replace(&aliases, n->outputs[0], n->inputs[0]))
            graph_remove_node(g, id);
    }
    aliases_finish(&aliases);
    return ODLC_OK;
}
