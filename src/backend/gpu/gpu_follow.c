/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_follow.h"

#include <float.h>
#include <math.h>

#include "backend/gpu/gpu_walk.h"
#include "op/op.h"
#include "op/params.h"

/* ---- which functions ---- */

/* The largest float as a bound stands for none. */
static double bound(const struct node *n, enum param_id id, double absent)
{
    const double value = node_float(n, id, absent);
    return fabs(value) >= FLT_MAX ? copysign(INFINITY, value) : value;
}

static const struct {
    enum op_id op;
    int code;
} plain_functions[] = {
    {OP_HardSwish, GPU_HARD_SWISH},
    {OP_ElementWiseAbs, GPU_ABS},
    {OP_ElementWiseNeg, GPU_NEG},
    {OP_ElementWiseSquareRoot, GPU_SQRT},
    {OP_ElementWiseReciprocal, GPU_RECIPROCAL},
    {OP_ElementWiseRsqrt, GPU_RSQRT},
    {OP_Gelu, GPU_GELU},
    {OP_Sigmoid, GPU_SIGMOID},
    {OP_Tanh, GPU_TANH},
    {OP_ElementWiseExp, GPU_EXP},
    {OP_ElementWiseSign, GPU_SIGN},
    {OP_ElementWiseAsin, GPU_ASIN},
    {OP_ElementWiseAtan, GPU_ATAN},
    {OP_ElementWiseCeil, GPU_CEIL},
    {OP_ElementWiseCos, GPU_COS},
    {OP_ElementWiseFloor, GPU_FLOOR},
    {OP_ElementWiseLog, GPU_LOG},
    {OP_ElementWiseRound, GPU_ROUND},
    {OP_ElementWiseSin, GPU_SIN},
    {OP_ElementWiseNot, GPU_NOT},
    {OP_ElementWiseEqual, GPU_EQUAL},
    {OP_ElementWiseNotEqual, GPU_NOT_EQUAL},
    {OP_ElementWiseGreater, GPU_GREATER},
    {OP_ElementWiseGreaterEqual, GPU_GREATER_EQUAL},
    {OP_ElementWiseLess, GPU_LESS},
    {OP_ElementWiseLessEqual, GPU_LESS_EQUAL},
    {OP_ElementWiseAnd, GPU_AND},
    {OP_ElementWiseOr, GPU_OR},
    {OP_ElementWiseXor, GPU_XOR},
    {OP_ElementWiseAdd, GPU_ADD},
    {OP_ElementWiseSubtract, GPU_SUBTRACT},
    {OP_ElementWiseMultiply, GPU_MULTIPLY},
    {OP_ElementWiseDivide, GPU_DIVIDE},
    {OP_ElementWiseFloorDiv, GPU_FLOOR_DIVIDE},
    {OP_ElementWiseFmod, GPU_FMOD},
    {OP_ElementWiseMod, GPU_MODULO},
    {OP_ElementWiseMaximum, GPU_MAXIMUM},
    {OP_ElementWiseMinimum, GPU_MINIMUM},
    {OP_ElementWiseSquaredDifference, GPU_SQUARED_DIFFERENCE},
    {OP_ElementWisePower, GPU_POWER},
    {OP_Prelu, GPU_PRELU},
};

bool gpu_function_of(const struct node *n, struct gpu_function *out)
{
    switch (n->op->id) {
    case OP_Relu:
    case OP_ReluMinMax:
        *out = (struct gpu_function){GPU_CLIP, bound(n, PARAM_min_value, 0), bound(n, PARAM_max_value, INFINITY)};
        return true;
    case OP_Relu1:
        *out = (struct gpu_function){GPU_CLIP, -1, 1};
        return true;
    case OP_Relu6:
        *out = (struct gpu_function){GPU_CLIP, 0, 6};
        return true;
    case OP_HardSigmoid:
        *out = (struct gpu_function){GPU_HARD_SIGMOID, node_float(n, PARAM_alpha, 1), node_float(n, PARAM_beta, 1)};
        return true;
    case OP_Elu:
        *out = (struct gpu_function){GPU_ELU, node_float(n, PARAM_alpha, 1), 0};
        return true;
    case OP_ElementWiseSoftplus:
        *out = (struct gpu_function){GPU_SOFTPLUS, node_float(n, PARAM_beta, 1), node_float(n, PARAM_threshold, 0)};
        return true;
    default:
        break;
    }
    for (size_t i = 0; i < COUNT_OF(plain_functions); i++)
        if (plain_functions[i].op == n->op->id) {
            *out = (struct gpu_function){.code = plain_functions[i].code};
            return true;
        }
    return false;
}

