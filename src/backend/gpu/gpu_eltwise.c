/* SPDX-License-Identifier: Apache-2.0 */
/* Element-wise functions of one and two operands, and Reshape. */
#include "backend/gpu/gpu_follow.h"
#include "backend/gpu/gpu_walk.h"
#include "op/op.h"

/* Followers of an operand that is loaded as it lies. */
static odlc_status map(struct gpu_making *m, const struct gpu_operand *x, const struct gpu_chain *chain)
{
    const struct gpu_operand out = gpu_output(m, 0);
    const size_t count = shape_count(&out.shape);
    struct gpu_call *call;
    gpu_option_type(m, "X", x);
    gpu_option_type(m, "Y", x); /* as "spread" has it most often */
    gpu_option_type(m, "O", &out);
    gpu_chain_options(m, chain);
    TRY(gpu_call_begin(m, "eltwise", "map", &call));
    gpu_arg(m, call, x);
    gpu_arg(m, call, &out);
    gpu_arg_int(call, (int64_t)count);
    gpu_chain_args(m, call, chain);
    return gpu_call_end(m, call, 1, &count);
}

/* ---- integers ---- */

static bool is_integer(enum dtype dtype)
{
    return dtype == DT_BOOL || (dtype_is_int(dtype) && dtype != DT_UINT64 && dtype_value_bits(dtype) >= 8);
}

/* Whether all inputs have the same type, of integers. */
static bool has_integers(const struct graph *g, const struct node *n)
{
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (!node_input(g, n, i) || node_input(g, n, i)->type->dtype != node_input(g, n, 0)->type->dtype)
            return false;
    return is_integer(node_input(g, n, 0)->type->dtype);
}

static bool is_of_integers(const struct graph *g, const struct node *n)
{
    return has_integers(g, n) && node_output(g, n, 0)->type->dtype == node_input(g, n, 0)->type->dtype;
}

/* Functions that integers have; results wrap. */
static bool has_integer_function(enum op_id op)
{
    return op == OP_ElementWiseAdd || op == OP_ElementWiseSubtract || op == OP_ElementWiseMultiply ||
           op == OP_ElementWiseDivide || op == OP_ElementWiseFloorDiv || op == OP_ElementWiseFmod ||
           op == OP_ElementWiseMod || op == OP_ElementWiseMaximum || op == OP_ElementWiseMinimum ||
           op == OP_ElementWiseSquaredDifference || op == OP_ElementWiseAbs || op == OP_ElementWiseNeg ||
           op == OP_ElementWiseSign || op == OP_ElementWiseNot;
}

static const char *refuse(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    if (is_of_integers(g, n) && has_integer_function(n->op->id))
        return gpu_refuse_sizes(g, n);
    return gpu_refuse_types(gpu, g, n);
}

static void choose_math(struct gpu_making *m)
{
    if (has_integers(m->scope->graph, gpu_node(m, 0)))
        m->math = GPU_MATH_INT;
}

/* ---- one operand ---- */

static odlc_status prepare_unary(struct gpu_making *m)
{
    struct gpu_operand x;
    struct gpu_chain chain = {.count = 0};
    choose_math(m);
    TRY(gpu_input(m, 0, 0, &x));
    TRY(gpu_chain_read(m, 0, 0, &chain));
    return map(m, &x, &chain);
}

const struct gpu_op gpu_unary = {.refuse = refuse, .prepare = prepare_unary, .fuses = true};
const struct gpu_op gpu_negation = {.refuse = refuse, .prepare = prepare_unary};

/* The result lies where the input does. */
static const char *refuse_reshape(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    (void)gpu;
    return gpu_moves_raw(g, n) ? gpu_refuse_sizes(g, n) : "its operands differ in type or encoding";
}

/* But where both are seen, or the precision mode gives them different types. */
static odlc_status prepare_reshape(struct gpu_making *m)
{
    const struct gpu_operand y = gpu_output(m, 0);
    const struct shape all = SHAPE((int64_t)shape_count(&y.shape));
    const struct gpu_walk walk = gpu_walk_over(&all, 2, (int64_t[2][MAX_RANK]){{1}, {1}});
    struct gpu_operand x;
    TRY(gpu_input(m, 0, 0, &x));
    return gpu_move(m, &x, &y, &walk);
}

