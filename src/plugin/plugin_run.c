/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/plugin_run.h"

#include <string.h>

#include "base/foreign.h"
#include "package/log_sink.h"
#include "plugin/callback.h"
#include "plugin/calls.h"
#include "plugin/blocked_layout.h"
#include "plugin/native.h"
#include "plugin/slice_pool.h"

bool run_by_block(const struct preparation *p, const QHPI_Kernel_v1 *kernel)
{
    return kernel->function_with_precomputed_data && !(p->options.plain && kernel->function);
}

/* ---- kernels ---- */

/* One kernel, called for several slices. */
struct kernel_call {
    struct plugin_step *step;
    const QHPI_Kernel_v1 *kernel;
    uint32_t *statuses; /* per slice */
    pthread_t caller;
};

static void call_slice(void *user, uint32_t i)
{
    const struct kernel_call *call = user;
    const struct plugin_step *s = call->step;
    QHPI_RuntimeHandle handle = {.calls = &host_calls, .n_slices = s->slices, .slice = i};
    const bool helps = !pthread_equal(pthread_self(), call->caller);
    if (helps)
        foreign_help(s->call);
    call->statuses[i] = s->block ? call->kernel->function_with_precomputed_data(&handle, s->block)
                                 : call->kernel->function(&handle, s->n_outputs, s->out, s->n_inputs, s->in);
    if (helps)
        foreign_helped();
}

static odlc_status run_kernel(struct preparation *p, struct plugin_step *s, struct slice_pool *pool,
                              const struct backend_scope *scope)
{
    struct kernel_call call = {s, s->choice->kernel, arena_array(scope->scratch, uint32_t, s->slices), pthread_self()};
    log_sink_begin();
    foreign_begin(s->call);
    slice_pool_run(s->slices > 1 ? pool : NULL, s->slices, call_slice, &call);
    foreign_end();
    log_sink_end(scope->diags, AT(.file = s->op->package->library.path, .node = s->op->label));
    for (uint32_t i = 0; i < s->slices; i++)
        if (call.statuses[i] != QHPI_SUCCESS)
            return callback_error(s->op, arena_printf(p->arena, "kernel %s", call.kernel->function_name),
                                  "plugin-kernel-failed", NULL, "gives status %u%s for slice %u of %u",
                                  call.statuses[i], call.statuses[i] == QHPI_ErrorFatal ? " (QHPI_ErrorFatal)" : "", i,
                                  s->slices);
    return ODLC_OK;
}

/* Outputs are zeros before each call, so that what a kernel leaves out is the same in every run. */
static void clear_outputs(const struct preparation *p, const struct plugin_step *s)
{
    for (uint32_t i = 0; i < s->n_outputs; i++) {
        const struct value *v = &p->values.data[s->outputs[i]];
        if (v->shares == NO_VALUE)
            memset(v->data, 0, v->bytes);
    }
}

/* ---- copies ---- */

static void copy_part(const struct preparation *p, const struct plugin_step *s)
{
    const struct value *from = &p->values.data[s->inputs[0]], *to = &p->values.data[s->outputs[0]];
    const QHPI_OutputDef *in = &from->op->outputs[from->output], *out = &to->op->outputs[to->output];
    layout_copy_part(&(struct flat_part){&in->shape, &s->from, from->data},
                     &(struct flat_part){&out->shape, &s->to, to->data}, &s->extent, element_bytes(out->type));
}

static void convert(const struct preparation *p, const struct plugin_step *s)
{
    const struct value *from = &p->values.data[s->inputs[0]], *to = &p->values.data[s->outputs[0]];
    const QHPI_OutputDef *def = &to->op->outputs[to->output];
    if (layout_is_blocked(to->layout))
        layout_to_blocks(&def->shape, element_bytes(def->type), from->data, to->data);
    else
        layout_from_blocks(&def->shape, element_bytes(def->type), from->data, to->data);
}

static odlc_status run_native(const struct preparation *p, const struct plugin_step *s,
                              const struct backend_scope *scope)
{
    void **data = arena_array(scope->scratch, void *, s->native->n_inputs + s->n_outputs);
    for (uint32_t i = 0; i < s->native->n_inputs; i++)
        data[i] = s->inputs[i] == NO_VALUE ? NULL : p->values.data[s->inputs[i]].data;
    for (uint32_t i = 0; i < s->n_outputs; i++)
        data[s->native->n_inputs + i] = p->values.data[s->outputs[i]].data;
    return native_run(s->native, data, scope->scratch, scope->diags);
}

/* ---- all ---- */

/* What the caller has changes from run to run. */
static void bind(struct preparation *p, const struct step_io *io, const struct buffer *in, const struct buffer *out)
{
    for (size_t i = 0; i < p->values.count; i++) {
        struct value *v = &p->values.data[i];
        if (v->result != NO_VALUE)
            v->data = out[v->result].data;
        for (uint32_t k = 0; v->result == NO_VALUE && v->op->kind == KIND_INPUT && k < io->n_inputs; k++)
            if (io->inputs[k] == v->op->tensor)
                v->data = in[k].data;
    }
}

static void bind_tensors(const struct preparation *p, const struct plugin_step *s)
{
    for (uint32_t i = 0; i < s->n_inputs + s->n_outputs; i++)
        if (s->inputs[i] != NO_VALUE && p->values.data[s->inputs[i]].is_outer)
            s->tensors[i].data = p->values.data[s->inputs[i]].data;
}

static odlc_status run_step(struct preparation *p, struct plugin_step *s, struct slice_pool *pool,
                            const struct backend_scope *scope)
{
    switch (s->kind) {
    case PLUGIN_KERNEL:
        bind_tensors(p, s);
        clear_outputs(p, s);
        return run_kernel(p, s, pool, scope);
    case PLUGIN_NATIVE:
        return run_native(p, s, scope);
    case PLUGIN_CONVERT:
        convert(p, s);
        return ODLC_OK;
    default:
        copy_part(p, s);
        return ODLC_OK;
    }
}

odlc_status plugin_run(struct preparation *p, const struct step_io *io, struct slice_pool *pool,
                       const struct backend_scope *scope, const struct buffer *in, struct buffer *out)
{
    bind(p, io, in, out);
    for (size_t k = 0; k < p->steps.count; k++) {
        const struct arena_mark mark = arena_mark(scope->scratch);
        TRY(run_step(p, &p->steps.data[k], pool, scope));
        arena_rewind(scope->scratch, mark);
    }
    return ODLC_OK;
}
