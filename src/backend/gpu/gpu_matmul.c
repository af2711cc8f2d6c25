/* Products of matrices. */
#include <string.h>

#include "backend/gpu/gpu_follow.h"
#include "backend/gpu/gpu_walk.h"
#include "op/product.h"

static odlc_status prepare_matmul(struct gpu_making *m)
{
    struct gpu_operand x, y, bias;
    struct gpu_chain chain;
    struct gpu_call *call;
    struct product p;
    TRY(gpu_input(m, 0, 0, &x));
    TRY(gpu_input(m, 0, 1, &y));
    TRY(gpu_input(m, 0, 2, &bias));
    TRY(gpu_chain_read(m, 1, 0, &chain));
    const struct gpu_operand out = gpu_output(m, 0);
    const char *wrong = product_read(&p, gpu_node(m, 0), &x.shape, &y.shape, bias.dtype ? &bias.shape : NULL);
    if (wrong)
        return diag_error(m->scope->diags, ODLC_ERR_INVALID, AT(.node = gpu_node(m, 0)->name), "run-op", "%s", wrong);
    int64_t strides[2][MAX_RANK];
    memcpy(strides[0], p.a_step, sizeof(p.a_step));
    memcpy(strides[1], p.b_step, sizeof(p.b_step));
    const struct gpu_walk batches = gpu_walk_over(&p.batch, 2, strides);
    gpu_option_type(m, "X", &x);
    gpu_option_type(m, "Y", &y);
    gpu_option_type(m, "B", &bias);
    gpu_option_type(m, "O", &out);
    gpu_chain_options(m, &chain, true);
    TRY(gpu_call_begin(m, "matmul", "product", &call));
    gpu_arg(m, call, &x);
    gpu_arg(m, call, &y);
    gpu_arg(m, call, &bias);
    gpu_arg(m, call, &out);
    gpu_arg_int(call, p.m);
    gpu_arg_int(call, p.n);
    gpu_arg_int(call, p.k);
    gpu_arg_int(call, p.a_row);
    gpu_arg_int(call, p.a_column);
    gpu_arg_int(call, p.b_column);
    gpu_arg_int(call, p.b_row);
    gpu_arg_int(call, bias.dtype != DT_NONE);
    gpu_arg_int(call, (int64_t)shape_count(&p.batch));
    gpu_arg_bytes(call, &batches, sizeof(batches));
    gpu_chain_args(m, call, &chain);
    return gpu_call_end(m, call, 3, (const size_t[]){(size_t)p.n, (size_t)p.m, shape_count(&p.batch)});
}

const struct gpu_op gpu_matmul = {.refuse = gpu_refuse_types, .prepare = prepare_matmul, .fuses = true};
