/* A TensorFlow graph as it stands in the file: names of nodes, what they read, and where the rest of them is. A node's
 * attributes are decoded when it turns out to be needed. */
#ifndef CONVERTERS_TENSORFLOW_DECODE_TF_GRAPH_H
#define CONVERTERS_TENSORFLOW_DECODE_TF_GRAPH_H

#include "base/map.h"
#include "converters/frontend/names.h"
#include "converters/tensorflow/decode/op_defs.h"
#include "converters/frontend/wire.h"

/* Attributes of a node, and inputs, outputs and attributes that an operator's definition lists: operators have 20 or
 * 30, and what is looked up for each node is looked up among them. */
enum { TF_MAX_ATTRS = 1024 };

struct tf_node {
    const char *name, *op;
    /* "name", "name:1", "^name" for a control input; in a function an argument's name, or "name:output:0" where the
     * output is one that the operator's definition names */
    const char *const *inputs;
    uint32_t n_inputs;
    struct section attrs; /* where its attributes are */
};

/* The nodes of the graph, or of a function. */
struct tf_body {
    VEC(struct tf_node) nodes;
    uint64_t size;    /* what the body costs where it stands: its nodes, and one more for a few inputs */
    struct map index; /* name → node */
};

/* Attributes that are the same wherever their node stands. */
struct tf_known_attrs {
    const struct fw_attr *list;
    uint32_t count;
    enum { ATTRS_NEW, ATTRS_KNOWN, ATTRS_VARY } state;
};

struct tf_function {
    const char *name;
    struct wire_field message;
    bool decoded, failed; /* what follows is filled when the function is needed */
    struct map args;      /* name → number */
    VEC(const char *) arg_names;
    VEC(const char *) ret_names; /* of its outputs, in their order */
    VEC(const char *) rets;      /* what gives each of them, as an input of a node says it */
    struct tf_body body;
    struct tf_known_attrs *attrs; /* per node of the body */
};

/* A model that is being read. */
struct tf_model {
    struct fw_memory memory;
    struct diags *diags;
    const struct file *file; /* with the graph's message */
    struct fw_names names;   /* of values */
    struct tf_body body;
    int64_t producer; /* version of what made the graph; 0: it does not say */
    VEC(struct tf_function) functions;
    struct map function_index; /* name → function */
    VEC(struct tf_op_def) ops; /* that the model brings definitions of */
    VEC(struct wire_field) op_messages;
    struct map op_index; /* name → ops; made when there are any */
};

/* A place in the model's file:  AT(IN_MODEL(m), .node = name) */
#define IN_MODEL(m) .file = (m)->file->path

/* tf_graph.c: fills body and functions from the GraphDef that is between two places of the file. */
odlc_status tf_decode_graph(struct tf_model *m, uint64_t from, uint64_t to) MUST_USE;
/* Fills the function's arguments, results and body, once. */
odlc_status tf_decode_function(struct tf_model *m, struct tf_function *f) MUST_USE;
/* Type and shape of an argument, as far as the function says them. */
odlc_status tf_describe_argument(struct tf_model *m, const struct tf_function *function, uint32_t arg,
                                 struct fw_value *out) MUST_USE;

/* op_list.c: takes in the definitions in an OpList. */
odlc_status tf_decode_op_list(struct tf_model *m, const struct wire_field *list) MUST_USE;
/* What the model's definition of an operator that is not TensorFlow's own says beside its outputs. */
odlc_status tf_describe_op(struct tf_model *m, struct fw_op *op) MUST_USE;
/* TensorFlow's definition of the operator, or else the model's; NULL: there is none. */
const struct tf_op_def *tf_op_of(const struct tf_model *m, const char *op);

/* tf_attr.c: the attributes of a node. `given` are the attributes of the function call that the node is inside of
 * (count n_given): its own may refer to them by name; *varies says that they do. Elements and texts are kept. */
odlc_status tf_decode_attrs(struct tf_model *m, const struct tf_node *n, const struct fw_attr *given, size_t n_given,
                            const struct fw_attr **out, uint32_t *count, bool *varies) MUST_USE;
/* The attributes of an operator's definition that have defaults. */
odlc_status tf_decode_defaults(struct tf_model *m, const struct wire_field *op_def, const char *op,
                               const struct fw_attr **out, uint32_t *count) MUST_USE;
/* A shape that may leave dimensions open: into has_shape, rank and dims of v. */
odlc_status tf_decode_shape(struct tf_model *m, const struct wire_field *shape, const char *node,
                            struct fw_value *v) MUST_USE;
/* The shapes of the attribute _output_shapes: those of the outputs from `first` on go to v[0 … count). */
odlc_status tf_decode_output_shapes(struct tf_model *m, const struct tf_node *n, size_t first, struct fw_value *v,
                                    size_t count) MUST_USE;

/* tf_tensor.c: the type that a TensorProto's elements have in a view: integers for quantized ones; DT_NONE: there
 * is none. *code gets TensorFlow's number of it. */
enum dtype tf_tensor_dtype(const struct tf_model *m, const struct wire_field *tensor, int64_t *code);
/* A TensorProto as a view, of the mapped file where possible. */
odlc_status tf_decode_tensor(struct tf_model *m, const struct wire_field *tensor, const char *node,
                             struct view *out) MUST_USE;

/* What walking over a node with so many inputs costs: most count once. */
static inline uint64_t tf_node_size(uint32_t n_inputs)
{
    return 1 + n_inputs / 8;
}

/* The text in a field, kept. */
static inline const char *tf_text(const struct tf_model *m, const struct wire_field *f)
{
    return wire_text(m->memory.kept, m->file, f);
}

#endif
