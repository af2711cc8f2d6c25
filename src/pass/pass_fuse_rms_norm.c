/* x / sqrt(mean(x²) + epsilon) · gamma is an RmsNorm, for releases that have the operator. The root may divide, or be
 * inverted and multiplied by; operands of sums and products come in any order. Nothing else may read a step between. */
#include <float.h>

#include "op/axes.h"
#include "op/op.h"
#include "op/params.h"
#include "pass/parts.h"
#include "pass/pass.h"

#define SINCE \
    RELEASE(2, 47)  /* of the vendor's files, those of this release have the operator and those of 2.18 do not */
#define STEPS_MAX 8 /* nodes of the pattern */

pass_fn pass_fuse_rms_norm;

struct rms_norm {
    const struct graph *g;
    const struct uses *uses;
    tensor_id x, gamma;
    uint32_t axes; /* of x, over which the mean is taken */
    double epsilon;
    node_id steps[STEPS_MAX]; /* without the last product */
    uint32_t n_steps;
};

/* ---- the pattern, from its end; each function gives x, or NO_TENSOR ---- */

/* The node of that operator which gives t, when one operand of the pattern is all that reads t. */
static const struct node *step(struct rms_norm *r, tensor_id t, enum op_id op)
{
    const struct tensor *tensor = graph_tensor(r->g, t);
    const struct node *n = graph_producer(r->g, t);
    if (!n || !node_is(n, op) || tensor->kind != TENSOR_NATIVE || r->uses->count[t] != 1 || r->n_steps == STEPS_MAX)
        return NULL;
    r->steps[r->n_steps++] = tensor->producer;
    return n;
}

static bool is_number(const struct graph *g, tensor_id id, double value)
{
    double found;
    return part_number(g, id, &found) && found == value;
}

/* The base of base ** exponent. */
static tensor_id base_of_power(struct rms_norm *r, tensor_id t, double exponent)
{
    const struct node *n = step(r, t, OP_ElementWisePower);
    return n && is_number(r->g, n->inputs[1], exponent) ? n->inputs[0] : NO_TENSOR;
}

static tensor_id under_mean_of_squares(struct rms_norm *r, tensor_id t)
{
    const struct node *mean = step(r, t, OP_ReduceMean);
    if (!mean || !node_int(mean, PARAM_keep_dims, 0) ||
        !node_axes(mean, node_input(r->g, mean, 0)->type->shape.rank, &r->axes))
        return NO_TENSOR;
    const struct node *product = step(r, mean->inputs[0], OP_ElementWiseMultiply);
    if (!product)
        return base_of_power(r, mean->inputs[0], 2);
    return product->inputs[0] == product->inputs[1] ? product->inputs[0] : NO_TENSOR;
}

static tensor_id under_shift(struct rms_norm *r, tensor_id t)
{
    const struct node *sum = t == NO_TENSOR ? NULL : step(r, t, OP_ElementWiseAdd);
    for (uint32_t i = 0; sum && i < 2; i++)
        if (part_number(r->g, sum->inputs[i], &r->epsilon))
            return r->epsilon > 0 && r->epsilon <= FLT_MAX ? under_mean_of_squares(r, sum->inputs[1 - i]) : NO_TENSOR;
    return NO_TENSOR;
}

static tensor_id under_root(struct rms_norm *r, tensor_id t)
{
    const struct node *root = step(r, t, OP_ElementWiseSquareRoot);
    return under_shift(r, root ? root->inputs[0] : base_of_power(r, t, 0.5));
}

static tensor_id under_inverse_root(struct rms_norm *r, tensor_id t)
{
    const struct node *n;
    if ((n = step(r, t, OP_ElementWiseRsqrt)))
        return under_shift(r, n->inputs[0]);
    if ((n = step(r, t, OP_ElementWiseReciprocal)))
        return under_root(r, n->inputs[0]);
    if ((n = step(r, t, OP_ElementWiseDivide)))
        return is_number(r->g, n->inputs[0], 1) ? under_root(r, n->inputs[1]) : NO_TENSOR;
    return under_shift(r, base_of_power(r, t, -0.5));
}

static tensor_id under_normalized(struct rms_norm *r, tensor_id t)
{
    const struct node *n = step(r, t, OP_ElementWiseDivide);
    if (n)
        return under_root(r, n->inputs[1]) == n->inputs[0] ? n->inputs[0] : NO_TENSOR;
    n = step(r, t, OP_ElementWiseMultiply);
    for (uint32_t i = 0, mark = r->n_steps; n && i < 2; i++) {
        r->n_steps = mark;
        if (under_inverse_root(r, n->inputs[i]) == n->inputs[1 - i])
            return n->inputs[1 - i];
    }
    return NO_TENSOR;
}