const struct gpu_op gpu_reshape = {
    .refuse = refuse_reshape, .prepare = prepare_reshape, .is_raw = gpu_moves_raw, .sharing = SHARING_ELEMENTS};

/* ---- two operands ---- */

/* Operands none of which has the result's shape. */
static odlc_status spread(struct gpu_making *m, const struct gpu_operand *x, const struct gpu_operand *y)
{
    const struct gpu_operand out = gpu_output(m, 0);
    const size_t count = shape_count(&out.shape);
    int64_t strides[2][MAX_RANK];
    struct gpu_function f = {0};
    struct gpu_chain chain = {.count = 0};
    struct gpu_call *call;
    gpu_broadcast_strides(&x->shape, &out.shape, strides[0]);
    gpu_broadcast_strides(&y->shape, &out.shape, strides[1]);
    const struct gpu_walk walk = gpu_walk_over(&out.shape, 2, strides);
    (void)gpu_function_of(gpu_node(m, 0), &f);
    TRY(gpu_chain_read(m, 1, 0, &chain));
    gpu_option_type(m, "X", x);
    gpu_option_type(m, "Y", y);
    gpu_option_type(m, "O", &out);
    gpu_chain_options(m, &chain);
    if (gpu_specializes(m))
        gpu_option(m, "-DCODE=%d", f.code);
    TRY(gpu_call_begin(m, "eltwise", "spread", &call));
    gpu_arg(m, call, x);
    gpu_arg(m, call, y);
    gpu_arg(m, call, &out);
    gpu_arg_int(call, (int64_t)count);
    gpu_arg_int(call, f.code);
    gpu_arg_bytes(call, &walk, sizeof(walk));
    gpu_chain_args(m, call, &chain);
    return gpu_call_end(m, call, 1, &count);
}

/* Whether the operand has all of the result's elements, and the other one is repeated by steps. */
static bool leads(const struct gpu_operand *x, const struct gpu_operand *other, const struct shape *out)
{
    int64_t step, period;
    return shape_count(&x->shape) == shape_count(out) && gpu_broadcast_is_run(&other->shape, out, &step, &period);
}

static odlc_status prepare_binary(struct gpu_making *m)
{
    const struct shape out = gpu_output(m, 0).shape;
    struct gpu_operand in[2];
    struct gpu_chain chain = {.count = 0};
    choose_math(m);
    TRY(gpu_input(m, 0, 0, &in[0]));
    TRY(gpu_input(m, 0, 1, &in[1]));
    const uint32_t first = leads(&in[0], &in[1], &out) ? 0 : 1;
    if (!leads(&in[first], &in[1 - first], &out))
        return spread(m, &in[0], &in[1]);
    TRY(gpu_chain_read(m, 0, first, &chain));
    return map(m, &in[first], &chain);
}

const struct gpu_op gpu_binary = {.refuse = refuse, .prepare = prepare_binary, .fuses = true};

/* ---- Batchnorm ---- */

static const char *refuse_batchnorm(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    const struct shape *shape = &node_output(g, n, 0)->type->shape;
    int64_t step, period;
    for (uint32_t i = 1; i < n->n_inputs; i++)
        if (node_input(g, n, i) && !gpu_broadcast_is_run(&node_input(g, n, i)->type->shape, shape, &step, &period))
            return "weights and bias vary along axes that are no neighbours";
    return gpu_refuse_types(gpu, g, n);
}

static odlc_status prepare_batchnorm(struct gpu_making *m)
{
    const struct shape shape = gpu_output(m, 0).shape;
    struct gpu_operand in[3];
    struct gpu_chain chain = {.count = 0};
    for (uint32_t i = 0; i < 3; i++)
        TRY(gpu_input(m, 0, i, &in[i]));
    gpu_chain_add(&chain, GPU_MULTIPLY, &in[1], &shape);
    if (in[2].dtype != DT_NONE)
        gpu_chain_add(&chain, GPU_ADD, &in[2], &shape);
    TRY(gpu_chain_read(m, 1, 0, &chain));
    return map(m, &in[0], &chain);
}

