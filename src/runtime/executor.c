/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/executor.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/pages.h"
#include "runtime/check_types.h"
#include "runtime/known.h"
#include "runtime/lend.h"

/* Bytes of mapped constants whose pages are kept; then they are given back, to be mapped again when they are needed. */
#define MAX_RESIDENT ((uint64_t)16 << 20)

/* Bits that stand for spaces in the plan's tables. */
enum { MAX_BACKENDS = 31 };

/* ---- buffers ---- */

static odlc_status load_strings(struct executor *e, const struct tensor *t, struct buffer *b)
{
    uint64_t count = shape_count(&t->type->shape);
    if (!t->view->strings || !perm_is_identity(&t->view->perm))
        return diag_error(e->scope.diags, ODLC_ERR_UNSUPPORTED, AT(.attribute = t->name), "run-strings",
                          "a constant of strings cannot be used in this form");
    const char **strings = arena_array(e->scope.arena, const char *, count);
    for (uint64_t i = 0; i < count; i++)
        strings[i] = t->view->strings[t->view->splat ? 0 : i];
    b->data = strings;
    return ODLC_OK;
}

static odlc_status load_constant(struct executor *e, const struct tensor *t, struct buffer *b)
{
    if (t->type->dtype == DT_STRING)
        return load_strings(e, t, b);
    const enum dtype dtype = t->type->dtype;
    const void *data = view_load(e->scope.arena, t->view, dtype);
    /* Kernels check the positions that they read of a constant, narrower ones in a copy of their own. They shall find
     * the same ones again when somebody writes to the container. */
    bool may_be_positions = dtype == DT_INT64 && t->view->file;
    if (may_be_positions || (uintptr_t)data % dtype_size(dtype) != 0)
        data = arena_memdup(e->scope.arena, data, tensor_bytes(t->type));
    b->data = (void *)data; /* kernels do not write to their inputs */
    return ODLC_OK;
}

/* Storage of what outlives a run: constants and the graph's inputs. */
static odlc_status load_outer(struct executor *e, tensor_id id)
{
    const struct tensor *t = graph_tensor(e->scope.graph, id);
    struct buffer *b = &e->buffers[id];
    if (t->type->dtype == DT_NONE)
        return diag_error(e->scope.diags, ODLC_ERR_INVALID, AT(.attribute = t->name), "run-dtype",
                          "the data type of this tensor is not known");
    if (t->kind == TENSOR_STATIC)
        return load_constant(e, t, b);
    if (t->kind == TENSOR_INPUT)
        b->data = arena_alloc(e->scope.arena, tensor_bytes(t->type));
    else if (t->producer == NO_NODE)
        return diag_error(e->scope.diags, ODLC_ERR_INVALID, AT(.attribute = t->name), "run-no-producer",
                          "no node computes this tensor");
    return ODLC_OK;
}

static odlc_status load_all(struct executor *e)
{
    for (tensor_id id = 0; id < e->scope.graph->tensors.count; id++) {
        const struct tensor *t = graph_tensor(e->scope.graph, id);
        e->buffers[id] = (struct buffer){.dtype = t->type->dtype, .shape = t->type->shape, .quant = t->quant};
        if (e->needed.used[id])
            TRY(load_outer(e, id));
    }
    return ODLC_OK;
}

struct block {
    const struct memory *memory;
    void *state, *bytes;
};

static void give_block(void *object)
{
    const struct block *block = object;
    block->memory->give(block->state, block->bytes);
}

static odlc_status no_room(const struct backend_scope *scope, const struct opened *opened, uint64_t size)
{
    return diag_error(scope->diags, ODLC_ERR_LIMIT, AT(.file = NULL), "run-memory",
                      "backend %s has no room for tensors of %llu bytes", opened->backend->name,
                      (unsigned long long)size);
}

