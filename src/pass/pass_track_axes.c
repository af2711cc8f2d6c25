/* Removes the Transposes that lowering put around channels-last ops.
 *
 * Lowering is simple and local: every convolution, pooling and so on gets a Transpose before and after it. This pass
 * walks the nodes in order and keeps for each tensor T of the old graph where its value now is: a stored tensor S and
 * the permutation p with S.axis[i] = T.axis[p[i]]. A layout Transpose then costs nothing: it only changes p. Ops that
 * treat all axes alike, or whose axis params can be rewritten (permute_fn in their row), work on S directly and pass p
 * on; so do Reshapes that split and merge axes which lie side by side in S, too. Everything else gets the tensor in its
 * own order by a real Transpose, one per tensor and permutation, shared by all readers. Constants are permuted views.
 *
 * A backward walk finds the order that a tensor should best be stored in: that of the channels-last op which it flows
 * into. A Transpose of the model gives its result in that order at no cost.
 *
 * A graph input is stored channels-last when it flows into a channels-last op through ops that keep the meaning of
 * axes. A graph output is stored as it comes, when that is channels-last (docs/udo-config.md,
 * --preserve_io).
 * */
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "op/op.h"
#include "op/params.h"
#include "pass/pass.h"
#include "pass/regroup.h"
#include "pass/preferred_layout.h"

pass_fn pass_track_axes;

struct location {
    tensor_id stored;
    struct perm perm;
};

struct track {
    struct pass_context *c;
    struct graph *g;
    struct build b;
    struct location *at;                      /* per tensor of the old graph */
    const struct preferred_layout *preferred; /* per tensor of the old graph */
    struct uses uses;                         /* of the old graph */
    struct map copies; /* a stored tensor and a permutation → the tensor that is the one permuted by the other */
};

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

/* ---- bringing a tensor into an order ---- */

/* How the result of bringing a tensor into the order `to` is called, when it is stored in the order `from`. */
static const char *layout_suffix(const struct perm *from, const struct perm *to)
{
    struct perm back = perm_inverse(from);
    if (is_channels_last(to) || (perm_is_identity(to) && is_channels_last(&back) && !is_channels_last(from)))
        return "nhwc";
    return perm_is_identity(to) && is_channels_last(from) ? "nchw" : "perm";
}

static const char *permute_reason(const struct track *t, const struct node *reader, const struct node *udo, bool direct,
                                  bool to_first)
{
    struct arena *arena = t->g->arena;
    const char *stored = to_first ? "channels-last" : "channels-first", *wanted = to_first ? "NCHW" : "NHWC";
    if (reader == udo)
        return arena_printf(arena, "the definition wants %s, and the tensor is stored %s", wanted, stored);
    const char *gives = direct ? arena_printf(arena, "the UDO gives it %s", stored)
                               : arena_printf(arena, "it is %s like what the UDO gives", stored);
    if (!reader)
        return arena_printf(arena, "%s, and it is a graph output in the model's order", gives);
    return arena_printf(arena, "%s, and node '%s' (%s) reads it in another order", gives,
                        reader->source ? reader->source : reader->name, reader->op->name);
}

/* What computed the tensor, before it was quantized and dequantized, which models do once; NULL: nothing did. */
static const struct node *computed_by(const struct graph *g, tensor_id id)
{
    enum { MOST_STEPS = 16 };
    const struct node *n = graph_producer(g, id);
    for (int steps = 0; steps < MOST_STEPS && n && (node_is(n, OP_Quantize) || node_is(n, OP_Dequantize)); steps++)
        n = graph_producer(g, n->inputs[0]);
    return n;
}

/* Whether the node gives its result in the order of what it reads. */
static bool passes_order_on(const struct node *n)
{
    if (n->op->package)
        return gives_as_stored(n, 0);
    return (n->op->permute && !node_is(n, OP_Transpose)) || node_is(n, OP_Quantize) || node_is(n, OP_Dequantize);
}

/* The UDO whose declared layout is why the tensor is stored as it is: its own order went through other nodes. NULL
 * where there is none, or where an op that takes no other order than channels-last is a reason as good. */
