/* SPDX-License-Identifier: Apache-2.0 */
/* GroupNorm: the channels of x in groups (a Reshape), each group normalized along its channels and places at once, by
 * an InstanceNorm or a LayerNorm without weights, brought back into x's shape, and weighted by channel. Channels are
 * the second axis or the last one; those may be weighted in their groups, by one product and one sum for each element.
 */
#include <float.h>

#include "op/axes.h"
#include "op/params.h"
#include "pass/fusion.h"
#include "pass/norm_weights.h"
#include "pass/parts.h"

pass_fn pass_fuse_group_norm;

#define CHANNELS_FIRST (1u << 1) /* the axis of channels, as a mask */

static const struct node *node_of(const struct graph *g, const struct occurrence *o, char letter)
{
    const node_id id = o->nodes[letter - 'a'];
    return id == NO_NODE ? NULL : graph_node(g, id);
}

/* Whether all elements of a constant are that number; true where the formula has no such letter. */
static bool is_all(struct fusing *f, const struct occurrence *o, char letter, float number)
{
    const tensor_id id = occurrence_tensor(o, letter);
    if (id == NO_TENSOR)
        return true;
    const struct tensor *t = graph_tensor(f->g, id);
    const float *values = view_load(f->scratch, t->view, DT_FLOAT32);
    for (uint64_t i = 0; i < shape_count(&t->type->shape); i++)
        if (values[i] != number)
            return false;
    return true;
}

static bool transposes(const struct node *n, const struct perm *perm)
{
    const struct perm found = node_perm(n);
    return perm_equal(&found, perm);
}

/* Whether these are all axes of the groups but that of the batch and `apart`, the one of the groups. */
static bool is_over_groups(const struct node *norm, uint32_t rank, uint32_t apart)
{
    uint32_t axes;
    return node_axes(norm, rank, &axes) && axes == (((1u << rank) - 1) & ~1u & ~(1u << apart));
}

/* An InstanceNorm stands between Transposes: its own tensors have channels last. */
static bool is_normalized(struct fusing *f, const struct occurrence *o, uint32_t rank)
{
    const struct node *instance = node_of(f->g, o, 'i'), *layer = node_of(f->g, o, 'n');
    const struct perm to_last = perm_channels_last(rank), to_first = perm_channels_first(rank);
    if (layer)
        return is_over_groups(layer, rank, 1);
    return transposes(node_of(f->g, o, 't'), &to_last) && transposes(node_of(f->g, o, 'u'), &to_first) &&
           node_int(instance, PARAM_mode, 0) == 0 && node_int(instance, PARAM_region, 0) == 0 &&
           node_int(instance, PARAM_normalize_variance, 1) == 1 && is_all(f, o, 's', 1) && is_all(f, o, 'z', 0);
}

/* The number of groups; 0: the Reshape makes none. */
static int64_t groups_of(const struct shape *x, const struct shape *grouped)
{
    const bool fits = x->rank >= 2 && grouped->rank >= 3 && x->dims[0] == grouped->dims[0] && grouped->dims[1] > 0 &&
                      x->dims[1] % grouped->dims[1] == 0;
    return fits ? grouped->dims[1] : 0;
}

/* The same for channels that are the last axis, which the groups split in two. */
static int64_t groups_of_last(const struct shape *x, const struct shape *grouped)
{
    const uint32_t last = x->rank - 1;
    bool fits = x->rank >= 3 && grouped->rank == x->rank + 1;
    for (uint32_t i = 0; fits && i < last; i++)
        fits = x->dims[i] == grouped->dims[i];
    return fits && grouped->dims[last] * grouped->dims[last + 1] == x->dims[last] ? grouped->dims[last] : 0;
}

static const struct shape *shape_of(const struct graph *g, tensor_id id)
{
    return &graph_tensor(g, id)->type->shape;
}

static const struct shape *shape_of_groups(const struct graph *g, const struct occurrence *o)
{
    return shape_of(g, node_of(g, o, 'q')->outputs[0]);
}

static bool make_last(struct fusing *f, const struct occurrence *o, tensor_id gamma, tensor_id beta, double epsilon)
{
    const tensor_id in[] = {occurrence_tensor(o, 'x'), gamma, beta};
    const int64_t groups = groups_of_last(shape_of(f->g, in[0]), shape_of_groups(f->g, o));
    struct node *fused = fusion_replace(f, o, OP_GroupNorm, in, 3);
    node_set_float(fused, PARAM_epsilon, epsilon);
    node_set_int(fused, PARAM_group, groups);
    return true;
}

/* Channels last: a LayerNorm, and weights behind it. */
static bool make_weighted(struct fusing *f, const struct occurrence *o)
{
    const tensor_id x = occurrence_tensor(o, 'x'), gamma = occurrence_tensor(o, 'g'), beta = occurrence_tensor(o, 'b');
    const struct node *norm = node_of(f->g, o, 'n');
    const struct shape *shape = shape_of(f->g, x);
    const uint32_t last = shape->rank - 1;
    if (!groups_of_last(shape, shape_of_groups(f->g, o)) || !fusion_keeps_type(f->g, o, 'x') ||
        !is_over_groups(norm, shape->rank + 1, last) || !norm_weight_fits(f->g, gamma, x, 1u << last) ||
        !norm_weight_fits(f->g, beta, x, 1u << last))
        return false;
    return make_last(f, o, norm_weight(f->g, gamma, x, 1u << last), norm_weight(f->g, beta, x, 1u << last),
                     node_float(norm, PARAM_epsilon, 0));
}

