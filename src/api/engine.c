/* SPDX-License-Identifier: Apache-2.0 */
#include "api/engine.h"

#include "op/op.h"

/* A step goes by the last node of its group, which gives the result; its op says them all. */
static struct odlc_step describe_step(const struct executor *e, const struct plan_step *step)
{
    const struct graph *g = e->scope.graph;
    struct odlc_step out = {.backend = e->claims.backends[step->backend].backend->name};
    if (step->kind != STEP_GROUP) {
        out.node = graph_tensor(g, step->tensor)->name;
        out.op = "Copy";
        return out;
    }
    const struct group *group = step->group;
    out.n_nodes = group->nodes.count;
    out.node = graph_node(g, group->nodes.data[out.n_nodes - 1])->name;
    out.op = graph_node(g, group->nodes.data[0])->op->name;
    for (size_t i = 1; i < out.n_nodes; i++)
        out.op = arena_printf(e->scope.arena, "%s+%s", out.op, graph_node(g, group->nodes.data[i])->op->name);
    return out;
}

static struct odlc_refusal describe_refusal(const struct executor *e, const struct refusal *r)
{
    const struct node *n = graph_node(e->scope.graph, r->node);
    return (struct odlc_refusal){n->name, n->op->name, e->claims.backends[r->backend].backend->name, r->reason};
}

static odlc_status run_here(struct engine *engine)
{
    struct executor *e = engine->state;
    TRY(executor_run(e));
    for (size_t s = 0; s < engine->n_steps; s++) {
        engine->steps[s].begin = e->begins[s];
        engine->steps[s].nanoseconds = e->nanoseconds[s];
    }
    return ODLC_OK;
}

odlc_status engine_here(const struct engine_request *request, struct engine *out)
{
    struct executor *e;
    TRY(executor_create(request->arena, request->scratch, request->diags, request->graph, request->wanted,
                        request->n_wanted, &request->options, &e));
    *out = (struct engine){.buffers = e->buffers,
                           .needed = e->needed.used,
                           .steps = arena_array(request->arena, struct odlc_step, e->plan.steps.count),
                           .refusals = arena_array(request->arena, struct odlc_refusal, e->claims.refusals.count),
                           .explanations = e->explanations,
                           .n_steps = e->plan.steps.count,
                           .n_refusals = e->claims.refusals.count,
                           .state = e,
                           .run = run_here};
    for (size_t s = 0; s < out->n_steps; s++)
        out->steps[s] = describe_step(e, &e->plan.steps.data[s]);
    for (size_t i = 0; i < out->n_refusals; i++)
        out->refusals[i] = describe_refusal(e, &e->claims.refusals.data[i]);
    return ODLC_OK;
}
