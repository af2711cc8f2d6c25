/* SPDX-License-Identifier: Apache-2.0 */
/* What a model quantizes and dequantizes again is stored quantized. Lowering gave such a value as Quantize →
 * Dequantize, and known integers as constants that are still to be scaled. A node all of whose real inputs were
 * dequantized, and all of whose results are quantized next, works on the fixed-point tensors themselves; the kernels
 * compute with the reals they stand for, so nothing changes but roundings between the two. Every other node keeps its
 * floats, but for weights: a product of floats takes integers with encodings for them, where these are smaller. With
 * --keep_quant_nodes and --qdq encodings all do, and known integers become the floats that they stand for.
 */
#include <math.h>

#include "ir/quant.h"
#include "kernel/kernel.h"
#include "op/infer.h"
#include "op/params.h"
#include "pass/alias.h"
#include "pass/fixed_constant.h"
#include "pass/search.h"

pass_fn pass_quantize;

struct quantize {
    struct pass_context *c;
    struct graph *g;
    struct uses uses;
    tensor_id *twins; /* per tensor of the old graph: the constant with integers that stands for it, or NO_TENSOR */
    size_t n_tensors;
};

static bool is_op(const struct node *n, enum op_id op)
{
    return n && n->op && node_is(n, op);
}

/* ---- constants ---- */

static tensor_id twin_of(struct quantize *q, tensor_id id)
{
    if (id >= q->n_tensors || graph_tensor(q->g, id)->kind != TENSOR_STATIC)
        return NO_TENSOR;
    if (q->twins[id] == NO_TENSOR)
        q->twins[id] = fixed_constant(q->g, id);
    return q->twins[id];
}

/* ---- nodes that only move elements: dequantized after them, quantized before them ---- */

static bool moves_elements(const struct node *n)
{
    return is_op(n, OP_Transpose) || is_op(n, OP_Reshape);
}

static node_id add_node(struct graph *g, enum op_id op, const char *name, tensor_id in, tensor_id out)
{
    const struct op *row = op_row(op);
    return graph_add_node(g, row, row->n_params, name, &in, 1, &out, 1);
}

/* The node reads the fixed-point tensor in the place of its first input, and gives another one; a Dequantize, which is
 * returned, makes of that what the node gave. */
static node_id dequantize_behind(struct graph *g, node_id id, tensor_id fixed)
{
    const tensor_id real = graph_node(g, id)->outputs[0];
    const struct tensor from = *graph_tensor(g, fixed);
    struct type type = {.dtype = from.type->dtype, .shape = graph_tensor(g, real)->type->shape};
    const char *name = arena_printf(g->arena, "%s.quantized", graph_tensor(g, real)->name);
    tensor_id moved = graph_add_tensor(g, name, TENSOR_NATIVE, &type);
    graph_tensor(g, moved)->quant = from.quant;
    graph_replace_input(g, id, 0, fixed);
    graph_replace_output(g, id, 0, moved);
    return add_node(g, OP_Dequantize, graph_tensor(g, real)->name, moved, real);
}

/* Dequantize → Transpose becomes Transpose → Dequantize. The node's own output stays the dequantized one. */
static node_id sink(struct quantize *q, node_id id)
{
    struct graph *g = q->g;
    const struct node *n = graph_node(g, id);
    const struct node *dequantize = graph_producer(g, n->inputs[0]);
    if (!moves_elements(n) || !is_op(dequantize, OP_Dequantize))
        return NO_NODE;
    const tensor_id fixed = dequantize->inputs[0];
    return graph_tensor(g, fixed)->quant->per_axis ? NO_NODE : dequantize_behind(g, id, fixed);
}

/* Calls change for each node; the node that it returns follows. */
static void insert_behind(struct quantize *q, node_id (*change)(struct quantize *q, node_id id))
{
    struct graph *g = q->g;
    size_t count = g->order.count;
    node_id *before = arena_memdup(q->c->scratch, g->order.data, count * sizeof *before);
    g->order.count = 0;
    for (size_t i = 0; i < count; i++) {
        node_id added = graph_node(g, before[i])->op ? change(q, before[i]) : NO_NODE;
        vec_push(g->arena, &g->order, before[i]);
        if (added != NO_NODE)
            vec_push(g->arena, &g->order, added);
    }
}

