/* SPDX-License-Identifier: Apache-2.0 */
/* The IR graph: arrays of tensors and nodes joined by ids.
 *
 * Ids are indices into the graph's arrays and stay valid while the graph lives; a removed node keeps its slot with
 * op == NULL. Nodes are kept in execution order in graph->order. All memory is the graph's arena. Strings are borrowed
 * from the arena or from longer-living storage. */
#ifndef IR_GRAPH_H
#define IR_GRAPH_H

#include "base/map.h"
#include "base/spill.h"
#include "ir/encoding.h"
#include "ir/growth.h"
#include "ir/types.h"
#include "ir/view.h"

typedef uint32_t tensor_id;
typedef uint32_t node_id;
#define NO_TENSOR UINT32_MAX /* an absent optional input or output */
#define NO_NODE UINT32_MAX

struct op; /* src/op/op.h */

enum tensor_kind { TENSOR_NATIVE, TENSOR_INPUT, TENSOR_OUTPUT, TENSOR_STATIC };

/* How a stored tensor's axes are to be read; codes of the container (dlc-format.md). */
enum axis_format {
    AXIS_FORMAT_NCHW = 2,
    AXIS_FORMAT_NHWC = 3,
    AXIS_FORMAT_NCF = 4,
    AXIS_FORMAT_NFC = 5,
    AXIS_FORMAT_NF = 8,
    AXIS_FORMAT_ANY = 10,
    AXIS_FORMAT_NONTRIVIAL = 11,
    AXIS_FORMAT_HWIO = 16
};

/* A graph may have a million tensors: facts that few of them have are out of line. */
struct tensor {
    const char *name;        /* unique in the graph, never empty */
    const char *wanted;      /* the name that was asked for, where another tensor had it; else NULL */
    const struct type *type; /* one of graph->types, never NULL; changed by graph_set_dtype and graph_set_shape */
    const struct quant *quant;
    struct view *view;    /* kind == TENSOR_STATIC: the tensor's own; else NULL */
    node_id producer;     /* NO_NODE for inputs and constants */
    uint8_t kind;         /* enum tensor_kind */
    uint8_t source_dtype; /* enum dtype: the model's where a pass narrowed it, else DT_NONE */
    uint8_t axis_format;  /* enum axis_format; 0: by rank */
};

/* The value of one parameter on its way into a node or out of it. Numbers are kept wide; dtype is what the container
 * stores. */
struct param {
    bool set;
    bool is_tensor;
    uint8_t usage; /* 1 parameter of the op, 2 supplemental (dlc-format.md) */
    const char *name;
    enum dtype dtype; /* integer and bool types: i/ints; float types: f/floats; DT_STRING: s/strings */
    int64_t i;
    double f;
    const char *s;
    struct shape shape; /* is_tensor */
    const int64_t *ints;
    const double *floats;
    const char *const *strings;
};

/* A parameter as a node keeps it; its name stands in the node's row. Read by node_get_param, written by node_set_param
 * (src/op/op.h). */
struct packed_param {
    const struct shape *shape; /* of a tensor, in one of graph->types; NULL: a scalar */
    union {
        int64_t i;
        double f;
        const char *s;
        const int64_t *ints;
        const double *floats;
        const char *const *strings;
    };
    bool set;
    uint8_t usage;
    uint8_t dtype; /* enum dtype */
};

/* How a UDO's definition wants an operand. */
struct operand_form {
    bool as_stored;     /* no layout is declared: the operand is taken, or given, as the container has it */
    uint8_t fixed_bits; /* a fixed-point type of that many bits is declared; 0: another one */
};

struct operand_forms {
    const struct operand_form *in, *out; /* one per operand */
};

struct node {
    const char *name;    /* unique among nodes */
    const struct op *op; /* NULL: removed */
    tensor_id *inputs;   /* NO_TENSOR for an absent optional one */
    tensor_id *outputs;
    struct packed_param *params;       /* op->n_params entries, in the row's order */
    const char *source;                /* for diagnostics: name of the framework's node, or NULL */
    const struct operand_forms *forms; /* UDOs; NULL for other nodes */
    uint32_t n_inputs;
    uint32_t n_outputs : 31;
    bool layout_only : 1; /* a Transpose that lowering put around a channels-last op: not the model's own */
    bool to_first : 1;    /* … from channels-last to channels-first, which of rank 3 the permutation does not tell */
};

/* Integers of a param. */
struct int_list {
    const int64_t *ints;
    uint64_t count;
};
enum { SHARED_LISTS = 64 };

struct graph {
    struct arena *arena;
    const char *name;
    VEC(struct tensor) tensors;
    VEC(struct node) nodes;
    VEC(node_id) order;      /* live nodes in execution order */
    bool has_removed;        /* nodes were removed that may still be in the order */
    uint64_t changes;        /* of nodes, their operands and the graph's outputs: how many there were */
    VEC(tensor_id) inputs;   /* graph inputs, in the model's order */
    VEC(tensor_id) outputs;  /* graph outputs, in the model's order; kind TENSOR_OUTPUT unless also an input */
    struct map tensor_names; /* name → tensor_id */
    struct map node_names;   /* name → node_id */
    struct type_set types;   /* of all tensors and tensor params */
    struct int_list lists[SHARED_LISTS]; /* that params of many nodes share, by hash: the latest ones */
    struct growth growth;                /* limits of what building the graph may add */
    struct spill *spill;                 /* where large constants are put that are computed; NULL: their nodes stay */
};

