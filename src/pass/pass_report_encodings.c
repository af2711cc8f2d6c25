/* SPDX-License-Identifier: Apache-2.0 */
/* One note for each encoding that the model gives (--qdq encodings) to a value that the container does not have: a
 * layer took in what was done to its result, for example. */
#include <stdlib.h>

#include "pass/pass.h"

pass_fn pass_report_encodings;

typedef VEC(const struct quant *) quants;

static int by_address(const void *a, const void *b)
{
    const struct quant *x = *(const struct quant *const *)a, *y = *(const struct quant *const *)b;
    return (x > y) - (x < y);
}

static void add(struct pass_context *c, quants *to, const struct tensor *t)
{
    if (t && t->quant && t->quant->overridden)
        vec_push(c->scratch, to, t->quant);
}

/* Those of all tensors that the container will have, sorted. */
static quants find_kept(struct pass_context *c, const struct graph *g)
{
    quants kept = {0};
    for (size_t i = 0; i < g->inputs.count; i++)
        add(c, &kept, graph_tensor(g, g->inputs.data[i]));
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        for (uint32_t k = 0; k < n->n_inputs; k++)
            add(c, &kept, node_input(g, n, k));
        for (uint32_t k = 0; k < n->n_outputs; k++)
            add(c, &kept, node_output(g, n, k));
    }
    if (kept.count)
        qsort(kept.data, kept.count, sizeof *kept.data, by_address);
    return kept;
}

odlc_status pass_report_encodings(struct pass_context *c, struct graph *g)
{
    if (!c->options->keep_encodings)
        return ODLC_OK;
    const quants kept = find_kept(c, g);
    for (tensor_id id = 0; id < g->tensors.count; id++) {
        const struct tensor *t = graph_tensor(g, id);
        if (t->kind == TENSOR_STATIC || !t->quant || !t->quant->overridden)
            continue;
        if (!kept.count || !bsearch(&t->quant, kept.data, kept.count, sizeof *kept.data, by_address))
            diag_note(c->diags, AT(.node = t->name), "lost-encoding",
                      "tensor %s is not in the container: the encoding that the model gives it is not kept", t->name);
    }
    return ODLC_OK;
}
