/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/cpu/cpu_follow.h"

#include <float.h>
#include <math.h>

#include "op/op.h"
#include "op/params.h"

/* One of each kind: primitives of oneDNN 2.6 were seen to leave out the second of two functions of one element, and to
 * broadcast the second of two binary ones wrongly. */
enum { MAX_FOLLOWERS = 2 };

/* An element-wise op in the library's terms. */
struct follower {
    dnnl_alg_kind_t kind;
    float alpha, beta;
    bool binary;
    uint32_t other;  /* binary: which input is not the result of the node before */
    uint32_t inputs; /* operands of the node; 0: no follower */
};

/* ---- which ops ---- */

static float bound(const struct node *n, enum param_id id, double absent)
{
    const double value = node_float(n, id, absent);
    return (float)(fabs(value) >= FLT_MAX ? copysign(INFINITY, value) : value);
}

static struct follower clipping(const struct node *n)
{
    const float low = bound(n, PARAM_min_value, 0), high = bound(n, PARAM_max_value, INFINITY);
    if (low == 0 && isinf(high))
        return (struct follower){.kind = dnnl_eltwise_relu, .inputs = 1};
    return (struct follower){.kind = dnnl_eltwise_clip, .alpha = low, .beta = high, .inputs = 1};
}

/* Functions with exponentials are not among them: the library's have absolute errors, not relative ones, and lose NaN.
 */
static struct follower unary(const struct node *n)
{
    switch (n->op->id) {
    case OP_Relu:
    case OP_ReluMinMax:
        return clipping(n);
    case OP_Relu1:
        return (struct follower){.kind = dnnl_eltwise_clip, .alpha = -1, .beta = 1, .inputs = 1};
    case OP_Relu6:
        return (struct follower){.kind = dnnl_eltwise_clip, .alpha = 0, .beta = 6, .inputs = 1};
    default:
        return (struct follower){.inputs = 0};
    }
}

/* Of a node that reads `result` as one of its inputs. */
static struct follower binary(const struct node *n, tensor_id result)
{
    struct follower f = {.binary = true, .other = n->n_inputs > 1 && n->inputs[0] == result, .inputs = 2};
    switch (n->op->id) {
    case OP_ElementWiseAdd:
        f.kind = dnnl_binary_add;
        return f;
    case OP_ElementWiseMultiply:
        f.kind = dnnl_binary_mul;
        return f;
    case OP_ElementWiseMaximum:
        f.kind = dnnl_binary_max;
        return f;
    case OP_ElementWiseMinimum:
        f.kind = dnnl_binary_min;
        return f;
    case OP_ElementWiseSubtract:
        f.kind = dnnl_binary_sub;
        return f.other == 1 ? f : (struct follower){.inputs = 0};
    case OP_ElementWiseDivide:
        f.kind = dnnl_binary_div;
        return f.other == 1 ? f : (struct follower){.inputs = 0};
    default:
        return (struct follower){.inputs = 0};
    }
}

static struct follower follower_of(const struct node *n, tensor_id result)
{
    const struct follower f = unary(n);
    return f.inputs ? f : binary(n, result);
}

/* ---- claiming ---- */

/* The operand is the whole result's size, one number, or one for each channel. */
static bool fits(const struct shape *result, const struct shape *other)
{
    if (other->rank == result->rank && shape_count(other) == shape_count(result))
        return true;
    if (other->rank > result->rank)
        return false;
    const int64_t channels = other->rank ? other->dims[other->rank - 1] : 1;
    return (int64_t)shape_count(other) == channels && (channels == 1 || channels == result->dims[result->rank - 1]);
}

static bool can_follow(const struct claiming *c, tensor_id result, node_id id, const struct follower *f)
{
    const struct graph *g = c->scope->graph;
    const struct node *n = graph_node(g, id);
    const struct tensor *t = graph_tensor(g, result), *out = node_output(g, n, 0);
    if (dtype_is_fixed(t->type->dtype)) /* whose rounding would be lost */
        return false;
    if (!f->inputs || n->n_inputs != f->inputs || !c->is_free[id] || cpu_refuse_types(g, n) ||
        !shape_equal(&t->type->shape, &out->type->shape))
        return false;
    return !f->binary ||
           (n->inputs[0] != n->inputs[1] && fits(&t->type->shape, &node_input(g, n, f->other)->type->shape));
}

void follow(const struct claiming *c, struct group *group)
{
    bool has_kind[2] = {false, false}; /* by struct follower's `binary` */
    while (group->nodes.count <= MAX_FOLLOWERS) {
        const node_id last = group->nodes.data[group->nodes.count - 1];
        const tensor_id result = graph_node(c->scope->graph, last)->outputs[0];
        if (c->wanted[result] || c->uses->count[result] != 1)
            return;
        const node_id next = c->uses->nodes[c->uses->first[result]];
        const struct follower f = follower_of(graph_node(c->scope->graph, next), result);
        if (has_kind[f.binary] || !can_follow(c, result, next, &f))
            return;
        has_kind[f.binary] = true;
        vec_push(c->scope->arena, &group->nodes, next);
    }
}

/* ---- preparing ---- */

/* The followers of a group, with their other operands. */
struct chain {
    size_t count;
    struct {
        struct follower op;
        dnnl_memory_desc_t desc; /* binary: of the other operand */
        uint32_t place;          /* and where the operand lies, or CPU_FIXED */
        const void *data;
    } links[MAX_FOLLOWERS];
};

