/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions along neighbouring axes, accumulated in double. */
#include <math.h>

#include "backend/cpu/cpu_loop.h"
#include "op/op.h"

/* Partial results of a row, or results of columns. */
enum { LANES = 32 };

typedef void take_fn(const float *x, double *into, int64_t count);

/* Takes elements into accumulators, and accumulators into others. */
#define REDUCTION(name, take, join)                                                               \
    static CLONED void take_##name(const float *restrict x, double *restrict into, int64_t count) \
    {                                                                                             \
        for (int64_t i = 0; i < count; i++) {                                                     \
            const double a = (double)x[i], acc = into[i];                                         \
            into[i] = (take);                                                                     \
        }                                                                                         \
    }                                                                                             \
    static double join_##name(const double *lanes)                                                \
    {                                                                                             \
        double acc = lanes[0];                                                                    \
        for (int i = 1; i < LANES; i++) {                                                         \
            const double a = lanes[i];                                                            \
            acc = (join);                                                                         \
        }                                                                                         \
        return acc;                                                                               \
    }

REDUCTION(most, a > acc || a != a ? a : acc, a > acc || a != a ? a : acc)
REDUCTION(least, a < acc || a != a ? a : acc, a < acc || a != a ? a : acc)
REDUCTION(product, (acc * a), (acc * a))
REDUCTION(sum, acc + a, acc + a)
REDUCTION(squares, acc + a * a, acc + a)

struct reduction {
    take_fn *take;
    double (*join)(const double *lanes);
    double start, divisor;
    int64_t outer, along, inner;
};

static struct reduction reduction_of(enum op_id id)
{
    switch (id) {
    case OP_ReduceMax:
        return (struct reduction){.take = take_most, .join = join_most, .start = -INFINITY};
    case OP_ReduceMin:
        return (struct reduction){.take = take_least, .join = join_least, .start = INFINITY};
    case OP_ReduceProd:
        return (struct reduction){.take = take_product, .join = join_product, .start = 1};
    case OP_ReduceSumSquare:
        return (struct reduction){.take = take_squares, .join = join_squares};
    default:
        return (struct reduction){.take = take_sum, .join = join_sum};
    }
}

struct reduction_run {
    const struct reduction *how;
    const float *x;
    float *y;
};

static int64_t blocks_of(const struct reduction *r)
{
    return r->inner == 1 ? 1 : ceil_div(r->inner, LANES);
}

static void start(const struct reduction *r, double *lanes)
{
    for (int i = 0; i < LANES; i++)
        lanes[i] = r->start;
}

static float reduce_row(const struct reduction *r, const float *x)
{
    double lanes[LANES];
    start(r, lanes);
    for (int64_t i = 0; i < r->along; i += LANES)
        r->take(x + i, lanes, min_i64(LANES, r->along - i));
    return (float)(r->join(lanes) / r->divisor);
}

static void reduce_columns(const struct reduction *r, const float *x, float *y, int64_t count)
{
    double lanes[LANES];
    start(r, lanes);
    for (int64_t k = 0; k < r->along; k++)
        r->take(x + k * r->inner, lanes, count);
    for (int64_t i = 0; i < count; i++)
        y[i] = (float)(lanes[i] / r->divisor);
}

/* Blocks [first, last), counted through the outer axes. */
static void reduce_part(void *user, int64_t first, int64_t last)
{
    const struct reduction_run *run = user;
    const struct reduction *r = run->how;
    const int64_t blocks = blocks_of(r);
    for (int64_t i = first; i < last; i++) {
        const int64_t outer = i / blocks, column = i % blocks * LANES;
        const float *x = run->x + outer * r->along * r->inner + column;
        float *y = run->y + outer * r->inner + column;
        if (r->inner == 1)
            *y = reduce_row(r, x);
        else
            reduce_columns(r, x, y, min_i64(LANES, r->inner - column));
    }
}

enum { LEAST_ELEMENTS = 1 << 14 }; /* fewer are not worth another thread */

static odlc_status run(const struct cpu_step *step, const struct backend_scope *scope, const struct buffer *in,
                       struct buffer *out)
{
    const struct reduction *r = step->prepared;
    struct reduction_run run = {r, in[0].data, out[0].data};
    (void)scope;
    threads_share(r->outer * blocks_of(r), LEAST_ELEMENTS / (r->along * min_i64(r->inner, LANES)) + 1, reduce_part,
                  &run);
    return ODLC_OK;
}

static const char *refuse(const struct graph *g, const struct node *n)
{
    uint32_t first, end;
    const char *types = cpu_refuse_types(g, n);
    if (types)
        return types;
    const struct tensor *x = node_input(g, n, 0);
    if (x->kind == TENSOR_STATIC || shape_count(&x->type->shape) == 0)
        return "its input is constant or has no elements";
    return axes_stretch(n, &x->type->shape, &first, &end) ? NULL : "its axes are no neighbours";
}

static odlc_status prepare(struct cpu_making *m)
{
    const struct node *n = making_node(m);
    const struct shape *x = &node_input(m->scope->graph, n, 0)->type->shape;
    struct reduction *r = arena_new(m->scope->arena, struct reduction);
    uint32_t first, end;
    if (!axes_stretch(n, x, &first, &end))
        return ODLC_ERR_INTERNAL;
    *r = reduction_of(n->op->id);
    r->outer = (int64_t)shape_count_range(x, 0, first);
    r->along = (int64_t)shape_count_range(x, first, end);
    r->inner = (int64_t)shape_count_range(x, end, x->rank);
    r->divisor = n->op->id == OP_ReduceMean ? (double)r->along : 1;
    m->step->loop = run;
    m->step->prepared = r;
    return ODLC_OK;
}

const struct cpu_op cpu_reduction = {.refuse = refuse, .prepare = prepare};
