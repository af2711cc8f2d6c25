/* SPDX-License-Identifier: Apache-2.0 */
/* The params of nodes. The builder sets required and defaulted ones, so these are always there. */
#ifndef OP_PARAMS_H
#define OP_PARAMS_H

#include "ir/graph.h"
#include "op/op_id.h"

/* ---- reading ---- */
const struct packed_param *node_param(const struct node *n, enum param_id id); /* NULL when absent */
struct param node_get_param(const struct node *n, uint32_t index); /* of the row; .set says if the param is there */
int64_t node_int(const struct node *n, enum param_id id, int64_t absent);
double node_float(const struct node *n, enum param_id id, double absent);
const char *node_string(const struct node *n, enum param_id id, const char *absent);
/* The permutation that a native Transpose makes. */
struct perm node_perm(const struct node *transpose);
/* The elements of an integer tensor param, count in *count (0 and NULL when absent). */
const int64_t *node_ints(const struct node *n, enum param_id id, uint32_t *count);

/* ---- writing (strings and integers are copied into the arena) ---- */
void node_set_int(struct node *n, enum param_id id, int64_t value);
void node_set_float(struct node *n, enum param_id id, double value);
void node_set_string(struct graph *g, struct node *n, enum param_id id, const char *value);
void node_set_ints(struct graph *g, struct node *n, enum param_id id, const struct shape *shape, const int64_t *values);
/* Any param, in its final form: elements and strings are borrowed. */
void node_set_param(struct graph *g, struct node *n, uint32_t index, const struct param *value);
/* The floats of a tensor param of rank 1, copied. */
void node_set_floats(struct graph *g, struct node *n, enum param_id id, uint32_t count, const double *values);
/* Takes the param away, where it is set. */
void node_unset(struct node *n, enum param_id id);
void node_set_perm(struct graph *g, struct node *transpose, const struct perm *perm);

#endif
