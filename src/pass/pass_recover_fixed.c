/* SPDX-License-Identifier: Apache-2.0 */
/* Integers that a model passes on between its quantizing operators are fixed-point tensors: graph inputs that are
 * dequantized at once, what only moves such integers (or picks some: the largest, or those within bounds), and graph
 * outputs that are quantized last.
 * Lowering marked integers with the encoding by which the model reads them, and computed the reals step by step:
 *
 *     integers → Cast → Subtract → Multiply → Quantize → Dequantize
 *
 * Where the integers are known to have a fixed-point twin, it takes the place of that Quantize; else the reals are
 * read as they were computed.
 *
 * Integers that stay, because the model computes with them (a Resize that interpolates), stand between fixed-point
 * tensors where the nodes around can work on these: steps that make them divide what Dequantize gives of a Quantize,
 * and the Quantize of the reals that are computed from them stays. Neither changes a number: these reals are such
 * already. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "ir/quant.h"
#include "kernel/kernel.h"
#include "kernel/resample.h"
#include "op/op.h"
#include "op/params.h"
#include "pass/alias.h"
#include "pass/kept_types.h"

pass_fn pass_recover_fixed;

enum { MOST_MOVES = 4 }; /* that are looked behind for a reader */

/* Of an integer tensor with a mark. */
struct integers {
    node_id quantizer; /* Quantize of the reals that the model computes from it, or that it was made of; or NO_NODE */
    tensor_id twin;    /* its fixed-point tensor, or NO_TENSOR */
    tensor_id real;    /* the reals of a twin that was moved, on their way; or NO_TENSOR */
    bool read;         /* the quantizer's reals are computed from it: a DequantizeLinear that found no mark */
    bool moved;        /* marked here: nothing is known of it but what is around it */
    bool pure;         /* nothing reads the integers but what reads the twin instead */
    bool can, wanted;  /* there can be a twin; somebody needs it */
};

struct recovery {
    struct pass_context *c;
    struct graph *g;
    struct uses uses;
    struct integers *of; /* by tensor */
    size_t n_tensors;
    node_id *nodes; /* in execution order */
    size_t n_nodes;
    struct aliases aliases;
};

/* ---- marks ---- */

struct mark {
    const struct quant *quant;
    tensor_id integers;
};

static int by_quant(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct mark *)a)->quant, y = (uintptr_t)((const struct mark *)b)->quant;
    return (x > y) - (x < y);
}

static bool is_integer_type(const struct type *type)
{
    return quant_dtype(type->dtype) != DT_NONE && dtype_value_bits(type->dtype) <= 16;
}

static bool is_integer(const struct tensor *t)
{
    return is_integer_type(t->type);
}

/* Whether reals are computed from the integers by Cast, Subtract and Multiply alone. */
static bool is_computed_from(const struct graph *g, tensor_id real, tensor_id integers)
{
    for (int step = 0; step < 4 && real != integers; step++) {
        const struct node *n = graph_producer(g, real);
        if (!n || (!node_is(n, OP_Cast) && !node_is(n, OP_ElementWiseSubtract) && !node_is(n, OP_ElementWiseMultiply)))
            return false;
        real = n->inputs[0];
    }
    return real == integers;
}

/* The first step of QuantizeLinear, which made the integers; NO_NODE: it did not make them. */
static node_id dividing(const struct graph *g, tensor_id integers)
{
    tensor_id x = integers;
    for (int step = 0; step < 8; step++) {
        const struct node *n = graph_producer(g, x);
        if (!n || n->n_inputs == 0 || n->inputs[0] == NO_TENSOR || is_integer(graph_tensor(g, n->inputs[0])))
            return NO_NODE;
        if (node_is(n, OP_ElementWiseDivide))
            return graph_tensor(g, x)->producer;
        x = n->inputs[0];
    }
    return NO_NODE;
}

/* The reals that QuantizeLinear makes integers of; NO_TENSOR: it did not make them. */
static tensor_id divided(const struct graph *g, tensor_id integers)
{
    const node_id id = dividing(g, integers);
    return id == NO_NODE ? NO_TENSOR : graph_node(g, id)->inputs[0];
}

