/* Element-wise functions of one and two operands, and Reshape. */
#include "backend/gpu/gpu_follow.h"
#include "backend/gpu/gpu_walk.h"

/* Followers of an operand that is loaded as it lies. */
static odlc_status map(struct gpu_making *m, const struct gpu_operand *x, const struct gpu_chain *chain)
{
    const struct gpu_operand out = gpu_output(m, 0);
    const size_t count = shape_count(&out.shape);
    struct gpu_call *call;
    gpu_option_type(m, "X", x);
    gpu_option_type(m, "O", &out);
    gpu_chain_options(m, chain, false);
    TRY(gpu_call_begin(m, "eltwise", "map", &call));
    gpu_arg(m, call, x);
    gpu_arg(m, call, &out);
    gpu_arg_int(call, (int64_t)count);
    gpu_chain_args(m, call, chain);
    return gpu_call_end(m, call, 1, &count);
}

/* ---- one operand ---- */

static odlc_status prepare_unary(struct gpu_making *m)
{
    struct gpu_operand x;
    struct gpu_chain chain;
    TRY(gpu_input(m, 0, 0, &x));
    TRY(gpu_chain_read(m, 0, 0, &chain));
    return map(m, &x, &chain);
}

const struct gpu_op gpu_unary = {.refuse = gpu_refuse_types, .prepare = prepare_unary, .fuses = true};

/* The result lies where the input does. */
static const char *refuse_reshape(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    (void)gpu;
    return gpu_moves_raw(g, n) ? gpu_refuse_sizes(g, n) : "its operands differ in type or encoding";
}

/* But where the precision mode gives them different types. */
static odlc_status prepare_reshape(struct gpu_making *m)
{
    struct gpu_operand x;
    TRY(gpu_input(m, 0, 0, &x));
    m->math = dtype_is_float(x.dtype) ? GPU_MATH_FLOAT : GPU_MATH_INT;
    return map(m, &x, &(struct gpu_chain){.count = 0});
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
    struct gpu_chain chain;
    struct gpu_call *call;
    gpu_broadcast_strides(&x->shape, &out.shape, strides[0]);
    gpu_broadcast_strides(&y->shape, &out.shape, strides[1]);
    const struct gpu_walk walk = gpu_walk_over(&out.shape, 2, strides);
    (void)gpu_function_of(gpu_node(m, 0), &f);
    TRY(gpu_chain_read(m, 1, 0, &chain));
    gpu_option_type(m, "X", x);
    gpu_option_type(m, "Y", y);
    gpu_option_type(m, "O", &out);
    gpu_chain_options(m, &chain, false);
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
    struct gpu_chain chain;
    TRY(gpu_input(m, 0, 0, &in[0]));
    TRY(gpu_input(m, 0, 1, &in[1]));
    const uint32_t first = leads(&in[0], &in[1], &out) ? 0 : 1;
    if (!leads(&in[first], &in[1 - first], &out))
        return spread(m, &in[0], &in[1]);
    TRY(gpu_chain_read(m, 0, first, &chain));
    return map(m, &in[first], &chain);
}

const struct gpu_op gpu_binary = {.refuse = gpu_refuse_types, .prepare = prepare_binary, .fuses = true};
