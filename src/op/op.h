/* The operator table: one row says everything about an operator.
 *
 * Names and parameters are those of the target's master operator list. Activations and
 * weights are in the container's own layout at all times: Conv2d is NHWC with HWIO weights in every graph, before and
 * after every pass; a front end whose layout differs puts Transposes around it (see build/build.h), which passes then
 * remove. */
#ifndef OP_OP_H
#define OP_OP_H

#include <string.h>

#include "ir/graph.h"

#define VARIADIC 255

/* What an operator is. Its name stands in its row alone. */
enum op_id {
    OP_CUSTOM, /* no native operator: a user-defined one */
#define OP_ID(name) OP_##name,
#include "op/op_ids.def"
#undef OP_ID
    OP_IDS
};

/* What a parameter is. Its name stands in rows and in the container; code asks by id. */
enum param_id {
    PARAM_CUSTOM, /* of a user-defined operator: known by its name in the row alone */
#define PARAM_ID(name) PARAM_##name,
#include "op/param_ids.def"
#undef PARAM_ID
    PARAM_IDS
};

enum param_presence {
    PARAM_REQUIRED,
    PARAM_DEFAULT, /* absent means `def`; written with that value */
    PARAM_OPTIONAL /* absent means absent */
};

/* One parameter of an operator. */
struct param_def {
    const char *name;
    enum param_id id;
    enum dtype dtype; /* DT_NONE: a number of float32 or int32, by its setter */
    uint8_t presence; /* enum param_presence */
    bool is_tensor;
    bool supplemental; /* usage 2 in the container */
    double def;        /* PARAM_DEFAULT scalars of numeric type */
};
/* The first two members. */
#define PARAM_NAMED(param) .name = #param, .id = PARAM_##param

/* Types are inferred from input types, constant inputs and params. */
struct infer {
    const struct graph *graph;
    const struct node *node;
    struct type *out; /* node->n_outputs entries to fill */
    struct diags *diags;
};
typedef odlc_status infer_fn(const struct infer *c);

/* Elements in memory: row-major and contiguous. data == NULL: an absent optional input (dtype DT_NONE). */
struct buffer {
    enum dtype dtype;
    enum dtype stored; /* in a kernel: the tensor's own dtype, where `dtype` says what its elements were widened to */
    struct shape shape;
    void *data; /* DT_STRING: array of const char * */
    const struct quant *quant;
};

struct kernel {
    const struct node *node;
    const struct buffer *in;
    struct buffer *out; /* shapes and storage given; the kernel fills the elements */
    uint32_t n_in, n_out;
    struct arena *scratch; /* rewound after the call */
};
typedef odlc_status kernel_fn(const struct kernel *k);

/* What a kernel is handed. A reference kernel exists once, not once per dtype: kernel/eval.c converts around it. */
enum compute {
    COMPUTE_WIDE,   /* float and fixed-point elements as double, integers and bools as int64_t (buffer.dtype says which:
                       DT_FLOAT64 or DT_INT64); outputs likewise, by the class of their dtype in the graph */
    COMPUTE_FLOAT,  /* as wide, but float elements as float (DT_FLOAT32): for kernels with large operands. They
                       accumulate  in double. */
    COMPUTE_EITHER, /* as float where all the node's float elements are float32 (nothing is converted then), else as
                       wide: for kernels that have the loops for both */
    COMPUTE_BYTES,  /* elements as they are: for kernels that read types and encodings themselves */
    COMPUTE_MOVE    /* elements as they are where all the node's reals (floats and fixed-point) have one type and one
                       encoding for the whole tensor, else as float: for kernels that only move elements, since what
                       comes from a tensor of another encoding is other integers */
};

/* The axis rule: the node's inputs of the mask `permuted` are about to be delivered permuted by perm (their rank is
 * perm->rank; stored axis i is the node's axis perm->axis[i]). Rewrites the params so that the node does the same on
 * the stored axes, gives the permutation in which its outputs then come, and returns true. Returns false, with nothing
 * changed, when it cannot: the inputs are then brought back to the node's own order. NULL in the row: never. */
typedef bool permute_fn(struct graph *g, struct node *n, const struct perm *perm, struct perm *out);

/* What passes may put into an operator that computes W ∗ x + b, with weights W as input 1 and a bias b, where there is
 * one, as input 2. */
enum layer_kind {
    NO_LAYER,
    LAYER_DENSE,       /* a matrix */
    LAYER_CONVOLUTION, /* a window that moves along the spatial axes, with a param `dilation` where it can be dilated */
    LAYER_TRANSPOSED   /* the gradient of one */
};

