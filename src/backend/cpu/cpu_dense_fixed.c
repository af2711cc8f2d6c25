/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/cpu/cpu_dense_fixed.h"

#include "backend/cpu/cpu_fixed_product.h"
#include "backend/cpu/cpu_ints.h"
#include "backend/cpu/cpu_threads.h"

/* The constant operand: element (r, c) is q[r * row + c * column]. */
struct right {
    const int8_t *q;
    int64_t row, column;
};

/* As it is, or, where the pitch is more than the columns, with a column of ones behind them. */
static struct right read_right(const struct cpu_making *m, const struct fixed_making *f, const struct product *p)
{
    if (f->pitch == p->n)
        return (struct right){f->weights.q, p->b_row, p->b_column};
    int8_t *out = arena_array(m->scope->scratch, int8_t, (size_t)(p->k * f->pitch)), *to = out;
    for (int64_t r = 0; r < p->k; r++) {
        for (int64_t c = 0; c < p->n; c++)
            *to++ = f->weights.q[r * p->b_row + c * p->b_column];
        *to++ = 1;
    }
    return (struct right){out, f->pitch, 1};
}

/* What the input's zero point adds to each column: the library multiplies qx itself. */
static const int32_t *read_constants(const struct cpu_making *m, const struct fixed_making *f, const struct product *p,
                                     const struct right *right)
{
    int32_t *out = arena_calloc(m->scope->arena, (size_t)p->n, sizeof(int32_t));
    const bool by_rows = right->row > right->column; /* elements in the order in which they lie */
    const int64_t outer = by_rows ? p->k : p->n, inner = by_rows ? p->n : p->k;
    for (int64_t i = 0; f->x_zero != 0 && i < outer; i++)
        for (int64_t j = 0; j < inner; j++) {
            const int64_t r = by_rows ? i : j, c = by_rows ? j : i;
            const int32_t zero = f->weights.zero ? f->weights.zero[c] : 0;
            out[c] -= f->x_zero * (right->q[r * right->row + c * right->column] + zero);
        }
    return out;
}

odlc_status dense_prepare_fixed(struct cpu_making *m, const struct product *p)
{
    const struct fixed_making f = fixed_product_make(m, 1);
    const struct right right = read_right(m, &f, p);
    const struct dnnl_axes x_axes = {.rank = 2, .dims = {p->m, p->k}, .strides = {p->k, 1}};
    const struct dnnl_axes w_axes = {.rank = 2, .dims = {p->k, f.pitch}, .strides = {right.row, right.column}};
    const struct dnnl_axes y_axes = {.rank = 2, .dims = {p->m, f.pitch}, .strides = {f.pitch, 1}};
    const dnnl_memory_desc_t x = desc_typed(&x_axes, f.x_type), y = desc_typed(&y_axes, dnnl_s32);
    const dnnl_memory_desc_t plain = desc_typed(&w_axes, dnnl_s8), any = desc_any(&w_axes, dnnl_s8);
    dnnl_matmul_desc_t operation;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t description;
    struct cpu_call *call;
    bool slow;
    making_need_sums(m, (uint64_t)(p->m * f.pitch));
    TRY_DNNL(m, dnnl_matmul_desc_init(&operation, &x, &any, NULL, &y));
    TRY(make_attributes(m, &attr));
    TRY(make_description(m, &operation, attr, &description, &slow));
    TRY(make_call(m, description, &call));
    TRY(call_place(m, call, DNNL_ARG_SRC, &x, making_input(m, 0, 0)));
    TRY(call_place(m, call, DNNL_ARG_DST, &y, CPU_SUMS));
    TRY(call_packed(m, call, DNNL_ARG_WEIGHTS, description, 0, &plain, right.q));
    fixed_product_finish(m, &f, read_constants(m, &f, p, &right), p->m);
    return ODLC_OK;
}

odlc_status dense_prepare_ints(struct cpu_making *m, const struct product *p)
{
    const struct dnnl_axes x_axes = {.rank = 2, .dims = {p->m, p->k}, .strides = {p->k, 1}};
    const struct dnnl_axes w_axes = {.rank = 2, .dims = {p->k, p->n}, .strides = {p->b_row, p->b_column}};
    const struct dnnl_axes y_axes = {.rank = 2, .dims = {p->m, p->n}, .strides = {p->n, 1}};
    const dnnl_memory_desc_t x = desc_typed(&x_axes, dnnl_u8), y = desc_typed(&y_axes, dnnl_s32);
    const dnnl_memory_desc_t plain = desc_typed(&w_axes, dnnl_s8), any = desc_any(&w_axes, dnnl_s8);
    dnnl_matmul_desc_t operation;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t description;
    struct cpu_call *call;
    bool slow;
    making_need_sums(m, dnnl_memory_desc_get_size(&x) / sizeof(int32_t) + 1);
    TRY_DNNL(m, dnnl_matmul_desc_init(&operation, &x, &any, NULL, &y));
    TRY(make_attributes(m, &attr));
    TRY(make_description(m, &operation, attr, &description, &slow));
    TRY(make_call(m, description, &call));
    TRY(call_place(m, call, DNNL_ARG_SRC, &x, CPU_SUMS));
    TRY(call_place(m, call, DNNL_ARG_DST, &y, making_result(m)));
    TRY(call_packed(m, call, DNNL_ARG_WEIGHTS, description, 0, &plain, ints_weights(m)));
    return ints_finish(m, call);
}

