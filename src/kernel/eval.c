/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/eval.h"

#include "ir/quant.h"
#include "kernel/fixed_product.h"
#include "kernel/kernel.h"
#include "op/infer.h"

/* The type a kernel sees for elements of dtype. */
static enum dtype wide_dtype(enum dtype dtype, enum compute compute)
{
    if (compute == COMPUTE_BYTES || dtype == DT_NONE || dtype == DT_STRING)
        return dtype;
    if (!dtype_is_float(dtype) && !dtype_is_fixed(dtype))
        return DT_INT64;
    /* float64 graphs keep their precision in float kernels no further than the container does: it stores float32. */
    return compute == COMPUTE_FLOAT || compute == COMPUTE_PRODUCT ? DT_FLOAT32 : DT_FLOAT64;
}

static bool is_other_real(const struct buffer *b)
{
    return b->dtype != DT_FLOAT32 && (dtype_is_float(b->dtype) || dtype_is_fixed(b->dtype));
}

static enum compute compute_of_either(const struct node *n, const struct buffer *in, const struct buffer *out)
{
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (is_other_real(&in[i]))
            return COMPUTE_WIDE;
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (is_other_real(&out[i]))
            return COMPUTE_WIDE;
    return COMPUTE_FLOAT;
}

/* The reals of a node that moves elements. */
struct reals {
    const struct buffer *first;
    bool differ, has_doubles;
};

static void add_reals(struct reals *r, const struct buffer *buffers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct buffer *b = &buffers[i];
        if (!dtype_is_float(b->dtype) && !dtype_is_fixed(b->dtype))
            continue;
        r->first = r->first ? r->first : b;
        r->has_doubles |= b->dtype == DT_FLOAT64;
        r->differ |= b->dtype != r->first->dtype;
        /* An encoding per index of an axis belongs to other elements once they are moved. */
        if (dtype_is_fixed(b->dtype))
            r->differ |= (b->quant && b->quant->per_axis) || !quant_equal(b->quant, r->first->quant);
    }
}

static enum compute compute_of_move(const struct node *n, const struct buffer *in, const struct buffer *out)
{
    struct reals reals = {.first = NULL};
    add_reals(&reals, in, n->n_inputs);
    add_reals(&reals, out, n->n_outputs);
    if (!reals.differ)
        return COMPUTE_BYTES;
    return reals.has_doubles ? COMPUTE_WIDE : COMPUTE_FLOAT;
}

/* The one way in which all buffers of the node are handed over. */
static enum compute compute_of(const struct node *n, enum compute wanted, const struct buffer *in,
                               const struct buffer *out)
{
    if (wanted == COMPUTE_MOVE)
        return compute_of_move(n, in, out);
    return wanted == COMPUTE_EITHER ? compute_of_either(n, in, out) : wanted;
}

static bool gives_elements(const struct node *n, const struct buffer *out)
{
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (out[i].data && shape_count(&out[i].shape) > 0)
            return true;
    return false;
}

static bool has_strings(const struct node *n, const struct buffer *in, const struct buffer *out)
{
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (in[i].dtype == DT_STRING)
            return true;
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (out[i].dtype == DT_STRING)
            return true;
    return false;
}

/* The model's name of it, where it has one. */
static const char *node_label(const struct node *n)
{
    return n->source ? n->source : n->name;
}

/* ---- the call ---- */

/* A node while its kernel runs. */
struct call {
    const struct node *node;
    enum compute compute;
    bool is_sums; /* of fixed-point operands */
    struct fixed_product product;
    struct buffer *in, *out; /* as the kernel gets them */
};

static void widen_inputs(struct call *c, const struct buffer *in, struct arena *scratch)
{
    for (uint32_t i = 0; i < c->node->n_inputs; i++) {
        if (!c->is_sums)
            c->in[i] = buffer_widen(&in[i], wide_dtype(in[i].dtype, c->compute), scratch);
        else
            c->in[i] = i < 2 ? fixed_product_operand(&in[i], scratch) : (struct buffer){.dtype = DT_NONE};
        c->in[i].stored = in[i].dtype;
    }
}

static void make_outputs(struct call *c, const struct buffer *out, struct arena *scratch)
{
    for (uint32_t i = 0; i < c->node->n_outputs; i++) {
        c->out[i] = out[i];
        c->out[i].stored = out[i].dtype;
        c->out[i].dtype = c->is_sums ? DT_FLOAT64 : wide_dtype(out[i].dtype, c->compute);
        if (out[i].data && c->out[i].dtype != out[i].dtype)
            c->out[i].data = arena_calloc(scratch, shape_count(&out[i].shape), dtype_size(c->out[i].dtype));
    }
}

static void narrow_outputs(const struct call *c, struct buffer *out)
{
    for (uint32_t i = 0; i < c->node->n_outputs; i++)
        if (c->is_sums)
            fixed_product_narrow(&c->product, c->out[i].data, &out[i]);
        else if (out[i].data)
            buffer_narrow(&c->out[i], &out[i]);
}

static odlc_status run_kernel(const struct reference_kernel *kernel, const struct node *n, enum compute compute,
                              const struct buffer *in, struct buffer *out, struct arena *scratch)
{
    struct call c = {.node = n,
                     .compute = compute,
                     .is_sums = compute == COMPUTE_PRODUCT && fixed_product_is(n, in, out),
                     .in = arena_array(scratch, struct buffer, n->n_inputs),
                     .out = arena_array(scratch, struct buffer, n->n_outputs)};
    if (c.is_sums)
        c.product = fixed_product_read(n, in, out, scratch);
    widen_inputs(&c, in, scratch);
    make_outputs(&c, out, scratch);
    const struct kernel k = {
        .node = n, .in = c.in, .out = c.out, .n_in = n->n_inputs, .n_out = n->n_outputs, .scratch = scratch};
    TRY(kernel->run(&k));
    narrow_outputs(&c, out);
    return ODLC_OK;
}

odlc_status eval_node(const struct node *n, const struct buffer *in, struct buffer *out, struct arena *scratch,
                      struct diags *diags)
{
    const struct op *op = n->op;
    const struct reference_kernel *kernel = kernel_of(op);
    if (!kernel)
        return diag_error(diags, ODLC_ERR_UNSUPPORTED, AT(.node = n->name), "no-kernel",
                          "there is no implementation of %s%s%s", op->package ? op->package : "",
                          op->package ? "::" : "", op->name);
    if (!gives_elements(n, out)) /* empty tensors have dimensions that no loop should be made of */
        return ODLC_OK;
    enum compute compute = compute_of(n, kernel->compute, in, out);
    if (compute != COMPUTE_BYTES && has_strings(n, in, out))
        return diag_error(diags, ODLC_ERR_UNSUPPORTED, AT(.node = node_label(n)), "dtype",
                          "%s computes on numbers, not on strings", op_subject(diags, op));
    struct arena_mark mark = arena_mark(scratch);
    const odlc_status status = run_kernel(kernel, n, compute, in, out, scratch);
    arena_rewind(scratch, mark);
    if (status != ODLC_OK)
        return diag_error(diags, status, AT(.node = node_label(n)), "kernel", "%s cannot be computed on these values",
                          op_subject(diags, op));
    return ODLC_OK;
}
