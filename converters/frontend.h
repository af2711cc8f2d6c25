/* What a front end hands over: the framework's graph with its own names and attributes, and tensors as views of mapped
 * files. ONNX fills it today. All memory belongs to the conversion's arena. */
#ifndef CONVERTERS_FRONTEND_H
#define CONVERTERS_FRONTEND_H

#include "ir/graph.h"

#define DIM_OPEN (-1) /* a dimension the model leaves open */

struct fw_tensor {
    const char *name;
    struct view view; /* dtype and shape of the model */
};

enum fw_attr_kind {
    FW_INT,
    FW_FLOAT,
    FW_STRING,
    FW_TENSOR,
    FW_GRAPH,
    FW_INTS,
    FW_FLOATS,
    FW_STRINGS,
    FW_SPARSE, /* a sparse tensor; `tensor` has all its elements */
    FW_OTHER   /* a kind that no operator here uses (lists of tensors or graphs, types) */
};

struct fw_attr {
    const char *name;
    enum fw_attr_kind kind;
    const char *ref; /* inside a function body: the name of the function's attribute that gives the value */
    int64_t i;
    float f;
    const char *s; /* FW_STRING: NUL-terminated; s_length may be larger when it holds NULs */
    size_t s_length;
    const struct fw_tensor *tensor;
    struct fw_graph *graph;
    size_t count; /* of the list kinds */
    const int64_t *ints;
    const float *floats;
    const char *const *strings;
};

/* Declared type of a value; a model may say none of it. */
struct fw_value {
    const char *name;
    enum dtype dtype; /* DT_NONE: not said */
    bool has_shape;
    uint32_t rank;
    int64_t dims[MAX_RANK];        /* DIM_OPEN where the model leaves it open */
    const char *symbols[MAX_RANK]; /* the symbol of an open dimension ("batch"), or NULL */
    bool not_a_tensor;             /* sequence, optional, map, sparse */
};

struct fw_node {
    const char *name; /* "" when the model gives none */
    const char *op_type;
    const char *domain;             /* "" is the default domain ("ai.onnx" is turned into "") */
    const char *overload;           /* which one of several functions of that name; "" */
    int64_t version;                /* of the domain, by the model's (or function's) opset imports; 0: not imported */
    const char **inputs, **outputs; /* "" for an absent optional one */
    size_t n_inputs, n_outputs;
    const struct fw_attr *attrs;
    size_t n_attrs;
};

struct fw_graph {
    const char *name;
    VEC(struct fw_node) nodes;   /* in the model's order, which is topological (checked) */
    VEC(struct fw_value) inputs; /* without those that are initializers */
    VEC(struct fw_value) outputs;
    VEC(struct fw_tensor) initializers;
    VEC(struct fw_value) values; /* value_info */
};

struct fw_model {
    const char *path;
    struct fw_graph graph;
    int64_t ir_version, opset; /* opset of the default domain */
    VEC(const char *) files;   /* that were opened besides path */
};

const struct fw_attr *fw_find_attr(const struct fw_node *n, const char *name);
/* The node's name, or its first output's when it has none. */
const char *fw_node_label(const struct fw_node *n);

/* Calls fn for every name that the node reads: its inputs, and what the graphs that it holds may read from around it
 * (names of their own are among those). */
typedef void fw_name_fn(void *user, const char *name);
void fw_each_read(const struct fw_node *n, fw_name_fn *fn, void *user);

#endif
