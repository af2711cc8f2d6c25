/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/cpu/cpu_walk.h"

#include <string.h>

/* Runs shorter than this are not worth another thread. */
enum { LEAST_ELEMENTS = 1 << 14 };

/* The walk over the operands, of which threads take parts along the longest axis. Pointers are those of the run.
 *
 * Where a short last axis has operands of its own, such as channels, the elements of those are repeated for many rows,
 * which then are one run. */
struct walk {
    struct nd_loop loop;
    uint32_t axis;
    int64_t least; /* indices of the axis */
    span_fn *fn;
    const void *user;
    int64_t rows;             /* that are one run; 0: none are */
    char *tiles[ND_OPERANDS]; /* the repeated elements; NULL: the operand is whole, or one element */
};

/* ---- rows of a short axis ---- */

enum { RUN = 512 }; /* elements that are enough for a run */

static bool is_whole(const struct nd_loop *l, uint32_t k)
{
    return l->step[k][1] == 1 && l->step[k][0] == l->dims[1];
}

static bool is_repeated(const struct nd_loop *l, uint32_t k)
{
    return l->step[k][1] == 1 && l->step[k][0] == 0;
}

static bool is_one(const struct nd_loop *l, uint32_t k)
{
    return l->step[k][1] == 0 && l->step[k][0] == 0;
}

static void make_tiles(struct arena *arena, struct walk *w)
{
    const struct nd_loop *l = &w->loop;
    if (l->rank != 2 || l->dims[1] > RUN / 4 || l->dims[0] < 8)
        return;
    for (uint32_t k = 0; k < l->operands; k++)
        if (!is_whole(l, k) && !is_repeated(l, k) && !is_one(l, k))
            return;
    w->rows = min_i64(l->dims[0] / 4, RUN / l->dims[1]);
    w->axis = 0;
    for (uint32_t k = 0; k < l->operands; k++)
        if (is_repeated(l, k))
            w->tiles[k] = arena_alloc(arena, (size_t)(w->rows * l->dims[1]) * l->size[k]);
}

static void fill_tiles(const struct walk *w)
{
    for (uint32_t k = 0; k < w->loop.operands; k++) {
        const size_t row = (size_t)w->loop.dims[1] * w->loop.size[k];
        for (int64_t i = 0; w->tiles[k] && i < w->rows; i++)
            memcpy(w->tiles[k] + (size_t)i * row, w->loop.data[k], row);
    }
}

static void walk_rows(void *user, int64_t first, int64_t last)
{
    const struct walk *w = user;
    const struct nd_loop *l = &w->loop;
    struct span s = {.count = 0};
    for (int64_t row = first; row < last; row += w->rows) {
        s.count = min_i64(w->rows, last - row) * l->dims[1];
        for (uint32_t k = 0; k < l->operands; k++) {
            s.step[k] = l->step[k][1];
            s.data[k] = w->tiles[k] ? w->tiles[k] : (char *)l->data[k] + row * l->step[k][0] * l->size[k];
        }
        w->fn(&s, w->user);
    }
}

/* ---- all walks ---- */

static void walk_part(void *user, int64_t first, int64_t last)
{
    const struct walk *w = user;
    struct nd_loop part = w->loop;
    for (uint32_t k = 0; k < part.operands; k++)
        part.data[k] = (char *)part.data[k] + first * part.step[k][w->axis] * part.size[k];
    part.dims[w->axis] = last - first;
    nd_run_joined(&part, w->fn, w->user);
}

static odlc_status run_walk(const struct cpu_step *step, const struct backend_scope *scope, const struct buffer *in,
                            struct buffer *out)
{
    struct walk *w = step->prepared;
    const uint32_t *place = step->io.places;
    (void)scope;
    w->loop.data[0] = out[0].data;
    for (uint32_t k = 1; k < w->loop.operands; k++, place++)
        w->loop.data[k] = *place == PLACE_CONSTANT ? step->constants[k - 1].data : in[*place].data;
    const int64_t length = w->loop.rank ? w->loop.dims[w->axis] : 0;
    if (w->rows > 0) {
        fill_tiles(w);
        threads_share(length, w->least, walk_rows, w);
    } else if (length < 2 * w->least)
        nd_run_joined(&w->loop, w->fn, w->user);
    else
        threads_share(length, w->least, walk_part, w);
    return ODLC_OK;
}

static void add_operand(struct walk *w, const struct tensor *t, bool as_float)
{
    const struct buffer b = {.dtype = as_float ? DT_FLOAT32 : t->type->dtype, .shape = t->type->shape};
    nd_broadcast(&w->loop, &b);
}

static void make_walk(struct cpu_making *m, span_fn *fn, const void *user, bool as_floats)
{
    const struct graph *g = m->scope->graph;
    const struct node *n = making_node(m);
    const struct shape *shape = &node_output(g, n, 0)->type->shape;
    struct walk *w = arena_new(m->scope->arena, struct walk);
    nd_init(&w->loop, shape);
    add_operand(w, node_output(g, n, 0), as_floats);
    for (uint32_t i = 0; i < n->n_inputs && n->inputs[i] != NO_TENSOR; i++)
        add_operand(w, node_input(g, n, i), as_floats);
    nd_join(&w->loop);
    for (uint32_t i = 0; i < w->loop.rank; i++)
        if (w->loop.dims[i] > w->loop.dims[w->axis])
            w->axis = i;
    make_tiles(m->scope->arena, w);
    w->least = 1;
    if (shape_count(shape) > 1)
        w->least = LEAST_ELEMENTS / ((int64_t)shape_count(shape) / w->loop.dims[w->axis]) + 1;
    w->fn = fn;
    w->user = user;
    m->step->prepared = w;
}

odlc_status cpu_walk(struct cpu_making *m, span_fn *fn, const void *user)
{
    make_walk(m, fn, user, true);
    return loop_prepare(m, run_walk);
}

odlc_status cpu_walk_plain(struct cpu_making *m, span_fn *fn, const void *user)
{
    make_walk(m, fn, user, false);
    return loop_prepare_plain(m, run_walk);
}
