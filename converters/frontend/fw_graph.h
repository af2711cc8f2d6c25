/* SPDX-License-Identifier: Apache-2.0 */
/* What a front end hands over: the framework's graph with its own names and attributes, and tensors as views of mapped
 * files. ONNX and TensorFlow fill it.
 *
 * Graphs have millions of nodes, so what is alike is shared: a value goes by one text wherever it is named, and nodes
 * of one operator share its description. The graph itself may go when it has been lowered (struct fw_memory). */
#ifndef CONVERTERS_FRONTEND_FW_GRAPH_H
#define CONVERTERS_FRONTEND_FW_GRAPH_H

#include "ir/graph.h"

/* Nodes, initializers, or other entries of one kind, that a graph may list. Ids are 32 bits wide, and entries without
 * content take two bytes of a file, but a hundred of memory. */
#define FW_MAX_ENTRIES (1 << 22)

/* In tables by the version of operators: no upper end. */
#define LATEST INT64_MAX

#define DIM_OPEN (-1) /* a dimension the model leaves open */

/* Where a model is loaded to. No two of them are the same arena. */
struct fw_memory {
    struct arena *kept;    /* texts, and elements that are in no file: what follows the graph goes on using them */
    struct arena *graph;   /* the framework graph itself */
    struct arena *scratch; /* for loading alone, which gives back what it takes */
};

/* The number of a value's name: names that are the same have the same number, anywhere in the model. */
typedef uint32_t fw_name;
#define FW_NO_NAME 0 /* of the name "" */

struct fw_tensor {
    const char *name;
    fw_name id;
    struct view view; /* dtype and shape of the model */
};

enum fw_attr_kind {
    FW_INT,
    FW_BOOL, /* in `i`: 0 or 1 */
    FW_FLOAT,
    FW_STRING,
    FW_TENSOR,
    FW_GRAPH,
    FW_INTS,
    FW_FLOATS,
    FW_STRINGS,
    FW_FUNCTION, /* a function of the model's library, which a front end replaces by its graph where it can */
    FW_SPARSE,   /* a sparse tensor; `tensor` has all its elements */
    FW_COMPLEX,  /* a tensor of complex numbers; the last axis of `tensor` has their real and imaginary parts */
    FW_OTHER     /* a kind that no operator here uses (lists of tensors or graphs, ONNX's types) */
};

/* A function by name, with attributes that its body refers to. */
struct fw_function {
    const char *name;
    const struct fw_attr *attrs;
    uint32_t n_attrs;
};

struct fw_attr {
    const char *name; /* like lists and strings that are values, it stays when the graph goes */
    const char *ref;  /* inside a function body: the name of the function's attribute that gives the value, or NULL */
    enum fw_attr_kind kind;
    bool is_type; /* FW_INT, FW_INTS: the framework's numbers of element types */
    size_t count; /* of the list kinds; bytes of a string, which may hold NULs */
    union {       /* by kind; none with a ref */
        int64_t i;
        float f;
        const char *s; /* NUL-terminated */
        const struct fw_tensor *tensor;
        struct fw_graph *graph;
        const struct fw_function *function;
        const int64_t *ints;
        const float *floats;
        const char *const *strings;
    };
};

/* Declared type of a value; a model may say none of it. */
struct fw_value {
    const char *name;
    fw_name id;
    enum dtype dtype : 8; /* DT_NONE: not said */
    bool has_shape : 1;
    bool not_a_tensor : 1; /* sequence, optional, map, sparse */
    bool frozen : 1;       /* a graph input that an option made a constant */
    uint8_t rank;
    int64_t *dims;        /* rank entries; DIM_OPEN where the model leaves it open */
    const char **symbols; /* NULL, or one per dimension: the symbol of an open one ("batch"), or NULL */
};

/* An operator as nodes name it. */
struct fw_op {
    const char *type;
    const char *domain;   /* "" is the default domain ("ai.onnx" is turned into "") */
    const char *overload; /* which one of several functions of that name; "" */
    int64_t
        version;    /* of the domain, by the model's (or function's) opset imports; 0: not imported, or no such thing */
    uint32_t index; /* in the model's list */
    /* What the model says of the operator, where that is more than the front end knows: attributes that a node may
     * leave out, with what they are then, and names of inputs, from the first one on. */
    const struct fw_attr *defaults;
    const char *const *input_names;
    uint32_t n_defaults, n_input_names;
    const void *definition; /* the same for the front end, or NULL */
    const void *types;      /* what the front end knows of its operands' element types, or NULL */
    /* Filled by the driver: what converts its nodes. */
    const struct udo_def *claimed_by;  /* or NULL */
    const struct lower_row *row;       /* or NULL, as with claimed_by */
    const struct signature *signature; /* what nodes may have (signature.h); NULL: it is not known */
    const struct fw_attr *right_attrs; /* those of the latest node whose attributes are as the signature says, … */
    uint32_t n_right_attrs;            /* … which others share in models that say them with the same bytes */
    bool takes_strings;                /* as elements of some input */
    bool reported;                     /* an error says that nothing converts its nodes */
    bool unknown_reported;             /* a warning says that a node has an attribute that is not known */
};

