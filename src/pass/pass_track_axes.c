/* SPDX-License-Identifier: Apache-2.0 */
/* Removes the Transposes that lowering put around channels-last ops.
 *
 * Lowering is simple and local: every convolution, pooling and so on gets a Transpose before and after it. This pass
 * walks the nodes in order and keeps for each tensor T of the old graph where its value now is: a stored tensor S and
 * the permutation p with S.axis[i] = T.axis[p[i]]. A layout Transpose then costs nothing: it only changes p. Ops that
 * treat all axes alike, or whose axis params can be rewritten (permute_fn in their row), work on S directly and pass p
 * on; so do Reshapes that split and merge axes which lie side by side in S, and products of matrices that are stored
 * transposed (track_product.h). Everything else gets the tensor in its own order by a real Transpose, one per tensor
 * and permutation, shared by all readers. Constants are permuted views.
 *
 * A backward walk finds the order that a tensor should best be stored in: that of the channels-last op which it flows
 * into. A Transpose of the model gives its result in that order at no cost.
 *
 * A graph input is stored channels-last when the model's tensors are channels-first (of rank 3 and 4), or when it flows
 * into a channels-last op through ops that keep the meaning of axes. A graph output is stored as it comes, when that is
 * channels-last (docs/udo-config.md, --preserve_io). */
#include <string.h>

#include "op/axes.h"
#include "op/params.h"
#include "pass/regroup.h"
#include "pass/search.h"
#include "pass/track_interface.h"
#include "pass/track_product.h"

pass_fn pass_track_axes;

/* A Reshape to the shape that the input has: a second name for a value, as graph outputs need it. */
static bool is_copy(const struct track *t, const struct node *n)
{
    if (!node_is(n, OP_Reshape))
        return false;
    const struct location *at = &t->at[n->inputs[0]];
    const struct perm back = perm_inverse(&at->perm);
    const struct shape own = perm_apply(&back, &graph_tensor(t->g, at->stored)->type->shape);
    return shape_equal(&own, &graph_tensor(t->g, n->outputs[0])->type->shape);
}

/* ---- the kinds of nodes ---- */

/* A lowered op's own output takes the name that the model gives the value; the (perhaps never needed) transposed one
 * steps back. Where that one is `<stored>.nchw` already, neither is a value of the model. */
static void pass_name_on(struct track *t, const struct node *n, tensor_id stored)
{
    struct tensor *from = graph_tensor(t->g, n->outputs[0]), *to = graph_tensor(t->g, stored);
    const struct node *writer = to->producer == NO_NODE ? NULL : graph_node(t->g, to->producer);
    if (!writer || writer->source != n->source || !n->source || to->kind != TENSOR_NATIVE)
        return;
    const char *name = from->name, *suffix = order_suffix(ORDER_CHANNELS_FIRST, from->type->shape.rank);
    const char *aside = arena_join(t->g->arena, name, ".", suffix);
    if (strcmp(name, arena_join(t->g->arena, to->name, ".", suffix)) == 0)
        return;
    graph_rename_tensor(t->g, n->outputs[0], graph_free_tensor_name(t->g, aside));
    graph_rename_tensor(t->g, stored, name);
}

/* The order in which a Transpose or Reshape of the model should give its result. A graph output is only ever stored
 * channels-last when its axes mean that. */
static struct perm order_of_result(const struct track *t, tensor_id out)
{
    const struct preferred_layout *wanted = &t->preferred[out];
    uint32_t rank = graph_tensor(t->g, out)->type->shape.rank;
    bool followed = wanted->order.rank && (wanted->spatial || graph_tensor(t->g, out)->kind != TENSOR_OUTPUT);
    return followed ? wanted->order : perm_identity(rank);
}

/* Whether nothing but products reads the tensor, which take it with swapped axes, too. (A Transpose of the model whose
 * operand is in its own order stays: the vendor's converters write it.) */
