/* SPDX-License-Identifier: Apache-2.0 */
/* The lowering of a model at work: the IR graph that it becomes, and what the names of the model stand for.
 *
 * A graph inside a node (a branch, a loop's body) is lowered where the node stands, once for each time that it runs, in
 * a scope of its own: what it defines is known there alone, what it does not define is looked up around it. */
#ifndef CONVERTERS_DRIVER_LOWERING_H
#define CONVERTERS_DRIVER_LOWERING_H

#include "converters/driver/input.h"
#include "converters/driver/layout_origin.h"
#include "converters/frontend/bindings.h"
#include "converters/lowering/lower.h"
#include "udo/udo.h"

/* What a name stands for, which is a tensor nearly always. */
struct defined {
    enum value_kind kind;
    uint32_t at; /* the tensor; of other kinds, but for VALUE_SPOILED, where it is among `others` */
};

struct lowering {
    const struct context *c;
    struct input *in;
    struct udo_set *udos;
    const char *path;               /* the model's, for diagnostics */
    struct build b;                 /* b.graph is what the model becomes */
    struct bindings names;          /* definitions of all scopes at work */
    VEC(struct defined) values;     /* what each stands for */
    VEC(struct lower_value) others; /* those that are no tensors */
    uint64_t expanded;              /* nodes that subgraphs were lowered to */
    const char *at_node;            /* the node that is being lowered, or was last; NULL before the first */
    lower_subgraph_fn *subgraph;    /* lowers the graphs inside of nodes */
    struct layout_origins origins;
    struct contradictions { /* values inside of the model whose declared dimensions are not the computed ones */
        uint32_t count;
        const char *node, *said; /* the first one's node, and what is said of it */
    } contradictions;
};

/* A graph that is being lowered. */
struct scope {
    struct lowering *all;
    struct scope *outer;     /* of the graph around; NULL for the model's own */
    const char *prefix;      /* of the names of nodes and tensors, or NULL */
    size_t first_definition; /* the scope's own ones are from here on */
    size_t first_other;      /* of those, the ones that are no tensors */
    const struct fw_graph *graph;
    bool knows_declared;              /* one of those below is filled, which happens when it is asked for */
    const struct fw_value **declared; /* of the model's own graph, per name: what it says of its values */
    struct map declared_index;        /* of other graphs: name → declared_values */
    VEC(const struct fw_value *) declared_values;
};

/* The value of a name in the scope from now on. */
void scope_define(struct scope *s, fw_name name, struct lower_value value);
void scope_define_tensor(struct scope *s, fw_name name, tensor_id id);
/* What the name stands for; false: nothing defines it. */
bool scope_find(const struct scope *s, fw_name name, struct lower_value *out);
/* Takes back the definitions of the scope. */
void scope_leave(struct scope *s);
/* What the scope's graph declares of output k of a node of its own, or NULL. */
const struct fw_value *scope_declared(struct scope *s, const struct fw_node *n, size_t k);
/* The name that a node or tensor of the scope's graph has in the IR graph. */
const char *scope_name(const struct scope *s, const char *name);

/* ODLC_ERR_UNSUPPORTED, with an error for a value that is used and that its node does not give; node: the reader, or
 * NULL for a graph output. */
odlc_status report_not_given(const struct lowering *all, const char *node, const char *value);
/* How messages call a value that is no tensor. */
const char *value_kind_text(const struct lower_value *value);

#endif
