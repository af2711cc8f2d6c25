/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/cpu/cpu.h"

#include <stdlib.h>

#include "backend/cpu/cpu_fixed.h"
#include "backend/cpu/cpu_follow.h"
#include "backend/cpu/cpu_half.h"
#include "backend/cpu/cpu_threads.h"
#include "backend/cpu/cpu_work.h"
#include "op/op.h"

/* ---- the table ---- */

#define CPU_OP(op, family) extern const struct cpu_op cpu_##family;
#include "backend/cpu/cpu_ops.def"
#undef CPU_OP

static const struct cpu_op *cpu_op_of(const struct node *n)
{
    static const struct cpu_op *const table[] = {
#define CPU_OP(op, family) [OP_##op] = &cpu_##family,
#include "backend/cpu/cpu_ops.def"
#undef CPU_OP
    };
    const size_t id = (size_t)n->op->id;
    return id < COUNT_OF(table) ? table[id] : NULL;
}

/* ---- the contract ---- */

static void close_cpu(void *state)
{
    struct cpu *cpu = state;
    free(cpu->workspace);
    (void)dnnl_stream_destroy(cpu->stream);
    (void)dnnl_engine_destroy(cpu->engine);
}

static odlc_status open_cpu(const struct backend_scope *scope, void **state)
{
    struct cpu *cpu = arena_new(scope->arena, struct cpu);
    if (dnnl_engine_create(&cpu->engine, dnnl_cpu, 0) != dnnl_success ||
        dnnl_stream_create(&cpu->stream, cpu->engine, dnnl_stream_default_flags) != dnnl_success)
        return diag_error(scope->diags, ODLC_ERR_UNSUPPORTED, AT(.file = NULL), "cpu-library",
                          "oneDNN cannot be used on this machine");
    *state = cpu;
    return ODLC_OK;
}

static bool claim(void *state, const struct claiming *c, node_id id, struct group *group)
{
    const struct node *n = graph_node(c->scope->graph, id);
    const struct cpu_op *op = cpu_op_of(n);
    (void)state;
    group->reason = op ? op->refuse(c->scope->graph, n) : "there is no fast implementation of the op";
    if (group->reason)
        return false;
    vec_push(c->scope->arena, &group->nodes, id);
    if (op->fuses && !(op->is_fixed && op->is_fixed(c->scope->graph, n)))
        follow(c, group);
    if (group->nodes.count == 1)
        group->sharing = op->sharing;
    return true;
}

/* A step gets float32 in the place of other reals. */
static bool is_converted(enum dtype dtype)
{
    return dtype == DT_FLOAT16 || dtype_is_fixed(dtype);
}

static size_t real_size(const struct buffer *b)
{
    return is_converted(b->dtype) ? cpu_aligned(shape_count(&b->shape) * sizeof(float)) : 0;
}

/* The buffers of all tensors have their types, if no data yet. */
static size_t reals_size(const struct buffer *buffers, const struct step_io *io)
{
    size_t size = 0;
    for (uint32_t i = 0; i < io->n_inputs; i++)
        size += real_size(&buffers[io->inputs[i]]);
    for (uint32_t i = 0; i < io->n_outputs; i++)
        size += real_size(&buffers[io->outputs[i]]);
    return size;
}

static odlc_status prepare(void *state, const struct backend_scope *scope, const struct group *group,
                           const struct step_io *io, void **out)
{
    struct cpu_step *step = arena_new(scope->arena, struct cpu_step);
    struct cpu_making m = {.cpu = state, .scope = scope, .group = group, .step = step};
    *step = (struct cpu_step){.cpu = state, .io = *io, .node = making_node(&m)};
    const struct cpu_op *op = cpu_op_of(step->node);
    const bool integers = op->is_fixed && op->is_fixed(scope->graph, step->node);
    step->reals_size = integers ? 0 : reals_size(scope->constants, io);
    making_need(&m, 0);
    step->threads = work_threads(scope, group);
    const int before = threads_begin((int)step->threads);
    const odlc_status status = integers ? op->prepare_fixed(&m) : op->prepare(&m);
    threads_end(before);
    *out = step;
    return status;
}

static void *place_data(const struct cpu_step *step, uint32_t place, const struct buffer *in, const struct buffer *out)
{
    if (place == CPU_SUMS)
        return cpu_sums(step);
    if (place == CPU_BYTES)
        return cpu_bytes(step);
    if (place == CPU_SCRATCHPAD)
        return cpu_scratchpad(step);
    return place < step->io.n_inputs ? in[place].data : out[place - step->io.n_inputs].data;
}

