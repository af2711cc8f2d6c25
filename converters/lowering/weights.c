/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/weights.h"

#include "converters/lowering/shapes.h"

/* Whether t is a constant that shows the same bytes as the view. */
static bool same_constant(const struct tensor *t, const struct view *view, enum dtype dtype)
{
    return t->kind == TENSOR_STATIC && t->type->dtype == dtype && t->view->bytes == view->bytes &&
           t->view->dtype == view->dtype && t->view->scale == view->scale && t->view->zero == view->zero &&
           t->view->splat == view->splat && shape_equal(&t->view->shape, &view->shape) &&
           perm_equal(&t->view->perm, &view->perm);
}

odlc_status lower_weights(struct lower *l, uint32_t i, tensor_id in, const struct perm *perm, const char *suffix,
                          tensor_id *out)
{
    struct graph *g = l->b->graph;
    const char *name = arena_join(l->arena, l->node->inputs[i], suffix, "");
    if (!build_is_const(l->b, in))
        return build_transpose(l->b, in, perm, step_name(l, "weights"), out);
    struct view view = *graph_tensor(g, in)->view;
    enum dtype dtype = graph_tensor(g, in)->type->dtype;
    view_permute(&view, perm);
    tensor_id namesake = graph_find_tensor(g, name);
    if (namesake != NO_TENSOR && same_constant(graph_tensor(g, namesake), &view, dtype)) {
        *out = namesake;
        return ODLC_OK;
    }
    /* The name goes to the order that the container stores; the model's own order stays for whoever else reads it. */
    if (namesake != NO_TENSOR && namesake == l->in[i])
        graph_rename_tensor(g, namesake, graph_free_tensor_name(g, arena_printf(l->arena, "%s.unpermuted", name)));
    *out = graph_add_constant(g, name, dtype, &view);
    return ODLC_OK;
}

/* Scales that are all the same are one. */
static void join_scales(struct view *view)
{
    const int64_t count = view->shape.dims[view->scale_axis];
    for (int64_t i = 1; i < count; i++)
        if (view->scale[i] != view->scale[0] || (view->zero && view->zero[i] != view->zero[0]))
            return;
    if (count > 0)
        view->scale_axis = SCALE_WHOLE;
}

odlc_status lower_weight_rows(struct lower *l, tensor_id in, int64_t begin, int64_t end, const char *name,
                              tensor_id *out)
{
    struct graph *g = l->b->graph;
    if (!build_is_const(l->b, in))
        return lower_slice_axis(l, in, 0, begin, end, step_name(l, name), out);
    struct view view = *graph_tensor(g, in)->view;
    if (!perm_is_identity(&view.perm) || view.splat || view.dtype == DT_STRING)
        return lower_slice_axis(l, in, 0, begin, end, name, out);
    uint64_t row = shape_count_range(&view.shape, 1, view.shape.rank) * dtype_size(view.dtype);
    view.bytes += (uint64_t)begin * row;
    view.shape.dims[0] = end - begin;
    if (view.scale && view.scale_axis == 0) {
        view.scale += begin;
        view.zero = view.zero ? view.zero + begin : NULL;
        join_scales(&view);
    }
    *out = graph_add_constant(g, name, graph_tensor(g, in)->type->dtype, &view);
    return ODLC_OK;
}

odlc_status lower_bias(struct lower *l, uint32_t i, int64_t count, tensor_id *out, const char **name)
{
    tensor_id bias = lower_in(l, i);
    struct shape shape = SHAPE(count);
    if (bias == NO_TENSOR) {
        *out = NO_TENSOR;
        *name = "";
        return ODLC_OK;
    }
    if (!shape_equal(&build_type(l->b, bias)->shape, &shape))
        return lower_invalid(l, NULL, NULL, "the bias %s does not have %lld elements",
                             shape_text(l->diags->arena, &build_type(l->b, bias)->shape), (long long)count);
    *out = bias;
    *name = graph_tensor(l->b->graph, bias)->name;
    return ODLC_OK;
}
