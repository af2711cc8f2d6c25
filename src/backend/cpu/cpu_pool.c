/* SPDX-License-Identifier: Apache-2.0 */
/* Pools over channels-last images: blocks of channels stay in registers while the window is read. Averages are summed
 * in double, in the reference's order. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_loop.h"
#include "op/op.h"
#include "op/window.h"

/* Where the taps of an output position begin along one axis, and how many fall on the input. */
struct stretch {
    int64_t first, count; /* the input index of the first */
    int64_t counted;      /* in the average: perhaps padding too */
};

struct pool {
    struct window window;
    bool average, count_padding;
    const struct stretch *stretches[WINDOW_AXES]; /* per output index */
    const float *x;
    float *y;
};

/* ---- one row of the output ---- */

/* The input under a row of the output: `taps` rows of two axes, `step` elements apart, and columns. */
struct row {
    const float *x;
    int64_t taps[2], step[3];
    const struct stretch *columns;
    int64_t count, channels, counted; /* columns; the others' factors of the averages' divisors */
};

/* Runs through the taps of a column for the channels from c on. */
#define FOR_TAPS(r, column, c, tap)                                                                                \
    for (int64_t d_ = 0; d_ < (r)->taps[0]; d_++)                                                                  \
        for (int64_t h_ = 0; h_ < (r)->taps[1]; h_++)                                                              \
            for (const float *                                                                                     \
                     tap = (r)->x + d_ * (r)->step[0] + h_ * (r)->step[1] + (column)->first * (r)->channels + (c), \
                    *end_ = tap + (column)->count * (r)->step[2];                                                  \
                 tap < end_; tap += (r)->step[2])

/* Blocks of channels; the last one is moved back to be whole. */
enum { BLOCK = 16 };
#define FOR_BLOCKS(c, channels) \
    for (int64_t c = 0, next_ = 0; next_ < (channels); next_ += BLOCK, c = min_i64(next_, (channels)-BLOCK))

typedef float floats __attribute__((vector_size(BLOCK * sizeof(float))));
typedef int32_t masks __attribute__((vector_size(BLOCK * sizeof(int32_t))));
typedef float half_floats __attribute__((vector_size(BLOCK / 2 * sizeof(float))));
typedef double doubles __attribute__((vector_size(BLOCK / 2 * sizeof(double))));

static CLONED void largest_in_blocks(const struct row *r, float *y)
{
    const floats least = (floats){0} - INFINITY;
    for (const struct stretch *column = r->columns; column < r->columns + r->count; column++, y += r->channels)
        FOR_BLOCKS(c, r->channels)
        {
            floats most = least, x;
            FOR_TAPS(r, column, c, tap)
            {
                memcpy(&x, tap, sizeof x);
                const masks more = x > most;
                most = (floats)((more & (masks)x) | (~more & (masks)most));
            }
            memcpy(y + c, &most, sizeof most);
        }
}

static CLONED void largest_one_by_one(const struct row *r, float *y)
{
    for (const struct stretch *column = r->columns; column < r->columns + r->count; column++, y += r->channels)
        for (int64_t c = 0; c < r->channels; c++) {
            float most = -INFINITY;
            FOR_TAPS(r, column, c, tap)
            most = *tap > most ? *tap : most;
            y[c] = most;
        }
}

static CLONED void means_in_blocks(const struct row *r, float *y)
{
    for (const struct stretch *column = r->columns; column < r->columns + r->count; column++, y += r->channels)
        FOR_BLOCKS(c, r->channels)
        {
            const double count = (double)(r->counted * column->counted), divisor = count > 0 ? count : 1;
            doubles low = {0}, high = {0};
            half_floats x[2];
            FOR_TAPS(r, column, c, tap)
            {
                memcpy(x, tap, sizeof x);
                low += __builtin_convertvector(x[0], doubles);
                high += __builtin_convertvector(x[1], doubles);
            }
            x[0] = __builtin_convertvector(low / divisor, half_floats);
            x[1] = __builtin_convertvector(high / divisor, half_floats);
            memcpy(y + c, x, sizeof x);
        }
}

