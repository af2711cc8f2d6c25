/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering: one framework node becomes IR nodes. A lowering function reads attributes and inputs, emits through
 * build/build.h and sets out[].
 *
 * Functions of this room that fail have reported an error at the node, and their status says of which kind:
 * ODLC_ERR_INVALID for a node that its operator's definition does not allow, ODLC_ERR_UNSUPPORTED for a node that is
 * sound and has no form in a container, ODLC_ERR_LIMIT for one that asks for too much. The headers name the status
 * where a function has one of them alone. Outputs are set on ODLC_OK. */
#ifndef CONVERTERS_LOWERING_LOWER_H
#define CONVERTERS_LOWERING_LOWER_H

#include "converters/frontend/fw_graph.h"
#include "build/build.h"

/* What a name of the model stands for. Only tensors get into the container: sequences, optionals, random numbers and
 * text exist while the graph is lowered, and vanish in it. */
enum value_kind {
    VALUE_ABSENT, /* an optional operand that is not there */
    VALUE_TENSOR,
    VALUE_SEQUENCE,
    VALUE_COMPLEX, /* complex numbers: two tensors, of the real parts and of the imaginary ones */
    VALUE_EMPTY,   /* an optional that holds nothing */
    VALUE_RANDOM,  /* numbers that are not known, and different each time */
    VALUE_TEXT,    /* strings that depend on what the model gets */
    VALUE_SPOILED, /* its node failed; what depends on it is skipped */
    VALUE_DEAD     /* of a branch that is not taken: nodes that read it are not run */
};

/* Random numbers of the type, none of them below `low` or above `high`. */
struct random_range {
    struct type type;
    double low, high;
};

struct lower_value {
    enum value_kind kind;
    tensor_id tensor;
    union {
        const struct random_range *range; /* of random numbers */
        const struct lower_value
            *items; /* of a sequence: `count` tensors or sequences; of complex numbers: 2 tensors */
    };
    size_t count;
};

struct scope;
struct lower;

/* See lower_subgraph. */
typedef odlc_status lower_subgraph_fn(struct lower *l, const struct fw_graph *g, const char *prefix,
                                      const struct lower_value *values, size_t count, struct lower_value *results);

struct lower {
    struct build *b;
    struct arena *arena;   /* the graph's */
    struct arena *scratch; /* rewound behind the node */
    struct diags *diags;
    const char *path; /* the model's, for diagnostics */
    const struct fw_node *node;
    int64_t version;     /* of the node's domain */
    enum op_id op;       /* the row's */
    const char *variant; /* the row's */
    const tensor_id *in; /* NO_TENSOR for absent ones; n_in counts trailing absent ones out */
    uint32_t n_in;
    tensor_id *out; /* to set; n_out entries, as the node lists them */
    uint32_t n_out;
    /* Constants that are read now may be sizes of axes with filler (build.h): the row sees to what they say. Others
     * would take the worst case for what the model asks. */
    bool takes_sizes;
    bool pads;         /* --pad_dynamic: see padded.h */
    bool packs_blocks; /* --block_weights packed */
    /* For rows with one of the traits of lower_table.h: the inputs, tensors or not (n_in entries); outputs that are no
     * tensors are set in results instead of out. */
    const struct lower_value *values;
    struct lower_value *results;
    struct scope *scope;         /* where the node's names are known; the driver's */
    lower_subgraph_fn *subgraph; /* the driver's, which calls the rows */
};

typedef odlc_status lower_fn(struct lower *l);

/* The name that the model gives output i, for build_end; NULL when the output has none. */
const char *lower_out_name(const struct lower *l, uint32_t i);
/* Input i, or NO_TENSOR when the input is absent. */
tensor_id lower_in(const struct lower *l, uint32_t i);
/* Whether an input is made of complex numbers, for rows that take other values than tensors. */
bool lower_takes_complex(const struct lower *l);
/* Input i, called `what` in the error. ODLC_ERR_INVALID: the input is absent. */
odlc_status lower_need(const struct lower *l, uint32_t i, const char *what, tensor_id *out) MUST_USE;

/* ---- attributes ----
 * `absent` is the value of an attribute that the node does not give. ODLC_ERR_INVALID: the attribute is of another kind
 * than asked for. */