/* A real tensor that one node reads, and nothing else. */
static bool is_between(const struct graph *g, const struct uses *uses, tensor_id id)
{
    const struct tensor *t = graph_tensor(g, id);
    return t->kind == TENSOR_NATIVE && t->type->dtype == DT_FLOAT32 && uses->count[id] == 1;
}

/* Transpose → Quantize becomes Quantize → Transpose: gives the node that was before, or NO_NODE. The result keeps the
 * name that the real one had, as that of every quantized node does. */
static node_id hoist(struct graph *g, const struct uses *uses, node_id id)
{
    const struct node quantize = *graph_node(g, id);
    tensor_id real = quantize.inputs[0], fixed = quantize.outputs[0];
    const struct tensor to = *graph_tensor(g, fixed);
    node_id before = graph_tensor(g, real)->producer;
    if (!moves_elements(graph_producer(g, real)) || !is_between(g, uses, real) || !to.quant || to.quant->per_axis)
        return NO_NODE;
    tensor_id from = graph_node(g, before)->inputs[0];
    if (!is_between(g, uses, from))
        return NO_NODE;
    const struct type type = {.dtype = to.type->dtype, .shape = graph_tensor(g, from)->type->shape};
    const char *name = graph_tensor(g, real)->name;
    tensor_id moved =
        graph_add_tensor(g, arena_printf(g->arena, "%s.quantized", graph_tensor(g, from)->name), TENSOR_NATIVE, &type);
    graph_tensor(g, moved)->quant = to.quant;
    graph_replace_input(g, id, 0, from);
    graph_replace_output(g, id, 0, moved);
    graph_replace_input(g, before, 0, moved);
    graph_replace_output(g, before, 0, fixed);
    if (to.kind == TENSOR_NATIVE) {
        graph_rename_tensor(g, real, graph_free_tensor_name(g, arena_printf(g->arena, "%s.real", name)));
        graph_rename_tensor(g, fixed, name);
    }
    return before;
}

/* From the end, so that a Quantize passes all that only moves elements before it. */
static void hoist_all(struct quantize *q)
{
    struct graph *g = q->g;
    size_t *place = arena_array(q->c->scratch, size_t, g->nodes.count);
    for (size_t i = 0; i < g->order.count; i++)
        place[g->order.data[i]] = i;
    for (size_t i = g->order.count; i-- > 0;) {
        node_id id = g->order.data[i];
        node_id before = is_op(graph_node(g, id), OP_Quantize) ? hoist(g, &q->uses, id) : NO_NODE;
        if (before == NO_NODE)
            continue;
        g->order.data[i] = before;
        g->order.data[place[before]] = id;
        place[before] = i;
    }
}

/* ---- who quantizes a value ---- */

/* The Quantize nodes that are all that reads the tensor, when they are of one encoding: the first of them, or NULL. */
static const struct node *quantizer_of(const struct quantize *q, tensor_id t)
{
    const struct graph *g = q->g;
    const struct tensor *tensor = graph_tensor(g, t);
    const struct node *first = NULL;
    if (tensor->kind != TENSOR_NATIVE || tensor->type->dtype != DT_FLOAT32 || t >= q->n_tensors)
        return NULL;
    for (uint32_t i = q->uses.first[t]; i < q->uses.first[t + 1]; i++) {
        const struct node *n = graph_node(g, q->uses.nodes[i]);
        if (!is_op(n, OP_Quantize))
            return NULL;
        if (!first)
            first = n;
        const struct tensor *a = node_output(g, first, 0), *b = node_output(g, n, 0);
        if (n != first && (a->kind == TENSOR_OUTPUT || b->kind == TENSOR_OUTPUT))
            return NULL;
        if (a->type->dtype != b->type->dtype || !quant_equal(a->quant, b->quant))
            return NULL;
    }
    return first;
}

