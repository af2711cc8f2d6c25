/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/track.h"

#include <stdio.h>

#include "op/params.h"

/* What bringing a tensor into the order `to` makes of the axes, when it is stored in the order `from`. Of rank 3 both
 * ways are the same permutation: there the stored tensor says which it is. */
static enum axis_order order_reached(const struct tensor *stored, const struct perm *from, const struct perm *to)
{
    struct perm back = perm_inverse(from);
    bool from_last = is_channels_last(from) && (from->rank > 3 || stored->axis_format == AXIS_FORMAT_NFC);
    if (is_channels_last(to) || (perm_is_identity(to) && is_channels_last(&back) && !from_last))
        return ORDER_CHANNELS_LAST;
    return perm_is_identity(to) && from_last ? ORDER_CHANNELS_FIRST : ORDER_OTHER;
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

tensor_id track_find_copy(const struct track *t, tensor_id stored, const struct perm *perm)
{
    const struct copy_key key = copy_key(stored, perm);
    uint32_t known = map_get(&t->copies, key.text);
    return known == MAP_NONE ? NO_TENSOR : known;
}

void track_remember_copy(struct track *t, tensor_id stored, const struct perm *perm, tensor_id tensor)
{
    const struct copy_key key = copy_key(stored, perm);
    map_put(&t->copies, arena_strdup(t->c->scratch, key.text), tensor);
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

void track_note_permute(struct track *t, node_id reader, tensor_id stored, bool to_first)
{
    const struct layout_permute permute = {
        .tensor = stored, .name = graph_tensor(t->g, stored)->name, .reader = reader, .to_first = to_first};
    vec_push(t->g->arena, &t->c->permutes, permute);
}

odlc_status track_bring(struct track *t, tensor_id id, const struct perm *to, node_id reader, tensor_id *out)
{
    const struct location at = t->at[id];
    struct perm back = perm_inverse(&at.perm), step = perm_compose(&back, to);
    *out = at.stored;
    if (perm_is_identity(&step))
        return ODLC_OK;
    *out = track_find_copy(t, at.stored, &step);
    if (*out != NO_TENSOR)
        return ODLC_OK;
    const enum axis_order order = order_reached(graph_tensor(t->g, at.stored), &at.perm, to);
    const char *stored_name = graph_tensor(t->g, at.stored)->name;
    const char *name = arena_printf(t->g->arena, "%s.%s", stored_name, order_suffix(order, to->rank));
    if (graph_tensor(t->g, at.stored)->kind != TENSOR_STATIC)
        track_note_permute(t, reader, at.stored, order == ORDER_CHANNELS_FIRST);
    bool free_again = perm_is_identity(to) && id != at.stored && graph_tensor(t->g, id)->producer == NO_NODE &&
                      graph_tensor(t->g, id)->kind == TENSOR_NATIVE;
    TRY(add_transpose(t, at.stored, &step, free_again ? id : NO_TENSOR, name, out));
    struct tensor *made = graph_tensor(t->g, *out);
    if (!free_again || !made->axis_format)
        made->axis_format = order_format(order, to->rank);
    track_remember_copy(t, at.stored, &step, *out);
    return ODLC_OK;
}

odlc_status track_bring_own_order(struct track *t, tensor_id id, node_id reader, tensor_id *out)
{
    struct perm own = perm_identity(t->at[id].perm.rank);
    return track_bring(t, id, &own, reader, out);
}

void track_store(struct track *t, tensor_id id, const struct perm *perm)
{
    struct tensor *tensor = graph_tensor(t->g, id);
    t->at[id] = (struct location){.stored = id, .perm = *perm};
    if (perm_is_identity(perm))
        return;
    const struct shape stored = perm_apply(perm, &tensor->type->shape);
    graph_set_shape(t->g, id, &stored);
    tensor->axis_format = order_format(is_channels_last(perm) ? ORDER_CHANNELS_LAST : ORDER_OTHER, perm->rank);
}
