/* SPDX-License-Identifier: Apache-2.0 */
/* A TensorFlow graph as it stands in the file: names of nodes, what they read, and where the rest of them is. A node's
 * attributes are decoded when it turns out to be needed. */
#ifndef CONVERTERS_TENSORFLOW_DECODE_TF_MODEL_H
#define CONVERTERS_TENSORFLOW_DECODE_TF_MODEL_H

#include <string.h>

#include "base/map.h"
#include "converters/frontend/names.h"
#include "converters/frontend/wire.h"
#include "converters/tensorflow/decode/op_defs.h"

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
    uint32_t *found;  /* TF_PLACES nodes that were asked for before */
};
enum { TF_PLACES = 2 }; /* places in a graph at work: a chain, and a constant that its nodes share */

/* The node of that name, or MAP_NONE. Most nodes read those beside them, whose names are compared first. */
uint32_t tf_body_find(const struct tf_body *body, const char *name);

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

enum { TF_SHARED_TEXTS = 256, TF_SAID_ATTRS = 32 };

/* Attributes as bytes of the file, and what they are. */
struct tf_said_attrs {
    uint64_t from, size;
    const struct fw_attr *list; /* NULL: none */
    uint32_t count;
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
    struct map op_index;                 /* name → ops; made when there are any */
    const char *shared[TF_SHARED_TEXTS]; /* kept texts that many nodes say, by hash: the latest ones */
    struct tf_said_attrs said[TF_SAID_ATTRS];
    bool says_shapes; /* attributes that were decoded had _output_shapes among them */
};

/* A place in the model's file:  AT(IN_MODEL(m), .node = name) */
#define IN_MODEL(m) .file = (m)->file->path

/* What walking over a node with so many inputs costs: most count once. */
static inline uint64_t tf_node_size(uint32_t n_inputs)
{
    return 1 + n_inputs / 8;
}

/* Whether an operator goes by that name: what begins with another character is not compared by a call. */
static inline bool op_is(const char *op, const char *name)
{
    return *op == *name && strcmp(op, name) == 0;
}

/* The text in a field, kept. */
static inline const char *tf_text(const struct tf_model *m, const struct wire_field *f)
{
    return wire_text(m->memory.kept, m->file, f);
}

/* The same for a text that many nodes say: names of attributes and operators, words among values. */
const char *tf_shared_text(struct tf_model *m, const struct wire_field *f);

#endif