/* ---- claiming ---- */

/* The operand of a node of two that is not `result`. */
static uint32_t other_of(const struct node *n, tensor_id result)
{
    return n->inputs[0] == result ? 1 : 0;
}

static bool can_follow(const struct gpu *gpu, const struct claiming *c, tensor_id result, node_id id)
{
    const struct graph *g = c->scope->graph;
    const struct node *n = graph_node(g, id);
    const struct tensor *t = graph_tensor(g, result);
    struct gpu_function f;
    int64_t step, period;
    if (!c->is_free[id] || !gpu_function_of(n, &f) || !gpu_is_real(t) || gpu_refuse_types(gpu, g, n) ||
        !shape_equal(&t->type->shape, &node_output(g, n, 0)->type->shape))
        return false;
    if (f.code < GPU_BINARY)
        return true;
    return n->inputs[0] != n->inputs[1] &&
           gpu_broadcast_is_run(&node_input(g, n, other_of(n, result))->type->shape, &t->type->shape, &step, &period);
}

/* Whether a node multiplies two tensors, in any order. */
static bool is_product_of(const struct node *n, tensor_id a, tensor_id b)
{
    return n->op->id == OP_ElementWiseMultiply &&
           ((n->inputs[0] == a && n->inputs[1] == b) || (n->inputs[0] == b && n->inputs[1] == a));
}

/* Adds a function of the result and the product of both, which are all that read the result. */
static bool follow_gate(const struct gpu *gpu, const struct claiming *c, tensor_id result, struct group *group)
{
    const struct graph *g = c->scope->graph;
    const node_id *readers = &c->uses->nodes[c->uses->first[result]];
    struct gpu_function f;
    if (c->uses->first[result + 1] - c->uses->first[result] != 2)
        return false;
    for (int i = 0; i < 2; i++) {
        const struct node *gate = graph_node(g, readers[i]);
        const tensor_id value = gate->outputs[0];
        if (gpu_function_of(gate, &f) && f.code < GPU_BINARY && !c->wanted[value] && c->uses->count[value] == 1 &&
            is_product_of(graph_node(g, readers[1 - i]), result, value) && can_follow(gpu, c, result, readers[i]) &&
            can_follow(gpu, c, value, readers[1 - i])) {
            vec_push(c->scope->arena, &group->nodes, readers[i]);
            vec_push(c->scope->arena, &group->nodes, readers[1 - i]);
            return true;
        }
    }
    return false;
}

/* Whether the node gives the elements of a result of reals as they are. */
static bool is_reshape(const struct claiming *c, tensor_id result, node_id id)
{
    const struct graph *g = c->scope->graph;
    const struct node *n = graph_node(g, id);
    return c->is_free[id] && n->op->id == OP_Reshape && gpu_is_real(graph_tensor(g, result)) && gpu_moves_raw(g, n) &&
           !gpu_refuse_sizes(g, n);
}

/* The next function, and what only reshapes its operand before it. */
static bool follow_one(const struct gpu *gpu, const struct claiming *c, struct group *group)
{
    const size_t count = group->nodes.count;
    for (;;) {
        const node_id last = group->nodes.data[group->nodes.count - 1];
        const tensor_id result = graph_node(c->scope->graph, last)->outputs[0];
        const uint32_t readers = c->wanted[result] ? 0 : c->uses->count[result];
        if (readers == 2 && follow_gate(gpu, c, result, group))
            return true;
        if (readers != 1)
            break;
        const node_id next = c->uses->nodes[c->uses->first[result]];
        const bool follows = can_follow(gpu, c, result, next);
        if (!follows && !is_reshape(c, result, next))
            break;
        vec_push(c->scope->arena, &group->nodes, next);
        if (follows)
            return true;
    }
    group->nodes.count = count;
    return false;
}

void gpu_follow(const struct gpu *gpu, const struct claiming *c, struct group *group)
{
    for (int i = 0; i < GPU_FOLLOWERS && follow_one(gpu, c, group); i++) {
    }
}

/* ---- preparing ---- */

