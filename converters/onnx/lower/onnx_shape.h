/* SPDX-License-Identifier: Apache-2.0 */
/* What the lowering of ONNX operators shares: lists and types, as the specification gives them. */
#ifndef CONVERTERS_ONNX_LOWER_ONNX_SHAPE_H
#define CONVERTERS_ONNX_LOWER_ONNX_SHAPE_H

#include "converters/lowering/shapes.h"

/* The variant of rows whose integer lists are attributes; in later versions of the operators they are inputs. */
#define LISTS_ARE_ATTRIBUTES "attributes"

/* The integers of the attribute `name` or, where the row says nothing, of input i. Absent: NULL and 0. */
odlc_status lower_ints(const struct lower *l, uint32_t i, const char *name, const int64_t **out,
                       uint32_t *count) MUST_USE;
/* The element type of the number `code`, which comes from the attribute `name`, for a node's result. ODLC_ERR_INVALID:
 * there is no such type; ODLC_ERR_UNSUPPORTED: the container has none like it. */
odlc_status lower_dtype(const struct lower *l, const char *name, int64_t code, enum dtype *out) MUST_USE;
/* The same for the number in the attribute itself, or `absent` (unless DT_NONE) where the node does not give the
 * attribute. */
odlc_status lower_attr_dtype(const struct lower *l, const char *name, enum dtype absent, enum dtype *out) MUST_USE;
/* What fn, of that version of ONNX's operators, makes of the node with x as its input 0: a tensor without a name of the
 * model's. */
odlc_status lower_anew(struct lower *l, lower_fn *fn, int64_t version, tensor_id x, tensor_id *out) MUST_USE;

#endif
