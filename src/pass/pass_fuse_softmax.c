/* SPDX-License-Identifier: Apache-2.0 */
/* eˣ / Σ eˣ is Softmax, and its logarithm LogSoftmax; the largest x may be subtracted before. The power of that
 * logarithm is Softmax again. */
#include "op/axes.h"
#include "op/params.h"
#include "pass/fusion.h"

pass_fn pass_fuse_softmax;

/* The axis of the sum, which has one. */
static bool sum_axis(const struct graph *g, const struct occurrence *o, int64_t *axis)
{
    const struct node *sum = graph_node(g, o->nodes['s' - 'a']);
    uint32_t mask;
    if (!node_axes(sum, node_input(g, sum, 0)->type->shape.rank, &mask) || !mask || mask & (mask - 1))
        return false;
    for (*axis = 0; !(mask >> *axis & 1);)
        ++*axis;
    return true;
}

static bool make(struct fusing *f, const struct occurrence *o)
{
    const bool is_power = graph_node(f->g, o->steps[0])->op->id == OP_ElementWiseExp;
    const enum op_id op = o->nodes['l' - 'a'] == NO_NODE || is_power ? OP_Softmax : OP_LogSoftmax;
    int64_t axis;
    struct node *fused = sum_axis(f->g, o, &axis) ? fusion_of_x(f, o, op) : NULL;
    if (!fused)
        return false;
    node_set_int(fused, PARAM_axis, axis);
    node_set_float(fused, PARAM_beta, 1);
    return true;
}

#define LOWERED "d = x - s:ReduceMax[keep_dims=1](x); "
/* ReduceLogSumExp, whose largest x is no less than the least number. */
#define SHIFTED "k = ElementWiseMaximum(s:ReduceMax[keep_dims=1](x), -3.4028234663852886e+38); "
#define SUM_OF(exponentials) "s:ReduceSum[keep_dims=1](" exponentials ")"
#define LOGARITHM_OF(sum) "l:ElementWiseLog(" sum ")"

odlc_status pass_fuse_softmax(struct pass_context *c, struct graph *g)
{
    static const char *const formulas[] = {
        LOWERED "e = ElementWiseExp(d); e / " SUM_OF("e"),
        "e = ElementWiseExp(x); e / " SUM_OF("e"),
        LOWERED "d - " LOGARITHM_OF(SUM_OF("ElementWiseExp(d)")),
        "x - " LOGARITHM_OF(SUM_OF("ElementWiseExp(x)")),
        SHIFTED "ElementWiseExp(x - " LOGARITHM_OF(SUM_OF("ElementWiseExp(x - k)")) " - k)",
        SHIFTED "x - " LOGARITHM_OF(SUM_OF("ElementWiseExp(x - k)")) " - k",
    };
    const struct fusion f = {.formulas = formulas, .n_formulas = COUNT_OF(formulas), .make = make};
    return fusion_run(c, g, &f);
}
