/* SPDX-License-Identifier: Apache-2.0 */
/* --float_bitwidth 16: tensors of float32 become ones of float16. Graph inputs and outputs whose dtype is to be
 * preserved keep it behind a Cast; biases, by --float_bias_bitwidth 32, and the data of UDOs, which have the types that
 * their definitions declare, stay as they are. */
#include <math.h>

#include "op/op.h"
#include "pass/kept_types.h"

pass_fn pass_halve_floats;

#define GREATEST 65504.0f

static enum dtype halved(enum dtype dtype)
{
    return dtype == DT_FLOAT32 ? DT_FLOAT16 : dtype;
}

/* Constants that nothing but layers reads, as their bias. */
static void keep_biases(const struct graph *g, const struct uses *uses, bool *kept)
{
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        const struct tensor *bias = n->op->layer != NO_LAYER ? node_input(g, n, 2) : NULL;
        if (bias && bias->kind == TENSOR_STATIC && uses->count[n->inputs[2]] == 1)
            kept[n->inputs[2]] = true;
    }
}

static void keep_udo_data(const struct graph *g, bool *kept)
{
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        for (uint32_t k = 0; n->op->package && k < n->n_inputs; k++)
            if (node_input(g, n, k) && node_input(g, n, k)->kind == TENSOR_STATIC)
                kept[n->inputs[k]] = true;
    }
}

/* Numbers beyond the greatest become it: infinities would make NaN of what is multiplied by zero. */
static bool clamp_constant(const struct pass_context *c, struct graph *g, struct tensor *t)
{
    uint64_t bad;
    if (view_fits(c->scratch, t->view, DT_FLOAT16, &bad))
        return false;
    const struct shape shape = t->type->shape;
    const uint64_t count = shape_count(&shape);
    float *values = arena_memdup(g->arena, view_load(c->scratch, t->view, DT_FLOAT32), count * sizeof *values);
    for (uint64_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            values[i] = fmaxf(-GREATEST, fminf(values[i], GREATEST));
    const struct quant *given = t->view->given;
    *t->view = view_of(values, DT_FLOAT32, &shape);
    t->view->given = given;
    return true;
}

odlc_status pass_halve_floats(struct pass_context *c, struct graph *g)
{
    struct build b;
    const char *first = NULL;
    uint32_t clamped = 0;
    if (!c->options->halve_floats)
        return ODLC_OK;
    build_init(&b, g, c->diags);
    bool *kept = kept_types(c->scratch, g);
    const struct uses uses = graph_uses(c->scratch, g);
    if (c->options->keep_float_biases)
        keep_biases(g, &uses, kept);
    keep_udo_data(g, kept);
    TRY(keep_types(c, &b, preserves_type, halved, kept));
    for (tensor_id id = 0; id < g->tensors.count; id++) {
        struct tensor *t = graph_tensor(g, id);
        if (t->type->dtype != DT_FLOAT32 || kept[id])
            continue;
        if (t->kind == TENSOR_STATIC && uses.count[id] && clamp_constant(c, g, t) && !clamped++)
            first = t->name;
        if (!t->source_dtype)
            t->source_dtype = DT_FLOAT32;
        graph_set_dtype(g, id, DT_FLOAT16);
    }
    if (clamped)
        diag_warn(
            c->diags, AT(.node = first), "float16",
            "constants have numbers beyond 65504, which float16 does not have: they become that (%u constants, %s "
            "first)",
            clamped, first);
    return ODLC_OK;
}
