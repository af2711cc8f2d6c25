/* What the lowering of shape, slice, index and constant operators shares. */
#ifndef CONVERTERS_ONNX_LOWER_SHAPE_H
#define CONVERTERS_ONNX_LOWER_SHAPE_H

#include "converters/lower.h"

/* The arg of rows whose integer lists are attributes; in later versions of the operators they are inputs. */
#define LISTS_ARE_ATTRIBUTES "attributes"

/* The name of a tensor that stands between the node's own: "<node>.<step>". */
const char *step_name(const struct lower *l, const char *step);
/* The integers of the attribute `name` or, where the row says nothing, of input i. Absent: NULL and 0. */
odlc_status lower_ints(const struct lower *l, uint32_t i, const char *name, const int64_t **out,
                       uint32_t *count) MUST_USE;
/* The value of the string attribute `attribute` in a list of what it can be. */
struct choice {
    const char *name;
    int value;
};
odlc_status lower_choose(const struct lower *l, const char *attribute, const char *absent, const struct choice *choices,
                         size_t count, int *out) MUST_USE;
/* The element type of that number, which the attribute `name` gives; or of the attribute itself, `absent` (unless
 * DT_NONE) without it. A node's result is to be of the type. */
odlc_status lower_dtype(const struct lower *l, const char *name, int64_t code, enum dtype *out) MUST_USE;
odlc_status lower_attr_dtype(const struct lower *l, const char *name, enum dtype absent, enum dtype *out) MUST_USE;
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
/* `in` broadcast to a shape that numpy's rules allow: repeats axes of 1, which is exact for every type. */
odlc_status lower_broadcast(const struct lower *l, tensor_id in, const struct shape *shape, const char *out_name,
                            tensor_id *out) MUST_USE;
/* The elements begin … end - 1 of an axis. */
odlc_status lower_part(const struct lower *l, tensor_id in, uint32_t axis, int64_t begin, int64_t end,
                       const char *out_name, tensor_id *out) MUST_USE;
/* The elements of `in` at these positions along an axis, which must be inside of it. */
odlc_status lower_pick(const struct lower *l, tensor_id in, uint32_t axis, const int64_t *positions, int64_t count,
                       const char *out_name, tensor_id *out) MUST_USE;

#endif