/* A weight of channels in their groups, as a list. */
static tensor_id listed(struct graph *g, tensor_id weight)
{
    struct view view = *graph_tensor(g, weight)->view;
    const struct shape list = SHAPE((int64_t)shape_count(shape_of(g, weight)));
    return view_reshape(&view, &list) ? part_constant(g, weight, &view) : NO_TENSOR;
}

/* Channels last: steps between the Reshapes, weights among them. */
static bool make_spelled_out(struct fusing *f, const struct occurrence *o)
{
    const tensor_id x = occurrence_tensor(o, 'x'), gamma = occurrence_tensor(o, 'g'), beta = occurrence_tensor(o, 'b');
    const tensor_id groups = node_of(f->g, o, 'q')->outputs[0];
    const double epsilon = occurrence_number(o, 'e');
    const uint32_t last = shape_of(f->g, x)->rank - 1, channels = 3u << last;
    if (!groups_of_last(shape_of(f->g, x), shape_of(f->g, groups)) || !fusion_keeps_type(f->g, o, 'x') ||
        !(epsilon > 0 && epsilon <= FLT_MAX) || !is_over_groups(node_of(f->g, o, 'm'), last + 2, last) ||
        !norm_weight_fits(f->g, gamma, groups, channels) || !norm_weight_fits(f->g, beta, groups, channels))
        return false;
    const tensor_id weights[] = {listed(f->g, gamma), listed(f->g, beta)};
    return weights[0] != NO_TENSOR && weights[1] != NO_TENSOR && make_last(f, o, weights[0], weights[1], epsilon);
}

/* Weights by channel, or none. */
static bool fits(const struct fusing *f, tensor_id weight, tensor_id x)
{
    return weight == NO_TENSOR || norm_weight_fits(f->g, weight, x, CHANNELS_FIRST);
}

static tensor_id by_channel(struct fusing *f, const struct node *norm, tensor_id weight, tensor_id x, float absent)
{
    return weight == NO_TENSOR ? norm_constant(f->g, norm->name, x, CHANNELS_FIRST, absent)
                               : norm_weight(f->g, weight, x, CHANNELS_FIRST);
}

static bool make(struct fusing *f, const struct occurrence *o)
{
    const tensor_id x = occurrence_tensor(o, 'x'), gamma = occurrence_tensor(o, 'g'), beta = occurrence_tensor(o, 'b');
    const struct node *norm = node_of(f->g, o, node_of(f->g, o, 'i') ? 'i' : 'n');
    const struct shape *grouped = shape_of_groups(f->g, o);
    const int64_t groups = groups_of(shape_of(f->g, x), grouped);
    const double epsilon = node_float(norm, PARAM_epsilon, 0);
    if (!groups || !fusion_keeps_type(f->g, o, 'x') || !is_normalized(f, o, grouped->rank) || !fits(f, gamma, x) ||
        !fits(f, beta, x))
        return false;
    const tensor_id in[] = {x, by_channel(f, norm, gamma, x, 1), by_channel(f, norm, beta, x, 0)};
    struct node *fused = fusion_replace_channels_last(f, o, OP_GroupNorm, in, 3);
    node_set_float(fused, PARAM_epsilon, epsilon);
    node_set_int(fused, PARAM_group, groups);
    return true;
}

#define INSTANCES "Reshape(u:Transpose(i:InstanceNorm(t:Transpose(q:Reshape(x)), @s, @z)))"
/* Weights say that the second axis has the channels. */
#define LAYERS "Reshape(n:LayerNorm(q:Reshape(x)))"
#define MEAN_OF(values) "m:ReduceMean[keep_dims=1](" values ")"
#define STEPS(squares)                                                                     \
    "y = q:Reshape(x); k = " MEAN_OF("y") "; i = @g / (" MEAN_OF(squares) " + #e) ^ 0.5; " \
                                                                          "Reshape(y * i - k * i + @b)"

odlc_status pass_fuse_group_norm(struct pass_context *c, struct graph *g)
{
    static const char *const formulas[] = {
        "@g * " INSTANCES " + @b", "@g * " LAYERS " + @b", "@g * " INSTANCES, "@g * " LAYERS,
        INSTANCES " + @b",         LAYERS " + @b",         INSTANCES,
    };
    static const char *const weighted[] = {"@g * " LAYERS " + @b"};
    static const char *const spelled_out[] = {STEPS("ElementWiseSquaredDifference(y, k)"), STEPS("(y - k) ^ 2")};
    const struct fusion fusions[] = {{formulas, COUNT_OF(formulas), make},
                                     {weighted, COUNT_OF(weighted), make_weighted},
                                     {spelled_out, COUNT_OF(spelled_out), make_spelled_out}};
    return fusions_run(c, g, fusions, COUNT_OF(fusions));
}
