/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products: MatMul and FullyConnected. */
#include "op/axes.h"
#include "op/families.h"
#include "op/infer.h"
#include "op/product.h"

/* ---- geometry ---- */

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

const char *product_read(struct product *p, const struct node *n, const struct shape *a, const struct shape *b,
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
    const char *wrong = product_read(&p, c->node, &a->shape, &b->shape, bias ? &bias->type->shape : NULL);
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

/* Rows are those of the first operand, columns those of the second one and of the bias. */
static bool cut_matmul(const struct graph *g, struct node *n, uint32_t axis, uint32_t input, uint32_t *in_axis)
{
    static const enum param_id transposed[] = {PARAM_transpose_in0, PARAM_transpose_in1};
    const uint32_t from_end = node_output(g, n, 0)->type->shape.rank - axis;
    const uint32_t rank = node_input(g, n, input)->type->shape.rank;
    *in_axis = NOT_CUT;
    if (input == 2)
        *in_axis = from_end == 1 ? rank - 1 : NOT_CUT;
    else if (from_end > 2)
        return cut_broadcast(g, n, axis, input, in_axis);
    else if (from_end == 2 - input)
        *in_axis = rank - (node_int(n, transposed[input], 0) ? 3 - from_end : from_end);
    return true;
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
     .weights = 1 << 1 | 1 << 2},
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
     .cut = cut_matmul,
     .macs = macs_matmul,
     .may_wrap = true,
     .weights = 1 << 0 | 1 << 1 | 1 << 2},
};
const size_t op_rows_matmul_count = COUNT_OF(op_rows_matmul);
