/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/cpu/cpu_call.h"

#include <string.h>

/* ---- tensors ---- */

struct dnnl_axes axes_of(const struct shape *shape)
{
    struct dnnl_axes axes = {.rank = (int)shape->rank};
    int64_t stride = 1;
    for (uint32_t i = shape->rank; i-- > 0; stride *= shape->dims[i]) {
        axes.dims[i] = shape->dims[i];
        axes.strides[i] = stride;
    }
    if (shape->rank == 0)
        axes = (struct dnnl_axes){.rank = 1, .dims = {1}, .strides = {1}};
    return axes;
}

struct dnnl_axes axes_of_image(const struct shape *shape)
{
    const struct dnnl_axes last = axes_of(shape);
    struct dnnl_axes axes = last;
    axes.dims[1] = last.dims[last.rank - 1];
    axes.strides[1] = last.strides[last.rank - 1];
    for (int i = 2; i < last.rank; i++) {
        axes.dims[i] = last.dims[i - 1];
        axes.strides[i] = last.strides[i - 1];
    }
    return axes;
}

dnnl_memory_desc_t desc_of(const struct dnnl_axes *axes)
{
    return desc_typed(axes, dnnl_f32);
}

dnnl_memory_desc_t desc_typed(const struct dnnl_axes *axes, dnnl_data_type_t type)
{
    dnnl_memory_desc_t desc;
    if (dnnl_memory_desc_init_by_strides(&desc, axes->rank, axes->dims, type, axes->strides) != dnnl_success)
        memset(&desc, 0, sizeof desc);
    return desc;
}

dnnl_memory_desc_t desc_any(const struct dnnl_axes *axes, dnnl_data_type_t type)
{
    dnnl_memory_desc_t desc;
    if (dnnl_memory_desc_init_by_tag(&desc, axes->rank, axes->dims, type, dnnl_format_tag_any) != dnnl_success)
        memset(&desc, 0, sizeof desc);
    return desc;
}

/* ---- ownership ---- */

odlc_status call_failed(const struct cpu_making *m, dnnl_status_t status, const char *function)
{
    if (status == dnnl_out_of_memory)
        return ODLC_ERR_NOMEM;
    return diag_error(m->scope->diags, ODLC_ERR_INTERNAL, AT(.node = making_node(m)->name), "cpu-library",
                      "oneDNN gives status %d to %.*s", (int)status, (int)strcspn(function, "("), function);
}

static void destroy_attributes(void *object)
{
    (void)dnnl_primitive_attr_destroy(*(dnnl_primitive_attr_t *)object);
}

static void destroy_description(void *object)
{
    (void)dnnl_primitive_desc_destroy(*(dnnl_primitive_desc_t *)object);
}

static void destroy_primitive(void *object)
{
    (void)dnnl_primitive_destroy(*(dnnl_primitive_t *)object);
}

static void destroy_memory(void *object)
{
    (void)dnnl_memory_destroy(*(dnnl_memory_t *)object);
}

/* Each holder is registered before it holds anything: the library gives NULL back without complaint. */
#define HOLDER(m, type, destroy) hold((m), arena_new((m)->scope->arena, type), (destroy))

static void *hold(const struct cpu_making *m, void *holder, void (*destroy)(void *))
{
    arena_defer(m->scope->arena, destroy, holder);
    return holder;
}

/* ---- calls ---- */

odlc_status make_attributes(const struct cpu_making *m, dnnl_primitive_attr_t *out)
{
    dnnl_primitive_attr_t *held = HOLDER(m, dnnl_primitive_attr_t, destroy_attributes);
    TRY_DNNL(m, dnnl_primitive_attr_create(held));
    TRY_DNNL(m, dnnl_primitive_attr_set_scratchpad_mode(*held, dnnl_scratchpad_mode_user));
    *out = *held;
    return ODLC_OK;
}

static const char *name_of(dnnl_primitive_desc_t description)
{
    const char *name = "";
    (void)dnnl_primitive_desc_query(description, dnnl_query_impl_info_str, 0, (void *)&name);
    return name;
}