static const struct node *udo_behind(const struct graph *g, tensor_id stored, bool channels_last)
{
    enum { MOST = 64 };
    tensor_id open[MOST];
    size_t count = 0, seen = 0;
    const struct node *udo = NULL;
    for (open[count++] = stored; count > 0 && seen < MOST; seen++) {
        const struct node *n = graph_producer(g, open[--count]);
        if (!n)
            continue;
        bool passes = passes_order_on(n);
        if (!passes && n->op->package)
            udo = n;
        else if (!passes && channels_last)
            return NULL;
        for (uint32_t i = 0; passes && i < n->n_inputs && count < MOST; i++)
            if (n->op->package || carries_axes(n->op, i) || i == 0)
                open[count++] = n->inputs[i];
    }
    return udo;
}

/* The guide asks for one warning for each permute that a UDO's layout costs. */
static void report_permute(struct track *t, const struct node *reader, tensor_id stored, const char *suffix)
{
    const struct tensor *tensor = graph_tensor(t->g, stored);
    const struct node *writer = computed_by(t->g, stored), *udo = NULL;
    bool to_first = strcmp(suffix, "nchw") == 0, direct = writer && writer->op->package;
    if (reader && reader->op->package)
        udo = reader;
    else
        udo = direct ? writer : udo_behind(t->g, stored, to_first);
    t->c->permutes_inserted++;
    if (!udo)
        return;
    struct pass_permute permute = {.node = udo->source ? udo->source : udo->name,
                                   .tensor = arena_strdup(t->g->arena, tensor->name),
                                   .reason = permute_reason(t, reader, udo, direct, to_first),
                                   .to_first = to_first,
                                   .after = udo != reader};
    vec_push(t->g->arena, &t->c->udo_permutes, permute);
    diag_warn(t->c->diags, AT(.node = permute.node), "udo-permute", "a permute %s is inserted for tensor %s %s UDO %s",
              to_first ? "NHWC → NCHW" : "NCHW → NHWC", tensor->name, udo == reader ? "before" : "after",
              udo->op->name);
}

struct copy_key {
    char text[24];
};

static struct copy_key copy_key(tensor_id stored, const struct perm *perm)
{
    struct copy_key key;
    int length = snprintf(key.text, sizeof key.text - MAX_RANK, "%x ", stored);
    for (uint32_t i = 0; i < perm->rank; i++)
        key.text[length++] = (char)('0' + perm->axis[i]);
    key.text[length] = '\0';
    return key;
}

static tensor_id find_copy(const struct track *t, tensor_id stored, const struct perm *perm)
{
    const struct copy_key key = copy_key(stored, perm);
    uint32_t known = map_get(&t->copies, key.text);
    return known == MAP_NONE ? NO_TENSOR : known;
}

static void remember_copy(struct track *t, tensor_id stored, const struct perm *perm, tensor_id tensor)
{
    const struct copy_key key = copy_key(stored, perm);
    map_put(&t->copies, arena_strdup(t->c->scratch, key.text), tensor);
}

static uint32_t format_of(const char *suffix, uint32_t rank)
{
    bool first = strcmp(suffix, "nchw") == 0, last = strcmp(suffix, "nhwc") == 0;
    if (rank == 4)
        return first ? AXIS_FORMAT_NCHW : last ? AXIS_FORMAT_NHWC : 0;
    if (rank == 3)
        return first ? AXIS_FORMAT_NCF : last ? AXIS_FORMAT_NFC : 0;
    return 0;
}

/* A Transpose of `from` into `into`, a tensor that lost its own one, or into a new tensor (NO_TENSOR) called name. */
static odlc_status add_transpose(struct track *t, tensor_id from, const struct perm *step, tensor_id into,
                                 const char *name, tensor_id *out)
{
    if (into == NO_TENSOR || graph_tensor(t->g, from)->kind == TENSOR_STATIC)
        return build_transpose(&t->b, from, step, name, out);
    const struct op *row = op_row(OP_Transpose);
    node_id id = graph_add_node(t->g, row, row->n_params, graph_tensor(t->g, into)->name, &from, 1, &into, 1);
    node_set_perm(t->g, graph_node(t->g, id), step);
    vec_push(t->g->arena, &t->g->order, id);
    *out = into;
    return ODLC_OK;
}

