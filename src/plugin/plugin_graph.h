/* SPDX-License-Identifier: Apache-2.0 */
/* The graph that plugin ops are prepared in: what packages see as QHPI_Op.
 *
 * Ops are never changed once they are made: a rewrite, or tiles, take the place of their outputs, and whoever asks for
 * an input gets what stands there now. All memory is the graph's arena. */
#ifndef PLUGIN_PLUGIN_GRAPH_H
#define PLUGIN_PLUGIN_GRAPH_H

#include "package/package.h"
#include "plugin/host_calls.h"
#include "runtime/backend.h"

enum op_kind {
    KIND_INPUT,    /* a tensor that comes from outside of the group */
    KIND_CONSTANT, /* with data */
    KIND_SHAPE,    /* a shape as an operand, without data */
    KIND_ABSENT,   /* an optional operand that the node leaves out */
    KIND_SLICE,    /* part of its first input; its shape says how much, `starts` where */
    KIND_CONCAT,   /* its inputs side by side: `starts` says where each one goes */
    KIND_CONVERT,  /* its input in another layout */
    KIND_NATIVE,   /* an operator of the reference */
    KIND_PLUGIN
};

#define NAME_SLICE "Slice_shape"
#define NAME_CONCAT "Concat"
#define NAME_RESHAPE "Reshape"

struct plugin_graph;

struct QHPI_Op {
    const struct host_calls *calls;
    struct plugin_graph *graph;
    uint32_t id; /* index into graph->ops */
    enum op_kind kind;
    const char *name, *label; /* the op's, and that of the node that it comes from, or NULL */
    uint32_t n_inputs, n_outputs;
    QHPI_OpRef *inputs;
    QHPI_OutputDef *outputs;
    QHPI_OpRef *replaced;           /* per output: what stands there now; NULL: the op itself */
    const struct plugin_op *plugin; /* KIND_PLUGIN, with its package */
    struct package *package;
    const struct op *row;    /* KIND_NATIVE */
    const void *data;        /* KIND_CONSTANT */
    size_t bytes;            /* … of it */
    const char *unfit;       /* why packages cannot be told of the tensor; NULL: they can */
    tensor_id tensor;        /* KIND_INPUT */
    QHPI_Shape *starts;      /* KIND_SLICE one, KIND_CONCAT one an input */
    uint32_t layout;         /* KIND_CONVERT: of its output */
    bool is_part;            /* KIND_CONCAT: made of the tiles that a slice needs, not of all of an op */
    const QHPI_Op *ancestor; /* the op that was rewritten into this one, or for which it was made */
    uint32_t generation;     /* of rewriting */
    bool is_settled;         /* the rewrite at work leaves the op as it is */
    uint32_t uses;           /* operands that are outputs of this op, as of graph_settle */
    uint32_t serial;         /* of the walk that saw it last */
    struct tiled *tiled;     /* how the op is cut, or the op that it is a tile of; else NULL */
};

/* Ops lie in blocks, so that it is quickly known whether a pointer of a package is one of them. */
enum { OPS_A_BLOCK = 256 };

/* An output of the group. */
struct plugin_result {
    QHPI_OpRef ref;
    tensor_id tensor;
};

struct plugin_graph {
    struct arena *arena;
    struct diags *diags;
    const struct package_set *packages;
    VEC(QHPI_Op *) ops;
    VEC(QHPI_Op *) blocks;      /* of OPS_A_BLOCK ops, in their order */
    VEC(const QHPI_Op *) order; /* what the results need, inputs before users, as of graph_settle */
    VEC(struct plugin_result) results;
    uint32_t serial; /* of walks */
    /* Of the callback at work: */
    const char *callback; /* NULL: none */
    char misuse[256];     /* what it called wrongly first; empty: nothing */
    bool exhausted;       /* memory ran out in one of its calls */
};

struct plugin_graph *graph_new(struct arena *arena, struct diags *diags, const struct package_set *packages);

