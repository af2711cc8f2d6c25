/* SPDX-License-Identifier: Apache-2.0 */
/* The operator table: one row says what an operator is. How the reference computes the operator is in src/kernel.
 *
 * Names and parameters are those of the target's master operator list. Activations and weights are in the container's
 * own layout at all times: Conv2d is NHWC with HWIO weights in every graph, before and after every pass; a front end
 * whose layout differs puts Transposes around the op (build/build.h), which passes then remove. */
#ifndef OP_OP_H
#define OP_OP_H

#include "ir/graph.h"
#include "op/op_id.h"

#define VARIADIC 255

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
    bool named_alone;  /* a tensor that the container calls by the param's name instead of "<op>_<param>" */
};
/* The first two members. */
#define PARAM_NAMED(param) .name = #param, .id = PARAM_##param

/* The shape rule (op/infer.h). ODLC_ERR_INVALID, with a diagnostic, when operands or params do not fit. */
struct infer;
typedef odlc_status infer_fn(const struct infer *c);

/* The axis rule: the node's inputs of the mask `permuted` are about to be delivered permuted by perm (their rank is
 * perm->rank; stored axis i is the node's axis perm->axis[i]). Rewrites the params so that the node does the same on
 * the stored axes, gives the permutation in which its outputs then come, and returns true. Returns false, with nothing
 * changed, when no params say that: the inputs are then brought back to the node's own order. NULL in the row: never.
 */
typedef bool permute_fn(struct graph *g, struct node *n, const struct perm *perm, struct perm *out);

/* The cut rule: whether the outputs can be computed in parts along that axis, each from parts along one axis of the
 * inputs. Gives this axis of an input, or NOT_CUT where each part takes all of the input, and rewrites the params so
 * that the node does the same on parts; the caller sees to it that both axes have the same extent. NULL in the row:
 * never. */
typedef bool cut_fn(const struct graph *g, struct node *n, uint32_t axis, uint32_t input, uint32_t *in_axis);
#define NOT_CUT UINT32_MAX

/* Of operators that do something along each axis by itself: rewrites the params so that the node does so along the axes
 * of the mask alone. False where no params say that, which may have changed some. NULL in the row: never. */
typedef bool along_fn(struct graph *g, struct node *n, uint32_t axes);

/* What passes may put into an operator that computes W ∗ x + b, with weights W as input 1 and a bias b, where there is
 * one, as input 2. */
enum layer_kind {
    NO_LAYER,
    LAYER_DENSE,       /* a matrix */
    LAYER_CONVOLUTION, /* a window that moves along the spatial axes, with a param `dilation` where it can be dilated */
    LAYER_TRANSPOSED   /* the gradient of one */
};

struct reference_kernel;
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
    cut_fn *cut;
    along_fn *along;
    enum op_id combine; /* of a reduction: reduces further what this one gives along some of its axes; or OP_CUSTOM */
    /* Multiply-accumulates per inference; NULL: 0. Of any operands whose number is the row's: a container may give them
       shapes that no rule would. */
    uint64_t (*macs)(const struct graph *g, const struct node *n);
    /* Operations of the kernel that neither macs nor the number of elements bounds; NULL: none. */
    uint64_t (*work)(const struct graph *g, const struct node *n);
    enum layer_kind layer;
    int channel_axis;     /* of a layer's weights: counts the output's channels, each of which can be scaled; or -1 */
    uint8_t spatial_axes; /* along which a window moves; 0: there is none */
    bool images;          /* a result of rank 4 is an image, NHWC */
    bool may_copy;    /* with one input of the output's type and shape the value is the same, but for a permutation */
    bool may_wrap;    /* integer results may have more bits than the operands, also of operands that fit */
    uint32_t weights; /* mask of the inputs whose elements are the layer's parameters */
    const char *package;       /* NULL: a native op ("qti.aisw"); else the UDO's package */
    const struct udo_def *udo; /* the definition behind the row (udo/udo.h), or NULL */
    /* OP_CUSTOM: the reference kernel that comes with the row, or NULL. The table's are asked for by kernel_of
       (kernel/kernel.h). */
    const struct reference_kernel *own_kernel;
};

/* The table is the union of the families (op/families.def). Row `index` of it, NULL past the end. */
const struct op *op_at(size_t index);
/* The row of a native operator. */
const struct op *op_row(enum op_id id);
/* The native op of that name, or NULL. */
const struct op *op_find(const char *name);
/* The index in the row of a param of that name, or -1. */
int op_param_index(const struct op *op, const char *name);
/* The same by its id, which is not PARAM_CUSTOM. */
int op_param_place(const struct op *op, enum param_id id);

#endif