/* Finds the Quantize that belongs to each marked tensor: false when there is no mark. */
static bool find_quantizers(struct recovery *r)
{
    struct graph *g = r->g;
    size_t count = 0;
    for (tensor_id id = 0; id < r->n_tensors; id++)
        count += is_integer(graph_tensor(g, id)) && graph_tensor(g, id)->quant;
    struct mark *marks = arena_array(r->c->scratch, struct mark, count + 1);
    count = 0;
    for (tensor_id id = 0; id < r->n_tensors; id++) {
        r->of[id] = (struct integers){.quantizer = NO_NODE, .twin = NO_TENSOR, .real = NO_TENSOR};
        if (is_integer(graph_tensor(g, id)) && graph_tensor(g, id)->quant)
            marks[count++] = (struct mark){graph_tensor(g, id)->quant, id};
    }
    qsort(marks, count, sizeof *marks, by_quant);
    for (size_t i = 0; i < r->n_nodes; i++) {
        const struct node *n = graph_node(g, r->nodes[i]);
        if (!node_is(n, OP_Quantize))
            continue;
        struct mark key = {.quant = graph_tensor(g, n->outputs[0])->quant};
        const struct mark *found = bsearch(&key, marks, count, sizeof *marks, by_quant);
        if (!found || r->of[found->integers].quantizer != NO_NODE)
            continue;
        r->of[found->integers].quantizer = r->nodes[i];
        r->of[found->integers].read = is_computed_from(g, n->inputs[0], found->integers);
    }
    return count > 0;
}

/* Whether a node's results are some of its elements, or a constant that its params give. */
static bool picks_elements(const struct node *n)
{
    static const enum op_id picking[] = {OP_PoolMax2d, OP_PoolMax3d,          OP_ResizeNearestNeighbor,
                                         OP_ReduceMax, OP_ElementWiseMaximum, OP_ElementWiseSelect,
                                         OP_ReduceMin, OP_ElementWiseMinimum, OP_Relu};
    for (size_t i = 0; i < COUNT_OF(picking); i++)
        if (node_is(n, picking[i]))
            return true;
    if (node_is(n, OP_Resize))
        return node_int(n, PARAM_interpolation_mode, INTERPOLATE_NEAREST) == INTERPOLATE_NEAREST;
    const struct reference_kernel *kernel = kernel_of(n->op);
    return kernel && kernel->compute == COMPUTE_MOVE && !node_is(n, OP_OneHot);
}

/* Whether a node of integers gives such that are among its inputs: the others are indices. */
static bool moves_integers(const struct graph *g, const struct node *n)
{
    if (!n->op || n->op->package || n->forms || n->n_inputs == 0 || !picks_elements(n))
        return false;
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        const struct tensor *t = node_output(g, n, i);
        if (!t || !is_integer(t) || t->type->dtype != node_output(g, n, 0)->type->dtype)
            return false;
    }
    return true;
}

/* Inputs that are the elements a node moves. */
static bool is_moved(const struct graph *g, const struct node *n, uint32_t i)
{
    const struct tensor *t = node_input(g, n, i);
    return t && t->type->dtype == node_output(g, n, 0)->type->dtype;
}

/* Known elements stand for whatever the others do: several nodes may read one constant, by encodings of their own. */
static bool is_known(const struct graph *g, const struct node *n, uint32_t i)
{
    return node_input(g, n, i)->kind == TENSOR_STATIC;
}

/* The encoding that all marks of a mover are of; NULL: there is none, or several. */
static const struct quant *common_mark(const struct graph *g, const struct node *n)
{
    const struct quant *first = NULL;
    for (uint32_t i = 0; i < n->n_inputs + n->n_outputs; i++) {
        if (i < n->n_inputs && (!is_moved(g, n, i) || is_known(g, n, i)))
            continue;
        const struct tensor *t = i < n->n_inputs ? node_input(g, n, i) : node_output(g, n, i - n->n_inputs);
        if (t->quant && first && !quant_equal(t->quant, first))
            return NULL;
        if (t->quant)
            first = t->quant;
    }
    return first && !first->per_axis ? first : NULL;
}