/* Buffers in the block of a backend's memory. */
static odlc_status place_space(struct executor *e, uint32_t space)
{
    const struct backend_scope *scope = &e->scope;
    const struct opened *opened = &e->claims.backends[space - 1];
    const struct plan_space *layout = &e->plan.spaces[space];
    if (!opened->backend->memory || layout->size == 0)
        return ODLC_OK;
    struct block *block = arena_new(scope->arena, struct block);
    *block = (struct block){opened->backend->memory, opened->state,
                            opened->backend->memory->take(opened->state, layout->size)};
    if (!block->bytes)
        return no_room(scope, opened, layout->size);
    arena_defer(scope->arena, give_block, block);
    e->placed[space] = arena_array(scope->arena, struct buffer, scope->graph->tensors.count);
    for (tensor_id id = 0; id < scope->graph->tensors.count; id++) {
        struct buffer *b = &e->placed[space][id];
        *b = e->buffers[id];
        b->data = NULL;
        if (layout->offsets[id] == PLAN_NOWHERE)
            continue;
        b->data = block->memory->place(block->state, block->bytes, layout->offsets[id], layout->sizes[id]);
        if (!b->data)
            return no_room(scope, opened, layout->size);
    }
    return ODLC_OK;
}

static odlc_status place_all(struct executor *e)
{
    uint8_t *block = arena_alloc(e->scope.arena, e->plan.spaces[HOST_SPACE].size);
    const uint64_t *offsets = e->plan.spaces[HOST_SPACE].offsets;
    e->placed = arena_array(e->scope.arena, struct buffer *, e->plan.n_spaces);
    for (tensor_id id = 0; id < e->scope.graph->tensors.count; id++) {
        if (offsets[id] != PLAN_NOWHERE)
            e->buffers[id].data = block + offsets[id];
        e->buffers[id].dtype = (enum dtype)e->plan.dtypes[id];
    }
    for (uint32_t space = 1; space < e->plan.n_spaces; space++)
        TRY(place_space(e, space));
    e->placed[HOST_SPACE] = e->buffers;
    return ODLC_OK;
}

/* ---- preparing ---- */

static void close_backend(void *object)
{
    const struct opened *opened = object;
    opened->backend->close(opened->state);
}

static odlc_status open_backends(struct executor *e, const struct backend *const *backends)
{
    struct opened *opened = arena_array(e->scope.arena, struct opened, MAX_BACKENDS);
    e->claims.backends = opened;
    for (uint32_t i = 0; i < MAX_BACKENDS && backends[i]; i++) {
        opened[i].backend = backends[i];
        if (backends[i]->open)
            TRY(backends[i]->open(&e->scope, &opened[i].state));
        if (backends[i]->close)
            arena_defer(e->scope.arena, close_backend, &opened[i]);
        e->claims.n_backends = i + 1;
    }
    return ODLC_OK;
}

static void release_mapping(struct executor *e)
{
    if (e->mapping)
        file_drop(e->mapping, 0, e->mapping->size);
    e->mapping = NULL;
    e->unreleased = 0;
}

/* Keeps what is resident of a mapped container in bounds, however large its weights are. */
static void release_constants(struct executor *e, const struct node *n)
{
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct tensor *t = node_input(e->scope.graph, n, i);
        if (!t || t->kind != TENSOR_STATIC || !t->view->file)
            continue;
        e->mapping = t->view->file;
        e->unreleased += tensor_bytes(t->type);
        if (e->unreleased >= MAX_RESIDENT)
            release_mapping(e);
    }
}

static void release_group(struct executor *e, const struct plan_step *step)
{
    for (size_t i = 0; step->kind == STEP_GROUP && i < step->group->nodes.count; i++)
        release_constants(e, graph_node(e->scope.graph, step->group->nodes.data[i]));
}

struct prepared {
    const struct backend *backend;
    void *step;
};

static void release_step(void *object)
{
    const struct prepared *prepared = object;
    prepared->backend->release(prepared->step);
}

