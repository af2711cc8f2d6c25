/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/norm_weights.h"

#include "op/params.h"
#include "pass/parts.h"

static struct shape weights_shape(const struct graph *g, tensor_id x, uint32_t axes)
{
    const struct shape *from = &graph_tensor(g, x)->type->shape;
    struct shape shape = {.rank = 0};
    for (uint32_t i = 0; i < from->rank; i++)
        if (axes >> i & 1)
            shape.dims[shape.rank++] = from->dims[i];
    return shape;
}

bool norm_weight_fits(const struct graph *g, tensor_id weight, tensor_id x, uint32_t axes)
{
    const struct tensor *w = graph_tensor(g, weight), *like = graph_tensor(g, x);
    const struct shape *from = &w->type->shape, *to = &like->type->shape, shape = weights_shape(g, x, axes);
    if (w->kind != TENSOR_STATIC || w->type->dtype != like->type->dtype || from->rank > to->rank)
        return false;
    for (uint32_t i = 0, missing = to->rank - from->rank; i < to->rank; i++)
        if ((i < missing ? 1 : from->dims[i - missing]) != (axes >> i & 1 ? to->dims[i] : 1))
            return false;
    struct view view = *w->view;
    return view_reshape(&view, &shape);
}

tensor_id norm_constant(struct graph *g, const char *name, tensor_id x, uint32_t axes, float value)
{
    const enum dtype dtype = graph_tensor(g, x)->type->dtype;
    const struct shape shape = weights_shape(g, x, axes);
    const struct view view = view_splat_float(g->arena, dtype, &shape, value);
    return graph_add_constant(g, graph_free_tensor_name(g, arena_join(g->arena, name, "_", "weights")), dtype, &view);
}

tensor_id norm_weight(struct graph *g, tensor_id weight, tensor_id x, uint32_t axes)
{
    const struct tensor *w = graph_tensor(g, weight);
    const struct shape shape = weights_shape(g, x, axes);
    struct view view = *w->view;
    if (shape_equal(&w->type->shape, &shape) || !view_reshape(&view, &shape))
        return weight;
    return part_constant(g, weight, &view);
}

tensor_id norm_no_bias(struct graph *g, tensor_id weight)
{
    const struct tensor *w = graph_tensor(g, weight);
    const struct view zeros = view_splat_float(g->arena, w->type->dtype, &w->type->shape, 0);
    return graph_add_constant(g, arena_printf(g->arena, "%s_bias", tensor_wanted_name(w)), w->type->dtype, &zeros);
}

void norm_set_axes(struct graph *g, struct node *n, uint32_t axes)
{
    struct shape rank1 = {.rank = 1};
    int64_t listed[MAX_RANK];
    for (uint32_t i = 0; i < MAX_RANK; i++)
        if (axes >> i & 1)
            listed[rank1.dims[0]++] = i;
    node_set_ints(g, n, PARAM_axes, &rank1, listed);
}
