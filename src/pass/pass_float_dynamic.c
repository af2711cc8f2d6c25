/* SPDX-License-Identifier: Apache-2.0 */
/* Products of integers that a model quantizes while it runs (DynamicQuantizeLinear, MatMulInteger or ConvInteger, Cast,
 * Mul by the scales) become products of the floats that were quantized: targets have no such quantization. The weights
 * are the floats that their integers stand for, which pass_quantize may store as such integers.
 *
 *     x → Divide (scale) → … → q → Cast → Subtract (zero) → product → Cast → Multiply (scale · c)
 *     x → product
 *
 * --keep_integer_ops leaves the integers. */
#include <string.h>

#include "op/op.h"
#include "op/params.h"
#include "pass/alias.h"
#include "pass/search.h"

pass_fn pass_float_dynamic;

enum { LONGEST = 10 }; /* steps of one lowered operator */

struct dynamic {
    struct pass_context *c;
    struct graph *g;
    struct uses uses;
    struct aliases aliases;
    size_t found;
};

/* An operand that is quantized while the model runs. */
struct operand {
    tensor_id real, scale;
    node_id reader; /* who reads the centred integers, as input 0 */
    node_id product;
};

static const struct node *producer(const struct graph *g, tensor_id id, enum op_id op)
{
    const struct node *n = graph_producer(g, id);
    return n && n->op && node_is(n, op) ? n : NULL;
}

/* The tensor before a Cast, and Reshapes around it. */
static tensor_id before_cast(const struct graph *g, tensor_id id)
{
    const struct node *n = graph_producer(g, id);
    for (int step = 0; n && n->op && step < 3 && (node_is(n, OP_Cast) || node_is(n, OP_Reshape)); step++) {
        id = n->inputs[0];
        n = graph_producer(g, id);
    }
    return id;
}

/* x and the scale of bytes saturate(round(x / scale) + zero). False where they are made in another way. */
static bool is_quantized(const struct graph *g, tensor_id bytes, tensor_id zero, struct operand *out)
{
    bool added = false;
    for (int step = 0; step < LONGEST; step++) {
        const struct node *n = graph_producer(g, bytes);
        if (!n || !n->op || n->n_inputs == 0)
            return false;
        if (node_is(n, OP_ElementWiseDivide)) {
            out->real = n->inputs[0];
            out->scale = n->inputs[1];
            return added && graph_tensor(g, out->real)->type->dtype == DT_FLOAT32 &&
                   graph_tensor(g, out->scale)->kind == TENSOR_NATIVE &&
                   shape_count(&graph_tensor(g, out->scale)->type->shape) == 1;
        }
        if (node_is(n, OP_ElementWiseAdd)) {
            if (added || before_cast(g, n->inputs[1]) != before_cast(g, zero))
                return false;
            added = true;
        } else if (!node_is(n, OP_Cast) && !node_is(n, OP_ElementWiseRound) && !node_is(n, OP_ElementWiseMaximum) &&
                   !node_is(n, OP_ElementWiseMinimum)) {
            return false;
        }
        bytes = n->inputs[0];
    }
    return false;
}

/* Bytes less their zero point, as int32. */
static bool is_centred(const struct graph *g, tensor_id id, struct operand *out)
{
    const struct node *minus = producer(g, id, OP_ElementWiseSubtract);
    const struct node *wide = minus ? producer(g, minus->inputs[0], OP_Cast) : NULL;
    return wide && is_quantized(g, wide->inputs[0], minus->inputs[1], out);
}

static bool is_product(const struct node *n)
{
    return node_is(n, OP_MatMul) || node_is(n, OP_Conv2d) || node_is(n, OP_Conv3d) || node_is(n, OP_DepthWiseConv2d);
}

/* Finds the operand of the product that a Cast makes floats of: nothing else reads what stands between. */
static bool find_operand(const struct dynamic *d, const struct node *cast, struct operand *out)
{
    const struct graph *g = d->g;
    tensor_id id = cast->inputs[0];
    out->product = NO_NODE;
    for (int step = 0; step < LONGEST; step++) {
        const node_id reader = graph_tensor(g, id)->producer;
        const struct node *n = graph_producer(g, id);
        if (out->product != NO_NODE && is_centred(g, id, out))
            return true;
        if (!n || !n->op || d->uses.count[id] != 1 || graph_tensor(g, id)->kind != TENSOR_NATIVE ||
            graph_tensor(g, id)->type->dtype != DT_INT32)
            return false;
        if (is_product(n) && out->product == NO_NODE && n->n_inputs >= 2 &&
            node_input(g, n, 1)->kind == TENSOR_STATIC && (n->n_inputs < 3 || n->inputs[2] == NO_TENSOR))
            out->product = reader;
        else if (!node_is(n, OP_Transpose) && !node_is(n, OP_Reshape))
            return false;
        out->reader = reader;
        id = n->inputs[0];
    }
    return false;
}

