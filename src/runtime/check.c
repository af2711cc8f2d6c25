#include "runtime/check.h"

/* What a kernel sees of a dtype (op/eval.h): the elements themselves, or numbers of one of two classes. */
static bool same_elements(const struct op *op, enum dtype a, enum dtype b)
{
    if (a == DT_STRING || b == DT_STRING || a == DT_NONE || b == DT_NONE)
        return a == b;
    if (op->compute == COMPUTE_BYTES)
        return dtype_size(a) == dtype_size(b);
    return (dtype_is_float(a) || dtype_is_fixed(a)) == (dtype_is_float(b) || dtype_is_fixed(b));
}

/* A container has no rank 0: one element of rank 1 stands for it. */
static bool same_shape(const struct shape *inferred, const struct shape *stored)
{
    return shape_equal(inferred, stored) || (inferred->rank == 0 && shape_equal(stored, &SHAPE(1)));
}

static odlc_status check_types(struct arena *scratch, struct diags *diags, const struct graph *g, const struct node *n)
{
    struct type *types = arena_array(scratch, struct type, n->n_outputs);
    TRY(n->op->infer(&(struct infer){.graph = g, .node = n, .out = types, .diags = diags}));
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        const struct tensor *t = node_output(g, n, i);
        if (t &&
            !(same_elements(n->op, types[i].dtype, t->type->dtype) && same_shape(&types[i].shape, &t->type->shape)))
            return diag_error(diags, ODLC_ERR_INVALID, AT(.node = n->name, .attribute = t->name), "run-types",
                              "the container gives this tensor %s %s, but %s %s follows from the inputs of %s",
                              dtype_info(t->type->dtype)->display, shape_text(scratch, &t->type->shape),
                              dtype_info(types[i].dtype)->display, shape_text(scratch, &types[i].shape), n->op->name);
    }
    return ODLC_OK;
}

odlc_status plan_check(struct arena *scratch, struct diags *diags, const struct graph *g, const struct needed *needed)
{
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < needed->n_nodes; i++) {
        const struct node *n = graph_node(g, needed->nodes[i]);
        struct arena_mark mark = arena_mark(scratch);
        odlc_status checked = n->op->kernel && n->op->infer ? check_types(scratch, diags, g, n) : ODLC_OK;
        arena_rewind(scratch, mark);
        if (status == ODLC_OK)
            status = checked;
    }
    return status;
}