/* ---- gamma ---- */

/* The shape that the operator's weights have: the axes of the mean. */
static struct shape weights_shape(const struct rms_norm *r)
{
    const struct shape *x = &graph_tensor(r->g, r->x)->type->shape;
    struct shape shape = {.rank = 0};
    for (uint32_t i = 0; i < x->rank; i++)
        if (r->axes >> i & 1)
            shape.dims[shape.rank++] = x->dims[i];
    return shape;
}

/* Whether gamma is a constant that differs along the axes of the mean and along no other. */
static bool gamma_fits(const struct rms_norm *r)
{
    const struct tensor *gamma = graph_tensor(r->g, r->gamma), *x = graph_tensor(r->g, r->x);
    const struct shape *from = &gamma->type->shape, *to = &x->type->shape, weights = weights_shape(r);
    if (gamma->kind != TENSOR_STATIC || gamma->type->dtype != x->type->dtype || from->rank > to->rank)
        return false;
    for (uint32_t i = 0, missing = to->rank - from->rank; i < to->rank; i++)
        if ((i < missing ? 1 : from->dims[i - missing]) != (r->axes >> i & 1 ? to->dims[i] : 1))
            return false;
    struct view view = *gamma->view;
    return view_reshape(&view, &weights);
}

/* ---- the operator ---- */

static bool find(struct rms_norm *r, const struct node *last)
{
    if (!node_is(last, OP_ElementWiseMultiply))
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        r->n_steps = 0;
        r->gamma = last->inputs[i];
        if (graph_tensor(r->g, r->gamma)->kind != TENSOR_STATIC)
            continue;
        r->x = under_normalized(r, last->inputs[1 - i]);
        return r->x != NO_TENSOR && gamma_fits(r) &&
               shape_equal(&graph_tensor(r->g, r->x)->type->shape, &node_output(r->g, last, 0)->type->shape);
    }
    return false;
}

/* The weights: gamma in the operator's shape, and a beta of zeros that is called after gamma. */
static void add_weights(struct graph *g, const struct rms_norm *r, tensor_id weights[2])
{
    const struct tensor gamma = *graph_tensor(g, r->gamma);
    const struct shape shape = weights_shape(r);
    struct view view = *gamma.view, zeros = view_splat_float(g->arena, gamma.type->dtype, &shape, 0);
    weights[0] = r->gamma;
    if (!shape_equal(&gamma.type->shape, &shape) && view_reshape(&view, &shape))
        weights[0] = part_constant(g, r->gamma, &view);
    weights[1] =
        graph_add_constant(g, arena_printf(g->arena, "%s_bias", tensor_wanted_name(&gamma)), gamma.type->dtype, &zeros);
}

/* The node that takes the place of the pattern. One that an operator of the model was spelled out in keeps its name. */
static node_id fuse(struct graph *g, const struct rms_norm *r, node_id id)
{
    const struct node last = *graph_node(g, id);
    const struct op *row = op_row(OP_RmsNorm);
    const char *first_source = graph_node(g, r->steps[r->n_steps - 1])->source, *name = last.name;
    struct shape rank1 = {.rank = 1};
    int64_t axes[MAX_RANK];
    tensor_id in[3] = {r->x};
    add_weights(g, r, in + 1);
    for (uint32_t i = 0; i < MAX_RANK; i++)
        if (r->axes >> i & 1)
            axes[rank1.dims[0]++] = i;
    if (first_source != last.source || !first_source)
        name = arena_printf(g->arena, "rms_norm_%s", node_output(g, &last, 0)->name);
    graph_remove_node(g, id);
    for (uint32_t i = 0; i < r->n_steps; i++)
        graph_remove_node(g, r->steps[i]);
    node_id fused = graph_add_node(g, row, row->n_params, name, in, 3, last.outputs, 1);
    struct node *n = graph_node(g, fused);
    n->source = last.source;
    node_set_ints(g, n, PARAM_axes, &rank1, axes);
    node_set_float(n, PARAM_epsilon, r->epsilon);
    return fused;
}

odlc_status pass_fuse_rms_norm(struct pass_context *c, struct graph *g)
{
    if (c->options->target_release < SINCE)
        return ODLC_OK;
    struct uses uses = graph_uses(c->scratch, g);
    for (size_t i = 0; i < g->order.count; i++) {
        struct rms_norm r = {.g = g, .uses = &uses};
        node_id id = g->order.data[i];
        if (find(&r, graph_node(g, id)))
            g->order.data[i] = fuse(g, &r, id);
    }
    return ODLC_OK;
}
