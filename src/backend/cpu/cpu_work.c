/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/cpu/cpu_work.h"

#include "op/op.h"

/* Multiply-accumulates of some 20 us; an element that is read or written takes as long as so many. A step that is worth
 * two threads gets all: libgomp's threads beyond a smaller team end, and are made anew for the next. */
#define LEAST_WORK ((uint64_t)1 << 20)
enum { WORK_OF_ELEMENT = 8 };

static uint64_t elements(const struct tensor *t)
{
    return t && t->kind != TENSOR_STATIC ? shape_count(&t->type->shape) : 0;
}

static uint64_t work_of(const struct graph *g, const struct node *n)
{
    uint64_t touched = 0;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        touched = sat_add(touched, elements(node_input(g, n, i)));
    for (uint32_t i = 0; i < n->n_outputs; i++)
        touched = sat_add(touched, elements(node_output(g, n, i)));
    return sat_add(n->op->macs ? n->op->macs(g, n) : 0, sat_mul(touched, WORK_OF_ELEMENT));
}

uint32_t work_threads(const struct backend_scope *scope, const struct group *group)
{
    uint64_t work = 0;
    for (size_t i = 0; i < group->nodes.count; i++)
        work = sat_add(work, work_of(scope->graph, graph_node(scope->graph, group->nodes.data[i])));
    return work < 2 * LEAST_WORK ? 1 : scope->threads;
}
