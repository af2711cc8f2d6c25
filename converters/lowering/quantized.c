/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/quantized.h"

#include "ir/quant.h"

bool lower_scaled_constant(struct lower *l, tensor_id x, const struct quant *quant)
{
    struct graph *g = l->b->graph;
    const struct tensor *t = graph_tensor(g, x);
    if (t->kind != TENSOR_STATIC)
        return false;
    struct view view = *t->view;
    if (view.dtype != t->type->dtype || view.splat || view.scale)
        return false;
    double *scale = arena_array(l->arena, double, quant->count), *zero = arena_array(l->arena, double, quant->count);
    for (uint32_t i = 0; i < quant->count; i++) {
        scale[i] = quant->encodings[i].scale;
        zero[i] = -quant->encodings[i].offset;
    }
    view.scale = scale;
    view.zero = zero;
    view.scale_axis = quant->per_axis ? view.perm.axis[quant->axis] : SCALE_WHOLE;
    l->out[0] = graph_add_constant(g, lower_out_name(l, 0), DT_FLOAT32, &view);
    return true;
}

odlc_status lower_quantized(struct lower *l, tensor_id real, const struct quant *quant, enum dtype integer,
                            tensor_id *out)
{
    struct graph *g = l->b->graph;
    const char *name = arena_printf(l->arena, "%s.quantized", graph_tensor(g, real)->name);
    struct type type = {.dtype = quant_dtype(integer), .shape = build_type(l->b, real)->shape};
    build_op(l->b, OP_Quantize, name);
    build_in(l->b, real);
    TRY(build_end_typed(l->b, &name, &type, 1, out));
    graph_tensor(g, *out)->quant = quant;
    return ODLC_OK;
}

odlc_status lower_dequantized(struct lower *l, tensor_id fixed)
{
    const char *name = lower_out_name(l, 0);
    struct type type = {.dtype = DT_FLOAT32, .shape = build_type(l->b, fixed)->shape};
    build_op(l->b, OP_Dequantize, fw_node_label(l->node));
    build_in(l->b, fixed);
    return build_end_typed(l->b, &name, &type, 1, &l->out[0]);
}