/* A clamp to more than what the quantized type can hold does nothing to what is quantized next: saturation does it. */
static bool clamps_in_vain(const struct node *n, const struct quant *quant)
{
    const struct encoding *e = &quant->encodings[0];
    if (quant->per_axis)
        return false;
    if (node_is(n, OP_Relu))
        return e->min >= 0;
    return node_is(n, OP_ReluMinMax) && e->min >= node_float(n, PARAM_min_value, INFINITY) &&
           e->max <= node_float(n, PARAM_max_value, -INFINITY);
}

static void skip_clamps(struct quantize *q)
{
    struct graph *g = q->g;
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        const struct node *quantizer = n->op && n->n_outputs == 1 ? quantizer_of(q, n->outputs[0]) : NULL;
        if (!quantizer || !clamps_in_vain(n, node_output(g, quantizer, 0)->quant))
            continue;
        tensor_id x = n->inputs[0];
        if (graph_tensor(g, x)->kind != TENSOR_NATIVE || q->uses.count[x] != 1)
            continue;
        graph_replace_uses(g, &q->uses, n->outputs[0], x);
        graph_remove_node(g, g->order.data[i]);
    }
    graph_compact(g);
}

/* ---- nodes on fixed-point tensors ---- */

static bool is_real(const struct tensor *t)
{
    return dtype_is_float(t->type->dtype) || dtype_is_fixed(t->type->dtype);
}

/* The fixed-point tensor that stands for input i, or NO_TENSOR. */
static tensor_id fixed_input(struct quantize *q, const struct node *n, uint32_t i)
{
    const struct node *producer = graph_producer(q->g, n->inputs[i]);
    const struct tensor *t = node_input(q->g, n, i);
    if (is_op(producer, OP_Dequantize))
        return t->type->dtype == DT_FLOAT32 ? producer->inputs[0] : NO_TENSOR;
    if (i == 2 && n->op->weights >> 2 & 1 && t->type->dtype == DT_FLOAT32 && is_zeros(t))
        return fixed_zeros(q->g, n->inputs[i]);
    const bool bias = i == 2 && n->op->weights >> 2 & 1 && t->type->dtype == DT_FLOAT32 && t->kind == TENSOR_STATIC;
    const tensor_id twin = twin_of(q, n->inputs[i]); /* tensors may have moved */
    if (!bias)
        return twin;
    return twin == NO_TENSOR ? fixed_bias(q->g, n->inputs[i], q->c->scratch) : joined_bias(q->g, twin, q->c->scratch);
}

/* A node before and after. */
struct change {
    tensor_id *reads, *gives;
    const struct tensor *first; /* one of the fixed-point tensors */
    bool alike;                 /* all of them have its type and encoding */
};

static void take(const struct quantize *q, struct change *change, tensor_id id)
{
    const struct tensor *t = graph_tensor(q->g, id);
    if (!change->first) {
        change->first = t;
        change->alike = !t->quant->per_axis;
    }
    change->alike &= t->type->dtype == change->first->type->dtype && quant_equal(t->quant, change->first->quant);
}

/* Finds the fixed-point tensors of a node; false when one of its reals has none. */
static bool plan_change(struct quantize *q, const struct node *n, struct change *change)
{
    struct arena *scratch = q->c->scratch;
    *change = (struct change){.first = NULL};
    change->gives = arena_memdup(scratch, n->outputs, n->n_outputs * sizeof *n->outputs);
    change->reads = arena_memdup(scratch, n->inputs, n->n_inputs * sizeof *n->inputs);
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        const struct tensor *t = node_output(q->g, n, i);
        if (!t || !is_real(t))
            continue;
        const struct node *quantizer = quantizer_of(q, n->outputs[i]);
        if (!quantizer)
            return false;
        change->gives[i] = quantizer->outputs[0];
    }
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct tensor *t = node_input(q->g, n, i);
        if (t && is_real(t) && (change->reads[i] = fixed_input(q, n, i)) == NO_TENSOR)
            return false;
    }
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (change->gives[i] != n->outputs[i])
            take(q, change, change->gives[i]);
    if (!change->first) /* no real is computed */
        return false;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (change->reads[i] != n->inputs[i])
            take(q, change, change->reads[i]);
    enum compute compute = kernel_of(n->op)->compute;
    /* A Concat gives each part's reals in its own encoding. */
    return (compute != COMPUTE_BYTES && compute != COMPUTE_MOVE) || node_is(n, OP_Concat) || change->alike;
}

