/* SPDX-License-Identifier: Apache-2.0 */
/* The order of execution: depth first, so that a tile goes through all ops before the next one comes, and what is made
 * of tiles gets each as soon as it is computed. */
#include <string.h>

#include "plugin/blocked_layout.h"
#include "plugin/plugin_prepare.h"

/* A tile that goes to a part of a tensor. */
struct store {
    const QHPI_Op *whole;
    uint32_t part, next; /* next: of the same op, index into stores; NO_VALUE at the end */
};

struct visit {
    const QHPI_Op *op;
    uint32_t next; /* operand */
};

struct scheduler {
    struct preparation *p;
    uint32_t *base;   /* per op: its first value, or NO_VALUE */
    uint32_t *stores; /* per op: the first of its stores, or NO_VALUE */
    bool *is_stored;  /* per store */
    bool *is_open;    /* per op: visited */
    VEC(struct store) all;
    VEC(struct visit) open;
};

/* ---- values ---- */

static uint32_t add_value(struct preparation *p, const QHPI_Op *op, uint32_t output)
{
    const struct value v = {.op = op,
                            .output = output,
                            .layout = prepared_layout(p, (QHPI_OpRef){op, output}),
                            .bytes = layout_bytes(&op->outputs[output], prepared_layout(p, (QHPI_OpRef){op, output})),
                            .first = UINT32_MAX,
                            .is_outer = op->kind == KIND_INPUT || op->kind == KIND_CONSTANT || op_is_static(op),
                            .result = NO_VALUE,
                            .shares = NO_VALUE};
    vec_push(p->arena, &p->values, v);
    return (uint32_t)p->values.count - 1;
}

static uint32_t value_of(struct scheduler *s, QHPI_OpRef ref)
{
    const QHPI_Op *op = ref.op;
    if (op->kind == KIND_ABSENT || op->kind == KIND_SHAPE)
        return NO_VALUE;
    if (s->base[op->id] == NO_VALUE) {
        s->base[op->id] = (uint32_t)s->p->values.count;
        for (uint32_t i = 0; i < op->n_outputs; i++)
            add_value(s->p, op, i);
    }
    return s->base[op->id] + ref.output_number;
}

/* ---- steps ---- */

static struct plugin_step *add_step(struct scheduler *s, enum plugin_step_kind kind, const QHPI_Op *op,
                                    uint32_t n_inputs, uint32_t n_outputs)
{
    struct arena *arena = s->p->arena;
    const struct plugin_step step = {.kind = kind,
                                     .op = op,
                                     .n_inputs = n_inputs,
                                     .n_outputs = n_outputs,
                                     .slices = 1,
                                     .inputs = arena_array(arena, uint32_t, n_inputs + n_outputs)};
    vec_push(arena, &s->p->steps, step);
    struct plugin_step *added = &s->p->steps.data[s->p->steps.count - 1];
    added->outputs = added->inputs + n_inputs;
    return added;
}

static QHPI_Shape zeros(uint32_t rank)
{
    return (QHPI_Shape){.rank = rank};
}

/* A slice that nobody else reads is no tensor of its own where it becomes part of one. */
static bool is_folded(const QHPI_Op *whole, QHPI_OpRef part)
{
    return whole->is_part && part.op->kind == KIND_SLICE && part.op->uses == 1;
}

static void emit_part(struct scheduler *s, const QHPI_Op *whole, uint32_t i)
{
    QHPI_OpRef part = op_operand(whole, i);
    const QHPI_Shape extent = ref_def(part)->shape;
    QHPI_Shape from = zeros(extent.rank);
    if (is_folded(whole, part)) {
        from = part.op->starts[0];
        part = op_operand(part.op, 0);
    }
    const uint32_t in = value_of(s, part), out = value_of(s, (QHPI_OpRef){whole, 0});
    struct plugin_step *step = add_step(s, PLUGIN_PART, whole, 1, 1);
    step->inputs[0] = in;
    step->outputs[0] = out;
    step->from = from;
    step->to = whole->starts[i];
    step->extent = extent;
}

static void emit_operands(struct scheduler *s, struct plugin_step *step, const QHPI_Op *op)
{
    for (uint32_t i = 0; i < op->n_inputs; i++)
        step->inputs[i] = value_of(s, op_operand(op, i));
    for (uint32_t i = 0; i < op->n_outputs; i++)
        step->outputs[i] = value_of(s, (QHPI_OpRef){op, i});
}

static void emit_computation(struct scheduler *s, const QHPI_Op *op)
{
    static const enum plugin_step_kind kinds[] = {[KIND_SLICE] = PLUGIN_SLICE,
                                                  [KIND_CONVERT] = PLUGIN_CONVERT,
                                                  [KIND_NATIVE] = PLUGIN_NATIVE,
                                                  [KIND_PLUGIN] = PLUGIN_KERNEL};
    struct plugin_step *step = add_step(s, kinds[op->kind], op, op->n_inputs, op->n_outputs);
    emit_operands(s, step, op);
    step->extent = op->outputs[0].shape;
    step->from = op->kind == KIND_SLICE ? op->starts[0] : zeros(step->extent.rank);
    step->to = zeros(step->extent.rank);
    step->choice = choice_of(s->p, op);
    if (step->choice && step->choice->kernel->multithreaded)
        step->slices = s->p->options.slices;
}

static void emit(struct scheduler *s, const QHPI_Op *op)
{
    const bool is_step =
        op->kind == KIND_SLICE || op->kind == KIND_CONVERT || op->kind == KIND_NATIVE || op->kind == KIND_PLUGIN;
    if (is_step && !op_is_static(op))
        emit_computation(s, op);
    for (uint32_t k = s->stores[op->id]; k != NO_VALUE; k = s->all.data[k].next) {
        s->is_stored[k] = true;
        emit_part(s, s->all.data[k].whole, s->all.data[k].part);
    }
}

