/* SPDX-License-Identifier: Apache-2.0 */
/* The container's ops know 32-bit integers and floats: int64 becomes int32, uint64 uint32, float64 and bfloat16
 * float32. The tensor remembers the model's dtype. A constant that does not fit is an error, never a clamped value.
 * Graph inputs and outputs whose dtype is to be preserved keep it behind a Cast. */
#include <string.h>

#include "op/op.h"
#include "pass/kept_types.h"

pass_fn pass_narrow_types;

static odlc_status narrow_constant(struct pass_context *c, struct graph *g, struct tensor *t, enum dtype to)
{
    uint64_t bad = 0;
    if (t->view->dtype != t->type->dtype) { /* a cast to the wide type is pending: it comes first */
        const void *wide = view_load(g->arena, t->view, t->type->dtype);
        *t->view = view_of(wide, t->type->dtype, &t->type->shape);
    }
    if (dtype_is_float(to) || view_fits(c->scratch, t->view, to, &bad))
        return ODLC_OK;
    return diag_error(c->diags, ODLC_ERR_UNSUPPORTED,
                      AT(.node = t->name, .hint = "the container stores 32-bit integers only"), "value-range",
                      "constant %s: its element %llu does not fit into %s", t->name, (unsigned long long)bad,
                      dtype_info(to)->name);
}

/* Types that containers do not have cannot be kept. */
static bool preserves(const struct pass_context *c, const struct tensor *t)
{
    if (c->options->keep_int64_inputs && t->kind == TENSOR_INPUT && t->type->dtype == DT_INT64)
        return true;
    return preserves_type(c, t);
}

/* One warning for the model: the results are not those of the precision that it asks for. */
static void warn_of_precision(const struct pass_context *c, const char *first, uint32_t count)
{
    if (count)
        diag_warn(c->diags, AT(.node = first), "float64", "float64 becomes float32: %u tensors of the model, %s first",
                  count, first);
}

/* Results may have more bits than operands, also those of operands that fit. */
static bool may_wrap(const struct graph *g, const struct node *n)
{
    const struct tensor *out = node_output(g, n, 0);
    return n->op->may_wrap && out && !dtype_is_float(out->type->dtype) &&
           dtype_size(out->type->dtype) >= sizeof(int64_t);
}

/* How many nodes may, and the first one. Steps on the way of an operator, such as counting an index from the other end,
 * have other names than it, and stay within what the operator allows. */
static uint32_t find_wrapping(const struct graph *g, const char **first)
{
    uint32_t count = 0;
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        bool is_step = n->source && strcmp(n->source, n->name) != 0;
        if (!is_step && may_wrap(g, n) && !count++)
            *first = n->name;
    }
    return count;
}

static void warn_of_wrapping(const struct pass_context *c, const char *first, uint32_t count)
{
    if (count)
        diag_warn(c->diags, AT(.node = first), "int64",
                  "integers of 64 bits become ones of 32 bits, beyond which results wrap: those of %u nodes, %s first",
                  count, first);
}

static bool is_narrowed(const struct type *type)
{
    return dtype_narrowed(type->dtype) != type->dtype;
}

odlc_status pass_narrow_types(struct pass_context *c, struct graph *g)
{
    struct build b;
    if (!type_set_any(&g->types, is_narrowed))
        return ODLC_OK;
    const char *first_double = NULL, *first_wrapping = NULL;
    uint32_t doubles = 0, wrapping = find_wrapping(g, &first_wrapping);
    build_init(&b, g, c->diags);
    /* The Casts below add readers of graph inputs only, so these lists stay right for what they are asked. */
    struct uses uses = graph_uses(c->scratch, g);
    bool *kept = kept_types(c->scratch, g);
    TRY(keep_types(c, &b, preserves, dtype_narrowed, kept));
    odlc_status status = ODLC_OK;
    for (tensor_id id = 0; id < g->tensors.count; id++) {
        struct tensor *t = graph_tensor(g, id);
        enum dtype to = dtype_narrowed(t->type->dtype);
        if (to == t->type->dtype || kept[id] || (t->kind == TENSOR_STATIC && !uses.count[id]))
            continue;
        if (t->kind == TENSOR_STATIC && narrow_constant(c, g, t, to) != ODLC_OK)
            status = ODLC_ERR_UNSUPPORTED; /* all of them are reported */
        if (t->type->dtype == DT_FLOAT64 && uses.count[id] && !doubles++)
            first_double = t->name;
        t->source_dtype = (uint8_t)t->type->dtype;
        graph_set_dtype(g, id, to);
    }
    warn_of_precision(c, first_double, doubles);
    warn_of_wrapping(c, first_wrapping, wrapping);
    return status;
}