static CLONED void means_one_by_one(const struct row *r, float *y)
{
    for (const struct stretch *column = r->columns; column < r->columns + r->count; column++, y += r->channels)
        for (int64_t c = 0; c < r->channels; c++) {
            const double count = (double)(r->counted * column->counted);
            double sum = 0;
            FOR_TAPS(r, column, c, tap)
            sum += (double)*tap;
            y[c] = count > 0 ? (float)(sum / count) : 0;
        }
}

/* ---- all rows ---- */

/* Output rows [first, last), counted through batches and depths. */
static void pool_rows(void *user, int64_t first, int64_t last)
{
    const struct pool *p = user;
    const struct window_axis *a = p->window.axis;
    const int64_t channels = p->window.channels, line = a[2].in * channels, plane = a[1].in * line;
    const bool blocks = channels >= BLOCK;
    for (int64_t i = first; i < last; i++) {
        const struct stretch *depth = &p->stretches[0][i / a[1].out % a[0].out];
        const struct stretch *height = &p->stretches[1][i % a[1].out];
        const struct row r = {.x = p->x + i / a[1].out / a[0].out * a[0].in * plane + depth->first * plane +
                                   height->first * line,
                              .taps = {depth->count, height->count},
                              .step = {a[0].dilation * plane, a[1].dilation * line, a[2].dilation * channels},
                              .columns = p->stretches[2],
                              .count = a[2].out,
                              .channels = channels,
                              .counted = depth->counted * height->counted};
        float *y = p->y + i * a[2].out * channels;
        if (p->average)
            (blocks ? means_in_blocks : means_one_by_one)(&r, y);
        else
            (blocks ? largest_in_blocks : largest_one_by_one)(&r, y);
    }
}

static odlc_status run(const struct cpu_step *step, const struct backend_scope *scope, const struct buffer *in,
                       struct buffer *out)
{
    const struct loop_operands o = loop_operands(step, scope, in, out);
    struct pool p = *(const struct pool *)step->prepared;
    p.x = o.in[0].data;
    p.y = o.out[0].data;
    threads_share(p.window.batch * p.window.axis[0].out * p.window.axis[1].out, 1, pool_rows, &p);
    return ODLC_OK;
}

/* ---- preparing ---- */

static const struct stretch *stretches_of(struct arena *arena, const struct window_axis *a, bool padding)
{
    struct stretch *all = arena_array(arena, struct stretch, (size_t)a->out);
    for (int64_t at = 0; at < a->out; at++) {
        const int64_t start = at * a->stride - a->pad_before;
        int64_t first, last;
        window_clip(a, at, &first, &last);
        const int64_t with_padding = max_i64(min_i64(a->filter, a->in + a->pad_after - start), 0);
        all[at] = (struct stretch){.first = last > first ? start + first * a->dilation : 0,
                                   .count = last - first,
                                   .counted = padding ? with_padding : last - first};
    }
    return all;
}

static odlc_status prepare(struct cpu_making *m)
{
    const struct graph *g = m->scope->graph;
    const struct node *n = making_node(m);
    struct pool *p = arena_new(m->scope->arena, struct pool);
    p->average = n->op->id == OP_PoolAvg2d || n->op->id == OP_PoolAvg3d;
    p->count_padding = p->average && node_int(n, PARAM_count_pad_for_edges, 0) != 0;
    if (window_read_pool(&p->window, n, &node_input(g, n, 0)->type->shape) ||
        window_take(&p->window, &node_output(g, n, 0)->type->shape))
        return ODLC_ERR_INTERNAL;
    for (int i = 0; i < WINDOW_AXES; i++)
        p->stretches[i] = stretches_of(m->scope->arena, &p->window.axis[i], p->count_padding);
    m->step->prepared = p;
    return loop_prepare(m, run);
}

const struct cpu_op cpu_pool = {.refuse = cpu_refuse_types, .prepare = prepare};