static odlc_status run_call(const struct cpu_step *step, struct cpu_call *call, const struct buffer *in,
                            const struct buffer *out)
{
    for (size_t i = 0; i < call->places.count; i++) {
        struct cpu_place *p = &call->places.data[i];
        void *data = p->place == CPU_FIXED ? NULL : place_data(step, p->place, in, out);
        if (data == p->data)
            continue;
        if (dnnl_memory_set_data_handle(call->args.data[i].memory, data) != dnnl_success)
            return ODLC_ERR_INTERNAL;
        p->data = data;
    }
    return dnnl_primitive_execute(call->primitive, step->cpu->stream, (int)call->args.count, call->args.data) ==
                   dnnl_success
               ? ODLC_OK
               : ODLC_ERR_INTERNAL;
}

static odlc_status run_calls(const struct cpu_step *step, const struct buffer *in, const struct buffer *out)
{
    for (size_t i = 0; i < step->calls.count; i++)
        TRY(run_call(step, step->calls.data[i], in, out));
    return step->calls.count == 0 || dnnl_stream_wait(step->cpu->stream) == dnnl_success ? ODLC_OK : ODLC_ERR_INTERNAL;
}

static void widen(const struct buffer *from, float *to)
{
    if (from->dtype == DT_FLOAT16)
        half_widen(from->data, to, shape_count(&from->shape));
    else
        fixed_widen(from, to);
}

static void narrow(const float *from, const struct buffer *to)
{
    if (to->dtype == DT_FLOAT16)
        half_narrow(from, to->data, shape_count(&to->shape));
    else
        fixed_narrow(from, to);
}

/* The buffers of a step as float32: other reals get the next part of the workspace. */
static struct buffer *in_floats(const struct backend_scope *scope, const struct buffer *buffers, uint32_t count,
                                bool filled, char **workspace)
{
    struct buffer *floats = arena_array(scope->scratch, struct buffer, count);
    for (uint32_t i = 0; i < count; i++) {
        floats[i] = buffers[i];
        if (!is_converted(buffers[i].dtype))
            continue;
        floats[i].dtype = DT_FLOAT32;
        floats[i].data = *workspace;
        *workspace += cpu_aligned(shape_count(&buffers[i].shape) * sizeof(float));
        if (filled)
            widen(&buffers[i], floats[i].data);
    }
    return floats;
}

static odlc_status take_workspace(struct cpu *cpu)
{
    if (cpu->workspace_size > 0 && !cpu->workspace &&
        posix_memalign(&cpu->workspace, CPU_ALIGNMENT, cpu->workspace_size) != 0)
        return ODLC_ERR_NOMEM;
    return ODLC_OK;
}

static odlc_status compute(const struct cpu_step *step, const struct backend_scope *scope, const struct buffer *in,
                           struct buffer *out)
{
    if (step->before)
        TRY(step->before(step, scope, in, out));
    TRY(run_calls(step, in, out));
    return step->loop ? step->loop(step, scope, in, out) : ODLC_OK;
}

static odlc_status run_step(const struct cpu_step *step, const struct backend_scope *scope, const struct buffer *in,
                            struct buffer *out)
{
    TRY(take_workspace(step->cpu));
    if (step->reals_size == 0)
        return compute(step, scope, in, out);
    char *workspace = step->cpu->workspace;
    const struct buffer *floats_in = in_floats(scope, in, step->io.n_inputs, true, &workspace);
    struct buffer *floats_out = in_floats(scope, out, step->io.n_outputs, false, &workspace);
    TRY(compute(step, scope, floats_in, floats_out));
    for (uint32_t i = 0; i < step->io.n_outputs; i++)
        if (is_converted(out[i].dtype))
            narrow(floats_out[i].data, &out[i]);
    return ODLC_OK;
}

static odlc_status run(void *prepared, const struct backend_scope *scope, const struct buffer *in, struct buffer *out)
{
    const struct cpu_step *step = prepared;
    const int before = threads_begin((int)step->threads);
    const odlc_status status = run_step(step, scope, in, out);
    threads_end(before);
    if (status == ODLC_ERR_INTERNAL)
        return diag_error(scope->diags, status, AT(.node = step->node->name), "cpu-library",
                          "oneDNN does not execute the op");
    return status;
}

const struct backend cpu_backend = {.name = "cpu",
                                    .width = WIDTH_FLOAT32,
                                    .open = open_cpu,
                                    .close = close_cpu,
                                    .claim = claim,
                                    .prepare = prepare,
                                    .run = run};
