/* Products of matrices. */
#include <string.h>

#include "backend/gpu/gpu_follow.h"
#include "backend/gpu/gpu_walk.h"
#include "op/product.h"

/* x times y, and a bias or none, into the result. */
static odlc_status multiply(struct gpu_making *m, const struct product *p, const struct gpu_operand in[3])
{
    const struct gpu_operand *x = &in[0], *y = &in[1], *bias = &in[2], out = gpu_output(m, 0);
    struct gpu_chain chain = {.count = 0};
    struct gpu_call *call;
    int64_t strides[2][MAX_RANK];
    TRY(gpu_chain_read(m, 1, 0, &chain));
    memcpy(strides[0], p->a_step, sizeof(p->a_step));
    memcpy(strides[1], p->b_step, sizeof(p->b_step));
    const struct gpu_walk batches = gpu_walk_over(&p->batch, 2, strides);
    gpu_option_type(m, "X", x);
    gpu_option_type(m, "Y", y);
    gpu_option_type(m, "B", bias);
    gpu_option_type(m, "O", &out);
    gpu_chain_options(m, &chain, true);
    TRY(gpu_call_begin(m, "matmul", "product", &call));
    gpu_arg(m, call, x);
    gpu_arg(m, call, y);
    gpu_arg(m, call, bias);
    gpu_arg(m, call, &out);
    gpu_arg_int(call, p->m);
    gpu_arg_int(call, p->n);
    gpu_arg_int(call, p->k);
    gpu_arg_int(call, p->a_row);
    gpu_arg_int(call, p->a_column);
    gpu_arg_int(call, p->b_column);
    gpu_arg_int(call, p->b_row);
    gpu_arg_int(call, bias->dtype != DT_NONE);
    gpu_arg_int(call, (int64_t)shape_count(&p->batch));
    gpu_arg_bytes(call, &batches, sizeof(batches));
    gpu_chain_args(m, call, &chain);
    return gpu_call_end(m, call, 3, (const size_t[]){(size_t)p->n, (size_t)p->m, shape_count(&p->batch)});
}

static odlc_status read_operands(struct gpu_making *m, struct gpu_operand in[3])
{
    for (uint32_t i = 0; i < 3; i++)
        TRY(gpu_input(m, 0, i, &in[i]));
    return ODLC_OK;
}

static odlc_status prepare_matmul(struct gpu_making *m)
{
    const struct node *n = gpu_node(m, 0);
    struct gpu_operand in[3];
    struct product p;
    TRY(read_operands(m, in));
    const char *wrong = product_read(&p, n, &in[0].shape, &in[1].shape, in[2].dtype ? &in[2].shape : NULL);
    if (wrong)
        return diag_error(m->scope->diags, ODLC_ERR_INVALID, AT(.node = n->name), "run-op", "%s", wrong);
    return multiply(m, &p, in);
}

const struct gpu_op gpu_matmul = {
    .refuse = gpu_refuse_types, .prepare = prepare_matmul, .fuses = true, .is_product = true};

/* Weights are [units, inputs]. */
static odlc_status prepare_fully_connected(struct gpu_making *m)
{
    struct gpu_operand in[3];
    TRY(read_operands(m, in));
    const int64_t units = in[1].shape.dims[0], inputs = in[1].shape.dims[1];
    const struct product p = {.m = (int64_t)shape_count(&in[0].shape) / inputs,
                              .k = inputs,
                              .n = units,
                              .a_row = inputs,
                              .a_column = 1,
                              .b_row = 1,
                              .b_column = inputs};
    return multiply(m, &p, in);
}

const struct gpu_op gpu_fully_connected = {
    .refuse = gpu_refuse_types, .prepare = prepare_fully_connected, .fuses = true, .is_product = true};