/* ---- the walk ---- */

/* The op that must be computed before operand `i` is there. */
static const QHPI_Op *needed_for(const QHPI_Op *op, uint32_t i)
{
    const QHPI_OpRef ref = op_operand(op, i);
    return op->kind == KIND_CONCAT && is_folded(op, ref) ? op_operand(ref.op, 0).op : ref.op;
}

static void walk(struct scheduler *s, const QHPI_Op *root)
{
    if (s->is_open[root->id])
        return;
    s->is_open[root->id] = true;
    vec_push(s->p->arena, &s->open, (struct visit){root, 0});
    while (s->open.count) {
        struct visit *v = &s->open.data[s->open.count - 1];
        const QHPI_Op *op = v->op;
        if (v->next > 0 && op->kind == KIND_CONCAT && op->is_part)
            emit_part(s, op, v->next - 1);
        if (v->next == op->n_inputs) {
            s->open.count--;
            emit(s, op);
            continue;
        }
        const QHPI_Op *operand = needed_for(op, v->next++);
        if (s->is_open[operand->id])
            continue;
        s->is_open[operand->id] = true;
        vec_push(s->p->arena, &s->open, (struct visit){operand, 0});
    }
}

/* What is made of all of an op's tiles gets each of them when it is computed, whoever reads it before. */
static void list_stores(struct scheduler *s)
{
    const struct plugin_graph *g = s->p->graph;
    for (size_t i = 0; i < g->order.count; i++) {
        const QHPI_Op *whole = g->order.data[i];
        for (uint32_t k = 0; whole->kind == KIND_CONCAT && !whole->is_part && k < whole->n_inputs; k++) {
            const QHPI_Op *part = op_operand(whole, k).op;
            const struct store store = {whole, k, s->stores[part->id]};
            s->stores[part->id] = (uint32_t)s->all.count;
            vec_push(s->p->arena, &s->all, store);
        }
    }
    s->is_stored = arena_array(s->p->arena, bool, s->all.count);
}

/* ---- results ---- */

/* Results lie where the caller wants them; of one that lies elsewhere, or for which there is another result, a copy. */
static void add_results(struct scheduler *s)
{
    struct preparation *p = s->p;
    for (uint32_t i = 0; i < p->graph->results.count; i++) {
        const QHPI_OpRef ref = graph_resolve(p->graph->results.data[i].ref);
        uint32_t value = value_of(s, ref);
        if (p->values.data[value].is_outer || p->options.copies) {
            const uint32_t from = value;
            value = add_value(p, ref.op, ref.output_number);
            struct plugin_step *step = add_step(s, PLUGIN_COPY, ref.op, 1, 1);
            step->inputs[0] = from;
            step->outputs[0] = value;
            step->extent = ref_def(ref)->shape;
            step->from = step->to = zeros(step->extent.rank);
        }
        p->values.data[value].is_outer = true;
        p->values.data[value].result = i;
    }
}

/* The last op of all comes first: on its way its tiles become parts of results that stand between. */
static void walk_results(struct scheduler *s)
{
    const struct plugin_graph *g = s->p->graph;
    bool *is_result = arena_array(s->p->arena, bool, g->ops.count);
    for (size_t i = 0; i < g->results.count; i++)
        is_result[graph_resolve(g->results.data[i].ref).op->id] = true;
    for (size_t i = g->order.count; i-- > 0;)
        if (is_result[g->order.data[i]->id])
            walk(s, g->order.data[i]);
}

static void note_use(struct preparation *p, uint32_t value, uint32_t step)
{
    if (value == NO_VALUE)
        return;
    struct value *v = &p->values.data[value];
    v->first = v->first < step ? v->first : step;
    v->last = step;
}

static bool is_read_once(const struct plugin_step *step)
{
    for (uint32_t i = 1; i < step->n_inputs; i++)
        if (step->inputs[i] == step->inputs[0])
            return false;
    return true;
}

/* The first output takes over the memory of the first input where the kernel allows that and nobody reads the input
 * any more. */
static void share_memory(struct preparation *p, const struct plugin_step *step, uint32_t number)
{
    if (p->options.apart || !step->choice || !step->choice->kernel->source_destructive || !step->n_inputs ||
        step->inputs[0] == NO_VALUE)
        return;
    const struct value *in = &p->values.data[step->inputs[0]];
    struct value *out = &p->values.data[step->outputs[0]];
    if (!in->is_outer && !out->is_outer && in->last == number && in->bytes == out->bytes && in->layout == out->layout &&
        is_read_once(step))
        out->shares = step->inputs[0];
}

void prepare_steps(struct preparation *p)
{
    const size_t n_ops = p->graph->ops.count;
    struct scheduler s = {.p = p,
                          .base = arena_array(p->arena, uint32_t, n_ops),
                          .stores = arena_array(p->arena, uint32_t, n_ops),
                          .is_open = arena_array(p->arena, bool, n_ops)};
    memset(s.base, 0xFF, n_ops * sizeof *s.base);
    memset(s.stores, 0xFF, n_ops * sizeof *s.stores);
    p->values.count = p->steps.count = 0;
    graph_settle(p->graph);
    list_stores(&s);
    walk_results(&s);
    add_results(&s);
    for (uint32_t k = 0; k < p->steps.count; k++)
        for (uint32_t i = 0; i < p->steps.data[k].n_inputs + p->steps.data[k].n_outputs; i++)
            note_use(p, p->steps.data[k].inputs[i], k);
    for (uint32_t k = 0; k < p->steps.count; k++)
        share_memory(p, &p->steps.data[k], k);
}
