/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/declared_dims.h"

void note_symbols(const struct context *c, struct input *in, const struct fw_value *v)
{
    for (uint32_t k = 0; v->has_shape && k < v->rank; k++) {
        if (!fw_symbol(v, k) || v->dims[k] == DIM_OPEN)
            continue;
        uint32_t known = map_add(&in->symbols.index, fw_symbol(v, k), (uint32_t)in->symbols.sizes.count);
        if (known == MAP_NONE)
            vec_push(c->model_arena, &in->symbols.sizes, v->dims[k]);
        else if (in->symbols.sizes.data[known] != v->dims[k])
            in->symbols.sizes.data[known] = DIM_OPEN;
    }
}

static void settle_value(const struct input *in, struct fw_value *v)
{
    if (in->dims_overridden)
        v->has_shape = false;
    for (uint32_t k = 0; v->has_shape && k < v->rank; k++) {
        bool open = v->dims[k] == DIM_OPEN && fw_symbol(v, k);
        uint32_t known = open ? map_get(&in->symbols.index, fw_symbol(v, k)) : MAP_NONE;
        if (known != MAP_NONE)
            v->dims[k] = in->symbols.sizes.data[known];
    }
}

void settle_declared(const struct input *in, struct fw_graph *g)
{
    for (size_t i = 0; i < g->values.count; i++)
        settle_value(in, &g->values.data[i]);
    for (size_t i = 0; i < g->outputs.count; i++)
        settle_value(in, &g->outputs.data[i]);
    for (size_t i = 0; i < g->nodes.count; i++)
        for (size_t k = 0; k < g->nodes.data[i].n_attrs; k++)
            if (fw_attr_graph(&g->nodes.data[i].attrs[k]))
                settle_declared(in, fw_attr_graph(&g->nodes.data[i].attrs[k]));
}
