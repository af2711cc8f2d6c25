/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/device_bench.h"

#include <string.h>

#include "op/op.h"

/* Bytes of each zone: a multiple of every alignment of a device. */
enum { ZONE = 16384 };

struct bench_operand {
    const char *name;
    struct buffer value;
    uint8_t *elements; /* of inputs and params */
    uint64_t size;
    uint8_t *before, *after; /* of an execution: zone, elements, zone */
    void *place, *handle;    /* of all that; of the elements */
};

/* ---- the device ---- */

/* The scope in which a step is prepared: its op is made already. */
struct handing {
    struct backend_scope scope;
    struct device_op *op;
};

static odlc_status open_nothing(const struct backend_scope *scope)
{
    (void)scope;
    return ODLC_OK;
}

static const char *refuse_nothing(const struct backend_scope *scope, const struct node *n)
{
    (void)scope, (void)n;
    return NULL;
}

static odlc_status hand_over(const struct backend_scope *scope, const struct node *n, struct device_op **out)
{
    (void)n;
    *out = ((const struct handing *)(const void *)scope)->op;
    return ODLC_OK;
}

static const struct device_ops handed_ops = {.open = open_nothing, .refuse = refuse_nothing, .create = hand_over};

static struct backend_scope scope_of(struct device_bench *bench)
{
    diags_init(&bench->diags, bench->arena);
    return (struct backend_scope){.arena = bench->arena,
                                  .scratch = bench->scratch,
                                  .diags = &bench->diags,
                                  .threads = 1,
                                  .device_ops = &handed_ops};
}

odlc_status bench_open(struct arena *arena, const struct backend *backend, struct device_bench *bench)
{
    struct backend_scope *scope = arena_new(arena, struct backend_scope);
    *bench = (struct device_bench){.backend = backend, .arena = arena, .scratch = arena};
    *scope = scope_of(bench);
    return backend->open(scope, &bench->state);
}

/* ---- a node whose operands are all inputs ---- */

/* Inputs by which the kernels name params, behind all that they name as inputs. */
static uint32_t first_param(const struct node *n, const struct device_op *op)
{
    uint32_t first = n->n_inputs;
    for (uint32_t k = 0; k < op->n_kernels; k++)
        for (uint32_t i = 0; i < op->kernels[k].n_args; i++) {
            const struct device_arg *arg = &op->kernels[k].args[i];
            if (arg->kind == DEVICE_ARG_INPUT && arg->index >= first)
                first = arg->index + 1;
        }
    return first;
}

static struct device_arg as_input(struct device_arg arg, uint32_t params)
{
    if (arg.kind == DEVICE_ARG_PARAM) {
        arg.kind = DEVICE_ARG_INPUT;
        arg.index += params;
    }
    return arg;
}

/* The op with constants and params as inputs whose elements are not known. */
static struct device_op *open_up(struct arena *arena, const struct node *n, const struct device_op *op, uint32_t params,
                                 uint32_t count)
{
    struct device_op *out = arena_new(arena, struct device_op);
    struct buffer *inputs = arena_array(arena, struct buffer, count);
    struct device_kernel *kernels = arena_array(arena, struct device_kernel, op->n_kernels);
    for (uint32_t i = 0; i < count; i++) {
        if (i < n->n_inputs || i >= params)
            inputs[i] = i < params ? op->inputs[i] : op->params[i - params];
        inputs[i].data = NULL;
    }
    for (uint32_t k = 0; k < op->n_kernels; k++) {
        struct device_arg *args = arena_array(arena, struct device_arg, op->kernels[k].n_args);
        for (uint32_t i = 0; i < op->kernels[k].n_args; i++)
            args[i] = as_input(op->kernels[k].args[i], params);
        kernels[k] = op->kernels[k];
        kernels[k].args = args;
    }
    *out = *op;
    out->inputs = inputs;
    out->kernels = kernels;
    return out;
}

/* Params that some kernel takes; others, and those without elements, are no operands. */
static uint32_t count_params(const struct device_op *op)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < op->n_kernels; k++)
        for (uint32_t i = 0; i < op->kernels[k].n_args; i++)
            if (op->kernels[k].args[i].kind == DEVICE_ARG_PARAM && op->kernels[k].args[i].index >= count)
                count = op->kernels[k].args[i].index + 1;
    return count;
}

/* ---- operands ---- */

