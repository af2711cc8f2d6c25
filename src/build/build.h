/* SPDX-License-Identifier: Apache-2.0 */
/* Building IR: how front ends and passes add nodes. A node is inferred, checked against its row and, when all its
 * inputs are constants, folded, at the moment it is added; so lowering code can ask for constant values at any time. */
#ifndef BUILD_BUILD_H
#define BUILD_BUILD_H

#include "base/diag.h"
#include "ir/graph.h"
#include "op/op_id.h"

/* What is not known of a tensor because an op finds as much as it finds (op/filler_axes.h). */
struct filler {
    uint8_t axes;   /* mask: behind the rows that were found stands filler */
    uint64_t sizes; /* of a constant, the mask of elements that depend on the sizes of such axes, as if there were no
                       filler; FILLER_SIZES elements have their bits, more are ALL_SIZES */
};
enum { FILLER_SIZES = 63 };
#define ALL_SIZES UINT64_MAX

struct build {
    struct graph *graph;
    struct diags *diags;
    const char *source;  /* framework node at work, for names and diagnostics */
    struct node pending; /* the node between build_op and build_end */
    VEC(tensor_id) inputs;
    struct packed_param pending_params[50];
    VEC(struct filler) filler; /* by tensor; later ones have none */
    VEC(tensor_id) kept;       /* see build_keep */
    bool unfolded;             /* see build_unfold */
};

void build_init(struct build *b, struct graph *g, struct diags *diags);

/* Whether nodes of constants are added as they are, too, from here on. Gives how that was, for the end of such a part.
 */
bool build_unfold(struct build *b, bool unfolded);

/* Starts a node of the native op. */
void build_op(struct build *b, enum op_id op, const char *name);
/* The same for a row that is not in the table (a UDO's). */
void build_row(struct build *b, const struct op *row, const char *name);
void build_in(struct build *b, tensor_id id); /* NO_TENSOR: absent */
void build_int(struct build *b, enum param_id param, int64_t value);
void build_float(struct build *b, enum param_id param, double value);
void build_string(struct build *b, enum param_id param, const char *value);
void build_ints(struct build *b, enum param_id param, const int64_t *values, uint32_t count); /* rank 1 */
void build_tensor_ints(struct build *b, enum param_id param, const struct shape *shape, const int64_t *values);
/* Any param, already in its final form (UDO definitions choose dtypes of their own). */
void build_param(struct build *b, const struct param *param);

/* Ends the node with one output called out_name (NULL: derived from the node's name); *out gets the tensor. */
odlc_status build_end(struct build *b, const char *out_name, tensor_id *out) MUST_USE;
/* Ends it with n outputs; names[i] NULL or "": derived. */
odlc_status build_end_n(struct build *b, const char *const *names, uint32_t n, tensor_id *outs) MUST_USE;
/* Ends it with outputs of given types instead of inferred ones (UDOs); dtype DT_NONE: an absent output. */
odlc_status build_end_typed(struct build *b, const char *const *names, const struct type *types, uint32_t n,
                            tensor_id *outs) MUST_USE;

/* ---- common single nodes ---- */
/* Transpose; the identity and constants cost nothing. out_name may be NULL. */
odlc_status build_transpose(struct build *b, tensor_id in, const struct perm *perm, const char *out_name,
                            tensor_id *out) MUST_USE;
/* A Transpose that exists for layout alone (node.layout_only): channels-first ↔ channels-last. Rank < 3: in itself. */
odlc_status build_to_channels_last(struct build *b, tensor_id in, tensor_id *out) MUST_USE;
odlc_status build_to_channels_first(struct build *b, tensor_id in, const char *out_name, tensor_id *out) MUST_USE;
odlc_status build_reshape(struct build *b, tensor_id in, const struct shape *shape, const char *out_name,
                          tensor_id *out) MUST_USE;
odlc_status build_cast(struct build *b, tensor_id in, enum dtype to, const char *out_name, tensor_id *out) MUST_USE;
odlc_status build_binary(struct build *b, enum op_id op, tensor_id x, tensor_id y, const char *out_name,
                         tensor_id *out) MUST_USE;
odlc_status build_unary(struct build *b, enum op_id op, tensor_id x, const char *out_name, tensor_id *out) MUST_USE;

/* The same value as another tensor called name (whoever has that name is renamed to "<name>.value"): a Reshape to the
 * shape that it has. It is never folded, so it can make a graph output of an input or a constant. */
tensor_id build_copy(struct graph *g, tensor_id value, const char *name);

/* ---- constants ---- */
tensor_id build_const_floats(struct build *b, const char *name, const struct shape *shape, const float *values);
tensor_id build_const_ints(struct build *b, const char *name, enum dtype dtype, const struct shape *shape,
                           const int64_t *values);
/* Rank 0 constant of float or integer dtype. */
tensor_id build_const_scalar(struct build *b, const char *name, enum dtype dtype, double value);

/* ---- filler ----
 * Nodes that combine rows with filler are warned of; a node that would compute with such a size is an error. */
struct filler build_filler(const struct build *b, tensor_id id);
void build_set_filler(struct build *b, tensor_id id, struct filler filler);

/* A tensor that is to be a graph output, besides those of the model. */
void build_keep(struct build *b, tensor_id id);

bool build_is_const(const struct build *b, tensor_id id);
/* Values of a constant of any numeric type, as int64 / double, in the graph's arena; NULL when it is not constant. */
const int64_t *build_const_as_ints(const struct build *b, tensor_id id, uint64_t *count);
const double *build_const_as_floats(const struct build *b, tensor_id id, uint64_t *count);
/* The same in another arena. */
const double *build_const_floats_in(struct arena *arena, const struct build *b, tensor_id id, uint64_t *count);

const struct type *build_type(const struct build *b, tensor_id id);
uint32_t build_rank(const struct build *b, tensor_id id);

#endif
