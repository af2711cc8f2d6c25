/* From the outputs back: what they need of a TensorFlow graph, in topological order, calls of functions replaced by
 * what they compute. The rest (training, saving, summaries, control inputs) is never looked at.
 *
 * Names inside of a call are "call/name". */
#ifndef CONVERTERS_TENSORFLOW_NORMALIZE_FLATTEN_H
#define CONVERTERS_TENSORFLOW_NORMALIZE_FLATTEN_H

#include "converters/frontend/frontend.h"
#include "converters/tensorflow/decode/tf_graph.h"

/* An output of a node that is no call, or an argument of a function that is a graph of its own. */
struct source {
    struct frame *frame; /* NULL: not known */
    uint32_t node, output;
    bool is_arg;  /* `node` is the argument's number */
    bool cut;     /* an option makes it an input of the graph; of a node that may be a call */
    bool is_loop; /* `node` is the LoopCond of a loop, and stands for it; `output` is the number of its variable */
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

/* One body at work: the graph's own, or that of a function as one call runs it. */
struct frame {
    struct frame *parent; /* of the call; NULL for the outermost */
    struct frame *around; /* the parent, or that of the node that holds the function; NULL for the model's own graph */
    const struct tf_body *body;
    struct tf_function *function; /* NULL for the model's own graph */
    const struct tf_node *call;   /* in the parent's body, or NULL */
    const char *prefix;           /* of the names inside: "", or "call/" */
    const struct fw_attr *given;  /* attributes of the call, which those inside may refer to */
    size_t n_given;
    uint32_t depth;
    struct seen *seen;   /* per node of the body */
    struct source *rets; /* per result of the function: where it comes from, once that is known */
    struct loops *loops; /* of the body, once they are asked for */
    uint32_t holder;     /* of a function that is no call: the node in the frame around that holds it */
};

/* A node of the flat graph. */
struct emitted {
    struct fw_node node;        /* without outputs and their ids until all readers are known */
    const struct tf_node *from; /* NULL: another name for a value, or a loop */
    uint32_t n_outputs;         /* up to the highest that something reads */
};

/* What all graphs of one model share. */
struct flatten {
    struct tf_model *m;
    fw_claims_fn *claims;
    void *claims_user;
    struct fw_model *model;
    struct map ops; /* type → model->ops */
    /* Names of values that options or a signature make inputs, and what is known of these. */
    struct map cuts;
    VEC(struct fw_value) cut_values;
    struct variables *variables;
    const struct tf_source *source;
    uint64_t expanded; /* nodes of all bodies at work */
    uint64_t name_bytes;
    text name;          /* room for the one that is being made */
    struct frame *top;  /* the model's own graph */
    struct frame *root; /* what is converted: that graph, or a function of a saved program */
    bool *args_read;    /* per argument of that function */
    const char *const *outputs;
    size_t n_outputs;
    uint32_t n_walks, n_variables; /* n_variables: that the outputs read */
    VEC(struct frame *) held;      /* of functions that nodes hold */
    struct map condition_index;    /* terms as text → conditions */
    VEC(const struct condition *) conditions;
};

/* ---- resolve.c: which node gives a value ---- */

/* Whether nodes of the operator are calls, unless a UDO claims them. */
bool is_call(const struct flatten *f, const char *op);
/* The frame of a node that is a call, made when it is first asked for; NULL for other nodes. */
odlc_status call_frame(struct flatten *f, struct frame *frame, uint32_t node, struct frame **out) MUST_USE;
/* A frame for a body. function and call may be NULL; without a call, `around` is where the function is held. */
odlc_status frame_create(struct flatten *f, struct frame *around, struct tf_function *function,
                         const struct tf_node *call, const struct fw_function *as, struct frame **out) MUST_USE;
/* An error at a node: too many nodes at work, `more` of them new. */
odlc_status note_expansion(struct flatten *f, uint64_t more, const char *node) MUST_USE;
/* An error at a node: the names of so many values, prefix and the node's name, are too much with those before. */
odlc_status note_names(struct flatten *f, uint64_t count, const char *prefix, const char *node) MUST_USE;
/* What gives the value that a node's input (or a function's result) names. `reader` is for diagnostics. */
odlc_status find_source(struct flatten *f, struct frame *frame, const char *text, const char *reader,
                        struct source *out) MUST_USE;
/* The value of that name as options give it, which may lie inside of calls; out->frame NULL: there is none. */
odlc_status find_named(struct flatten *f, const char *name, struct source *out) MUST_USE;
/* The node's attributes, decoded once. */
odlc_status node_attrs(struct flatten *f, struct frame *frame, uint32_t node, const struct fw_attr **out,
                       uint32_t *count) MUST_USE;
/* The number of the value's name, which is "prefix/name", or "prefix/name:1" for other outputs than the first. */
fw_name source_id(struct flatten *f, const struct source *s);
static inline const char *source_name(struct flatten *f, const struct source *s)
{
    return names_text(&f->m->names, source_id(f, s));
}

static inline const struct tf_node *source_node(const struct source *s)
{
    return &s->frame->body->nodes.data[s->node];
}

/* ---- flatten.c ---- */

/* Fills the graph of f->model with what the outputs need: names of nodes, or of outputs of nodes ("name:1"), inside of
 * calls, too. All of them are there (find_named). */
odlc_status flatten_model(struct flatten *f, const char *const *outputs, size_t count) MUST_USE;

#endif
