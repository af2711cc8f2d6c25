/* Matrix products: MatMul and FullyConnected. */
#include "op/families.h"
#include "kernel/gemm.h"
#include "op/rules.h"
#include "kernel/nd_iterate.h"

/* ---- geometry ---- */

/* One product per index of the batch axes; a step of 0 repeats an operand. */
struct product {
    int64_t m, k, n;
    struct shape batch;                         /* broadcast batch axes of the result */
    int64_t a_step[MAX_RANK], b_step[MAX_RANK]; /* elements per index of a batch axis */
    int64_t a_row, a_column, b_row, b_column;   /* elements between rows (columns) of each operand */
};

static void batch_steps(const struct shape *operand, const struct shape *batch, int64_t step[MAX_RANK])
{
    int64_t size = operand->dims[operand->rank - 1] * operand->dims[operand->rank - 2];
    uint32_t rank = operand->rank - 2, missing = batch->rank - rank;
    for (uint32_t i = batch->rank; i-- > 0;) {
        int64_t extent = i < missing ? 1 : operand->dims[i - missing];
        step[i] = extent == 1 ? 0 : size;
        size *= extent;
    }
}

/* NULL, or what is wrong. */
static const char *read_product(struct product *p, const struct node *n, const struct shape *a, const struct shape *b,
                                const struct shape *bias)
{
    if (a->rank < 2 || b->rank < 2)
        return "an operand has fewer than two axes";
    bool transpose_a = node_int(n, PARAM_transpose_in0, 0) != 0, transpose_b = node_int(n, PARAM_transpose_in1, 0) != 0;
    int64_t a_rows = a->dims[a->rank - 2], a_columns = a->dims[a->rank - 1];
    int64_t b_rows = b->dims[b->rank - 2], b_columns = b->dims[b->rank - 1];
    p->m = transpose_a ? a_columns : a_rows;
    p->k = transpose_a ? a_rows : a_columns;
    p->n = transpose_b ? b_rows : b_columns;
    p->a_row = transpose_a ? 1 : a_columns;
    p->a_column = transpose_a ? a_columns : 1;
    p->b_row = transpose_b ? 1 : b_columns;
    p->b_column = transpose_b ? b_columns : 1;
    if (p->k != (transpose_b ? b_columns : b_rows))
        return "the inner extents differ";
    if (bias && shape_count(bias) != (uint64_t)p->n)
        return "the bias does not have one element per column";
    struct shape a_batch = *a, b_batch = *b;
    a_batch.rank -= 2;
    b_batch.rank -= 2;
    if (!shape_broadcast(&a_batch, &b_batch, &p->batch))
        return "the batch axes cannot be broadcast";
    batch_steps(a, &p->batch, p->a_step);
    batch_steps(b, &p->batch, p->b_step);
    return NULL;
}

static odlc_status infer_matmul(const struct infer *c)
{
    const struct type *a = infer_in(c, 0), *b = infer_in(c, 1);
    const struct tensor *bias = node_input(c->graph, c->node, 2);
    struct product p;
    const char *wrong = read_product(&p, c->node, &a->shape, &b->shape, bias ? &bias->type->shape : NULL);
    if (wrong)
        return infer_error(c, "%s (%s and %s)", wrong, shape_text(c->diags->arena, &a->shape),
                           shape_text(c->diags->arena, &b->shape));
    struct shape out = p.batch;
    out.rank += 2;
    if (out.rank > MAX_RANK)
        return infer_error(c, "the result has too many axes");
    out.dims[out.rank - 2] = p.m;
    out.dims[out.rank - 1] = p.n;
    c->out[0] = (struct type){a->dtype, out};
    return need_alike(c);
}

/* Output elements × inner extent. */
static uint64_t macs_matmul(const struct graph *g, const struct node *n)
{
    const struct shape *a = &node_input(g, n, 0)->type->shape;
    uint32_t from_end = node_int(n, PARAM_transpose_in0, 0) ? 2 : 1;
    if (a->rank < from_end)
        return 0;
    return sat_mul(shape_count(&node_output(g, n, 0)->type->shape), (uint64_t)a->dims[a->rank - from_end]);
}

/* The input's rows are its last axis, as long as keep_dims says so or it has only two; otherwise everything is
 * flattened to rows of the length that the weights want. */
