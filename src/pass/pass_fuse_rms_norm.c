/* SPDX-License-Identifier: Apache-2.0 */
/* x / √(mean(x²) + ε) · gamma is an RmsNorm, also without weights, for releases that have the operator. */
#include <float.h>

#include "op/axes.h"
#include "op/params.h"
#include "pass/fusion.h"
#include "pass/norm_weights.h"

#define SINCE \
    RELEASE(2, 47) /* of the vendor's files, those of this release have the operator and those of 2.18 do not */

pass_fn pass_fuse_rms_norm;

static bool make(struct fusing *f, const struct occurrence *o)
{
    const tensor_id x = occurrence_tensor(o, 'x'), gamma = occurrence_tensor(o, 'g');
    const double epsilon = occurrence_number(o, 'e');
    const struct node *mean = graph_node(f->g, o->nodes['m' - 'a']);
    uint32_t axes;
    if (!fusion_keeps_type(f->g, o, 'x') || !(epsilon > 0 && epsilon <= FLT_MAX) ||
        !node_axes(mean, graph_tensor(f->g, x)->type->shape.rank, &axes) ||
        (gamma != NO_TENSOR && !norm_weight_fits(f->g, gamma, x, axes)))
        return false;
    const tensor_id weight =
        gamma == NO_TENSOR ? norm_constant(f->g, mean->name, x, axes, 1) : norm_weight(f->g, gamma, x, axes);
    const tensor_id in[] = {x, weight, norm_no_bias(f->g, weight)};
    struct node *fused = fusion_replace(f, o, OP_RmsNorm, in, 3);
    norm_set_axes(f->g, fused, axes);
    node_set_float(fused, PARAM_epsilon, epsilon);
    return true;
}

odlc_status pass_fuse_rms_norm(struct pass_context *c, struct graph *g)
{
    static const char *const formulas[] = {"@g * x / (m:ReduceMean[keep_dims=1](x ^ 2) + #e) ^ 0.5",
                                           "x / (m:ReduceMean[keep_dims=1](x ^ 2) + #e) ^ 0.5"};
    const struct fusion f = {.formulas = formulas, .n_formulas = COUNT_OF(formulas), .make = make};
    return c->options->target_release < SINCE ? ODLC_OK : fusion_run(c, g, &f);
}
