/* SPDX-License-Identifier: Apache-2.0 */
/* One warning for each Transpose that exists because of a UDO's layout, as the guide asks, and an entry of
 * pass_context.udo_permutes for the report of the UDO's node: the definition wants another order than the tensor is
 * stored in, or the UDO gives its result in an order that a reader does not want. Other Transposes that track_axes
 * inserted are nobody's fault. */
#include "op/layout.h"
#include "pass/pass.h"

pass_fn pass_report_permutes;

/* Why a Transpose is needed, in words; reader NULL: a graph output is what wants it. */
static const char *permute_reason(struct arena *arena, const struct node *reader, const struct node *udo, bool direct,
                                  bool to_first)
{
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

static void report(struct pass_context *c, struct graph *g, const struct layout_permute *inserted)
{
    const struct node *reader = inserted->reader == NO_NODE ? NULL : graph_node(g, inserted->reader);
    const struct node *writer = computed_by(g, inserted->tensor), *udo = NULL;
    bool to_first = inserted->to_first, direct = writer && writer->op->package;
    if (reader && reader->op->package)
        udo = reader;
    else
        udo = direct ? writer : udo_behind(g, inserted->tensor, to_first);
    if (!udo)
        return;
    struct pass_permute permute = {.node = udo->source ? udo->source : udo->name,
                                   .tensor = arena_strdup(g->arena, inserted->name),
                                   .reason = permute_reason(g->arena, reader, udo, direct, to_first),
                                   .to_first = to_first,
                                   .after = udo != reader};
    vec_push(g->arena, &c->udo_permutes, permute);
    const struct tensor *stored = graph_tensor(g, inserted->tensor);
    const char *hint =
        udo == reader && stored->kind == TENSOR_INPUT
            ? arena_printf(c->scratch, "--input_layout %s NONTRIVIAL stores the graph input as the model has it",
                           stored->name)
            : NULL;
    diag_warn(c->diags, AT(.node = permute.node, .hint = hint), "udo-permute",
              "a permute %s is inserted for tensor %s %s UDO %s", to_first ? "NHWC → NCHW" : "NCHW → NHWC",
              permute.tensor, udo == reader ? "before" : "after", udo->op->name);
}

odlc_status pass_report_permutes(struct pass_context *c, struct graph *g)
{
    for (size_t i = 0; i < c->permutes.count; i++)
        report(c, g, &c->permutes.data[i]);
    return ODLC_OK;
}
