#include <assert.h>
#include <string.h>

#include "op/op.h"

const struct param *node_param(const struct node *n, const char *name)
{
    int i = op_param_index(n->op, name);
    return i >= 0 && n->params[i].set ? &n->params[i] : NULL;
}

int64_t node_int(const struct node *n, const char *name, int64_t absent)
{
    const struct param *p = node_param(n, name);
    return p ? p->i : absent;
}

double node_float(const struct node *n, const char *name, double absent)
{
    const struct param *p = node_param(n, name);
    return p ? p->f : absent;
}

const char *node_string(const struct node *n, const char *name, const char *absent)
{
    const struct param *p = node_param(n, name);
    return p ? p->s : absent;
}

const int64_t *node_ints(const struct node *n, const char *name, uint32_t *count)
{
    const struct param *p = node_param(n, name);
    *count = p ? (uint32_t)shape_count(&p->shape) : 0;
    return p ? p->ints : NULL;
}

bool node_is(const struct node *n, const char *op)
{
    return n->op && !n->op->package && strcmp(n->op->name, op) == 0;
}

struct perm node_perm(const struct node *transpose)
{
    struct perm perm;
    const int64_t *axes = node_ints(transpose, "perm", &perm.rank);
    for (uint32_t i = 0; i < perm.rank; i++)
        perm.axis[i] = (uint8_t)axes[i];
    return perm;
}

/* The slot of a param, made ready from its definition. A name that the row does not have is a defect of the caller. */
static struct param *slot(struct node *n, const char *name)
{
    int i = op_param_index(n->op, name);
    assert(i >= 0);
    const struct param_def *def = &n->op->params[i];
    n->params[i] = (struct param){.set = true,
                                  .is_tensor = def->is_tensor,
                                  .usage = def->supplemental ? 2 : 1,
                                  .name = def->name,
                                  .dtype = def->dtype};
    return &n->params[i];
}

void node_set_int(struct graph *g, struct node *n, const char *name, int64_t value)
{
    (void)g;
    struct param *p = slot(n, name);
    p->dtype = p->dtype == DT_NONE ? DT_INT32 : p->dtype;
    p->i = value;
}

void node_set_float(struct graph *g, struct node *n, const char *name, double value)
{
    (void)g;
    struct param *p = slot(n, name);
    p->dtype = p->dtype == DT_NONE ? DT_FLOAT32 : p->dtype;
    p->f = value;
}

void node_set_string(struct graph *g, struct node *n, const char *name, const char *value)
{
    slot(n, name)->s = arena_strdup(g->arena, value);
}

void node_set_ints(struct graph *g, struct node *n, const char *name, const struct shape *shape, const int64_t *values)
{
    const int64_t *copy = arena_memdup(g->arena, values, shape_count(shape) * sizeof *values);
    struct param *p = slot(n, name);
    p->shape = *shape;
    p->ints = copy;
}

void node_set_perm(struct graph *g, struct node *transpose, const struct perm *perm)
{
    int64_t axes[MAX_RANK];
    struct shape rank1 = SHAPE(perm->rank);
    for (uint32_t i = 0; i < perm->rank; i++)
        axes[i] = perm->axis[i];
    node_set_ints(g, transpose, "perm", &rank1, axes);
}

odlc_status infer_error(const struct infer *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(c->diags->arena, format, args);
    va_end(args);
    const char *node = c->node->source ? c->node->source : c->node->name;
    return diag_error(c->diags, ODLC_ERR_INVALID, AT(.node = node), "shape", "%s: %s", c->node->op->name, message);
}

const struct type *infer_in(const struct infer *c, uint32_t i)
{
    return &node_input(c->graph, c->node, i)->type;
}

odlc_status infer_same(const struct infer *c)
{
    c->out[0] = *infer_in(c, 0);
    return ODLC_OK;
}

bool permute_any(struct graph *g, struct node *n, const struct perm *perm, struct perm *out)
{
    (void)g;
    (void)n;
    *out = *perm;
    return true;
}
