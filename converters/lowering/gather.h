/* SPDX-License-Identifier: Apache-2.0 */
/* Elements picked by position: along an axis, by coordinates, by rank; and positions turned into vectors. */
#ifndef CONVERTERS_LOWERING_GATHER_H
#define CONVERTERS_LOWERING_GATHER_H

#include "converters/lowering/lower.h"

/* Which indices of an axis there are. */
enum index_range {
    FROM_FRONT, /* 0 … dim - 1 */
    BOTH_ENDS   /* negative ones count from the back */
};

/* Input i as indices: those of a constant are checked and counted from the front. The elements run through the axes of
 * dims in turn (coordinates); one dim for plain indices. ODLC_ERR_INVALID: the input is not of integers, or one of a
 * constant lies outside. */
odlc_status lower_indices(const struct lower *l, uint32_t i, enum index_range range, const int64_t *dims,
                          uint64_t n_dims, tensor_id *out) MUST_USE;
/* Input i as coordinates in its last axis, for the axes of a tensor of that shape after the batch ones.
 * ODLC_ERR_INVALID, too, when batch_dims or the number of coordinates does not fit. */
odlc_status lower_coordinates(const struct lower *l, uint32_t i, enum index_range range, const struct shape *shape,
                              int64_t batch_dims, tensor_id *out) MUST_USE;

/* The elements of an axis at the indices, whose axes take its place. */
odlc_status lower_gather_axis(const struct lower *l, tensor_id data, tensor_id indices, uint32_t axis,
                              const char *out_name, tensor_id *out) MUST_USE;
/* The slices at the coordinates. */
odlc_status lower_gather_slices(const struct lower *l, tensor_id data, tensor_id coordinates, int64_t batch_dims,
                                const char *out_name, tensor_id *out) MUST_USE;

/* Vectors along a new axis: `on` at the index, `off` elsewhere. */
struct hot {
    double on, off; /* values of an integer type are float32's, too */
    enum dtype dtype;
    int64_t depth, axis; /* of the result, may count from the back */
};
/* Input i as indices that OneHot takes: of an integer type. ODLC_ERR_INVALID: they are strings. */
odlc_status lower_hot_indices(const struct lower *l, uint32_t i, tensor_id *indices) MUST_USE;
odlc_status lower_hot(struct lower *l, tensor_id indices, const struct hot *h) MUST_USE;

/* The k best elements of an axis, best first, as outputs 0 and 1 of the node: values, and positions of type
 * `positions`.
 */
struct best {
    int64_t k, axis; /* the axis may count from the back */
    bool largest;
    enum dtype positions;
};
odlc_status lower_best(struct lower *l, tensor_id in, const struct best *best) MUST_USE;

/* The first lengths[b] elements of the time axis in reverse order, for each element b of the batch axis. */
odlc_status lower_reverse_starts(struct lower *l, tensor_id in, uint32_t time_axis, uint32_t batch_axis,
                                 const int64_t *lengths) MUST_USE;
/* The same for lengths that are computed: an integer tensor. */
odlc_status lower_reverse_starts_by(struct lower *l, tensor_id in, uint32_t time_axis, uint32_t batch_axis,
                                    tensor_id lengths) MUST_USE;

#endif
