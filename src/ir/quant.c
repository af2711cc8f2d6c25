/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/quant.h"

#include <math.h>

enum dtype quant_dtype(enum dtype integer)
{
    switch (integer) {
    case DT_INT4:
        return DT_SFXP4;
    case DT_INT8:
        return DT_SFXP8;
    case DT_INT16:
        return DT_SFXP16;
    case DT_INT32:
        return DT_SFXP32;
    case DT_UINT4:
        return DT_UFXP4;
    case DT_UINT8:
        return DT_UFXP8;
    case DT_UINT16:
        return DT_UFXP16;
    default:
        return DT_NONE;
    }
}

const struct quant *quant_create(struct arena *arena, enum dtype dtype, const double *scale, const double *zero,
                                 uint32_t count, bool per_axis, uint32_t axis)
{
    unsigned bits = dtype_value_bits(dtype);
    bool is_signed = dtype_info(dtype)->cls == CLASS_SFXP;
    double low = is_signed ? -ldexp(1, (int)bits - 1) : 0, high = low + ldexp(1, (int)bits) - 1;
    struct encoding *encodings = arena_array(arena, struct encoding, count);
    for (uint32_t i = 0; i < count; i++) {
        double z = zero ? zero[i] : 0;
        if (!(scale[i] > 0) || !isfinite(scale[i]) || !(z >= low && z <= high) || z != floor(z))
            return NULL;
        encodings[i] = (struct encoding){.bitwidth = bits,
                                         .min = (low - z) * scale[i],
                                         .max = (high - z) * scale[i],
                                         .scale = scale[i],
                                         .offset = -(int32_t)z,
                                         .symmetric = is_signed && z == 0};
    }
    struct quant *quant = arena_new(arena, struct quant);
    *quant = (struct quant){.per_axis = per_axis, .axis = axis, .count = count, .encodings = encodings};
    return quant;
}

void quant_override(struct graph *g, tensor_id id, const struct quant *quant)
{
    struct quant *given = arena_memdup(g->arena, quant, sizeof *quant);
    given->overridden = true;
    graph_tensor(g, id)->quant = given;
}

bool quant_equal(const struct quant *a, const struct quant *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->per_axis != b->per_axis || (a->per_axis && (a->axis != b->axis || a->count != b->count)))
        return false;
    for (uint32_t i = 0; i < (a->per_axis ? a->count : 1); i++)
        if (a->encodings[i].scale != b->encodings[i].scale || a->encodings[i].offset != b->encodings[i].offset)
            return false;
    return true;
}

const struct quant *quant_of_view(struct arena *arena, const struct view *view)
{
    enum dtype fixed = quant_dtype(view->dtype);
    if (!view->scale || fixed == DT_NONE)
        return NULL;
    bool per_axis = view->scale_axis != SCALE_WHOLE;
    uint32_t count = per_axis ? (uint32_t)view->shape.dims[view->scale_axis] : 1;
    uint32_t axis = per_axis ? perm_find(&view->perm, view->scale_axis) : 0;
    return quant_create(arena, fixed, view->scale, view->zero, count, per_axis, axis);
}

const struct quant *quant_given(struct arena *arena, const struct view *view)
{
    if (!view->given || !view->given->per_axis)
        return view->given;
    struct quant *quant = arena_memdup(arena, view->given, sizeof *quant);
    quant->axis = perm_find(&view->perm, quant->axis);
    return quant;
}
