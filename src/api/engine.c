/* SPDX-License-Identifier: Apache-2.0 */
#include "api/engine.h"

#include "backend/gpu/gpu_profile.h"
#include "op/op.h"
#include "runtime/lend.h"

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

#ifdef ODLC_BACKEND_GPU
/* Kernels stand in the order of their steps. */
static void take_kernels(struct engine *engine, const struct executor *e)
{
    size_t count, step = 0;
    const struct gpu_span *spans = gpu_recorder_take(engine->recorder, &count);
    for (size_t i = 0; i < count; i++) {
        while (e->steps[step] != spans[i].step)
            step++;
        const struct odlc_kernel kernel = {step, spans[i].kernel, spans[i].begin, spans[i].nanoseconds};
        vec_push(e->scope.arena, &engine->kernels, kernel);
    }
}

/* Those of an execution that failed, too. */
static void forget_kernels(struct engine *engine)
{
    size_t count;
    (void)gpu_recorder_take(engine->recorder, &count);
    engine->kernels.count = 0;
}
#else
static void take_kernels(struct engine *engine, const struct executor *e)
{
    (void)engine, (void)e;
}

static void forget_kernels(struct engine *engine)
{
    (void)engine;
}
#endif

static odlc_status run_here(struct engine *engine)
{
    struct executor *e = engine->state;
    if (engine->recorder)
        forget_kernels(engine);
    TRY(executor_run(e));
    for (size_t s = 0; s < engine->n_steps; s++) {
        engine->steps[s].begin = e->begins[s];
        engine->steps[s].nanoseconds = e->nanoseconds[s];
    }
    if (engine->recorder)
        take_kernels(engine, e);
    return ODLC_OK;
}

static bool lend_here(struct engine *engine, const struct memory *memory, tensor_id id, void *handle)
{
    return executor_lend(engine->state, memory, id, handle);
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
                           .recorder = request->recorder,
                           .run = run_here,
                           .lend = lend_here};
    for (size_t s = 0; s < out->n_steps; s++)
        out->steps[s] = describe_step(e, &e->plan.steps.data[s]);
    for (size_t i = 0; i < out->n_refusals; i++)
        out->refusals[i] = describe_refusal(e, &e->claims.refusals.data[i]);
    return ODLC_OK;
}
