#include "op/rules.h"

#include <assert.h>

odlc_status need_real(const struct infer *c)
{
    for (uint32_t i = 0; i < c->node->n_inputs; i++) {
        const struct tensor *in = node_input(c->graph, c->node, i);
        if (in && !dtype_is_float(in->type->dtype) && !dtype_is_fixed(in->type->dtype))
            return infer_error(c, "an input of type %s is not floating point", dtype_info(in->type->dtype)->name);
    }
    return ODLC_OK;
}

odlc_status need_alike(const struct infer *c)
{
    const char *first = dtype_info(infer_in(c, 0)->dtype)->name;
    if (!dtype_is_int(infer_in(c, 0)->dtype))
        return need_real(c);
    for (uint32_t i = 1; i < c->node->n_inputs; i++) {
        const struct tensor *in = node_input(c->graph, c->node, i);
        if (in && !dtype_is_int(in->type->dtype))
            return infer_error(c, "the operands' types %s and %s differ", first, dtype_info(in->type->dtype)->name);
    }
    return ODLC_OK;
}

bool can_stand_together(enum dtype a, enum dtype b)
{
    return a == b || (dtype_is_fixed(a) && (dtype_is_fixed(b) || dtype_is_float(b))) ||
           (dtype_is_float(a) && dtype_is_fixed(b));
}

odlc_status infer_real(const struct infer *c)
{
    TRY(need_real(c));
    return infer_same(c);
}

odlc_status infer_numeric(const struct infer *c)
{
    TRY(need_alike(c));
    return infer_same(c);
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

const struct type *infer_known_output(const struct infer *c)
{
    const struct tensor *t = c->node->outputs ? node_output(c->graph, c->node, 0) : NULL;
    return t ? t->type : NULL;
}
