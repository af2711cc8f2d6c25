/* SPDX-License-Identifier: Apache-2.0 */
#include "op/axes.h"

#include <assert.h>

#include "op/op.h"

bool node_axis(const struct node *n, int64_t absent, uint32_t rank, uint32_t *out)
{
    int64_t axis = node_int(n, PARAM_axis, absent);
    *out = (uint32_t)axis;
    return axis >= 0 && axis < rank;
}

bool node_axes(const struct node *n, uint32_t rank, uint32_t *mask)
{
    uint32_t count;
    const int64_t *axes = node_ints(n, PARAM_axes, &count);
    *mask = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (axes[i] < 0 || axes[i] >= rank || *mask >> axes[i] & 1)
            return false;
        *mask |= 1u << axes[i];
    }
    return count > 0;
}

bool node_drops_axes(const struct node *n, uint32_t rank, uint32_t *mask)
{
    return n->n_inputs == 1 && op_param_place(n->op, PARAM_axes) >= 0 && op_param_place(n->op, PARAM_keep_dims) >= 0 &&
           !node_int(n, PARAM_keep_dims, 0) && node_axes(n, rank, mask);
}

bool node_axes_or_axis(const struct node *n, uint32_t rank, uint32_t *mask)
{
    uint32_t axis;
    if (node_param(n, PARAM_axes))
        return node_axes(n, rank, mask);
    if (!node_axis(n, 0, rank, &axis))
        return false;
    *mask = 1u << axis;
    return true;
}

bool node_valid_perm(const struct node *n, uint32_t rank, struct perm *out)
{
    uint32_t count;
    const int64_t *axes = node_ints(n, PARAM_perm, &count);
    if (count != rank || rank > MAX_RANK)
        return false;
    out->rank = rank;
    for (uint32_t i = 0; i < rank; i++) {
        if (axes[i] < 0 || axes[i] >= rank)
            return false;
        out->axis[i] = (uint8_t)axes[i];
    }
    return perm_is_valid(out);
}

struct shape reduced_shape(const struct shape *in, uint32_t axes, bool keep)
{
    struct shape out = {.rank = 0};
    for (uint32_t i = 0; i < in->rank; i++) {
        bool reduced = axes >> i & 1;
        if (keep || !reduced)
            out.dims[out.rank++] = reduced ? 1 : in->dims[i];
    }
    return out;
}

struct perm perm_without(const struct perm *perm, uint32_t axes)
{
    uint8_t position[MAX_RANK]; /* of each kept axis among the kept ones */
    struct perm out = {.rank = 0};
    assert(perm->rank <= MAX_RANK);
    for (uint32_t axis = 0; axis < perm->rank; axis++)
        if (!(axes >> axis & 1))
            position[axis] = (uint8_t)out.rank++;
    uint32_t n = 0;
    for (uint32_t i = 0; i < perm->rank; i++)
        if (!(axes >> perm->axis[i] & 1))
            out.axis[n++] = position[perm->axis[i]];
    return out;
}

void permute_axes_param(struct graph *g, struct node *n, const struct perm *perm)
{
    uint32_t count;
    const int64_t *axes = node_ints(n, PARAM_axes, &count);
    int64_t stored[MAX_RANK];
    for (uint32_t i = 0; i < count; i++)
        stored[i] = perm_find(perm, (uint32_t)axes[i]);
    struct shape shape = SHAPE(count);
    node_set_ints(g, n, PARAM_axes, &shape, stored);
}

bool permute_any(struct graph *g, struct node *n, const struct perm *perm, struct perm *out)
{
    (void)g;
    (void)n;
    *out = *perm;
    return true;
}

bool permute_axis(struct graph *g, struct node *n, const struct perm *perm, struct perm *out)
{
    uint32_t axis;
    (void)g;
    if (!node_axis(n, -1, perm->rank, &axis))
        return false;
    node_set_int(n, PARAM_axis, perm_find(perm, axis));
    *out = *perm;
    return true;
}

bool cut_broadcast(const struct graph *g, struct node *n, uint32_t axis, uint32_t input, uint32_t *in_axis)
{
    const struct shape *in = &node_input(g, n, input)->type->shape;
    uint32_t rank = node_output(g, n, 0)->type->shape.rank, missing = rank - in->rank;
    if (in->rank > rank)
        return false;
    *in_axis = axis < missing || in->dims[axis - missing] == 1 ? NOT_CUT : axis - missing;
    return true;
}

bool cut_same(const struct graph *g, struct node *n, uint32_t axis, uint32_t input, uint32_t *in_axis)
{
    (void)g;
    (void)n;
    (void)input;
    *in_axis = axis;
    return true;
}

bool cut_but_axis(const struct graph *g, struct node *n, uint32_t axis, uint32_t input, uint32_t *in_axis)
{
    uint32_t own, rank = node_output(g, n, 0)->type->shape.rank;
    (void)input;
    *in_axis = axis;
    return node_axis(n, (int64_t)rank - 1, rank, &own) && own != axis;
}
