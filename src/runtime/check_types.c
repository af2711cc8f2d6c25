/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/check_types.h"

#include "kernel/kernel.h"
#include "op/infer.h"

static bool is_real(enum dtype dtype)
{
    return dtype_is_float(dtype) || dtype_is_fixed(dtype);
}

/* What a kernel sees of a dtype (kernel/eval.h): the elements themselves, or numbers of one of two classes. */
static bool same_elements(enum compute compute, enum dtype a, enum dtype b)
{
    if (a == DT_STRING || b == DT_STRING || a == DT_NONE || b == DT_NONE)
        return a == b;
    bool real = is_real(a), alike = real == is_real(b);
    if (compute == COMPUTE_BYTES || (compute == COMPUTE_MOVE && !real))
        alike &= dtype_size(a) == dtype_size(b);
    return alike;
}

/* A container has no rank 0: one element of rank 1 stands for it. */
static bool same_shape(const struct shape *inferred, const struct shape *stored)
{
    return shape_equal(inferred, stored) || (inferred->rank == 0 && shape_equal(stored, &SHAPE(1)));
}

static odlc_status check_types(struct arena *scratch, struct diags *diags, const struct graph *g, const struct node *n)
{
    enum compute compute = kernel_of(n->op)->compute;
    struct type *types = arena_array(scratch, struct type, n->n_outputs);
    TRY(n->op->infer(&(struct infer){.graph = g, .node = n, .out = types, .diags = diags}));
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        const struct tensor *t = node_output(g, n, i);
        if (t &&
            !(same_elements(compute, types[i].dtype, t->type->dtype) && same_shape(&types[i].shape, &t->type->shape)))
            return diag_error(diags, ODLC_ERR_INVALID, AT(.node = n->name, .attribute = t->name), "run-types",
                              "the container gives this tensor %s %s, but %s %s follows from the inputs of %s",
                              dtype_info(t->type->dtype)->display, shape_text(scratch, &t->type->shape),
                              dtype_info(types[i].dtype)->display, shape_text(scratch, &types[i].shape), n->op->name);
    }
    return ODLC_OK;
}

static bool lacks_encoding(const struct tensor *t)
{
    return dtype_is_fixed(t->type->dtype) && !t->quant;
}

/* The operand i of all inputs and outputs; NULL where it is absent. */
static const struct tensor *operand(const struct graph *g, const struct node *n, uint32_t i)
{
    return i < n->n_inputs ? node_input(g, n, i) : node_output(g, n, i - n->n_inputs);
}

/* Integers of fixed point stand for no number without their encoding, which may be of a kind that the reader leaves
 * unread. They can only be moved to where they lack it, too. */
static odlc_status check_encodings(struct diags *diags, const struct graph *g, const struct node *n)
{
    const struct tensor *lacking = NULL;
    uint32_t count = n->n_inputs + n->n_outputs;
    for (uint32_t i = 0; i < count && !lacking; i++) {
        const struct tensor *t = operand(g, n, i);
        lacking = t && lacks_encoding(t) ? t : NULL;
    }
    bool as_they_are = kernel_of(n->op)->compute == COMPUTE_MOVE;
    for (uint32_t i = 0; i < count && lacking; i++) {
        const struct tensor *t = operand(g, n, i);
        as_they_are &= !t || !is_real(t->type->dtype) || (lacks_encoding(t) && t->type->dtype == lacking->type->dtype);
    }
    if (!lacking || as_they_are)
        return ODLC_OK;
    return diag_error(diags, ODLC_ERR_UNSUPPORTED, AT(.node = n->name, .attribute = lacking->name), "run-encoding",
                      "%s needs the encoding of tensor %s, which is of type %s: the container has none, or one of a "
                      "kind that is not known",
                      n->op->name, lacking->name, dtype_info(lacking->type->dtype)->display);
}

odlc_status plan_check(struct arena *scratch, struct diags *diags, const struct graph *g, const struct needed *needed)
{
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < needed->n_nodes; i++) {
        const struct node *n = graph_node(g, needed->nodes[i]);
        struct arena_mark mark = arena_mark(scratch);
        bool computed = kernel_of(n->op) != NULL;
        odlc_status checked = computed && n->op->infer ? check_types(scratch, diags, g, n) : ODLC_OK;
        if (checked == ODLC_OK && computed)
            checked = check_encodings(diags, g, n);
        arena_rewind(scratch, mark);
        if (status == ODLC_OK)
            status = checked;
    }
    return status;
}
