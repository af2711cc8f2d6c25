/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax and LogSoftmax along one axis, in the shifted form that cannot overflow. Exponentials and sums are doubles
 * where results become integers or logarithms. */
#include <math.h>

#include "backend/cpu/cpu_loop.h"
#include "backend/cpu/cpu_quick.h"
#include "backend/cpu/cpu_series.h"
#include "op/axes.h"
#include "op/op.h"

struct softmax {
    double beta;
    bool log, quick;      /* quick: in float32 */
    int64_t along, inner; /* elements of the axis, and of what is behind it */
};

struct softmax_run {
    const struct softmax *how;
    const float *x;
    float *y;
};

/* Elements of the inner axes that are normalized together, or partial sums of a row. */
enum { LANES = 64 };

struct lanes {
    double max[LANES], sum[LANES];
};

static CLONED void take_largest(const float *restrict x, double beta, double *restrict max, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const double a = beta * (double)x[i];
        max[i] = a > max[i] || a != a ? a : max[i];
    }
}

/* Exponentials become results, where no logarithms are wanted. */
static CLONED void add_exponentials(const float *restrict x, double beta, const double *restrict max,
                                    double *restrict sum, float *restrict y, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const double e = series_exp(beta * (double)x[i] - max[i]);
        sum[i] += e;
        y[i] = (float)e;
    }
}

/* Rounded twice, as the reference does. */
static CLONED void give_shares(const double *restrict sum, float *restrict y, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = (float)((double)y[i] * sum[i]);
}

static CLONED void give_logarithms(const float *restrict x, double beta, const double *restrict max,
                                   const double *restrict sum, float *restrict y, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = (float)((double)(float)(beta * (double)x[i] - max[i]) - sum[i]);
}

static void clear(struct lanes *l)
{
    for (int i = 0; i < LANES; i++) {
        l->max[i] = -INFINITY;
        l->sum[i] = 0;
    }
}

static void give(const struct softmax *s, const float *x, const struct lanes *l, float *y, int64_t count)
{
    if (s->log)
        give_logarithms(x, s->beta, l->max, l->sum, y, count);
    else
        give_shares(l->sum, y, count);
}

/* What the results are multiplied with, or less. */
static double total(const struct softmax *s, double sum)
{
    return s->log ? log(sum) : 1 / sum;
}

/* A long row: lanes are taken turns by its elements, and joined. */
static void normalize_row(const struct softmax *s, const float *x, float *y)
{
    struct lanes l;
    double max = -INFINITY, sum = 0;
    clear(&l);
    for (int64_t i = 0; i < s->along; i += LANES)
        take_largest(x + i, s->beta, l.max, min_i64(LANES, s->along - i));
    for (int i = 0; i < LANES; i++)
        max = l.max[i] > max || l.max[i] != l.max[i] ? l.max[i] : max;
    for (int i = 0; i < LANES; i++)
        l.max[i] = max;
    for (int64_t i = 0; i < s->along; i += LANES)
        add_exponentials(x + i, s->beta, l.max, l.sum, y + i, min_i64(LANES, s->along - i));
    for (int i = 0; i < LANES; i++)
        sum += l.sum[i];
    sum = total(s, sum);
    for (int i = 0; i < LANES; i++)
        l.sum[i] = sum;
    for (int64_t i = 0; i < s->along; i += LANES)
        give(s, x + i, &l, y + i, min_i64(LANES, s->along - i));
}

/* ---- in float32 ---- */

/* Less than 1e-34 is nothing: shares of it would be denormal numbers, with which processors are slow. */
static inline float part_of_largest(float exponent)
{
    const float e = quick_exp(exponent);
    return exponent < -80 ? 0 : e;
}

enum { VECTOR = 16 }; /* partial results of a row */

static CLONED void normalize_row_quickly(const float *restrict x, float beta, float *restrict y, int64_t along)
{
    const int64_t whole = along - along % VECTOR;
    float lanes[VECTOR], most, sum;
    for (int i = 0; i < VECTOR; i++)
        lanes[i] = -INFINITY;
    for (int64_t k = 0; k < whole; k += VECTOR)
        for (int i = 0; i < VECTOR; i++)
            lanes[i] = x[k + i] > lanes[i] ? x[k + i] : lanes[i];
    for (int width = VECTOR / 2; width > 0; width /= 2)
        for (int i = 0; i < width; i++)
            lanes[i] = lanes[i + width] > lanes[i] ? lanes[i + width] : lanes[i];
    most = lanes[0];
    for (int64_t k = whole; k < along; k++)
        most = x[k] > most ? x[k] : most;
    for (int64_t k = 0; k < along; k++)
        y[k] = part_of_largest(beta * (x[k] - most));
    for (int i = 0; i < VECTOR; i++)
        lanes[i] = 0;
    for (int64_t k = 0; k < whole; k += VECTOR)
        for (int i = 0; i < VECTOR; i++)
            lanes[i] += y[k + i];
    for (int width = VECTOR / 2; width > 0; width /= 2)
        for (int i = 0; i < width; i++)
            lanes[i] += lanes[i + width];
    sum = lanes[0];
    for (int64_t k = whole; k < along; k++)
        sum += y[k];
    const float share = 1 / sum;
    for (int64_t k = 0; k < along; k++)
        y[k] *= share;
}

