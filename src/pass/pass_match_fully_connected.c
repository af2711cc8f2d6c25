/* SPDX-License-Identifier: Apache-2.0 */
/* A product of floats with a known matrix is a FullyConnected layer: its input is rows, so Reshapes stand before and
 * behind the layer where the product has more axes, and a vector that is added to each row is its bias. The Reshape
 * before it follows what it reads directly, which is where the vendor's converters put it. */
#include "op/op.h"
#include "op/params.h"
#include "pass/parts.h"
#include "pass/search.h"

pass_fn pass_match_fully_connected;

struct matching {
    struct graph *g;
    struct uses uses;
    tensor_id *weights; /* per tensor of the old graph: what was made of it as a right operand; 0: nothing yet */
    /* Nodes that are to follow another one at once, the latest first: per node the first of them, and the next one
     * after each; NO_NODE: none. */
    node_id *first, *next;
    node_id front; /* the first of those that follow no node */
};

/* ---- what fits ---- */

/* The axes of the right operand: [k, m], or [m, k] when it is transposed. */
static bool fits(const struct graph *g, const struct node *n)
{
    if (!node_is(n, OP_MatMul) || n->n_inputs != 2 || node_int(n, PARAM_transpose_in0, 0))
        return false;
    const struct tensor *a = node_input(g, n, 0), *b = node_input(g, n, 1);
    return b->kind == TENSOR_STATIC && dtype_is_float(b->type->dtype) && b->type->shape.rank == 2 &&
           shape_count(&b->type->shape) > 0 && shape_count(&a->type->shape) > 0;
}

/* Whether a constant has one value for each column of the product, and nothing else. */
static bool is_vector(const struct tensor *t, const struct type *product)
{
    int64_t columns = product->shape.dims[product->shape.rank - 1];
    const struct shape *shape = &t->type->shape;
    if (t->kind != TENSOR_STATIC || t->type->dtype != product->dtype || shape->rank == 0 ||
        shape->dims[shape->rank - 1] != columns || shape_count(shape) != (uint64_t)columns)
        return false;
    struct view view = *t->view;
    return shape->rank == 1 || view_reshape(&view, &SHAPE(columns));
}

struct bias {
    node_id add;     /* NO_NODE: there is none */
    tensor_id value; /* the constant */
};

/* The vector that the only reader of the product adds. */
static struct bias find_bias(const struct matching *m, tensor_id product)
{
    const struct graph *g = m->g;
    const struct tensor *t = graph_tensor(g, product);
    struct bias none = {.add = NO_NODE, .value = NO_TENSOR};
    if (m->uses.count[product] != 1 || t->kind != TENSOR_NATIVE)
        return none;
    node_id id = m->uses.nodes[m->uses.first[product]];
    const struct node *add = graph_node(g, id);
    if (!node_is(add, OP_ElementWiseAdd))
        return none;
    uint32_t other = add->inputs[0] == product;
    bool same = shape_equal(&node_output(g, add, 0)->type->shape, &t->type->shape);
    return same && is_vector(node_input(g, add, other), t->type) ? (struct bias){.add = id, .value = add->inputs[other]}
                                                                 : none;
}

/* ---- operands ---- */

/* The right operand as [m, k]: itself, or a view of it, which all products with the same operand share. */
static tensor_id weights_of(struct matching *m, tensor_id b, bool transposed)
{
    const struct perm swap = PERM(1, 0);
    if (transposed)
        return b;
    if (!m->weights[b]) { /* a tensor that is made here is not the first one */
        struct view view = *graph_tensor(m->g, b)->view;
        view_permute(&view, &swap);
        m->weights[b] = part_constant(m->g, b, &view);
    }
    return m->weights[b];
}

static tensor_id bias_of(struct graph *g, tensor_id value)
{
    const struct tensor *t = graph_tensor(g, value);
    const struct shape *shape = &t->type->shape;
    if (shape->rank == 1)
        return value;
    struct view view = *t->view;
    return view_reshape(&view, &SHAPE(shape->dims[shape->rank - 1])) ? part_constant(g, value, &view) : value;
}

/* ---- nodes ---- */

static void follow(struct matching *m, node_id before, node_id id)
{
    node_id *at = before == NO_NODE ? &m->front : &m->first[before];
    m->next[id] = *at;
    *at = id;
}