static bool products_read(const struct track *t, tensor_id id)
{
    const uint32_t first = t->uses.first[id], end = t->uses.first[id + 1];
    for (uint32_t i = first; i < end; i++)
        if (!product_takes_swapped(t, graph_node(t->g, t->uses.nodes[i])))
            return false;
    return end > first && graph_tensor(t->g, id)->kind != TENSOR_OUTPUT;
}

static odlc_status visit_transpose(struct track *t, node_id id)
{
    struct node *n = graph_node(t->g, id);
    tensor_id in = n->inputs[0], out = n->outputs[0];
    struct perm perm = node_perm(n), inverse = perm_inverse(&perm);
    const struct location at = t->at[in];
    struct perm stored_as = perm_compose(&inverse, &at.perm), to = order_of_result(t, out);
    bool costs_nothing = n->layout_only || perm_is_identity(&stored_as) || perm_equal(&stored_as, &to) ||
                         (!perm_is_identity(&at.perm) && swaps_matrices(&stored_as) && products_read(t, out));
    struct perm back = perm_inverse(&at.perm), own = perm_compose(&back, &perm), step = perm_compose(&own, &to);
    tensor_id shared = costs_nothing ? NO_TENSOR : track_find_copy(t, at.stored, &step);
    if (costs_nothing) {
        t->at[out] = (struct location){.stored = at.stored, .perm = stored_as};
        const enum axis_order led_to = order_led_to(n, &perm);
        graph_tensor(t->g, out)->axis_format = order_format(led_to, perm.rank);
        if (led_to == ORDER_CHANNELS_FIRST && is_channels_last(&stored_as)) {
            graph_tensor(t->g, at.stored)->axis_format = order_format(ORDER_CHANNELS_LAST, stored_as.rank);
            pass_name_on(t, n, at.stored);
        }
        graph_remove_node(t->g, id);
        return ODLC_OK;
    }
    if (shared != NO_TENSOR) {
        t->at[out] = (struct location){.stored = shared, .perm = to};
        graph_remove_node(t->g, id);
        return ODLC_OK;
    }
    node_set_perm(t->g, n, &step);
    graph_replace_input(t->g, id, 0, at.stored);
    track_store(t, out, &to);
    track_remember_copy(t, at.stored, &step, out);
    vec_push(t->g->arena, &t->g->order, id);
    return ODLC_OK;
}

/* The permutation worth working in: that of the largest operand which is not in its own order. */
static bool choose_perm(const struct track *t, const struct node *n, struct perm *perm)
{
    uint32_t rank = 0;
    uint64_t largest = 0;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i] != NO_TENSOR && carries_axes(n->op, i) && t->at[n->inputs[i]].perm.rank > rank)
            rank = t->at[n->inputs[i]].perm.rank;
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        if (n->inputs[i] == NO_TENSOR || !carries_axes(n->op, i))
            continue;
        const struct location *at = &t->at[n->inputs[i]];
        uint64_t count = shape_count(&graph_tensor(t->g, at->stored)->type->shape);
        if (at->perm.rank == rank && !perm_is_identity(&at->perm) && count >= largest + (largest > 0)) {
            largest = count;
            *perm = at->perm;
        }
    }
    return largest > 0;
}

/* An operand of an elementwise op, in the order of perm; one of lower rank gets the axes that broadcasting implies. */
static odlc_status bring_broadcast(struct track *t, tensor_id id, const struct perm *perm, node_id reader,
                                   tensor_id *out)
{
    uint32_t rank = t->at[id].perm.rank;
    if (rank == perm->rank)
        return track_bring(t, id, perm, reader, out);
    TRY(track_bring_own_order(t, id, reader, out));
    const struct shape shape = graph_tensor(t->g, *out)->type->shape;
    if (shape_count(&shape) == 1)
        return ODLC_OK;
    struct shape wide = {.rank = perm->rank};
    for (uint32_t i = 0; i < perm->rank; i++)
        wide.dims[i] = i < perm->rank - rank ? 1 : shape.dims[i - (perm->rank - rank)];
    const char *name = graph_tensor(t->g, *out)->name;
    const char *suffix = order_suffix(is_channels_last(perm) ? ORDER_CHANNELS_LAST : ORDER_OTHER, perm->rank);
    if (graph_tensor(t->g, *out)->kind != TENSOR_STATIC)
        track_note_permute(t, reader, *out, false);
    TRY(build_reshape(&t->b, *out, &wide, arena_printf(t->g->arena, "%s.expanded", name), out));
    return build_transpose(&t->b, *out, perm, arena_join(t->g->arena, name, ".", suffix), out);
}

