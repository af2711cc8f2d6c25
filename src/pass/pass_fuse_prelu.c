/* SPDX-License-Identifier: Apache-2.0 */
/* x where it is positive, and a · x where it is not, is Prelu, of a constant a. */
#include "op/op.h"
#include "pass/fusion.h"
#include "pass/parts.h"

pass_fn pass_fuse_prelu;

/* Whether all of a, a constant or a number, is above 0 and at most 1. */
static bool is_share(const struct fusing *f, const struct occurrence *o)
{
    const tensor_id a = occurrence_tensor(o, 'a');
    if (a == NO_TENSOR)
        return occurrence_number(o, 'a') > 0 && occurrence_number(o, 'a') <= 1;
    const struct tensor *t = graph_tensor(f->g, a);
    const uint64_t count = shape_count(&t->type->shape);
    const double *values = view_load(f->scratch, t->view, DT_FLOAT64);
    for (uint64_t i = 0; i < count; i++)
        if (!(values[i] > 0 && values[i] <= 1))
            return false;
    return true;
}

/* The constant a, or -a, or one of that number. */
static tensor_id slope_of(struct fusing *f, const struct occurrence *o, double sign)
{
    const tensor_id a = occurrence_tensor(o, 'a');
    struct arena *arena = f->g->arena;
    if (a != NO_TENSOR && sign > 0)
        return a;
    const struct tensor *x = graph_tensor(f->g, occurrence_tensor(o, 'x'));
    const struct shape one = {.rank = 0}, *shape = a == NO_TENSOR ? &one : &graph_tensor(f->g, a)->type->shape;
    const uint64_t count = shape_count(shape);
    const double number = occurrence_number(o, 'a');
    const double *values = a == NO_TENSOR ? &number : view_load(f->scratch, graph_tensor(f->g, a)->view, DT_FLOAT64);
    double *slope = arena_array(arena, double, count);
    for (uint64_t i = 0; i < count; i++)
        slope[i] = sign * values[i];
    const struct view view = view_of(slope, DT_FLOAT64, shape);
    const char *name =
        a == NO_TENSOR ? arena_printf(arena, "%s_slope", x->name) : tensor_wanted_name(graph_tensor(f->g, a));
    return graph_add_constant(f->g, name, x->type->dtype, &view);
}

static bool make_signed(struct fusing *f, const struct occurrence *o, double sign)
{
    if (!fusion_keeps_type(f->g, o, 'x'))
        return false;
    const tensor_id inputs[] = {occurrence_tensor(o, 'x'), slope_of(f, o, sign)};
    return fusion_replace(f, o, OP_Prelu, inputs, COUNT_OF(inputs)) != NULL;
}

static bool make(struct fusing *f, const struct occurrence *o)
{
    return make_signed(f, o, 1);
}

static bool make_negated(struct fusing *f, const struct occurrence *o)
{
    return make_signed(f, o, -1);
}

/* The larger of x and a · x is x where it is positive. */
static bool make_of_larger(struct fusing *f, const struct occurrence *o)
{
    return is_share(f, o) && make(f, o);
}

odlc_status pass_fuse_prelu(struct pass_context *c, struct graph *g)
{
    static const char *const apart[] = {"Relu(x) - @a * Relu(-1 * x)",
                                        "ElementWiseMaximum(x, 0) + @a * ElementWiseMinimum(x, 0)",
                                        "ElementWiseMaximum(x, 0) + #a * ElementWiseMinimum(x, 0)",
                                        "Relu(x) + @a * ElementWiseMinimum(x, 0)",
                                        "Relu(x) + #a * ElementWiseMinimum(x, 0)",
                                        "Relu(x) + 0.5 * @a * (x - ElementWiseAbs(x))",
                                        "Relu(x) + 0.5 * #a * (x - ElementWiseAbs(x))"};
    static const char *const negated[] = {"Relu(x) + @a * Relu(-1 * x)", "Relu(x) + #a * Relu(-1 * x)"};
    static const char *const larger[] = {"ElementWiseMaximum(x, @a * x)", "ElementWiseMaximum(x, #a * x)"};
    const struct fusion fusions[] = {{apart, COUNT_OF(apart), make},
                                     {negated, COUNT_OF(negated), make_negated},
                                     {larger, COUNT_OF(larger), make_of_larger}};
    return fusions_run(c, g, fusions, COUNT_OF(fusions));
}