static odlc_status infer_fully_connected(const struct infer *c)
{
    const struct type *x = infer_in(c, 0), *w = infer_in(c, 1);
    const struct tensor *bias = node_input(c->graph, c->node, 2);
    if (w->shape.rank != 2 || x->shape.rank < 1)
        return infer_error(c, "the input or the weights have the wrong rank");
    int64_t out = w->shape.dims[0], in = w->shape.dims[1];
    if (bias && shape_count(&bias->type->shape) != (uint64_t)out)
        return infer_error(c, "the bias does not have one element per output");
    uint64_t count = shape_count(&x->shape);
    bool keep = node_int(c->node, PARAM_keep_dims, 0) || x->shape.rank == 1;
    if (in < 1 || count % (uint64_t)in != 0 || (keep && x->shape.dims[x->shape.rank - 1] != in))
        return infer_error(c, "the input %s cannot be split into rows of %lld elements",
                           shape_text(c->diags->arena, &x->shape), (long long)in);
    struct shape shape = keep ? x->shape : SHAPE((int64_t)(count / (uint64_t)in), out);
    shape.dims[shape.rank - 1] = out;
    c->out[0] = (struct type){x->dtype, shape};
    return need_alike(c);
}

/* Output elements × weights per output. */
static uint64_t macs_fully_connected(const struct graph *g, const struct node *n)
{
    return sat_mul(shape_count(&node_output(g, n, 0)->type->shape), (uint64_t)node_input(g, n, 1)->type->shape.dims[1]);
}

/* ---- kernels ---- */

static void multiply_floats(const struct product *p, const float *a, const float *b, const float *bias, float *out,
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
                *out++ = (float)(product[r * n + c] + (bias ? (double)bias[c] : 0));
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
    enum dtype dtype = k->out[0].dtype;
    const struct buffer *bias = bias_of(k);
    return (dtype == DT_FLOAT32 || dtype == DT_INT64) && k->in[0].dtype == dtype && k->in[1].dtype == dtype &&
           (!bias || bias->dtype == dtype);
}

static void multiply_at(const struct product *p, const struct kernel *k, int64_t a, int64_t b, int64_t out)
{
    const struct buffer *bias = bias_of(k);
    if (k->out[0].dtype == DT_FLOAT32)
        multiply_floats(p, (const float *)k->in[0].data + a, (const float *)k->in[1].data + b, bias ? bias->data : NULL,
                        (float *)k->out[0].data + out, k->scratch);
    else
        multiply_ints(p, (const int64_t *)k->in[0].data + a, (const int64_t *)k->in[1].data + b,
                      bias ? bias->data : NULL, (int64_t *)k->out[0].data + out);
}

static odlc_status kernel_matmul(const struct kernel *k)
{
    const struct buffer *bias = bias_of(k);
    struct product p;
    if (!same_class(k))
        return ODLC_ERR_UNSUPPORTED;
    if (read_product(&p, k->node, &k->in[0].shape, &k->in[1].shape, bias ? &bias->shape : NULL))
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

static odlc_status kernel_fully_connected(const struct kernel *k)
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

/* ---- rows ---- */

static const struct param_def params_matmul[] = {
    {PARAM_NAMED(transpose_in0), DT_BOOL, PARAM_DEFAULT, false, false, 0},
    {PARAM_NAMED(transpose_in1), DT_BOOL, PARAM_DEFAULT, false, false, 0},
};

static const struct param_def params_fully_connected[] = {
    {PARAM_NAMED(keep_dims), DT_BOOL, PARAM_OPTIONAL, false, false, 0},
    {PARAM_NAMED(bias_op_name), DT_STRING, PARAM_OPTIONAL, false, true, 0},
};

const struct op op_rows_matmul[] = {
    {.id = OP_FullyConnected,
     .name = "FullyConnected",
     .dlc_type = "FullyConnected",
     .min_inputs = 2,
     .max_inputs = 3,
     .min_outputs = 1,
     .max_outputs = 1,
     .params = params_fully_connected,
     .n_params = COUNT_OF(params_fully_connected),
     .infer = infer_fully_connected,
     .macs = macs_fully_connected,
     .layer = LAYER_DENSE,
     .channel_axis = 0,
     .weights = 1 << 1 | 1 << 2,
     .compute = COMPUTE_FLOAT,
     .kernel = kernel_fully_connected},
    /* Our choice: a constant operand of a MatMul counts as the layer's parameters. The captured reports have no MatMul;
     * a transformer whose parameters were not counted would help nobody. */
    {.id = OP_MatMul,
     .name = "MatMul",
     .dlc_type = "MatMul",
     .min_inputs = 2,
     .max_inputs = 3,
     .min_outputs = 1,
     .max_outputs = 1,
     .params = params_matmul,
     .n_params = COUNT_OF(params_matmul),
     .infer = infer_matmul,
     .macs = macs_matmul,
     .weights = 1 << 0 | 1 << 1 | 1 << 2,
     .compute = COMPUTE_FLOAT,
     .kernel = kernel_matmul},
};
const size_t op_rows_matmul_count = COUNT_OF(op_rows_matmul);
