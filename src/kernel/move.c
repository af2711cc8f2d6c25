/* SPDX-License-Identifier: Apache-2.0 */
/* The nest is simplified first: axes of one step go, neighbours that advance together become one, and a contiguous
 * innermost axis turns its elements into one large element. What is left is either a single copy or a true
 * rearrangement; of that, the two axes along which destination and source are dense are walked in square tiles, so that
 * a Transpose reads and writes whole cache lines. */
#include "kernel/move.h"

#include <stdlib.h>
#include <string.h>

enum { TILE = 32 };

size_t element_size(enum dtype dtype)
{
    return dtype == DT_STRING ? sizeof(char *) : dtype_size(dtype);
}

static bool advance_together(const struct move_axis *outer, const struct move_axis *inner)
{
    return outer->to == inner->count * inner->to && outer->from == inner->count * inner->from;
}

/* The same nest with as few axes as it needs; *size grows by a contiguous innermost axis. Strides become bytes. False
 * when there is nothing to copy. */
static bool simplify(const struct move *m, size_t *size, struct move *out)
{
    out->rank = 0;
    for (uint32_t i = 0; i < m->rank; i++) {
        const struct move_axis *axis = &m->axis[i];
        struct move_axis *last = out->rank ? &out->axis[out->rank - 1] : NULL;
        if (axis->count == 0)
            return false;
        if (axis->count == 1)
            continue;
        if (last && advance_together(last, axis))
            *last = (struct move_axis){last->count * axis->count, axis->to, axis->from};
        else
            out->axis[out->rank++] = *axis;
    }
    size_t element = *size;
    if (out->rank && out->axis[out->rank - 1].to == 1 && out->axis[out->rank - 1].from == 1)
        *size *= (size_t)out->axis[--out->rank].count;
    for (uint32_t i = 0; i < out->rank; i++) {
        out->axis[i].to *= (int64_t)element;
        out->axis[i].from *= (int64_t)element;
    }
    return true;
}

/* Two nested axes in tiles. size is a literal in the common calls, which makes memcpy a plain load and store. */
static inline __attribute__((always_inline)) void plane(const struct move_axis *a, const struct move_axis *b,
                                                        uint8_t *to, const uint8_t *from, size_t size)
{
    for (int64_t i0 = 0; i0 < a->count; i0 += TILE) {
        int64_t i1 = min_i64(i0 + TILE, a->count);
        for (int64_t j0 = 0; j0 < b->count; j0 += TILE) {
            int64_t j1 = min_i64(j0 + TILE, b->count);
            for (int64_t i = i0; i < i1; i++)
                for (int64_t j = j0; j < j1; j++)
                    memcpy(to + i * a->to + j * b->to, from + i * a->from + j * b->from, size);
        }
    }
}

static void move_plane(const struct move_axis *a, const struct move_axis *b, uint8_t *to, const uint8_t *from,
                       size_t size)
{
    switch (size) {
    case 1:
        plane(a, b, to, from, 1);
        break;
    case 2:
        plane(a, b, to, from, 2);
        break;
    case 4:
        plane(a, b, to, from, 4);
        break;
    case 8:
        plane(a, b, to, from, 8);
        break;
    default:
        plane(a, b, to, from, size);
        break;
    }
}

/* Takes the axis out of the nest along which the source is densest. */
static struct move_axis take_dense_axis(struct move *m)
{
    uint32_t best = m->rank - 1;
    for (uint32_t i = 0; i < m->rank; i++)
        if (m->axis[i].from && (!m->axis[best].from || llabs(m->axis[i].from) < llabs(m->axis[best].from)))
            best = i;
    struct move_axis axis = m->axis[best];
    m->rank--;
    memmove(&m->axis[best], &m->axis[best + 1], (m->rank - best) * sizeof axis);
    return axis;
}

void move_elements(const struct move *m, size_t size, void *to, const void *from)
{
    struct move nest;
    if (!simplify(m, &size, &nest))
        return;
    const struct move_axis once = {.count = 1};
    struct move_axis inner = once, outer = once;
    if (nest.rank)
        inner = nest.axis[--nest.rank];
    if (nest.rank)
        outer = take_dense_axis(&nest);
    int64_t index[2 * MAX_RANK] = {0};
    uint8_t *target = to;
    const uint8_t *source = from;
    for (;;) {
        move_plane(&outer, &inner, target, source, size);
        uint32_t i = nest.rank;
        while (i > 0 && index[i - 1] + 1 == nest.axis[i - 1].count) {
            i--;
            target -= index[i] * nest.axis[i].to;
            source -= index[i] * nest.axis[i].from;
            index[i] = 0;
        }
        if (i == 0)
            return;
        index[i - 1]++;
        target += nest.axis[i - 1].to;
        source += nest.axis[i - 1].from;
    }
}

void param_element(const struct buffer *like, const struct packed_param *p, int64_t absent, void *element)
{
    double real = 0;
    int64_t whole = p ? p->i : absent;
    struct buffer number = {.dtype = DT_INT64, .data = &whole};
    struct buffer one = {.dtype = like->dtype, .quant = like->quant, .data = element};
    if (p && dtype_is_float(p->dtype)) {
        real = p->f;
        number.dtype = DT_FLOAT64;
        number.data = &real;
    }
    buffer_narrow(&number, &one);
}