static odlc_status visit_permutable(struct track *t, node_id id, const struct perm *perm, const struct perm *out_perm)
{
    const struct op *op = graph_node(t->g, id)->op;
    for (uint32_t i = 0; i < graph_node(t->g, id)->n_inputs; i++) {
        tensor_id in = graph_node(t->g, id)->inputs[i], brought;
        if (in == NO_TENSOR)
            continue;
        if (carries_axes(op, i))
            TRY(bring_broadcast(t, in, perm, id, &brought));
        else
            TRY(track_bring_own_order(t, in, id, &brought));
        graph_replace_input(t->g, id, i, brought);
    }
    const struct node *n = graph_node(t->g, id); /* building has moved the array of nodes */
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (n->outputs[i] != NO_TENSOR)
            track_store(t, n->outputs[i], out_perm);
    vec_push(t->g->arena, &t->g->order, id);
    return ODLC_OK;
}

static void warn_of_axis_params(struct track *t, const struct node *n, const char *tensor)
{
    static const char *const names[] = {"axis", "axes", "dim", "dims", "perm", "permutation", "axis_list"};
    for (uint32_t i = 0; i < n->op->n_params; i++)
        for (size_t k = 0; k < COUNT_OF(names); k++)
            if (n->params[i].set && strcmp(n->op->params[i].name, names[k]) == 0)
                diag_warn(t->c->diags,
                          AT(.node = n->source ? n->source : n->name, .attribute = names[k],
                             .hint = "declare a tensor_layout for its inputs and outputs"),
                          "udo-axis-param",
                          "UDO %s takes tensor %s channels-last, but its param %s counts axes in the model's order",
                          n->op->name, tensor, names[k]);
}

/* A node that needs its operands in their own order, but for those that a UDO takes as they are. */
static odlc_status visit_fixed(struct track *t, node_id id)
{
    struct perm stored = {0};
    bool warned = false;
    for (uint32_t i = 0; i < graph_node(t->g, id)->n_inputs; i++) {
        const struct node *n = graph_node(t->g, id); /* building moves the array of nodes */
        tensor_id in = n->inputs[i];
        if (in == NO_TENSOR)
            continue;
        const struct location at = t->at[in];
        bool as_stored = takes_as_stored(n, i);
        if (as_stored && !perm_is_identity(&at.perm)) {
            stored = stored.rank ? stored : at.perm;
            if (!warned)
                warn_of_axis_params(t, n, graph_tensor(t->g, at.stored)->name);
            warned = true;
        }
        tensor_id taken = at.stored;
        if (!as_stored)
            TRY(track_bring_own_order(t, in, id, &taken));
        graph_replace_input(t->g, id, i, taken);
    }
    const struct node *n = graph_node(t->g, id);
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        if (n->outputs[i] == NO_TENSOR)
            continue;
        struct perm own = perm_identity(graph_tensor(t->g, n->outputs[i])->type->shape.rank);
        track_store(t, n->outputs[i], gives_as_stored(n, i) && stored.rank == own.rank ? &stored : &own);
    }
    vec_push(t->g->arena, &t->g->order, id);
    return ODLC_OK;
}