static odlc_status settle_steps(struct executor *e)
{
    for (size_t s = 0; s < e->plan.steps.count; s++) {
        const struct plan_step *step = &e->plan.steps.data[s];
        const struct backend *backend = e->claims.backends[step->backend].backend;
        if (step->kind != STEP_GROUP || !backend->settle)
            continue;
        TRY(progress_report(e->progress, e->scope.diags, s, e->plan.steps.count));
        TRY(backend->settle(e->steps[s]));
    }
    return ODLC_OK;
}

static odlc_status prepare_steps(struct executor *e)
{
    e->steps = arena_array(e->scope.arena, void *, e->plan.steps.count);
    for (size_t s = 0; s < e->plan.steps.count; s++) {
        const struct plan_step *step = &e->plan.steps.data[s];
        const struct opened *opened = &e->claims.backends[step->backend];
        TRY(progress_report(e->progress, e->scope.diags, s, e->plan.steps.count));
        if (step->kind != STEP_GROUP)
            continue;
        struct arena_mark mark = arena_mark(e->scope.scratch);
        TRY(opened->backend->prepare(opened->state, &e->scope, step->group, &step->io, &e->steps[s]));
        arena_rewind(e->scope.scratch, mark);
        release_group(e, step);
        if (!opened->backend->release)
            continue;
        struct prepared *prepared = arena_new(e->scope.arena, struct prepared);
        *prepared = (struct prepared){opened->backend, e->steps[s]};
        arena_defer(e->scope.arena, release_step, prepared);
    }
    release_mapping(e); /* what steps have packed, nobody reads any more */
    return settle_steps(e);
}

/* Divides the needed nodes among the backends, and lays out what they do. */
static odlc_status plan_execution(struct executor *e, const tensor_id *wanted, size_t n_wanted)
{
    const struct backend_scope *scope = &e->scope;
    struct arena_mark mark = arena_mark(scope->scratch);
    struct uses uses = graph_uses_among(scope->scratch, scope->graph, e->needed.nodes, e->needed.n_nodes);
    odlc_status types = plan_check(scope->scratch, scope->diags, scope->graph, &e->needed);
    TRY(claim_nodes(scope, &e->needed, &uses, wanted, n_wanted, e->observed, &e->claims));
    TRY(types);
    TRY(load_all(e));
    TRY(plan_make(scope, &e->claims, &uses, wanted, n_wanted, e->observed, &e->plan));
    arena_rewind(scope->scratch, mark);
    return ODLC_OK;
}

static void explain_steps(struct executor *e)
{
    e->explanations = arena_calloc(e->scope.arena, e->plan.steps.count, sizeof *e->explanations);
    for (size_t s = 0; s < e->plan.steps.count; s++) {
        const struct plan_step *step = &e->plan.steps.data[s];
        const struct backend *backend = e->claims.backends[step->backend].backend;
        for (int form = 0; step->kind == STEP_GROUP && backend->explain && form <= EXPLAIN_JSON; form++)
            e->explanations[s][form] = backend->explain(e->steps[s], &e->scope, (enum explanation)form);
    }
}

/* The caller's backends that compute in the host's memory; NULL: none does. */
static const struct backend *const *host_backends(struct arena *arena, const struct backend *const *all)
{
    size_t count = 0, kept = 0;
    while (all[count])
        count++;
    const struct backend **out = arena_array(arena, const struct backend *, count + 1);
    for (size_t i = 0; i < count; i++)
        if (!all[i]->memory)
            out[kept++] = all[i];
    return kept ? out : NULL;
}

struct extent {
    uint8_t *begin, *end;
};

static int by_begin(const void *a, const void *b)
{
    const uint8_t *x = ((const struct extent *)a)->begin, *y = ((const struct extent *)b)->begin;
    return (x > y) - (x < y);
}

