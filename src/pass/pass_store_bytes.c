/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of products of Int_32 whose values are those of bytes are stored as bytes, a quarter of the room, with a Cast
 * before the product, and where they span a byte from another number on, that number added:
 *
 *     Int_32 → product       becomes       Int_8 or uInt_8 → Cast (→ Add) → product
 *
 * Integers stay what they are. Small constants stay, too: an op takes more room than they do. */
#include "op/op.h"
#include "pass/search.h"

pass_fn pass_store_bytes;

enum { LEAST = 512 }; /* elements: an op and a tensor take 450 to 1,200 bytes of a container */

struct storing {
    struct pass_context *c;
    struct build b;
    tensor_id *wide; /* per tensor of the graph before: what takes its place; NO_TENSOR: not looked at yet */
    size_t n_tensors;
};

static const enum op_id products[] = {OP_MatMul,          OP_FullyConnected,  OP_Conv2d,         OP_Conv3d,
                                      OP_DepthWiseConv2d, OP_TransposeConv2d, OP_TransposeConv3d};

static bool may_have_products(struct pass_context *c, const struct graph *g)
{
    for (size_t i = 0; i < COUNT_OF(products); i++)
        if (graph_may_have(c, g, products[i]))
            return true;
    return false;
}

static bool is_product(const struct node *n)
{
    for (size_t i = 0; i < COUNT_OF(products); i++)
        if (node_is(n, products[i]))
            return true;
    return false;
}

static bool is_large_constant(const struct tensor *t)
{
    return t->kind == TENSOR_STATIC && t->type->dtype == DT_INT32 && !t->quant && !t->view->scale &&
           shape_count(&t->type->shape) >= LEAST;
}

static bool are_bytes(enum dtype dtype)
{
    return dtype == DT_INT8 || dtype == DT_UINT8;
}

/* The elements as bytes, which are `first` less than they. False: they span more than a byte. */
static bool as_bytes(const struct storing *s, const struct tensor *t, struct view *out, int64_t *first)
{
    struct arena *arena = s->b.graph->arena;
    const uint64_t count = shape_count(&t->type->shape);
    const struct arena_mark mark = arena_mark(s->c->scratch);
    const int32_t *q = view_load(s->c->scratch, t->view, DT_INT32);
    int64_t low = q[0], high = q[0];
    for (uint64_t i = 1; i < count; i++) {
        low = q[i] < low ? q[i] : low;
        high = q[i] > high ? q[i] : high;
    }
    const bool is_signed = low < 0 && low >= INT8_MIN && high <= INT8_MAX;
    *first = is_signed || (low >= 0 && high <= UINT8_MAX) ? 0 : low;
    const bool fits = is_signed || high - *first <= UINT8_MAX;
    if (fits) {
        uint8_t *bytes = arena_alloc(arena, count);
        for (uint64_t i = 0; i < count; i++)
            bytes[i] = (uint8_t)(q[i] - *first);
        *out = view_of(bytes, is_signed ? DT_INT8 : DT_UINT8, &t->type->shape);
    }
    arena_rewind(s->c->scratch, mark);
    return fits;
}

/* The nodes that make the constant of bytes stand before the node that is looked at. */
static odlc_status widen(struct storing *s, tensor_id id, tensor_id *out)
{
    struct graph *g = s->b.graph;
    const struct tensor t = *graph_tensor(g, id);
    const char *name = tensor_wanted_name(&t);
    struct view view = *t.view;
    int64_t first = 0;
    *out = id;
    if (!are_bytes(view.dtype) && !as_bytes(s, &t, &view, &first))
        return ODLC_OK;
    const tensor_id bytes = graph_add_constant(g, name, view.dtype, &view);
    s->b.source = name;
    TRY(build_cast(&s->b, bytes, DT_INT32, arena_printf(g->arena, "%s.wide", name), out));
    if (first == 0)
        return ODLC_OK;
    const tensor_id number =
        build_const_scalar(&s->b, arena_printf(g->arena, "%s.first", name), DT_INT32, (double)first);
    return build_binary(&s->b, OP_ElementWiseAdd, *out, number, arena_printf(g->arena, "%s.moved", name), out);
}

static odlc_status look_at(struct storing *s, node_id id)
{
    struct graph *g = s->b.graph;
    for (uint32_t i = 0; i < 2 && i < graph_node(g, id)->n_inputs; i++) {
        const tensor_id in = graph_node(g, id)->inputs[i];
        if (in == NO_TENSOR || in >= s->n_tensors || !is_large_constant(graph_tensor(g, in)))
            continue;
        if (s->wide[in] == NO_TENSOR)
            TRY(widen(s, in, &s->wide[in]));
        graph_replace_input(g, id, i, s->wide[in]);
    }
    return ODLC_OK;
}

odlc_status pass_store_bytes(struct pass_context *c, struct graph *g)
{
    const size_t count = g->order.count;
    if (!may_have_products(c, g))
        return ODLC_OK;
    const node_id *nodes = arena_memdup(c->scratch, g->order.data, count * sizeof *nodes);
    struct storing s = {.c = c, .n_tensors = g->tensors.count};
    build_init(&s.b, g, c->diags);
    (void)build_unfold(&s.b, true);
    s.wide = arena_array(c->scratch, tensor_id, s.n_tensors);
    for (size_t i = 0; i < s.n_tensors; i++)
        s.wide[i] = NO_TENSOR;
    g->order.count = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_product(graph_node(g, nodes[i])))
            TRY(look_at(&s, nodes[i]));
        vec_push(g->arena, &g->order, nodes[i]);
    }
    return ODLC_OK;
}
