/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/shape.h"

#include "base/vec.h"

uint64_t shape_count(const struct shape *shape)
{
    return shape_count_range(shape, 0, shape->rank);
}

uint64_t shape_count_range(const struct shape *shape, uint32_t from, uint32_t to)
{
    uint64_t count = 1;
    for (uint32_t i = from; i < to; i++)
        count *= (uint64_t)shape->dims[i];
    return count;
}

uint64_t shape_steps(const struct shape *shape)
{
    uint64_t steps = 1;
    for (uint32_t i = 0; i < shape->rank; i++)
        steps = sat_mul(steps, shape->dims[i] ? (uint64_t)shape->dims[i] : 1);
    return steps;
}

bool shape_too_large(const struct shape *shape)
{
    bool empty = false;
    for (uint32_t i = 0; i < shape->rank; i++) {
        if (shape->dims[i] < 0)
            return true;
        empty |= shape->dims[i] == 0;
    }
    return shape_steps(shape) > (empty ? SHAPE_MOST_EMPTY : INT64_MAX / 16);
}

bool shape_equal(const struct shape *a, const struct shape *b)
{
    if (a->rank != b->rank)
        return false;
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i])
            return false;
    return true;
}

void shape_strides(const struct shape *shape, int64_t strides[MAX_RANK])
{
    uint64_t stride = 1; /* unsigned: the dims beside a 0 may be of any size */
    for (uint32_t i = shape->rank; i-- > 0;) {
        strides[i] = (int64_t)stride;
        stride *= (uint64_t)shape->dims[i];
    }
}

const char *shape_text(struct arena *arena, const struct shape *shape)
{
    text t = {0};
    text_add(arena, &t, "[");
    for (uint32_t i = 0; i < shape->rank; i++)
        text_add(arena, &t, "%s%lld", i ? "," : "", (long long)shape->dims[i]);
    text_add(arena, &t, "]");
    return t.data;
}

bool shape_broadcast(const struct shape *a, const struct shape *b, struct shape *out)
{
    const struct shape *longer = a->rank >= b->rank ? a : b, *shorter = longer == a ? b : a;
    struct shape result = *longer;
    uint32_t shift = longer->rank - shorter->rank;
    for (uint32_t i = 0; i < shorter->rank; i++) {
        int64_t x = longer->dims[shift + i], y = shorter->dims[i];
        if (x != y && x != 1 && y != 1)
            return false;
        result.dims[shift + i] = x == 1 ? y : x;
    }
    *out = result;
    return true;
}

bool axis_normalize(int64_t axis, uint32_t rank, uint32_t *out)
{
    if (axis < -(int64_t)rank || axis >= (int64_t)rank)
        return false;
    *out = (uint32_t)(axis < 0 ? axis + rank : axis);
    return true;
}

struct perm perm_identity(uint32_t rank)
{
    struct perm p = {.rank = rank};
    for (uint32_t i = 0; i < rank; i++)
        p.axis[i] = (uint8_t)i;
    return p;
}

struct perm perm_channels_last(uint32_t rank)
{
    struct perm p = perm_identity(rank);
    for (uint32_t i = 1; rank >= 3 && i < rank; i++)
        p.axis[i] = (uint8_t)(i + 1 < rank ? i + 1 : 1);
    return p;
}

struct perm perm_channels_first(uint32_t rank)
{
    struct perm last = perm_channels_last(rank);
    return perm_inverse(&last);
}

bool perm_is_identity(const struct perm *p)
{
    for (uint32_t i = 0; i < p->rank; i++)
        if (p->axis[i] != i)
            return false;
    return true;
}

bool perm_equal(const struct perm *a, const struct perm *b)
{
    if (a->rank != b->rank)
        return false;
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->axis[i] != b->axis[i])
            return false;
    return true;
}

struct perm perm_inverse(const struct perm *p)
{
    struct perm inverse = {.rank = p->rank};
    for (uint32_t i = 0; i < p->rank; i++)
        inverse.axis[p->axis[i]] = (uint8_t)i;
    return inverse;
}

struct perm perm_compose(const struct perm *first, const struct perm *second)
{
    struct perm p = {.rank = first->rank};
    for (uint32_t i = 0; i < first->rank; i++)
        p.axis[i] = first->axis[second->axis[i]];
    return p;
}

bool perm_is_valid(const struct perm *p)
{
    uint32_t seen = 0;
    if (p->rank > MAX_RANK)
        return false;
    for (uint32_t i = 0; i < p->rank; i++) {
        if (p->axis[i] >= p->rank)
            return false;
        seen |= 1u << p->axis[i];
    }
    return seen == (1u << p->rank) - 1;
}

uint32_t perm_find(const struct perm *p, uint32_t axis)
{
    uint32_t i = 0;
    while (p->axis[i] != axis)
        i++;
    return i;
}

struct shape perm_apply(const struct perm *p, const struct shape *shape)
{
    struct shape out = {.rank = shape->rank};
    for (uint32_t i = 0; i < shape->rank; i++)
        out.dims[i] = shape->dims[p->axis[i]];
    return out;
}