/* ---- computed operands ---- */

struct dnnl_axes dense_operand(const struct product *p, const int64_t *steps, int64_t rows, int64_t columns,
                               int64_t row, int64_t column)
{
    struct dnnl_axes axes = {.rank = (int)p->batch.rank + 2};
    int64_t dense = rows * columns;
    axes.dims[axes.rank - 2] = rows;
    axes.strides[axes.rank - 2] = row;
    axes.dims[axes.rank - 1] = columns;
    axes.strides[axes.rank - 1] = column;
    for (uint32_t i = p->batch.rank; i-- > 0; dense = axes.strides[i] * axes.dims[i]) {
        axes.dims[i] = steps && steps[i] == 0 ? 1 : p->batch.dims[i];
        axes.strides[i] = steps && steps[i] ? steps[i] : dense;
    }
    return axes;
}

/* The library's right operands are signed. */
struct shift {
    const uint8_t *from;
    uint8_t *to;
};

static CLONED void shift_bytes(const uint8_t *restrict from, uint8_t *restrict to, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = from[i] ^ 0x80;
}

static void shift_part(void *user, int64_t first, int64_t last)
{
    const struct shift *s = user;
    shift_bytes(s->from + first, s->to + first, last - first);
}

static odlc_status shift_right(const struct cpu_step *step, const struct backend_scope *scope, const struct buffer *in,
                               struct buffer *out)
{
    enum { LEAST_ELEMENTS = 1 << 16 };                    /* fewer are not worth another thread */
    const struct buffer *right = &in[step->io.places[1]]; /* both operands may be one tensor */
    struct shift s = {right->data, cpu_bytes(step)};
    (void)scope, (void)out;
    threads_share((int64_t)shape_count(&right->shape), LEAST_ELEMENTS, shift_part, &s);
    return ODLC_OK;
}

static odlc_status set_zero_point(const struct cpu_making *m, dnnl_primitive_attr_t attr, int arg, int32_t zero)
{
    if (zero != 0)
        TRY_DNNL(m, dnnl_primitive_attr_set_zero_points(attr, arg, 1, 0, &zero));
    return ODLC_OK;
}

odlc_status dense_prepare_computed(struct cpu_making *m, const struct product *p)
{
    const struct fixed_making f = fixed_product_of_computed(m);
    const struct tensor *right = node_input(m->scope->graph, making_node(m), 1);
    const bool shifts = right->type->dtype == DT_UFXP8;
    const struct dnnl_axes a_axes = dense_operand(p, p->a_step, p->m, p->k, p->a_row, p->a_column);
    const struct dnnl_axes b_axes = dense_operand(p, p->b_step, p->k, p->n, p->b_row, p->b_column);
    const struct dnnl_axes y_axes = dense_operand(p, NULL, p->m, p->n, p->n, 1);
    const dnnl_memory_desc_t a = desc_typed(&a_axes, f.x_type), b = desc_typed(&b_axes, dnnl_s8);
    const dnnl_memory_desc_t y = desc_typed(&y_axes, dnnl_s32);
    const int64_t rows = (int64_t)shape_count(&p->batch) * p->m;
    dnnl_matmul_desc_t operation;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t description;
    struct cpu_call *call;
    bool slow;
    making_need_bytes(m, (uint64_t)(rows * p->n), shifts ? shape_count(&right->type->shape) : 0);
    TRY_DNNL(m, dnnl_matmul_desc_init(&operation, &a, &b, NULL, &y));
    TRY(make_attributes(m, &attr));
    TRY(set_zero_point(m, attr, DNNL_ARG_SRC, f.x_zero));
    TRY(set_zero_point(m, attr, DNNL_ARG_WEIGHTS, -right->quant->encodings[0].offset - (shifts ? 128 : 0)));
    TRY(make_description(m, &operation, attr, &description, &slow));
    TRY(make_call(m, description, &call));
    TRY(call_place(m, call, DNNL_ARG_SRC, &a, making_input(m, 0, 0)));
    TRY(call_place(m, call, DNNL_ARG_WEIGHTS, &b, shifts ? CPU_BYTES : making_input(m, 0, 1)));
    TRY(call_place(m, call, DNNL_ARG_DST, &y, CPU_SUMS));
    fixed_product_finish(m, &f, NULL, rows);
    m->step->before = shifts ? shift_right : NULL;
    return ODLC_OK;
}