/* The operand with the axes of the result, over which it is broadcast. */
static dnnl_memory_desc_t operand_desc(const struct main_call *main, const struct shape *other)
{
    struct dnnl_axes axes = main->result;
    const uint64_t count = shape_count(other);
    uint64_t whole = 1;
    for (int i = 0; i < axes.rank; i++)
        whole *= (uint64_t)axes.dims[i];
    if (count != whole) {
        const int channel = main->image ? 1 : axes.rank - 1;
        for (int i = 0; i < axes.rank; i++) {
            axes.dims[i] = i == channel ? (dnnl_dim_t)count : 1;
            axes.strides[i] = i == channel ? 1 : (dnnl_dim_t)count;
        }
    }
    return desc_of(&axes);
}

static void read_chain(const struct cpu_making *m, const struct main_call *main, struct chain *chain)
{
    const struct graph *g = m->scope->graph;
    for (uint32_t k = 1; k < m->group->nodes.count; k++) {
        const struct node *n = graph_node(g, m->group->nodes.data[k]);
        const tensor_id result = graph_node(g, m->group->nodes.data[k - 1])->outputs[0];
        const size_t i = chain->count++;
        chain->links[i].op = follower_of(n, result);
        if (!chain->links[i].op.binary)
            continue;
        const uint32_t other = chain->links[i].op.other, place = making_input(m, k, other);
        chain->links[i].desc = operand_desc(main, &node_input(g, n, other)->type->shape);
        chain->links[i].place = place == PLACE_CONSTANT ? CPU_FIXED : place;
        chain->links[i].data = place == PLACE_CONSTANT ? making_kept_constant(m, n->inputs[other]).data : NULL;
    }
}

static odlc_status add_post_ops(const struct cpu_making *m, const struct chain *chain, dnnl_primitive_attr_t attr)
{
    dnnl_post_ops_t ops;
    dnnl_status_t status = dnnl_post_ops_create(&ops);
    for (size_t i = 0; status == dnnl_success && i < chain->count; i++) {
        const struct follower *f = &chain->links[i].op;
        status = f->binary ? dnnl_post_ops_append_binary(ops, f->kind, &chain->links[i].desc)
                           : dnnl_post_ops_append_eltwise(ops, 1, f->kind, f->alpha, f->beta);
    }
    if (status == dnnl_success)
        status = dnnl_primitive_attr_set_post_ops(attr, ops);
    (void)dnnl_post_ops_destroy(ops);
    TRY_DNNL(m, status);
    return ODLC_OK;
}

static odlc_status give_other(const struct cpu_making *m, const struct chain *chain, size_t i, struct cpu_call *call,
                              int arg)
{
    if (chain->links[i].place == CPU_FIXED)
        return call_fixed(m, call, arg, &chain->links[i].desc, chain->links[i].data);
    return call_place(m, call, arg, &chain->links[i].desc, chain->links[i].place);
}

/* One follower on its own, in place. */
static odlc_status call_follower(const struct cpu_making *m, const dnnl_memory_desc_t *desc, const struct chain *chain,
                                 size_t i)
{
    const struct follower *f = &chain->links[i].op;
    dnnl_eltwise_desc_t eltwise;
    dnnl_binary_desc_t two;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t description;
    struct cpu_call *call;
    bool plain;
    TRY(make_attributes(m, &attr));
    if (f->binary)
        TRY_DNNL(m, dnnl_binary_desc_init(&two, f->kind, desc, &chain->links[i].desc, desc));
    else
        TRY_DNNL(m, dnnl_eltwise_forward_desc_init(&eltwise, dnnl_forward_inference, f->kind, desc, f->alpha, f->beta));
    TRY(make_description(m, f->binary ? (const_dnnl_op_desc_t)&two : (const_dnnl_op_desc_t)&eltwise, attr, &description,
                         &plain));
    TRY(make_call(m, description, &call));
    TRY(call_place(m, call, DNNL_ARG_SRC_0, desc, making_result(m)));
    if (f->binary)
        TRY(give_other(m, chain, i, call, DNNL_ARG_SRC_1));
    return call_place(m, call, DNNL_ARG_DST, desc, making_result(m));
}

odlc_status make_main_call(const struct cpu_making *m, const struct main_call *main, dnnl_primitive_desc_t *description,
                           struct cpu_call **out)
{
    struct chain chain = {0};
    dnnl_primitive_attr_t attr;
    bool plain = false;
    const dnnl_memory_desc_t desc = desc_of(&main->result);
    read_chain(m, main, &chain);
    TRY(make_attributes(m, &attr));
    if (!main->alone)
        TRY(add_post_ops(m, &chain, attr));
    TRY(make_description(m, main->operation, attr, description, &plain));
    const bool inside = !main->alone && (!plain || chain.count == 0);
    if (!inside && !main->alone) {
        TRY(make_attributes(m, &attr));
        TRY(make_description(m, main->operation, attr, description, &plain));
    }
    TRY(make_call(m, *description, out));
    TRY(call_place(m, *out, DNNL_ARG_DST, &desc, making_result(m)));
    for (size_t i = 0; i < chain.count; i++)
        if (!inside)
            TRY(call_follower(m, &desc, &chain, i));
        else if (chain.links[i].op.binary)
            TRY(give_other(m, &chain, i, *out, DNNL_ARG_ATTR_MULTIPLE_POST_OP((int)i) | DNNL_ARG_SRC_1));
    return ODLC_OK;
}