/* Node k as a function of its operand `operand`. */
static odlc_status read_link(struct gpu_making *m, uint32_t k, uint32_t operand, struct gpu_link *out)
{
    const struct node *n = gpu_node(m, k);
    *out = (struct gpu_link){.other = {.place = GPU_FIXED, .dtype = DT_NONE}};
    (void)gpu_function_of(n, &out->function);
    if (out->function.code < GPU_BINARY)
        return ODLC_OK;
    TRY(gpu_input(m, k, 1 - operand, &out->other));
    (void)gpu_broadcast_is_run(&out->other.shape, &node_output(m->scope->graph, n, 0)->type->shape, &out->step,
                               &out->period);
    if (operand == 1)
        out->function.code += GPU_SWAPPED;
    return ODLC_OK;
}

void gpu_chain_add(struct gpu_chain *chain, int code, const struct gpu_operand *other, const struct shape *shape)
{
    struct gpu_link *link = &chain->links[chain->count++];
    *link = (struct gpu_link){.function = {.code = code}, .other = *other};
    (void)gpu_broadcast_is_run(&other->shape, shape, &link->step, &link->period);
}

odlc_status gpu_chain_read(struct gpu_making *m, uint32_t first, uint32_t operand, struct gpu_chain *chain)
{
    for (uint32_t k = first; k < gpu_node_count(m); k++) {
        const enum op_id op = gpu_node(m, k)->op->id;
        if (op == OP_Reshape || op == OP_Transpose)
            continue;
        if (k > 0)
            operand = 1 - other_of(gpu_node(m, k), gpu_node(m, k - 1)->outputs[0]);
        struct gpu_link *link = &chain->links[chain->count++];
        TRY(read_link(m, k, operand, link));
        if (k > 0 && k + 1 < gpu_node_count(m) &&
            is_product_of(gpu_node(m, k + 1), gpu_node(m, k - 1)->outputs[0], gpu_node(m, k)->outputs[0])) {
            link->function.code += GPU_GATED;
            k++;
        }
    }
    return ODLC_OK;
}

bool gpu_specializes(const struct gpu_making *m)
{
    return m->gpu->context->device.is_gpu || m->gpu->config->specializes;
}

void gpu_chain_options(struct gpu_making *m, const struct gpu_chain *chain)
{
    if (!gpu_specializes(m))
        return;
    gpu_option(m, "-DFOLLOW=%u", chain->count);
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct gpu_link *link = &chain->links[i];
        gpu_option(m, "-DCODE%u=%d -DALIKE%u=%d -DHALF%u=%d", i, link->function.code, i, link->step == 0, i,
                   link->other.dtype == DT_FLOAT16);
    }
}

/* As `chain` in kernels/common.cl, whose numbers are floats or doubles: of the former, the last bytes are not there. */
struct gpu_followers {
    cl_int count, code[GPU_LINKS], step[GPU_LINKS], period[GPU_LINKS], is_half[GPU_LINKS], unused;
    union {
        cl_float narrow[2][GPU_LINKS];
        cl_double wide[2][GPU_LINKS];
    } numbers;
};

static struct gpu_followers describe(const struct gpu_chain *chain, bool is_wide)
{
    struct gpu_followers f = {.count = (cl_int)chain->count, .numbers.wide = {{0}}};
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct gpu_link *link = &chain->links[i];
        const double numbers[2] = {link->function.a, link->function.b};
        for (int k = 0; k < 2; k++)
            if (is_wide)
                f.numbers.wide[k][i] = numbers[k];
            else
                f.numbers.narrow[k][i] = (cl_float)numbers[k];
        f.code[i] = link->function.code;
        f.step[i] = (cl_int)link->step;
        f.period[i] = (cl_int)link->period;
        f.is_half[i] = link->other.dtype == DT_FLOAT16;
    }
    return f;
}

void gpu_chain_args(struct gpu_making *m, struct gpu_call *call, const struct gpu_chain *chain)
{
    const struct gpu_operand none = {.place = GPU_FIXED, .dtype = DT_NONE};
    const bool is_wide = m->math == GPU_MATH_DOUBLE;
    const struct gpu_followers f = describe(chain, is_wide);
    gpu_arg_bytes(call, &f,
                  offsetof(struct gpu_followers, numbers) +
                      (is_wide ? sizeof(f.numbers.wide) : sizeof(f.numbers.narrow)));
    for (uint32_t i = 0; i < GPU_LINKS; i++)
        gpu_arg(m, call, i < chain->count ? &chain->links[i].other : &none);
}
