/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/cpu/cpu_conv_fixed.h"

#include "backend/cpu/cpu_conv_strips.h"
#include "backend/cpu/cpu_ints.h"

/* The weights with each group's channel of ones behind its channels. */
static const int8_t *with_ones(const struct cpu_making *m, const struct fixed_making *f, int64_t rows)
{
    if (f->pitch == f->channels)
        return f->weights.q;
    int8_t *out = arena_array(m->scope->scratch, int8_t, (size_t)(rows * f->groups * f->pitch)), *to = out;
    const int8_t *from = f->weights.q;
    for (int64_t i = 0; i < rows * f->groups; i++) {
        for (int64_t c = 0; c < f->channels; c++)
            *to++ = *from++;
        *to++ = 1;
    }
    return out;
}

odlc_status conv_prepare_fixed(struct cpu_making *m)
{
    struct conv c;
    struct sides axes;
    union operation operation;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t description;
    struct cpu_call *call;
    bool slow;
    TRY(conv_sides(m, 0, &c, &axes));
    const struct fixed_making f = fixed_product_make(m, c.group);
    const int64_t rows = c.in_depth * window_taps(&c.window);
    TRY(conv_sides(m, f.pitch - f.channels, &c, &axes));
    if (strips_are_worth(m, &c, &axes, &f))
        return strips_prepare(m, &c, &axes, &f, with_ones(m, &f, rows));
    const dnnl_memory_desc_t x = desc_typed(&axes.x, f.x_type), y = desc_typed(&axes.y, dnnl_s32);
    const dnnl_memory_desc_t plain = desc_typed(&axes.w, dnnl_s8), any = desc_any(&axes.w, dnnl_s8);
    const int64_t positions = (int64_t)(dnnl_memory_desc_get_size(&y) / sizeof(int32_t)) / (f.groups * f.pitch);
    making_need_sums(m, (uint64_t)(positions * f.groups * f.pitch));
    TRY(conv_describe(m, &c, &x, &any, NULL, &y, &operation));
    TRY(make_attributes(m, &attr));
    if (f.x_zero != 0)
        TRY_DNNL(m, dnnl_primitive_attr_set_zero_points(attr, DNNL_ARG_SRC, 1, 0, &f.x_zero));
    TRY(make_description(m, &operation, attr, &description, &slow));
    TRY(make_call(m, description, &call));
    TRY(call_place(m, call, DNNL_ARG_SRC, &x, making_input(m, 0, 0)));
    TRY(call_place(m, call, DNNL_ARG_DST, &y, CPU_SUMS));
    TRY(call_packed(m, call, DNNL_ARG_WEIGHTS, description, 0, &plain, with_ones(m, &f, rows)));
    fixed_product_finish(m, &f, NULL, positions);
    return ODLC_OK;
}

odlc_status conv_prepare_ints(struct cpu_making *m)
{
    struct conv c;
    struct sides axes;
    union operation operation;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t description;
    struct cpu_call *call;
    bool slow;
    TRY(conv_sides(m, 0, &c, &axes));
    const dnnl_memory_desc_t x = desc_typed(&axes.x, dnnl_u8), y = desc_typed(&axes.y, dnnl_s32);
    const dnnl_memory_desc_t plain = desc_typed(&axes.w, dnnl_s8), any = desc_any(&axes.w, dnnl_s8);
    making_need_sums(m, dnnl_memory_desc_get_size(&x) / sizeof(int32_t) + 1);
    TRY(conv_describe(m, &c, &x, &any, NULL, &y, &operation));
    TRY(make_attributes(m, &attr));
    TRY(make_description(m, &operation, attr, &description, &slow));
    TRY(make_call(m, description, &call));
    TRY(call_place(m, call, DNNL_ARG_SRC, &x, CPU_SUMS));
    TRY(call_place(m, call, DNNL_ARG_DST, &y, making_result(m)));
    TRY(call_packed(m, call, DNNL_ARG_WEIGHTS, description, 0, &plain, ints_weights(m)));
    return ints_finish(m, call);
}
