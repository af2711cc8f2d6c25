/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices: MatMul and FullyConnected. */
#include <string.h>

#include "backend/gpu/gpu_gemm.h"
#include "backend/gpu/gpu_product.h"
#include "backend/gpu/gpu_view.h"
#include "op/product.h"

/* A product, and how its result lies. */
struct laid {
    struct product p;
    int64_t out_row, out_step[MAX_RANK];
};

/* All but the operands. */
static void describe(struct gpu_gemm *out, const struct laid *l)
{
    const struct product *p = &l->p;
    out->shape = (struct gpu_gemm_shape){
        .rows = (cl_int)p->m,
        .columns = (cl_int)p->n,
        .depth = (cl_int)p->k,
        .x_row = (cl_int)p->a_row,
        .x_step = (cl_int)p->a_column,
        .y_column = (cl_int)p->b_column,
        .y_step = (cl_int)p->b_row,
        .out_row = (cl_int)l->out_row,
        .out_size = (cl_int)((int64_t)shape_count(&p->batch) * p->m * p->n),
        .bias_period = (cl_int)p->n,
        .parts = 1,
        .part_depth = (cl_int)p->k,
    };
    out->batch = p->batch;
    memcpy(out->steps[0], p->a_step, sizeof(p->a_step));
    memcpy(out->steps[1], p->b_step, sizeof(p->b_step));
    memcpy(out->steps[2], l->out_step, sizeof(l->out_step));
}

/* Whether batch axes with these steps are more rows of what has m rows, `row` elements apart. */
static bool are_rows(const struct product *p, const int64_t *steps, int64_t row)
{
    int64_t next = p->m * row;
    for (uint32_t i = p->batch.rank; i-- > 0; next *= p->batch.dims[i])
        if (p->batch.dims[i] != 1 && steps[i] != next)
            return false;
    return true;
}

/* Left operands that lie behind each other and meet one right operand are one matrix. */
static void join_rows(struct laid *l)
{
    struct product *p = &l->p;
    for (uint32_t i = 0; i < p->batch.rank; i++)
        if (p->batch.dims[i] != 1 && p->b_step[i] != 0)
            return;
    if (!are_rows(p, p->a_step, p->a_row) || !are_rows(p, l->out_step, l->out_row))
        return;
    p->m *= (int64_t)shape_count(&p->batch);
    p->batch.rank = 0;
}

static odlc_status add(struct gpu_making *m, struct laid *laid)
{
    struct gpu_chain chain = {.count = 0};
    struct gpu_gemm p = {.chain = &chain, .out = gpu_output(m, 0), .y_input = 1};
    TRY(gpu_input(m, 0, 0, &p.x));
    TRY(gpu_input(m, 0, 2, &p.bias));
    TRY(gpu_chain_read(m, 1, 0, &chain));
    join_rows(laid);
    describe(&p, laid);
    return gpu_gemm_add(m, &p);
}

/* ---- MatMul ---- */

/* Strides of an operand's last two axes, the first ones of which are batch axes of the product. */
static void lay_out(const struct product *p, const int64_t *strides, const struct shape *shape, int64_t *row,
                    int64_t *column, int64_t *step)
{
    const uint32_t rank = shape->rank - 2, missing = p->batch.rank - rank;
    *row = strides[rank];
    *column = strides[rank + 1];
    for (uint32_t i = 0; i < p->batch.rank; i++)
        step[i] = i < missing || shape->dims[i - missing] == 1 ? 0 : strides[i - missing];
}

/* Through the Transposes around the node. */
static void lay_out_all(const struct gpu_making *m, struct laid *l)
{
    const struct graph *g = m->scope->graph;
    const struct node *n = gpu_node(m, 0);
    struct product *p = &l->p;
    int64_t strides[MAX_RANK], row, column;
    gpu_view_input_strides(m, 0, strides);
    lay_out(p, strides, &node_input(g, n, 0)->type->shape, &row, &column, p->a_step);
    const bool is_a_transposed = node_int(n, PARAM_transpose_in0, 0) != 0;
    p->a_row = is_a_transposed ? column : row;
    p->a_column = is_a_transposed ? row : column;
    gpu_view_input_strides(m, 1, strides);
    lay_out(p, strides, &node_input(g, n, 1)->type->shape, &row, &column, p->b_step);
    const bool is_b_transposed = node_int(n, PARAM_transpose_in1, 0) != 0;
    p->b_row = is_b_transposed ? column : row;
    p->b_column = is_b_transposed ? row : column;
    gpu_view_output_strides(m, strides);
    lay_out(p, strides, &node_output(g, n, 0)->type->shape, &l->out_row, &column, l->out_step);
}

static odlc_status prepare_matmul(struct gpu_making *m)
{
    const struct node *n = gpu_node(m, 0);
    const struct graph *g = m->scope->graph;
    const struct tensor *bias = node_input(g, n, 2);
    struct laid l;
    const char *wrong = product_read(&l.p, n, &node_input(g, n, 0)->type->shape, &node_input(g, n, 1)->type->shape,
                                     bias ? &bias->type->shape : NULL);
    if (wrong)
        return diag_error(m->scope->diags, ODLC_ERR_INVALID, AT(.node = n->name), "run-op", "%s", wrong);
    lay_out_all(m, &l);
    return add(m, &l);
}

const struct gpu_op gpu_matmul = {
    .refuse = gpu_refuse_product, .prepare = prepare_matmul, .fuses = true, .is_product = true};

/* ---- FullyConnected ---- */

/* Weights are [out, in]; the input is as many rows of `in` elements as it has. */
static odlc_status prepare_fully_connected(struct gpu_making *m)
{
    const struct graph *g = m->scope->graph;
    const struct node *n = gpu_node(m, 0);
    const int64_t *weights = node_input(g, n, 1)->type->shape.dims;
    struct laid l = {
        .p.m = (int64_t)shape_count(&node_input(g, n, 0)->type->shape) / weights[1],
        .p.k = weights[1],
        .p.n = weights[0],
        .p.a_row = weights[1],
        .p.a_column = 1,
        .p.b_row = 1,
        .p.b_column = weights[1],
        .out_row = weights[0],
    };
    return add(m, &l);
}

const struct gpu_op gpu_fully_connected = {
    .refuse = gpu_refuse_product, .prepare = prepare_fully_connected, .fuses = true, .is_product = true};
