/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices: MatMul and FullyConnected. */
#include <string.h>

#include "backend/gpu/gpu_gemm.h"
#include "op/product.h"

/* All but the operands. */
static void describe(struct gpu_gemm *out, const struct product *p)
{
    out->shape = (struct gpu_gemm_shape){
        .rows = (cl_int)p->m,
        .columns = (cl_int)p->n,
        .depth = (cl_int)p->k,
        .x_row = (cl_int)p->a_row,
        .x_step = (cl_int)p->a_column,
        .y_column = (cl_int)p->b_column,
        .y_step = (cl_int)p->b_row,
        .out_batch = (cl_int)(p->m * p->n),
        .out_row = (cl_int)p->n,
        .out_size = (cl_int)((int64_t)shape_count(&p->batch) * p->m * p->n),
        .parts = 1,
        .part_depth = (cl_int)p->k,
    };
    out->batch = p->batch;
    memcpy(out->steps[0], p->a_step, sizeof(p->a_step));
    memcpy(out->steps[1], p->b_step, sizeof(p->b_step));
}

/* Left operands that lie behind each other and meet one right operand are one matrix. */
static void join_rows(struct product *p)
{
    int64_t next = p->m * p->k;
    for (uint32_t i = p->batch.rank; i-- > 0; next *= p->batch.dims[i])
        if (p->batch.dims[i] != 1 && (p->b_step[i] != 0 || p->a_step[i] != next))
            return;
    if (p->a_column != 1 || p->a_row != p->k)
        return;
    p->m *= (int64_t)shape_count(&p->batch);
    p->batch.rank = 0;
}

static odlc_status add(struct gpu_making *m, struct product *product)
{
    struct gpu_chain chain = {.count = 0};
    struct gpu_gemm p = {.chain = &chain, .out = gpu_output(m, 0), .y_input = 1};
    TRY(gpu_input(m, 0, 0, &p.x));
    TRY(gpu_input(m, 0, 2, &p.bias));
    TRY(gpu_chain_read(m, 1, 0, &chain));
    join_rows(product);
    describe(&p, product);
    return gpu_gemm_add(m, &p);
}

static odlc_status prepare_matmul(struct gpu_making *m)
{
    const struct node *n = gpu_node(m, 0);
    const struct graph *g = m->scope->graph;
    const struct tensor *bias = node_input(g, n, 2);
    struct product p;
    const char *wrong = product_read(&p, n, &node_input(g, n, 0)->type->shape, &node_input(g, n, 1)->type->shape,
                                     bias ? &bias->type->shape : NULL);
    if (wrong)
        return diag_error(m->scope->diags, ODLC_ERR_INVALID, AT(.node = n->name), "run-op", "%s", wrong);
    return add(m, &p);
}

const struct gpu_op gpu_matmul = {
    .refuse = gpu_refuse_types, .prepare = prepare_matmul, .fuses = true, .is_product = true};

/* Weights are [out, in]; the input is as many rows of `in` elements as it has. */
static odlc_status prepare_fully_connected(struct gpu_making *m)
{
    const struct graph *g = m->scope->graph;
    const struct node *n = gpu_node(m, 0);
    const int64_t *weights = node_input(g, n, 1)->type->shape.dims;
    struct product p = {
        .m = (int64_t)shape_count(&node_input(g, n, 0)->type->shape) / weights[1],
        .k = weights[1],
        .n = weights[0],
        .a_row = weights[1],
        .a_column = 1,
        .b_row = 1,
        .b_column = weights[1],
    };
    return add(m, &p);
}

const struct gpu_op gpu_fully_connected = {
    .refuse = gpu_refuse_types, .prepare = prepare_fully_connected, .fuses = true, .is_product = true};