/* A tensor with axis[i] = id.axis[to[i]], for `reader` (NULL: a graph output). */
static odlc_status bring(struct track *t, tensor_id id, const struct perm *to, const struct node *reader,
                         tensor_id *out)
{
    const struct location at = t->at[id];
    struct perm back = perm_inverse(&at.perm), step = perm_compose(&back, to);
    *out = at.stored;
    if (perm_is_identity(&step))
        return ODLC_OK;
    *out = find_copy(t, at.stored, &step);
    if (*out != NO_TENSOR)
        return ODLC_OK;
    const char *suffix = layout_suffix(&at.perm, to);
    const char *name = arena_printf(t->g->arena, "%s.%s", graph_tensor(t->g, at.stored)->name, suffix);
    if (graph_tensor(t->g, at.stored)->kind != TENSOR_STATIC)
        report_permute(t, reader, at.stored, suffix);
    bool free_again = perm_is_identity(to) && id != at.stored && graph_tensor(t->g, id)->producer == NO_NODE &&
                      graph_tensor(t->g, id)->kind == TENSOR_NATIVE;
    TRY(add_transpose(t, at.stored, &step, free_again ? id : NO_TENSOR, name, out));
    struct tensor *made = graph_tensor(t->g, *out);
    made->axis_format = format_of(suffix, made->type->shape.rank);
    remember_copy(t, at.stored, &step, *out);
    return ODLC_OK;
}

static odlc_status bring_own_order(struct track *t, tensor_id id, const struct node *reader, tensor_id *out)
{
    struct perm own = perm_identity(t->at[id].perm.rank);
    return bring(t, id, &own, reader, out);
}

/* The output is now stored in the order of perm. */
static void store_output(struct track *t, tensor_id id, const struct perm *perm)
{
    struct tensor *tensor = graph_tensor(t->g, id);
    t->at[id] = (struct location){.stored = id, .perm = *perm};
    if (perm_is_identity(perm))
        return;
    const struct shape stored = perm_apply(perm, &tensor->type->shape);
    graph_set_shape(t->g, id, &stored);
    if (is_channels_last(perm))
        tensor->axis_format = format_of("nhwc", perm->rank);
}

/* ---- the kinds of nodes ---- */

/* A lowered op's own output takes the name that the model gives the value; the (perhaps never needed) transposed one
 * steps back. */