/* The name that a tensor has, or asked for and gets when it is free (pass_restore_names.c). */
static inline const char *tensor_wanted_name(const struct tensor *t)
{
    return t->wanted ? t->wanted : t->name;
}

struct graph *graph_create(struct arena *arena, const char *name);
/* Makes room for that many more tensors and nodes in the tables of names, where the numbers are known before. */
void graph_reserve(struct graph *g, size_t n_tensors, size_t n_nodes);
/* Says that a tensor and a node of these names are added soon: their places in the tables are fetched meanwhile. NULL:
 * none are, and the names that were expected may go, as they must not before. */
void graph_expect(struct graph *g, const char *tensor, const char *node);

static inline struct tensor *graph_tensor(const struct graph *g, tensor_id id)
{
    return &g->tensors.data[id];
}

static inline struct node *graph_node(const struct graph *g, node_id id)
{
    return &g->nodes.data[id];
}

/* The i-th input's tensor, or NULL when the input is absent or i is past the end. */
const struct tensor *node_input(const struct graph *g, const struct node *n, uint32_t i);
const struct tensor *node_output(const struct graph *g, const struct node *n, uint32_t i);
/* The node that computes a tensor; NULL for graph inputs, constants and NO_TENSOR. */
struct node *graph_producer(const struct graph *g, tensor_id id);

/* The graph's copy of a type. */
const struct type *graph_type(struct graph *g, enum dtype dtype, const struct shape *shape);
void graph_set_dtype(struct graph *g, tensor_id id, enum dtype dtype);
void graph_set_shape(struct graph *g, tensor_id id, const struct shape *shape);
/* Gives a constant its data (copied); its shape is the tensor's. */
void graph_set_view(struct graph *g, tensor_id id, const struct view *view);

/* Adds a tensor; name NULL or already taken: a unique one is derived from it ("<name>.1"). */
tensor_id graph_add_tensor(struct graph *g, const char *name, enum tensor_kind kind, const struct type *type);
/* Adds a constant of dtype as and the view's shape. */
tensor_id graph_add_constant(struct graph *g, const char *name, enum dtype as, const struct view *view);
/* NO_TENSOR when there is none of that name now. */
tensor_id graph_find_tensor(const struct graph *g, const char *name);
/* Renames; no tensor may have the new name. The old one is not given to others. */
void graph_rename_tensor(struct graph *g, tensor_id id, const char *name);
/* A name that no tensor has yet: base itself, or base with ".1", ".2", …. In the arena. */
const char *graph_free_tensor_name(struct graph *g, const char *base);

/* Adds a node (not yet in graph->order) with copies of the id arrays, room for n_params unset params, and sets the
 * outputs' producer. The name is made unique as for tensors; that of a removed node is free again. */
node_id graph_add_node(struct graph *g, const struct op *op, uint32_t n_params, const char *name,
                       const tensor_id *inputs, uint32_t n_inputs, const tensor_id *outputs, uint32_t n_outputs);
/* Renames, unless another node has that name. */
void graph_rename_node(struct graph *g, node_id id, const char *name);
/* Takes the node out (op = NULL); outputs lose their producer. graph_compact drops it from order. */
void graph_remove_node(struct graph *g, node_id id);
/* Input i of the node reads that tensor from now on, or nothing (NO_TENSOR). */
void graph_replace_input(struct graph *g, node_id id, uint32_t i, tensor_id tensor);
/* The same where the node may have had fewer inputs. */
void graph_set_input(struct graph *g, node_id id, uint32_t i, tensor_id tensor);
/* Output i of the node is that tensor from now on, which no node computes yet; the one before it loses its producer. */
void graph_replace_output(struct graph *g, node_id id, uint32_t i, tensor_id tensor);
/* Graph output i is that tensor from now on. Of the two, the one before becomes native and the other one an output,
 * unless they are graph inputs or constants, which stay what they are. */
void graph_replace_result(struct graph *g, size_t i, tensor_id tensor);
/* Gives the tables of names back: nothing is added, renamed or looked for by name from now on. */
void graph_forget_names(struct graph *g);
/* Rewrites graph->order without removed nodes, if there may be any. */
void graph_compact(struct graph *g);

/* Use counts and consumers: a side table, valid until the graph changes. */
struct uses {
    uint32_t *first; /* n_tensors + 1: consumers of tensor t are nodes[first[t] … first[t+1]) */
    node_id *nodes;  /* in execution order; a node that reads t twice is listed twice */
    uint32_t *count; /* consumers plus one for each time t is a graph output */
};
struct uses graph_uses(struct arena *arena, const struct graph *g);
/* The same of some nodes alone, in their order; being a graph output does not count. */
struct uses graph_uses_among(struct arena *arena, const struct graph *g, const node_id *nodes, size_t count);
/* All nodes that read `tensor` (`uses` is right for it) read `with` instead; graph outputs stay as they are. */
void graph_replace_uses(struct graph *g, const struct uses *uses, tensor_id tensor, tensor_id with);

#endif
