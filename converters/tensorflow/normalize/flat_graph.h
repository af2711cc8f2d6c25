/* SPDX-License-Identifier: Apache-2.0 */
/* The graph that a walk fills: the model's own, a function that an operator holds, or a part of a loop. */
#ifndef CONVERTERS_TENSORFLOW_NORMALIZE_FLAT_GRAPH_H
#define CONVERTERS_TENSORFLOW_NORMALIZE_FLAT_GRAPH_H

#include "converters/tensorflow/normalize/frames.h"

/* A value that an input of a node stands for. */
struct operand {
    fw_name id;
    const struct condition *when; /* it is alive */
};

/* A node whose inputs are being walked. There are as many of them as there are nodes on the way. */
struct pending {
    struct frame *frame;
    const struct group *group; /* that the node stands for; or NULL */
    uint32_t node;
    uint32_t output;        /* that is wanted of it */
    uint32_t input;         /* the input that comes next */
    uint32_t first_operand; /* its own are from here on */
};

/* One whose inputs are known. */
struct visit {
    struct frame *frame;
    const struct group *group;
    uint32_t node, first_operand;
    const struct fw_attr *attrs;
    uint32_t n_attrs;
};

/* What the graph's node of the same index lacks, outputs and their ids, until all readers are known. */
struct emitted {
    const char *output;         /* the name of its one output; NULL: outputs are "node:0", "node:1" … */
    const struct tf_node *from; /* NULL: another name for a value, or a loop */
    uint32_t n_outputs;         /* up to the highest that something reads */
    fw_name first;              /* the name of output 0, where something reads that; or FW_NO_NAME */
};

/* One graph that is being filled. */
struct walk {
    struct normalize *nz;
    struct walk *outer; /* whose values are seen here; of parts of loops alone */
    uint32_t number;
    struct fw_graph *graph;
    VEC(struct pending) pending;
    VEC(struct operand) operands; /* of all that are pending */
    VEC(struct emitted) emitted;
    struct map inputs; /* names of values that became inputs of the graph */
    /* Of the node that is being made: whether its attributes were decoded for that alone, and what came before them. */
    bool fresh_attrs;
    struct arena_mark before_attrs;
};

struct walk walk_begin(struct normalize *nz, struct walk *outer, struct fw_graph *graph);
/* The nodes get their outputs, now that all readers are known. */
odlc_status walk_finish(struct walk *w) MUST_USE;

/* The walk that has the node's state: this one, or one around it, whose values are seen here. NULL: the node is new
 * here, whatever another part of the loop made of it. */
struct walk *walk_of(struct walk *w, const struct seen *seen);
/* That which no other is around. */
struct walk *walk_outermost(struct walk *w);

/* The graph's node that gives the value. */
static inline struct fw_node *emitted_node(const struct walk *w, size_t at)
{
    return &w->graph->nodes.data[at];
}

static inline struct source visited(const struct visit *v)
{
    return (struct source){.frame = v->frame, .node = v->node};
}
static inline struct seen *visit_seen(const struct visit *v)
{
    return &v->frame->seen[v->node];
}
/* The operands of the innermost visit, when all of its inputs are known; NULL where it has none. */
static inline size_t visit_n_operands(const struct walk *w, const struct visit *v)
{
    return w->operands.count - v->first_operand;
}
static inline const struct operand *visit_operands(const struct walk *w, const struct visit *v)
{
    return visit_n_operands(w, v) > 0 ? w->operands.data + v->first_operand : NULL;
}

/* A node to be. */
struct new_node {
    const char *name, *op;
    const char *output; /* as in struct emitted */
    const struct fw_attr *attrs;
    uint32_t n_attrs;
    const struct operand *operands;
    size_t n_operands;
    const struct tf_node *from; /* as in struct emitted */
};

void walk_append(struct walk *w, const struct new_node *node);
/* The same for a node that gives the values of the visited one. */
void walk_stand_for(struct walk *w, const struct visit *v, const struct new_node *node);
/* A value that becomes an input of the graph, once; v has the type and the shape that the model declares. */
void walk_input(struct walk *w, const struct source *s, struct fw_value v);
void walk_constant(struct walk *w, struct fw_tensor t);

#endif