/* The left operand as rows of k elements. */
static tensor_id rows_of(struct matching *m, const struct node *product, int64_t rows, int64_t k)
{
    struct graph *g = m->g;
    tensor_id a = product->inputs[0];
    if (graph_tensor(g, a)->type->shape.rank == 2)
        return a;
    const char *name = arena_printf(g->arena, "%s_pre_reshape", product->name), *source = product->source;
    node_id before = graph_tensor(g, a)->producer;
    tensor_id flat = part_reshaped(g, a, name, &SHAPE(rows, k));
    follow(m, before, part_reshape(g, name, source, a, flat));
    return flat;
}

static void replace(struct matching *m, node_id id)
{
    struct graph *g = m->g;
    const struct node old = *graph_node(g, id);
    const struct op *row = op_row(OP_FullyConnected);
    const struct bias bias = find_bias(m, old.outputs[0]);
    tensor_id out = bias.add == NO_NODE ? old.outputs[0] : graph_node(g, bias.add)->outputs[0], product = out;
    const struct shape shape = graph_tensor(g, out)->type->shape;
    int64_t columns = shape.dims[shape.rank - 1], rows = (int64_t)shape_count(&shape) / columns;
    bool transposed = node_int(&old, PARAM_transpose_in1, 0) != 0;
    int64_t k = graph_tensor(g, old.inputs[1])->type->shape.dims[transposed];
    const char *noted = bias.add == NO_NODE ? "" : graph_node(g, bias.add)->name;
    tensor_id in[3] = {[0] = rows_of(m, &old, rows, k)};
    in[1] = weights_of(m, old.inputs[1], transposed);
    in[2] = bias.add == NO_NODE ? NO_TENSOR : bias_of(g, bias.value);
    if (shape.rank > 2)
        product =
            part_reshaped(g, out, arena_printf(g->arena, "%s_fc", graph_tensor(g, out)->name), &SHAPE(rows, columns));
    if (bias.add != NO_NODE)
        graph_remove_node(g, bias.add);
    graph_remove_node(g, id);
    node_id layer = graph_add_node(g, row, row->n_params, old.name, in, COUNT_OF(in), &product, 1);
    graph_node(g, layer)->source = old.source;
    node_set_string(g, graph_node(g, layer), PARAM_bias_op_name, noted);
    follow(m, id, layer);
    if (product != out)
        follow(m, layer,
               part_reshape(g, arena_printf(g->arena, "%s_post_reshape", old.name), old.source, product, out));
}

/* ---- the pass ---- */

/* Appends the node, unless it was removed, and all that follow it. */
static void append(struct matching *m, node_id id)
{
    if (graph_node(m->g, id)->op)
        vec_push(m->g->arena, &m->g->order, id);
    for (node_id next = m->first[id]; next != NO_NODE; next = m->next[next])
        append(m, next);
}

static void rewrite_order(struct matching *m, const node_id *before, size_t count)
{
    m->g->order.count = 0;
    for (node_id id = m->front; id != NO_NODE; id = m->next[id])
        append(m, id);
    for (size_t i = 0; i < count; i++)
        append(m, before[i]);
}

static struct matching start(struct arena *scratch, struct graph *g, size_t n_products)
{
    struct matching m = {.g = g, .uses = graph_uses(scratch, g), .front = NO_NODE};
    m.weights = arena_array(scratch, tensor_id, g->tensors.count);
    size_t n_nodes = g->nodes.count + 3 * n_products;
    m.first = arena_array(scratch, node_id, n_nodes);
    m.next = arena_array(scratch, node_id, n_nodes);
    for (size_t i = 0; i < n_nodes; i++)
        m.first[i] = m.next[i] = NO_NODE;
    return m;
}

odlc_status pass_match_fully_connected(struct pass_context *c, struct graph *g)
{
    size_t count = g->order.count, n_products = 0;
    if (!graph_may_have(c, g, OP_MatMul))
        return ODLC_OK;
    for (size_t i = 0; i < count; i++)
        n_products += fits(g, graph_node(g, g->order.data[i]));
    if (n_products == 0)
        return ODLC_OK;
    struct matching m = start(c->scratch, g, n_products);
    const node_id *before = arena_memdup(c->scratch, g->order.data, count * sizeof *before);
    for (size_t i = 0; i < count; i++)
        if (fits(g, graph_node(g, before[i])))
            replace(&m, before[i]);
    rewrite_order(&m, before, count);
    return ODLC_OK;
}