/* What is left of the scale behind a product of floats: *rest, a constant; NO_TENSOR: nothing. False: it is another
 * scale. */
static bool find_rest(const struct graph *g, const struct node *scaling, tensor_id product, tensor_id scale,
                      tensor_id *rest)
{
    const tensor_id factor = scaling->inputs[scaling->inputs[0] == product];
    const struct node *both = producer(g, factor, OP_ElementWiseMultiply);
    *rest = NO_TENSOR;
    if (factor == scale)
        return true;
    if (!both || (both->inputs[0] != scale && both->inputs[1] != scale))
        return false;
    *rest = both->inputs[both->inputs[0] == scale];
    return graph_tensor(g, *rest)->kind == TENSOR_STATIC;
}

/* Whether the weights can take the constant: one factor, or one per column of a matrix. */
static bool goes_into(const struct graph *g, const struct node *product, tensor_id rest)
{
    if (rest == NO_TENSOR)
        return true;
    const struct tensor *weights = node_input(g, product, 1), *t = graph_tensor(g, rest);
    const struct shape *w = &weights->type->shape, *r = &t->type->shape;
    const bool columns = node_is(product, OP_MatMul) && node_int(product, PARAM_transpose_in1, 0) == 0 && w->rank > 0 &&
                         r->rank > 0 && shape_count(r) == (uint64_t)w->dims[w->rank - 1] &&
                         r->dims[r->rank - 1] == w->dims[w->rank - 1];
    return t->type->dtype == DT_FLOAT32 && (shape_count(r) == 1 || columns);
}

/* A zero point for each channel of the last axis, with which the integers of the channel are bytes: 0 for all where
 * these can be signed. False: those of a channel span more. */
static bool find_zeros(struct arena *scratch, const int32_t *q, uint64_t count, uint64_t channels, bool *is_signed,
                       double *zeros)
{
    int32_t *low = arena_array(scratch, int32_t, channels), *high = arena_array(scratch, int32_t, channels);
    bool fits = true;
    *is_signed = true;
    memset(low, 0, channels * sizeof *low);
    memset(high, 0, channels * sizeof *high);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t c = i % channels;
        low[c] = q[i] < low[c] ? q[i] : low[c];
        high[c] = q[i] > high[c] ? q[i] : high[c];
    }
    for (uint64_t c = 0; c < channels; c++) {
        *is_signed &= low[c] >= INT8_MIN && high[c] <= INT8_MAX;
        fits &= (int64_t)high[c] - low[c] <= UINT8_MAX;
    }
    for (uint64_t c = 0; c < channels; c++)
        zeros[c] = *is_signed ? 0 : -(double)low[c];
    return *is_signed || fits;
}

/* Integers, less their zero points, as bytes that are still to be scaled per channel of the last axis, n of them, or
 * all together: signed ones, or the others with one zero point, or with one per channel. False: they span more. */