/* Whether the operator's own rule takes these types. */
static bool inferable(const struct quantize *q, const struct node *n)
{
    struct diags quiet;
    diags_init(&quiet, q->c->scratch);
    struct type *types = arena_array(q->c->scratch, struct type, n->n_outputs);
    return n->op->infer(&(struct infer){.graph = q->g, .node = n, .out = types, .diags = &quiet}) == ODLC_OK;
}

/* The quantized result takes the place and the name of the real one, output i; the other Quantize nodes give the same.
 */
static void replace_output(struct quantize *q, struct aliases *aliases, node_id id, uint32_t i, tensor_id fixed)
{
    struct graph *g = q->g;
    tensor_id real = graph_node(g, id)->outputs[i];
    const char *name = graph_tensor(g, real)->name;
    for (uint32_t k = q->uses.first[real]; k < q->uses.first[real + 1]; k++) {
        const struct node *quantizer = graph_node(g, q->uses.nodes[k]);
        if (!quantizer->op) /* reads it twice */
            continue;
        tensor_id given = quantizer->outputs[0];
        graph_remove_node(g, q->uses.nodes[k]);
        if (given != fixed)
            aliases->to[given] = fixed;
    }
    graph_replace_output(g, id, i, fixed);
    if (graph_tensor(g, fixed)->kind == TENSOR_OUTPUT)
        return;
    graph_tensor(g, fixed)->wanted = graph_tensor(g, real)->wanted;
    graph_rename_tensor(g, real, graph_free_tensor_name(g, arena_printf(g->arena, "%s.real", name)));
    graph_rename_tensor(g, fixed, name);
}

static void adopt(struct quantize *q, struct aliases *aliases, node_id id)
{
    const struct node *n = graph_node(q->g, id);
    struct change change;
    bool candidate = !n->op->package && kernel_of(n->op) && n->n_inputs > 0 && !node_is(n, OP_Quantize) &&
                     !node_is(n, OP_Dequantize) && !node_is(n, OP_Cast);
    if (!candidate || !plan_change(q, n, &change))
        return;
    struct node changed = *n;
    changed.inputs = change.reads;
    if (!inferable(q, &changed))
        return;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        graph_replace_input(q->g, id, i, change.reads[i]);
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (change.gives[i] != n->outputs[i])
            replace_output(q, aliases, id, i, change.gives[i]);
}

/* ---- weights of layers that compute with floats ---- */

enum { ENCODING_BYTES = 28 }; /* that one of several encodings takes in a container */

/* Whether integers and encodings are smaller than the floats. */
static bool is_smaller(const struct tensor *fixed)
{
    const uint64_t count = shape_count(&fixed->type->shape);
    return count * dtype_size(fixed->type->dtype) + ENCODING_BYTES * (uint64_t)fixed->quant->count <
           count * sizeof(float);
}

/* The integers stay what is stored, and the layer computes with the floats that they stand for. */
static void keep_weights(struct quantize *q, node_id id)
{
    const struct node *n = graph_node(q->g, id);
    const bool product = !n->op->package && kernel_of(n->op) && kernel_of(n->op)->compute == COMPUTE_PRODUCT;
    const bool recurrent = node_is(n, OP_Lstm) || node_is(n, OP_Gru);
    const uint32_t weights = recurrent ? n->op->weights : product ? 1U << 0 | 1U << 1 : 0;
    for (uint32_t i = 0; weights >> i && i < n->n_inputs; i++) {
        const tensor_id fixed = weights >> i & 1 && n->inputs[i] != NO_TENSOR ? twin_of(q, n->inputs[i]) : NO_TENSOR;
        if (fixed == NO_TENSOR || !is_smaller(graph_tensor(q->g, fixed)))
            continue;
        struct node changed = *n;
        tensor_id *in = arena_memdup(q->c->scratch, n->inputs, n->n_inputs * sizeof *in);
        in[i] = fixed;
        changed.inputs = in;
        if (inferable(q, &changed))
            graph_replace_input(q->g, id, i, fixed);
    }
}

