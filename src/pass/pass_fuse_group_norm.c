/* SPDX-License-Identifier: Apache-2.0 */
/* GroupNorm: the channels of x in groups (a Reshape), each group normalized along its channels and places at once, by
 * an InstanceNorm or a LayerNorm without weights, brought back into x's shape, and weighted by channel. */
#include "op/axes.h"
#include "op/params.h"
#include "pass/fusion.h"
#include "pass/norm_weights.h"

pass_fn pass_fuse_group_norm;

#define CHANNELS (1u << 1) /* of a tensor with channels first, as a mask */

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

/* An InstanceNorm stands between Transposes: its own tensors have channels last. */
static bool is_normalized(struct fusing *f, const struct occurrence *o, uint32_t rank)
{
    const struct node *instance = node_of(f->g, o, 'i'), *layer = node_of(f->g, o, 'n');
    const struct perm to_last = perm_channels_last(rank), to_first = perm_channels_first(rank);
    uint32_t axes;
    if (layer)
        return node_axes(layer, rank, &axes) && axes == (1u << rank) - 4;
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

/* Weights by channel, or none. */
static bool fits(const struct fusing *f, tensor_id weight, tensor_id x)
{
    return weight == NO_TENSOR || norm_weight_fits(f->g, weight, x, CHANNELS);
}

static tensor_id by_channel(struct fusing *f, const struct node *norm, tensor_id weight, tensor_id x, float absent)
{
    return weight == NO_TENSOR ? norm_constant(f->g, norm->name, x, CHANNELS, absent)
                               : norm_weight(f->g, weight, x, CHANNELS);
}

static bool make(struct fusing *f, const struct occurrence *o)
{
    const tensor_id x = occurrence_tensor(o, 'x'), gamma = occurrence_tensor(o, 'g'), beta = occurrence_tensor(o, 'b');
    const struct node *norm = node_of(f->g, o, node_of(f->g, o, 'i') ? 'i' : 'n');
    const struct shape *grouped = &node_output(f->g, node_of(f->g, o, 'q'), 0)->type->shape;
    const int64_t groups = groups_of(&graph_tensor(f->g, x)->type->shape, grouped);
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

odlc_status pass_fuse_group_norm(struct pass_context *c, struct graph *g)
{
    static const char *const formulas[] = {
        "@g * " INSTANCES " + @b", "@g * " LAYERS " + @b", "@g * " INSTANCES, "@g * " LAYERS,
        INSTANCES " + @b",         LAYERS " + @b",         INSTANCES,
    };
    const struct fusion f = {.formulas = formulas, .n_formulas = COUNT_OF(formulas), .make = make};
    return fusion_run(c, g, &f);
}
