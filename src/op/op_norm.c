/* SPDX-License-Identifier: Apache-2.0 */
/* Normalizations: Batchnorm, GroupNorm, InstanceNorm, L2Norm, LayerNorm, Lrn, RmsNorm. Channels are the last axis. */
#include "op/axes.h"
#include "op/families.h"
#include "op/infer.h"

/* ---- types ---- */

/* Input i, when it is there, must have that shape. */
static odlc_status need_shape(const struct infer *c, uint32_t i, const struct shape *shape)
{
    const struct tensor *t = node_input(c->graph, c->node, i);
    if (!t || shape_equal(&t->type->shape, shape))
        return ODLC_OK;
    return infer_error(c, "input %u has the shape %s instead of %s", i, shape_text(c->diags->arena, &t->type->shape),
                       shape_text(c->diags->arena, shape));
}

static odlc_status need_per_channel(const struct infer *c, uint32_t min_rank)
{
    const struct shape *in = &infer_in(c, 0)->shape;
    if (in->rank < min_rank)
        return infer_error(c, "an input of rank %u is below rank %u", in->rank, min_rank);
    struct shape channels = SHAPE(in->dims[in->rank - 1]);
    TRY(need_shape(c, 1, &channels));
    TRY(need_shape(c, 2, &channels));
    return infer_real(c);
}

static odlc_status infer_batchnorm(const struct infer *c)
{
    return need_per_channel(c, 1);
}

static odlc_status infer_instance_norm(const struct infer *c)
{
    int64_t mode = node_int(c->node, PARAM_mode, 0), region = node_int(c->node, PARAM_region, 0);
    if (mode < 0 || mode > 1)
        return infer_error(c, "mode %lld is not known", (long long)mode);
    if (region < 0 || region > 2)
        return infer_error(c, "region %lld is not known", (long long)region);
    return need_per_channel(c, 3);
}

static odlc_status infer_group_norm(const struct infer *c)
{
    TRY(need_per_channel(c, 2));
    const struct shape *in = &infer_in(c, 0)->shape;
    int64_t groups = node_int(c->node, PARAM_group, 0);
    if (groups <= 0 || in->dims[in->rank - 1] % groups != 0)
        return infer_error(c, "%lld channels do not divide into %lld groups", (long long)in->dims[in->rank - 1],
                           (long long)groups);
    return ODLC_OK;
}

static bool ascending(const struct node *n)
{
    uint32_t count;
    const int64_t *axes = node_ints(n, PARAM_axes, &count);
    for (uint32_t i = 1; i < count; i++)
        if (axes[i] <= axes[i - 1])
            return false;
    return true;
}

static odlc_status infer_over_axes(const struct infer *c)
{
    const struct shape *in = &infer_in(c, 0)->shape;
    uint32_t axes;
    if (!node_axes(c->node, in->rank, &axes) || !ascending(c->node))
        return infer_error(c, "axes are not ascending axes of %s", shape_text(c->diags->arena, in));
    struct shape weights = {.rank = 0};
    for (uint32_t i = 0; i < in->rank; i++)
        if (axes >> i & 1)
            weights.dims[weights.rank++] = in->dims[i];
    TRY(need_shape(c, 1, &weights));
    TRY(need_shape(c, 2, &weights));
    return infer_real(c);
}

static odlc_status infer_l2_norm(const struct infer *c)
{
    const struct shape *in = &infer_in(c, 0)->shape;
    uint32_t axes;
    if (!node_axes_or_axis(c->node, in->rank, &axes))
        return infer_error(c, "the axes are not distinct axes of %s", shape_text(c->diags->arena, in));
    return infer_real(c);
}

static odlc_status infer_lrn(const struct infer *c)
{
    int64_t region = node_int(c->node, PARAM_region, 0);
    if (infer_in(c, 0)->shape.rank == 0)
        return infer_error(c, "an input of rank 0 has no channels");
    if (node_int(c->node, PARAM_radius, 0) < 0)
        return infer_error(c, "the radius is negative");
    if (region < 0 || region > 1)
        return infer_error(c, "region %lld is not known", (long long)region);
    return infer_real(c);
}

/* ---- axes ---- */

/* Weights of several axes have to be stored in the input's own order of these axes. */
static bool permute_over_axes(struct graph *g, struct node *n, const struct perm *perm, struct perm *out)
{
    uint32_t axes, last = 0;
    bool first = true;
    if (!node_axes(n, perm->rank, &axes))
        return false;
    for (uint32_t axis = 0; axis < perm->rank; axis++) {
        if (!(axes >> axis & 1))
            continue;
        uint32_t stored = perm_find(perm, axis);
        if (!first && stored < last)
            return false;
        last = stored;
        first = false;
    }
    permute_axes_param(g, n, perm);
    *out = *perm;
    return true;
}

/* Without any param the axis is 0, wherever that is stored. */
static bool permute_l2_norm(struct graph *g, struct node *n, const struct perm *perm, struct perm *out)
{
    uint32_t axes;
    if (!node_axes_or_axis(n, perm->rank, &axes))
        return false;
    *out = *perm;
    if (node_param(n, PARAM_axes))
        permute_axes_param(g, n, perm);
    else
        node_set_int(n, PARAM_axis, perm_find(perm, (uint32_t)node_int(n, PARAM_axis, 0)));
    return true;
}

