/* SPDX-License-Identifier: Apache-2.0 */
#include "dlc/record.h"
#include "ir/nibbles.h"

const struct view *const *dlc_pack_4_bits(struct arena *arena, const struct graph *g)
{
    const struct view **packed = arena_array(arena, const struct view *, g->tensors.count);
    for (tensor_id id = 0; id < g->tensors.count; id++) {
        const struct tensor *t = graph_tensor(g, id);
        const struct shape *shape = &t->type->shape;
        const enum dtype dtype = t->type->dtype;
        if (t->kind != TENSOR_STATIC || !dtype_is_nibble(dtype))
            continue;
        const bool by_row = t->quant && t->quant->per_axis;
        const int64_t size = (int64_t)nibbles_size(shape, by_row);
        uint8_t *bytes = arena_alloc(arena, (size_t)size);
        struct arena_mark mark = arena_mark(arena);
        nibbles_pack(bytes, view_load(arena, t->view, dtype), shape, by_row);
        arena_rewind(arena, mark);
        struct view *view = arena_new(arena, struct view);
        *view = view_of(bytes, DT_UINT8, &SHAPE(size));
        packed[id] = view;
    }
    return packed;
}