struct fw_node {
    const char *name; /* "" when the model gives none */
    const struct fw_op *op;
    const char *const *inputs, *const *outputs; /* "" for an absent optional one */
    const fw_name *ids;                         /* of the inputs, then of the outputs */
    const struct fw_attr *attrs;
    uint32_t n_inputs, n_outputs, n_attrs;
    bool conditional; /* the node is of a branch, and may not be run */
    bool refused;     /* filled by the driver: errors say what is wrong with the node, or its lowering failed */
};

struct fw_graph {
    const char *name;
    VEC(struct fw_node) nodes;   /* in the model's order, which is topological (checked) */
    VEC(struct fw_value) inputs; /* without those that are initializers */
    VEC(struct fw_value) outputs;
    VEC(struct fw_tensor) initializers;
    VEC(struct fw_value) values; /* value_info */
};

/* Another name by which options may call a graph input or output. All of it is kept. */
struct fw_alias {
    const char *name;  /* in the spelling that options get */
    const char *key;   /* the same as the model says it, to show users; or NULL: it is not shown */
    const char *value; /* of the graph */
};

typedef VEC(struct fw_alias) fw_aliases;

struct fw_model {
    const char *path;
    const struct file *file; /* mapped from there; NULL: nothing is read through a mapping of it */
    struct fw_graph graph;
    VEC(struct fw_op *) ops;                  /* of all nodes, those in subgraphs included */
    uint32_t n_names;                         /* of values: their numbers are less */
    int64_t ir_version, opset;                /* opset of the default domain */
    fw_aliases input_aliases, output_aliases; /* they come before names of values */
    bool channels_first;          /* nodes say that their spatial tensors are NCHW, where others may be NHWC */
    VEC(const char *) files;      /* that were opened besides path */
    VEC(const char *) unconsumed; /* nodes that no output needs, where the front end leaves them out; kept */
};

static inline fw_name fw_in_id(const struct fw_node *n, size_t i)
{
    return n->ids[i];
}

static inline fw_name fw_out_id(const struct fw_node *n, size_t i)
{
    return n->ids[n->n_inputs + i];
}

/* The graph, or tensor, that the attribute holds, or NULL. */
static inline struct fw_graph *fw_attr_graph(const struct fw_attr *a)
{
    return a->kind == FW_GRAPH && !a->ref ? a->graph : NULL;
}

/* Whether the attribute is a graph, or a function by its name. */
static inline bool fw_holds_graph(const struct fw_attr *a)
{
    return a->kind == FW_GRAPH || a->kind == FW_FUNCTION;
}

static inline const struct fw_tensor *fw_attr_tensor(const struct fw_attr *a)
{
    return (a->kind == FW_TENSOR || a->kind == FW_SPARSE) && !a->ref ? a->tensor : NULL;
}

/* The attribute of that name, or NULL. */
const struct fw_attr *fw_find_attr(const struct fw_node *n, const char *name);
/* The node's name, or its first output's when it has none. */
const char *fw_node_label(const struct fw_node *n);

/* The symbol of dimension k, or NULL. */
static inline const char *fw_symbol(const struct fw_value *v, uint32_t k)
{
    return v->symbols ? v->symbols[k] : NULL;
}

/* The dimensions of a value between commas: open ones by their symbol, or "?". "" for a scalar, "unknown rank" for a
 * value without a shape. */
const char *fw_dims_text(struct arena *arena, const struct fw_value *v);

/* Whether the word is in the list, which has a space on both sides of each of its words. */
bool fw_is_one_of(const char *words, const char *word);

/* Calls fn for every name that the node reads: inputs, and what the graphs inside of the node may read from around them
 * (names of their own are among those). */
typedef void fw_name_fn(void *user, fw_name name);
void fw_each_read(const struct fw_node *n, fw_name_fn *fn, void *user);

bool fw_has_suffix(const char *text, const char *suffix);

#endif
