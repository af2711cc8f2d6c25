/* SPDX-License-Identifier: Apache-2.0 */
/* A reduction, and the Reshape that gives it its axes back as ones, are a reduction that keeps them. A largest value
 * that is at least -infinity, as JAX writes it, is a largest value. */
#include <math.h>

#include "op/axes.h"
#include "op/op.h"
#include "op/params.h"
#include "pass/fusion.h"

pass_fn pass_fuse_reduction;

static bool make(struct fusing *f, const struct occurrence *o)
{
    struct graph *g = f->g;
    const struct node *reduction = graph_node(g, o->nodes['r' - 'a']);
    const tensor_id x = occurrence_tensor(o, 'x');
    const struct shape *shape = &graph_tensor(g, x)->type->shape;
    const struct tensor *result = node_output(g, graph_node(g, o->steps[0]), 0);
    const double bound = occurrence_number(o, 'b');
    uint32_t axes, count;
    if (!node_axes(reduction, shape->rank, &axes) || (!isnan(bound) && bound != -(double)INFINITY))
        return false;
    const struct shape kept = reduced_shape(shape, axes, true);
    if (!shape_equal(&kept, &result->type->shape))
        return false;
    const enum op_id op = reduction->op->id;
    const int64_t *listed = node_ints(reduction, PARAM_axes, &count);
    const struct shape rank1 = SHAPE(count);
    struct node *fused = fusion_replace(f, o, op, &x, 1);
    node_set_ints(g, fused, PARAM_axes, &rank1, listed);
    node_set_int(fused, PARAM_keep_dims, 1);
    return true;
}

#define REDUCED(op) "r:" op "[keep_dims=0](x)"

odlc_status pass_fuse_reduction(struct pass_context *c, struct graph *g)
{
    static const char *const formulas[] = {
        "Reshape(" REDUCED("ReduceMax") ")",  "Reshape(ElementWiseMaximum(" REDUCED("ReduceMax") ", #b))",
        "Reshape(" REDUCED("ReduceMean") ")", "Reshape(" REDUCED("ReduceMin") ")",
        "Reshape(" REDUCED("ReduceProd") ")", "Reshape(" REDUCED("ReduceSum") ")"};
    const struct fusion f = {.formulas = formulas, .n_formulas = COUNT_OF(formulas), .make = make};
    return fusion_run(c, g, &f);
}