/* The library's first choice; of depthwise convolutions, what it puts second is up to twice as fast. */
static dnnl_status_t choose(dnnl_primitive_desc_iterator_t all, dnnl_primitive_desc_t *held)
{
    *held = dnnl_primitive_desc_iterator_fetch(all);
    if (!*held || strncmp(name_of(*held), "brdgmm_dw", 9) != 0)
        return *held ? dnnl_success : dnnl_out_of_memory;
    while (dnnl_primitive_desc_iterator_next(all) == dnnl_success) {
        dnnl_primitive_desc_t next = dnnl_primitive_desc_iterator_fetch(all);
        const bool is_faster = next && strncmp(name_of(next), "jit_dw", 6) == 0;
        (void)dnnl_primitive_desc_destroy(is_faster ? *held : next);
        if (!is_faster)
            continue;
        *held = next;
        break;
    }
    return dnnl_success;
}

odlc_status make_description(const struct cpu_making *m, const_dnnl_op_desc_t operation, dnnl_primitive_attr_t attr,
                             dnnl_primitive_desc_t *out, bool *plain)
{
    dnnl_primitive_desc_t *held = HOLDER(m, dnnl_primitive_desc_t, destroy_description);
    dnnl_primitive_desc_iterator_t all;
    TRY_DNNL(m, dnnl_primitive_desc_iterator_create(&all, operation, attr, m->cpu->engine, NULL));
    const dnnl_status_t status = choose(all, held);
    (void)dnnl_primitive_desc_iterator_destroy(all);
    TRY_DNNL(m, status);
    const char *name = name_of(*held);
    *plain = strncmp(name, "ref", 3) == 0 || strstr(name, "gemm:");
    *out = *held;
    return ODLC_OK;
}

static odlc_status add_arg(const struct cpu_making *m, struct cpu_call *call, int arg, const dnnl_memory_desc_t *desc,
                           void *data, uint32_t place)
{
    dnnl_memory_t *held = HOLDER(m, dnnl_memory_t, destroy_memory);
    TRY_DNNL(m, dnnl_memory_create(held, desc, m->cpu->engine, data));
    vec_push(m->scope->arena, &call->args, ((dnnl_exec_arg_t){arg, *held}));
    vec_push(m->scope->arena, &call->places, ((struct cpu_place){place, NULL}));
    return ODLC_OK;
}

odlc_status make_call(const struct cpu_making *m, dnnl_primitive_desc_t description, struct cpu_call **out)
{
    dnnl_primitive_t *held = HOLDER(m, dnnl_primitive_t, destroy_primitive);
    struct cpu_call *call = arena_new(m->scope->arena, struct cpu_call);
    TRY_DNNL(m, dnnl_primitive_create(held, description));
    call->primitive = *held;
    const dnnl_memory_desc_t *pad = dnnl_primitive_desc_query_md(description, dnnl_query_scratchpad_md, 0);
    const size_t size = dnnl_memory_desc_get_size(pad);
    making_need(m, size);
    if (size > 0)
        TRY(add_arg(m, call, DNNL_ARG_SCRATCHPAD, pad, DNNL_MEMORY_NONE, CPU_SCRATCHPAD));
    vec_push(m->scope->arena, &m->step->calls, call);
    *out = call;
    return ODLC_OK;
}

odlc_status make_reorder(const struct cpu_making *m, const dnnl_memory_desc_t *from, const dnnl_memory_desc_t *to,
                         struct cpu_call **out)
{
    dnnl_primitive_desc_t *description = HOLDER(m, dnnl_primitive_desc_t, destroy_description);
    dnnl_primitive_attr_t attr;
    TRY(make_attributes(m, &attr));
    TRY_DNNL(m, dnnl_reorder_primitive_desc_create(description, from, m->cpu->engine, to, m->cpu->engine, attr));
    return make_call(m, *description, out);
}

odlc_status call_place(const struct cpu_making *m, struct cpu_call *call, int arg, const dnnl_memory_desc_t *desc,
                       uint32_t place)
{
    return add_arg(m, call, arg, desc, DNNL_MEMORY_NONE, place);
}

odlc_status call_fixed(const struct cpu_making *m, struct cpu_call *call, int arg, const dnnl_memory_desc_t *desc,
                       const void *data)
{
    return add_arg(m, call, arg, desc, (void *)data, CPU_FIXED);
}

