/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/regroup.h"

#include <string.h>

/* The axes of a shape that have more than one element. */
struct axes {
    uint32_t count;
    uint8_t axis[MAX_RANK];
};

static struct axes in_order(const struct shape *shape, const struct perm *order)
{
    struct axes out = {.count = 0};
    for (uint32_t i = 0; i < shape->rank; i++)
        if (shape->dims[order->axis[i]] != 1)
            out.axis[out.count++] = order->axis[i];
    return out;
}

static struct axes own_order(const struct shape *shape)
{
    struct perm own = perm_identity(shape->rank);
    return in_order(shape, &own);
}

/* Numbers the smallest runs of axes that have as many elements on either side; the counts of the shapes are equal. */
static void number_groups(const struct shape *from, const struct shape *to, uint8_t *from_group, uint8_t *to_group)
{
    const struct axes a = own_order(from), b = own_order(to);
    uint8_t group = 0;
    for (uint32_t i = 0, k = 0; i < a.count && k < b.count; group++) {
        int64_t left = from->dims[a.axis[i]], right = to->dims[b.axis[k]];
        from_group[a.axis[i++]] = to_group[b.axis[k++]] = group;
        while (left != right) {
            if (left < right) {
                left *= from->dims[a.axis[i]];
                from_group[a.axis[i++]] = group;
            } else {
                right *= to->dims[b.axis[k]];
                to_group[b.axis[k++]] = group;
            }
        }
    }
}

/* The axes of `to` in the order in which the groups are stored; false when one of them is torn apart. */
static bool ordered_groups(const struct shape *from, const struct perm *from_order, const struct shape *to,
                           struct axes *out)
{
    uint8_t from_group[MAX_RANK], to_group[MAX_RANK];
    const struct axes stored = in_order(from, from_order), own = own_order(to);
    uint32_t seen = 0;
    number_groups(from, to, from_group, to_group);
    out->count = 0;
    for (uint32_t i = 0; i < stored.count; i++) {
        uint8_t group = from_group[stored.axis[i]];
        if (i > 0 && group == from_group[stored.axis[i - 1]]) {
            if (stored.axis[i] < stored.axis[i - 1])
                return false;
            continue;
        }
        if (seen >> group & 1)
            return false;
        seen |= 1u << group;
        for (uint32_t k = 0; k < own.count; k++)
            if (to_group[own.axis[k]] == group)
                out->axis[out->count++] = own.axis[k];
    }
    return true;
}

static bool agrees(const struct shape *shape, const struct perm *order, const struct axes *axes)
{
    if (order->rank != shape->rank)
        return false;
    const struct axes found = in_order(shape, order);
    return memcmp(found.axis, axes->axis, axes->count) == 0;
}

/* Axes of one element in front stay there, others follow the axis that they follow in the tensor. */
static struct perm with_ones(const struct shape *shape, const struct axes *axes)
{
    struct perm out = {.rank = 0};
    for (uint32_t axis = 0; axis < shape->rank && shape->dims[axis] == 1; axis++)
        out.axis[out.rank++] = (uint8_t)axis;
    for (uint32_t i = 0; i < axes->count; i++) {
        out.axis[out.rank++] = axes->axis[i];
        for (uint32_t next = axes->axis[i] + 1u; next < shape->rank && shape->dims[next] == 1; next++)
            out.axis[out.rank++] = (uint8_t)next;
    }
    return out;
}

bool regroup(const struct shape *from, const struct perm *from_order, const struct shape *to, const struct perm *wish,
             struct perm *to_order)
{
    const struct perm own = perm_identity(to->rank), last = perm_channels_last(to->rank);
    const struct perm *const wishes[] = {wish, &own, &last};
    struct axes axes;
    if (shape_count(from) == 0 || shape_count(from) != shape_count(to) || !ordered_groups(from, from_order, to, &axes))
        return false;
    *to_order = with_ones(to, &axes);
    for (size_t i = COUNT_OF(wishes); i-- > 0;)
        if (wishes[i] && agrees(to, wishes[i], &axes))
            *to_order = *wishes[i];
    return true;
}
