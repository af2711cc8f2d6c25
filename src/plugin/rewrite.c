/* SPDX-License-Identifier: Apache-2.0 */
/* early_rewrite and late_rewrite, until nothing changes. */
#include <string.h>

#include "plugin/callback.h"
#include "plugin/plugin_prepare.h"
#include "plugin/purity.h"

/* Rewrites of an op, one after the other: more of them are taken for endless. */
enum { MOST_GENERATIONS = 64 };

struct rewriter {
    struct preparation *p;
    const char *callback;
    bool late, changed;
};

/* The op is one that it was rewritten from. */
static odlc_status check_circle(const struct rewriter *r, const QHPI_Op *op, const QHPI_Op *with)
{
    text chain = {0};
    text_add(r->p->arena, &chain, "%s", with->name);
    for (const QHPI_Op *a = op; a; a = a->ancestor) {
        text_add(r->p->arena, &chain, " <- %s", a->name);
        if (graph_alike(a, with))
            return callback_error(op, r->callback, "plugin-rewrite-circle", "return the op itself in the end",
                                  "goes in circles: %s", chain.data);
    }
    if (with->generation > MOST_GENERATIONS)
        return callback_error(op, r->callback, "plugin-rewrite-endless", "return the op itself in the end",
                              "does not come to an end: it rewrote what it made %d times", MOST_GENERATIONS);
    return ODLC_OK;
}

static odlc_status check_outputs(const struct rewriter *r, const QHPI_Op *op, const QHPI_Op *with)
{
    struct arena *arena = r->p->arena;
    if (with->n_outputs < op->n_outputs)
        return callback_error(op, r->callback, "plugin-rewrite-output", NULL,
                              "returns op %s of %u outputs in the place of %u", with->name, with->n_outputs,
                              op->n_outputs);
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const QHPI_OutputDef *old = &op->outputs[i], *new = &with->outputs[i];
        if (!def_equal(old, new))
            return callback_error(op, r->callback, "plugin-rewrite-output",
                                  "type, shape and quantisation must be those of the op that is replaced",
                                  "returns op %s, whose output %u is %s %s (zero_offset %d, stepsize %g), and it was "
                                  "%s %s (zero_offset %d, stepsize %g)",
                                  with->name, i, element_type_name(new->type), qhpi_shape_text(arena, &new->shape),
                                  new->quant_parameters.zero_offset, (double)new->quant_parameters.stepsize,
                                  element_type_name(old->type), qhpi_shape_text(arena, &old->shape),
                                  old->quant_parameters.zero_offset, (double)old->quant_parameters.stepsize);
    }
    return ODLC_OK;
}

/* Behind tiling there are few operators left. */
static odlc_status check_late(const struct rewriter *r, const QHPI_Op *op, size_t first_new)
{
    const struct plugin_graph *g = r->p->graph;
    for (size_t i = first_new; r->late && i < g->ops.count; i++) {
        const QHPI_Op *made = g->ops.data[i];
        if (made->kind == KIND_NATIVE && strcmp(made->name, NAME_CONCAT) != 0 && strcmp(made->name, NAME_RESHAPE) != 0)
            return callback_error(op, r->callback, "plugin-late-op", "make it in early_rewrite",
                                  "makes op %s: behind tiling there are plugin ops, " NAME_SLICE ", " NAME_CONCAT
                                  " and " NAME_RESHAPE " alone",
                                  made->name);
    }
    return ODLC_OK;
}

static odlc_status replace(struct rewriter *r, const QHPI_Op *op, const QHPI_Op *with, size_t first_new)
{
    struct preparation *p = r->p;
    if (!graph_has(p->graph, with))
        return callback_error(op, r->callback, "plugin-rewrite-op",
                              "return the op itself, or what qhpi_op_create gave, whose root is that op",
                              with ? "returns no op of this graph" : "returns NULL");
    TRY(check_outputs(r, op, with));
    if (graph_depends(p->graph, with, op))
        return callback_error(op, r->callback, "plugin-rewrite-circle", "read the op's inputs: qhpi_op_input",
                              "returns op %s, which depends on the op that it is to replace", with->name);
    TRY(check_circle(r, op, with));
    TRY(check_late(r, op, first_new));
    const struct rewriting done = {r->callback, op->name, op->label, op_text(p->arena, op),
                                   subgraph_text(p->arena, with, op)};
    vec_push(p->arena, &p->rewritings, done);
    graph_replace(p->graph, op, with);
    r->changed = true;
    return ODLC_OK;
}

static odlc_status rewrite_op(struct rewriter *r, QHPI_Op *op)
{
    const QHPI_RewriteOpFunc function = r->late ? op->plugin->info.late_rewrite : op->plugin->info.early_rewrite;
    const size_t first_new = r->p->graph->ops.count;
    op->is_settled = true;
    if (!function)
        return ODLC_OK;
    callback_begin(op, r->callback);
    const QHPI_Op *with = function(op);
    TRY(callback_end(op));
    return with == op ? ODLC_OK : replace(r, op, with, first_new);
}

odlc_status prepare_rewrite(struct preparation *p, bool late)
{
    struct rewriter r = {.p = p, .late = late, .callback = late ? "late_rewrite" : "early_rewrite"};
    struct plugin_graph *g = p->graph;
    for (size_t i = 0; i < g->ops.count; i++) {
        g->ops.data[i]->is_settled = false;
        g->ops.data[i]->generation = 0;
    }
    do {
        r.changed = false;
        graph_settle(g);
        TRY(purity_rewrites(p, late));
        for (size_t i = 0; i < g->order.count; i++) {
            QHPI_Op *op = g->ops.data[g->order.data[i]->id];
            if (op->kind == KIND_PLUGIN && !op->is_settled && !op->replaced)
                TRY(rewrite_op(&r, op));
        }
    } while (r.changed);
    return ODLC_OK;
}