static void mark_moved(struct recovery *r, tensor_id id, const struct quant *quant)
{
    struct tensor *t = graph_tensor(r->g, id);
    if (t->quant)
        return;
    t->quant = arena_memdup(r->g->arena, quant, sizeof *quant);
    r->of[id].moved = true;
}

/* Marks around the movers that have one; forwards, then backwards. */
static void spread_marks(struct recovery *r)
{
    for (size_t k = 0; k < 2 * r->n_nodes; k++) {
        const struct node *n = graph_node(r->g, r->nodes[k < r->n_nodes ? k : 2 * r->n_nodes - 1 - k]);
        const struct quant *quant = moves_integers(r->g, n) ? common_mark(r->g, n) : NULL;
        if (!quant)
            continue;
        for (uint32_t i = 0; i < n->n_outputs; i++)
            mark_moved(r, n->outputs[i], quant);
        for (uint32_t i = 0; i < n->n_inputs; i++)
            if (is_moved(r->g, n, i) && !is_known(r->g, n, i))
                mark_moved(r, n->inputs[i], quant);
    }
}

/* Whether a node moves integers that all have one encoding. */
static bool carries(const struct recovery *r, const struct node *n)
{
    return moves_integers(r->g, n) && node_output(r->g, n, 0)->quant && common_mark(r->g, n);
}

/* ---- which integers become fixed-point ---- */

/* Whether the node is the first step from integers to the Quantize that belongs to them. */
static bool is_first_step(const struct recovery *r, const struct node *n, tensor_id integers)
{
    const struct node *quantizer = r->of[integers].read ? graph_node(r->g, r->of[integers].quantizer) : NULL;
    for (int step = 0; quantizer && step < 4; step++) {
        if (n == quantizer)
            return true;
        const tensor_id out = n->outputs[0];
        if (n->n_outputs != 1 || r->uses.count[out] != 1 || r->uses.first[out] == r->uses.first[out + 1])
            return false;
        n = graph_node(r->g, r->uses.nodes[r->uses.first[out]]);
    }
    return false;
}

static bool all_pure(const struct recovery *r, const struct node *n)
{
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (!r->of[n->outputs[i]].pure)
            return false;
    return true;
}

static bool is_pure(const struct recovery *r, tensor_id id)
{
    const struct tensor *t = graph_tensor(r->g, id);
    bool at_border = t->kind == TENSOR_INPUT || t->kind == TENSOR_OUTPUT;
    if (!t->quant || t->quant->per_axis || r->uses.count[id] == 0 || (at_border && preserves_type(r->c, t)))
        return false;
    for (uint32_t i = r->uses.first[id]; i < r->uses.first[id + 1]; i++) {
        const struct node *n = graph_node(r->g, r->uses.nodes[i]);
        if (!is_first_step(r, n, id) && !(carries(r, n) && all_pure(r, n)))
            return false;
    }
    return true;
}

static void find_pure(struct recovery *r)
{
    for (size_t i = r->n_nodes; i-- > 0;) {
        const struct node *n = graph_node(r->g, r->nodes[i]);
        for (uint32_t k = 0; k < n->n_outputs; k++)
            if (n->outputs[k] != NO_TENSOR && is_integer(node_output(r->g, n, k)))
                r->of[n->outputs[k]].pure = is_pure(r, n->outputs[k]);
    }
    for (size_t i = 0; i < r->g->inputs.count; i++)
        if (is_integer(graph_tensor(r->g, r->g->inputs.data[i])))
            r->of[r->g->inputs.data[i]].pure = is_pure(r, r->g->inputs.data[i]);
}

static bool can_be_moved(const struct recovery *r, const struct node *n)
{
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        if (!is_moved(r->g, n, i))
            continue;
        const struct tensor *t = node_input(r->g, n, i);
        if (is_known(r->g, n, i) ? t->view->dtype != t->type->dtype || t->view->scale : !r->of[n->inputs[i]].can)
            return false;
    }
    return true;
}

