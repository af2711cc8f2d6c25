/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products: floats by way of gemm, integers by plain loops. */
#include "kernel/gemm.h"
#include "kernel/kernels.h"
#include "kernel/nd_iterate.h"
#include "op/product.h"

static void multiply_floats(const struct product *p, const float *a, const float *b, const float *bias, struct sums out,
                            struct arena *scratch)
{
    size_t m = (size_t)p->m, k = (size_t)p->k, n = (size_t)p->n, block = gemm_block_rows(k, m);
    struct arena_mark mark = arena_mark(scratch);
    double *panels = arena_array(scratch, double, gemm_panels_size(k, block));
    double *tile = arena_array(scratch, double, gemm_tile_size(k));
    double *product = arena_array(scratch, double, block *n);
    struct gemm gemm = {
        .k = k, .n = n, .segments = &b, .segment_k = k, .k_stride = (size_t)p->b_row, .n_stride = (size_t)p->b_column};
    for (size_t first = 0; first < m; first += block) {
        size_t rows = m - first < block ? m - first : block;
        for (size_t r = 0; r < rows; r++) {
            const float *from = a + (int64_t)(first + r) * p->a_row;
            double *to = gemm_panel_row(panels, k, r);
            for (size_t i = 0; i < k; i++)
                to[i * GEMM_ROWS] = (double)from[(int64_t)i * p->a_column];
        }
        gemm_multiply(&gemm, panels, rows, tile, product);
        for (size_t r = 0; r < rows; r++)
            for (size_t c = 0; c < n; c++)
                sums_store(&out, (first + r) * n + c, product[r * n + c] + (bias ? (double)bias[c] : 0));
    }
    arena_rewind(scratch, mark);
}

static void multiply_ints(const struct product *p, const int64_t *a, const int64_t *b, const int64_t *bias,
                          int64_t *out)
{
    for (int64_t r = 0; r < p->m; r++)
        for (int64_t c = 0; c < p->n; c++) {
            int64_t sum = bias ? bias[c] : 0;
            for (int64_t i = 0; i < p->k; i++)
                sum =
                    wrap_add(sum, wrap_multiply(a[r * p->a_row + i * p->a_column], b[i * p->b_row + c * p->b_column]));
            *out++ = sum;
        }
}

/* NULL for an absent bias. */
static const struct buffer *bias_of(const struct kernel *k)
{
    return k->n_in > 2 && k->in[2].data ? &k->in[2] : NULL;
}

/* Whether all operands are of one type that can be multiplied. */
static bool same_class(const struct kernel *k)
{
    enum dtype dtype = k->out[0].dtype == DT_FLOAT64 ? DT_FLOAT32 : k->out[0].dtype;
    const struct buffer *bias = bias_of(k);
    return (dtype == DT_FLOAT32 || dtype == DT_INT64) && k->in[0].dtype == dtype && k->in[1].dtype == dtype &&
           (!bias || bias->dtype == dtype);
}

static void multiply_at(const struct product *p, const struct kernel *k, int64_t a, int64_t b, int64_t out)
{
    const struct buffer *bias = bias_of(k);
    if (k->in[0].dtype == DT_FLOAT32)
        multiply_floats(p, (const float *)k->in[0].data + a, (const float *)k->in[1].data + b, bias ? bias->data : NULL,
                        sums_at(k->out[0].dtype, k->out[0].data, out), k->scratch);
    else
        multiply_ints(p, (const int64_t *)k->in[0].data + a, (const int64_t *)k->in[1].data + b,
                      bias ? bias->data : NULL, (int64_t *)k->out[0].data + out);
}

odlc_status kernel_matmul(const struct kernel *k)
{
    const struct buffer *bias = bias_of(k);
    struct product p;
    if (!same_class(k))
        return ODLC_ERR_UNSUPPORTED;
    if (product_read(&p, k->node, &k->in[0].shape, &k->in[1].shape, bias ? &bias->shape : NULL))
        return ODLC_ERR_INVALID;
    uint64_t batches = shape_count(&p.batch), size = (uint64_t)(p.m * p.n);
    if (shape_count(&k->out[0].shape) != batches * size)
        return ODLC_ERR_INVALID;
    /* One right operand for all batches: their rows form one tall matrix. */
    if (shape_count_range(&k->in[1].shape, 0, k->in[1].shape.rank - 2) == 1 && p.a_column == 1 && p.a_row == p.k) {
        p.m *= (int64_t)batches;
        batches = 1;
    }
    for (uint64_t i = 0; i < batches; i++) {
        int64_t a = 0, b = 0;
        uint64_t rest = i;
        for (uint32_t axis = p.batch.rank; axis-- > 0; rest /= (uint64_t)p.batch.dims[axis]) {
            int64_t at = (int64_t)(rest % (uint64_t)p.batch.dims[axis]);
            a += at * p.a_step[axis];
            b += at * p.b_step[axis];
        }
        multiply_at(&p, k, a, b, (int64_t)(i * size));
    }
    wrap_result(k);
    return ODLC_OK;
}

odlc_status kernel_fully_connected(const struct kernel *k)
{
    const struct shape *w = &k->in[1].shape;
    const struct buffer *bias = bias_of(k);
    if (!same_class(k))
        return ODLC_ERR_UNSUPPORTED;
    if (w->rank != 2 || w->dims[1] < 1)
        return ODLC_ERR_INVALID;
    uint64_t in = (uint64_t)w->dims[1], out = (uint64_t)w->dims[0], rows = shape_count(&k->in[0].shape) / in;
    if (rows * in != shape_count(&k->in[0].shape) || rows * out != shape_count(&k->out[0].shape) ||
        (bias && shape_count(&bias->shape) != out))
        return ODLC_ERR_INVALID;
    struct product p = {.m = (int64_t)rows,
                        .k = w->dims[1],
                        .n = w->dims[0],
                        .a_row = w->dims[1],
                        .a_column = 1,
                        .b_row = 1,
                        .b_column = w->dims[1]};
    multiply_at(&p, k, 0, 0, 0);
    wrap_result(k);
    return ODLC_OK;
}