static odlc_status reorder(const struct cpu_making *m, const dnnl_memory_desc_t *from, const void *data,
                           const dnnl_memory_desc_t *to, void *packed)
{
    dnnl_primitive_desc_t *description = HOLDER(m, dnnl_primitive_desc_t, destroy_description);
    dnnl_primitive_t *primitive = HOLDER(m, dnnl_primitive_t, destroy_primitive);
    dnnl_memory_t *source = HOLDER(m, dnnl_memory_t, destroy_memory),
                  *target = HOLDER(m, dnnl_memory_t, destroy_memory);
    const dnnl_engine_t engine = m->cpu->engine;
    TRY_DNNL(m, dnnl_reorder_primitive_desc_create(description, from, engine, to, engine, NULL));
    TRY_DNNL(m, dnnl_primitive_create(primitive, *description));
    TRY_DNNL(m, dnnl_memory_create(source, from, engine, (void *)data));
    TRY_DNNL(m, dnnl_memory_create(target, to, engine, packed));
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, *source}, {DNNL_ARG_TO, *target}};
    TRY_DNNL(m, dnnl_primitive_execute(*primitive, m->cpu->stream, 2, args));
    TRY_DNNL(m, dnnl_stream_wait(m->cpu->stream));
    return ODLC_OK;
}

/* Whether the data is a constant of the head as the graph has it, which outlives the step. */
static bool is_stored(const struct cpu_making *m, const void *data)
{
    const struct node *n = making_node(m);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i] != NO_TENSOR && m->scope->constants[n->inputs[i]].data == data)
            return true;
    return false;
}

odlc_status call_packed(const struct cpu_making *m, struct cpu_call *call, int arg, dnnl_primitive_desc_t description,
                        int index, const dnnl_memory_desc_t *plain, const void *data)
{
    const dnnl_memory_desc_t *best = dnnl_primitive_desc_query_md(description, dnnl_query_weights_md, index);
    const size_t size = dnnl_memory_desc_get_size(best);
    if (dnnl_memory_desc_equal(best, plain))
        return call_fixed(m, call, arg, plain, is_stored(m, data) ? data : arena_memdup(m->scope->arena, data, size));
    void *packed = arena_alloc(m->scope->arena, size);
    TRY(reorder(m, plain, data, best, packed));
    return call_fixed(m, call, arg, best, packed);
}

odlc_status call_now(const struct cpu_making *m, struct cpu_call *call, const void *source, void *result)
{
    for (size_t i = 0; i < call->args.count; i++) {
        const dnnl_exec_arg_t *a = &call->args.data[i];
        const dnnl_memory_desc_t *desc;
        if (call->places.data[i].place == CPU_FIXED)
            continue;
        TRY_DNNL(m, dnnl_memory_get_memory_desc(a->memory, &desc));
        void *data = a->arg == DNNL_ARG_SRC   ? (void *)source
                     : a->arg == DNNL_ARG_DST ? result
                                              : arena_alloc(m->scope->scratch, dnnl_memory_desc_get_size(desc));
        TRY_DNNL(m, dnnl_memory_set_data_handle(a->memory, data));
        call->places.data[i].data = data;
    }
    TRY_DNNL(m, dnnl_primitive_execute(call->primitive, m->cpu->stream, (int)call->args.count, call->args.data));
    TRY_DNNL(m, dnnl_stream_wait(m->cpu->stream));
    return ODLC_OK;
}

odlc_status call_run(const struct cpu_step *step, struct cpu_call *call, const void *source, void *result)
{
    for (size_t i = 0; i < call->args.count; i++) {
        const dnnl_exec_arg_t *a = &call->args.data[i];
        struct cpu_place *p = &call->places.data[i];
        const void *data = a->arg == DNNL_ARG_SRC       ? source
                           : a->arg == DNNL_ARG_DST     ? result
                           : p->place == CPU_SCRATCHPAD ? cpu_scratchpad(step)
                                                        : p->data;
        if (data == p->data)
            continue;
        if (dnnl_memory_set_data_handle(a->memory, (void *)data) != dnnl_success)
            return ODLC_ERR_INTERNAL;
        p->data = data;
    }
    const dnnl_stream_t stream = step->cpu->stream;
    if (dnnl_primitive_execute(call->primitive, stream, (int)call->args.count, call->args.data) != dnnl_success)
        return ODLC_ERR_INTERNAL;
    return dnnl_stream_wait(stream) == dnnl_success ? ODLC_OK : ODLC_ERR_INTERNAL;
}