static void find_possible(struct recovery *r)
{
    for (tensor_id id = 0; id < r->n_tensors; id++) {
        const struct tensor *t = graph_tensor(r->g, id);
        if (!is_integer(t) || !t->quant || t->quant->per_axis)
            continue;
        if (t->producer == NO_NODE)
            r->of[id].can = t->kind == TENSOR_INPUT && r->of[id].pure;
        else
            r->of[id].can = !r->of[id].moved && !r->of[id].read && divided(r->g, id) != NO_TENSOR;
    }
    for (size_t i = 0; i < r->n_nodes; i++) {
        const struct node *n = graph_node(r->g, r->nodes[i]);
        if (carries(r, n) && can_be_moved(r, n))
            for (uint32_t k = 0; k < n->n_outputs; k++)
                r->of[n->outputs[k]].can = true;
    }
}

static void find_wanted(struct recovery *r)
{
    for (tensor_id id = 0; id < r->n_tensors; id++) {
        struct integers *x = &r->of[id];
        bool given = graph_tensor(r->g, id)->kind == TENSOR_OUTPUT && x->pure;
        x->wanted = x->can && (x->read || given);
    }
    for (size_t i = r->n_nodes; i-- > 0;) {
        const struct node *n = graph_node(r->g, r->nodes[i]);
        bool wanted = false;
        for (uint32_t k = 0; carries(r, n) && k < n->n_outputs; k++)
            wanted |= r->of[n->outputs[k]].wanted;
        for (uint32_t k = 0; wanted && k < n->n_inputs; k++)
            if (is_moved(r->g, n, k) && !is_known(r->g, n, k))
                r->of[n->inputs[k]].wanted = true;
    }
}

/* ---- twins ---- */

static const char *free_name(struct recovery *r, const char *name, const char *what)
{
    return graph_free_tensor_name(r->g, arena_printf(r->g->arena, "%s.%s", name, what));
}

static const struct quant *copied(struct recovery *r, const struct quant *quant)
{
    return arena_memdup(r->g->arena, quant, sizeof *quant);
}

static tensor_id add_fixed(struct recovery *r, tensor_id integers)
{
    const struct tensor from = *graph_tensor(r->g, integers);
    const struct type type = {.dtype = quant_dtype(from.type->dtype), .shape = from.type->shape};
    tensor_id id = graph_add_tensor(r->g, free_name(r, from.name, "quantized"), TENSOR_NATIVE, &type);
    graph_tensor(r->g, id)->quant = copied(r, from.quant);
    return id;
}

static node_id add_step(struct recovery *r, enum op_id op, tensor_id in, tensor_id out)
{
    const struct op *row = op_row(op);
    node_id id = graph_add_node(r->g, row, row->n_params, graph_tensor(r->g, out)->name, &in, 1, &out, 1);
    vec_push(r->g->arena, &r->g->order, id);
    return id;
}

/* The reals that a fixed-point tensor stands for. */
static tensor_id add_reals(struct recovery *r, tensor_id fixed)
{
    struct graph *g = r->g;
    const struct type type = {.dtype = DT_FLOAT32, .shape = graph_tensor(g, fixed)->type->shape};
    tensor_id real = graph_add_tensor(g, free_name(r, graph_tensor(g, fixed)->name, "real"), TENSOR_NATIVE, &type);
    add_step(r, OP_Dequantize, fixed, real);
    return real;
}

/* The reals of input i of a mover. */
static tensor_id reals_of(struct recovery *r, const struct node *n, uint32_t i, const struct quant *quant)
{
    struct graph *g = r->g;
    const tensor_id integers = n->inputs[i];
    if (!is_known(g, n, i))
        return r->of[integers].real != NO_TENSOR ? r->of[integers].real : add_reals(r, r->of[integers].twin);
    const struct tensor *t = graph_tensor(g, integers);
    struct view view = *t->view;
    view.dtype = quant_dtype(view.dtype);
    tensor_id fixed = graph_add_constant(g, tensor_wanted_name(t), view.dtype, &view);
    graph_tensor(g, fixed)->quant = copied(r, quant);
    return add_reals(r, fixed);
}

