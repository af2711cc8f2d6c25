/* SPDX-License-Identifier: Apache-2.0 */
/* What lowering functions share: axes, shapes, and the small nodes that repeat, cut and pick elements. */
#ifndef CONVERTERS_LOWERING_SHAPES_H
#define CONVERTERS_LOWERING_SHAPES_H

#include "converters/lowering/lower.h"

/* The name of a tensor that stands between the node's own: "<node>.<step>". */
const char *step_name(const struct lower *l, const char *step);
/* A value that a string attribute can have. */
struct choice {
    const char *name;
    int value;
};
/* The value that the attribute has, or `absent` for one that is not given. ODLC_ERR_INVALID: none of the choices. */
odlc_status lower_choose(const struct lower *l, const char *attribute, const char *absent, const struct choice *choices,
                         size_t count, int *out) MUST_USE;
/* Brings an axis in [-rank, rank) to [0, rank). ODLC_ERR_INVALID: the axis is not in there; `name` is the attribute. */
odlc_status lower_axis(const struct lower *l, const char *name, int64_t axis, uint32_t rank, uint32_t *out) MUST_USE;
/* The same for a list: out has room for MAX_RANK. ODLC_ERR_INVALID, too, for an axis that is listed twice. */
odlc_status lower_axes(const struct lower *l, const char *name, const int64_t *axes, uint32_t count, uint32_t rank,
                       uint32_t *out) MUST_USE;
/* The axis of a tensor of that rank in input i, one number known at conversion. ODLC_ERR_INVALID: the input has several
 * numbers, or one outside; else the statuses of lower_const_ints. */
odlc_status lower_axis_input(const struct lower *l, uint32_t i, const char *name, uint32_t rank,
                             uint32_t *out) MUST_USE;
/* ODLC_ERR_INVALID for a shape that no tensor can have. */
odlc_status lower_check_shape(const struct lower *l, const char *name, const struct shape *shape) MUST_USE;
/* The shape with these dims. ODLC_ERR_UNSUPPORTED: they are more than MAX_RANK; ODLC_ERR_INVALID as above. */
odlc_status lower_shape_of(const struct lower *l, const char *name, const int64_t *dims, uint32_t count,
                           struct shape *out) MUST_USE;

/* Output i has the sizes that the constant lists for its axes from `first` on: those that are not known are of axes
 * with filler. */
void lower_note_sizes(struct lower *l, uint32_t i, tensor_id sizes, uint32_t first);

/* Fills in the dim of *shape that is -1, at axis `at`, so that the shape has as many elements as `from`.
 * ODLC_ERR_INVALID: no dim does that. */
odlc_status lower_rest_dim(const struct lower *l, const struct shape *from, uint32_t at, struct shape *shape) MUST_USE;

/* A constant of one repeated integer value, which takes no space. */
tensor_id lower_splat(const struct lower *l, const char *name, enum dtype dtype, const struct shape *shape,
                      int64_t value);
/* `in` repeated along each of its axes. */
odlc_status lower_tile_axes(const struct lower *l, tensor_id in, const int64_t *multiples, const char *out_name,
                            tensor_id *out) MUST_USE;
/* `in` broadcast to a shape that numpy's rules allow: axes of 1 are repeated, which is exact for every type. */
odlc_status lower_broadcast(const struct lower *l, tensor_id in, const struct shape *shape, const char *out_name,
                            tensor_id *out) MUST_USE;
/* begin, end, step per axis; end is -1 for a descending range that takes the first element, too. */
struct slices {
    uint32_t rank;
    int64_t row[MAX_RANK][3];
};
struct slices slices_whole(const struct shape *shape);
/* Takes begin, begin + step … of an axis of `dim` elements, up to end, all of them inside of it; a descending range may
 * begin and end before the first element, at -1. Nothing is always said in the same way. */
void slices_set(struct slices *s, uint32_t axis, int64_t begin, int64_t end, int64_t step, int64_t dim);
/* Those elements of `in`; `in` itself when they are all. */
odlc_status lower_slices(const struct lower *l, tensor_id in, const struct slices *s, const char *out_name,
                         tensor_id *out) MUST_USE;
/* The elements begin … end - 1 of an axis. */
odlc_status lower_slice_axis(const struct lower *l, tensor_id in, uint32_t axis, int64_t begin, int64_t end,
                             const char *out_name, tensor_id *out) MUST_USE;
/* The elements of `in` at these positions along an axis, all of which are in [0, dim). */
odlc_status lower_gather_positions(const struct lower *l, tensor_id in, uint32_t axis, const int64_t *positions,
                                   int64_t count, const char *out_name, tensor_id *out) MUST_USE;
/* Tensors of one type end to end along an axis, which may count from the back. Those without elements are left out:
 * runtimes for devices do not know empty tensors. */
odlc_status lower_concat_tensors(const struct lower *l, const tensor_id *parts, uint32_t count, int64_t axis,
                                 const char *out_name, tensor_id *out) MUST_USE;
/* The parts of those sizes, which make up the axis of `in`; names as for build_end_n. Sizes are overwritten. */
odlc_status lower_split_axis(const struct lower *l, tensor_id in, uint32_t axis, int64_t *sizes, uint32_t count,
                             const char *const *names, tensor_id *outs) MUST_USE;

#endif
