/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes over float32 tensors, for the families that multiply and add. */
#ifndef TESTS_OP_FLOAT_FIXTURE_H
#define TESTS_OP_FLOAT_FIXTURE_H

#include <math.h>

#include "node_fixture.h"

static inline tensor_id floats(struct fixture *f, struct shape shape)
{
    uint64_t count = shape_count(&shape);
    float *values = arena_array(f->arena, float, count);
    for (uint64_t i = 0; i < count; i++)
        values[i] = (float)draw(f, -500, 500) / 100;
    return input_with(f, DT_FLOAT32, shape, values);
}

/* A graph input whose elements nobody reads. */
static inline tensor_id typed(struct fixture *f, enum dtype dtype, struct shape shape)
{
    struct type type = {.dtype = dtype, .shape = shape};
    return graph_add_tensor(f->graph, "in", TENSOR_INPUT, &type);
}

static inline const float *elements_of(const struct fixture *f, tensor_id id)
{
    return f->data[id];
}

static inline const struct shape *shape_of(const struct fixture *f, tensor_id id)
{
    return &graph_tensor(f->graph, id)->type->shape;
}

static inline tensor_id end_node(struct fixture *f)
{
    tensor_id out;
    ck_assert_int_eq(build_end(&f->build, NULL, &out), ODLC_OK);
    return out;
}

static inline void end_fails(struct fixture *f)
{
    tensor_id out;
    size_t before = f->diags.errors;
    ck_assert_int_eq(build_end(&f->build, NULL, &out), ODLC_ERR_INVALID);
    ck_assert_uint_eq(f->diags.errors, before + 1);
}

static inline const float *values_of(struct fixture *f, tensor_id out)
{
    return run_node(f, producer_of(f, out), ODLC_OK)->data;
}

static inline uint64_t macs_of(const struct fixture *f, tensor_id out)
{
    const struct node *n = producer_of(f, out);
    return n->op->macs ? n->op->macs(f->graph, n) : 0;
}

static inline void check_shape(const struct fixture *f, tensor_id out, struct shape expected)
{
    ck_assert_msg(shape_equal(shape_of(f, out), &expected), "%s instead of %s", shape_text(f->arena, shape_of(f, out)),
                  shape_text(f->arena, &expected));
}

/* Elements are millions: an assertion writes to a file, that it holds, too. */
static inline void check_near(float got, double expected)
{
    if (!(fabs((double)got - expected) <= 1e-5 * (1 + fabs(expected))))
        ck_abort_msg("%.9g instead of %.17g", (double)got, expected);
}

#endif