/* The copy is stored like its original. */
static void visit_copy(struct track *t, node_id id)
{
    struct node *n = graph_node(t->g, id);
    const struct location at = t->at[n->inputs[0]];
    const struct shape *stored = &graph_tensor(t->g, at.stored)->type->shape;
    const struct shape rank1 = SHAPE(stored->rank);
    graph_replace_input(t->g, id, 0, at.stored);
    node_set_ints(t->g, n, PARAM_shape, &rank1, stored->dims);
    track_store(t, n->outputs[0], &at.perm);
    vec_push(t->g->arena, &t->g->order, id);
}

/* Steps that are looked at for one answer, so that it costs little in any graph. */
enum { STEPS_AHEAD = 32 };
/* What is this many times smaller than another operand is small. */
enum { SMALL = 8 };

static bool order_pays(const struct track *t, tensor_id out, const struct perm *order, uint32_t *steps);

/* Whether all other operands of the node can be had in the order without a Transpose, or are so small that it costs
 * little. */
static bool others_agree(const struct track *t, const struct node *n, tensor_id in, const struct perm *order)
{
    const uint64_t count = shape_count(&graph_tensor(t->g, in)->type->shape);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const tensor_id other = n->inputs[i];
        if (other == NO_TENSOR || (other == in && carries_axes(n->op, i)))
            continue;
        const struct tensor *tensor = graph_tensor(t->g, other);
        const bool agrees = carries_axes(n->op, i) && (perm_equal(&t->at[other].perm, order) ||
                                                       shape_count(&tensor->type->shape) <= count / SMALL);
        if (other == in || (tensor->kind != TENSOR_STATIC && !agrees))
            return false;
    }
    return true;
}

/* A reader that is a Transpose, or a product of matrices that the order transposes, or works in the order and gives a
 * result whose order pays. */
static bool reader_pays(const struct track *t, const struct node *n, tensor_id in, const struct perm *order,
                        uint32_t *steps)
{
    const tensor_id out = n->outputs[0];
    struct perm next;
    if (node_is(n, OP_Transpose) || (swaps_matrices(order) && product_takes_swapped(t, n)))
        return true;
    if (n->n_outputs != 1 || out == NO_TENSOR)
        return false;
    const struct shape *from = &graph_tensor(t->g, in)->type->shape, *to = &graph_tensor(t->g, out)->type->shape;
    if (node_is(n, OP_Reshape))
        return regroup(from, order, to, &t->preferred[out].order, &next) && order_pays(t, out, &next, steps);
    uint32_t axes;
    if (node_drops_axes(n, from->rank, &axes)) {
        next = perm_without(order, axes);
        return order_pays(t, out, &next, steps);
    }
    return n->op->permute && to->rank == order->rank && others_agree(t, n, in, order) &&
           order_pays(t, out, order, steps);
}

/* A result in an order that no reader wants would only move the Transpose behind the Reshape. A Transpose of the model
 * takes any, also behind nodes that do. */
static bool order_pays(const struct track *t, tensor_id out, const struct perm *order, uint32_t *steps)
{
    struct perm own = perm_identity(order->rank), wanted = order_of_result(t, out);
    if (perm_equal(order, &own) || perm_equal(order, &wanted))
        return true;
    const uint32_t first = t->uses.first[out], end = t->uses.first[out + 1];
    for (uint32_t i = first; i < end; i++) {
        if (*steps == 0)
            return false;
        --*steps;
        if (!reader_pays(t, graph_node(t->g, t->uses.nodes[i]), out, order, steps))
            return false;
    }
    return end > first && graph_tensor(t->g, out)->kind != TENSOR_OUTPUT;
}

