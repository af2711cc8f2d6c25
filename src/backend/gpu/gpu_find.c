/* SPDX-License-Identifier: Apache-2.0 */
/* Argmax, Argmin and CumulativeSum: along one axis. */
#include "backend/gpu/gpu_lines.h"
#include "op/axes.h"
#include "op/op.h"

/* The operators' own axis; the last one without the param. */
static bool axis_of(const struct node *n, const struct shape *x, uint32_t *axis)
{
    return node_axis(n, -1, x->rank, axis);
}

/* ---- Argmax, Argmin ---- */

/* The order of fixed-point elements is that of their integers. */
static bool is_stored(const struct graph *g, const struct node *n)
{
    (void)g, (void)n;
    return true;
}

static const char *refuse_extreme(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    const struct tensor *x = node_input(g, n, 0);
    const enum dtype dtype = node_output(g, n, 0)->type->dtype;
    uint32_t axis;
    (void)gpu;
    if (!gpu_is_number(x) || (dtype_is_fixed(x->type->dtype) && (!x->quant || x->quant->per_axis)) ||
        !dtype_is_int(dtype) || dtype == DT_UINT64 || dtype_value_bits(dtype) < 32)
        return "its elements or the positions are of a type without kernels";
    return axis_of(n, &x->type->shape, &axis) ? gpu_refuse_sizes(g, n) : "its axis is none of the input";
}

static odlc_status prepare_extreme(struct gpu_making *m)
{
    const struct gpu_operand out = gpu_output(m, 0);
    struct gpu_operand x;
    struct gpu_call *call;
    uint32_t axis;
    TRY(gpu_input(m, 0, 0, &x));
    if (!axis_of(gpu_node(m, 0), &x.shape, &axis))
        return ODLC_ERR_INVALID;
    const struct gpu_lines lines = gpu_lines_along(m, &x.shape, 1U << axis);
    gpu_move_math(m, &x);
    gpu_option_type(m, "X", &x);
    gpu_option_type(m, "O", &out);
    TRY(gpu_lines_begin(m, &lines, "extreme", (const struct gpu_operand *const[]){&x, &out}, 2, &call));
    gpu_arg_int(call, gpu_node(m, 0)->op->id == OP_Argmin);
    gpu_lines_walks(call, &lines);
    return gpu_lines_end(m, call, &lines);
}

const struct gpu_op gpu_extreme = {.refuse = refuse_extreme, .prepare = prepare_extreme, .is_raw = is_stored};

/* ---- CumulativeSum ---- */

static const char *refuse_running(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    const struct tensor *x = node_input(g, n, 0);
    uint32_t axis;
    (void)gpu;
    if (dtype_is_fixed(x->type->dtype) || !gpu_is_number(x) || !gpu_moves_raw(g, n))
        return "it sums floats and integers of one type alone";
    return axis_of(n, &x->type->shape, &axis) ? gpu_refuse_sizes(g, n) : "its axis is none of the input";
}

static odlc_status prepare_running(struct gpu_making *m)
{
    const struct node *n = gpu_node(m, 0);
    const struct gpu_operand out = gpu_output(m, 0);
    struct gpu_operand x;
    struct gpu_call *call;
    uint32_t axis;
    TRY(gpu_input(m, 0, 0, &x));
    if (!axis_of(n, &x.shape, &axis))
        return ODLC_ERR_INVALID;
    struct gpu_lines lines = gpu_lines_along(m, &x.shape, 1U << axis);
    lines.group = 1;
    gpu_move_math(m, &x);
    gpu_option_type(m, "X", &x);
    gpu_option_type(m, "O", &out);
    TRY(gpu_lines_begin(m, &lines, "running", (const struct gpu_operand *const[]){&x, &out}, 2, &call));
    gpu_arg_int(call, node_int(n, PARAM_exclusive, 0) != 0);
    gpu_arg_int(call, node_int(n, PARAM_reverse, 0) != 0);
    gpu_lines_walks(call, &lines);
    return gpu_lines_end(m, call, &lines);
}

const struct gpu_op gpu_running = {.refuse = refuse_running, .prepare = prepare_running, .is_raw = gpu_moves_raw};
