#include "runtime/executor.h"

#include <time.h>

#include "runtime/check.h"

/* Bytes of mapped constants whose pages are kept; then they are given back, to be mapped again when they are needed. */
#define MAX_RESIDENT ((uint64_t)16 << 20)

static odlc_status load_strings(struct executor *e, const struct tensor *t, struct buffer *b)
{
    uint64_t count = shape_count(&t->type->shape);
    if (!t->view->strings || !perm_is_identity(&t->view->perm))
        return diag_error(e->diags, ODLC_ERR_UNSUPPORTED, AT(.attribute = t->name), "run-strings",
                          "a constant of strings cannot be used in this form");
    const char **strings = arena_array(e->arena, const char *, count);
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
    const void *data = view_load(e->arena, t->view, dtype);
    /* Kernels check the positions that they read of a constant, narrower ones in a copy of their own. They shall find
     * the same ones again when somebody writes to the container. */
    bool may_be_positions = dtype == DT_INT64 && t->view->file;
    if (may_be_positions || (uintptr_t)data % dtype_size(dtype) != 0)
        data = arena_memdup(e->arena, data, tensor_bytes(t->type));
    b->data = (void *)data; /* kernels do not write to their inputs */
    return ODLC_OK;
}

static odlc_status prepare_buffers(struct executor *e)
{
    uint8_t *pool = arena_alloc(e->arena, e->plan.pool_size);
    for (tensor_id id = 0; id < e->g->tensors.count; id++) {
        const struct tensor *t = graph_tensor(e->g, id);
        struct buffer *b = &e->buffers[id];
        *b = (struct buffer){.dtype = t->type->dtype, .shape = t->type->shape, .quant = t->quant};
        if (!e->plan.used[id])
            continue;
        if (t->type->dtype == DT_NONE)
            return diag_error(e->diags, ODLC_ERR_INVALID, AT(.attribute = t->name), "run-dtype",
                              "the data type of this tensor is not known");
        if (e->plan.offsets[id] != PLAN_NOWHERE)
            b->data = pool + e->plan.offsets[id];
        else if (t->kind == TENSOR_STATIC)
            TRY(load_constant(e, t, b));
        else if (t->kind == TENSOR_INPUT)
            b->data = arena_alloc(e->arena, tensor_bytes(t->type));
        else
            return diag_error(e->diags, ODLC_ERR_INVALID, AT(.attribute = t->name), "run-no-producer",
                              "no node computes this tensor");
    }
    return ODLC_OK;
}

odlc_status executor_create(struct arena *arena, struct arena *scratch, struct diags *diags, const struct graph *g,
                            const tensor_id *wanted, size_t n_wanted, struct executor **out)
{
    struct executor *e = arena_new(arena, struct executor);
    *e = (struct executor){.arena = arena,
                           .scratch = scratch,
                           .diags = diags,
                           .g = g,
                           .buffers = arena_array(arena, struct buffer, g->tensors.count)};
    TRY(plan_make(arena, diags, g, wanted, n_wanted, &e->plan));
    TRY(plan_check(scratch, diags, g, &e->plan));
    TRY(prepare_buffers(e));
    e->nanoseconds = arena_array(arena, uint64_t, e->plan.n_steps);
    *out = e;
    return ODLC_OK;
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static odlc_status run_step(struct executor *e, const struct node *n)
{
    struct arena_mark mark = arena_mark(e->scratch);
    struct buffer *in = arena_array(e->scratch, struct buffer, n->n_inputs);
    struct buffer *out = arena_array(e->scratch, struct buffer, n->n_outputs);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i] != NO_TENSOR)
            in[i] = e->buffers[n->inputs[i]];
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (n->outputs[i] != NO_TENSOR)
            out[i] = e->buffers[n->outputs[i]];
    odlc_status status = eval_node(n, in, out, e->scratch, e->diags);
    arena_rewind(e->scratch, mark);
    return status;
}

/* Keeps what is resident of a mapped container in bounds, however large its weights are. */
static void release_constants(struct executor *e, const struct node *n)
{
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct tensor *t = node_input(e->g, n, i);
        if (!t || t->kind != TENSOR_STATIC || !t->view->file)
            continue;
        e->unreleased += tensor_bytes(t->type);
        if (e->unreleased < MAX_RESIDENT)
            continue;
        file_drop(t->view->file, 0, t->view->file->size);
        e->unreleased = 0;
    }
}

odlc_status executor_run(struct executor *e)
{
    for (size_t s = 0; s < e->plan.n_steps; s++) {
        const struct node *n = graph_node(e->g, e->plan.steps[s]);
        uint64_t start = now();
        TRY(run_step(e, n));
        e->nanoseconds[s] = now() - start;
        release_constants(e, n);
    }
    return ODLC_OK;
}