/* Reshapes what is stored; false when that has the elements in another order, or nobody wants the result like this. */
static bool visit_regrouping(struct track *t, node_id id)
{
    struct node *n = graph_node(t->g, id);
    tensor_id out = n->outputs[0];
    const struct location at = t->at[n->inputs[0]];
    const struct perm back = perm_inverse(&at.perm);
    const struct shape from = perm_apply(&back, &graph_tensor(t->g, at.stored)->type->shape);
    struct perm order;
    uint32_t steps = STEPS_AHEAD;
    if (!regroup(&from, &at.perm, &graph_tensor(t->g, out)->type->shape, &t->preferred[out].order, &order) ||
        !order_pays(t, out, &order, &steps))
        return false;
    graph_replace_input(t->g, id, 0, at.stored);
    track_store(t, out, &order);
    const struct shape *shape = &graph_tensor(t->g, out)->type->shape, rank1 = SHAPE(shape->rank);
    node_set_ints(t->g, n, PARAM_shape, &rank1, shape->dims);
    vec_push(t->g->arena, &t->g->order, id);
    return true;
}

static odlc_status visit(struct track *t, node_id id)
{
    struct node *n = graph_node(t->g, id);
    struct perm perm, out_perm;
    t->b.source = n->source;
    if (node_is(n, OP_Transpose))
        return visit_transpose(t, id);
    if (is_copy(t, n)) {
        visit_copy(t, id);
        return ODLC_OK;
    }
    if (node_is(n, OP_Reshape) && visit_regrouping(t, id))
        return ODLC_OK;
    odlc_status status;
    if (track_product(t, id, &status))
        return status;
    if (n->op->permute && choose_perm(t, n, &perm) && n->op->permute(t->g, n, &perm, &out_perm))
        return visit_permutable(t, id, &perm, &out_perm);
    return visit_fixed(t, id);
}

/* The encoding that is given for a value holds where the value is stored. */
static void move_encodings(struct track *t, size_t n_old)
{
    for (tensor_id id = 0; id < n_old; id++) {
        const struct quant *quant = graph_tensor(t->g, id)->quant;
        struct tensor *stored = graph_tensor(t->g, t->at[id].stored);
        if (quant && quant->overridden && !stored->quant)
            stored->quant = quant;
    }
}

/* Without a Transpose, and without an input that is placed, every tensor is in its own order already. */
static bool has_work(struct pass_context *c, const struct graph *g)
{
    if (c->options->input_layouts)
        return true;
    for (size_t i = 0; i < g->inputs.count; i++)
        if (track_places_input(c->options, graph_tensor(g, g->inputs.data[i])->type->shape.rank))
            return true;
    for (size_t i = 0; i < g->outputs.count; i++)
        if (graph_tensor(g, g->outputs.data[i])->kind == TENSOR_STATIC) /* it needs a copy */
            return true;
    return graph_may_have(c, g, OP_Transpose);
}

odlc_status pass_track_axes(struct pass_context *c, struct graph *g)
{
    if (!has_work(c, g))
        return ODLC_OK;
    struct arena *scratch = c->scratch;
    size_t n_old = g->tensors.count, n_nodes = g->order.count, n_outputs = g->outputs.count;
    struct track t = {.c = c, .g = g};
    build_init(&t.b, g, c->diags);
    t.at = arena_array(scratch, struct location, n_old);
    t.preferred = find_preferred_layouts(scratch, g);
    t.uses = graph_uses(scratch, g);
    map_init(&t.copies, scratch);
    for (tensor_id i = 0; i < n_old; i++)
        t.at[i] = (struct location){.stored = i, .perm = perm_identity(graph_tensor(g, i)->type->shape.rank)};
    const char **output_names = arena_array(scratch, const char *, n_outputs);
    for (size_t i = 0; i < n_outputs; i++)
        output_names[i] = graph_tensor(g, g->outputs.data[i])->name;
    track_place_inputs(&t);
    node_id *nodes = arena_memdup(scratch, g->order.data, n_nodes * sizeof *nodes);
    g->order.count = 0;
    for (size_t i = 0; i < n_nodes; i++)
        TRY(visit(&t, nodes[i]));
    t.b.source = NULL;
    move_encodings(&t, n_old);
    return track_place_outputs(&t, output_names);
}
