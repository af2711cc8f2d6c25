/* SPDX-License-Identifier: Apache-2.0 */
/* Concat: rows of each input go to their place in rows of the result, as they are stored, by a table that brings 8-bit
 * integers into the encoding of the result, or as float32. */
#include <string.h>

#include "backend/cpu/cpu_fixed.h"
#include "backend/cpu/cpu_loop.h"
#include "backend/cpu/cpu_table.h"
#include "ir/quant.h"
#include "op/axes.h"

enum { LEAST_BYTES = 1 << 16 }; /* fewer are not worth another thread */

struct concat {
    int64_t rows, pitch;    /* of the result; bytes */
    int64_t *lengths;       /* of each input's rows */
    const uint8_t **tables; /* of each input; NULL: its integers stay */
};

struct concat_run {
    const struct concat *how;
    const struct buffer *in;
    uint32_t n_inputs;
    uint8_t *y;
};

static void copy_rows(const struct byte_rows *r)
{
    for (int64_t i = 0; i < r->rows; i++)
        memcpy(r->y + i * r->y_pitch, r->x + i * r->x_pitch, (size_t)r->length);
}

static void concat_part(void *user, int64_t first, int64_t last)
{
    const struct concat_run *run = user;
    const struct concat *c = run->how;
    uint8_t *y = run->y + first * c->pitch;
    for (uint32_t i = 0; i < run->n_inputs; y += c->lengths[i++]) {
        const struct byte_rows rows = {.x = (const uint8_t *)run->in[i].data + first * c->lengths[i],
                                       .y = y,
                                       .rows = last - first,
                                       .length = c->lengths[i],
                                       .x_pitch = c->lengths[i],
                                       .y_pitch = c->pitch};
        if (rows.length > 0 && c->tables[i])
            table_look_up(c->tables[i], &rows);
        else if (rows.length > 0)
            copy_rows(&rows);
    }
}

static odlc_status run(const struct cpu_step *step, const struct backend_scope *scope, const struct buffer *in,
                       struct buffer *out)
{
    const struct loop_operands o = loop_operands(step, scope, in, out);
    const struct concat *c = step->prepared;
    struct concat_run r = {c, o.in, step->node->n_inputs, o.out[0].data};
    threads_share(c->rows, LEAST_BYTES / c->pitch + 1, concat_part, &r);
    return ODLC_OK;
}

static bool axis_of(const struct graph *g, const struct node *n, uint32_t *axis)
{
    const uint32_t rank = node_output(g, n, 0)->type->shape.rank;
    return node_axis(n, (int64_t)rank - 1, rank, axis);
}

static struct concat *make(struct cpu_making *m, size_t size)
{
    const struct graph *g = m->scope->graph;
    const struct node *n = making_node(m);
    const struct shape *y = &node_output(g, n, 0)->type->shape;
    struct concat *c = arena_new(m->scope->arena, struct concat);
    uint32_t axis;
    if (!axis_of(g, n, &axis))
        return NULL;
    *c = (struct concat){.rows = (int64_t)shape_count_range(y, 0, axis),
                         .pitch = (int64_t)(shape_count_range(y, axis, y->rank) * size),
                         .lengths = arena_array(m->scope->arena, int64_t, n->n_inputs),
                         .tables = arena_calloc(m->scope->arena, n->n_inputs, sizeof(uint8_t *))};
    for (uint32_t i = 0; i < n->n_inputs; i++)
        c->lengths[i] = (int64_t)(shape_count_range(&node_input(g, n, i)->type->shape, axis, y->rank) * size);
    m->step->prepared = c;
    return c;
}

static odlc_status prepare(struct cpu_making *m)
{
    return make(m, sizeof(float)) ? loop_prepare(m, run) : ODLC_ERR_INTERNAL;
}

/* ---- integers ---- */

static bool is_byte(const struct tensor *t)
{
    return fixed_is_taken(t->type->dtype, t->quant) && dtype_size(t->type->dtype) == 1;
}

static bool is_equal(const struct tensor *a, const struct tensor *b)
{
    return a->type->dtype == b->type->dtype && quant_equal(a->quant, b->quant);
}

/* Whether operands are joined as they are stored: all bytes, or of one type and one encoding. */
static bool is_stored(const struct graph *g, const struct node *n)
{
    const struct tensor *y = node_output(g, n, 0);
    bool bytes = is_byte(y), equal = fixed_is_taken(y->type->dtype, y->quant);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        bytes = bytes && is_byte(node_input(g, n, i));
        equal = equal && is_equal(node_input(g, n, i), y);
    }
    return bytes || equal;
}

static odlc_status prepare_stored(struct cpu_making *m)
{
    const struct graph *g = m->scope->graph;
    const struct node *n = making_node(m);
    const struct tensor *y = node_output(g, n, 0);
    struct concat *c = make(m, dtype_size(y->type->dtype));
    for (uint32_t i = 0; c && i < n->n_inputs; i++)
        if (!is_equal(node_input(g, n, i), y))
            c->tables[i] = table_of_conversion(m->scope->arena, node_input(g, n, i), y);
    return c ? loop_prepare_plain(m, run) : ODLC_ERR_INTERNAL;
}

static const char *refuse(const struct graph *g, const struct node *n)
{
    uint32_t axis;
    const char *types = cpu_refuse_types(g, n);
    if (types)
        return types;
    return axis_of(g, n, &axis) ? NULL : "its axis is none of the input's";
}

const struct cpu_op cpu_concat = {
    .refuse = refuse, .prepare = prepare, .is_fixed = is_stored, .prepare_fixed = prepare_stored};