/* Integers that QuantizeLinear makes, where its node stands: their Quantize is there now. */
static void quantize_here(struct recovery *r, tensor_id integers)
{
    struct integers *x = &r->of[integers];
    const char *source = graph_producer(r->g, integers)->source;
    if (x->quantizer == NO_NODE) {
        const tensor_id real = divided(r->g, integers);
        x->twin = add_fixed(r, integers);
        add_step(r, OP_Quantize, real, x->twin);
        graph_node(r->g, graph_tensor(r->g, x->twin)->producer)->source = source;
        return;
    }
    x->twin = graph_node(r->g, x->quantizer)->outputs[0];
    vec_push(r->g->arena, &r->g->order, x->quantizer);
}

/* Whether who reads the result finds the Dequantize before it (pass_quantize.c). */
static bool passes_on(const struct node *n)
{
    return node_is(n, OP_Transpose) || node_is(n, OP_Reshape);
}

/* The integer's real. */
static double real_of(const struct encoding *e, int64_t integer)
{
    return ((double)integer + e->offset) * e->scale;
}

/* The constant of a Pad is a real, too. */
static void set_padding(struct graph *g, struct node *n, const struct encoding *e)
{
    const int64_t integer = node_int(n, PARAM_pad_constant_value, 0);
    struct param p = {.set = true, .usage = 1, .name = "pad_constant_value", .dtype = DT_FLOAT32};
    p.f = (double)(float)real_of(e, integer);
    node_set_param(g, n, (uint32_t)op_param_place(n->op, PARAM_pad_constant_value), &p);
}

/* A Relu of integers keeps those from 0 on, and 0 is a real of its own. */
static void set_bounds(struct graph *g, struct node *n, const struct encoding *e)
{
    struct param p = {.set = true, .usage = 1, .name = "min_value", .dtype = DT_FLOAT32};
    p.f = (double)(float)real_of(e, 0);
    node_set_param(g, n, (uint32_t)op_param_place(n->op, PARAM_min_value), &p);
    p.name = "max_value";
    p.f = (double)FLT_MAX;
    node_set_param(g, n, (uint32_t)op_param_place(n->op, PARAM_max_value), &p);
}

/* The mover as one of reals. */
static void add_mover(struct recovery *r, const struct node *n, const tensor_id *in, const tensor_id *out,
                      const struct quant *quant)
{
    struct graph *g = r->g;
    const struct encoding *e = &quant->encodings[0];
    const bool bounded = node_is(n, OP_Relu) && e->offset != 0;
    const struct op *op = bounded ? op_row(OP_ReluMinMax) : n->op;
    const node_id id = graph_add_node(g, op, op->n_params, n->name, in, n->n_inputs, out, n->n_outputs);
    struct node *moved = graph_node(g, id);
    if (!bounded)
        memcpy(moved->params, n->params, op->n_params * sizeof *n->params);
    moved->source = n->source;
    moved->layout_only = n->layout_only;
    moved->to_first = n->to_first;
    if (bounded)
        set_bounds(g, moved, e);
    else if (node_is(n, OP_Pad))
        set_padding(g, moved, e);
    vec_push(g->arena, &g->order, id);
}

/* The same movement of reals, behind Dequantize, and before Quantize where that is needed. */
static void move_reals(struct recovery *r, node_id id)
{
    struct graph *g = r->g;
    struct arena *scratch = r->c->scratch;
    const struct node n = *graph_node(g, id);
    const struct quant *quant = common_mark(g, &n);
    tensor_id *in = arena_memdup(scratch, n.inputs, n.n_inputs * sizeof *in);
    tensor_id *out = arena_array(scratch, tensor_id, n.n_outputs);
    for (uint32_t i = 0; i < n.n_inputs; i++)
        if (is_moved(g, &n, i))
            in[i] = reals_of(r, &n, i, quant);
    for (uint32_t i = 0; i < n.n_outputs; i++) {
        const struct tensor from = *graph_tensor(g, n.outputs[i]);
        const struct type type = {.dtype = DT_FLOAT32, .shape = from.type->shape};
        out[i] = graph_add_tensor(g, free_name(r, from.name, "real"), TENSOR_NATIVE, &type);
        graph_tensor(g, out[i])->wanted = from.name;
    }
    if (all_pure(r, &n))
        graph_remove_node(g, id);
    add_mover(r, &n, in, out, quant);
    for (uint32_t i = 0; i < n.n_outputs; i++) {
        const tensor_id id = n.outputs[i];
        if (passes_on(&n))
            r->of[id].real = out[i];
        if (passes_on(&n) && graph_tensor(g, id)->kind != TENSOR_OUTPUT)
            continue;
        r->of[id].twin = add_fixed(r, id);
        add_step(r, OP_Quantize, out[i], r->of[id].twin);
    }
}