struct udo_def;

struct op {
    enum op_id id;        /* OP_CUSTOM: the row is none of the table */
    const char *name;     /* in the master list; unique */
    const char *dlc_type; /* type in the container: "Eltwise_Binary"; equals name for most */
    const char *selector; /* supplemental param that carries `name` there ("eltwise_type"), or NULL */
    int32_t operation;    /* value of the `operation` param that newer files carry in its place, when has_operation */
    bool has_operation;
    uint8_t min_inputs, max_inputs, min_outputs, max_outputs; /* max may be VARIADIC */
    const struct param_def *params;
    uint32_t n_params;
    infer_fn *infer;
    permute_fn *permute;
    uint32_t permuted; /* mask of the inputs that carry the permuted axes; 0 means all */
    /* Multiply-accumulates per inference; NULL: 0. Of any operands whose number is the row's: a container may give them
       shapes that no rule would. */
    uint64_t (*macs)(const struct graph *g, const struct node *n);
    /* Operations of the kernel that neither macs nor the number of elements bounds; NULL: none. */
    uint64_t (*work)(const struct graph *g, const struct node *n);
    enum layer_kind layer;
    int channel_axis;     /* of a layer's weights: counts the output's channels, each of which can be scaled; or -1 */
    uint8_t spatial_axes; /* along which a window moves; 0: there is none */
    bool may_copy;    /* with one input of the output's type and shape the value is the same, but for a permutation */
    uint32_t weights; /* mask of the inputs whose elements are the layer's parameters */
    enum compute compute;
    kernel_fn *kernel;         /* NULL: cannot be executed (a UDO) */
    const char *package;       /* NULL: a native op ("qti.aisw"); else the UDO's package */
    const struct udo_def *udo; /* the definition behind the row (udo/udo.h), or NULL */
};

/* The table is the union of the families (op/families.h). Row `index` of it, NULL past the end. */
const struct op *op_at(size_t index);
/* The row of a native operator. */
const struct op *op_row(enum op_id id);
/* The native op of that name, or NULL. */
const struct op *op_find(const char *name);
/* The index in the row of a param of that name, or -1. */
int op_param_index(const struct op *op, const char *name);
/* The same by its id, which is not PARAM_CUSTOM. */
int op_param_place(const struct op *op, enum param_id id);

/* ---- reading params (set by the builder, so required and defaulted ones are always there) ---- */
const struct packed_param *node_param(const struct node *n, enum param_id id); /* NULL when absent */
struct param node_get_param(const struct node *n, uint32_t index); /* of the row; .set says if it is there */
int64_t node_int(const struct node *n, enum param_id id, int64_t absent);
double node_float(const struct node *n, enum param_id id, double absent);
const char *node_string(const struct node *n, enum param_id id, const char *absent);
/* True for a live node of that native operator. */
static inline bool node_is(const struct node *n, enum op_id id)
{
    return n->op && n->op->id == id;
}
/* The permutation that a native Transpose makes. */
struct perm node_perm(const struct node *transpose);
/* The elements of an integer tensor param, count in *count (0 and NULL when absent). */
const int64_t *node_ints(const struct node *n, enum param_id id, uint32_t *count);

/* ---- writing params (strings and integers are copied into the arena) ---- */
void node_set_int(struct node *n, enum param_id id, int64_t value);
void node_set_float(struct node *n, enum param_id id, double value);
void node_set_string(struct graph *g, struct node *n, enum param_id id, const char *value);
void node_set_ints(struct graph *g, struct node *n, enum param_id id, const struct shape *shape, const int64_t *values);
/* Any param, in its final form: elements and strings are borrowed. */
void node_set_param(struct graph *g, struct node *n, uint32_t index, const struct param *value);
void node_set_perm(struct graph *g, struct node *transpose, const struct perm *perm);

/* ---- pieces shared by families ---- */
/* What messages call an op: by the model's operator while that is lowered, else by its own name. */
const char *op_subject(const struct diags *diags, const struct op *op);
/* An infer error at the node. */
odlc_status infer_error(const struct infer *c, const char *format, ...) PRINTF_LIKE(2, 3);
/* Type of input i; the caller knows that it is there. */
const struct type *infer_in(const struct infer *c, uint32_t i);
/* out[0] = in[0]. */
infer_fn infer_same;
/* Axis rule of ops that treat every element alike: params stay, the permutation passes through. */
permute_fn permute_any;

#endif
