/* SPDX-License-Identifier: Apache-2.0 */
/* min(max(x, a), b), by numbers a < b, is ReluMinMax, in either order, and where a Relu is the maximum; so is a choice
 * that leaves x where it is within a bound, for NaN stays NaN then. */
#include <math.h>

#include "op/params.h"
#include "pass/fusion.h"

pass_fn pass_fuse_clamp;

/* The lower bound is 0 where a Relu gives it, the upper one is always a number. */
static bool make(struct fusing *f, const struct occurrence *o)
{
    const double given = occurrence_number(o, 'a'), least = isnan(given) ? 0 : given;
    const double greatest = occurrence_number(o, 'b');
    struct node *fused = least < greatest ? fusion_of_x(f, o, OP_ReluMinMax) : NULL;
    if (!fused)
        return false;
    node_set_float(fused, PARAM_min_value, least);
    node_set_float(fused, PARAM_max_value, greatest);
    return true;
}

/* The choice between x and a number. */
static bool make_extreme(struct fusing *f, const struct occurrence *o, enum op_id op, double number)
{
    if (!fusion_keeps_type(f->g, o, 'x'))
        return false;
    const tensor_id x = occurrence_tensor(o, 'x');
    const char *name = arena_printf(f->g->arena, "%s_bound", graph_tensor(f->g, x)->name);
    const struct view view = view_splat_float(f->g->arena, DT_FLOAT64, &(struct shape){.rank = 0}, number);
    const tensor_id inputs[] = {x, graph_add_constant(f->g, name, graph_tensor(f->g, x)->type->dtype, &view)};
    return fusion_replace(f, o, op, inputs, COUNT_OF(inputs)) != NULL;
}

static bool make_maximum(struct fusing *f, const struct occurrence *o)
{
    return make_extreme(f, o, OP_ElementWiseMaximum, occurrence_number(o, 'a'));
}

static bool make_minimum(struct fusing *f, const struct occurrence *o)
{
    return make_extreme(f, o, OP_ElementWiseMinimum, occurrence_number(o, 'b'));
}

odlc_status pass_fuse_clamp(struct pass_context *c, struct graph *g)
{
    static const char *const above[] = {"ElementWiseSelect(ElementWiseLess(x, #a), #a, x)",
                                        "ElementWiseSelect(ElementWiseLessEqual(x, #a), #a, x)",
                                        "ElementWiseSelect(ElementWiseGreater(#a, x), #a, x)",
                                        "ElementWiseSelect(ElementWiseGreaterEqual(#a, x), #a, x)"};
    static const char *const below[] = {"ElementWiseSelect(ElementWiseGreater(x, #b), #b, x)",
                                        "ElementWiseSelect(ElementWiseGreaterEqual(x, #b), #b, x)",
                                        "ElementWiseSelect(ElementWiseLess(#b, x), #b, x)",
                                        "ElementWiseSelect(ElementWiseLessEqual(#b, x), #b, x)"};
    static const char *const both[] = {"ElementWiseMinimum(ElementWiseMaximum(x, #a), #b)",
                                       "ElementWiseMaximum(ElementWiseMinimum(x, #b), #a)",
                                       "ElementWiseMinimum(Relu(x), #b)", "Relu(ElementWiseMinimum(x, #b))"};
    const struct fusion fusions[] = {
        {above, COUNT_OF(above), make_maximum}, {below, COUNT_OF(below), make_minimum}, {both, COUNT_OF(both), make}};
    return fusions_run(c, g, fusions, COUNT_OF(fusions));
}