static void add_operand(struct bench_op *o, struct graph *g, const char *name, const struct buffer *value,
                        const void *elements, tensor_id *id)
{
    struct arena *arena = o->bench->arena;
    *id = NO_TENSOR;
    if (value->dtype == DT_NONE || dtype_size(value->dtype) == 0 || shape_count(&value->shape) == 0)
        return;
    struct bench_operand *operand = &o->operands[o->count];
    const struct type type = {value->dtype, value->shape};
    *id = graph_add_tensor(g, name, TENSOR_INPUT, &type);
    graph_tensor(g, *id)->quant = value->quant;
    *operand = (struct bench_operand){
        .name = name, .value = *value, .size = shape_count(&value->shape) * dtype_size(value->dtype)};
    operand->before = arena_alloc(arena, operand->size + 2 * ZONE);
    operand->after = arena_alloc(arena, operand->size + 2 * ZONE);
    operand->elements = elements ? arena_alloc(arena, operand->size) : NULL;
    if (elements)
        memcpy(operand->elements, elements, operand->size);
    o->count++;
}

static odlc_status take_places(struct bench_op *o)
{
    const struct device_bench *b = o->bench;
    const struct memory *memory = b->backend->memory;
    uint64_t offset = 0;
    o->block = memory->take(b->state, 0);
    for (uint32_t i = 0; o->block && i < o->count; i++) {
        struct bench_operand *operand = &o->operands[i];
        operand->place = memory->place(b->state, o->block, offset, operand->size + 2 * ZONE);
        operand->handle = operand->place ? memory->part(b->state, o->block, operand->place, ZONE, operand->size) : NULL;
        if (!operand->handle)
            return ODLC_ERR_NOMEM;
        offset += (operand->size + 2 * ZONE + memory->alignment - 1) / memory->alignment * memory->alignment;
    }
    return o->block ? ODLC_OK : ODLC_ERR_NOMEM;
}

static void describe_places(struct bench_op *o)
{
    o->in = arena_array(o->bench->arena, struct buffer, o->count);
    o->out = o->in + o->first_output;
    for (uint32_t i = 0; i < o->count; i++) {
        o->in[i] = o->operands[i].value;
        o->in[i].data = o->operands[i].handle;
    }
}

/* ---- the op ---- */

/* ids: the node's inputs, then its outputs. */
static struct step_io io_of(const struct bench_op *o, const tensor_id *ids, uint32_t count)
{
    tensor_id *present = arena_array(o->bench->arena, tensor_id, o->count);
    uint32_t *places = arena_array(o->bench->arena, uint32_t, count), next = 0;
    for (uint32_t i = 0; i < count; i++) {
        places[i] = ids[i] == NO_TENSOR ? PLACE_ABSENT : next;
        if (ids[i] != NO_TENSOR)
            present[next++] = ids[i];
    }
    return (struct step_io){.inputs = present,
                            .outputs = present + o->first_output,
                            .n_inputs = o->first_output,
                            .n_outputs = o->count - o->first_output,
                            .places = places};
}

static struct buffer *types_of(struct arena *arena, const struct graph *g)
{
    struct buffer *types = arena_array(arena, struct buffer, g->tensors.count);
    for (size_t i = 0; i < g->tensors.count; i++) {
        const struct tensor *t = graph_tensor(g, (tensor_id)i);
        types[i] = (struct buffer){.dtype = t->type->dtype, .shape = t->type->shape, .quant = t->quant};
    }
    return types;
}

static odlc_status prepare(struct bench_op *o, struct graph *g, const struct node *n, struct device_op *op,
                           const tensor_id *ids, uint32_t n_inputs)
{
    struct device_bench *b = o->bench;
    struct group group = {0};
    struct handing h = {.scope = scope_of(b), .op = op};
    const struct step_io io = io_of(o, ids, n_inputs + n->n_outputs);
    h.scope.graph = g;
    h.scope.constants = types_of(b->arena, g);
    vec_push(b->arena, &group.nodes,
             graph_add_node(g, n->op, n->op->n_params, n->name, ids, n_inputs, ids + n_inputs, n->n_outputs));
    TRY(take_places(o));
    describe_places(o);
    TRY(b->backend->prepare(b->state, &h.scope, &group, &io, &o->step));
    return b->backend->settle ? b->backend->settle(o->step) : ODLC_OK;
}

