/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/batchnorm.h"

#include <math.h>

#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"
#include "op/params.h"

static tensor_id constant_of_doubles(struct lower *l, const char *name, tensor_id like, const double *values,
                                     const struct shape *shape)
{
    struct view view = view_of(values, DT_FLOAT64, shape);
    return graph_add_constant(l->b->graph, step_name(l, name), build_type(l->b, like)->dtype, &view);
}

/* Constant statistics: as the model has them, in double, rounded once. False when one of them is not constant. */
static bool constant_weights(struct lower *l, const struct batchnorm *n, tensor_id *weight, tensor_id *bias)
{
    const double *v[BN_STATISTICS];
    uint64_t count = 0;
    for (int i = 0; i < BN_STATISTICS; i++)
        if (!(v[i] = build_const_floats_in(l->scratch, l->b, n->given[i], &count)))
            return false;
    double *factor = arena_array(l->arena, double, count), *shift = arena_array(l->arena, double, count);
    for (uint64_t i = 0; i < count; i++) {
        factor[i] = v[BN_SCALE][i] / sqrt(v[BN_VARIANCE][i] + n->epsilon);
        shift[i] = v[BN_SHIFT][i] - v[BN_MEAN][i] * factor[i];
    }
    const struct shape shape = build_type(l->b, n->like_x[BN_SCALE])->shape;
    *weight = constant_of_doubles(l, "weight", n->x, factor, &shape);
    *bias = constant_of_doubles(l, "bias", n->x, shift, &shape);
    return true;
}

odlc_status batchnorm_weights(struct lower *l, const struct batchnorm *n, tensor_id *weight, tensor_id *bias)
{
    if (constant_weights(l, n, weight, bias))
        return ODLC_OK;
    struct emit s = {.l = l};
    const tensor_id *v = n->like_x;
    tensor_id raised = emit_binary(&s, OP_ElementWiseAdd, v[BN_VARIANCE], emit_scalar(&s, n->x, n->epsilon));
    tensor_id deviation = emit_unary(&s, OP_ElementWiseSquareRoot, raised);
    *weight = emit_binary(&s, OP_ElementWiseDivide, v[BN_SCALE], deviation);
    tensor_id moved = emit_binary(&s, OP_ElementWiseMultiply, v[BN_MEAN], *weight);
    *bias = emit_binary(&s, OP_ElementWiseSubtract, v[BN_SHIFT], moved);
    return s.status;
}

/* For a layer that the normalization is folded into. */
static void note(struct lower *l, enum param_id param, tensor_id statistic)
{
    uint64_t count = 0;
    const double *values = build_const_floats_in(l->scratch, l->b, statistic, &count);
    if (values && build_rank(l->b, statistic) == 1)
        node_set_floats(l->b->graph, &l->b->pending, param, (uint32_t)count, values);
}

odlc_status batchnorm_start(struct lower *l, const struct batchnorm *n, tensor_id image, const char *name)
{
    tensor_id weight, bias;
    TRY(batchnorm_weights(l, n, &weight, &bias));
    build_op(l->b, OP_Batchnorm, name);
    build_in(l->b, image);
    build_in(l->b, weight);
    build_in(l->b, bias);
    note(l, PARAM_beta, n->given[BN_SHIFT]);
    note(l, PARAM_gamma, n->given[BN_SCALE]);
    return ODLC_OK;
}