/* ---- nodes around integers that stay ---- */

/* What Transposes and Reshapes before the tensor move. */
static tensor_id before_moves(const struct graph *g, tensor_id id)
{
    const struct node *n = graph_producer(g, id);
    for (; n && n->op && passes_on(n); n = graph_producer(g, id))
        id = n->inputs[0];
    return id;
}

/* Whether the node's reals are dequantized ones, or known. */
static bool reads_dequantized(const struct graph *g, const struct node *n)
{
    bool any = false;
    if (!n || !n->op || n->op->package || node_is(n, OP_Quantize) || node_is(n, OP_Dequantize))
        return false;
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct tensor *t = node_input(g, n, i);
        if (!t || !dtype_is_float(t->type->dtype) || t->kind == TENSOR_STATIC)
            continue;
        const struct node *producer = graph_producer(g, before_moves(g, n->inputs[i]));
        if (!producer || !producer->op || !node_is(producer, OP_Dequantize))
            return false;
        any = true;
    }
    return any;
}

/* Whether a reader of the tensor, at most so many nodes on that move it, is quantized next, and all else that it reads
 * is dequantized; behind: the tensor is what such a node gives. */
static bool is_read_between(const struct recovery *r, tensor_id id, bool behind, int most)
{
    const struct graph *g = r->g;
    for (uint32_t i = r->uses.first[id]; most > 0 && i < r->uses.first[id + 1]; i++) {
        const struct node *n = graph_node(g, r->uses.nodes[i]);
        if (!n->op || n->n_outputs == 0 || n->outputs[0] >= r->n_tensors)
            continue;
        if (behind && (node_is(n, OP_Quantize) || node_is(n, OP_ElementWiseDivide)))
            return true;
        if (passes_on(n) ? is_read_between(r, n->outputs[0], behind, most - 1)
                         : !behind && reads_dequantized(g, n) && is_read_between(r, n->outputs[0], true, most))
            return true;
    }
    return false;
}

/* The Divide of integers that stay reads what is dequantized of their twin, so that the node before it gives that. */
static void divide_twin(struct recovery *r, tensor_id integers)
{
    struct graph *g = r->g;
    struct integers *x = &r->of[integers];
    const node_id divide = dividing(g, integers);
    const struct tensor *t = graph_tensor(g, integers);
    if (divide == NO_NODE || !t->quant || t->quant->per_axis || x->pure || x->moved || x->read)
        return;
    const tensor_id real = graph_node(g, divide)->inputs[0];
    if (graph_tensor(g, real)->type->dtype != DT_FLOAT32 ||
        !reads_dequantized(g, graph_producer(g, before_moves(g, real))))
        return;
    quantize_here(r, integers);
    graph_replace_input(g, divide, 0, add_reals(r, x->twin));
}

/* By node: the integers whose first step it is. */
static tensor_id *find_divides(const struct recovery *r)
{
    tensor_id *out = arena_array(r->c->scratch, tensor_id, r->g->nodes.count);
    for (size_t i = 0; i < r->g->nodes.count; i++)
        out[i] = NO_TENSOR;
    for (tensor_id id = 0; id < r->n_tensors; id++) {
        const bool computed = is_integer(graph_tensor(r->g, id)) && graph_tensor(r->g, id)->quant;
        const node_id divide = computed ? dividing(r->g, id) : NO_NODE;
        if (divide != NO_NODE)
            out[divide] = id;
    }
    return out;
}

