/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/reference/reference.h"

#include "ir/quant.h"
#include "kernel/eval.h"
#include "kernel/kernel.h"
#include "op/op.h"

struct step {
    const struct node *node;
    struct step_io io;
};

/* Whether the result is the input's elements as they are. */
static bool gives_input(const struct graph *g, const struct node *n)
{
    const struct tensor *x = node_input(g, n, 0), *y = node_output(g, n, 0);
    return n->op->id == OP_Reshape && x->type->dtype == y->type->dtype && quant_equal(x->quant, y->quant);
}

/* Packages may have a kernel: their own backends know. */
static const char *why_not(const struct backend_scope *scope, const struct op *op)
{
    const bool leaves_out = op->package && scope->packages;
    return arena_printf(scope->arena, "there is no implementation of op %s (package %s)%s", op->name,
                        op->package ? op->package : "qti.aisw",
                        leaves_out ? " here: backend reference leaves out kernels of packages" : "");
}

static bool claim(void *state, const struct claiming *c, node_id node, struct group *group)
{
    const struct op *op = graph_node(c->scope->graph, node)->op;
    (void)state;
    if (!kernel_of(op)) {
        group->reason = why_not(c->scope, op);
        return false;
    }
    vec_push(c->scope->arena, &group->nodes, node);
    group->sharing = gives_input(c->scope->graph, graph_node(c->scope->graph, node)) ? SHARING_ELEMENTS : SHARING_NONE;
    return true;
}

static odlc_status prepare(void *state, const struct backend_scope *scope, const struct group *group,
                           const struct step_io *io, void **out)
{
    struct step *step = arena_new(scope->arena, struct step);
    (void)state;
    *step = (struct step){graph_node(scope->graph, group->nodes.data[0]), *io};
    *out = step;
    return ODLC_OK;
}

static odlc_status run(void *prepared, const struct backend_scope *scope, const struct buffer *in, struct buffer *out)
{
    const struct step *step = prepared;
    const struct node *n = step->node;
    struct buffer *inputs = arena_array(scope->scratch, struct buffer, n->n_inputs);
    struct buffer *outputs = arena_array(scope->scratch, struct buffer, n->n_outputs);
    const uint32_t *place = step->io.places;
    for (uint32_t i = 0; i < n->n_inputs; i++, place++)
        if (*place == PLACE_CONSTANT)
            inputs[i] = scope->constants[n->inputs[i]];
        else if (*place != PLACE_ABSENT)
            inputs[i] = in[*place];
    for (uint32_t i = 0; i < n->n_outputs; i++, place++)
        if (*place != PLACE_ABSENT)
            outputs[i] = out[*place - step->io.n_inputs];
    return eval_node(n, inputs, outputs, scope->scratch, scope->diags);
}

const struct backend reference_backend = {
    .name = "reference", .width = WIDTH_ANY, .claim = claim, .prepare = prepare, .run = run};
