/* SPDX-License-Identifier: Apache-2.0 */
/* Pools. */
#include "backend/gpu/gpu_follow.h"
#include "backend/gpu/gpu_window.h"
#include "op/op.h"

/* As in kernels/pool.cl. */
enum pool_kind { POOL_MAXIMUM, POOL_AVERAGE, POOL_ROOT };

static enum pool_kind kind_of(const struct node *n)
{
    const bool is_maximum = n->op->id == OP_PoolMax2d || n->op->id == OP_PoolMax3d;
    return is_maximum ? POOL_MAXIMUM : n->op->id == OP_L2Pool2d ? POOL_ROOT : POOL_AVERAGE;
}

static odlc_status prepare(struct gpu_making *m)
{
    const struct node *n = gpu_node(m, 0);
    const struct gpu_operand out = gpu_output(m, 0);
    const enum pool_kind kind = kind_of(n);
    const bool counts_padding = kind == POOL_AVERAGE && node_int(n, PARAM_count_pad_for_edges, 0) != 0;
    const size_t count = shape_count(&out.shape);
    struct gpu_operand x;
    struct gpu_chain chain = {.count = 0};
    struct gpu_call *call;
    struct window w;
    TRY(gpu_input(m, 0, 0, &x));
    TRY(gpu_chain_read(m, 1, 0, &chain));
    const char *wrong = window_read_pool(&w, n, &x.shape);
    wrong = wrong ? wrong : window_take(&w, &out.shape);
    if (wrong)
        return diag_error(m->scope->diags, ODLC_ERR_INVALID, AT(.node = n->name), "run-op", "%s", wrong);
    const struct gpu_window window = gpu_window_of(&w);
    gpu_option_type(m, "X", &x);
    gpu_option_type(m, "O", &out);
    gpu_chain_options(m, &chain);
    TRY(gpu_call_begin(m, "pool", "pool", &call));
    gpu_arg(m, call, &x);
    gpu_arg(m, call, &out);
    gpu_arg_int(call, (int64_t)count);
    gpu_arg_int(call, (int64_t)kind);
    gpu_arg_int(call, counts_padding);
    gpu_arg_bytes(call, &window, sizeof(window));
    gpu_chain_args(m, call, &chain);
    return gpu_call_end(m, call, 1, &count);
}

const struct gpu_op gpu_pool = {.refuse = gpu_refuse_types, .prepare = prepare, .fuses = true};