static void make_twins(struct recovery *r, node_id id)
{
    const struct node n = *graph_node(r->g, id); /* others are added */
    bool moves = n.n_outputs > 0 && carries(r, &n), wanted = false;
    for (uint32_t i = 0; i < n.n_outputs; i++) {
        tensor_id out = n.outputs[i];
        if (out == NO_TENSOR || !is_integer(graph_tensor(r->g, out)) || !r->of[out].wanted)
            continue;
        wanted = true;
        if (!moves && r->of[out].twin == NO_TENSOR)
            quantize_here(r, out);
    }
    if (wanted && moves)
        move_reals(r, id);
}

/* ---- what read the integers ---- */

/* Removes the steps from the integers to their reals, which nothing but the Quantize read. */
static void remove_steps(struct recovery *r, tensor_id real, tensor_id integers)
{
    while (real != integers && r->uses.count[real] == 1) {
        node_id id = graph_tensor(r->g, real)->producer;
        real = graph_node(r->g, id)->inputs[0];
        graph_remove_node(r->g, id);
    }
}

/* Who reads what was dequantized reads these reals. False: a graph output cannot. */
static bool read_directly(struct recovery *r, tensor_id fixed, tensor_id real)
{
    struct graph *g = r->g;
    bool all = true;
    for (uint32_t i = r->uses.first[fixed]; i < r->uses.first[fixed + 1]; i++) {
        const struct node *n = graph_node(g, r->uses.nodes[i]);
        if (n->op && node_is(n, OP_Dequantize) && aliases_replace(&r->aliases, n->outputs[0], real))
            graph_remove_node(g, r->uses.nodes[i]);
        else
            all = false;
    }
    return all;
}

/* There is no twin: the reals are read as they were computed, and have the name that the model gives them. */
static void undo(struct recovery *r, tensor_id real, tensor_id fixed)
{
    struct graph *g = r->g;
    const node_id quantizer = graph_tensor(g, fixed)->producer;
    const struct node *dequantize = graph_node(g, r->uses.nodes[r->uses.first[fixed]]);
    const tensor_id given = dequantize->outputs[0];
    const char *name = graph_tensor(g, given)->name;
    if (read_directly(r, fixed, real))
        graph_remove_node(g, quantizer);
    if (graph_tensor(g, real)->kind != TENSOR_NATIVE || graph_tensor(g, given)->producer != NO_NODE)
        return;
    graph_rename_tensor(g, given, free_name(r, name, "same"));
    graph_rename_tensor(g, real, name);
}

/* Whether computed integers that stay are dequantized for a node that can work on fixed-point tensors. */
static bool stays_between(const struct recovery *r, tensor_id integers, tensor_id fixed)
{
    const struct pass_options *options = r->c->options;
    if (options->keep_encodings || options->keep_quant_nodes || graph_tensor(r->g, integers)->producer == NO_NODE)
        return false;
    for (uint32_t i = r->uses.first[fixed]; i < r->uses.first[fixed + 1]; i++) {
        const struct node *n = graph_node(r->g, r->uses.nodes[i]);
        if (n->op && node_is(n, OP_Dequantize) && is_read_between(r, n->outputs[0], false, MOST_MOVES))
            return true;
    }
    return false;
}

static void settle_reader(struct recovery *r, tensor_id integers)
{
    const struct integers *x = &r->of[integers];
    if (!x->read)
        return;
    const struct node quantize = *graph_node(r->g, x->quantizer);
    const tensor_id real = quantize.inputs[0], fixed = quantize.outputs[0];
    if (x->twin == NO_TENSOR && x->real == NO_TENSOR) {
        if (!stays_between(r, integers, fixed))
            undo(r, real, fixed);
        return;
    }
    if (x->real == NO_TENSOR || read_directly(r, fixed, x->real))
        graph_remove_node(r->g, x->quantizer);
    if (x->real == NO_TENSOR)
        aliases_replace(&r->aliases, fixed, x->twin);
    if (!graph_node(r->g, x->quantizer)->op)
        remove_steps(r, real, integers);
}