/* ---- rows ---- */

#define FLOAT_PARAM(param, value)                                                        \
    {                                                                                    \
        PARAM_NAMED(param), .dtype = DT_FLOAT32, .presence = PARAM_DEFAULT, .def = value \
    }
#define INT_PARAM(param, type, value)                                              \
    {                                                                              \
        PARAM_NAMED(param), .dtype = type, .presence = PARAM_DEFAULT, .def = value \
    }
#define AXES(needed)                                                                 \
    {                                                                                \
        PARAM_NAMED(axes), .dtype = DT_UINT32, .presence = needed, .is_tensor = true \
    }

static const struct param_def instance_norm_params[] = {FLOAT_PARAM(epsilon, 1e-12), INT_PARAM(mode, DT_UINT32, 0),
                                                        INT_PARAM(normalize_variance, DT_BOOL, 1),
                                                        INT_PARAM(region, DT_UINT32, 0)};
static const struct param_def layer_norm_params[] = {AXES(PARAM_REQUIRED), FLOAT_PARAM(epsilon, 0.001)};
static const struct param_def rms_norm_params[] = {AXES(PARAM_REQUIRED), FLOAT_PARAM(epsilon, 1e-6)};
static const struct param_def group_norm_params[] = {
    {PARAM_NAMED(epsilon), .dtype = DT_FLOAT32, .presence = PARAM_REQUIRED},
    {PARAM_NAMED(group), .dtype = DT_UINT32, .presence = PARAM_REQUIRED}};
static const struct param_def l2_norm_params[] = {AXES(PARAM_OPTIONAL),
                                                  {PARAM_NAMED(axis), .dtype = DT_UINT32, .presence = PARAM_OPTIONAL},
                                                  FLOAT_PARAM(epsilon, 1e-12)};
static const struct param_def lrn_params[] = {FLOAT_PARAM(alpha, 1.0),
                                              FLOAT_PARAM(beta, 0.5),
                                              FLOAT_PARAM(bias, 1.0),
                                              {PARAM_NAMED(radius), .dtype = DT_INT32, .presence = PARAM_REQUIRED},
                                              INT_PARAM(region, DT_UINT32, 0)};

#define OUT_ONE .min_outputs = 1, .max_outputs = 1
#define PARAMS(list) .params = list, .n_params = COUNT_OF(list)
#define WEIGHTS (1u << 1 | 1u << 2)

/* For the layer that the normalization may be folded into; no container has them here. */
static const struct param_def batchnorm_notes[] = {
    {PARAM_NAMED(beta), .dtype = DT_FLOAT32, .is_tensor = true, .presence = PARAM_OPTIONAL, .supplemental = true},
    {PARAM_NAMED(gamma), .dtype = DT_FLOAT32, .is_tensor = true, .presence = PARAM_OPTIONAL, .supplemental = true}};

const struct op op_rows_norm[] = {
    {.id = OP_Batchnorm,
     .name = "Batchnorm",
     .dlc_type = "Batchnorm",
     .min_inputs = 2,
     .max_inputs = 3,
     OUT_ONE,
     PARAMS(batchnorm_notes),
     .infer = infer_batchnorm,
     .images = true,
     .weights = WEIGHTS},
    {.id = OP_GroupNorm,
     .name = "GroupNorm",
     .dlc_type = "GroupNorm",
     .min_inputs = 1,
     .max_inputs = 3,
     OUT_ONE,
     PARAMS(group_norm_params),
     .infer = infer_group_norm,
     .images = true,
     .weights = WEIGHTS},
    {.id = OP_InstanceNorm,
     .name = "InstanceNorm",
     .dlc_type = "InstanceNorm",
     .min_inputs = 2,
     .max_inputs = 3,
     OUT_ONE,
     PARAMS(instance_norm_params),
     .infer = infer_instance_norm,
     .images = true,
     .weights = WEIGHTS},
    {.id = OP_L2Norm,
     .name = "L2Norm",
     .dlc_type = "L2Norm",
     .min_inputs = 1,
     .max_inputs = 1,
     OUT_ONE,
     PARAMS(l2_norm_params),
     .infer = infer_l2_norm,
     .permute = permute_l2_norm},
    {.id = OP_LayerNorm,
     .name = "LayerNorm",
     .dlc_type = "LayerNorm",
     .min_inputs = 1,
     .max_inputs = 3,
     OUT_ONE,
     PARAMS(layer_norm_params),
     .infer = infer_over_axes,
     .permute = permute_over_axes,
     .permuted = 1u << 0,
     .weights = WEIGHTS},
    {.id = OP_Lrn,
     .name = "Lrn",
     .dlc_type = "Lrn",
     .min_inputs = 1,
     .max_inputs = 1,
     OUT_ONE,
     PARAMS(lrn_params),
     .infer = infer_lrn,
     .images = true},
    {.id = OP_RmsNorm,
     .name = "RmsNorm",
     .dlc_type = "RmsNorm",
     .min_inputs = 1,
     .max_inputs = 3,
     OUT_ONE,
     PARAMS(rms_norm_params),
     .infer = infer_over_axes,
     .permute = permute_over_axes,
     .permuted = 1u << 0,
     .weights = WEIGHTS},
};
const size_t op_rows_norm_count = COUNT_OF(op_rows_norm);
