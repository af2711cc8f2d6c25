/* SPDX-License-Identifier: Apache-2.0 */
/* x / √max(Σ x², ε) is L2Norm; where the root is what has a lower bound, that bound's square is ε,
 * and where its reciprocal has an upper one, the reciprocal of the square. */
#include <float.h>
#include <math.h>

#include "op/axes.h"
#include "op/op.h"
#include "op/params.h"
#include "pass/fusion.h"

pass_fn pass_fuse_l2_norm;

/* ε; negative: it has none that a float32 holds. */
static double epsilon_of(const struct graph *g, const struct occurrence *o)
{
    const node_id clamp = o->nodes['c' - 'a'];
    const double least = occurrence_number(o, 'e'), of_root = occurrence_number(o, 'r'),
                 most = occurrence_number(o, 'q');
    double epsilon = isnan(least) ? 0 : least;
    if (!isnan(of_root))
        epsilon = of_root * of_root;
    if (!isnan(most))
        epsilon = most > 0 ? 1 / (most * most) : -1;
    if (clamp != NO_NODE) {
        const double low = node_float(graph_node(g, clamp), PARAM_min_value, -1);
        if (low <= 0 || node_float(graph_node(g, clamp), PARAM_max_value, 0) < FLT_MAX)
            return -1;
        epsilon = low * low;
    }
    return epsilon == 0 || (epsilon >= FLT_MIN && epsilon <= FLT_MAX) ? epsilon : -1;
}

static bool make(struct fusing *f, const struct occurrence *o)
{
    const struct graph *g = f->g;
    const struct node *sum = graph_node(g, o->nodes['s' - 'a']);
    const double epsilon = epsilon_of(g, o);
    uint32_t count, mask;
    const int64_t *axes = node_ints(sum, PARAM_axes, &count);
    if (epsilon < 0 || !node_axes(sum, node_input(g, sum, 0)->type->shape.rank, &mask))
        return false;
    const struct shape rank1 = SHAPE(count);
    struct node *fused = fusion_of_x(f, o, OP_L2Norm);
    if (!fused)
        return false;
    node_set_ints(f->g, fused, PARAM_axes, &rank1, axes);
    node_set_float(fused, PARAM_epsilon, epsilon);
    return true;
}

#define SQUARES "n = s:ReduceSum[keep_dims=1](x ^ 2); "
#define SQUARES_AT_ONCE "n = s:ReduceSumSquare[keep_dims=1](x); "
#define FORMS(squares)                                                                            \
    squares "x / ElementWiseMaximum(n, #e) ^ 0.5", squares "x / ElementWiseMaximum(n ^ 0.5, #r)", \
        squares "x / c:ReluMinMax(n ^ 0.5)", squares "x * ElementWiseMinimum(n ^ -0.5, #q)", squares "x / n ^ 0.5"

odlc_status pass_fuse_l2_norm(struct pass_context *c, struct graph *g)
{
    static const char *const formulas[] = {FORMS(SQUARES), FORMS(SQUARES_AT_ONCE)};
    const struct fusion f = {.formulas = formulas, .n_formulas = COUNT_OF(formulas), .make = make};
    return fusion_run(c, g, &f);
}