static void settle_border(struct recovery *r)
{
    struct graph *g = r->g;
    for (size_t i = 0; i < g->inputs.count; i++) {
        const tensor_id id = g->inputs.data[i];
        if (r->of[id].twin == id)
            graph_set_dtype(g, id, quant_dtype(graph_tensor(g, id)->type->dtype));
    }
    for (size_t i = 0; i < g->outputs.count; i++) {
        const tensor_id id = g->outputs.data[i];
        if (id >= r->n_tensors || !is_integer(graph_tensor(g, id)) || r->of[id].twin == NO_TENSOR || !r->of[id].pure)
            continue;
        const char *name = graph_tensor(g, id)->name;
        const uint8_t format = graph_tensor(g, id)->axis_format;
        graph_replace_result(g, i, r->of[id].twin);
        graph_tensor(g, r->of[id].twin)->axis_format = format;
        graph_rename_tensor(g, id, free_name(r, name, "integers"));
        graph_rename_tensor(g, r->of[id].twin, name);
    }
}

/* Reals that asked for the name of integers that nobody reads any more get it. */
static void hand_over_names(struct recovery *r)
{
    struct graph *g = r->g;
    for (tensor_id id = 0; id < g->tensors.count; id++) {
        const struct tensor *t = graph_tensor(g, id);
        const tensor_id holder = t->wanted && t->kind == TENSOR_NATIVE && t->type->dtype == DT_FLOAT32
                                     ? graph_find_tensor(g, t->wanted)
                                     : NO_TENSOR;
        if (holder >= r->n_tensors || !is_integer(graph_tensor(g, holder)))
            continue;
        const bool unread = r->of[holder].pure || r->uses.count[holder] == 0;
        if (!unread || graph_tensor(g, holder)->kind != TENSOR_NATIVE)
            continue;
        graph_rename_tensor(g, holder, free_name(r, t->wanted, "integers"));
        graph_rename_tensor(g, id, t->wanted);
    }
}

static void recover(struct recovery *r)
{
    struct graph *g = r->g;
    spread_marks(r);
    find_pure(r);
    find_possible(r);
    find_wanted(r);
    for (tensor_id id = 0; id < r->n_tensors; id++)
        if (r->of[id].wanted && graph_tensor(g, id)->producer == NO_NODE)
            r->of[id].twin = id; /* a graph input, as soon as nothing reads its integers */
    const tensor_id *divides = find_divides(r);
    g->order.count = 0;
    for (size_t i = 0; i < r->n_nodes; i++) {
        if (divides[r->nodes[i]] != NO_TENSOR && !r->c->options->keep_quant_nodes)
            divide_twin(r, divides[r->nodes[i]]);
        vec_push(g->arena, &g->order, r->nodes[i]);
        make_twins(r, r->nodes[i]);
    }
}

/* Quantize nodes that stand further ahead now are listed twice. */
static void drop_repeated(struct recovery *r)
{
    struct graph *g = r->g;
    bool *seen = arena_array(r->c->scratch, bool, g->nodes.count);
    size_t kept = 0;
    for (size_t i = 0; i < g->order.count; i++) {
        const node_id id = g->order.data[i];
        if (!seen[id] && graph_node(g, id)->op)
            g->order.data[kept++] = id;
        seen[id] = true;
    }
    g->order.count = kept;
}

odlc_status pass_recover_fixed(struct pass_context *c, struct graph *g)
{
    struct recovery r = {.c = c, .g = g, .n_tensors = g->tensors.count, .n_nodes = g->order.count};
    if (!type_set_any(&g->types, is_integer_type))
        return ODLC_OK;
    r.of = arena_array(c->scratch, struct integers, r.n_tensors);
    r.nodes = arena_memdup(c->scratch, g->order.data, r.n_nodes * sizeof *r.nodes);
    if (!find_quantizers(&r))
        return ODLC_OK;
    r.uses = graph_uses(c->scratch, g);
    if (!c->options->keep_encodings)
        recover(&r);
    r.aliases = aliases_start(c->scratch, g);
    for (tensor_id id = 0; id < r.n_tensors; id++)
        settle_reader(&r, id);
    settle_border(&r);
    hand_over_names(&r);
    drop_repeated(&r);
    for (size_t i = 0; i < g->order.count; i++)
        aliases_apply(&r.aliases, g->order.data[i]);
    aliases_finish(&r.aliases);
    return ODLC_OK;
}
