/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/native.h"

#include "build/build.h"
#include "kernel/eval.h"
#include "op/op.h"
#include "plugin/callback.h"

struct making {
    const QHPI_Op *op;
    struct arena *arena;
    struct build build;
    struct native_call *call;
};

/* How many of the operands are the operator's inputs. */
static uint32_t count_inputs(const QHPI_Op *op, uint32_t n_params)
{
    if (op->n_inputs >= n_params + op->row->min_inputs && n_params > 0)
        return op->n_inputs - n_params;
    return op->n_inputs;
}

static double number_at(const QHPI_Op *constant, uint64_t i)
{
    switch (constant->outputs[0].type) {
    case QHPI_QUINT8:
        return ((const uint8_t *)constant->data)[i];
    case QHPI_QINT8:
        return ((const int8_t *)constant->data)[i];
    case QHPI_QUINT16:
        return ((const uint16_t *)constant->data)[i];
    case QHPI_QINT16:
        return ((const int16_t *)constant->data)[i];
    case QHPI_INT32:
        return ((const int32_t *)constant->data)[i];
    case QHPI_FLOAT16:
        return (double)half_to_float(((const uint16_t *)constant->data)[i]);
    default:
        return (double)((const float *)constant->data)[i];
    }
}

static void set_tensor(struct arena *arena, struct param *param, const QHPI_Op *constant, uint64_t count)
{
    int64_t *ints = arena_array(arena, int64_t, count);
    double *floats = arena_array(arena, double, count);
    for (uint64_t i = 0; i < count; i++) {
        floats[i] = number_at(constant, i);
        ints[i] = (int64_t)floats[i];
    }
    param->is_tensor = true;
    param->shape = SHAPE((int64_t)count);
    param->ints = ints;
    param->floats = floats;
}

static odlc_status add_param(struct making *m, const struct param_def *def, QHPI_OpRef from)
{
    const QHPI_Op *constant = from.op;
    if (constant->kind == KIND_ABSENT)
        return ODLC_OK;
    if (constant->kind != KIND_CONSTANT)
        return callback_error(m->op, NULL, "plugin-native", "make it by qhpi_op_create_constant",
                              "gets its param %s from an op that is no constant", def->name);
    const uint64_t count = qhpi_count(&constant->outputs[0].shape);
    const enum dtype number = constant->outputs[0].type >= QHPI_FLOAT32 ? DT_FLOAT32 : DT_INT32;
    struct param param = {
        .set = true, .usage = 1, .name = def->name, .dtype = def->dtype == DT_NONE ? number : def->dtype};
    if (def->dtype == DT_STRING || (!def->is_tensor && count != 1))
        return callback_error(m->op, NULL, "plugin-native", NULL, "gets %llu elements for its param %s",
                              (unsigned long long)count, def->name);
    param.f = number_at(constant, 0);
    param.i = (int64_t)param.f;
    if (def->is_tensor)
        set_tensor(m->arena, &param, constant, count);
    build_param(&m->build, &param);
    return ODLC_OK;
}

static struct buffer buffer_of(struct arena *arena, const QHPI_OutputDef *def)
{
    struct buffer b = {.shape = ir_shape_of(&def->shape)};
    b.dtype = dtype_of_def(arena, def, &b.quant);
    return b;
}

static void add_input(struct making *m, QHPI_OpRef ref)
{
    struct graph *g = m->build.graph;
    struct buffer *b = &m->call->in[m->call->n_inputs++];
    if (ref.op->kind == KIND_ABSENT) {
        build_in(&m->build, NO_TENSOR);
        return;
    }
    *b = buffer_of(m->arena, ref_def(ref));
    const struct type type = {b->dtype, b->shape};
    const tensor_id id = graph_add_tensor(g, "in", TENSOR_INPUT, &type);
    graph_tensor(g, id)->quant = b->quant;
    build_in(&m->build, id);
}

static odlc_status check_outputs(struct making *m, const tensor_id *outs)
{
    for (uint32_t i = 0; i < m->op->n_outputs; i++) {
        const struct shape *shape = &graph_tensor(m->build.graph, outs[i])->type->shape;
        const QHPI_Shape given = qhpi_shape_of(shape);
        m->call->out[i] = buffer_of(m->arena, &m->op->outputs[i]);
        if (!qhpi_shape_equal(&given, &m->op->outputs[i].shape))
            return callback_error(m->op, NULL, "plugin-native", NULL, "is made with output %u of %s, and it gives %s",
                                  i, qhpi_shape_text(m->arena, &m->op->outputs[i].shape), shape_text(m->arena, shape));
    }
    return ODLC_OK;
}

odlc_status native_prepare(const QHPI_Op *op, struct arena *arena, struct diags *diags, const struct native_call **out)
{
    struct making m = {.op = op, .arena = arena, .call = arena_new(arena, struct native_call)};
    const uint32_t n_params = op->row->n_params, n_inputs = count_inputs(op, n_params);
    struct graph *g = graph_create(arena, "native");
    tensor_id *outs = arena_array(arena, tensor_id, op->n_outputs);
    const char **names = arena_array(arena, const char *, op->n_outputs);
    m.call->in = arena_array(arena, struct buffer, n_inputs);
    m.call->out = arena_array(arena, struct buffer, op->n_outputs);
    m.call->n_outputs = op->n_outputs;
    build_init(&m.build, g, diags);
    build_row(&m.build, op->row, op->label ? op->label : op->name);
    for (uint32_t i = 0; i < n_inputs; i++)
        add_input(&m, op_operand(op, i));
    for (uint32_t i = n_inputs; i < op->n_inputs; i++)
        TRY(add_param(&m, &op->row->params[i - n_inputs], op_operand(op, i)));
    TRY(build_end_n(&m.build, names, op->n_outputs, outs));
    TRY(check_outputs(&m, outs));
    m.call->node = graph_node(g, graph_tensor(g, outs[0])->producer);
    *out = m.call;
    return ODLC_OK;
}

odlc_status native_run(const struct native_call *call, void *const *data, struct arena *scratch, struct diags *diags)
{
    struct buffer *in = arena_memdup(scratch, call->in, call->n_inputs * sizeof *in);
    struct buffer *out = arena_memdup(scratch, call->out, call->n_outputs * sizeof *out);
    for (uint32_t i = 0; i < call->n_inputs; i++)
        in[i].data = data[i];
    for (uint32_t i = 0; i < call->n_outputs; i++)
        out[i].data = data[call->n_inputs + i];
    return eval_node(call->node, in, out, scratch, diags);
}