const struct gpu_op gpu_batchnorm = {.refuse = refuse_batchnorm, .prepare = prepare_batchnorm, .fuses = true};

/* ---- comparisons and logic ---- */

static const char *refuse_comparison(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    const struct tensor *a = node_input(g, n, 0), *b = node_input(g, n, 1);
    const bool logic =
        n->op->id == OP_ElementWiseAnd || n->op->id == OP_ElementWiseOr || n->op->id == OP_ElementWiseXor;
    (void)gpu;
    if (!a || !b || node_output(g, n, 0)->type->dtype != DT_BOOL ||
        !(has_integers(g, n) || (!logic && gpu_is_real(a) && gpu_is_real(b))))
        return "it compares float32 and float16 tensors, or integers of one type, alone, and joins bools";
    return gpu_refuse_sizes(g, n);
}

static odlc_status prepare_comparison(struct gpu_making *m)
{
    m->math = GPU_MATH_FLOAT;
    return prepare_binary(m);
}

const struct gpu_op gpu_comparison = {.refuse = refuse_comparison, .prepare = prepare_comparison};

/* ---- Cast ---- */

/* Integers keep their low bits, reals become integers by way of the nearest one that there is towards 0. */
static const char *refuse_cast(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    const struct tensor *x = node_input(g, n, 0), *y = node_output(g, n, 0);
    const enum dtype from = x->type->dtype, to = y->type->dtype;
    (void)gpu;
    if (!(gpu_is_real(x) || is_integer(from)) || !(gpu_is_real(y) || is_integer(to)))
        return "it casts between float32, float16, bools and integers of at least 8 bits alone";
    return gpu_refuse_sizes(g, n);
}

static odlc_status prepare_cast(struct gpu_making *m)
{
    struct gpu_operand x;
    TRY(gpu_input(m, 0, 0, &x));
    m->math = is_integer(x.dtype) ? GPU_MATH_INT : GPU_MATH_FLOAT;
    return map(m, &x, &(struct gpu_chain){.count = 0});
}

const struct gpu_op gpu_cast = {.refuse = refuse_cast, .prepare = prepare_cast};

/* ---- Select ---- */

static const char *refuse_selection(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    const struct tensor *c = node_input(g, n, 0), *a = node_input(g, n, 1), *b = node_input(g, n, 2);
    const enum dtype dtype = node_output(g, n, 0)->type->dtype;
    (void)gpu;
    if (!c || !a || !b || c->type->dtype != DT_BOOL || a->type->dtype != dtype || b->type->dtype != dtype ||
        !(gpu_is_real(a) || is_integer(dtype)))
        return "it selects float32 and float16 elements and integers alone, by bools";
    return gpu_refuse_sizes(g, n);
}

static odlc_status prepare_selection(struct gpu_making *m)
{
    const struct gpu_operand out = gpu_output(m, 0);
    const size_t count = shape_count(&out.shape);
    int64_t strides[3][MAX_RANK];
    struct gpu_operand in[3];
    struct gpu_call *call;
    for (uint32_t i = 0; i < 3; i++) {
        TRY(gpu_input(m, 0, i, &in[i]));
        gpu_broadcast_strides(&in[i].shape, &out.shape, strides[i]);
    }
    const struct gpu_walk walk = gpu_walk_over(&out.shape, 3, strides);
    m->math = is_integer(out.dtype) ? GPU_MATH_INT : GPU_MATH_FLOAT;
    gpu_option_type(m, "X", &in[1]);
    gpu_option_type(m, "Y", &in[2]);
    gpu_option_type(m, "O", &out);
    TRY(gpu_call_begin(m, "eltwise", "choose", &call));
    for (uint32_t i = 0; i < 3; i++)
        gpu_arg(m, call, &in[i]);
    gpu_arg(m, call, &out);
    gpu_arg_int(call, (int64_t)count);
    gpu_arg_bytes(call, &walk, sizeof(walk));
    return gpu_call_end(m, call, 1, &count);
}

const struct gpu_op gpu_selection = {.refuse = refuse_selection, .prepare = prepare_selection};