odlc_status lower_attr_int(const struct lower *l, const char *name, int64_t absent, int64_t *out) MUST_USE;
odlc_status lower_attr_bool(const struct lower *l, const char *name, bool absent, bool *out) MUST_USE;
odlc_status lower_attr_float(const struct lower *l, const char *name, double absent, double *out) MUST_USE;
odlc_status lower_attr_string(const struct lower *l, const char *name, const char *absent, const char **out) MUST_USE;
/* *out is NULL and *count 0 when the list is absent. */
odlc_status lower_attr_ints(const struct lower *l, const char *name, const int64_t **out, uint32_t *count) MUST_USE;
odlc_status lower_attr_floats(const struct lower *l, const char *name, const float **out, uint32_t *count) MUST_USE;
/* ODLC_ERR_INVALID, too, when the attribute is absent. */
odlc_status lower_attr_graph(const struct lower *l, const char *name, const struct fw_graph **out) MUST_USE;
odlc_status lower_attr_strings(const struct lower *l, const char *name, const char *const **out,
                               uint32_t *count) MUST_USE;
bool lower_has_attr(const struct lower *l, const char *name);

/* ---- constant inputs ---- */
/* The values of input i, which `what` names in the error ("shape", "pads"). An absent input gives *out NULL and *count
 * 0. ODLC_ERR_UNSUPPORTED: the values are not known at conversion, and the hint says which graph input to freeze, or
 * they are sizes with filler that the row does not take;
 * ODLC_ERR_INVALID: they are strings; ODLC_ERR_LIMIT: they are more than such a list may have. */
odlc_status lower_const_ints(const struct lower *l, uint32_t i, const char *what, const int64_t **out,
                             uint32_t *count) MUST_USE;
odlc_status lower_const_floats(const struct lower *l, uint32_t i, const char *what, const double **out,
                               uint32_t *count) MUST_USE;

/* The same for a tensor that is no input of the node, which `what` names in the error ("the condition of iteration 3").
 */
odlc_status lower_tensor_ints(const struct lower *l, tensor_id id, const char *what, const int64_t **out,
                              uint32_t *count) MUST_USE;

/* ODLC_ERR_UNSUPPORTED unless input i, which is there, is known at conversion: `why` says what needs the value, the
 * hint what to freeze. */
odlc_status lower_need_const(const struct lower *l, uint32_t i, const char *what, const char *why) MUST_USE;

/* ---- subgraphs ---- */
/* Nodes that the graphs inside of nodes may expand to, and with it trips of loops and items of sequences. So many bytes
 * of their names count as one node. */
#define LOWER_MAX_EXPANSION 100000
#define LOWER_TEXT_PER_NODE 1024

/* Lowers the nodes of a graph that the node holds as an attribute, once a call. The graph's inputs are given the
 * values, in order, and its nodes see the names around them; names of its nodes and tensors get the prefix. results
 * gets g->outputs.count values. ODLC_ERR_LIMIT: the subgraphs of the model expand to more than LOWER_MAX_EXPANSION
 * nodes; ODLC_ERR_INVALID: the values are not as many as the graph's inputs, or nothing gives an output; else the
 * status of the first node that fails. */
odlc_status lower_subgraph(struct lower *l, const struct fw_graph *g, const char *prefix,
                           const struct lower_value *values, size_t count, struct lower_value *results) MUST_USE;

/* ODLC_ERR_LIMIT for more trips of a loop, or items of a sequence (`what`), than nodes that the graphs of a model may
 * expand to. */
odlc_status lower_check_trips(const struct lower *l, const char *what, uint64_t count) MUST_USE;

/* Zeroed memory in *out for a constant that the model implies without holding it (positions, masks, weights of a
 * filter). A few bytes can ask for any number of elements: ODLC_ERR_LIMIT for more than 256 MiB. */
odlc_status lower_table(const struct lower *l, uint64_t count, size_t size, void *out) MUST_USE;

/* Errors at the node: what is wrong, with which attribute (or NULL), and what would help (or NULL). They give
 * ODLC_ERR_INVALID, ODLC_ERR_UNSUPPORTED and ODLC_ERR_LIMIT. */
odlc_status lower_invalid(const struct lower *l, const char *attribute, const char *hint, const char *format, ...)
    PRINTF_LIKE(4, 5) MUST_USE;
odlc_status lower_unsupported(const struct lower *l, const char *attribute, const char *hint, const char *format, ...)
    PRINTF_LIKE(4, 5) MUST_USE;
odlc_status lower_limit(const struct lower *l, const char *attribute, const char *hint, const char *format, ...)
    PRINTF_LIKE(4, 5) MUST_USE;

#endif
