/* SPDX-License-Identifier: Apache-2.0 */
/* Params of a node by their names: those of user-defined ops have no others. */
#ifndef TESTS_SUPPORT_NAMED_PARAM_H
#define TESTS_SUPPORT_NAMED_PARAM_H

#include "op/op.h"

/* NULL when the param is absent. */
static inline const struct packed_param *named_param(const struct node *n, const char *name)
{
    int i = op_param_index(n->op, name);
    return i >= 0 && n->params[i].set ? &n->params[i] : NULL;
}

static inline int64_t named_int(const struct node *n, const char *name, int64_t absent)
{
    const struct packed_param *p = named_param(n, name);
    return p ? p->i : absent;
}

static inline double named_float(const struct node *n, const char *name, double absent)
{
    const struct packed_param *p = named_param(n, name);
    return p ? p->f : absent;
}

static inline const char *named_string(const struct node *n, const char *name, const char *absent)
{
    const struct packed_param *p = named_param(n, name);
    return p ? p->s : absent;
}

static inline const int64_t *named_ints(const struct node *n, const char *name, uint32_t *count)
{
    const struct packed_param *p = named_param(n, name);
    *count = p ? (uint32_t)shape_count(p->shape) : 0;
    return p ? p->ints : NULL;
}

#endif