/* ---- rows of known tables: dequantized when they are picked ---- */

enum { OP_BYTES = 1024 }; /* that an op with its tensor takes in a container */

static bool is_worth_an_op(const struct tensor *fixed)
{
    const uint64_t count = shape_count(&fixed->type->shape);
    return count * dtype_size(fixed->type->dtype) + OP_BYTES < count * sizeof(float);
}

/* Gather of a constant that stands for integers becomes one of these, and a Dequantize, which is returned; or NO_NODE.
 */
static node_id keep_table(struct quantize *q, node_id id)
{
    struct graph *g = q->g;
    const struct node *n = graph_node(g, id);
    if (n->op->package || !node_is(n, OP_Gather) || graph_tensor(g, n->outputs[0])->type->dtype != DT_FLOAT32)
        return NO_NODE;
    const tensor_id fixed = twin_of(q, n->inputs[0]);
    if (fixed == NO_TENSOR || graph_tensor(g, fixed)->quant->per_axis || !is_worth_an_op(graph_tensor(g, fixed)))
        return NO_NODE;
    return dequantize_behind(g, id, fixed);
}

/* ---- UDOs: each operand by its own declaration ---- */

static bool is_fixed_of(const struct graph *g, tensor_id id, uint8_t bits)
{
    return id != NO_TENSOR && bits && dtype_value_bits(graph_tensor(g, id)->type->dtype) == bits;
}

/* Data that is declared fixed-point is stored with the integers of the model. */
static void store_udo_constants(struct quantize *q)
{
    for (size_t i = 0; i < q->g->order.count; i++) {
        const struct node *n = graph_node(q->g, q->g->order.data[i]);
        for (uint32_t k = 0; n->forms && k < n->n_inputs; k++) {
            tensor_id fixed =
                n->inputs[k] != NO_TENSOR && n->forms->in[k].fixed_bits ? twin_of(q, n->inputs[k]) : NO_TENSOR;
            if (is_fixed_of(q->g, fixed, n->forms->in[k].fixed_bits))
                graph_replace_input(q->g, q->g->order.data[i], k, fixed);
        }
    }
}

/* Activations that are declared fixed-point, where the model quantizes them to that many bits. */
static void adopt_udo(struct quantize *q, struct aliases *aliases, node_id id)
{
    struct graph *g = q->g;
    const struct node *n = graph_node(g, id);
    for (uint32_t i = 0; n->forms && i < n->n_inputs; i++) {
        const struct node *producer = graph_producer(g, n->inputs[i]);
        if (is_op(producer, OP_Dequantize) && is_fixed_of(g, producer->inputs[0], n->forms->in[i].fixed_bits))
            graph_replace_input(g, id, i, producer->inputs[0]);
    }
    for (uint32_t i = 0; n->forms && i < n->n_outputs; i++) {
        const struct node *quantizer = n->outputs[i] == NO_TENSOR ? NULL : quantizer_of(q, n->outputs[i]);
        if (quantizer && is_fixed_of(g, quantizer->outputs[0], n->forms->out[i].fixed_bits))
            replace_output(q, aliases, id, i, quantizer->outputs[0]);
    }
}

/* ---- the pass ---- */

/* The integers that the model quantizes a value to, which the Quantize node of its fixed-point tensor stands for; their
 * tensor came before that one. NO_TENSOR: something still reads them, or the model has no name for them. */