static void pass_name_on(struct track *t, const struct node *n, tensor_id stored)
{
    struct tensor *from = graph_tensor(t->g, n->outputs[0]), *to = graph_tensor(t->g, stored);
    const struct node *writer = to->producer == NO_NODE ? NULL : graph_node(t->g, to->producer);
    if (!writer || writer->source != n->source || !n->source || to->kind != TENSOR_NATIVE)
        return;
    const char *name = from->name, *aside = arena_printf(t->g->arena, "%s.nchw", name);
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

static odlc_status visit_transpose(struct track *t, node_id id)
{
    struct node *n = graph_node(t->g, id);
    tensor_id in = n->inputs[0], out = n->outputs[0];
    struct perm perm = node_perm(n), inverse = perm_inverse(&perm);
    const struct location at = t->at[in];
    struct perm stored_as = perm_compose(&inverse, &at.perm), to = order_of_result(t, out);
    bool costs_nothing = n->layout_only || perm_is_identity(&stored_as) || perm_equal(&stored_as, &to);
    struct perm back = perm_inverse(&at.perm), own = perm_compose(&back, &perm), step = perm_compose(&own, &to);
    tensor_id shared = costs_nothing ? NO_TENSOR : find_copy(t, at.stored, &step);
    if (costs_nothing) {
        t->at[out] = (struct location){.stored = at.stored, .perm = stored_as};
        if (n->layout_only && is_channels_last(&stored_as)) {
            graph_tensor(t->g, at.stored)->axis_format = format_of("nhwc", stored_as.rank);
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
    n->inputs[0] = at.stored;
    store_output(t, out, &to);
    remember_copy(t, at.stored, &step, out);
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
static odlc_status bring_broadcast(struct track *t, tensor_id id, const struct perm *perm, const struct node *reader,
                                   tensor_id *out)
{
    uint32_t rank = t->at[id].perm.rank;
    if (rank == perm->rank)
        return bring(t, id, perm, reader, out);
    TRY(bring_own_order(t, id, reader, out));
    const struct shape shape = graph_tensor(t->g, *out)->type->shape;
    if (shape_count(&shape) == 1)
        return ODLC_OK;
    struct shape wide = {.rank = perm->rank};
    for (uint32_t i = 0; i < perm->rank; i++)
        wide.dims[i] = i < perm->rank - rank ? 1 : shape.dims[i - (perm->rank - rank)];
    const char *name = graph_tensor(t->g, *out)->name;
    if (graph_tensor(t->g, *out)->kind != TENSOR_STATIC)
        report_permute(t, reader, *out, "nhwc");
    TRY(build_reshape(&t->b, *out, &wide, arena_printf(t->g->arena, "%s.expanded", name), out));
    return build_transpose(&t->b, *out, perm, arena_printf(t->g->arena, "%s.nhwc", name), out);
}

static odlc_status visit_permutable(struct track *t, node_id id, const struct perm *perm, const struct perm *out_perm)
{
    for (uint32_t i = 0; i < graph_node(t->g, id)->n_inputs; i++) {
        const struct node n = *graph_node(t->g, id); /* building moves the array of nodes */
        tensor_id in = n.inputs[i];
        if (in == NO_TENSOR)
            continue;
        if (carries_axes(n.op, i))
            TRY(bring_broadcast(t, in, perm, &n, &n.inputs[i]));
        else
            TRY(bring_own_order(t, in, &n, &n.inputs[i]));
    }
    const struct node *n = graph_node(t->g, id);
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (n->outputs[i] != NO_TENSOR)
            store_output(t, n->outputs[i], out_perm);
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
        const struct node n = *graph_node(t->g, id);
        tensor_id in = n.inputs[i];
        if (in == NO_TENSOR)
            continue;
        const struct location at = t->at[in];
        bool as_stored = takes_as_stored(&n, i);
        if (as_stored && !perm_is_identity(&at.perm)) {
            stored = stored.rank ? stored : at.perm;
            if (!warned)
                warn_of_axis_params(t, &n, graph_tensor(t->g, at.stored)->name);
            warned = true;
        }
        if (as_stored)
            n.inputs[i] = at.stored;
        else
            TRY(bring_own_order(t, in, &n, &n.inputs[i]));
    }
    const struct node *n = graph_node(t->g, id);
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        if (n->outputs[i] == NO_TENSOR)
            continue;
        struct perm own = perm_identity(graph_tensor(t->g, n->outputs[i])->type->shape.rank);
        store_output(t, n->outputs[i], gives_as_stored(n, i) && stored.rank == own.rank ? &stored : &own);
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
    n->inputs[0] = at.stored;
    node_set_ints(t->g, n, PARAM_shape, &rank1, stored->dims);
    store_output(t, n->outputs[0], &at.perm);
    vec_push(t->g->arena, &t->g->order, id);
}

/* A result in an order that no reader wants would only move the Transpose behind the Reshape. A Transpose of the model
 * takes any. */
static bool order_pays(const struct track *t, tensor_id out, const struct perm *order)
{
    struct perm own = perm_identity(order->rank), wanted = order_of_result(t, out);
    if (perm_equal(order, &own) || perm_equal(order, &wanted))
        return true;
    const uint32_t first = t->uses.first[out], end = t->uses.first[out + 1];
    for (uint32_t i = first; i < end; i++)
        if (!node_is(graph_node(t->g, t->uses.nodes[i]), OP_Transpose))
            return false;
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
    if (!regroup(&from, &at.perm, &graph_tensor(t->g, out)->type->shape, &t->preferred[out].order, &order) ||
        !order_pays(t, out, &order))
        return false;
    n->inputs[0] = at.stored;
    store_output(t, out, &order);
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
    if (n->op->permute && choose_perm(t, n, &perm) && n->op->permute(t->g, n, &perm, &out_perm))
        return visit_permutable(t, id, &perm, &out_perm);
    return visit_fixed(t, id);
}

/* ---- graph inputs and outputs ---- */

static bool preserves(const struct track *t, const char *name)
{
    const struct pass_options *o = t->c->options;
    return o->preserve_layout && (!o->preserve_names || map_get(o->preserve_names, name) != MAP_NONE);
}

static void place_inputs(struct track *t)
{
    const struct pass_options *o = t->c->options;
    for (size_t i = 0; i < t->g->inputs.count; i++) {
        tensor_id id = t->g->inputs.data[i];
        struct tensor *tensor = graph_tensor(t->g, id);
        uint32_t layout = o->input_layouts ? map_get(o->input_layouts, tensor->name) : MAP_NONE;
        bool spatial = layout == MAP_NONE ? t->preferred[id].spatial : layout == INPUT_NCHW;
        struct perm last = perm_channels_last(tensor->type->shape.rank);
        if (!spatial || tensor->type->shape.rank < 3 || preserves(t, tensor->name))
            continue;
        struct shape before = tensor->type->shape;
        store_output(t, id, &last);
        diag_note(t->c->diags, AT(.node = tensor->name, .hint = "--preserve_io layout keeps the model's order"),
                  "input-layout", "graph input %s is stored channels-last: %s instead of %s", tensor->name,
                  shape_text(t->c->scratch, &tensor->type->shape), shape_text(t->c->scratch, &before));
    }
}

/* Makes `id` the graph output called name. A tensor that is already an input, a constant or another output is copied.
 */
static odlc_status claim_output(struct track *t, tensor_id id, const char *name, tensor_id *out)
{
    *out = id;
    if (strcmp(graph_tensor(t->g, id)->name, name) == 0 && graph_tensor(t->g, id)->kind != TENSOR_STATIC)
        return ODLC_OK;
    tensor_id holder = graph_find_tensor(t->g, name);
    if (holder != NO_TENSOR)
        graph_rename_tensor(t->g, holder, graph_free_tensor_name(t->g, arena_printf(t->g->arena, "%s.nhwc", name)));
    if (graph_tensor(t->g, id)->kind == TENSOR_NATIVE) {
        graph_rename_tensor(t->g, id, name);
        return ODLC_OK;
    }
    *out = build_copy(t->g, id, name);
    return ODLC_OK;
}

/* The axis format of a graph output says whether it is in another order than the model's. */
static odlc_status place_output(struct track *t, tensor_id *slot, const char *name)
{
    const struct location at = t->at[*slot];
    bool as_it_comes = is_channels_last(&at.perm) && !preserves(t, name);
    tensor_id value = at.stored;
    if (!as_it_comes)
        TRY(bring_own_order(t, *slot, NULL, &value));
    else
        diag_note(t->c->diags, AT(.node = name, .hint = "--preserve_io layout keeps the model's order"),
                  "output-layout", "graph output %s is stored channels-last: %s", name,
                  shape_text(t->c->scratch, &graph_tensor(t->g, value)->type->shape));
    if (graph_tensor(t->g, *slot)->kind == TENSOR_OUTPUT)
        graph_tensor(t->g, *slot)->kind = TENSOR_NATIVE;
    TRY(claim_output(t, value, name, slot));
    struct tensor *output = graph_tensor(t->g, *slot);
    if (output->kind == TENSOR_NATIVE)
        output->kind = TENSOR_OUTPUT;
    /* What is channels-last inside may be the model's own order of this output, by a Transpose that was not needed. */
    bool says_last = output->axis_format == AXIS_FORMAT_NHWC || output->axis_format == AXIS_FORMAT_NFC;
    if (as_it_comes || says_last)
        output->axis_format = as_it_comes ? format_of("nhwc", output->type->shape.rank) : AXIS_FORMAT_NONTRIVIAL;
    return ODLC_OK;
}

/* Without a Transpose, and without an input whose layout is given, every tensor is in its own order already. */
static bool has_work(const struct pass_context *c, const struct graph *g)
{
    if (c->options->input_layouts)
        return true;
    for (size_t i = 0; i < g->outputs.count; i++)
        if (graph_tensor(g, g->outputs.data[i])->kind == TENSOR_STATIC) /* it needs a copy */
            return true;
    for (size_t i = 0; i < g->order.count; i++)
        if (node_is(graph_node(g, g->order.data[i]), OP_Transpose))
            return true;
    return false;
}

odlc_status pass_track_axes(struct pass_context *c, struct graph *g, bool *progress)
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
    place_inputs(&t);
    node_id *nodes = arena_memdup(scratch, g->order.data, n_nodes * sizeof *nodes);
    g->order.count = 0;
    for (size_t i = 0; i < n_nodes; i++)
        TRY(visit(&t, nodes[i]));
    t.b.source = NULL;
    for (size_t i = 0; i < n_outputs; i++)
        TRY(place_output(&t, &g->outputs.data[i], output_names[i]));
    *progress = true;
    return ODLC_OK;
}
