/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies at work: the model's own graph, and those of its functions as calls run them. What is known of their nodes,
 * how values are called, and what all of them together may take. */
#ifndef CONVERTERS_TENSORFLOW_NORMALIZE_FRAMES_H
#define CONVERTERS_TENSORFLOW_NORMALIZE_FRAMES_H

#include "converters/frontend/frontend.h"
#include "converters/tensorflow/decode/tf_model.h"

/* Nodes for which one of them stands: a loop. */
struct group {
    const char *const *inputs; /* that the nodes read from around them, as inputs of nodes say it */
    uint32_t n_inputs;
};

/* An output of a node that is no call, or an argument of a function that is a graph of its own. */
struct source {
    struct frame *frame; /* NULL: not known */
    uint32_t node, output;
    bool is_arg;               /* `node` is the argument's number */
    bool cut;                  /* an option makes it an input of the graph; of a node that may be a call */
    const struct group *group; /* that `node` stands for, whose result number `output` it is; or NULL */
};

enum seen_state { SEEN_NEW, SEEN_ACTIVE, SEEN_DONE };

/* What is known of a node of a body at work. */
struct seen {
    uint8_t state;
    bool has_attrs;
    bool reached; /* it is run for the outputs, or for what it does (state.c) */
    uint32_t n_attrs;
    const struct fw_attr *attrs;
    struct frame *inner; /* of a call */
    uint32_t walk;       /* whose state this is */
    uint32_t emitted;    /* in the walk, when done; NOT_EMITTED for what became an input or a constant */
    fw_name decides;     /* of a Switch: the value that says which of its outputs is alive */
    fw_name id;          /* of output 0, once it was asked for */
    const struct condition *when;
};
#define NOT_EMITTED UINT32_MAX

/* An output of what is converted. */
struct output {
    const char *name;  /* of the tensor; NULL: that of the value */
    const char *asked; /* what the options or the signature call it */
    const char *key;   /* in the signature; or NULL */
    struct source source;
};

/* One body at work: the graph's own, or that of a function as one call runs it. */
struct frame {
    struct frame *parent; /* of the call; NULL for the outermost */
    struct frame *around; /* the parent, or that of the node that holds the function; NULL for the model's own graph */
    const struct tf_body *body;
    struct tf_function *function; /* NULL for the model's own graph */
    const struct tf_node *call;   /* in the parent's body, or NULL */
    const char *prefix;           /* of the names inside: "", or "call/" */
    const char **renamed;         /* NULL, or per node: the whole name that its values go by instead, or NULL */
    const struct fw_attr *given;  /* attributes of the call, which those inside may refer to */
    size_t n_given;
    uint32_t depth;
    struct seen *seen;   /* per node of the body */
    struct source *rets; /* per result of the function: where it comes from, once that is known */
    struct loops *loops; /* of the body, once they are asked for */
    uint32_t holder;     /* of a function that is no call: the node in the frame around that holds it */
};

/* What all graphs of one model share. */
struct normalize {
    struct tf_model *m;
    fw_claims_fn *claims; /* or NULL */
    void *claims_user;
    struct fw_model *model;
    const struct stage *const *stages; /* walk.h */
    size_t n_stages;
    struct map ops;                     /* type → model->ops */
    const struct fw_op *recent_ops[64]; /* most nodes' operators, without a look into ops */
    /* Names of values that options or a signature make inputs, and what is known of these. */
    struct map cuts;
    VEC(struct fw_value) cut_values;
    struct variables *variables;
    uint64_t expanded; /* nodes of all bodies at work */
    uint64_t n_made;   /* nodes whose operands were known */
    uint64_t name_bytes;
    text name;          /* room for the one that is being made */
    struct name_ahead { /* the one of output 0 of a node that is wanted next (source_expect) */
        const struct frame *frame;
        uint32_t node;
        text name;
    } ahead;
    struct frame *top;    /* the model's own graph */
    struct frame *root;   /* what is converted: that graph, or a function of a saved program */
    bool *args_read;      /* per argument of that function */
    struct frame *served; /* the function of the signature (served.h); or NULL */
    const struct output *outputs;
    size_t n_outputs;
    uint32_t n_walks, n_variables; /* n_variables: that the outputs read */
    VEC(struct frame *) held;      /* of functions that nodes hold */
    struct map condition_index;    /* terms as text → conditions */
    VEC(const struct condition *) conditions;
};

/* Whether a UDO claims nodes of the operator, which stay whole. */
static inline bool is_claimed(const struct normalize *nz, const char *op)
{
    return nz->claims && nz->claims(nz->claims_user, op, "");
}

/* ODLC_ERR_LIMIT at a node: too many nodes at work, `more` of them new. */
odlc_status note_expansion(struct normalize *nz, uint64_t more, const char *node) MUST_USE;
/* ODLC_ERR_LIMIT at a node: the names of so many values, prefix and the node's name, are too much with those before. */
odlc_status note_names(struct normalize *nz, uint64_t count, const char *prefix, const char *node) MUST_USE;

/* A frame for a body. function and call may be NULL; without a call, `around` is where the function is held.
 * ODLC_ERR_INVALID for a function that calls itself, ODLC_ERR_LIMIT where they nest too deep or expand to too much. */
odlc_status frame_create(struct normalize *nz, struct frame *around, struct tf_function *function,
                         const struct tf_node *call, const struct fw_function *as, struct frame **out) MUST_USE;
/* The node's attributes, decoded once. */
odlc_status node_attrs(struct normalize *nz, struct frame *frame, uint32_t node, const struct fw_attr **out,
                       uint32_t *count) MUST_USE;
const struct fw_attr *find_attr(const struct fw_attr *attrs, uint32_t count, const char *name);

/* The number of the value's name, which is "prefix/name:output". */
fw_name output_name_id(struct normalize *nz, const char *prefix, const char *name, uint32_t output);
fw_name source_id(struct normalize *nz, const struct source *s);
/* Says that the number of the name of the node's output 0 is asked for soon: its place in the table is fetched. */
void source_expect(struct normalize *nz, const struct frame *frame, uint32_t node);
/* The name of the value's node: "prefix/name"; kept. */
const char *source_node_name(const struct normalize *nz, const struct source *s);
static inline const char *source_name(struct normalize *nz, const struct source *s)
{
    return names_text(&nz->m->names, source_id(nz, s));
}

static inline const struct tf_node *source_node(const struct source *s)
{
    return &s->frame->body->nodes.data[s->node];
}

/* The number of the node that an input names, in the body; MAP_NONE for arguments, and for what is not there. */
uint32_t body_node(const struct normalize *nz, const struct frame *frame, const char *input);
/* Of the nodes whose names are what stands before a slash in `name`, within its first *length bytes, the one with the
 * longest name, whose length *length becomes; MAP_NONE: there is none. Names of values inside of calls begin so. */
uint32_t holding_node(const struct normalize *nz, const struct frame *frame, const char *name, size_t *length);

#endif