static tensor_id integers_of(const struct graph *g, tensor_id fixed)
{
    for (tensor_id id = fixed; id-- > 0;) {
        const struct tensor *t = graph_tensor(g, id);
        if (t->quant == graph_tensor(g, fixed)->quant && dtype_is_int(t->type->dtype))
            return t->producer == NO_NODE ? id : NO_TENSOR;
    }
    return NO_TENSOR;
}

/* Nodes that are kept are called as in the model, and so are the tensors between them. */
static void name_quantizers(struct graph *g)
{
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        tensor_id integers = node_is(n, OP_Quantize) ? integers_of(g, n->outputs[0]) : NO_TENSOR;
        if (integers == NO_TENSOR)
            continue;
        const char *name = graph_tensor(g, integers)->name;
        graph_rename_tensor(g, integers, graph_free_tensor_name(g, arena_printf(g->arena, "%s.integers", name)));
        graph_rename_tensor(g, n->outputs[0], name);
        graph_rename_node(g, g->order.data[i], n->source);
    }
}

static void start(struct quantize *q)
{
    q->n_tensors = q->g->tensors.count;
    q->uses = graph_uses(q->c->scratch, q->g);
    q->twins = arena_array(q->c->scratch, tensor_id, q->n_tensors);
    for (size_t i = 0; i < q->n_tensors; i++)
        q->twins[i] = NO_TENSOR;
}

/* Integer tensors were marked with what lowering knew of them; the container gives encodings to fixed-point ones, which
 * were floats, and to floats whose encodings are kept. */
static void settle_types(const struct pass_context *c, struct graph *g)
{
    for (tensor_id id = 0; id < g->tensors.count; id++) {
        struct tensor *t = graph_tensor(g, id);
        if (dtype_is_fixed(t->type->dtype)) {
            t->source_dtype = DT_FLOAT32;
            continue;
        }
        if (t->quant && !t->quant->overridden)
            t->quant = NULL;
        bool scaled = c->options->keep_encodings && t->kind == TENSOR_STATIC && t->type->dtype == DT_FLOAT32;
        const struct quant *quant = scaled ? quant_given(g->arena, t->view) : NULL;
        if (scaled && !quant)
            quant = quant_of_view(g->arena, t->view);
        if (quant)
            quant_override(g, id, quant);
    }
}

static void quantize_nodes(struct quantize *q)
{
    struct graph *g = q->g;
    insert_behind(q, sink);
    start(q);
    hoist_all(q);
    start(q);
    skip_clamps(q);
    start(q);
    struct aliases aliases = aliases_start(q->c->scratch, g);
    for (size_t i = 0; i < g->order.count; i++) {
        if (!graph_node(g, g->order.data[i])->op) /* a Quantize, replaced with what it reads */
            continue;
        aliases_apply(&aliases, g->order.data[i]);
        adopt(q, &aliases, g->order.data[i]);
        adopt_udo(q, &aliases, g->order.data[i]);
        if (!q->c->options->dequantize_weights)
            keep_weights(q, g->order.data[i]);
    }
    if (!q->c->options->dequantize_weights)
        insert_behind(q, keep_table);
}

static bool stands_for_integers(const struct tensor *t)
{
    return t->kind == TENSOR_STATIC && t->view->scale && quant_dtype(t->view->dtype) != DT_NONE;
}

/* Most models quantize nothing; floats are scaled where a Batchnorm was folded into them. */
static bool has_work(struct pass_context *c, const struct graph *g)
{
    for (tensor_id id = 0; id < g->tensors.count; id++)
        if (stands_for_integers(graph_tensor(g, id)))
            return true;
    return graph_may_have(c, g, OP_Quantize) || graph_may_have(c, g, OP_Dequantize);
}

odlc_status pass_quantize(struct pass_context *c, struct graph *g)
{
    struct quantize q = {.c = c, .g = g};
    if (has_work(c, g)) {
        start(&q);
        store_udo_constants(&q);
        if (c->options->keep_quant_nodes)
            name_quantizers(g);
        else if (!c->options->keep_encodings)
            quantize_nodes(&q);
    }
    settle_types(c, g);
    return ODLC_OK;
}