static CLONED void normalize_columns_quickly(const float *restrict x, float beta, int64_t inner, float *restrict y,
                                             int64_t along, int64_t count)
{
    float most[LANES], sum[LANES];
    for (int64_t i = 0; i < count; i++) {
        most[i] = -INFINITY;
        sum[i] = 0;
    }
    for (int64_t k = 0; k < along; k++)
        for (int64_t i = 0; i < count; i++)
            most[i] = x[k * inner + i] > most[i] ? x[k * inner + i] : most[i];
    for (int64_t k = 0; k < along; k++)
        for (int64_t i = 0; i < count; i++) {
            const float e = part_of_largest(beta * (x[k * inner + i] - most[i]));
            sum[i] += e;
            y[k * inner + i] = e;
        }
    for (int64_t i = 0; i < count; i++)
        sum[i] = 1 / sum[i];
    for (int64_t k = 0; k < along; k++)
        for (int64_t i = 0; i < count; i++)
            y[k * inner + i] *= sum[i];
}

/* ---- tiles ---- */

/* `count` columns, whose elements are `inner` apart. */
static void normalize_columns(const struct softmax *s, int64_t inner, const float *x, float *y, int64_t count)
{
    struct lanes l;
    if (s->quick) {
        normalize_columns_quickly(x, (float)s->beta, inner, y, s->along, count);
        return;
    }
    clear(&l);
    for (int64_t k = 0; k < s->along; k++)
        take_largest(x + k * inner, s->beta, l.max, count);
    for (int64_t k = 0; k < s->along; k++)
        add_exponentials(x + k * inner, s->beta, l.max, l.sum, y + k * inner, count);
    for (int64_t i = 0; i < count; i++)
        l.sum[i] = total(s, l.sum[i]);
    for (int64_t k = 0; k < s->along; k++)
        give(s, x + k * inner, &l, y + k * inner, count);
}

enum { SHORT = 16 }; /* rows of fewer elements are normalized many at once */

/* `count` short rows, as columns of a tile. */
static void normalize_rows(const struct softmax *s, const float *x, float *y, int64_t count)
{
    float tile[SHORT * LANES], shares[SHORT * LANES];
    for (int64_t k = 0; k < s->along; k++)
        for (int64_t i = 0; i < count; i++)
            tile[k * LANES + i] = x[i * s->along + k];
    normalize_columns(s, LANES, tile, shares, count);
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < s->along; k++)
            y[i * s->along + k] = shares[k * LANES + i];
}

/* Indices of the outer axes. */
static void normalize_part(void *user, int64_t first, int64_t last)
{
    const struct softmax_run *r = user;
    const struct softmax *s = r->how;
    const bool rows = s->inner == 1, together = rows && s->along < SHORT;
    for (int64_t o = first, count = 1; o < last; o += count) {
        const float *x = r->x + o * s->along * s->inner;
        float *y = r->y + o * s->along * s->inner;
        count = together ? min_i64(LANES, last - o) : 1;
        if (together)
            normalize_rows(s, x, y, count);
        else if (rows && s->quick)
            normalize_row_quickly(x, (float)s->beta, y, s->along);
        else if (rows)
            normalize_row(s, x, y);
        else
            for (int64_t i = 0; i < s->inner; i += LANES)
                normalize_columns(s, s->inner, x + i, y + i, min_i64(LANES, s->inner - i));
    }
}

enum { LEAST_ELEMENTS = 1 << 12 }; /* fewer are not worth another thread */

static odlc_status run(const struct cpu_step *step, const struct backend_scope *scope, const struct buffer *in,
                       struct buffer *out)
{
    const struct loop_operands o = loop_operands(step, scope, in, out);
    const struct softmax *s = step->prepared;
    const int64_t each = s->along * s->inner;
    struct softmax_run r = {s, o.in[0].data, o.out[0].data};
    threads_share((int64_t)shape_count(&o.in[0].shape) / each, LEAST_ELEMENTS / each + 1, normalize_part, &r);
    return ODLC_OK;
}

static odlc_status prepare(struct cpu_making *m)
{
    const struct node *n = making_node(m);
    const struct shape *shape = &node_input(m->scope->graph, n, 0)->type->shape;
    struct softmax *s = arena_new(m->scope->arena, struct softmax);
    const double beta = node_float(n, PARAM_beta, 1);
    const bool log = n->op->id == OP_LogSoftmax;
    uint32_t axis;
    if (!node_axis(n, (int64_t)shape->rank - 1, shape->rank, &axis))
        return ODLC_ERR_INTERNAL;
    *s = (struct softmax){.beta = beta,
                          .log = log,
                          .quick = beta > 0 && !log && cpu_gives_floats(m->scope->graph, n),
                          .along = shape->dims[axis],
                          .inner = (int64_t)shape_count_range(shape, axis + 1, shape->rank)};
    m->step->prepared = s;
    return loop_prepare(m, run);
}

static const char *refuse(const struct graph *g, const struct node *n)
{
    uint32_t axis;
    const char *types = cpu_refuse_types(g, n);
    if (types)
        return types;
    const uint32_t rank = node_input(g, n, 0)->type->shape.rank;
    return node_axis(n, (int64_t)rank - 1, rank, &axis) ? NULL : "its axis is none of the input's";
}

const struct cpu_op cpu_softmax = {.refuse = refuse, .prepare = prepare};