odlc_status bench_make(struct device_bench *bench, const struct node *n, const struct device_op *op,
                       const struct buffer *inputs, struct bench_op *out)
{
    struct arena *arena = bench->arena;
    struct graph *g = graph_create(arena, "bench");
    const uint32_t params = first_param(n, op), n_inputs = params + count_params(op);
    tensor_id *ids = arena_array(arena, tensor_id, n_inputs + n->n_outputs);
    *out = (struct bench_op){.bench = bench};
    out->operands = arena_array(arena, struct bench_operand, n_inputs + n->n_outputs);
    for (uint32_t i = 0; i < n_inputs; i++) {
        const struct buffer none = {.dtype = DT_NONE};
        const bool is_param = i >= params;
        const struct buffer *value = is_param ? &op->params[i - params] : i < n->n_inputs ? &inputs[i] : &none;
        add_operand(out, g,
                    arena_printf(arena, "%s %u", is_param ? "tensor param" : "input", is_param ? i - params : i), value,
                    value->data, &ids[i]);
    }
    out->first_output = out->count;
    for (uint32_t i = 0; i < n->n_outputs; i++)
        add_operand(out, g, arena_printf(arena, "output %u", i), &op->outputs[i], NULL, &ids[n_inputs + i]);
    const odlc_status status = prepare(out, g, n, open_up(arena, n, op, params, n_inputs), ids, n_inputs);
    if (status != ODLC_OK)
        bench_give(out);
    return status;
}

void bench_give(struct bench_op *op)
{
    const struct device_bench *b = op->bench;
    if (op->step && b->backend->release)
        b->backend->release(op->step);
    if (op->block)
        b->backend->memory->give(b->state, op->block);
    op->step = op->block = NULL;
}

/* ---- executions ---- */

odlc_status bench_execute_again(struct bench_op *op)
{
    const struct device_bench *b = op->bench;
    const struct memory *memory = b->backend->memory;
    struct backend_scope scope = scope_of(op->bench);
    if (memory->begin)
        memory->begin(b->state);
    TRY(b->backend->run(op->step, &scope, op->in, op->out));
    return memory->finish(b->state);
}

static void note_fault(const struct bench_operand *operand, bool is_output, struct bench_fault *fault)
{
    const uint64_t size = operand->size + 2 * ZONE;
    for (uint64_t i = 0; i < size && !fault->name; i++) {
        const bool is_element = i >= ZONE && i < ZONE + operand->size;
        if (operand->before[i] == operand->after[i] || (is_element && is_output))
            continue;
        *fault = (struct bench_fault){.name = operand->name,
                                      .first = (int64_t)i - ZONE,
                                      .is_before = i < ZONE,
                                      .is_behind = i >= ZONE + operand->size};
        const uint64_t end = fault->is_before ? ZONE : fault->is_behind ? size : ZONE + operand->size;
        for (uint64_t k = i; k < end; k++)
            fault->bytes += operand->before[k] != operand->after[k];
    }
}

odlc_status bench_execute(struct bench_op *op, uint8_t fill, uint8_t zone, uint8_t *to, struct bench_fault *fault)
{
    const struct device_bench *b = op->bench;
    const struct memory *memory = b->backend->memory;
    *fault = (struct bench_fault){0};
    for (uint32_t i = 0; i < op->count; i++) {
        const struct bench_operand *operand = &op->operands[i];
        memset(operand->before, zone, operand->size + 2 * ZONE);
        if (operand->elements)
            memcpy(operand->before + ZONE, operand->elements, operand->size);
        else
            memset(operand->before + ZONE, fill, operand->size);
        TRY(memory->upload(b->state, operand->place, operand->before, operand->size + 2 * ZONE, false));
    }
    TRY(bench_execute_again(op));
    for (uint32_t i = 0; i < op->count; i++) {
        const struct bench_operand *operand = &op->operands[i];
        TRY(memory->download(b->state, operand->after, operand->place, operand->size + 2 * ZONE));
        note_fault(operand, i >= op->first_output, fault);
        if (i >= op->first_output) {
            memcpy(to, operand->after + ZONE, operand->size);
            to += operand->size;
        }
    }
    return ODLC_OK;
}

void bench_poke(struct bench_op *op, const void *bytes, size_t size)
{
    memcpy(op->operands[0].elements, bytes, size);
}
