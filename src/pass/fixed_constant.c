/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/fixed_constant.h"

#include <float.h>
#include <math.h>

#include "ir/quant.h"

tensor_id fixed_constant(struct graph *g, tensor_id constant)
{
    const struct tensor *t = graph_tensor(g, constant);
    struct view view = *t->view;
    enum dtype fixed = quant_dtype(view.dtype);
    const struct quant *quant = t->type->dtype == DT_FLOAT32 ? quant_of_view(g->arena, &view) : NULL;
    if (!quant)
        return NO_TENSOR;
    view.scale = view.zero = NULL;
    view.dtype = fixed;
    tensor_id twin = graph_add_constant(g, tensor_wanted_name(t), fixed, &view);
    graph_tensor(g, twin)->quant = quant;
    return twin;
}

bool is_zeros(const struct tensor *t)
{
    if (t->kind != TENSOR_STATIC || !t->view->splat || t->view->scale)
        return false;
    double value;
    convert_elements(&value, DT_FLOAT64, t->view->bytes, t->view->dtype, 1);
    return value == 0;
}

tensor_id fixed_zeros(struct graph *g, tensor_id bias)
{
    const struct tensor *t = graph_tensor(g, bias);
    const double one = 1;
    struct view zeros = view_splat_int(g->arena, DT_SFXP32, &t->type->shape, 0);
    const struct quant *quant = quant_create(g->arena, DT_SFXP32, &one, NULL, 1, false, 0);
    tensor_id id = graph_add_constant(g, tensor_wanted_name(t), DT_SFXP32, &zeros);
    graph_tensor(g, id)->quant = quant;
    return id;
}

tensor_id fixed_bias(struct graph *g, tensor_id bias, struct arena *scratch)
{
    const struct tensor *t = graph_tensor(g, bias);
    const uint64_t count = shape_count(&t->type->shape);
    const float *real = view_load(scratch, t->view, DT_FLOAT32);
    double most = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (!isfinite(real[i]))
            return NO_TENSOR;
        most = fmax(most, fabs((double)real[i]));
    }
    const double scale = (double)(float)(most / INT32_MAX);
    const struct quant *quant = quant_create(g->arena, DT_SFXP32, &scale, NULL, 1, false, 0);
    if (!quant)
        return NO_TENSOR;
    int32_t *integers = arena_array(g->arena, int32_t, count);
    for (uint64_t i = 0; i < count; i++)
        integers[i] = (int32_t)fmax(fmin(rint((double)real[i] / scale), INT32_MAX), -INT32_MAX);
    const struct view view = view_of(integers, DT_SFXP32, &t->type->shape);
    tensor_id id = graph_add_constant(g, tensor_wanted_name(t), DT_SFXP32, &view);
    graph_tensor(g, id)->quant = quant;
    return id;
}

tensor_id joined_bias(struct graph *g, tensor_id bias, struct arena *scratch)
{
    const struct tensor t = *graph_tensor(g, bias);
    const uint64_t count = shape_count(&t.type->shape);
    if (t.type->dtype != DT_SFXP32 || !t.quant->per_axis || t.quant->count != count)
        return bias;
    const double *stored = view_load(scratch, t.view, DT_FLOAT64);
    double *real = arena_array(scratch, double, count), most = 0;
    for (uint64_t i = 0; i < count; i++)
        real[i] = (stored[i] + t.quant->encodings[i].offset) * t.quant->encodings[i].scale;
    /* A loop of its own: GCC 12 for aarch64 ends with an internal error where it vectorizes both as one. */
    for (uint64_t i = 0; i < count; i++)
        most = fmax(most, fabs(real[i]));
    int exponent;
    (void)frexp(most / INT32_MAX, &exponent);
    const double scale = most > 0 ? ldexp(1, exponent) : 1;
    if (scale < FLT_MIN || scale > (double)FLT_MAX / UINT32_MAX)
        return bias;
    int32_t *integers = arena_array(g->arena, int32_t, count);
    for (uint64_t i = 0; i < count; i++)
        integers[i] = (int32_t)rint(real[i] / scale);
    const struct view view = view_of(integers, DT_SFXP32, &t.type->shape);
    tensor_id id = graph_add_constant(g, tensor_wanted_name(&t), DT_SFXP32, &view);
    graph_tensor(g, id)->quant = quant_create(g->arena, DT_SFXP32, &scale, NULL, 1, false, 0);
    return id;
}
