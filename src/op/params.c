/* SPDX-License-Identifier: Apache-2.0 */
#include "op/params.h"

#include <assert.h>
#include <string.h>

#include "op/op.h"

int op_param_place(const struct op *op, enum param_id id)
{
    for (uint32_t i = 0; i < op->n_params; i++)
        if (op->params[i].id == id)
            return (int)i;
    return -1;
}

int op_param_index(const struct op *op, const char *name)
{
    for (uint32_t i = 0; i < op->n_params; i++)
        if (strcmp(op->params[i].name, name) == 0)
            return (int)i;
    return -1;
}

const struct packed_param *node_param(const struct node *n, enum param_id id)
{
    int i = op_param_place(n->op, id);
    return i >= 0 && n->params[i].set ? &n->params[i] : NULL;
}

struct param node_get_param(const struct node *n, uint32_t index)
{
    const struct packed_param *p = &n->params[index];
    bool is_string = p->dtype == DT_STRING, is_float = dtype_is_float(p->dtype);
    struct param value = {
        .set = p->set, .is_tensor = p->shape, .usage = p->usage, .name = n->op->params[index].name, .dtype = p->dtype};
    if (p->shape) {
        value.shape = *p->shape;
        value.strings = is_string ? p->strings : NULL;
        value.floats = is_float ? p->floats : NULL;
        value.ints = is_string || is_float ? NULL : p->ints;
    } else {
        value.s = is_string ? p->s : NULL;
        value.f = is_float ? p->f : 0;
        value.i = is_string || is_float ? 0 : p->i;
    }
    return value;
}

int64_t node_int(const struct node *n, enum param_id id, int64_t absent)
{
    const struct packed_param *p = node_param(n, id);
    return p ? p->i : absent;
}

double node_float(const struct node *n, enum param_id id, double absent)
{
    const struct packed_param *p = node_param(n, id);
    return p ? p->f : absent;
}

const char *node_string(const struct node *n, enum param_id id, const char *absent)
{
    const struct packed_param *p = node_param(n, id);
    return p ? p->s : absent;
}

const int64_t *node_ints(const struct node *n, enum param_id id, uint32_t *count)
{
    const struct packed_param *p = node_param(n, id);
    *count = p ? (uint32_t)shape_count(p->shape) : 0;
    return p ? p->ints : NULL;
}

struct perm node_perm(const struct node *transpose)
{
    struct perm perm;
    const int64_t *axes = node_ints(transpose, PARAM_perm, &perm.rank);
    for (uint32_t i = 0; i < perm.rank; i++)
        perm.axis[i] = (uint8_t)axes[i];
    return perm;
}

/* The slot of a param, made ready from its definition. A param that the row does not have is a defect of the caller. */
static struct packed_param *slot(struct node *n, enum param_id id)
{
    int i = op_param_place(n->op, id);
    assert(i >= 0);
    const struct param_def *def = &n->op->params[i];
    n->params[i] = (struct packed_param){.set = true, .usage = def->supplemental ? 2 : 1, .dtype = (uint8_t)def->dtype};
    return &n->params[i];
}

void node_set_int(struct node *n, enum param_id id, int64_t value)
{
    struct packed_param *p = slot(n, id);
    p->dtype = p->dtype == DT_NONE ? DT_INT32 : p->dtype;
    p->i = value;
}

void node_set_float(struct node *n, enum param_id id, double value)
{
    struct packed_param *p = slot(n, id);
    p->dtype = p->dtype == DT_NONE ? DT_FLOAT32 : p->dtype;
    p->f = value;
}

void node_set_string(struct graph *g, struct node *n, enum param_id id, const char *value)
{
    slot(n, id)->s = arena_strdup(g->arena, value);
}

/* A copy of the integers, or one that was made before. */
static const int64_t *share_ints(struct graph *g, const int64_t *values, uint64_t count)
{
    uint64_t hash = count, size = count * sizeof *values;
    for (uint64_t i = 0; i < count; i++)
        hash = hash * 31 + (uint64_t)values[i];
    struct int_list *list = &g->lists[hash % SHARED_LISTS];
    if (!list->ints || list->count != count || memcmp(list->ints, values, size) != 0)
        *list = (struct int_list){arena_memdup(g->arena, values, size), count};
    return list->ints;
}

void node_set_ints(struct graph *g, struct node *n, enum param_id id, const struct shape *shape, const int64_t *values)
{
    const int64_t *shared = share_ints(g, values, shape_count(shape));
    struct packed_param *p = slot(n, id);
    p->shape = &graph_type(g, DT_NONE, shape)->shape;
    p->ints = shared;
}

void node_set_floats(struct graph *g, struct node *n, enum param_id id, uint32_t count, const double *values)
{
    const double *copy = arena_memdup(g->arena, values, count * sizeof *values);
    struct packed_param *p = slot(n, id);
    p->shape = &graph_type(g, DT_NONE, &SHAPE(count))->shape;
    p->floats = copy;
}

void node_unset(struct node *n, enum param_id id)
{
    int i = op_param_place(n->op, id);
    if (i >= 0)
        n->params[i] = (struct packed_param){.set = false};
}

void node_set_param(struct graph *g, struct node *n, uint32_t index, const struct param *value)
{
    struct packed_param p = {.set = true, .usage = value->usage, .dtype = (uint8_t)value->dtype};
    bool is_string = value->dtype == DT_STRING, is_float = dtype_is_float(value->dtype);
    if (value->is_tensor) {
        p.shape = &graph_type(g, DT_NONE, &value->shape)->shape;
        if (is_string)
            p.strings = value->strings;
        else if (is_float)
            p.floats = value->floats;
        else
            p.ints = value->ints;
    } else if (is_string) {
        p.s = value->s;
    } else if (is_float) {
        p.f = value->f;
    } else {
        p.i = value->i;
    }
    n->params[index] = p;
}

void node_set_perm(struct graph *g, struct node *transpose, const struct perm *perm)
{
    int64_t axes[MAX_RANK];
    struct shape rank1 = SHAPE(perm->rank);
    for (uint32_t i = 0; i < perm->rank; i++)
        axes[i] = perm->axis[i];
    node_set_ints(g, transpose, PARAM_perm, &rank1, axes);
}