/* The pages of the block that have none of the results. */
static void forget_between(struct executor *e, const tensor_id *results, size_t count)
{
    const struct plan_space *host = &e->plan.spaces[HOST_SPACE];
    struct extent *kept = arena_array(e->scope.scratch, struct extent, count);
    for (size_t i = 0; i < count; i++) {
        uint8_t *data = e->buffers[results[i]].data;
        kept[i] = (struct extent){data, data + host->sizes[results[i]]};
    }
    uint8_t *from = kept[0].begin - host->offsets[results[0]], *end = from + host->size;
    qsort(kept, count, sizeof *kept, by_begin);
    for (size_t i = 0; i < count; i++) {
        if (kept[i].begin > from)
            pages_forget(from, (size_t)(kept[i].begin - from));
        from = kept[i].end > from ? kept[i].end : from;
    }
    pages_forget(from, (size_t)(end - from));
}

/* Of an execution that does not run again the results alone stay memory: steps between them, and copies of constants,
 * do not. */
static void forget_all_but(struct executor *e, const tensor_id *results, size_t count)
{
    struct arena_mark mark = arena_mark(e->scope.scratch);
    forget_between(e, results, count);
    for (tensor_id id = 0; id < e->scope.graph->tensors.count; id++) {
        const struct tensor *t = graph_tensor(e->scope.graph, id);
        if (e->needed.used[id] && t->kind == TENSOR_STATIC && t->type->dtype != DT_STRING &&
            e->buffers[id].data != t->view->bytes)
            pages_forget(e->buffers[id].data, tensor_bytes(t->type));
    }
    arena_rewind(e->scope.scratch, mark);
}

/* Computes what depends on constants alone: *g is the graph in which the results are constants, too, then. */
static odlc_status compute_known(struct arena *arena, struct arena *scratch, struct diags *diags,
                                 const tensor_id *wanted, size_t n_wanted, const struct executor_options *options,
                                 const struct graph **g)
{
    if (options->is_once)
        return ODLC_OK;
    const struct known known = known_find(arena, scratch, *g, wanted, n_wanted, options->observed);
    const struct backend *const *backends = known.results.count ? host_backends(arena, options->backends) : NULL;
    const struct executor_options once = {.backends = backends, .threads = options->threads, .is_once = true};
    struct executor *e;
    if (!backends)
        return ODLC_OK;
    TRY(executor_create(arena, scratch, diags, *g, known.results.data, known.results.count, &once, &e));
    TRY(executor_run(e));
    forget_all_but(e, known.results.data, known.results.count);
    *g = known_graph(arena, &known, e->buffers);
    return ODLC_OK;
}

odlc_status executor_create(struct arena *arena, struct arena *scratch, struct diags *diags, const struct graph *g,
                            const tensor_id *wanted, size_t n_wanted, const struct executor_options *options,
                            struct executor **out)
{
    struct executor *e = arena_new(arena, struct executor);
    TRY(compute_known(arena, scratch, diags, wanted, n_wanted, options, &g));
    e->buffers = arena_array(arena, struct buffer, g->tensors.count);
    e->scope = (struct backend_scope){.arena = arena,
                                      .scratch = scratch,
                                      .diags = diags,
                                      .graph = g,
                                      .constants = e->buffers,
                                      .threads = options->threads ? options->threads : 1,
                                      .packages = options->packages,
                                      .device_ops = options->device_ops,
                                      .gpu = options->gpu,
                                      .fast_memory = options->fast_memory,
                                      .slices = options->slices,
                                      .has_own_places = options->has_own_places};
    e->progress = options->progress;
    e->observed = options->observed;
    e->observer = options->observer;
    e->needed = needed_nodes(arena, g, wanted, n_wanted);
    TRY(open_backends(e, options->backends));
    TRY(plan_execution(e, wanted, n_wanted));
    TRY(place_all(e));
    TRY(prepare_steps(e));
    if (options->explains)
        explain_steps(e);
    e->begins = arena_array(arena, uint64_t, e->plan.steps.count);
    e->nanoseconds = arena_array(arena, uint64_t, e->plan.steps.count);
    *out = e;
    return ODLC_OK;
}