static bool as_bytes(struct dynamic *d, const int32_t *q, const struct shape *shape, uint64_t n, struct view *out)
{
    struct arena *arena = d->g->arena;
    const uint64_t count = shape_count(shape);
    double *zeros = arena_array(arena, double, n);
    bool is_signed;
    if (find_zeros(d->c->scratch, q, count, 1, &is_signed, zeros))
        for (uint64_t i = 1; i < n; i++)
            zeros[i] = zeros[0];
    else if (!find_zeros(d->c->scratch, q, count, n, &is_signed, zeros))
        return false;
    uint8_t *bytes = arena_array(arena, uint8_t, count);
    for (uint64_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(q[i] + (int32_t)zeros[i % n]);
    *out = view_of(bytes, is_signed ? DT_INT8 : DT_UINT8, shape);
    out->zero = zeros;
    return true;
}

/* The floats that integers stand for: times one factor, or one per index of the last axis. */
static tensor_id as_floats(struct dynamic *d, tensor_id weights, tensor_id rest)
{
    struct graph *g = d->g;
    static const double one = 1;
    const struct tensor *t = graph_tensor(g, weights);
    const struct shape *shape = &t->type->shape;
    const uint64_t count = shape_count(shape);
    const uint64_t n = rest == NO_TENSOR ? 1 : shape_count(&graph_tensor(g, rest)->type->shape);
    const double *scale = rest == NO_TENSOR ? &one : view_load(g->arena, graph_tensor(g, rest)->view, DT_FLOAT64);
    const int32_t *q = view_load(d->c->scratch, t->view, DT_INT32);
    struct view view;
    if (as_bytes(d, q, shape, n, &view)) {
        view.scale = scale;
        view.scale_axis = n == 1 ? SCALE_WHOLE : shape->rank - 1;
    } else {
        float *w = arena_array(g->arena, float, count);
        for (uint64_t i = 0; i < count; i++)
            w[i] = (float)(q[i] * scale[i % n]);
        view = view_of(w, DT_FLOAT32, shape);
    }
    return graph_add_constant(g, tensor_wanted_name(t), DT_FLOAT32, &view);
}

static void make_float(struct dynamic *d, const struct node *cast, const struct operand *operand, tensor_id rest)
{
    struct graph *g = d->g;
    tensor_id id = cast->inputs[0];
    for (node_id at = NO_NODE; at != operand->reader; id = graph_node(g, at)->inputs[0]) {
        at = graph_tensor(g, id)->producer;
        graph_set_dtype(g, id, DT_FLOAT32);
        if (at == operand->product)
            graph_replace_input(g, at, 1, as_floats(d, graph_node(g, at)->inputs[1], rest));
    }
    graph_replace_input(g, operand->reader, 0, operand->real);
}

/* The product, scaled by its weights, takes the place and the name of what was scaled behind it. */
static void drop_scaling(struct dynamic *d, node_id scaling, tensor_id product)
{
    struct graph *g = d->g;
    const tensor_id scaled = graph_node(g, scaling)->outputs[0];
    const char *name = graph_tensor(g, scaled)->name;
    const bool given = graph_tensor(g, scaled)->kind == TENSOR_OUTPUT;
    graph_remove_node(g, scaling);
    if (!aliases_replace(&d->aliases, scaled, product) || given)
        return;
    graph_rename_tensor(g, scaled, graph_free_tensor_name(g, arena_printf(g->arena, "%s.scaled", name)));
    graph_rename_tensor(g, product, name);
}

static void look_at(struct dynamic *d, node_id id)
{
    struct graph *g = d->g;
    const struct node *cast = graph_node(g, id);
    struct operand operand;
    tensor_id rest;
    if (!node_is(cast, OP_Cast) || node_input(g, cast, 0)->type->dtype != DT_INT32)
        return;
    const tensor_id given = cast->outputs[0];
    const struct tensor *t = graph_tensor(g, given);
    bool between = t->kind == TENSOR_NATIVE && t->type->dtype == DT_FLOAT32 && d->uses.count[given] == 1;
    const node_id reader = between ? d->uses.nodes[d->uses.first[given]] : NO_NODE;
    if (!between || !node_is(graph_node(g, reader), OP_ElementWiseMultiply) || !find_operand(d, cast, &operand) ||
        !find_rest(g, graph_node(g, reader), given, operand.scale, &rest))
        return;
    const tensor_id product = cast->inputs[0];
    const bool folded = goes_into(g, graph_node(g, operand.product), rest);
    make_float(d, cast, &operand, folded ? rest : NO_TENSOR);
    graph_remove_node(g, id);
    d->found++;
    if (folded) {
        drop_scaling(d, reader, product);
        return;
    }
    graph_replace_input(g, reader, 0, product);
    graph_replace_input(g, reader, 1, rest);
}

odlc_status pass_float_dynamic(struct pass_context *c, struct graph *g)
{
    if (c->options->keep_integer_ops || !graph_may_have(c, g, OP_Cast))
        return ODLC_OK;
    struct dynamic d = {.c = c, .g = g};
    d.uses = graph_uses(c->scratch, g);
    d.aliases = aliases_start(c->scratch, g);
    for (size_t i = 0; i < g->order.count; i++) {
        if (!graph_node(g, g->order.data[i])->op)
            continue;
        aliases_apply(&d.aliases, g->order.data[i]);
        look_at(&d, g->order.data[i]);
    }
    graph_compact(g);
    aliases_finish(&d.aliases);
    if (d.found > 0)
        diag_note(
            c->diags, AT(.node = NULL), "dynamic-quantization",
            "targets quantize nothing while a model runs: %zu products of integers that the model quantizes so are "
            "products of floats (--keep_integer_ops keeps them)",
            d.found);
    return ODLC_OK;
}
