/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions and Softmax. */
#include "backend/gpu/gpu_follow.h"
#include "backend/gpu/gpu_lines.h"
#include "op/axes.h"
#include "op/op.h"

/* Sums of halves would lose what they are taken for. */
static void choose_math(struct gpu_making *m)
{
    if (m->math == GPU_MATH_REAL)
        m->math = GPU_MATH_FLOAT;
}

/* ---- reductions ---- */

/* As in kernels/reduce.cl. */
enum kind { SUM, SUM_OF_SQUARES, PRODUCT, MAXIMUM, MINIMUM };

static enum kind kind_of(enum op_id op)
{
    switch (op) {
    case OP_ReduceMax:
        return MAXIMUM;
    case OP_ReduceMin:
        return MINIMUM;
    case OP_ReduceProd:
        return PRODUCT;
    case OP_ReduceSumSquare:
        return SUM_OF_SQUARES;
    default:
        return SUM;
    }
}

static odlc_status prepare_reduction(struct gpu_making *m)
{
    const struct node *n = gpu_node(m, 0);
    const struct gpu_operand out = gpu_output(m, 0);
    struct gpu_operand x;
    struct gpu_chain chain = {.count = 0};
    struct gpu_call *call;
    uint32_t axes;
    choose_math(m);
    TRY(gpu_input(m, 0, 0, &x));
    TRY(gpu_chain_read(m, 1, 0, &chain));
    if (!node_axes(n, x.shape.rank, &axes))
        return ODLC_ERR_INVALID;
    const struct gpu_lines lines = gpu_lines_along(m, &x.shape, axes);
    gpu_option_type(m, "X", &x);
    gpu_option_type(m, "O", &out);
    gpu_chain_options(m, &chain);
    TRY(gpu_lines_begin(m, &lines, "reduce", (const struct gpu_operand *const[]){&x, &out}, 2, &call));
    gpu_arg_int(call, (int64_t)kind_of(n->op->id));
    gpu_arg_int(call, n->op->id == OP_ReduceMean);
    gpu_lines_walks(call, &lines);
    gpu_chain_args(m, call, &chain);
    return gpu_lines_end(m, call, &lines);
}

static const char *refuse_reduction(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    uint32_t axes;
    return node_axes(n, node_input(g, n, 0)->type->shape.rank, &axes) ? gpu_refuse_types(gpu, g, n)
                                                                      : "its axes are none of the input";
}

const struct gpu_op gpu_reduction = {.refuse = refuse_reduction, .prepare = prepare_reduction, .fuses = true};

/* ---- Softmax, LogSoftmax ---- */

static odlc_status prepare_softmax(struct gpu_making *m)
{
    const struct node *n = gpu_node(m, 0);
    const struct gpu_operand out = gpu_output(m, 0);
    struct gpu_operand x;
    struct gpu_chain chain = {.count = 0};
    struct gpu_call *call;
    uint32_t axis;
    choose_math(m);
    TRY(gpu_input(m, 0, 0, &x));
    TRY(gpu_chain_read(m, 1, 0, &chain));
    if (!node_axis(n, (int64_t)x.shape.rank - 1, x.shape.rank, &axis))
        return ODLC_ERR_INVALID;
    const struct gpu_lines lines = gpu_lines_along(m, &x.shape, 1U << axis);
    gpu_option_type(m, "X", &x);
    gpu_option_type(m, "O", &out);
    gpu_chain_options(m, &chain);
    if (out.dtype == DT_FLOAT32 && m->math == GPU_MATH_FLOAT && !m->gpu->context->device.is_gpu)
        gpu_option(m, "-DKEEP");
    TRY(gpu_lines_begin(m, &lines, "softmax", (const struct gpu_operand *const[]){&x, &out}, 2, &call));
    gpu_arg_int(call, n->op->id == OP_LogSoftmax);
    gpu_arg_number(m, call, node_float(n, PARAM_beta, 1));
    gpu_lines_walks(call, &lines);
    gpu_chain_args(m, call, &chain);
    return gpu_lines_end(m, call, &lines);
}

static const char *refuse_softmax(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    const uint32_t rank = node_input(g, n, 0)->type->shape.rank;
    uint32_t axis;
    return node_axis(n, (int64_t)rank - 1, rank, &axis) ? gpu_refuse_types(gpu, g, n) : "its axis is none of the input";
}

const struct gpu_op gpu_softmax = {.refuse = refuse_softmax, .prepare = prepare_softmax, .fuses = true};