/* ---- running ---- */

static odlc_status run_group(struct executor *e, const struct plan_step *step, void *prepared)
{
    struct arena_mark mark = arena_mark(e->scope.scratch);
    const struct buffer *placed = e->placed[plan_space_of(&e->claims, step->backend)];
    struct buffer *in = arena_array(e->scope.scratch, struct buffer, step->io.n_inputs);
    struct buffer *out = arena_array(e->scope.scratch, struct buffer, step->io.n_outputs);
    for (uint32_t i = 0; i < step->io.n_inputs; i++)
        in[i] = placed[step->io.inputs[i]];
    for (uint32_t i = 0; i < step->io.n_outputs; i++)
        out[i] = placed[step->io.outputs[i]];
    odlc_status status = e->claims.backends[step->backend].backend->run(prepared, &e->scope, in, out);
    arena_rewind(e->scope.scratch, mark);
    return status;
}

static odlc_status run_copy(struct executor *e, const struct plan_step *step)
{
    const struct opened *opened = &e->claims.backends[step->backend];
    void *place = e->placed[plan_space_of(&e->claims, step->backend)][step->tensor].data;
    void *host = e->buffers[step->tensor].data;
    uint64_t size = tensor_bytes(graph_tensor(e->scope.graph, step->tensor)->type);
    if (step->kind == STEP_UPLOAD)
        return opened->backend->memory->upload(opened->state, place, host, size,
                                               graph_tensor(e->scope.graph, step->tensor)->kind == TENSOR_INPUT);
    return opened->backend->memory->download(opened->state, host, place, size);
}

static odlc_status show(struct executor *e, tensor_id id)
{
    if (!e->observed || !e->observed[id])
        return ODLC_OK;
    return e->observer.see(e->observer.object, id, &e->buffers[id]);
}

/* What a step brought to the host's memory. */
static odlc_status show_results(struct executor *e, const struct plan_step *step)
{
    if (step->kind == STEP_DOWNLOAD)
        return show(e, step->tensor);
    if (step->kind == STEP_UPLOAD || plan_space_of(&e->claims, step->backend) != HOST_SPACE)
        return ODLC_OK;
    for (uint32_t i = 0; i < step->io.n_outputs; i++)
        TRY(show(e, step->io.outputs[i]));
    return ODLC_OK;
}

static odlc_status run_step(struct executor *e, size_t s)
{
    const struct plan_step *step = &e->plan.steps.data[s];
    if (lending_is_idle(e, s))
        return ODLC_OK;
    return step->kind == STEP_GROUP ? run_group(e, step, e->steps[s]) : run_copy(e, step);
}

static odlc_status begin_run(struct executor *e)
{
    for (uint32_t i = 0; i < e->claims.n_backends; i++) {
        const struct opened *opened = &e->claims.backends[i];
        if (opened->backend->memory && opened->backend->memory->begin)
            opened->backend->memory->begin(opened->state);
    }
    return lending_begin(e);
}

odlc_status executor_run(struct executor *e)
{
    TRY(begin_run(e));
    uint64_t begin = clock_nanoseconds();
    for (size_t s = 0; s < e->plan.steps.count; s++) {
        const struct plan_step *step = &e->plan.steps.data[s];
        TRY(progress_report(e->progress, e->scope.diags, s, e->plan.steps.count));
        TRY(run_step(e, s));
        const uint64_t end = lending_is_idle(e, s) ? begin : clock_nanoseconds();
        e->begins[s] = begin;
        e->nanoseconds[s] = end - begin;
        TRY(show_results(e, step));
        begin = e->observed ? clock_nanoseconds() : end;
        release_group(e, step);
    }
    return lending_end(e);
}
