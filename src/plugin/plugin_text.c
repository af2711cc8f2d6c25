/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of plugin ops as text. */
#include "plugin/plugin_graph.h"

const char *element_type_name(uint32_t type)
{
    static const char *const names[] = {"any", "QUInt8", "QUInt16", "QInt8", "QInt16", "Int32", "Float32", "Float16"};
    return type < COUNT_OF(names) ? names[type] : "?";
}

const char *qhpi_shape_text(struct arena *arena, const QHPI_Shape *shape)
{
    const struct shape s = ir_shape_of(shape);
    return shape_text(arena, &s);
}

static void add_ref(struct arena *arena, text *t, QHPI_OpRef ref)
{
    text_add(arena, t, "%%%u", ref.op->id);
    if (ref.op->n_outputs > 1)
        text_add(arena, t, ".%u", ref.output_number);
}

/* A tensor that is put together of many tiles has a step a tile, with such a text. */
enum { SHOWN_OPERANDS = 32 };

const char *op_text(struct arena *arena, const QHPI_Op *op)
{
    text t = {0};
    text_add(arena, &t, "%%%u = %s(", op->id, op->name);
    for (uint32_t i = 0; i < op->n_inputs && i < SHOWN_OPERANDS; i++) {
        text_add(arena, &t, "%s", i ? ", " : "");
        add_ref(arena, &t, op_operand(op, i));
    }
    if (op->n_inputs > SHOWN_OPERANDS)
        text_add(arena, &t, ", ... %u more", op->n_inputs - SHOWN_OPERANDS);
    text_add(arena, &t, ")");
    if (op->kind == KIND_SLICE)
        text_add(arena, &t, " at %s", qhpi_shape_text(arena, &op->starts[0]));
    for (uint32_t i = 0; i < op->n_outputs; i++)
        text_add(arena, &t, "%s%s %s", i ? ", " : " -> ", element_type_name(op->outputs[i].type),
                 qhpi_shape_text(arena, &op->outputs[i].shape));
    return t.data;
}

static bool is_operand(const QHPI_Op *of, const QHPI_Op *op)
{
    for (uint32_t i = 0; i < of->n_inputs; i++)
        if (op_operand(of, i).op == op)
            return true;
    return false;
}

/* Few ops: a rewrite makes no large graphs, and what it makes is made behind `before`. */
const char *subgraph_text(struct arena *arena, const QHPI_Op *op, const QHPI_Op *before)
{
    VEC(const QHPI_Op *) ops = {0};
    text t = {0};
    vec_push(arena, &ops, op);
    for (size_t k = 0; before && k < ops.count; k++)
        for (uint32_t i = 0; i < ops.data[k]->n_inputs; i++) {
            const QHPI_Op *operand = op_operand(ops.data[k], i).op;
            bool known = is_operand(before, operand);
            for (size_t j = 0; j < ops.count && !known; j++)
                known = ops.data[j] == operand;
            if (!known)
                vec_push(arena, &ops, operand);
        }
    for (size_t k = ops.count; k-- > 0;)
        text_add(arena, &t, "%s%s", op_text(arena, ops.data[k]), k ? "\n" : "");
    return t.data;
}