/* An op without inputs set; outputs are copied. */
QHPI_Op *graph_add(struct plugin_graph *g, enum op_kind kind, const char *name, uint32_t n_inputs, uint32_t n_outputs,
                   const QHPI_OutputDef *outputs);
/* Part of a tensor; all of it is the tensor itself. */
QHPI_OpRef graph_slice(struct plugin_graph *g, QHPI_OpRef of, const QHPI_Shape *start, const QHPI_Shape *extent);

/* Whether a pointer that a package gave is an op of the graph. */
bool graph_has(const struct plugin_graph *g, const QHPI_Op *op);

/* A graph as it was. */
struct graph_state {
    struct plugin_graph graph;
    QHPI_Op *ops;
    QHPI_OpRef *inputs; /* of all ops, one after the other */
};

/* What is done to the graph from now on has its memory in `arena`, and is undone by graph_restore. */
struct graph_state graph_keep(struct plugin_graph *g, struct arena *arena);
void graph_restore(struct plugin_graph *g, const struct graph_state *state);

/* What stands in the place of an output now. */
QHPI_OpRef graph_resolve(QHPI_OpRef ref);
static inline QHPI_OpRef op_operand(const QHPI_Op *op, uint32_t index)
{
    return graph_resolve(op->inputs[index]);
}
static inline const QHPI_OutputDef *ref_def(QHPI_OpRef ref)
{
    return &ref.op->outputs[ref.output_number];
}
/* `with` takes the place of all outputs of the op that it has, in their order. */
void graph_replace(struct plugin_graph *g, const QHPI_Op *op, const QHPI_Op *with);

/* Walks back from the results: fills `order` and the ops' `uses`. */
void graph_settle(struct plugin_graph *g);
/* Whether `op` is among what `user` is computed from. */
bool graph_depends(struct plugin_graph *g, const QHPI_Op *user, const QHPI_Op *op);

/* Whether two ops compute the same from the same: name, outputs, and operands, which are the same ones or alike. */
bool graph_alike(const QHPI_Op *a, const QHPI_Op *b);

/* Part of a constant, or a constant in another layout: computed once, when the graph is prepared. */
bool op_is_static(const QHPI_Op *op);

/* How the op is cut that this one is, is a tile of, or was made for; NULL: it is none of them. */
struct tiled *graph_tiled(const QHPI_Op *op);

/* ---- shapes and types ---- */

bool qhpi_shape_equal(const QHPI_Shape *a, const QHPI_Shape *b);
/* With leading dimensions of 1 for rank 4. */
QHPI_Shape qhpi_shape_of(const struct shape *shape);
struct shape ir_shape_of(const QHPI_Shape *shape);
uint64_t qhpi_count(const QHPI_Shape *shape);
uint32_t element_bytes(QHPI_Element_Type type); /* 0: no type */
uint64_t def_bytes(const QHPI_OutputDef *def);
bool def_equal(const QHPI_OutputDef *a, const QHPI_OutputDef *b);
/* The type that packages are told for elements of a dtype; QHPI_ELEMENT_TYPE_ANY: there is none. */
QHPI_Element_Type element_type_of(enum dtype dtype);
/* The dtype, and its encoding where the type has one (in the arena, else NULL). */
enum dtype dtype_of_def(struct arena *arena, const QHPI_OutputDef *def, const struct quant **quant);

/* ---- as text ---- */

const char *element_type_name(uint32_t type);
const char *qhpi_shape_text(struct arena *arena, const QHPI_Shape *shape); /* "[1,8,8,3]" */
/* "%7 = Shop::Asin(%1, %2) -> Float32 [1,8,8,3]" */
const char *op_text(struct arena *arena, const QHPI_Op *op);
/* The op and what it is computed from down to the inputs of `before` (NULL: only itself), a line each. */
const char *subgraph_text(struct arena *arena, const QHPI_Op *op, const QHPI_Op *before);

#endif
