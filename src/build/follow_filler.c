/* SPDX-License-Identifier: Apache-2.0 */
#include "build/follow_filler.h"

#include "op/axes.h"
#include "op/filler_axes.h"
#include "op/infer.h"
#include "op/ranges.h"

#define HINT "freeze the inputs that it depends on (--freeze_input), or end the model before it (--out_node)"

static const char *label(const struct node *n)
{
    return n->source ? n->source : n->name;
}

/* ---- axes ---- */

static void warn_of_rows(const struct build *b, const struct node *n)
{
    uint32_t i = 0;
    while (i + 1 < n->n_inputs && (n->inputs[i] == NO_TENSOR || !build_filler(b, n->inputs[i]).axes))
        i++;
    const struct tensor *t = node_input(b->graph, n, i);
    diag_warn(b->diags, AT(.node = label(n), .hint = HINT), "padded-rows",
              "%s: the result may depend on the rows of %s %s behind those that were found, which are filler",
              op_subject(b->diags, n->op), t->name, shape_text(b->diags->arena, &t->type->shape));
}

static bool may_have_filler(const struct build *b, const struct node *n, uint8_t *in)
{
    bool any = node_is(n, OP_NonMaxSuppression) || node_is(n, OP_NonZero);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        any |= (in[i] = n->inputs[i] == NO_TENSOR ? 0 : build_filler(b, n->inputs[i]).axes) != 0;
    return any;
}

void follow_filler_axes(struct build *b, const struct node *n)
{
    struct arena *arena = b->graph->arena;
    if (b->filler.count == 0 && !node_is(n, OP_NonMaxSuppression) && !node_is(n, OP_NonZero))
        return;
    uint8_t *in = arena_array(arena, uint8_t, n->n_inputs), *out = arena_array(arena, uint8_t, n->n_outputs);
    if (!may_have_filler(b, n, in))
        return;
    if (!filler_axes(b->graph, n, in, out))
        warn_of_rows(b, n);
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (n->outputs[i] != NO_TENSOR)
            build_set_filler(b, n->outputs[i], (struct filler){.axes = out[i]});
}

/* ---- sizes ---- */

static uint64_t bit(const struct build *b, tensor_id id, uint64_t element)
{
    return element < FILLER_SIZES ? build_filler(b, id).sizes >> element & 1 : build_filler(b, id).sizes != 0;
}

static uint64_t count_of(const struct build *b, tensor_id id)
{
    return shape_count(&build_type(b, id)->shape);
}

/* Elements of lists that are picked, cut and joined keep to themselves; a list that goes elsewhere goes as a whole. */
static uint64_t sizes_of_result(const struct build *b, const struct node *n)
{
    const tensor_id data = n->inputs[0], result = n->outputs[0];
    uint64_t sizes = 0, count = count_of(b, result), at = 0, all;
    struct range ranges[2 * MAX_RANK];
    uint32_t n_ranges;
    if (count > FILLER_SIZES || n->n_outputs != 1)
        return ALL_SIZES;
    if (node_is(n, OP_Reshape) || node_is(n, OP_Cast))
        return build_filler(b, data).sizes;
    if (node_is(n, OP_Gather) && build_rank(b, data) == 1 && !build_filler(b, n->inputs[1]).sizes) {
        const int64_t *positions = build_const_as_ints(b, n->inputs[1], &all), dim = (int64_t)count_of(b, data);
        for (uint64_t i = 0; i < count; i++)
            sizes |= bit(b, data, (uint64_t)(positions[i] < 0 ? positions[i] + dim : positions[i])) << i;
        return sizes;
    }
    if (node_is(n, OP_StridedSlice) && ranges_read(n, &build_type(b, data)->shape, ranges, &n_ranges) &&
        n_ranges == 1) {
        for (uint64_t i = 0; i < count; i++)
            sizes |= bit(b, data, (uint64_t)(ranges[0].begin + (int64_t)i * ranges[0].stride)) << i;
        return sizes;
    }
    if (node_is(n, OP_Concat) && build_rank(b, result) == 1) {
        for (uint32_t k = 0; k < n->n_inputs; k++)
            for (uint64_t i = 0; i < count_of(b, n->inputs[k]); i++)
                sizes |= bit(b, n->inputs[k], i) << at++;
        return sizes;
    }
    return ALL_SIZES;
}

/* The first operand that has sizes; NO_TENSOR: none has. */
static tensor_id operand_of_sizes(const struct build *b, const struct node *n)
{
    for (uint32_t i = 0; b->filler.count && i < n->n_inputs; i++)
        if (n->inputs[i] != NO_TENSOR && build_filler(b, n->inputs[i]).sizes)
            return n->inputs[i];
    return NO_TENSOR;
}

void follow_filler_sizes(struct build *b, const struct node *n)
{
    if (operand_of_sizes(b, n) == NO_TENSOR)
        return;
    uint64_t sizes = sizes_of_result(b, n);
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (n->outputs[i] != NO_TENSOR)
            build_set_filler(b, n->outputs[i],
                             (struct filler){.axes = build_filler(b, n->outputs[i]).axes, .sizes = sizes});
}

odlc_status refuse_filler_sizes(const struct build *b, const struct node *n)
{
    tensor_id id = operand_of_sizes(b, n);
    if (id == NO_TENSOR)
        return ODLC_OK;
    return diag_error(b->diags, ODLC_ERR_UNSUPPORTED, AT(.node = label(n), .hint = HINT), "unknown-size",
                      "%s: computes with %s, a size that depends on how much an op finds while the model runs",
                      op_subject(b->diags, n->op), graph_tensor(b->graph, id)->name);
}
