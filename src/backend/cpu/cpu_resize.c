/* SPDX-License-Identifier: Apache-2.0 */
/* Resizing channels-last images: channels are the inner loop. Sums are in double, as in the reference. */
#include <assert.h>
#include <string.h>

#include "backend/cpu/cpu_loop.h"
#include "kernel/resize.h"

struct job {
    const struct resize *how;
    const float *x;
    float *y;
};

enum { BLOCK = 256 }; /* channels whose sums are kept at once */

struct block {
    const float *x; /* the first channel of the first pixel */
    int64_t channels;
    double sum[BLOCK];
};

static CLONED void add_weighted(const float *restrict x, double weight, double *restrict sum, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        sum[i] += weight * (double)x[i];
}

static CLONED void store_sums(const double *restrict sum, float *restrict y, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = (float)sum[i];
}

/* The taps of the axes from `axis` on meet in `weight` and `index`. */
static void add_taps(const struct resize *r, uint32_t axis, const int64_t at[SPATIAL_MAX], double weight, int64_t index,
                     struct block *b)
{
    if (axis == r->axes) {
        add_weighted(b->x + index * r->channels, weight, b->sum, b->channels);
        return;
    }
    assert(axis < SPATIAL_MAX);
    const struct resample_taps *t = &r->taps[axis];
    for (int64_t i = at[axis] * t->width; i < (at[axis] + 1) * t->width; i++)
        if (t->weight[i] != 0)
            add_taps(r, axis + 1, at, weight * t->weight[i], index * r->in[axis] + t->index[i], b);
}

static void interpolate(const struct job *j, const int64_t at[SPATIAL_MAX], float *y)
{
    struct block b;
    for (int64_t c = 0; c < j->how->channels; c += b.channels) {
        b.x = j->x + c;
        b.channels = min_i64(BLOCK, j->how->channels - c);
        memset(b.sum, 0, (size_t)b.channels * sizeof *b.sum);
        add_taps(j->how, 0, at, 1, 0, &b);
        store_sums(b.sum, y + c, b.channels);
    }
}

static void move_nearest(const struct job *j, const int64_t at[SPATIAL_MAX], float *y)
{
    const struct resize *r = j->how;
    int64_t index = 0;
    for (uint32_t i = 0; i < r->axes; i++)
        index = index * r->in[i] + r->taps[i].index[at[i]];
    memcpy(y, j->x + index * r->channels, (size_t)r->channels * sizeof *y);
}

/* Positions [first, last) of the first axis. */
static void resize_rows(void *user, int64_t first, int64_t last)
{
    const struct job *j = user;
    const struct resize *r = j->how;
    int64_t at[SPATIAL_MAX];
    float *y = j->y + first * r->out[1] * r->out[2] * r->channels;
    for (at[0] = first; at[0] < last; at[0]++)
        for (at[1] = 0; at[1] < r->out[1]; at[1]++)
            for (at[2] = 0; at[2] < r->out[2]; at[2]++, y += r->channels) {
                if (r->nearest)
                    move_nearest(j, at, y);
                else
                    interpolate(j, at, y);
            }
}

static odlc_status run(const struct cpu_step *step, const struct backend_scope *scope, const struct buffer *in,
                       struct buffer *out)
{
    const struct loop_operands o = loop_operands(step, scope, in, out);
    const struct resize *r = step->prepared;
    const struct shape *x = &o.in[0].shape, *y = &o.out[0].shape;
    struct job j = {r, o.in[0].data, o.out[0].data};
    for (int64_t b = 0; b < x->dims[0]; b++) {
        threads_share(r->out[0], 1, resize_rows, &j);
        j.x += shape_count_range(x, 1, x->rank);
        j.y += shape_count_range(y, 1, y->rank);
    }
    return ODLC_OK;
}

static odlc_status prepare(struct cpu_making *m)
{
    const struct graph *g = m->scope->graph;
    const struct node *n = making_node(m);
    struct resize *r = arena_new(m->scope->arena, struct resize);
    TRY(resize_read(m->scope->arena, n, &node_input(g, n, 0)->type->shape, &node_output(g, n, 0)->type->shape, r));
    m->step->prepared = r;
    return loop_prepare(m, run);
}

const struct cpu_op cpu_resize = {.refuse = cpu_refuse_types, .prepare = prepare};
