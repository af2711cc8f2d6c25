/* What lowering functions share: axes, shapes, and the small nodes that repeat, cut and pick elements. */
#ifndef CONVERTERS_LOWERING_SHAPES_H
#define CONVERTERS_LOWERING_SHAPES_H

#include "converters/lower.h"

/* The name of a tensor that stands between the node's own: "<node>.<step>". */
const char *step_name(const struct lower *l, const char *step);
/* The value of the string attribute `attribute` in a list of what it can be. */
struct choice {
    const char *name;
    int value;
};
odlc_status lower_choose(const struct lower *l, const char *attribute, const char *absent, const struct choice *choices,
                         size_t count, int *out) MUST_USE;
/* Brings an axis in [-rank, rank) to [0, rank). */
odlc_status lower_axis(const struct lower *l, const char *name, int64_t axis, uint32_t rank, uint32_t *out) MUST_USE;
/* The same for a list, none twice: out has room for MAX_RANK. */
odlc_status lower_axes(const struct lower *l, const char *name, const int64_t *axes, uint32_t count, uint32_t rank,
                       uint32_t *out) MUST_USE;
/* Checks a shape that the model asks for. */
odlc_status lower_check_shape(const struct lower *l, const char *name, const struct shape *shape) MUST_USE;
/* Makes a shape of a list of dims. */
odlc_status lower_shape_of(const struct lower *l, const char *name, const int64_t *dims, uint32_t count,
                           struct shape *out) MUST_USE;

/* A constant of one repeated integer value, which takes no space. */
tensor_id lower_splat(const struct lower *l, const char *name, enum dtype dtype, const struct shape *shape,
                      int64_t value);
/* `in` repeated along each of its axes. */
odlc_status lower_repeat(const struct lower *l, tensor_id in, const int64_t *multiples, const char *out_name,
                         tensor_id *out) MUST_USE;
/* `in` broadcast to a shape that numpy's rules allow: repeats axes of 1, which is exact for every type. */
odlc_status lower_broadcast(const struct lower *l, tensor_id in, const struct shape *shape, const char *out_name,
                            tensor_id *out) MUST_USE;
/* begin, end, step per axis; end is -1 for a descending range that takes the first element, too. */
struct slices {
    uint32_t rank;
    int64_t row[MAX_RANK][3];
};
struct slices slices_whole(const struct shape *shape);
/* Those elements of `in`; `in` itself when it is all of them. */
odlc_status lower_slices(const struct lower *l, tensor_id in, const struct slices *s, const char *out_name,
                         tensor_id *out) MUST_USE;
/* The elements begin … end - 1 of an axis. */
odlc_status lower_part(const struct lower *l, tensor_id in, uint32_t axis, int64_t begin, int64_t end,
                       const char *out_name, tensor_id *out) MUST_USE;
/* The elements of `in` at these positions along an axis, which must be inside of it. */
odlc_status lower_pick(const struct lower *l, tensor_id in, uint32_t axis, const int64_t *positions, int64_t count,
                       const char *out_name, tensor_id *out) MUST_USE;

#endif
